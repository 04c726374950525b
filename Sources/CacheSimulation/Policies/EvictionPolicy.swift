/// A simulated cache over keys numbered from 0, with sizes in units of its limit. Cost of a call: O(1), amortized.
protocol EvictionPolicy: Sendable {
    /// `limit`: the largest sum of sizes, at least 1.
    init(limit: Int)

    var limit: Int { get set }
    /// The sum of the sizes of cached entries.
    var used: Int { get }

    func holds(_ key: Int) -> Bool
    /// Whether the policy still needs the key's number: the key is cached, or recorded after its eviction.
    func remembers(_ key: Int) -> Bool
    func size(of key: Int) -> Int
    /// Records an access of a cached key.
    mutating func touch(_ key: Int)
    /// Adds a key that isn't cached, and evicts others.
    mutating func insert(_ key: Int, size: Int)
    mutating func resize(_ key: Int, to size: Int)
    /// Evicts an entry; at least one is cached.
    mutating func evict()
    /// Removes a key, and the policy's record of it.
    mutating func remove(_ key: Int)
    mutating func perform(_ step: Step) -> Bool
}

extension EvictionPolicy {
    func remembers(_ key: Int) -> Bool { holds(key) }

    /// Returns whether the key was cached.
    mutating func perform(_ step: Step) -> Bool {
        let key = Int(step.key)
        let isHit = holds(key)
        switch step.action {
        case .remove: remove(key)
        case .lookup: if isHit { touch(key) }
        case .update where isHit: update(key, step.size)
        case .read where isHit && size(of: key) == step.size: touch(key)
        case .read, .write, .update, .prior:
            if isHit {
                touch(key)
                update(key, step.size)
            } else if step.size <= limit && step.size > 0 {
                insert(key, size: step.size)
            }
        }
        return isHit
    }

    private mutating func update(_ key: Int, _ size: Int) {
        guard size <= limit else { return remove(key) }
        resize(key, to: size)
        shrink(to: limit)
    }

    /// Evicts entries until their sum is at most `size`.
    mutating func shrink(to size: Int) {
        while used > size { evict() }
    }
}
