import StorageEngine
import StoreInspection
import ValkeyWire

/// What a server tells of a key without reading its value. A value; safe to share between threads.
package struct KeyFacts: Sendable, Hashable {
    /// `string`, `hash`, `list`, `set`, `zset`, `stream`, or what a module calls its own.
    package var type: String
    /// Sums of what no server holds are none that can be had.
    static let most = 1 << 40

    /// What is told of a size.
    static func size(_ told: Int64?) -> Int { Int(clamping: min(max(0, told ?? 0), Int64(most))) }

    /// The type of one that the user may not look at.
    static let forbidden = "no access"

    /// How the server keeps the value: `listpack`, `hashtable` … Nil: it doesn't say.
    package var layout: String?
    /// What key and value take in the server's memory, in bytes, estimated from some parts of a large one.
    package var memory: Int
    package var expires: Timestamp?
    /// When it was last used, to a second or, on a server that counts uses instead, not known.
    package var used: Timestamp?
    /// How often it is used, on the server's scale of 0 to 255; only where it counts that.
    package var frequency: UInt8?

    /// What key and facts tell, as those of an entry. A key's age and its accesses nobody counts.
    package func metadata(of key: [UInt8], at now: Timestamp) -> EntryMetadata {
        var metadata = EntryMetadata(
            key: KeyName.text(key), valueBytes: memory, recorded: used ?? now, sequence: version)
        metadata.created = Timestamp(microseconds: 0)
        metadata.expires = expires
        metadata.hits = UInt32(frequency ?? 0)
        return metadata
    }

    /// Another one if the value is seen to be another; a server numbers nothing.
    private var version: UInt64 {
        var hasher = Hasher()
        hasher.combine(type)
        hasher.combine(layout)
        hasher.combine(memory)
        return UInt64(bitPattern: Int64(hasher.finalize())) | 1
    }
}

extension ServerConnection {
    /// What is known of keys, in their order; nil for an absent one. One request of five commands a key, no uses.
    package func facts(of keys: [[UInt8]], in database: Int) throws(SourceError) -> [KeyFacts?] {
        let countsUses = try traits().countsUses
        var commands: [RESPCommand] = []
        for key in keys {
            commands += [
                RESPCommand("TYPE") + key, RESPCommand("OBJECT", "ENCODING") + key,
                RESPCommand("MEMORY", "USAGE") + key, RESPCommand("PTTL") + key,
                RESPCommand("OBJECT", countsUses ? "FREQ" : "IDLETIME") + key,
            ]
        }
        let each = 5
        let answers = try ask(commands, in: database)
        let now = Timestamp.now()
        var facts: [KeyFacts?] = []
        for place in stride(from: 0, to: answers.count, by: each) {
            for number in place..<place + each {
                // What it doesn't tell would else be a figure of 0. A key may have gone between two of them.
                if case .error(let message) = answers[number], message.contains("no such key") { continue }
                if number == place, case .error(let message) = answers[place], message.hasPrefix("NOPERM") {
                    break
                }
                _ = try accepted(answers[number], to: commands[number])
            }
            if case .error = answers[place] {
                // A person may look at others beside it.
                facts.append(KeyFacts(type: KeyFacts.forbidden, memory: 0))
                continue
            }
            let type = answers[place].shownText
            guard !type.isEmpty, type != "none" else {
                facts.append(nil)
                continue
            }
            let left = answers[place + 3].number ?? -1
            facts.append(
                KeyFacts(
                    type: type, layout: answers[place + 1].text,
                    memory: KeyFacts.size(answers[place + 2].number),
                    expires: left < 0 ? nil : now.adding(milliseconds: left),
                    used: countsUses
                        ? nil
                        : answers[place + 4].number.map {
                            now.adding(milliseconds: -(min(max(0, $0), 1 << 40) * 1000))
                        },
                    frequency: countsUses ? answers[place + 4].number.map { UInt8(clamping: $0) } : nil))
        }
        return facts
    }
}

extension Timestamp {
    func adding(milliseconds: Int64) -> Timestamp {
        let (microseconds, isTooFar) = milliseconds.multipliedReportingOverflow(by: 1000)
        let (sum, overflows) = self.microseconds.addingReportingOverflow(microseconds)
        return Timestamp(microseconds: isTooFar || overflows ? (milliseconds < 0 ? .min : .max) : sum)
    }
}
