/// Evicts the least recently used entry.
struct LRUPolicy: EvictionPolicy {
    var limit: Int { didSet { shrink(to: limit) } }
    private var entries = LinkedEntries()

    init(limit: Int) { self.limit = limit }

    var used: Int { entries.total(0) }
    func holds(_ key: Int) -> Bool { entries[key].list == 0 }
    func size(of key: Int) -> Int { entries[key].size }

    mutating func touch(_ key: Int) { entries.move(key, to: 0) }

    mutating func insert(_ key: Int, size: Int) {
        shrink(to: limit - size)
        entries.add(key, to: 0, size: size)
    }

    mutating func resize(_ key: Int, to size: Int) { entries.resize(key, to: size) }

    mutating func evict() { if let last = entries.last(0) { entries.remove(last) } }

    mutating func remove(_ key: Int) { if holds(key) { entries.remove(key) } }
}
