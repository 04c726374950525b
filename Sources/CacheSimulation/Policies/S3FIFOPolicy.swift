/// New entries enter a small queue of a tenth of the limit. Entries accessed there, or requested again soon after eviction, enter
/// the main queue, which keeps accessed ones (Yang et al., FIFO Queues are All You Need for Cache Eviction, SOSP 2023).
struct S3FIFOPolicy: EvictionPolicy {
    private static let small: UInt8 = 0
    private static let main: UInt8 = 1
    /// Keys evicted from the small queue.
    private static let ghost: UInt8 = 2
    private static let highestFrequency: UInt16 = 3

    var limit: Int {
        didSet {
            shrink(to: limit)
            trimGhosts()
        }
    }
    private var entries = LinkedEntries()

    init(limit: Int) { self.limit = limit }

    var used: Int { entries.total(Self.small) + entries.total(Self.main) }
    func holds(_ key: Int) -> Bool { entries[key].list <= Self.main }
    func remembers(_ key: Int) -> Bool { entries[key].list <= Self.ghost }
    func size(of key: Int) -> Int { entries[key].size }

    mutating func touch(_ key: Int) {
        entries[key].frequency = min(entries[key].frequency + 1, Self.highestFrequency)
    }

    mutating func insert(_ key: Int, size: Int) {
        let isGhost = entries[key].list == Self.ghost
        if isGhost { entries.remove(key) }
        shrink(to: limit - size)
        entries.add(key, to: isGhost ? Self.main : Self.small, size: size)
        entries[key].frequency = 0
    }

    mutating func resize(_ key: Int, to size: Int) { entries.resize(key, to: size) }

    mutating func evict() {
        let small = entries.total(Self.small)
        if small == 0 || small < limit / 10 || !evictFromSmall() { evictFromMain() }
    }

    /// Evicts the oldest entry with fewer than two accesses, and moves older entries to the main queue. False if it moved all
    /// entries.
    private mutating func evictFromSmall() -> Bool {
        while let key = entries.last(Self.small) {
            let isAccessed = entries[key].frequency > 1
            entries[key].frequency = 0
            entries.move(key, to: isAccessed ? Self.main : Self.ghost)
            guard isAccessed else {
                trimGhosts()
                return true
            }
        }
        return false
    }

    private mutating func evictFromMain() {
        while let key = entries.last(Self.main) {
            guard entries[key].frequency > 0 else { return entries.remove(key) }
            entries[key].frequency -= 1
            entries.move(key, to: Self.main)
        }
        _ = evictFromSmall()
    }

    /// Limits the ghost queue to the size of the main queue.
    private mutating func trimGhosts() {
        let most = limit - limit / 10
        while entries.total(Self.ghost) > most, let key = entries.last(Self.ghost) { entries.remove(key) }
    }

    mutating func remove(_ key: Int) { if remembers(key) { entries.remove(key) } }
}
