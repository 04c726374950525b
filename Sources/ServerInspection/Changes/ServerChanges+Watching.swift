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

        func isSame(_ one: Int64?, _ other: Int64?, orLaterBy slack: Int64 = 0) -> Bool {
            guard let one, let other else { return one == other }
            return one.distance(to: other).magnitude <= tolerance || (0...slack).contains(one &- other)
        }

        /// Whether a time equals the expiry time that the action has set.
        func isNew(_ one: Int64?, _ copy: UndoArchive.Copy) -> Bool {
            isSame(one, copy.newDeadline, orLaterBy: copy.slack ?? 0)
        }
    }

    /// Replaces the watched keys. Without `UNWATCH`, a change of an earlier key would make the transaction fail.
    static func watch(_ keys: [[UInt8]]) -> [RESPCommand] {
        [RESPCommand("UNWATCH"), RESPCommand("WATCH") + keys]
    }

    /// - Parameter first: commands to send first, such as `WATCH`.
    func deadlines(of keys: [[UInt8]], after first: [RESPCommand]) throws(SourceError) -> ExpiryTimes {
        let (capabilities, time) = (try connection.capabilities(), RESPCommand("TIME"))
        let commands = first + [time] + keys.map(capabilities.expiry) + [time]
        let start = ContinuousClock.now
        let replies = try connection.ask(commands, in: database)
        try connection.accept(replies, to: commands)
        guard replies.prefix(first.count).allSatisfy({ $0 == .status("OK") }) else {
            throw connection.invalidReply(to: "WATCH")
        }
        let times = replies.dropFirst(first.count)
        // If the times differ by more than the request's duration, one is wrong, or the clock was set in between.
        guard let now = times.first?.milliseconds, let end = times.last?.milliseconds,
            (-1000...1000 + Int64((ContinuousClock.now - start) / .milliseconds(1))).contains(end - now)
        else { throw connection.invalidReply(to: "TIME") }
        let error = capabilities.reportsExpiryTimes ? 0 : UInt64(clamping: min(2000, end - now + 2))
        return ExpiryTimes(
            now: now, each: times.dropFirst().dropLast().map { capabilities.deadline($0, at: now) },
            tolerance: error)
    }

    /// Returns the replies to commands whose keys may be absent, on the connection that watches them.
    func asked(_ commands: [RESPCommand]) throws(SourceError) -> [RESPValue] {
        let replies = try connection.paced(
            try connection.change(commands, in: database, isContinued: true))
        try connection.accept(replies, to: commands) { $0.contains("no such key") }
        return replies
    }

    /// Passes the dump of each key to `body`, in their order; an absent key has an empty dump. Replies use
    /// the server's memory, so requests are small if it evicts.
    func dump(_ copies: [UndoArchive.Copy], _ body: ([UInt8]) -> Void) throws(SourceError) {
        let most = try connection.capabilities().evicts ? ServerChanges.smallBytes : ServerChanges.blockBytes
        var place = 0
        while place < copies.count {
            let block = copies[place...].prefix(.max, bytes: most, \.size)
            let replies = try asked(block.map { RESPCommand("DUMP") + $0.key })
            for reply in replies { body(reply.blob ?? []) }
            place += replies.count
        }
    }

    /// Executes commands that return numbers of keys, and then the others, in one transaction. See ``execute(_:)``.
    func transact(
        _ commands: [RESPCommand], then others: [RESPCommand] = []
    ) throws(SourceError) -> [RESPValue]? {
        guard let results = try execute(commands + others) else { return nil }
        for (command, result) in zip(commands, results) {
            guard case .integer(let keys) = result, (0..<Int64(command.words.count)).contains(keys) else {
                throw connection.invalidReply(to: command.name)
            }
        }
        return results
    }

    /// Executes commands in a transaction. Nil: a watched key was changed, and nothing was executed.
    /// - Throws: a refusal of keys (``ServerConnection/concernsKeys(_:)``) if nothing was executed. After another error the
    ///   result is unknown.
    func execute(_ commands: [RESPCommand]) throws(SourceError) -> [RESPValue]? {
        // If MULTI is refused, the following commands would be executed at once.
        let begin = [RESPCommand("MULTI")]
        let begun = try connection.change(begin, in: database, isContinued: true)
        try connection.accept(begun, to: begin)
        guard begun == [.status("OK")] else { throw connection.invalidReply(to: "MULTI") }
        let replies = try connection.paced(
            try connection.change(commands + [RESPCommand("EXEC")], in: database, isContinued: true))
        guard let results = try connection.results(of: commands, in: begun + replies) else { return nil }
        if let message = results.lazy.compactMap(\.error).first {
            throw SourceError("\(connection.address) executed only a part of \(commands[0].name): \(message)")
        }
        return results
    }

    /// The effect of a transaction, determined by its reply or, without a reply, by the state that is read afterwards.
    enum Execution<State> {
        case confirmed([RESPValue])
        /// The server reported that another client changed a watched key. It may have executed the transaction nevertheless.
        case conflict(State)
        /// The state is nil if it can't be read.
        case failed(SourceError, State?)
    }

    /// Executes a transaction. If the server refuses it, reports a conflict, or its reply is lost or invalid, reads the state of
    /// the keys or the element, on a new connection if necessary.
    func execution<State>(
        of transaction: () throws(SourceError) -> [RESPValue]?, readBack: () throws(SourceError) -> State
    ) -> Execution<State> {
        do throws(SourceError) {
            if let results = try transaction() { return .confirmed(results) }
            return .conflict(try readBack())
        } catch {
            // PING opens a new connection.
            _ = try? connection.ask(RESPCommand("PING"))
            return .failed(error, try? readBack())
        }
    }
}
