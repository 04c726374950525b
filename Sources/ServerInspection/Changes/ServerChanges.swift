import StorageEngine
import StoreInspection
import SystemC
import ValkeyWire

/// Confirmed changes of a server's database, and their undo. Each block of keys is copied to an ``UndoArchive``, then changed by
/// a transaction that fails if another client changed one of them since. Keys that were changed after the plan was made are
/// included, unless they no longer meet its condition. For one thread.
package struct ServerChanges {
    /// Maximum keys of a transaction, and bytes by the server's estimate.
    static let block = 64
    static let blockBytes = 1 << 20
    /// Maximum bytes of a reply of a server that evicts.
    static let smallBytes = 16 << 10
    /// Minimum bytes of a key for which the server must have free memory before the copy.
    private static let largeKeyBytes = 1 << 20
    /// Maximum bytes of a key: copying a larger one would block the server.
    static let mostKeyBytes = 64 << 20
    static let tries = 5

    let connection: ServerConnection
    let database: Int
    let folder: String

    /// - Parameter folder: the folder of the undo store, created on demand. Edits don't use it.
    package init(_ address: ServerAddress, database: Int, undoFolder folder: String) {
        // A separate connection, because other requests could end the watches.
        connection = ServerConnection(address, seconds: 30, staysWithServer: true)
        (self.database, self.folder) = (database, folder)
    }

    private struct Work {
        let action: PlannedAction
        /// Minimum idle seconds of keys to expire; nil: any.
        let idle: Double?
        let condition: Condition?
        let undo: UndoArchive
        var record: UndoArchive.Record
        var number = 0
        var outcome = PlanOutcome()
        /// The keys left unchanged, and the reason for the first one.
        var left: Set<[UInt8]> = []
        var reason: String?
        /// Why some keys are counted as changed although the server reported otherwise.
        var doubt: String?

        mutating func leave(_ key: [UInt8], _ reason: String) {
            left.insert(key)
            self.reason = self.reason ?? "\(TerminalSafe.quoted(KeyName.text(key))): \(reason)"
        }

        mutating func note(_ copy: UndoArchive.Copy) {
            outcome.entries += 1
            outcome.bytes += UInt64(copy.size)
        }

        mutating func note(_ copies: [UndoArchive.Copy], _ results: [RESPValue]) {
            number += copies.count
            for (place, copy) in copies.enumerated() {
                // The key expired before its new expiry time was set.
                if !action.removes, results[place].number == 0 {
                    outcome.skips.append(PlanSkip(key: KeyName.text(copy.key), reason: .absent))
                } else {
                    note(copy)
                }
            }
        }
    }

    /// Returns which of some keys meet the plan's condition.
    package typealias Condition = ([String]) throws(SourceError) -> Set<ExactText>

    /// Executes a plan.
    /// - Parameters:
    ///   - run: the run of the server where the keys were found; nil: any.
    ///   - checkpoint: gets the number of keys done, and returns whether to continue.
    ///   - condition: called with watched keys; keys that it doesn't return are skipped.
    ///   - readsAccesses: whether the condition depends on idle times or access frequencies.
    package func carryOut(
        _ action: PlannedAction, on targets: [Target], in run: String? = nil,
        checkpoint: (Int) -> Bool = { _ in true }, meeting condition: Condition? = nil,
        readsAccesses: Bool = false
    ) throws(SourceError) -> Carried<PlanOutcome> {
        guard
            let undo = try UndoArchive(
                in: folder, for: connection.address, database: database, creating: true)
        else { throw SourceError("there is no folder for undo records") }
        defer { undo.close() }
        let capabilities = try connection.requireRun(run)
        // A duration, so that a later adjustment of this machine's clock doesn't make keys idle.
        var idle: Double?
        if case .expireIdle(let before) = action { idle = Timestamp.now().seconds(since: before) }
        // If copies count as accesses, a failed transaction of several keys doesn't show which keys other clients accessed.
        let isSingle =
            capabilities.isClustered || (idle != nil || readsAccesses) && !capabilities.keepsIdleTimes
        var work = Work(
            action: action, idle: idle, condition: condition, undo: undo,
            record: try undo.begin(action.kind, in: capabilities.run))
        guard let lock = try undo.lock(of: work.record) else {
            throw SourceError("another process uses the number of this action")
        }
        defer { lock.release() }
        var stopped: String?
        var place = 0
        while place < targets.count, stopped == nil {
            guard checkpoint(place) else {
                stopped = "Stopped after \(Figures.count(place)) of \(Figures.count(targets.count))"
                break
            }
            let block = targets[place...].prefix(
                isSingle ? 1 : ServerChanges.block, bytes: ServerChanges.blockBytes, \.size)
            let before = work.outcome.entries
            do throws(SourceError) {
                if block[place].size > ServerChanges.mostKeyBytes {
                    work.leave(KeyName.bytes(block[place].key), ServerChanges.tooLarge)
                } else {
                    if block[place].size > ServerChanges.largeKeyBytes {
                        try connection.requireMemory(
                            for: block[place].size, "to copy \(TerminalSafe.quoted(block[place].key))")
                    }
                    try change(block.map { KeyName.bytes($0.key) }, &work)
                }
                place += block.count
            } catch {
                let done = place + work.outcome.entries - before
                stopped = "Stopped after \(Figures.count(done)) of \(Figures.count(targets.count)): \(error)"
            }
        }
        if let reason = work.reason {
            let left = "\(Figures.count(work.left.count, "key is", "keys are")) unchanged, such as \(reason)"
            stopped = [stopped, left].compactMap { $0 }.joined(separator: "; ")
        }
        if let doubt = work.doubt { stopped = [stopped, doubt].compactMap { $0 }.joined(separator: "; ") }
        return end(&work, stopped)
    }

    private static let tooLarge =
        "its copy of more than \(Figures.bytes(UInt64(mostKeyBytes))) would block the server; change it with another program"

    private func end(_ work: inout Work, _ stopped: String?) -> Carried<PlanOutcome> {
        var (stopped, record) = (stopped, work.record)
        (record.entries, record.bytes) = (UInt32(clamping: work.outcome.entries), work.outcome.bytes)
        // The undo window begins when the action ends.
        (record.isOver, record.time) = (true, Timestamp(microseconds: Clock.preciseWall()))
        do throws(SourceError) {
            if work.number > 0 {
                work.outcome.action = record.action
                try work.undo.startUndoWindow(of: record, copies: work.number)
            } else {
                try work.undo.end(record)
            }
        } catch {
            // The changes remain and can be undone: the lock ends with this call.
            stopped = [stopped, "\(error)"].compactMap { $0 }.joined(separator: "; ")
        }
        return Carried(work.outcome, stopped: stopped)
    }

    /// Prefixes of the errors that a permitted `RESTORE` of an empty value returns: for a present key, and for an absent one.
    private static let errorsProvingRight = ["BUSYKEY", "ERR DUMP payload", "ERR Bad data format"]

    /// Returns the copies that the user is permitted to restore; the other keys stay unchanged. Tests each key by a `RESTORE` of an
    /// empty value, which no server stores. Like a copy, the test is an access to the key.
    private func restorable(
        _ copies: [UndoArchive.Copy], _ work: inout Work
    ) throws(SourceError) -> [UndoArchive.Copy] {
        let commands = copies.map { RESPCommand("RESTORE") + $0.key + "0" + "" }
        let replies = try connection.paced(
            try connection.change(commands, in: database, isContinued: true))
        var restorable: [UndoArchive.Copy] = []
        for (copy, reply) in zip(copies, replies) {
            guard let message = reply.error else { throw connection.invalidReply(to: "RESTORE") }
            if ServerConnection.concernsKeys(message) {
                work.leave(copy.key, "an undo would fail: \(message)")
            } else if ServerChanges.errorsProvingRight.contains(where: message.hasPrefix) {
                restorable.append(copy)
            } else {
                throw SourceError("an undo would fail: \(connection.address) refuses RESTORE: \(message)")
            }
        }
        return restorable
    }

    private func change(_ keys: [[UInt8]], _ work: inout Work) throws(SourceError) {
        var again = [keys]
        var tries = 0
        // On some servers a copy counts as an access, so idle times are taken from the first copy of each key.
        var earlier: [[UInt8]: UndoArchive.Copy] = [:]
        while let keys = again.popLast() {
            var copies: [UndoArchive.Copy] = []
            var execution: Execution<[UndoArchive.Copy]>
            do throws(SourceError) {
                let read = try read(keys, &work, knowing: earlier)
                try keep(read, work)
                copies = read
                execution =
                    copies.isEmpty
                    ? .confirmed([])
                    : self.execution { () throws(SourceError) in
                        try execute(copies, work)
                    } readBack: { () throws(SourceError) in
                        try changed(copies, work.action)
                    }
            } catch {
                execution = .failed(error, [])
            }
            let numbers = work.number..<work.number + copies.count
            switch execution {
            case .confirmed(let results): work.note(copies, results)
            case .conflict(let changed) where changed.count == copies.count:
                // Either another client did the same, or the server has executed the transaction.
                work.number += copies.count
                for copy in copies { work.note(copy) }
                work.doubt =
                    "\(connection.address) reported a conflict with another client for keys that are now as planned; "
                    + "they are counted as changed"
            case .conflict:
                // Another client changed a key: retry each in a separate transaction.
                for copy in copies where earlier[copy.key] == nil { earlier[copy.key] = copy }
                try work.undo.deleteCopies(numbers, of: work.record)
                tries += 1
                if keys.count == 1, work.idle != nil {
                    work.outcome.skips.append(PlanSkip(key: KeyName.text(keys[0]), reason: .used))
                } else if copies.count > 1 || tries < ServerChanges.tries + ServerChanges.block {
                    again += copies.reversed().map { [$0.key] }
                } else {
                    work.outcome.skips.append(PlanSkip(key: KeyName.text(copies[0].key), reason: .changed))
                }
            case .failed(let failure, _) where ServerConnection.concernsKeys(failure.refusal):
                try work.undo.deleteCopies(numbers, of: work.record)
                if keys.count > 1 {
                    again += (copies.isEmpty ? keys : copies.map(\.key)).reversed().map { [$0] }
                } else {
                    work.leave(keys[0], failure.description)
                }
            case .failed(let failure, let changed):
                if changed?.isEmpty == true, failure.refusal != nil {
                    try work.undo.deleteCopies(numbers, of: work.record)
                    throw failure
                }
                work.number += copies.count
                for copy in changed ?? [] { work.note(copy) }
                if changed != nil { throw failure }
                throw SourceError(
                    "\(failure); it is unknown whether the last \(copies.count) keys are changed")
            }
        }
    }

    /// Returns the copies whose keys are now as after the action, possibly changed by another client.
    private func changed(
        _ copies: [UndoArchive.Copy], _ action: PlannedAction
    ) throws(SourceError) -> [UndoArchive.Copy] {
        let keys = copies.map(\.key)
        let commands = keys.map { RESPCommand("EXISTS") + $0 }
        let replies = try connection.ask(commands, in: database)
        try connection.accept(replies, to: commands)
        let times = try action.removes ? nil : deadlines(of: keys, after: [])
        return copies.enumerated().filter { place, copy in
            let isAbsent = replies[place].number == 0
            guard let times else { return isAbsent }
            return isAbsent
                ? (copy.newDeadline ?? .max) <= times.now : times.isNew(times.each[place], copy)
        }.map(\.element)
    }

    private func keep(_ copies: [UndoArchive.Copy], _ work: Work) throws(SourceError) {
        let kept = copies.map { copy in
            var copy = copy
            if !work.action.needsCopies { copy.dump = [] }
            return copy
        }
        let size = kept.reduce(UInt64(0)) { $0 + UInt64($1.dump.count + $1.key.count) }
        guard size <= (try work.undo.freeBytes()) else {
            throw SourceError(
                "the undo records of a database take at most \(Figures.bytes(UndoArchive.most)); wait until earlier "
                    + "deletions are ten minutes old, or delete with another program")
        }
        try work.undo.keep(kept, from: work.number, of: work.record)
    }

    /// Executes the action in a transaction, and records the expiry times that the server has set. Nil: a key was changed.
    private func execute(_ copies: [UndoArchive.Copy], _ work: Work) throws(SourceError) -> [RESPValue]? {
        if work.action.removes { return try transact([RESPCommand("UNLINK") + copies.map(\.key)]) }
        guard let milliseconds = work.action.milliseconds else {
            return try transact(copies.map { ServerChanges.expiring($0.key, at: nil) })
        }
        let capabilities = try connection.capabilities()
        // Durations are used, because the server's clock may be wrong, or may have been adjusted since its time was read.
        let results = try transact(
            copies.map { RESPCommand("PEXPIRE") + $0.key + Int(milliseconds) },
            then: copies.map { capabilities.expiry(of: $0.key) }
                + (capabilities.reportsExpiryTimes ? [] : [RESPCommand("TIME")]))
        guard let results, let now = capabilities.reportsExpiryTimes ? 0 : results.last?.milliseconds else {
            return results
        }
        let local = Timestamp.now().microseconds / 1000
        let exact = zip(copies, results.dropFirst(copies.count)).map { copy, reply in
            guard let deadline = capabilities.deadline(reply, at: now) else { return copy }
            var copy = copy
            (copy.newDeadline, copy.slack) = (deadline, nil)
            (copy.time, copy.local) = (max(0, deadline - milliseconds), local)
            return copy
        }
        // If there is no space for the exact time, the record keeps the estimate.
        try? keep(exact, work)
        return results
    }

    static func expiring(_ key: [UInt8], at deadline: Int64?) -> RESPCommand {
        deadline.map { RESPCommand("PEXPIREAT") + key + $0 } ?? RESPCommand("PERSIST") + key
    }

    /// Watches keys, and copies those that are to be changed.
    /// - Parameter earlier: copies of earlier attempts, for the idle times in undo records.
    private func read(
        _ keys: [[UInt8]], _ work: inout Work, knowing earlier: [[UInt8]: UndoArchive.Copy]
    ) throws(SourceError) -> [UndoArchive.Copy] {
        let countsUses = try connection.capabilities().countsUses
        var commands: [RESPCommand] = []
        for key in keys {
            commands += [
                RESPCommand("MEMORY", "USAGE") + key,
                RESPCommand("OBJECT", countsUses ? "FREQ" : "IDLETIME") + key,
            ]
        }
        // Expiry times are read before the copies, which take time.
        let deadlines = try deadlines(of: keys, after: ServerChanges.watch(keys))
        let local = Timestamp.now().microseconds / 1000
        let matching = try work.condition?(keys.map { KeyName.text($0) })
        let replies = try asked(commands)
        var found = PlanOutcome()
        var copies: [UndoArchive.Copy] = []
        for (place, key) in keys.enumerated() {
            func skip(_ reason: PlanSkip.Reason) {
                found.skips.append(PlanSkip(key: KeyName.text(key), reason: reason))
            }
            guard let size = replies[place * 2].number else {
                skip(.absent)
                continue
            }
            let deadline = deadlines.each[place]
            if work.action == .setLifetime(nil), deadline == nil {
                found.unchanged += 1
                continue
            }
            if let matching, !matching.contains(ExactText(KeyName.text(key))) {
                skip(.changed)
                continue
            }
            let uses = replies[place * 2 + 1].number
            var copy = UndoArchive.Copy(
                key: key, idle: countsUses ? nil : uses, frequency: countsUses ? uses : nil,
                size: KeyMetadata.size(size))
            (copy.deadline, copy.time, copy.local) = (deadline, deadlines.now, local)
            if let milliseconds = work.action.milliseconds {
                (copy.newDeadline, copy.slack) = (deadlines.now + milliseconds, 60_000)
            }
            // An undo needs the clock for expiry times.
            if deadline != nil || copy.newDeadline != nil { try connection.requireClock(deadlines.now) }
            if let deadline, deadline < deadlines.now - 1000 {
                work.leave(key, "its expiry time has passed by the server's clock, which may be wrong")
            } else if let least = work.idle, copy.idle.map({ Double($0) <= least }) ?? true {
                skip(.used)
            } else if copy.size > ServerChanges.mostKeyBytes {
                work.leave(key, ServerChanges.tooLarge)
            } else {
                copies.append(copy)
            }
        }
        copies = try withDumps(copies, knowing: earlier, &found, &work)
        work.outcome.skips += found.skips
        work.outcome.unchanged += found.unchanged
        return work.action.needsCopies ? try restorable(copies, &work) : copies
    }

    /// Adds dumps to copies; removes absent keys and damaged dumps. A copy equal to an earlier one gets the idle time of that one.
    private func withDumps(
        _ copies: [UndoArchive.Copy], knowing earlier: [[UInt8]: UndoArchive.Copy],
        _ found: inout PlanOutcome,
        _ work: inout Work
    ) throws(SourceError) -> [UndoArchive.Copy] {
        var dumps: [[UInt8]] = []
        try dump(copies) { dumps.append($0) }
        var present: [UndoArchive.Copy] = []
        for (var copy, dump) in zip(copies, dumps) {
            guard !dump.isEmpty else {
                found.skips.append(PlanSkip(key: KeyName.text(copy.key), reason: .absent))
                continue
            }
            guard DumpPayload.isIntact(dump) else {
                work.leave(copy.key, "its copy is damaged: wrong version or checksum")
                continue
            }
            (copy.dump, copy.digest) = (dump, ValueDigest(dump: dump))
            if let before = earlier[copy.key], before.digest == copy.digest, before.deadline == copy.deadline
            {
                copy.idle = before.idle
            }
            present.append(copy)
        }
        return present
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

    fileprivate var removes: Bool { if case .setLifetime = self { false } else { true } }

    /// Whether the undo needs copies of values, because keys may be deleted or expire during the undo window.
    fileprivate var needsCopies: Bool {
        if case .setLifetime(let lifetime) = self {
            lifetime.map { $0 < .seconds(UndoArchive.undoWindow + 60) } ?? false
        } else {
            true
        }
    }

    fileprivate var milliseconds: Int64? {
        guard case .setLifetime(let lifetime?) = self else { return nil }
        return Int64(min(max(0, lifetime / .seconds(1)), 1e10) * 1000)
    }
}
