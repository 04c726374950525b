import StorageEngine
import StoreInspection
import ValkeyWire

extension ServerChanges {
    /// Returns the actions that can be undone, latest first.
    package func reversible() throws(SourceError) -> [ReversibleAction] {
        let found = try UndoArchive(in: folder, for: connection.address, database: database, creating: false)
        guard let undo = found else { return [] }
        defer { undo.close() }
        return try undo.records().map { (record) throws(SourceError) in
            var action = record.action
            if record.isOver {
                action.entries -= min(action.entries, Int(record.undone))
            } else {
                // The record of an action that is running or was killed has no figures.
                (action.entries, action.bytes) = try undo.figures(of: record)
            }
            return action
        }
    }

    /// Undoes an action; nil: it can no longer be undone. Keys that were stored again stay unchanged.
    /// - Parameters:
    ///   - isOfOtherRun: allows a server that was started after the action, which may be another server.
    ///   - checkpoint: gets the share done, and returns whether to continue.
    package func undo(
        _ id: UInt32, evenIfRestarted isOfOtherRun: Bool = false, checkpoint: (Double) -> Bool = { _ in true }
    ) throws(SourceError) -> Carried<UndoOutcome>? {
        let found = try UndoArchive(in: folder, for: connection.address, database: database, creating: false)
        guard let undo = found else { return nil }
        defer { undo.close() }
        guard var record = try undo.records().first(where: { $0.id == id }) else { return nil }
        let run = try connection.traits().run
        guard run == record.run || isOfOtherRun else {
            let doubt =
                record.run.isEmpty || run.isEmpty
                ? "the server at \(connection.address) may be another one (the user has no right to INFO)"
                : "the server at \(connection.address) was started since, and may be another one"
            throw SourceError("\(doubt); vellum undo with --restarted restores the keys there")
        }
        // Later changes of the action could not be undone.
        guard try undo.isOver(record) else {
            throw SourceError(
                "action \(id) is still running in process \(record.pid); stop it, or wait for its end"
            )
        }
        var outcome = UndoOutcome.nothing
        outcome.action = record.action
        outcome.isComplete = false
        let numbers = try undo.numbers(of: record)
        var failures = Failures()
        if record.isOver { failures.lost = max(0, Int(record.entries) - Int(record.undone) - numbers.count) }
        var place = 0
        while place < numbers.count, failures.stopped == nil {
            let (copies, end) = try copies(of: undo, record, numbers, from: place, &failures)
            var done: [Int] = []
            do throws(SourceError) {
                try connection.requireRoom(for: copies.reduce(0) { $0 + $1.copy.size }, "for restored ones")
                try restore(copies, run, &outcome, &done, &failures)
            } catch {
                failures.stopped = error.description
            }
            // A repeated undo must skip restored keys.
            do throws(SourceError) {
                try undo.forget(done, of: record)
                record.undone &+= UInt32(done.count)
                try undo.update(record)
            } catch {
                // The disk may be full. The keys are restored regardless.
                failures.unrecorded = failures.unrecorded ?? error.description
            }
            place = end
            if failures.stopped == nil, !checkpoint(Double(place) / Double(numbers.count)) { break }
        }
        outcome.isComplete = place == numbers.count && failures.stopped == nil && failures.refused == 0
        if outcome.isComplete, failures.unrecorded == nil {
            try undo.forget(numbers, of: record)
            try undo.end(record)
        }
        return Carried(outcome, stopped: failures.words)
    }

    private struct Failures {
        var stopped: String?
        var lost = 0
        /// Number of copies that the server refused, and the first of them with the reason.
        var refused = 0
        var firstRefused: String?
        /// Why the restored copies couldn't be removed from the undo record.
        var unrecorded: String?

        mutating func refuse(_ copy: UndoArchive.Copy, _ reason: String) {
            refused += 1
            firstRefused = firstRefused ?? "\(TerminalSafe.quoted(KeyName.text(copy.key))): \(reason)"
        }

