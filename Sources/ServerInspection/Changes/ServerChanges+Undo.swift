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
                // The record of an action that is running or was killed has no counts.
                (action.entries, action.bytes) = try undo.figures(of: record)
            }
            return action
        }
    }

    /// Undoes an action; nil: it can no longer be undone. Keys that were stored again stay unchanged.
    /// - Parameters:
    ///   - time: the time of the action, because numbers are reused after the undo window; nil: any.
    ///   - isOfOtherRun: whether the server may have been started after the action, and so may be another one.
    ///   - checkpoint: gets the share done, and returns whether to continue.
    package func undo(
        _ id: UInt32, begun time: Timestamp? = nil, evenIfRestarted isOfOtherRun: Bool = false,
        checkpoint: (Double) -> Bool = { _ in true }
    ) throws(SourceError) -> Carried<UndoOutcome>? {
        let found = try UndoArchive(in: folder, for: connection.address, database: database, creating: false)
        guard let undo = found else { return nil }
        defer { undo.close() }
        let known = try undo.records().first { $0.id == id && $0.time == time ?? $0.time }
        guard let known else { return nil }
        // An undo of a running action would miss its later changes.
        guard let lock = try undo.lock(of: known) else {
            throw SourceError(
                known.isOver
                    ? "action \(id) is being undone by another process"
                    : "action \(id) is still running in process \(known.pid); stop it, or wait until it ends")
        }
        defer { lock.release() }
        // Another process may have undone it since.
        guard let record = try undo.records().first(where: { $0.token == known.token }) else { return nil }
        let run = try connection.capabilities().run
        guard run == record.run || isOfOtherRun else {
            let doubt =
                record.run.isEmpty || run.isEmpty
                ? "the server at \(connection.address) may be a different one (no permission for INFO)"
                : "the server at \(connection.address) was restarted, and may be a different one"
            throw SourceError("\(doubt); pass --restarted to vellum undo to restore the keys there")
        }
        var restoration = Restoration(
            changes: self, undo: undo, record: record, numbers: try undo.numbers(of: record))
        return restoration.restoreAll(checkpoint)
    }
}

/// The undo of one action. For one thread.
private struct Restoration {
    private typealias Numbered = (number: Int, copy: UndoArchive.Copy)

    private let changes: ServerChanges
    private var connection: ServerConnection { changes.connection }
    private let undo: UndoArchive
    private var record: UndoArchive.Record
    private let numbers: [Int]
    private var outcome = UndoOutcome.nothing
    /// Numbers of the restored and skipped copies of the current block.
    private var done: [Int] = []
    private var stopped: String?
    /// Number of unreadable copies, and some of their keys.
    private var lost = 0
    private var lostKeys: [String] = []
    /// Keys of the copies that can't be restored now, and the first of them with the reason.
    private var refused: Set<[UInt8]> = []
    private var firstRefused: String?
    /// Why the restored copies couldn't be removed from the undo record.
    private var unrecorded: String?

    init(changes: ServerChanges, undo: UndoArchive, record: UndoArchive.Record, numbers: [Int]) {
        (self.changes, self.undo, self.record, self.numbers) = (changes, undo, record, numbers)
        outcome.action = record.action
        if record.isOver { lost = max(0, Int(record.entries) - Int(record.undone) - numbers.count) }
    }

    mutating func restoreAll(_ checkpoint: (Double) -> Bool) -> Carried<UndoOutcome> {
        var place = 0
        while place < numbers.count, stopped == nil {
            do throws(SourceError) {
                let copies = try copies(from: &place)
                try connection.requireMemory(
                    for: copies.reduce(0) { $0 + $1.copy.size }, "for the restored ones")
                try restore(copies)
            } catch {
                stopped = error.description
            }
            do throws(SourceError) {
                var updated = record
                updated.undone &+= UInt32(done.count)
                try undo.update(updated, deleting: done)
                record = updated
            } catch {
                // The disk may be full. A repeated undo finds the keys restored.
                unrecorded = unrecorded ?? error.description
            }
            done = []
            if stopped == nil, !checkpoint(Double(place) / Double(numbers.count)) { break }
        }
        outcome.isComplete = place == numbers.count && stopped == nil && refused.isEmpty
        if outcome.isComplete, unrecorded == nil {
            do throws(SourceError) {
                try undo.deleteCopies(numbers, of: record)
                try undo.end(record)
            } catch {
                unrecorded = error.description
            }
        }
        return Carried(outcome, stopped: words)
    }

