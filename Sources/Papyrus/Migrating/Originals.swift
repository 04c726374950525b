import CBOR
import Foundation
import StorageEngine

/// What the object under a key was before it was converted, for those that are related to it and are converted later. It stays for
/// some days under a key of its own, which no query of objects finds. A value; safe to share between threads.
struct Originals: Codable, Sendable {
    /// One form that it had.
    struct Form: Codable, Sendable {
        /// The Swift type that it can be decoded as.
        var type: String
        /// The key of what it became; its own if only its form changed.
        var successor: String
        /// The number of the change that stored it, before any conversion.
        var saved: UInt64
        /// A hash of what it became.
        var result: UInt64
        var value: Data
    }

    /// The oldest first; one of each type.
    private(set) var forms: [Form] = []

    private static let lifetime = Duration.seconds(7 * 86_400)
    /// Types that one object is converted through, at most.
    private static let longestChain = 32
    private static let prefix = "~migrated/"

    /// The key that the originals of a key are under.
    static func key(of key: String) -> String {
        let text = prefix + key
        return text.utf8.count <= 1_024 ? text : prefix + SHA256.hexadecimal(of: Array(key.utf8))
    }

    /// Nil if there is none, which is so if the key's object was never converted, or long ago.
    static func find(_ key: String, in entries: some EntrySource) throws -> Originals? {
        try entries.find(Originals.key(of: key)).flatMap(decode)
    }

    /// Nil if it is something else.
    private static func decode(_ entry: StoredEntry) -> Originals? {
        try? CBORDecoder().decode(Originals.self, from: entry.value)
    }

    /// FNV-1a.
    static func hash(_ bytes: [UInt8]) -> UInt64 {
        bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }

    /// When the object that an entry has was saved: before the conversions that it came by, if it is as they left it.
    /// - Parameter prefixes: of the types that are converted into its own, under the identifiers that they keep.
    static func saved(
        _ entry: StoredEntry, identifier: Substring, from prefixes: [String], in entries: some EntrySource
    ) throws -> UInt64 {
        for prefix in prefixes {
            let form = try find(prefix + identifier, in: entries)?.forms.last { $0.successor == entry.key }
            if let form, form.result == hash(entry.value) { return form.saved }
        }
        return entry.sequence
    }

    /// Adds an old object's form to what is kept of its key. What stands only for another leaves what is there.
    static func keep(
        _ entry: StoredEntry, as type: Any.Type, saved: UInt64, becoming new: WrittenObject,
        from entries: some EntrySource, in batch: inout Batch, _ seen: inout [SeenEntry]
    ) throws {
        let key = Originals.key(of: entry.key)
        let present = try entries.find(key)
        if present != nil, entry.isRelatedOnly { return }
        var originals = present.flatMap(decode) ?? Originals()
        let name = StoredType.name(of: type)
        originals.forms.removeAll { $0.type == name }
        originals.forms.append(
            Form(
                type: name, successor: new.key, saved: saved, result: hash(new.value),
                value: Data(entry.value)))
        batch.put(
            try CBOREncoder().encode(originals), forKey: key, encoding: .cbor,
            attributes: EntryAttributes(lifetime: lifetime))
        seen.append(SeenEntry(key: key, sequence: present?.sequence))
    }

    /// The form that an object of this type is found in; `present`: what the key has now.
    fileprivate func form(of key: String, as type: Any.Type, present: StoredEntry?) -> Form? {
        let name = StoredType.name(of: type)
        // Of one that has its key still, only what was of this type; else what it was last comes closest.
        let possible = forms.filter { $0.successor == key ? $0.type == name : present == nil }
        return possible.last { $0.type == name } ?? possible.last
    }

    /// Whether what the object under a key became, in the end, is there still.
    fileprivate static func isAlive(_ key: String, in entries: some EntrySource) throws -> Bool {
        var key = key
        for _ in 0..<longestChain {
            if try entries.find(key) != nil { return true }
            let originals = try find(key, in: entries)
            guard let next = originals?.forms.last(where: { $0.successor != key }) else { return false }
            key = next.successor
        }
        return false
    }
}

/// What a migration reads: also objects that were converted already, as they were, unless what they became was deleted since.
struct MigratedEntries: EntrySource {
    let entries: SnapshotEntries

    func find(_ key: String) throws -> StoredEntry? { try entries.find(key) }

    func find(_ key: String, as type: Any.Type) throws -> StoredEntry? {
        let present = try entries.find(key)
        guard let form = try Originals.find(key, in: entries)?.form(of: key, as: type, present: present),
            try Originals.isAlive(form.successor, in: entries)
        else { return present }
        return StoredEntry(
            key: key, value: Array(form.value), created: Timestamp(microseconds: 0),
            sequence: present?.sequence ?? 0)
    }
}

/// Where nothing can be found.
struct NoEntries: EntrySource {
    func find(_ key: String) -> StoredEntry? { nil }
}

/// The conversions that changed the form of objects of one type name, by the names of their Swift types: an object that an earlier
/// one can't read is a later one's result. A value; safe to share between threads.
struct Reforms: Codable, Sendable {
    private var results: [String: Set<String>] = [:]

    /// No object has this key: it has no identifier.
    private static func key(of name: String) -> String { "~migrated/" + name }

    static func find(of name: String, in entries: some EntrySource) throws -> Reforms {
        guard let entry = try entries.find(key(of: name)) else { return Reforms() }
        return try CBORDecoder().decode(Reforms.self, from: entry.value)
    }

    /// Whether results of that type were converted on.
    func continues(from type: Any.Type) -> Bool { results[StoredType.name(of: type)] != nil }

    /// Notes a conversion, where it isn't noted.
    mutating func note(
        _ old: Any.Type, _ new: Any.Type, of name: String, from entries: some EntrySource,
        in batch: inout Batch, _ seen: inout [SeenEntry]
    ) throws {
        let (old, new) = (StoredType.name(of: old), StoredType.name(of: new))
        guard results[old, default: []].insert(new).inserted else { return }
        let key = Reforms.key(of: name)
        seen.append(SeenEntry(key: key, sequence: try entries.find(key)?.sequence))
        batch.put(try CBOREncoder().encode(self), forKey: key, encoding: .cbor)
    }
}

extension StoredEntry {
    /// What stands before an object that a migration stored because others are related to it: the tag that means nothing
    /// (RFC 8949, 3.4.6). Saving the object removes it.
    static let relatedOnly: [UInt8] = [0xd9, 0xd9, 0xf7]

    var isRelatedOnly: Bool { value.starts(with: StoredEntry.relatedOnly) }
}
