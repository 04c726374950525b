import ArchiveQuery
import StorageEngine
import StoreInspection
import ValkeyWire

package struct KeyMetadata: Sendable, Hashable {
    /// `string`, `hash`, `list`, `set`, `zset`, `stream`, or a module's own type.
    package var type: String

    /// Returns a reported size in bytes, at most 2^40, so that sums don't overflow.
    static func size(_ reported: Int64?) -> Int { Int(clamping: min(max(0, reported ?? 0), 1 << 40)) }

    /// The displayed type of a key that the user has no rights to, or that this server of a cluster doesn't serve.
    static let forbidden = "no access"
    static let forbiddenReason = "no permission to read this key, or this server doesn't serve it"

    /// The server's encoding: `listpack`, `hashtable` … Nil: unknown.
    package var layout: String?
    /// Bytes that key and value take in the server's memory; estimated from samples of a large value.
    package var memory: Int
    package var expires: Timestamp?
    /// The last access, to a second; nil on a server that counts accesses.
    package var used: Timestamp?
    /// The access frequency on the server's scale of 0 to 255; nil on a server that records times.
    package var frequency: UInt8?
    /// Metadata that the user has no right to read.
    package var unknown: Set<QueryMetadata> = []

    /// The facts as an entry's metadata, without creation time and hits.
    package func metadata(of key: [UInt8], at now: Timestamp) -> EntryMetadata {
        var metadata = EntryMetadata(
            key: KeyName.text(key), valueBytes: memory, recorded: used ?? now, sequence: version)
        metadata.created = Timestamp(microseconds: 0)
        metadata.expires = expires
        metadata.hits = UInt32(frequency ?? 0)
        return metadata
    }

    /// A substitute for the sequence number, which servers don't have. Differs between values with different facts.
    private var version: UInt64 {
        var hasher = Hasher()
        hasher.combine(type)
        hasher.combine(layout)
        hasher.combine(memory)
        hasher.combine(unknown)
        return UInt64(bitPattern: Int64(hasher.finalize())) | 1
    }
}

extension ServerConnection {
    private static func isForbidden(_ refusal: String) -> Bool {
        refusal.hasPrefix("NOPERM") || concernsKeys(refusal)
    }

    /// Returns the facts of keys, in their order; nil for an absent key. Sends five commands a key at once, which change no idle time.
    package func facts(of keys: [[UInt8]], in database: Int) throws(SourceError) -> [KeyMetadata?] {
        let countsUses = try capabilities().countsUses
        let reported: [Set<QueryMetadata>] = [
            [.type], [.encoding], [.size], [.ttl, .expires], countsUses ? [.hits] : [.idle, .accessed],
        ]
        let commands = keys.map { key in
            [
                RESPCommand("TYPE") + key, RESPCommand("OBJECT", "ENCODING") + key,
                RESPCommand("MEMORY", "USAGE") + key, RESPCommand("PTTL") + key,
                RESPCommand("OBJECT", countsUses ? "FREQ" : "IDLETIME") + key,
            ]
        }
        let all = try ask(commands.flatMap { $0 }, in: database)
        let now = Timestamp.now()
        return try commands.enumerated().map { (place, commands) throws(SourceError) -> KeyMetadata? in
            let replies = Array(all[place * 5..<place * 5 + 5])
            // Another client may delete the key between two commands. Other errors must not become figures of 0.
            try accept(replies, to: commands) {
                $0.contains("no such key") || ServerConnection.isForbidden($0)
            }
            let unknown = zip(replies, reported).reduce(into: Set<QueryMetadata>()) {
                if let message = $1.0.error, ServerConnection.isForbidden(message) { $0.formUnion($1.1) }
            }
            let type = unknown.contains(.type) ? KeyMetadata.forbidden : replies[0].shownText
            let (left, uses) = (replies[3].number ?? -1, replies[4].number)
            guard !type.isEmpty, type != "none", left != -2 else { return nil }
            var facts = KeyMetadata(
                type: type, layout: replies[1].text, memory: KeyMetadata.size(replies[2].number),
                expires: left < 0 ? nil : now.adding(milliseconds: left))
            facts.unknown = unknown
            if countsUses {
                facts.frequency = uses.map { UInt8(clamping: $0) }
            } else {
                facts.used = uses.map { now.adding(milliseconds: -(min(max(0, $0), 1 << 40) * 1000)) }
            }
            return facts
        }
    }
}