    private var words: String? {
        var words = [stopped].compactMap { $0 }
        if let firstRefused {
            words.append(
                "\(Figures.count(refused.count, "copy was", "copies were")) refused by the server and kept for a retry, such as "
                    + firstRefused)
        }
        if lost > 0 {
            let names = lostKeys.map(TerminalSafe.quoted).joined(separator: ", ")
            words.append(
                "\(Figures.count(lost, "copy", "copies")) can no longer be read; their keys are not restored"
                    + (names.isEmpty ? "" : ", such as \(names)"))
        }
        if let unrecorded { words.append("the undo record can't be updated: \(unrecorded)") }
        return words.isEmpty ? nil : words.joined(separator: "; ")
    }

    private mutating func copies(from place: inout Int) throws(SourceError) -> [Numbered] {
        var (copies, bytes): ([Numbered], Int) = ([], 0)
        while place < numbers.count, copies.count < ServerChanges.block, bytes < ServerChanges.blockBytes {
            if let copy = try undo.copy(numbers[place], of: record) {
                copies.append((numbers[place], copy))
                bytes += copy.dump.count
            } else {
                lost += 1
                if lostKeys.count < 10, let key = undo.name(numbers[place], of: record) {
                    lostKeys.append(key)
                }
            }
            place += 1
        }
        return copies
    }

    /// Minimum milliseconds until an expiry time that is restored, so that it is still in the future when the server receives it.
    private static let margin: Int64 = 5000

    private mutating func restore(_ copies: [Numbered]) throws(SourceError) {
        // In a cluster a transaction can't have keys of several slots.
        let isSingle = try connection.capabilities().isClustered
        var again = isSingle ? copies.reversed().map { [$0] } : [copies]
        var tries = 0
        var lost: Set<Int> = []
        while let block = again.popLast() {
            let copies = block.filter { !done.contains($0.number) }
            guard let first = copies.first else { continue }
            let link = connection.linkNumber
            do throws(SourceError) {
                if try restoreOnce(copies) { continue }
            } catch {
                // After a lost reply, another attempt finds the keys that were restored. PING opens a new connection.
                let isReached = (try? connection.ask(RESPCommand("PING"))) != nil
                guard isReached || error.refusal != nil else {
                    throw SourceError(
                        "\(error); it is unknown whether the last \(copies.count) keys are restored")
                }
                let isLost = connection.linkNumber != link
                guard isLost || ServerConnection.concernsKeys(error.refusal) else { throw error }
                if copies.count == 1, !isLost || !lost.insert(first.number).inserted {
                    refuse(first.copy, error.description)
                    continue
                }
            }
            tries += 1
            if copies.count > 1 {
                again += copies.reversed().map { [$0] }
            } else if tries < ServerChanges.tries + ServerChanges.block {
                again.append(copies)
            } else {
                skip(first)
            }
        }
    }

    /// Restores keys; false: another client changed a key, and nothing was restored.
    private mutating func restoreOnce(_ copies: [Numbered]) throws(SourceError) -> Bool {
        let isOfDeadlines = record.kind == .deadline
        let keys = copies.map(\.copy.key)
        let start = ContinuousClock.now
        let times = try changes.deadlines(
            of: keys, after: isOfDeadlines ? ServerChanges.watch(keys) : [])
        for (_, copy) in copies where copy.deadline != nil || isOfDeadlines {
            try connection.requireClock(times.now, near: copy.time)
        }
        let sizes = try changes.asked(keys.map { RESPCommand("MEMORY", "USAGE") + $0 })
        var present: [(one: Numbered, isRestored: Bool)] = []
        var absent: [Numbered] = []
        for (place, var one) in copies.enumerated() {
            let copy = one.copy
            if copy.isExpiryAmbiguous(at: times.now) {
                refuse(
                    copy,
                    "the clocks of this machine and the server disagree whether its expiry time has passed")
            } else if let size = sizes[place].number {
                one.copy.size = KeyMetadata.size(size)
                // An earlier undo may have been killed before it removed the copy.
                let isRestored = times.isSame(times.each[place], copy.deadline)
                let isChanged = isOfDeadlines && times.isNew(times.each[place], copy)
                if isRestored || isChanged, one.copy.size <= ServerChanges.mostKeyBytes {
                    present.append((one, isRestored))
                } else {
                    skip(one)
                }
            } else if copy.dump.isEmpty || isOfDeadlines && times.now < copy.newDeadline ?? .max {
                // The key is absent before its expiry time, so another client has deleted it.
                skip(one)
            } else if let deadline = copy.deadline, deadline <= times.now {
                outcome.expired += 1
                done.append(one.number)
            } else {
                absent.append(one)
            }
        }
        guard try restoreDeadlines(present, times.now, since: start) else { return false }
        for one in absent { try restore(one, at: times.now) }
        return true
    }

