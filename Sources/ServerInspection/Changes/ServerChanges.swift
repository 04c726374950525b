import RESP
import StorageEngine
import StoreInspection

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
        var record = try undo.begin(action.kind, at: .now())
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
                if action.removes, targets[place].size > ServerChanges.largest {
                    throw SourceError(
                        "\(targets[place].key) takes \(Figures.bytes(UInt64(targets[place].size))), and copying more than "
                            + "\(Figures.bytes(UInt64(ServerChanges.largest))) to take it back holds the server up; "
                            + "delete it with UNLINK from another program")
                }
                try change(keys, action, undo, record.id, &number, &outcome)
                place += keys.count
            } catch {
                stopped = "Stopped after \(Figures.count(place)) of \(Figures.count(targets.count)): \(error)"
            }
        }
        (record.entries, record.bytes) = (outcome.entries, outcome.bytes)
        if number > 0 {
            try undo.update(record)
            outcome.action = record
        } else {
            try undo.end(record.id)
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
        _ keys: [[UInt8]], _ action: PlannedAction, _ undo: UndoArchive, _ id: UInt32, _ number: inout Int,
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
            try undo.keep(copies, from: number, of: id)
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
            try undo.forget(number..<number + copies.count, of: id)
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
        let removes = action.removes
        for key in keys {
            commands += [
                RESPCommand("PTTL") + key, RESPCommand("OBJECT", "IDLETIME") + key,
                RESPCommand("MEMORY", "USAGE") + key,
                removes ? RESPCommand("DUMP") + key : RESPCommand("EXISTS") + key,
            ]
        }
        let answers = try pace.paced { () throws(SourceError) in try connection.ask(commands, in: database) }
        for (command, answer) in zip(commands, answers) where command.name != "OBJECT" {
            _ = try connection.accepted(answer, to: command)
        }
        let now = Timestamp.now()
        let new = action.deadline(at: now)
        var copies: [UndoArchive.Copy] = []
        for (place, key) in keys.enumerated() {
            let parts = answers[(1 + place * 4)..<(5 + place * 4)].map { $0 }
            let left = parts[0].number ?? -2
            guard left != -2 else {
                outcome.skips.append(PlanSkip(key: KeyName.text(key), reason: .absent))
                continue
            }
            let idle = parts[1].number
            if case .expireIdle(let before) = action {
                guard let idle, now.adding(milliseconds: -(idle * 1000)) < before else {
                    outcome.skips.append(PlanSkip(key: KeyName.text(key), reason: .used))
                    continue
                }
            }
            if !removes, new == nil, left == -1 {
                outcome.unchanged += 1
                continue
            }
            var copy = UndoArchive.Copy(key: key, idle: idle, size: Int(clamping: parts[2].number ?? 0))
            copy.deadline = left < 0 ? nil : now.microseconds / 1000 + left
            if case .bytes(let dump) = parts[3] { copy.dump = dump }
            copy.newDeadline = new
            copies.append(copy)
        }
        return copies
    }

    /// False: one of them was changed since, and nothing was done.
    private func transact(_ copies: [UndoArchive.Copy], _ action: PlannedAction) throws(SourceError) -> Bool {
        var commands = [RESPCommand("MULTI")]
        if action.removes {
            commands.append(RESPCommand(words: [Array("UNLINK".utf8)] + copies.map(\.key)))
        } else {
            commands += copies.map { copy in
                copy.newDeadline.map { RESPCommand("PEXPIREAT") + copy.key + $0 } ?? RESPCommand("PERSIST")
                    + copy.key
            }
        }
        return try execute(commands)
    }

    private func execute(_ commands: [RESPCommand]) throws(SourceError) -> Bool {
        let answers = try pace.paced { () throws(SourceError) in
            try connection.change(commands + [RESPCommand("EXEC")], in: database, isContinued: true)
        }
        for (command, answer) in zip(commands, answers) { _ = try connection.accepted(answer, to: command) }
        let answer = try connection.accepted(answers[answers.count - 1], to: commands[1])
        for case .error(let message) in answer.elements ?? [] {
            throw SourceError("\(connection.address) refuses \(commands[1].name): \(message)")
        }
        return answer != .null
    }

    // MARK: Back

    /// What can be taken back, latest first.
    package func reversible() throws(SourceError) -> [ReversibleAction] {
        let found = try UndoArchive(in: folder, for: connection.address, database: database, creating: false)
        guard let undo = found else { return [] }
        defer { undo.close() }
        // One that was ended by a kill has no figures, and what it did can be taken back all the same.
        return try undo.actions()
    }

    /// Takes an action back; nil when it no longer can be. Keys that were stored again stay.
    package func undo(
        _ id: UInt32, checkpoint: (Double) -> Bool = { _ in true }
    ) throws(SourceError) -> Carried<UndoOutcome>? {
        let found = try UndoArchive(in: folder, for: connection.address, database: database, creating: false)
        guard let undo = found else { return nil }
        defer { undo.close() }
        guard let action = try undo.actions().first(where: { $0.id == id }) else { return nil }
        var outcome = UndoOutcome.nothing
        outcome.action = action
        var number = 0
        var isStopped = false
        while !isStopped {
            var copies: [UndoArchive.Copy] = []
            while copies.count < ServerChanges.block,
                let copy = try undo.copy(number + copies.count, of: id)
            { copies.append(copy) }
            if copies.isEmpty { break }
            try restore(copies, &outcome)
            number += copies.count
            isStopped = !checkpoint(Double(number) / Double(max(action.entries, number)))
        }
        outcome.isComplete = !isStopped
        if !isStopped {
            try undo.forget(0..<number, of: id)
            try undo.end(id)
        }
        return Carried(outcome)
    }

    private func restore(_ copies: [UndoArchive.Copy], _ outcome: inout UndoOutcome) throws(SourceError) {
        let now = Timestamp.now()
        var commands: [RESPCommand] = []
        for copy in copies {
            if copy.dump.isEmpty {
                commands.append(RESPCommand("PTTL") + copy.key)
            } else {
                var command = RESPCommand("RESTORE") + copy.key + (copy.deadline ?? 0) + copy.dump + "ABSTTL"
                if let idle = copy.idle {
                    let since = max(0, Int64(now.seconds(since: outcome.action.time)))
                    command = command + "IDLETIME" + (idle + since)
                }
                commands.append(command)
            }
        }
        let answers = try connection.change(commands, in: database)
        for ((copy, command), answer) in zip(zip(copies, commands), answers) {
            let isBack: Bool
            if copy.dump.isEmpty {
                isBack = try restoreDeadline(of: copy, left: answer.number ?? -2, now)
            } else if case .error(let message) = answer {
                guard message.hasPrefix("BUSYKEY") else {
                    throw SourceError("\(connection.address) refuses \(command.name): \(message)")
                }
                isBack = false
            } else if let deadline = copy.deadline, deadline <= now.microseconds / 1000 {
                outcome.expired += 1
                continue
            } else {
                isBack = true
            }
            if isBack {
                outcome.entries += 1
                outcome.bytes += UInt64(clamping: copy.size)
            } else {
                outcome.skippedCount += 1
                if outcome.skipped.count < 100 { outcome.skipped.append(KeyName.text(copy.key)) }
            }
        }
    }

    /// False: the key has another deadline than the one that it got.
    private func restoreDeadline(
        of copy: UndoArchive.Copy, left: Int64, _ now: Timestamp
    ) throws(SourceError) -> Bool {
        let present = left < 0 ? nil : now.microseconds / 1000 + left
        let isSame =
            switch (present, copy.newDeadline) {
            case (nil, nil): left != -2
            // Two clocks, and a while under way.
            case (let present?, let new?): abs(present - new) < 2000
            default: false
            }
        guard isSame else { return false }
        let command =
            copy.deadline.map { RESPCommand("PEXPIREAT") + copy.key + $0 } ?? RESPCommand("PERSIST")
            + copy.key
        _ = try connection.accepted(connection.change([command], in: database)[0], to: command)
        return true
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

    /// The new deadline in milliseconds since 1970; nil: none.
    fileprivate func deadline(at now: Timestamp) -> Int64? {
        guard case .setLifetime(let lifetime?) = self else { return nil }
        let seconds = min(max(0, lifetime / .seconds(1)), 1e10)
        return now.microseconds / 1000 + Int64(seconds * 1000)
    }
}
