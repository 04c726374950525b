import StorageEngine

/// The items in memory, by key and by expiry time. Not thread-safe. For expiry, items are in buckets (linked lists), and a
/// heap has the time at which each is due. Distant expiry times have coarser buckets, whose items move into finer ones when
/// due. So expiry costs time in proportion to the expiring items, and a removed item is released at once.
struct CachedItemTable {
    /// Width of the finest buckets in nanoseconds: the most by which an item leaves memory late.
    static let quantum: Int64 = 1 << 28

    private var cachedItems: [ExactText: CachedItem] = [:]
    /// The first item of each bucket in the heap.
    private var heads: [Int64: Unmanaged<CachedItem>?] = [:]
    private var moments = MomentHeap()

    var count: Int { cachedItems.count }
    var keys: [String] { cachedItems.keys.map(\.text) }
    subscript(key: String) -> CachedItem? { cachedItems[ExactText(key)] }

    var nextMoment: Int64? { moments.first }

    /// Replaces the item with this key, and returns the old one, to be released outside the lock.
    mutating func insert(_ cached: CachedItem, now: Int64) -> CachedItem? {
        let old = cachedItems.updateValue(cached, forKey: ExactText(cached.key))
        if let old { unlink(old) }
        link(cached, now: now)
        return old
    }

    mutating func remove(_ key: String) -> CachedItem? {
        guard let cached = cachedItems.removeValue(forKey: ExactText(key)) else { return nil }
        unlink(cached)
        return cached
    }

    /// Removes `item`, if it is still the one with its key.
    mutating func remove(_ cached: CachedItem) -> CachedItem? {
        cachedItems[ExactText(cached.key)] === cached ? remove(cached.key) : nil
    }

    mutating func removeAll() -> [CachedItem] {
        defer { self = CachedItemTable() }
        return Array(cachedItems.values)
    }

    /// Removes expired items, visiting at most `most`. Returns `nil` once all due buckets are empty.
    mutating func removeExpired(_ now: Int64, most: Int) -> [CachedItem]? {
        guard let moment = moments.first, moment <= now else { return nil }
        var removed: [CachedItem] = []
        for _ in 0..<most {
            guard let head = heads[moment] ?? nil else {
                heads[moment] = nil
                moments.removeFirst()
                break
            }
            let cached = head.takeUnretainedValue()
            unlink(cached)
            if cached.expiry <= now {
                cachedItems[ExactText(cached.key)] = nil
                removed.append(cached)
            } else {
                link(cached, now: now)
            }
        }
        return removed
    }

    mutating func shrink() {
        guard cachedItems.capacity > 1_024, cachedItems.count < cachedItems.capacity / 4 else { return }
        // Fills a new table, because a copy would share the storage. Its spare capacity avoids resizing at each change.
        var smaller = [ExactText: CachedItem](minimumCapacity: 2 * cachedItems.count)
        for (key, cached) in cachedItems { smaller[key] = cached }
        cachedItems = smaller
    }

    private mutating func link(_ cached: CachedItem, now: Int64) {
        guard cached.expiry != .max else { return }
        var width = CachedItemTable.quantum
        while width < (cached.expiry - now) / 128 { width *= 2 }
        // The finest bucket is due when all its items have expired, a coarser one before any of them has.
        let isFinest = width == CachedItemTable.quantum
        let moment = (cached.expiry / width + (isFinest ? 1 : 0)) * width
        cached.bucket = moment
        let first = heads[moment]
        if first == nil { moments.insert(moment) }
        cached.next = (first ?? nil)?.takeUnretainedValue()
        cached.next?.previous = cached
        heads[moment] = .some(Unmanaged.passUnretained(cached))
    }

    private mutating func unlink(_ cached: CachedItem) {
        guard let bucket = cached.bucket else { return }
        if let previous = cached.previous {
            previous.next = cached.next
        } else {
            heads[bucket] = .some(cached.next.map { Unmanaged.passUnretained($0) })
        }
        cached.next?.previous = cached.previous
        cached.bucket = nil
        cached.next = nil
        cached.previous = nil
    }
}

private struct MomentHeap {
    private var moments: [Int64] = []

    var first: Int64? { moments.first }

    mutating func insert(_ moment: Int64) {
        moments.append(moment)
        var child = moments.count - 1
        while child > 0, moments[child] < moments[(child - 1) / 2] {
            moments.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func removeFirst() {
        moments.swapAt(0, moments.count - 1)
        moments.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < moments.count && moments[child] < moments[least] { least = child }
            if least == parent { return }
            moments.swapAt(parent, least)
            parent = least
        }
    }
}
