/// The changes that a follower wants to be woken for: those after which something else may be found under some keys.
/// Sendable value type.
package struct KeyInterest: Sendable, Hashable {
    private(set) var keys: Set<[UInt8]> = []
    private(set) var prefixes: Set<[UInt8]> = []

    package init() {}

    package mutating func insert(key: String) { keys.insert(Array(key.utf8)) }

    /// All keys that begin so.
    package mutating func insert(prefix: String) { prefixes.insert(Array(prefix.utf8)) }
}

/// What the events of a batch have changed, made ready for many followers to ask: a question costs a binary search for each key or
/// prefix of its follower, however many events there were.
package struct ChangedKeys {
    /// In the order of their bytes.
    private let keys: [[UInt8]]
    /// Of those that nobody knows whole any more.
    private let beginnings: [[UInt8]]
    /// Events were lost, or were about no key in particular.
    private let mayBeAny: Bool

    package init(_ batch: EventBatch) {
        var (keys, beginnings): ([[UInt8]], [[UInt8]]) = ([], [])
        var mayBeAny = batch.lost > 0
        for event in batch.events where event.kind.changesWhatIsFound {
            guard let key = event.key else {
                mayBeAny = true
                continue
            }
            if event.keyIsComplete {
                keys.append(Array(key.utf8))
            } else {
                beginnings.append(Array(key.utf8))
            }
        }
        self.keys = keys.sorted { $0.lexicographicallyPrecedes($1) }
        self.beginnings = beginnings
        self.mayBeAny = mayBeAny
    }

    package func concern(_ interest: KeyInterest) -> Bool {
        if mayBeAny { return true }
        if interest.keys.contains(where: isChanged) || interest.prefixes.contains(where: hasKey) {
            return true
        }
        return beginnings.contains { beginning in
            interest.keys.contains { $0.starts(with: beginning) }
                || interest.prefixes.contains { $0.starts(with: beginning) || beginning.starts(with: $0) }
        }
    }

    private func isChanged(_ key: [UInt8]) -> Bool { firstKey(from: key) == key }

    private func hasKey(beginningWith prefix: [UInt8]) -> Bool {
        firstKey(from: prefix)?.starts(with: prefix) ?? false
    }

    /// The first key that is not before this one. Those that begin with it come next to each other, the first of them there.
    private func firstKey(from key: [UInt8]) -> [UInt8]? {
        var (low, high) = (0, keys.count)
        while low < high {
            let middle = (low + high) / 2
            if keys[middle].lexicographicallyPrecedes(key) { low = middle + 1 } else { high = middle }
        }
        return low < keys.count ? keys[low] : nil
    }
}

extension EventKind {
    /// Whether something else may be found under the key after it.
    fileprivate var changesWhatIsFound: Bool {
        switch self {
        case .record, .update, .eviction, .expiry, .delete, .restore: true
        case .promotion, .rejection, .deadline, .append, .resize: false
        }
    }
}
