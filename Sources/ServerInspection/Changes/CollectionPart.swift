import StoreInspection
import ValkeyWire

/// An element of a hash, list, set or sorted set, to be added or removed alone.
package struct CollectionPart: Sendable, Hashable {
    /// `hash`, `list`, `set` or `zset`.
    package let type: String
    /// The field, the member, or the number of a list's element; empty: one to add at the end of the list.
    private let label: [UInt8]
    /// The value of a field or element; the score of a member to add.
    private let value: [UInt8]

    /// What values of each type consist of.
    package static let nouns = ["hash": "field", "list": "element", "set": "member", "zset": "member"]

    package init(_ type: String, _ label: [UInt8], value: [UInt8] = []) {
        (self.type, self.label, self.value) = (type, label, value)
    }

    /// `field born`
    package var name: String {
        (CollectionPart.nouns[type] ?? "") + (label.isEmpty ? "" : " \(KeyName.text(label))")
    }

    fileprivate func reading(of key: [UInt8]) -> RESPCommand {
        let names = ["hash": "HGET", "list": "LINDEX", "set": "SISMEMBER", "zset": "ZSCORE"]
        let command = RESPCommand(names[type] ?? "") + key
        return label.isEmpty && type == "list" ? command + 0 : command + label
    }

    /// Whether an answer to ``reading(of:)`` has the element; nil: it has another value.
    fileprivate func isPresent(in answer: RESPValue) -> Bool? {
        switch type {
        case "set": answer.number == 1
        case "zset": answer != .null
        case "list" where label.isEmpty: false
        default: answer == .null ? false : answer.blob == value ? true : nil
        }
    }

    fileprivate func changing(_ key: [UInt8], removes: Bool) -> [RESPCommand] {
        func command(_ name: String) -> RESPCommand { RESPCommand(name) + key }
        switch type {
        case "hash": return [removes ? command("HDEL") + label : command("HSETNX") + label + value]
        case "set": return [command(removes ? "SREM" : "SADD") + label]
        case "zset": return [removes ? command("ZREM") + label : command("ZADD") + "NX" + value + label]
        case _ where !removes: return [command("RPUSHX") + value]
        default:
            // No command removes an element by its number.
            let mark = "vellum \(UInt64.random(in: 0 ... .max))"
            return [command("LSET") + label + mark, command("LREM") + 1 + mark]
        }
    }
}

extension ServerChanges {
    /// Adds an element to a key's value, or removes one. Keeps the expiry time, and writes no undo record. Is an access to the key.
    /// - Parameter run: the run of the server where the key was found; nil: any.
    /// - Returns: false if another client changed the key, or it has another type, or the element to add is present, or the one to
    ///   remove is absent or has another value; nothing was changed.
    package func change(
        _ part: CollectionPart, of key: [UInt8], removes: Bool, in run: String? = nil
    ) throws(SourceError) -> Bool {
        try connection.requireRun(run)
        _ = try ask(behind: ServerChanges.watch([key]))
        guard try asked([RESPCommand("TYPE") + key])[0] == .status(part.type),
            part.isPresent(in: try asked([part.reading(of: key)])[0]) == removes
        else { return false }
        do throws(SourceError) {
            return try execute(part.changing(key, removes: removes)) != nil
        } catch {
            guard error.refusal == nil else { throw error }
            throw SourceError("\(error); it is unknown whether the \(part.name) was changed")
        }
    }
}
