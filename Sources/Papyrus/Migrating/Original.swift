import CBOR
import Foundation
import StorageEngine

/// The state of an object before its conversion, for related objects that are converted later; kept some days under a hidden key.
struct Original: Codable, Sendable {
    /// The key of the object's successor.
    private(set) var successor: String
    /// The number of the change that stored the object, before any conversion.
    private var saved: UInt64
    private var result: UInt64
    fileprivate var value: Data

    private static let lifetime = Duration.seconds(7 * 86_400)
    /// Types that one object is converted through, at most.
    private static let longestChain = 32
    private static let prefix = "~migrated/"

    /// The key under which the original of an object is kept.
    static func key(of key: String) -> String {
        let text = prefix + key
        return text.utf8.count <= 1_024 ? text : prefix + SHA256.hexadecimal(of: Array(key.utf8))
    }

    /// The original of an object; `nil` if the object was never converted, or its original was removed or is invalid.
    static func find(_ key: String, in entries: some EntrySource) throws -> Original? {
        try entries.find(Original.key(of: key)).flatMap {
            try? CBORDecoder().decode(Self.self, from: $0.value)
        }
    }

    /// FNV-1a.
    private static func hash(_ bytes: [UInt8]) -> UInt64 {
        bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }

    /// The key of the original of an object whose identifier changed, derived from the successor's key.
    private static func origin(of key: String) -> String { ">" + key }

    /// When an entry's object was saved. If a migration stored the entry, returns when the object was saved before its
    /// conversion. `prefixes`: those of the types that are converted into its type.
    static func saved(
        _ entry: StoredEntry, identifier: Substring, from prefixes: [String], in entries: some EntrySource
    ) throws -> UInt64 {
        for key in prefixes.map({ $0 + identifier }) + [origin(of: entry.key)] {
            let original = try find(key, in: entries)
            if let original, original.successor == entry.key, original.result == hash(entry.value) {
                return original.saved
            }
        }
        return entry.sequence
    }

    /// Keeps the original of a converted object, or the one it has. `isRenamed`: whether its identifier changed.
    static func keep(
        _ entry: StoredEntry, saved: UInt64, becoming new: WrittenObject, isRenamed: Bool,
        from entries: some EntrySource, in batch: inout Batch, _ seen: inout [SeenEntry]
    ) throws {
        if entry.isRelatedOnly, try entries.find(key(of: entry.key)) != nil { return }
        var original = Original(
            successor: new.key, saved: saved, result: hash(new.value), value: Data(entry.value))
        try original.put(key(of: entry.key), from: entries, in: &batch, &seen)
        guard isRenamed else { return }
        original.value = Data()
        try original.put(key(of: origin(of: new.key)), from: entries, in: &batch, &seen)
    }

    private func put(
        _ key: String, from entries: some EntrySource, in batch: inout Batch, _ seen: inout [SeenEntry]
    ) throws {
        batch.put(
            try CBOREncoder().encode(self), forKey: key, encoding: .cbor,
            attributes: EntryAttributes(lifetime: Self.lifetime))
        seen.append(SeenEntry(key: key, sequence: try entries.find(key)?.sequence))
    }

    /// Whether the last successor of the object still exists.
    fileprivate func isAlive(in entries: some EntrySource) throws -> Bool {
        var original = self
        for _ in 0..<Self.longestChain {
            if try entries.find(original.successor) != nil { return true }
            guard let next = try Original.find(original.successor, in: entries) else { return false }
            original = next
        }
        return false
    }
}

/// Reads old objects; converted ones from their originals, unless the successor was deleted.
struct MigratedEntries: EntrySource {
    let entries: SnapshotEntries

    func find(_ key: String) throws -> StoredEntry? {
        if let present = try entries.find(key) { return present }
        guard let original = try Original.find(key, in: entries), try original.isAlive(in: entries) else {
            return nil
        }
        return StoredEntry(
            key: key, value: Array(original.value), created: Timestamp(microseconds: 0), sequence: 0)
    }
}

extension StoredEntry {
    /// Precedes an object that a migration stored because others are related to it: the tag without meaning (RFC 8949,
    /// 3.4.6). Saving the object removes it.
    static let relatedOnly: [UInt8] = [0xd9, 0xd9, 0xf7]

    var isRelatedOnly: Bool { value.starts(with: StoredEntry.relatedOnly) }
}