    /// Restores the previous expiry times of keys with unchanged values. False: another client changed a watched key.
    private mutating func restoreDeadlines(
        _ copies: [(one: Numbered, isRestored: Bool)], _ now: Int64, since start: ContinuousClock.Instant
    ) throws(SourceError) -> Bool {
        var digests: [ValueDigest] = []
        try changes.dump(copies.map(\.one.copy)) { digests.append(ValueDigest(dump: $0)) }
        let earliest = now + Int64((ContinuousClock.now - start) / .milliseconds(1))
        var same: [Numbered] = []
        for ((one, isRestored), digest) in zip(copies, digests) {
            let deadline = one.copy.deadline ?? .max
            let left = min(deadline - earliest, one.copy.left(until: deadline) ?? .max)
            if one.copy.digest != digest || !isRestored && left <= Restoration.margin {
                skip(one)
            } else if isRestored, record.isOver, record.entries == 0 {
                // It is unknown whether the action changed this key.
                done.append(one.number)
            } else if isRestored {
                note(one)
            } else {
                same.append(one)
            }
        }
        guard !same.isEmpty else { return true }
        let commands = same.map { ServerChanges.expiring($0.copy.key, at: $0.copy.deadline) }
        guard let replies = try changes.transact(commands) else { return false }
        for (one, reply) in zip(same, replies) {
            if reply.number == 0 { skip(one) } else { note(one) }
        }
        return true
    }

    private mutating func restore(_ one: Numbered, at now: Int64) throws(SourceError) {
        let command = try restoring(one.copy, at: now)
        let reply = try connection.change([command], in: changes.database)[0]
        if reply == .status("OK") { return note(one) }
        guard let message = reply.error else { throw connection.invalidReply(to: command.name) }
        if message.hasPrefix("BUSYKEY") { return skip(one) }
        if ServerConnection.general.contains(where: message.hasPrefix) {
            try connection.accepted(reply, to: command)
        }
        refuse(one.copy, "\(command.name): \(message)")
        // After this error the server closes the connection.
        if message.contains("Protocol error") { _ = try connection.ask(RESPCommand("PING")) }
    }

    private func restoring(_ copy: UndoArchive.Copy, at now: Int64) throws(SourceError) -> RESPCommand {
        let command = RESPCommand("RESTORE") + copy.key + (copy.deadline ?? 0) + copy.dump + "ABSTTL"
        if try connection.capabilities().countsUses {
            return copy.frequency.map { command + "FREQ" + min(max(0, $0), 255) } ?? command
        }
        guard let idle = copy.idle else { return command }
        // Both times are by the server's clock, which may have been adjusted between them.
        let since = min(max(0, now - copy.time), 86_400_000) / 1000
        return command + "IDLETIME" + (min(max(0, idle), 1 << 40) + since)
    }

    private mutating func refuse(_ copy: UndoArchive.Copy, _ reason: String) {
        refused.insert(copy.key)
        firstRefused = firstRefused ?? "\(TerminalSafe.quoted(KeyName.text(copy.key))): \(reason)"
    }

    private mutating func note(_ one: Numbered) {
        outcome.entries += 1
        outcome.bytes += UInt64(one.copy.size)
        done.append(one.number)
    }

    /// Skips a key that was changed since, or whose previous expiry time has passed.
    private mutating func skip(_ one: Numbered) {
        outcome.skippedCount += 1
        if outcome.skipped.count < 100 { outcome.skipped.append(KeyName.text(one.copy.key)) }
        done.append(one.number)
    }
}
