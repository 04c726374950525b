import StorageEngine
import StoreInspection
import ValkeyWire

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What a person confirmed, done to a database of a server, and taken back. For one thread.
///
/// Each block of keys is read and kept (``UndoArchive``), then changed by a transaction that the server refuses if one of them was
/// changed between: so what is kept is what was deleted. A server doesn't number changes, so what was changed since the plan was made
/// is not left alone; it is kept as it was last.
package struct ServerChanges {
    /// Keys of one transaction, and bytes that they take, as far as the server knows.
    static let block = 64
    static let blockBytes = 1 << 20
    /// What is copied at once of a server that evicts: it has room for so much of an answer without taking it from what it keeps.
    private static let smallBytes = 16 << 10
    /// From here on the room for an answer matters.
    private static let large = 1 << 20
    /// A larger one would hold the server up while it is copied.
    private static let largest = 64 << 20
    private static let tries = 5

    let connection: ServerConnection
    let database: Int
    let folder: String
    private let pace: ScanPace

    /// - Parameter folder: of the store that keeps what can be taken back; made where it is needed.
    package init(_ address: ServerAddress, database: Int, undoFolder folder: String) {
        // Of its own: what others ask between would end what the server watches.
        connection = ServerConnection(address, seconds: 30)
        pace = ScanPace(connection)
        (self.database, self.folder) = (database, folder)
    }

    /// Does it. `checkpoint` is told how many are done and says whether to go on.
    package func carryOut(
        _ action: PlannedAction, on targets: [Target], checkpoint: (Int) -> Bool = { _ in true }
    ) throws(SourceError) -> Carried<PlanOutcome> {
        guard
            let undo = try UndoArchive(
                in: folder, for: connection.address, database: database, creating: true)
        else { throw SourceError("there is no folder to keep what is deleted in") }
        defer { undo.close() }
        if action.needsCopies, let first = targets.first { try requireWayBack(for: KeyName.bytes(first.key)) }
        let isClustered = try connection.traits().isClustered
        let tooLarge = action.needsCopies ? targets.filter { $0.size > ServerChanges.largest } : []
        let targets = tooLarge.isEmpty ? targets : targets.filter { $0.size <= ServerChanges.largest }
        var outcome = PlanOutcome()
        var record = try undo.begin(action.kind, in: connection.traits().run, at: .now())
        let turn = try undo.turn(of: record)
        defer { turn.end() }
        var number = 0
        var stopped: String?
        var place = 0
        while place < targets.count, stopped == nil {
            guard checkpoint(place) else {
                stopped = "Stopped after \(Figures.count(place)) of \(Figures.count(targets.count))"
                break
            }
            let block = block(of: targets, from: place, atMost: isClustered ? 1 : ServerChanges.block)
            let keys = block.map { KeyName.bytes($0.key) }
            do throws(SourceError) {
                if action.needsCopies, block[place].size > ServerChanges.large {
                    try requireRoom(
                        for: block[place].size, "to copy \(TerminalSafe.quoted(block[place].key))")
                }
                try change(keys, action, undo, record, &number, &outcome)
                place += keys.count
            } catch {
                stopped = "Stopped after \(Figures.count(place)) of \(Figures.count(targets.count)): \(error)"
            }
        }
        if let first = tooLarge.first {
            let left =
                "\(Figures.count(tooLarge.count, "key is", "keys are")) left, such as \(TerminalSafe.quoted(first.key)): to copy "
                + "more than \(Figures.bytes(UInt64(ServerChanges.largest))) to take it back holds the server up; delete "
                + "that with UNLINK from another program"
            stopped = (stopped.map { $0 + "; " } ?? "") + left
        }
        (record.action.entries, record.action.bytes) = (outcome.entries, outcome.bytes)
        record.isOver = true
        // The grace begins when all is done.
        record.action.time = .now()
        record.action.end = record.action.time.adding(milliseconds: Int64(UndoArchive.grace) * 1000)
        if number > 0 {
            outcome.action = record.action
            do throws(SourceError) {
                try undo.settle(record, copies: number)
            } catch {
                // What was done stays done, and can be taken back once this process is over.
                stopped = (stopped.map { $0 + "; " } ?? "") + "\(error)"
            }
        } else {
            try undo.end(record)
        }
        return Carried(outcome, stopped: stopped)
    }

    /// Whoever deletes must be able to take it back. An attempt that no server carries out, at a key that isn't there, tells whether
    /// the user may.
    private func requireWayBack(for key: [UInt8]) throws(SourceError) {
        let other = key + Array(" \(UInt64.random(in: 0...(.max)))".utf8)
        let answer = try connection.change([RESPCommand("RESTORE") + other + "0" + ""], in: database)[0]
        guard case .error(let message) = answer,
            // That the user has no rights to that other key says nothing.
            message.hasPrefix("NOPERM") && !message.contains("key") || message.hasPrefix("READONLY")
        else { return }
        throw SourceError("\(connection.address) would not take back what is deleted: \(message)")
    }

    /// Keys of a cluster's server may be of several slots, which one transaction can't have: there it takes one.
    private func block(of targets: [Target], from place: Int, atMost most: Int) -> ArraySlice<Target> {
        var (end, bytes) = (place, 0)
        while end < targets.count, end - place < most,
            end == place || bytes + targets[end].size <= ServerChanges.blockBytes
        {
            bytes += targets[end].size
            end += 1
        }
        return targets[place..<end]
    }

    private func change(
        _ keys: [[UInt8]], _ action: PlannedAction, _ undo: UndoArchive, _ record: UndoArchive.Record,
        _ number: inout Int,
        _ outcome: inout PlanOutcome
    ) throws(SourceError) {
        var again = [keys]
        var tries = 0
        // To copy is a use on some servers, but not on those that copy for the first time.
        var earlier: [[UInt8]: UndoArchive.Copy] = [:]
        while let keys = again.popLast() {
            var found = PlanOutcome()
            let copies = try read(keys, action, knowing: earlier, &found)
            let size = copies.reduce(UInt64(0)) { $0 + UInt64($1.dump.count + $1.key.count) }
            let room = try undo.room()
            guard size <= room else {
                throw SourceError(
                    "more than \(Figures.bytes(UndoArchive.most)) can't be kept to take it back; wait until earlier "
                        + "deletions are ten minutes old, or delete with another program")
            }
            try undo.keep(copies, from: number, of: record)
            let isDone: Bool
            do throws(SourceError) {
                isDone = copies.isEmpty ? true : try transact(copies, action)
            } catch {
                // They may be gone, so the copies stay.
                number += copies.count
                throw error
            }
            if isDone {
                number += copies.count
                outcome.skips += found.skips
                outcome.unchanged += found.unchanged
                outcome.entries += copies.count
                outcome.bytes += copies.reduce(0) { $0 + UInt64($1.size) }
                continue
            }
            // Somebody changed one of them: each by itself then.
            for copy in copies where earlier[copy.key] == nil { earlier[copy.key] = copy }
            try undo.forget(number..<number + copies.count, of: record)
            tries += 1
            if keys.count > 1 {
                again += keys.reversed().map { [$0] }
            } else if tries < ServerChanges.tries + ServerChanges.block {
                again.append(keys)
            } else {
                outcome.skips.append(PlanSkip(key: KeyName.text(keys[0]), reason: .changed))
            }
        }
    }

    /// Begins to watch the keys, and reads of each what it takes to bring it back.
    /// - Parameter earlier: copies of before, which tell how long one was idle that wasn't changed since.
    private func read(
        _ keys: [[UInt8]], _ action: PlannedAction, knowing earlier: [[UInt8]: UndoArchive.Copy],
        _ outcome: inout PlanOutcome
    ) throws(SourceError) -> [UndoArchive.Copy] {
        let watch = RESPCommand(words: [Array("WATCH".utf8)] + keys)
        let countsUses = try connection.traits().countsUses
        var commands: [RESPCommand] = []
        for key in keys {
            commands += [
                RESPCommand("EXISTS") + key, RESPCommand("MEMORY", "USAGE") + key,
                RESPCommand("OBJECT", countsUses ? "FREQ" : "IDLETIME") + key,
            ]
        }
        // Deadlines first: to copy a key takes a while.
        let deadlines = try deadlines(of: keys, behind: watch)
        let answers = try asked(commands)
        var copies: [UndoArchive.Copy] = []
        for (place, key) in keys.enumerated() {
            guard answers[place * 3].number == 1 else {
                outcome.skips.append(PlanSkip(key: KeyName.text(key), reason: .absent))
                continue
            }
            let deadline = deadlines.each[place]
            if action == .setLifetime(nil), deadline == nil {
                outcome.unchanged += 1
                continue
            }
            let uses = answers[place * 3 + 2].number
            var copy = UndoArchive.Copy(
                key: key, idle: countsUses ? nil : uses, frequency: countsUses ? uses : nil,
                size: KeyFacts.size(answers[place * 3 + 1].number))
            copy.deadline = deadline
            copy.newDeadline = action.milliseconds.map { deadlines.now + $0 }
            if case .expireIdle(let before) = action, earlier[key] == nil,
                !ServerChanges.isIdle(copy.idle, before)
            {
                outcome.skips.append(PlanSkip(key: KeyName.text(key), reason: .used))
                continue
            }
            copies.append(copy)
        }
        guard action.needsCopies else { return copies }
        try dump(&copies)
        return copies.compactMap { copy in
            var copy = copy
            if copy.dump.isEmpty {
                outcome.skips.append(PlanSkip(key: KeyName.text(copy.key), reason: .absent))
                return nil
            }
            if let before = earlier[copy.key], before.dump == copy.dump, before.deadline == copy.deadline {
                copy.idle = before.idle
            }
            if case .expireIdle(let before) = action, !ServerChanges.isIdle(copy.idle, before) {
                outcome.skips.append(PlanSkip(key: KeyName.text(copy.key), reason: .used))
                return nil
            }
            return copy
        }
    }

    private static func isIdle(_ idle: Int64?, _ before: Timestamp) -> Bool {
        guard let idle else { return false }
        return Timestamp.now().adding(milliseconds: -(min(max(0, idle), 1 << 40) * 1000)) < before
    }

    /// The answers to commands of which the keys may be gone, on the connection that watches them.
    private func asked(_ commands: [RESPCommand]) throws(SourceError) -> [RESPValue] {
        let answers = try pace.paced { () throws(SourceError) in
            try connection.change(commands, in: database, isContinued: true)
        }
        for (command, answer) in zip(commands, answers) {
            if case .error(let message) = answer, message.contains("no such key") { continue }
            _ = try connection.accepted(answer, to: command)
        }
        return answers
    }

    /// Copies what the keys have. An answer takes of the server's memory, for which it may evict: so little at once there.
    private func dump(_ copies: inout [UndoArchive.Copy]) throws(SourceError) {
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

    /// When keys expire and what time it is, by the server's clock, in milliseconds since 1970; nil: never, or there is no such key.
    func deadlines(
        of keys: [[UInt8]], behind first: RESPCommand
    ) throws(SourceError) -> (now: Int64, each: [Int64?]) {
        let areTold = try connection.traits().tellsDeadlines
        let commands =
            [first, RESPCommand("TIME")]
            + keys.map { RESPCommand(areTold ? "PEXPIRETIME" : "PTTL") + $0 }
        let answers = try connection.ask(commands, in: database)
        for (command, answer) in zip(commands, answers) { _ = try connection.accepted(answer, to: command) }
        guard let time = answers[1].elements, time.count == 2, let seconds = time[0].number,
            let microseconds = time[1].number, (0..<1 << 40).contains(seconds)
        else { throw SourceError("\(connection.address) answers TIME with what is none") }
        let now = seconds * 1000 + microseconds / 1000
        return (
            now,
            answers.dropFirst(2).map { answer in
                guard let told = answer.number, told >= 0 else { return nil }
                let (sum, overflows) = now.addingReportingOverflow(told)
                return areTold ? told : overflows ? .max : sum
            }
        )
    }

    /// False: one of them was changed since, and nothing was done.
    private func transact(_ copies: [UndoArchive.Copy], _ action: PlannedAction) throws(SourceError) -> Bool {
        let commands: [RESPCommand] =
            if action.removes {
                [RESPCommand(words: [Array("UNLINK".utf8)] + copies.map(\.key))]
            } else {
                copies.map { copy in
                    copy.newDeadline.map { RESPCommand("PEXPIREAT") + copy.key + $0 }
                        ?? RESPCommand("PERSIST") + copy.key
                }
            }
        // Answered before anything else is sent: what stands behind one that is refused would be done at once.
        let begin = RESPCommand("MULTI")
        _ = try connection.accepted(
            connection.change([begin], in: database, isContinued: true)[0], to: begin)
        let answers = try pace.paced { () throws(SourceError) in
            try connection.change(commands + [RESPCommand("EXEC")], in: database, isContinued: true)
        }
        for (command, answer) in zip(commands, answers) { _ = try connection.accepted(answer, to: command) }
        let answer = try connection.accepted(answers[commands.count], to: RESPCommand("EXEC"))
        for case .error(let message) in answer.elements ?? [] {
            throw SourceError("\(connection.address) refuses \(commands[0].name): \(message)")
        }
        return answer != .null
    }
}

extension PlannedAction {
    fileprivate var kind: ReversibleAction.Kind {
        switch self {
        case .delete: .delete
        case .expireNow, .expireIdle: .expire
        case .setLifetime: .deadline
        }
    }

    /// Whether keys go at once.
    fileprivate var removes: Bool { if case .setLifetime = self { false } else { true } }

    /// Whether a key may be gone before the way back is over.
    fileprivate var needsCopies: Bool {
        if case .setLifetime(let lifetime) = self {
            lifetime.map { $0 < .seconds(UndoArchive.grace + 60) } ?? false
        } else {
            true
        }
    }

    /// The time that keys are left; nil: they don't expire, or go at once.
    fileprivate var milliseconds: Int64? {
        guard case .setLifetime(let lifetime?) = self else { return nil }
        return Int64(min(max(0, lifetime / .seconds(1)), 1e10) * 1000)
    }
}
