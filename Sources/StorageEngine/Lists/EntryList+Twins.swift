import Synchronization

/// Listed entries whose keys share a tag (about n² ÷ 2³³ pairs of n). Only the keys' bytes distinguish them. Lazy; thread-safe.
final class ListedTwins: Sendable {
    private let places = Guarded<[UInt32: [Int]]?>(nil)

    func of(_ tag: UInt32, in references: [EntryReference]) -> [Int] {
        places.withLock { known in
            let found = known ?? ListedTwins.find(in: references)
            known = found
            return found[tag] ?? []
        }
    }

    private static func find(in references: [EntryReference]) -> [UInt32: [Int]] {
        let tags = references.map(\.tag).sorted()
        let several = Set(zip(tags, tags.dropFirst()).filter { $0 == $1 }.map(\.0))
        guard !several.isEmpty else { return [:] }
        return Dictionary(grouping: references.indices.filter { several.contains(references[$0].tag) }) {
            references[$0].tag
        }
    }
}

extension EntryList {
    /// Whether an index slot with a listed entry's tag and age belongs to that entry and not to a twin.
    func isOf(_ reference: EntryReference, _ line: EntryLine) throws(StorageError) -> Bool {
        guard engine.index.renumberings != renumberings else { return true }
        let twins = twins.of(reference.tag, in: references).map { references[$0] }
            .filter { $0.number != reference.number }
        guard !twins.isEmpty else { return true }
        let uses = engine.index.touches.pending()
        guard let found = try engine.line(line.number, ofTag: line.tag, uses: uses), let use = found.use
        else { return false }
        // No two entries ever have the same stamp, and only an access changes a stamp.
        if use.recency == reference.recency { return true }
        guard use.recency > reference.recency, !twins.contains(where: { $0.recency == use.recency }) else {
            return false
        }
        // The entry was accessed since. A unique size identifies it, or the fact that all twins are found in other slots.
        if found.bytes == reference.valueBytes, twins.allSatisfy({ $0.valueBytes != reference.valueBytes }) {
            return true
        }
        var elsewhere: Set<UInt64> = []
        for number in engine.index.table.liveEntries(ofTag: line.tag) where number != line.number {
            if let other = try engine.line(number, ofTag: line.tag, uses: uses)?.use {
                elsewhere.insert(other.recency)
            }
        }
        return twins.allSatisfy { elsewhere.contains($0.recency) }
    }
}
