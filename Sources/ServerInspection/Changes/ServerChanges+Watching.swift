import StorageEngine
import StoreInspection
import ValkeyWire

/// Optimistic transactions: keys are watched, read, and changed only if no other client changed them.
extension ServerChanges {
    /// Expiry times by the server's clock, in milliseconds since 1970; nil: never, or the key is absent.
    struct ExpiryTimes {
        var now: Int64
        var each: [Int64?]
        /// The maximum error in milliseconds: servers before version 7 report only the time left.
        var tolerance: UInt64
    }

    /// Replaces the watched keys. Without `UNWATCH`, a change of an earlier key would make the transaction fail.
    static func watch(_ keys: [[UInt8]]) -> [RESPCommand] {
        [RESPCommand("UNWATCH"), RESPCommand(words: [Array("WATCH".utf8)] + keys)]
    }

    /// - Parameters:
    ///   - first: commands sent before, such as `WATCH`.
    ///   - run: the expected run of the server.
    func deadlines(
        of keys: [[UInt8]], behind first: [RESPCommand], in run: String
    ) throws(SourceError) -> ExpiryTimes {
        let areReported = try connection.traits().reportsExpiryTimes
        let (time, name) = (RESPCommand("TIME"), areReported ? "PEXPIRETIME" : "PTTL")
        let commands = first + [time] + keys.map { RESPCommand(name) + $0 } + [time]
        let answers = try connection.ask(commands, in: database)
        for (command, answer) in zip(commands, answers) { _ = try connection.accepted(answer, to: command) }
        let times = answers[first.count...]
        guard let now = times.first?.milliseconds, let end = times.last?.milliseconds else {
            throw SourceError("\(connection.address) sent an invalid answer to TIME")
        }
        guard try connection.traits().run == run else {
            throw SourceError("another server answered at \(connection.address); run it again")
        }
        let each = times.dropFirst().dropLast().map { answer -> Int64? in
            guard let number = answer.number, number >= 0 else { return nil }
            let (sum, overflows) = now.addingReportingOverflow(number)
            return areReported ? number : overflows ? .max : sum
        }
        return ExpiryTimes(
            now: now, each: each, tolerance: areReported ? 0 : UInt64(clamping: min(2000, end - now + 2)))
    }

    /// Returns the answers to commands whose keys may be absent, on the connection that watches them.
    func asked(_ commands: [RESPCommand]) throws(SourceError) -> [RESPValue] {
        let answers = try pace.paced { () throws(SourceError) in
            try connection.change(commands, in: database, isContinued: true)
        }
        for (command, answer) in zip(commands, answers) {
            if case .error(let message) = answer, message.contains("no such key") { continue }
            _ = try connection.accepted(answer, to: command)
        }
        return answers
    }

    /// Reads the dumps of keys. Answers take memory of the server, so they are small if it evicts.
    func dump(_ copies: inout [UndoArchive.Copy]) throws(SourceError) {
        let most = try connection.traits().evicts ? ServerChanges.smallBytes : ServerChanges.blockBytes
        var place = 0
        while place < copies.count {
            var (end, bytes) = (place, 0)
            repeat {
                bytes += copies[end].size
                end += 1
            } while end < copies.count && bytes + copies[end].size <= most
            let answers = try asked(copies[place..<end].map { RESPCommand("DUMP") + $0.key })
            for (offset, answer) in answers.enumerated() {
                if case .bytes(let dump) = answer { copies[place + offset].dump = dump }
            }
            place = end
        }
    }

    /// Executes commands in a transaction. Nil: a watched key was changed, and nothing was executed.
    func transact(_ commands: [RESPCommand]) throws(SourceError) -> [RESPValue]? {
        // If MULTI is refused, the following commands would be executed at once.
        let begin = RESPCommand("MULTI")
        _ = try connection.accepted(
            connection.change([begin], in: database, isContinued: true)[0], to: begin)
        let answers = try pace.paced { () throws(SourceError) in
            try connection.change(commands + [RESPCommand("EXEC")], in: database, isContinued: true)
        }
        for (command, answer) in zip(commands, answers) { _ = try connection.accepted(answer, to: command) }
        let answer = try connection.accepted(answers[commands.count], to: RESPCommand("EXEC"))
        for case .error(let message) in answer.elements ?? [] {
            throw SourceError("\(connection.address) executed only a part of \(commands[0].name): \(message)")
        }
        return answer == .null ? nil : answer.elements ?? []
    }

    /// Whether a server refused a key before it executed anything: the user has no rights to it, or another node has it.
    static func concernsKeys(_ error: SourceError) -> Bool {
        guard error.description.contains(" refuses ") else { return false }
        return ["MOVED", "ASK", "CROSSSLOT", "TRYAGAIN"].contains { error.description.contains(": \($0) ") }
            || error.description.contains(": NOPERM ") && error.description.contains("key")
    }
}

extension RESPValue {
    /// The answer to `TIME` in milliseconds since 1970.
    var milliseconds: Int64? {
        guard let parts = elements, parts.count == 2, let seconds = parts[0].number,
            let microseconds = parts[1].number, (0..<1 << 40).contains(seconds)
        else { return nil }
        return seconds * 1000 + microseconds / 1000
    }
}
