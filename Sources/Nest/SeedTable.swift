import StorageEngine

/// The items in memory, by key and by deadline. Not thread-safe. For expiry, seeds are in buckets (linked lists), and a
/// heap has the time at which each is due. Far deadlines have coarser buckets, whose seeds move into finer ones when
/// due. So expiry costs time in proportion to the expiring seeds, and a removed seed leaves nothing behind.
struct SeedTable {
    /// Width of the finest buckets in nanoseconds: the most by which an item leaves memory late.
    static let quantum: Int64 = 1 << 28

    private var seeds: [ExactText: Seed] = [:]
    /// The first seed of each bucket in the heap.
    private var heads: [Int64: Unmanaged<Seed>?] = [:]
    private var moments = MomentHeap()

    var count: Int { seeds.count }
    var keys: [String] { seeds.keys.map(\.text) }
    subscript(key: String) -> Seed? { seeds[ExactText(key)] }

    var nextMoment: Int64? { moments.first }

    /// Replaces the seed with this key, and returns the old one, to be released outside the lock.
    mutating func insert(_ seed: Seed, now: Int64) -> Seed? {
        let old = seeds.updateValue(seed, forKey: ExactText(seed.key))
        if let old { unlink(old) }
        link(seed, now: now)
        return old
    }

    mutating func remove(_ key: String) -> Seed? {
        guard let seed = seeds.removeValue(forKey: ExactText(key)) else { return nil }
        unlink(seed)
        return seed
    }

    /// Removes `seed`, if it is still the one with its key.
    mutating func remove(_ seed: Seed) -> Seed? {
        seeds[ExactText(seed.key)] === seed ? remove(seed.key) : nil
    }

    mutating func removeAll() -> [Seed] {
        defer { self = SeedTable() }
        return Array(seeds.values)
    }

    /// Removes expired seeds, visiting at most `most`. Returns `nil` once all due buckets are empty.
    mutating func removeExpired(_ now: Int64, most: Int) -> [Seed]? {
        guard let moment = moments.first, moment <= now else { return nil }
        var gone: [Seed] = []
        for _ in 0..<most {
            guard let head = heads[moment] ?? nil else {
                heads[moment] = nil
                moments.removeFirst()
                break
            }
            let seed = head.takeUnretainedValue()
            unlink(seed)
            if seed.deadline <= now {
                seeds[ExactText(seed.key)] = nil
                gone.append(seed)
            } else {
                link(seed, now: now)
            }
        }
        return gone
    }

    mutating func shrink() {
        guard seeds.capacity > 1_024, seeds.count < seeds.capacity / 4 else { return }
        // A copy would share the storage. Space for twice as many avoids growing at the next item, and shrinking at a
        // removal.
        var smaller = [ExactText: Seed](minimumCapacity: 2 * seeds.count)
        for (key, seed) in seeds { smaller[key] = seed }
        seeds = smaller
    }

    private mutating func link(_ seed: Seed, now: Int64) {
        guard seed.deadline != .max else { return }
        var width = SeedTable.quantum
        while width < (seed.deadline - now) / 128 { width *= 2 }
        // The finest bucket is due when all its seeds have expired, a coarser one before any of them has.
        let isFinest = width == SeedTable.quantum
        let moment = (seed.deadline / width + (isFinest ? 1 : 0)) * width
        seed.bucket = moment
        let first = heads[moment]
        if first == nil { moments.insert(moment) }
        seed.next = (first ?? nil)?.takeUnretainedValue()
        seed.next?.previous = seed
        heads[moment] = .some(Unmanaged.passUnretained(seed))
    }

    private mutating func unlink(_ seed: Seed) {
        guard let bucket = seed.bucket else { return }
        if let previous = seed.previous {
            previous.next = seed.next
        } else {
            heads[bucket] = .some(seed.next.map { Unmanaged.passUnretained($0) })
        }
        seed.next?.previous = seed.previous
        seed.bucket = nil
        seed.next = nil
        seed.previous = nil
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
