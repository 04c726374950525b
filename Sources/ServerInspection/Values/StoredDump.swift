import StoreInspection
import ValkeyWire

/// A key as it is stored, in the server's own form (`DUMP`), which keeps all of its value. A value; safe to share between threads.
package struct StoredDump: Sendable, Hashable {
    package var key: [UInt8]
    /// `string`, `hash` …; empty: not known.
    package var type = ""
    /// By the server's clock, in milliseconds since 1970; nil: it doesn't expire.
    package var expires: Int64?
    package var bytes: [UInt8]

    package init(key: [UInt8], expires: Int64?, bytes: [UInt8]) {
        (self.key, self.expires, self.bytes) = (key, expires, bytes)
    }
}

extension ServerConnection {
    /// A key at one moment; nil: there is none. A use of the key where ``ServerTraits/keepsIdleTimes`` is false.
    package func dumped(_ key: [UInt8], in database: Int) throws(SourceError) -> StoredDump? {
        let size = KeyFacts.size(try ask(RESPCommand("MEMORY", "USAGE") + key, in: database).number)
        guard size <= ServerValue.mostWorkedOn else {
            throw SourceError("it is too large: \(Figures.bytes(UInt64(size))) in the server's memory")
        }
        if size > 1 << 20 { try requireRoom(for: size, "to copy it") }
        let areTold = try traits().tellsDeadlines
        let commands = [
            RESPCommand("MULTI"), RESPCommand("TIME"), RESPCommand("TYPE") + key,
            RESPCommand(areTold ? "PEXPIRETIME" : "PTTL") + key, RESPCommand("DUMP") + key,
            RESPCommand("EXEC"),
        ]
        let answers = try ask(commands, in: database)
        for (command, answer) in zip(commands, answers) { _ = try accepted(answer, to: command) }
        guard let told = answers[5].elements, told.count == 4, let now = told[0].milliseconds else {
            throw SourceError("\(address) answers EXEC with something else than the answers")
        }
        for (command, answer) in zip(commands[1...], told) { _ = try accepted(answer, to: command) }
        guard case .bytes(let bytes) = told[3] else { return nil }
        let left = told[2].number ?? -1
        var dump = StoredDump(key: key, expires: left < 0 ? nil : areTold ? left : now + left, bytes: bytes)
        dump.type = told[1].shownText
        return dump
    }

    /// Stores a key in one step. Returns why it wasn't; nil: it was.
    package func restore(
        _ dump: StoredDump, replaces: Bool, in database: Int
    ) throws(SourceError) -> String? {
        if let expires = dump.expires {
            guard let now = try ask(RESPCommand("TIME")).milliseconds, now < expires else {
                return "its expiry time has passed"
            }
        }
        let command = RESPCommand("RESTORE") + dump.key + (dump.expires ?? 0) + dump.bytes + "ABSTTL"
        return try refusal(of: replaces ? command + "REPLACE" : command, in: database)
    }

    /// Stores a string in one step. Returns why it wasn't; nil: it was.
    package func set(
        _ key: [UInt8], to bytes: [UInt8], milliseconds: Int64?, replaces: Bool, in database: Int
    ) throws(SourceError) -> String? {
        var command = RESPCommand("SET") + key + bytes
        if let milliseconds { command = command + "PX" + milliseconds }
        return try refusal(of: replaces ? command : command + "NX", in: database)
    }

    /// - Throws: where all others would be refused too.
    private func refusal(of command: RESPCommand, in database: Int) throws(SourceError) -> String? {
        let answer = try change([command], in: database)[0]
        if answer == .null { return ServerConnection.isPresent }
        guard case .error(let message) = answer else { return nil }
        if message.hasPrefix("BUSYKEY") { return ServerConnection.isPresent }
        if ServerConnection.general.contains(where: message.hasPrefix) {
            _ = try accepted(answer, to: command)
        }
        return "\(command.name) was refused: \(message)"
    }

    private static let isPresent = "the key exists already; --overwrite replaces it"

    /// Errors that don't depend on the key or the value.
    static let general = [
        "OOM", "READONLY", "LOADING", "MISCONF", "MASTERDOWN", "CLUSTERDOWN", "NOREPLICAS", "BUSY ", "NOAUTH",
    ]

    /// Refuses where a server would evict keys to make room. A server that doesn't evict answers with an error.
    package func requireRoom(for size: Int, _ purpose: String) throws(SourceError) {
        guard try traits().evicts, size > 0 else { return }
        let figures: ServerFigures
        do throws(SourceError) {
            figures = try self.figures()
        } catch {
            // Who may not ask can't know.
            guard error.description.contains("NOPERM") else { throw error }
            return
        }
        guard let limit = figures.memoryLimit, figures.policy != "noeviction" else { return }
        let needed = UInt64(size) + UInt64(size) / 4
        guard figures.memory + needed > limit else { return }
        throw SourceError(
            "\(address) has no room left and would evict keys \(purpose) (\(figures.policy)); "
                + "what is left stays: make room and do it again")
    }
}
