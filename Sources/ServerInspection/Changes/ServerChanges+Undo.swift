import StorageEngine
import StoreInspection
import ValkeyWire

/// Taking back what was done to keys of a server.
extension ServerChanges {
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
            let doubt =
                record.run.isEmpty || run.isEmpty
                ? "nobody knows whether what is at \(connection.address) is the same server, for a user may not ask it"
                : "what is at \(connection.address) was started since, and may be another server"
            throw SourceError("\(doubt); vellum undo with --restarted brings the keys back there")
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
        let numbers = try undo.numbers(of: record)
        var trouble = Trouble()
        // An action that is over says how many there were.
        if record.isOver { trouble.lost = max(0, record.action.entries - record.undone - numbers.count) }
        var place = 0
        while place < numbers.count, trouble.stopped == nil {
            let (copies, end) = try copies(of: undo, record, numbers, from: place, &trouble)
            var done: [Int] = []
            do throws(SourceError) {
                try requireRoom(for: copies.reduce(0) { $0 + $1.copy.size }, "for what comes back")
                try restore(copies, run, &outcome, &done, &trouble)
            } catch {
                trouble.stopped = error.description
            }
            // What is back isn't to be brought back again, whatever happens next.
            do throws(SourceError) {
                try undo.forget(done, of: record)
                record.undone += done.count
                try undo.update(record)
            } catch {
                // A full disk; the server has what it has all the same.
                trouble.unnoted = trouble.unnoted ?? error.description
            }
            place = end
            if trouble.stopped == nil, !checkpoint(Double(place) / Double(numbers.count)) { break }
        }
        outcome.isComplete = place == numbers.count && trouble.stopped == nil && trouble.refused == 0
        if outcome.isComplete, trouble.unnoted == nil {
            try undo.forget(numbers, of: record)
            try undo.end(record)
        }
        return Carried(outcome, stopped: trouble.words)
    }

    /// What went wrong while an action was taken back.
    private struct Trouble {
        /// Why it ended before all was done.
        var stopped: String?
        /// Copies that can't be read.
        var lost = 0
        /// Copies that the server didn't take, and the first of them with the reason.
        var refused = 0
        var firstRefused: String?
        /// Why it couldn't be noted what is back.
        var unnoted: String?

        mutating func refuse(_ copy: UndoArchive.Copy, _ reason: String) {
            refused += 1
            firstRefused = firstRefused ?? "\(TerminalSafe.quoted(KeyName.text(copy.key))): \(reason)"
        }

        /// Nil: nothing.
        var words: String? {
            var words = [stopped].compactMap { $0 }
            if let firstRefused {
                words.append(
                    "\(Figures.count(refused, "copy was", "copies were")) refused and kept for another try, such as "
                        + firstRefused)
            }
            if lost > 0 {
                words.append(
                    "\(Figures.count(lost, "copy", "copies")) can't be read any more: what was copied there is not back"
                )
            }
            if let unnoted {
                words.append("what is back can't be noted here, and another undo would skip it: \(unnoted)")
            }
            return words.isEmpty ? nil : words.joined(separator: "; ")
        }
    }

    private typealias Numbered = (number: Int, copy: UndoArchive.Copy)

    /// The next copies, and where those behind them begin.
    private func copies(
        of undo: UndoArchive, _ record: UndoArchive.Record, _ numbers: [Int], from place: Int,
        _ trouble: inout Trouble
    ) throws(SourceError) -> (copies: [Numbered], end: Int) {
        var (copies, end, bytes): ([Numbered], Int, Int) = ([], place, 0)
        while end < numbers.count, copies.count < ServerChanges.block, bytes < ServerChanges.blockBytes {
            if let copy = try undo.copy(numbers[end], of: record) {
                copies.append((numbers[end], copy))
                bytes += copy.dump.count
            } else {
                trouble.lost += 1
            }
            end += 1
        }
        return (copies, end)
    }

    /// A server that evicts would take others' keys for what it needs room for, or that itself. One that doesn't refuses by itself.
    func requireRoom(for size: Int, _ purpose: String) throws(SourceError) {
        guard try connection.traits().evicts, size > 0 else { return }
        let figures: ServerFigures
        do throws(SourceError) {
            figures = try connection.figures()
        } catch {
            // Who may not ask can't know.
            guard error.description.contains("NOPERM") else { throw error }
            return
        }
        guard let limit = figures.memoryLimit, figures.policy != "noeviction" else { return }
        let needed = UInt64(size) + UInt64(size) / 4
        guard figures.memory + needed > limit else { return }
        throw SourceError(
            "\(connection.address) has no room left and would evict keys \(purpose) (\(figures.policy)); "
                + "what is left stays: make room and do it again")
    }

    /// What a server refuses whatever the copy is.
    private static let general = [
        "OOM", "READONLY", "LOADING", "MISCONF", "MASTERDOWN", "CLUSTERDOWN", "NOREPLICAS", "BUSY ", "NOAUTH",
    ]

    /// `done`: the copies that were seen to.
    private func restore(
        _ copies: [Numbered], _ run: String, _ outcome: inout UndoOutcome, _ done: inout [Int],
        _ trouble: inout Trouble
    ) throws(SourceError) {
        guard !copies.isEmpty else { return }
        let (now, present) = try deadlines(of: copies.map(\.copy.key), behind: RESPCommand("PING"))
        // What is told as the time that is left is known to as much as the answer was under way.
        let tolerance: UInt64 = try connection.traits().tellsDeadlines ? 0 : 2000
        let exist = try connection.ask(copies.map { RESPCommand("EXISTS") + $0.copy.key }, in: database)
        for (place, (number, copy)) in copies.enumerated() {
            let isThere = try connection.accepted(exist[place], to: RESPCommand("EXISTS")).number == 1
            let isPast = copy.deadline.map { $0 <= now } ?? false
            let command: RESPCommand
            if !isThere, !copy.dump.isEmpty {
                if isPast {
                    outcome.expired += 1
                    done.append(number)
                    continue
                }
                command = try restoring(copy, at: now, since: outcome.action.time)
            } else if isThere, outcome.action.kind == .deadline,
                isSame(present[place], copy.newDeadline, within: tolerance),
                !isPast
            {
                command =
                    copy.deadline.map { RESPCommand("PEXPIREAT") + copy.key + $0 }
                    ?? RESPCommand("PERSIST") + copy.key
            } else {
                skip(copy, &outcome)
                done.append(number)
                continue
            }
            guard let answer = try answer(to: command, for: copy, run, &trouble) else { continue }
            if case .error(let message) = answer {
                guard message.hasPrefix("BUSYKEY") else {
                    if ServerChanges.general.contains(where: message.hasPrefix) {
                        _ = try connection.accepted(answer, to: command)
                    }
                    trouble.refuse(copy, "\(command.name): \(message)")
                    continue
                }
                skip(copy, &outcome)
            } else {
                outcome.entries += 1
                outcome.bytes += UInt64(copy.size)
            }
            done.append(number)
        }
    }

    private func restoring(
        _ copy: UndoArchive.Copy, at now: Int64, since time: Timestamp
    ) throws(SourceError) -> RESPCommand {
        let command = RESPCommand("RESTORE") + copy.key + (copy.deadline ?? 0) + copy.dump + "ABSTTL"
        if try connection.traits().countsUses {
            return copy.frequency.map { command + "FREQ" + min(max(0, $0), 255) } ?? command
        }
        guard let idle = copy.idle else { return command }
        let since = max(0, now - time.microseconds / 1000) / 1000
        return command + "IDLETIME" + (min(max(0, idle), 1 << 40) + since)
    }

    /// Nil: a server may end the connection for a copy that is larger than it takes, and goes on with the next one.
    private func answer(
        to command: RESPCommand, for copy: UndoArchive.Copy, _ run: String, _ trouble: inout Trouble
    ) throws(SourceError) -> RESPValue? {
        do throws(SourceError) {
            let answer = try connection.change([command], in: database)[0]
            // It is ended behind such an answer.
            if case .error(let message) = answer, message.contains("Protocol error") {
                _ = try connection.ask(RESPCommand("PING"))
            }
            return answer
        } catch {
            guard (try? connection.ask(RESPCommand("PING"))) != nil, try connection.traits().run == run else {
                throw error
            }
            trouble.refuse(copy, error.description)
            return nil
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
