import CPlatform
import Synchronization

/// What happens in the background, in every process that has the archive open for writing and knows of something to
/// do: expired entries go soon after their deadline although nobody looks them up, what can no longer be undone is
/// given up, what an undo brought back is settled, and dead room is given back when nobody writes. Each look does one
/// slice under the lock, and takes the lock only when it is free. Where there is nothing to wait for it looks at some
/// words of the index every five seconds, at the same moment for all archives of the process: another process may have
/// stored what expires, or removed much, and left.
extension ArchiveEngine {
    /// Between two slices, nanoseconds.
    fileprivate static let shortestPause: Int64 = 2_000_000
    /// Others may write, and end a grace by that, or become quiet.
    fileprivate static let usualPause: Int64 = 1_000_000_000
    /// Another process may have given an entry a nearer deadline, and left; and a machine that slept is late by this.
    fileprivate static let longestPause: Int64 = 5_000_000_000
    /// Bytes that others may append in a second while the archive counts as quiet.
    private static let quietBytes: UInt64 = 1 << 20

    /// What the duty remembers between two looks. Guarded by ``ArchiveEngine/housekeeping``.
    struct House {
        var ticket: Upkeep.Ticket?
        /// When the present second began, on the monotonic clock, and what had been appended then.
        var second: Int64 = 0
        var appended: UInt64 = 0
        /// When it was last looked whether the files are there, on the monotonic clock.
        var lookedForFiles: Int64 = 0
        /// Whether nobody wrote much in the last second.
        var isQuiet = false
        /// Whether it has expired something since it last reclaimed all that was due.
        var owesReclaiming = false
    }

    /// Called after each change (``ArchiveEngine/settle()``): begins the duty, or wakes it for a nearer deadline.
    @inline(never)
    func mindHouse() {
        if owesRoom.load(ordering: .relaxed) { payForRoom() }
        let due = houseDue.load(ordering: .relaxed)
        let next = index.nextDeadline
        let isNearer = next != Deadline.never && next < due.subtractingSaturating(1000)
        let isWanted = due == .max && (index.setAsideCount > 0 || isRoomDue.load(ordering: .relaxed))
        // What can't be begun now, for want of a thread, is begun by a later change.
        if isNearer || isWanted { try? beginHousekeeping() }
    }

    func beginHousekeeping() throws(StorageError) {
        #if DEBUG
        // The thread would go by the real clock, and a test that moves time by hand does not expect it.
        guard Clock.hand == nil else { return }
        #endif
        try housekeeping.withLock { (house) throws(StorageError) in
            houseDue.store(Clock.boot(), ordering: .relaxed)
            if let ticket = house.ticket {
                return Upkeep.shared.hasten(ticket, to: ArchiveEngine.shortestPause)
            }
            do throws(StorageError) {
                try registerDuty(&house, after: ArchiveEngine.shortestPause)
            } catch {
                houseDue.store(.max, ordering: .relaxed)
                throw error
            }
        }
    }

    /// Held until ``endHousekeeping()``: of an object that somebody refers to weakly every retain and release takes the
    /// runtime's slow way, in each put.
    private func registerDuty(_ house: inout House, after nanoseconds: Int64) throws(StorageError) {
        guard !gate.isClosed else { return }
        house.ticket = try Upkeep.shared.register(after: nanoseconds) { self.keepHouse() }
    }

    /// For good, once the ``gate`` is closed.
    func endHousekeeping() {
        housekeeping.withLock { house in
            if let known = house.ticket { Upkeep.shared.cancel(known) }
            house.ticket = nil
            houseDue.store(.max, ordering: .relaxed)
        }
    }

    /// Nanoseconds until it is due again.
    private func keepHouse() -> Int64? {
        lookForFiles()
        var pause = keepHouseOnce()
        // The thread is that of all archives of the process.
        log.unmapReleased(most: 1)
        if log.hasReleased.load(ordering: .relaxed) { pause = ArchiveEngine.shortestPause }
        return housekeeping.withLock { house in
            guard pause == nil else {
                houseDue.store(Clock.boot().addingSaturating((pause ?? 0) / 1000), ordering: .relaxed)
                return pause
            }
            // Whoever changes something looks at this word afterwards; so what has come since the look is seen here.
            houseDue.store(.max, ordering: .sequentiallyConsistent)
            guard index.nextDeadline == Deadline.never, index.setAsideCount == 0,
                !isRoomDue.load(ordering: .relaxed)
            else {
                houseDue.store(Clock.boot(), ordering: .relaxed)
                return ArchiveEngine.shortestPause
            }
            return ArchiveEngine.idlePause
        }
    }

    /// Every five seconds, whatever else there is to do.
    private func lookForFiles() {
        let isDue = housekeeping.withLock { house in
            let now = cp_monotonic_time()
            guard now &- house.lookedForFiles >= ArchiveEngine.longestPause / 2 else { return false }
            house.lookedForFiles = now
            return true
        }
        if isDue { closeIfRemoved() }
    }

