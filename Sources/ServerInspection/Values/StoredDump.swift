import StorageEngine
import StoreInspection
import ValkeyWire

/// A key with its value in the server's own form (`DUMP`).
package struct StoredDump: Sendable, Hashable {
    package var key: [UInt8]
    /// `string`, `hash` …; empty: unknown.
    package var type = ""
    /// Milliseconds since 1970 by the server's clock; nil: never.
    package var expires: Int64?
    package var bytes: [UInt8]

    package init(key: [UInt8], expires: Int64?, bytes: [UInt8]) {
        (self.key, self.expires, self.bytes) = (key, expires, bytes)
    }
}

/// The format of a dump: the value, the version of the format in two bytes, and a CRC-64 of the bytes before it (Jones, little
/// endian).
enum DumpPayload {
    private static let table = (0..<256).map { byte in
        (0..<8).reduce(UInt64(byte)) { crc, _ in crc >> 1 ^ (crc & 1 == 1 ? 0x95ac_9329_ac4b_c9b5 : 0) }
    }

    /// Whether the bytes end with their checksum. Takes linear time.
    static func isIntact(_ bytes: [UInt8]) -> Bool {
        guard bytes.count > 10 else { return false }
        let sum = bytes.dropLast(8).reduce(UInt64(0)) {
            table[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] ^ $0 >> 8
        }
        return bytes.suffix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) } == sum
    }
}

extension ServerCapabilities {
    /// The command that reports a key's expiry time, or the time left.
    func expiry(of key: [UInt8]) -> RESPCommand {
        RESPCommand(reportsExpiryTimes ? "PEXPIRETIME" : "PTTL") + key
    }

    /// The expiry time in milliseconds since 1970; nil: never, or the key is absent.
    /// - Parameter now: the server's time.
    func deadline(_ reply: RESPValue, at now: Int64) -> Int64? {
        guard let number = reply.number, number >= 0 else { return nil }
        let (sum, overflows) = now.addingReportingOverflow(number)
        return reportsExpiryTimes ? number : overflows ? .max : sum
    }
}

extension ServerConnection {
    /// Reads a key's state at one moment; nil: absent. Counts as an access where ``ServerCapabilities/keepsIdleTimes`` is false.
    package func dumped(_ key: [UInt8], in database: Int) throws(SourceError) -> StoredDump? {
        let size = KeyMetadata.size(try ask(RESPCommand("MEMORY", "USAGE") + key, in: database).number)
        guard size <= ServerValue.mostForCommands else {
            throw SourceError("it is too large: \(Figures.bytes(UInt64(size))) in the server's memory")
        }
        if size > 1 << 20 { try requireMemory(for: size, "to copy it") }
        let capabilities = try capabilities()
        let commands = [
            RESPCommand("TIME"), RESPCommand("TYPE") + key, capabilities.expiry(of: key),
            RESPCommand("DUMP") + key,
        ]
        let replies = try ask([RESPCommand("MULTI")] + commands + [RESPCommand("EXEC")], in: database)
        let results = try results(of: commands, in: replies) ?? []
        try accept(results, to: commands)
        guard results.count == 4, let now = results[0].milliseconds, case .status(let type) = results[1],
            case .integer = results[2]
        else { throw invalidReply(to: "EXEC") }
        if results[3] == .null { return nil }
        guard let bytes = results[3].blob, DumpPayload.isIntact(bytes) else {
            throw invalidReply(to: "DUMP")
        }
        var dump = StoredDump(key: key, expires: capabilities.deadline(results[2], at: now), bytes: bytes)
        dump.type = type
        return dump
    }

    /// Restores a key with one command. Returns why it was refused; nil: restored.
    package func restore(
        _ dump: StoredDump, replaces: Bool, in database: Int
    ) throws(SourceError) -> String? {
        if let expires = dump.expires {
            guard let now = try ask(RESPCommand("TIME")).milliseconds else { throw invalidReply(to: "TIME") }
            try requireClock(now)
            if now >= expires { return "its expiry time has passed" }
        }
        let command = RESPCommand("RESTORE") + dump.key + (dump.expires ?? 0) + dump.bytes + "ABSTTL"
        return try refusal(of: replaces ? command + "REPLACE" : command, in: database)
    }

    /// Throws if a server's time, in milliseconds since 1970, differs by more than a day from an expected one, by default this
    /// machine's. An expiry time calculated from a wrong time could delete a key at once.
    func requireClock(_ now: Int64, near time: Int64 = Timestamp.now().microseconds / 1000)
        throws(SourceError)
    {
        guard now.distance(to: time).magnitude > 86_400_000 else { return }
        throw SourceError("the clock of \(address) is more than a day off, so expiry times would be wrong")
    }

    /// Stores a string with one command. Returns why it was refused; nil: stored.
    package func set(
        _ key: [UInt8], to bytes: [UInt8], milliseconds: Int64?, replaces: Bool, in database: Int
    ) throws(SourceError) -> String? {
        var command = RESPCommand("SET") + key + bytes
        if let milliseconds { command = command + "PX" + milliseconds }
        return try refusal(of: replaces ? command : command + "NX", in: database)
    }

    /// - Throws: an error that doesn't depend on the key.
    private func refusal(of command: RESPCommand, in database: Int) throws(SourceError) -> String? {
        let reply: RESPValue
        // Connect first, so that a failure to connect is known to have stored nothing.
        _ = try serverNumber()
        do throws(SourceError) {
            reply = try change([command], in: database, isContinued: true)[0]
        } catch {
            let key = TerminalSafe.quoted(KeyName.text(command.words[1]))
            throw SourceError("\(error); it is unknown whether \(key) was stored", refusal: error.refusal)
        }
        if reply == .null { return ServerConnection.isPresent }
        if reply == .status("OK") { return nil }
        guard let message = reply.error else { throw invalidReply(to: command.name) }
        if message.hasPrefix("BUSYKEY") { return ServerConnection.isPresent }
        if ServerConnection.general.contains(where: message.hasPrefix) { try accepted(reply, to: command) }
        return "\(command.name) was refused: \(message)"
    }

    private static let isPresent = "the key already exists; --overwrite replaces it"

    /// Beginnings of errors that don't depend on key and value.
    static let general = [
        "OOM", "READONLY", "LOADING", "MISCONF", "MASTERDOWN", "CLUSTERDOWN The", "NOREPLICAS", "BUSY ",
        "NOAUTH",
    ]

    /// Throws if the server would evict keys for `size` more bytes.
    package func requireMemory(for size: Int, _ purpose: String) throws(SourceError) {
        guard try capabilities().evicts, size > 0 else { return }
        let figures: ServerFigures
        do throws(SourceError) {
            figures = try self.figures()
        } catch {
            // Without permission for INFO, the memory is unknown.
            guard error.refusal?.hasPrefix("NOPERM") == true else { throw error }
            return
        }
        guard let limit = figures.memoryLimit, figures.policy != "noeviction" else { return }
        let needed = UInt64(size) + UInt64(size) / 4
        guard figures.memory + needed > limit else { return }
        throw SourceError(
            "\(address) has no free memory and would evict keys \(purpose) (\(figures.policy)); "
                + "free memory there and run it again for the rest")
    }
}
