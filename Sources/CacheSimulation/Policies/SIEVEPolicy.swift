/// Moves a position from old to new entries, and evicts the first entry that was not accessed since the position last passed it
/// (Zhang et al., SIEVE is Simpler than LRU, NSDI 2024). An access marks an entry and doesn't move it.
struct SIEVEPolicy: EvictionPolicy {
    var limit: Int { didSet { shrink(to: limit) } }
    private var entries = LinkedEntries()
    /// The next entry to examine; nil for the oldest.
    private var hand: Int?

    init(limit: Int) { self.limit = limit }

    var used: Int { entries.total(0) }
    func holds(_ key: Int) -> Bool { entries[key].list == 0 }
    func size(of key: Int) -> Int { entries[key].size }

    mutating func touch(_ key: Int) { entries[key].frequency = 1 }

    mutating func insert(_ key: Int, size: Int) {
        shrink(to: limit - size)
        entries.add(key, to: 0, size: size)
        entries[key].frequency = 0
    }

    mutating func resize(_ key: Int, to size: Int) { entries.resize(key, to: size) }

    mutating func evict() {
        while let key = hand ?? entries.last(0) {
            guard entries[key].frequency > 0 else { return remove(key) }
            entries[key].frequency = 0
            hand = entries.newer(key)
        }
    }

    mutating func remove(_ key: Int) {
        guard holds(key) else { return }
        // If the position is nil, the oldest entry is the next to examine.
        if (hand ?? entries.last(0)) == key { hand = entries.newer(key) }
        entries.remove(key)
    }
}