    /// Until the next moment at which all archives of the process that have nothing to do are looked at.
    private static var idlePause: Int64 { longestPause - cp_monotonic_time() % longestPause }

    /// Begins to look now and then what others have left to do.
    func watchHouse() {
        #if DEBUG
        guard Clock.hand == nil else { return }
        #endif
        // A log's messages go with what is appended.
        guard kind != .log else { return }
        housekeeping.withLock { house in
            guard house.ticket == nil else { return }
            // What can't be begun now, for want of a thread, a change begins.
            try? registerDuty(&house, after: ArchiveEngine.idlePause)
        }
    }

    private func keepHouseOnce() -> Int64? {
        let isQuiet = lookAtWriting()
        guard index.nextDeadline != Deadline.never || index.setAsideCount > 0 || isRoomWasted else {
            endRoomDuty()
            return nil
        }
        // Removed, or damaged: nothing can be done with it any more.
        guard index.isReady else { return ArchiveEngine.longestPause }
        // Whoever holds the lock may have been stopped, and others need this thread.
        guard let section = tryAcquire() else { return putRightWhatTheDeadLeft() }
        section.drainTouches()
        let before = index.appendedBytes
        let head = index.head
        // What was expired before is a reason to reclaim, and comes first.
        let owesReclaiming = housekeeping.withLock { $0.owesReclaiming }
        let isReclaimed = owesReclaiming && section.reclaimSome { isReclaimingDue }
        let expired = isReclaimed ? 0 : try? section.expireSome()
        var isBusy = isReclaimed || expired ?? 0 > 0
        housekeeping.withLock { $0.owesReclaiming = isBusy }
        if !isBusy { isBusy = section.forgetSetAside(most: ArchiveEngine.actionBatch) }
        if !isBusy, isQuiet { isBusy = section.giveRoomBack() }
        let own = index.appendedBytes &- before
        let hasWritten = index.head != head
        housekeeping.withLock { $0.appended &+= own }
        let pause = isBusy ? ArchiveEngine.shortestPause : section.untilNext(failed: expired == nil)
        // Others get at the archive while the medium is waited for.
        _ = consume section
        if hasWritten { try? settle() }
        return pause
    }

    /// Where the lock isn't to be had, or its last holder died within a section and nobody has come by since. Gives when to
    /// come again.
    private func putRightWhatTheDeadLeft() -> Int64 {
        guard index.sectionOwner != 0 else { return 10_000_000 }
        do throws(StorageError) {
            _ = try acquire(nanoseconds: 0)
            return ArchiveEngine.shortestPause
        } catch {
            if case .busy = error { return 10_000_000 }
            return ArchiveEngine.longestPause
        }
    }

    /// No more room is dead than may be; what a call owes is paid at its end.
    fileprivate func endRoomDuty() {
        if !owesRoom.load(ordering: .relaxed) { isRoomDue.store(false, ordering: .relaxed) }
    }

    /// Whether others wrote little in the second before this one.
    private func lookAtWriting() -> Bool {
        let appended = index.appendedBytes
        return housekeeping.withLock { house in
            let now = cp_monotonic_time()
            guard now &- house.second >= ArchiveEngine.usualPause else { return house.isQuiet }
            house.isQuiet =
                house.second != 0 && appended &- min(appended, house.appended) < ArchiveEngine.quietBytes
            house.second = now
            house.appended = appended
            return house.isQuiet
        }
    }
}

extension ArchiveSection {
    /// Expires what is due, as much as one hold of the lock is for; how much was looked at.
    fileprivate func expireSome() throws(StorageError) -> Int {
        let next = index.nextDeadline
        guard next != Deadline.never, next <= Clock.boot() else { return 0 }
        let due = index.deadlines.due(
            at: Clock.boot(), most: ArchiveEngine.actionBatch, rows: ArchiveEngine.rowsAtOnce)
        guard !due.numbers.isEmpty else { return due.isDone ? 0 : 1 }
        return try expire(due.numbers).entries
    }

    /// Nanoseconds until something is due; `nil`: nothing is.
    fileprivate func untilNext(failed: Bool) -> Int64? {
        if failed { return ArchiveEngine.usualPause }
        var left = Int64.max
        if engine.isRoomWasted {
            left = ArchiveEngine.usualPause
        } else {
            engine.endRoomDuty()
        }
        let now = Clock.boot()
        func wait(until moment: Int64) {
            let nanoseconds = moment.subtractingSaturating(now).multipliedReportingOverflow(by: 1000)
            left = min(left, nanoseconds.overflow ? .max : nanoseconds.partialValue)
        }
        if index.nextDeadline != Deadline.never { wait(until: index.nextDeadline) }
        for line in index.undo.lines where line.marked > 0 {
            wait(until: line.end)
            if line.endBytes != .max { left = min(left, ArchiveEngine.usualPause) }
        }
        guard left != .max else { return nil }
        return max(ArchiveEngine.shortestPause, min(left, ArchiveEngine.longestPause))
    }
}
