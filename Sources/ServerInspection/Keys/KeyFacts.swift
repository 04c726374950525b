import ArchiveQuery
import StorageEngine
import StoreInspection
import ValkeyWire

package struct KeyFacts: Sendable, Hashable {
    /// `string`, `hash`, `list`, `set`, `zset`, `stream`, or a module's own type.
    package var type: String

    /// Returns a reported size in bytes, at most 2^40, so that sums don't overflow.
    static func size(_ reported: Int64?) -> Int { Int(clamping: min(max(0, reported ?? 0), 1 << 40)) }

    /// The type of a key that the user has no rights to, or that this server of a cluster doesn't serve.
    static let forbidden = QueryMetadata.hiddenType
    static let objection = "no permission to read this key, or this server doesn't serve it"

    /// The server's encoding: `listpack`, `hashtable` … Nil: unknown.
    package var layout: String?
    /// Bytes that key and value take in the server's memory; estimated from samples of a large value.
    package var memory: Int
    package var expires: Timestamp?
    /// The last access, to a second; nil on a server that counts accesses.
    package var used: Timestamp?
    /// The access frequency on the server's scale of 0 to 255; nil on a server that records times.
    package var frequency: UInt8?

    /// The facts as an entry's metadata, without creation time and hits.
    package func metadata(of key: [UInt8], at now: Timestamp) -> EntryMetadata {
        var metadata = EntryMetadata(
            key: KeyName.text(key), valueBytes: memory, recorded: used ?? now, sequence: version)
        metadata.created = Timestamp(microseconds: 0)
        metadata.expires = expires
        metadata.hits = UInt32(frequency ?? 0)
        return metadata
    }

    /// Replaces a sequence number, which servers don't have. Differs between values with different facts.
    private var version: UInt64 {
        var hasher = Hasher()
        hasher.combine(type)
        hasher.combine(layout)
        hasher.combine(memory)
        return UInt64(bitPattern: Int64(hasher.finalize())) | 1
    }
}

extension ServerConnection {
    /// Returns the facts of keys, in their order; nil for an absent key. Sends five commands a key at once, which change no idle time.
    package func facts(of keys: [[UInt8]], in database: Int) throws(SourceError) -> [KeyFacts?] {
        let countsUses = try traits().countsUses
        let commands = keys.map { key in
            [
                RESPCommand("TYPE") + key, RESPCommand("OBJECT", "ENCODING") + key,
                RESPCommand("MEMORY", "USAGE") + key, RESPCommand("PTTL") + key,
                RESPCommand("OBJECT", countsUses ? "FREQ" : "IDLETIME") + key,
            ]
        }
        let all = try ask(commands.flatMap { $0 }, in: database)
        let now = Timestamp.now()
        return try commands.enumerated().map { (place, commands) throws(SourceError) -> KeyFacts? in
            let replies = Array(all[place * 5..<place * 5 + 5])
            if let message = replies[0].error,
                message.hasPrefix("NOPERM") || ServerConnection.concernsKeys(message)
            {
                return KeyFacts(type: KeyFacts.forbidden, memory: 0)
            }
            // Another client may delete the key between two commands. Other errors must not become figures of 0.
            try accept(replies, to: commands) { $0.contains("no such key") }
            let (type, left, uses) = (replies[0].shownText, replies[3].number ?? -1, replies[4].number)
            guard !type.isEmpty, type != "none" else { return nil }
            var facts = KeyFacts(
                type: type, layout: replies[1].text, memory: KeyFacts.size(replies[2].number),
                expires: left < 0 ? nil : now.adding(milliseconds: left))
            if countsUses {
                facts.frequency = uses.map { UInt8(clamping: $0) }
            } else {
                facts.used = uses.map { now.adding(milliseconds: -(min(max(0, $0), 1 << 40) * 1000)) }
            }
            return facts
        }
    }
}
