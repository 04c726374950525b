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
    /// Keys of one transaction, and bytes that they take.
    private static let block = 64
    private static let blockBytes = 8 << 20
    /// A larger one would hold the server up while it is copied.
    private static let largest = 64 << 20
    private static let tries = 5

    private let connection: ServerConnection
    private let database: Int
    private let folder: String
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
            let keys = block(of: targets, from: place).map { KeyName.bytes($0.key) }
            do throws(SourceError) {
                if action.needsCopies, targets[place].size > ServerChanges.largest {
                    throw SourceError(
                        "\(targets[place].key) takes \(Figures.bytes(UInt64(targets[place].size))), and copying more than "
                            + "\(Figures.bytes(UInt64(ServerChanges.largest))) to take it back holds the server up; "
                            + "delete it with UNLINK from another program")
                }
                try change(keys, action, undo, record, &number, &outcome)
                place += keys.count
            } catch {
                stopped = "Stopped after \(Figures.count(place)) of \(Figures.count(targets.count)): \(error)"
            }
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

    private func block(of targets: [Target], from place: Int) -> ArraySlice<Target> {
        var (end, bytes) = (place, 0)
        while end < targets.count, end - place < ServerChanges.block,
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
        while let keys = again.popLast() {
            var found = PlanOutcome()
            let copies = try read(keys, action, &found)
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
                outcome.bytes += copies.reduce(0) { $0 + UInt64(clamping: $1.size) }
                continue
            }
            // Somebody changed one of them: each by itself then.
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
    private func read(
        _ keys: [[UInt8]], _ action: PlannedAction, _ outcome: inout PlanOutcome
    ) throws(SourceError) -> [UndoArchive.Copy] {
        var commands = [RESPCommand(words: [Array("WATCH".utf8)] + keys)]
        let countsUses = try connection.traits().countsUses
        for key in keys {
            commands += [
                RESPCommand("EXISTS") + key, RESPCommand("MEMORY", "USAGE") + key,
                RESPCommand("OBJECT", countsUses ? "FREQ" : "IDLETIME") + key,
                action.needsCopies ? RESPCommand("DUMP") + key : RESPCommand("EXISTS") + key,
            ]
        }
        // Deadlines first: to copy a key takes a while.
        let deadlines = try deadlines(of: keys, behind: commands.removeFirst())
        let answers = try pace.paced { () throws(SourceError) in
            try connection.change(commands, in: database, isContinued: true)
        }
        for (command, answer) in zip(commands, answers) {
            if case .error(let message) = answer, message.contains("no such key") { continue }
            _ = try connection.accepted(answer, to: command)
        }
        let now = Timestamp.now()
        var copies: [UndoArchive.Copy] = []
        for (place, key) in keys.enumerated() {
            let parts = answers[place * 4..<place * 4 + 4].map { $0 }
            guard parts[0].number == 1 else {
                outcome.skips.append(PlanSkip(key: KeyName.text(key), reason: .absent))
                continue
            }
            let idle = countsUses ? nil : parts[2].number
            if case .expireIdle(let before) = action {
                guard let idle, now.adding(milliseconds: -(min(max(0, idle), 1 << 40) * 1000)) < before else {
                    outcome.skips.append(PlanSkip(key: KeyName.text(key), reason: .used))
                    continue
                }
            }
            if action == .setLifetime(nil), deadlines.each[place] == nil {
                outcome.unchanged += 1
                continue
            }
            var copy = UndoArchive.Copy(key: key, idle: idle, size: Int(clamping: parts[1].number ?? 0))
            copy.deadline = deadlines.each[place]
            if case .bytes(let dump) = parts[3] { copy.dump = dump }
            copy.newDeadline = action.milliseconds.map { deadlines.now + $0 }
            copies.append(copy)
        }
        return copies
    }

    /// When keys expire and what time it is, by the server's clock, in milliseconds since 1970; nil: never, or there is no such key.
    private func deadlines(
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

    // MARK: Back

    /// What can be taken back, latest first.
    package func reversible() throws(SourceError) -> [ReversibleAction] {
        let found = try UndoArchive(in: folder, for: connection.address, database: database, creating: false)
        guard let undo = found else { return [] }
        defer { undo.close() }
        return try undo.records().map { (record) throws(SourceError) in
            var action = record.action
            if record.isOver {
                action.entries -= min(action.entries, record.undone)
            } else {
                // One that was ended by a kill has no figures, and what it did can be taken back all the same.
                (action.entries, action.bytes) = try undo.figures(of: record)
            }
            return action
        }
    }

    /// Takes an action back; nil when it no longer can be. Keys that were stored again stay.
    /// - Parameter isOfOtherRun: whether it may be a server that was started since the action, which may be another one.
    package func undo(
        _ id: UInt32, evenIfRestarted isOfOtherRun: Bool = false, checkpoint: (Double) -> Bool = { _ in true }
    ) throws(SourceError) -> Carried<UndoOutcome>? {
        let found = try UndoArchive(in: folder, for: connection.address, database: database, creating: false)
        guard let undo = found else { return nil }
        defer { undo.close() }
        guard var record = try undo.records().first(where: { $0.action.id == id }) else { return nil }
        let run = try connection.traits().run
        guard run == record.run || isOfOtherRun else {
            throw SourceError(
                "what is at \(connection.address) was started since, and may be another server; "
                    + "vellum undo with --restarted brings the keys back there")
        }
        // What is still to come would have no way back.
        guard try undo.isOver(record) else {
            throw SourceError(
                "action \(id) is still under way in process \(record.action.pid); stop it, or wait for its end"
            )
        }
        var outcome = UndoOutcome.nothing
        outcome.action = record.action
        outcome.isComplete = false
        var stopped: String?
        let numbers = try undo.numbers(of: record)
        // An action that is over says how many there were.
        var lost = record.isOver ? max(0, record.action.entries - numbers.upperBound) : 0
        while stopped == nil {
            var copies: [UndoArchive.Copy] = []
            while copies.count < ServerChanges.block, record.undone + copies.count < numbers.upperBound,
                let copy = try undo.copy(record.undone + copies.count, of: record)
            { copies.append(copy) }
            if copies.isEmpty {
                guard record.undone < numbers.upperBound else {
                    outcome.isComplete = true
                    break
                }
                (lost, record.undone) = (lost + 1, record.undone + 1)
                continue
            }
            var done = 0
            do throws(SourceError) {
                try requireRoom(for: copies)
                try restore(copies, &outcome, &done)
            } catch {
                stopped = error.description
            }
            // What is back isn't to be brought back again, whatever happens next.
            record.undone += done
            try undo.update(record)
            let all = max(record.action.entries, record.undone)
            if stopped == nil, !checkpoint(Double(record.undone) / Double(all)) { break }
        }
        if outcome.isComplete {
            try undo.forget(0..<record.undone, of: record)
            try undo.end(record)
        }
        if lost > 0 {
            let missing =
                "\(Figures.count(lost, "copy", "copies")) can't be read any more: what was copied there is not back"
            stopped = stopped.map { $0 + "; " + missing } ?? missing
        }
        return Carried(outcome, stopped: stopped)
    }

    /// A server that evicts would take others' keys for what comes back, or that itself. One that doesn't refuses by itself.
    private func requireRoom(for copies: [UndoArchive.Copy]) throws(SourceError) {
        let figures = try connection.figures()
        guard let limit = figures.memoryLimit, figures.policy != "noeviction" else { return }
        let needed = copies.reduce(UInt64(0)) { $0 + UInt64(clamping: $1.size) }
        guard figures.memory + needed + needed / 4 > limit else { return }
        throw SourceError(
            "\(connection.address) has no room left and would evict keys for what comes back (\(figures.policy)); "
                + "the rest is kept: make room and undo again")
    }

    /// `done`: how many of the copies were seen to.
    private func restore(
        _ copies: [UndoArchive.Copy], _ outcome: inout UndoOutcome, _ done: inout Int
    ) throws(SourceError) {
        let (now, present) = try deadlines(of: copies.map(\.key), behind: RESPCommand("PING"))
        // What is told as the time that is left is known to as much as the answer was under way.
        let tolerance: UInt64 = try connection.traits().tellsDeadlines ? 0 : 2000
        let exist = try connection.ask(copies.map { RESPCommand("EXISTS") + $0.key }, in: database)
        for (place, copy) in copies.enumerated() {
            let isThere = try connection.accepted(exist[place], to: RESPCommand("EXISTS")).number == 1
            let isPast = copy.deadline.map { $0 <= now } ?? false
            let command: RESPCommand
            if !isThere, !copy.dump.isEmpty {
                if isPast {
                    outcome.expired += 1
                    done += 1
                    continue
                }
                var restoring =
                    RESPCommand("RESTORE") + copy.key + (copy.deadline ?? 0) + copy.dump + "ABSTTL"
                if let idle = copy.idle {
                    let since = max(0, now - outcome.action.time.microseconds / 1000) / 1000
                    restoring = restoring + "IDLETIME" + (min(max(0, idle), 1 << 40) + since)
                }
                command = restoring
            } else if isThere, outcome.action.kind == .deadline,
                isSame(present[place], copy.newDeadline, within: tolerance),
                !isPast
            {
                command =
                    copy.deadline.map { RESPCommand("PEXPIREAT") + copy.key + $0 }
                    ?? RESPCommand("PERSIST") + copy.key
            } else {
                skip(copy, &outcome)
                done += 1
                continue
            }
            let answer = try connection.change([command], in: database)[0]
            if case .error(let message) = answer, message.hasPrefix("BUSYKEY") {
                skip(copy, &outcome)
            } else {
                _ = try connection.accepted(answer, to: command)
                outcome.entries += 1
                outcome.bytes += UInt64(clamping: copy.size)
            }
            done += 1
        }
    }

    /// Stored again meanwhile, or with another deadline than the one that it got; or its former one is over, and would delete it.
    private func skip(_ copy: UndoArchive.Copy, _ outcome: inout UndoOutcome) {
        outcome.skippedCount += 1
        if outcome.skipped.count < 100 { outcome.skipped.append(KeyName.text(copy.key)) }
    }

    private func isSame(_ present: Int64?, _ given: Int64?, within tolerance: UInt64) -> Bool {
        switch (present, given) {
        case (nil, nil): true
        case (let present?, let given?): present.distance(to: given).magnitude <= tolerance
        default: false
        }
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