        var words: String? {
            var words = [stopped].compactMap { $0 }
            if let firstRefused {
                words.append(
                    "\(Figures.count(refused, "copy was", "copies were")) refused and kept for another try, such as "
                        + firstRefused)
            }
            if lost > 0 {
                words.append(
                    "\(Figures.count(lost, "copy", "copies")) can't be read any more, so these keys are not restored"
                )
            }
            if let unrecorded {
                words.append(
                    "the undo record can't be updated, and another undo will skip the restored keys: \(unrecorded)"
                )
            }
            return words.isEmpty ? nil : words.joined(separator: "; ")
        }
    }

    private typealias Numbered = (number: Int, copy: UndoArchive.Copy)

    private func copies(
        of undo: UndoArchive, _ record: UndoArchive.Record, _ numbers: [Int], from place: Int,
        _ failures: inout Failures
    ) throws(SourceError) -> (copies: [Numbered], end: Int) {
        var (copies, end, bytes): ([Numbered], Int, Int) = ([], place, 0)
        while end < numbers.count, copies.count < ServerChanges.block, bytes < ServerChanges.blockBytes {
            if let copy = try undo.copy(numbers[end], of: record) {
                copies.append((numbers[end], copy))
                bytes += copy.dump.count
            } else {
                failures.lost += 1
            }
            end += 1
        }
        return (copies, end)
    }

    /// Milliseconds by which a former expiry time must be in the future, so that it hasn't passed when the server gets it.
    private static let margin: Int64 = 5000

    /// - Parameter done: gets the numbers of the copies that are restored or skipped.
    private func restore(
        _ copies: [Numbered], _ run: String, _ outcome: inout UndoOutcome, _ done: inout [Int],
        _ failures: inout Failures
    ) throws(SourceError) {
        // In a cluster a transaction can't have keys of several slots.
        let isSingle = try connection.traits().isClustered
        var again = isSingle ? copies.reversed().map { [$0] } : [copies]
        var tries = 0
        while let block = again.popLast() {
            let copies = block.filter { !done.contains($0.number) }
            guard let first = copies.first else { continue }
            do throws(SourceError) {
                if try restoreOnce(copies, run, &outcome, &done, &failures) { continue }
            } catch {
                guard ServerChanges.concernsKeys(error) else { throw error }
                if copies.count == 1 {
                    failures.refuse(first.copy, error.description)
                    continue
                }
            }
            tries += 1
            if copies.count > 1 {
                again += copies.reversed().map { [$0] }
            } else if tries < ServerChanges.tries + ServerChanges.block {
                again.append(copies)
            } else {
                skip(first, &outcome, &done)
            }
        }
    }

    /// False: another client changed a key, and nothing was restored.
    private func restoreOnce(
        _ copies: [Numbered], _ run: String, _ outcome: inout UndoOutcome, _ done: inout [Int],
        _ failures: inout Failures
    ) throws(SourceError) -> Bool {
        let isOfDeadlines = outcome.action.kind == .deadline
        let keys = copies.map(\.copy.key)
        let start = ContinuousClock.now
        let times = try deadlines(
            of: keys, behind: isOfDeadlines ? ServerChanges.watch(keys) : [], in: run)
        let sizes = try asked(keys.map { RESPCommand("MEMORY", "USAGE") + $0 })
        var (changed, absent): ([Numbered], [Numbered]) = ([], [])
        for (place, var one) in copies.enumerated() {
            let copy = one.copy
            if let size = sizes[place].number {
                let isSame = isSame(times.each[place], copy.newDeadline, within: times.tolerance)
                if isOfDeadlines, isSame, KeyFacts.size(size) <= ServerChanges.largest {
                    one.copy.size = KeyFacts.size(size)
                    changed.append(one)
                } else {
                    skip(one, &outcome, &done)
                }
            } else if copy.dump.isEmpty || isOfDeadlines && times.now < copy.newDeadline ?? .max {
                // Before its expiry time only another client deletes a key.
                skip(one, &outcome, &done)
            } else if let deadline = copy.deadline, deadline <= times.now {
                outcome.expired += 1
                done.append(one.number)
            } else {
                absent.append(one)
            }
        }
        guard try restoreDeadlines(changed, times.now, since: start, &outcome, &done) else { return false }
        for one in absent {
            try restore(
                one, by: restoring(one.copy, at: times.now), run, &outcome, &done, &failures)
        }
        return true
    }

