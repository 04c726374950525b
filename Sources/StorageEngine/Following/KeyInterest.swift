/// The keys and key prefixes whose changes wake a follower.
package struct KeyInterest: Sendable, Hashable {
    private(set) var keys: Set<[UInt8]> = []
    private(set) var prefixes: Set<[UInt8]> = []

    package init() {}

    package mutating func insert(key: String) { keys.insert(Array(key.utf8)) }

    package mutating func insert(prefix: String) { prefixes.insert(Array(prefix.utf8)) }
}

/// The keys that a batch changed, prepared for many followers: each of their keys and prefixes costs a binary search.
package struct ChangedKeys {
    private let keys: [[UInt8]]
    /// Whether any key may have changed, because events were lost or had no complete key.
    private let mayBeAny: Bool

    package init(_ batch: EventBatch) {
        let changes = batch.events.filter(\.kind.affectsLookUps)
        keys = changes.compactMap { $0.key.map { Array($0.utf8) } }
            .sorted { $0.lexicographicallyPrecedes($1) }
        mayBeAny = batch.lost > 0 || changes.contains { $0.key == nil || !$0.keyIsComplete }
    }

    package func concern(_ interest: KeyInterest) -> Bool {
        mayBeAny || interest.keys.contains(where: isChanged) || interest.prefixes.contains(where: hasKey)
    }

    private func isChanged(_ key: [UInt8]) -> Bool { firstKey(from: key) == key }

    private func hasKey(beginningWith prefix: [UInt8]) -> Bool {
        firstKey(from: prefix)?.starts(with: prefix) ?? false
    }

    private func firstKey(from key: [UInt8]) -> [UInt8]? {
        let place = keys.partitioningIndex(where: { !$0.lexicographicallyPrecedes(key) })
        return place < keys.count ? keys[place] : nil
    }
}

extension EventKind {
    /// Whether this event may change the result of a look-up of its key.
    package var affectsLookUps: Bool {
        switch self {
        case .record, .update, .eviction, .expiry, .delete, .restore: true
        case .promotion, .rejection, .deadline, .append, .resize: false
        }
    }
}