    /// Restores the former expiry times of keys with unchanged values. False: another client changed a watched key.
    private func restoreDeadlines(
        _ copies: [Numbered], _ now: Int64, since start: ContinuousClock.Instant,
        _ outcome: inout UndoOutcome,
        _ done: inout [Int]
    ) throws(SourceError) -> Bool {
        var present = copies.map { UndoArchive.Copy(key: $0.copy.key, size: $0.copy.size) }
        try dump(&present)
        let earliest =
            now + Int64((ContinuousClock.now - start) / .milliseconds(1)) + ServerChanges.margin
        var same: [Numbered] = []
        for (one, present) in zip(copies, present) {
            let isMeant =
                one.copy.digest == ValueDigest(dump: present.dump) && one.copy.deadline ?? .max > earliest
            if isMeant { same.append(one) } else { skip(one, &outcome, &done) }
        }
        guard !same.isEmpty else { return true }
        let commands = same.map { ServerChanges.expiring($0.copy.key, at: $0.copy.deadline) }
        guard let answers = try transact(commands) else { return false }
        for (one, answer) in zip(same, answers) {
            if answer.number == 0 {
                skip(one, &outcome, &done)
            } else {
                note(one, &outcome, &done)
            }
        }
        return true
    }

    private func restore(
        _ one: Numbered, by command: RESPCommand, _ run: String, _ outcome: inout UndoOutcome,
        _ done: inout [Int], _ failures: inout Failures
    ) throws(SourceError) {
        guard let answer = try answer(to: command, for: one.copy, run, &failures) else { return }
        guard case .error(let message) = answer else { return note(one, &outcome, &done) }
        if message.hasPrefix("BUSYKEY") { return skip(one, &outcome, &done) }
        if ServerConnection.general.contains(where: message.hasPrefix) {
            _ = try connection.accepted(answer, to: command)
        }
        failures.refuse(one.copy, "\(command.name): \(message)")
    }

    private func note(_ one: Numbered, _ outcome: inout UndoOutcome, _ done: inout [Int]) {
        outcome.entries += 1
        outcome.bytes += UInt64(one.copy.size)
        done.append(one.number)
    }

    private func restoring(
        _ copy: UndoArchive.Copy, at now: Int64
    ) throws(SourceError) -> RESPCommand {
        let command = RESPCommand("RESTORE") + copy.key + (copy.deadline ?? 0) + copy.dump + "ABSTTL"
        if try connection.traits().countsUses {
            return copy.frequency.map { command + "FREQ" + min(max(0, $0), 255) } ?? command
        }
        guard let idle = copy.idle else { return command }
        // Both times are by the server's clock.
        let since = max(0, now - copy.time) / 1000
        return command + "IDLETIME" + (min(max(0, idle), 1 << 40) + since)
    }

    /// Nil: the copy was refused. A server closes the connection for one that exceeds its limit.
    private func answer(
        to command: RESPCommand, for copy: UndoArchive.Copy, _ run: String, _ failures: inout Failures
    ) throws(SourceError) -> RESPValue? {
        do throws(SourceError) {
            let answer = try connection.change([command], in: database)[0]
            // The server closes the connection after this error.
            if case .error(let message) = answer, message.contains("Protocol error") {
                _ = try connection.ask(RESPCommand("PING"))
            }
            return answer
        } catch {
            guard (try? connection.ask(RESPCommand("PING"))) != nil, try connection.traits().run == run else {
                throw error
            }
            failures.refuse(copy, error.description)
            return nil
        }
    }

    /// Skips a key that was changed since, or whose former expiry time has passed.
    private func skip(_ one: Numbered, _ outcome: inout UndoOutcome, _ done: inout [Int]) {
        outcome.skippedCount += 1
        if outcome.skipped.count < 100 { outcome.skipped.append(KeyName.text(one.copy.key)) }
        done.append(one.number)
    }

    private func isSame(_ present: Int64?, _ given: Int64?, within tolerance: UInt64) -> Bool {
        switch (present, given) {
        case (nil, nil): true
        case (let present?, let given?): present.distance(to: given).magnitude <= tolerance
        default: false
        }
    }
}
