import SystemC

extension ArchiveEngine {
    /// Releases the process slot, adds its counters, and makes the lock throw `closed`: others may use the files. Call it once.
    func detach() {
        // In a forked child this would end the parent's registration.
        guard let attachment, pid == getpid() else { return }
        gate.closeAndEnter()
        stopMaintenance()
        let hasLeft = leaveTable()
        // A closed handle must not keep disk space that others release.
        log.unmapReleased()
        // If the lock wasn't available, earlier waiters have timed out too.
        let isAlone = gate.isLeft(within: hasLeft ? ArchiveLock.patienceNanoseconds : 1_000_000)
        endSyncing()
        // Otherwise the last thread inside the gate unlocks the file when it leaves.
        guard isAlone else { return }
        if hasLeft { markAsClean() }
        attachment.unlock()
    }

    /// Requires that the caller is inside the gate. Returns `false` if the lock was not available.
    private func leaveTable() -> Bool {
        do throws(StorageError) {
            let section = try lockedSection(nanoseconds: ArchiveLock.patienceNanoseconds)
            if let processSlot, processSlot.pid == UInt32(bitPattern: pid) {
                section.index.touches.drainAll()
                section.leave(processSlot)
                attachment?.unlockByte(processSlot.line)
                log.releaseSegments(before: .max)
            }
            return true
        } catch {
            if case .busy = error { return false }
            return true
        }
    }

    /// The last writer sets the index's clean mark, unless another process is opening the archive.
    private func markAsClean() {
        guard let attachment, index.isReady,
            let openLock = try? OpenLock.take(in: folder, archive: name, nanoseconds: 0)
        else { return }
        defer { openLock.release() }
        guard (try? attachment.lock(.exclusive, wait: false)) == true else { return }
        // A clean mark would certify a damaged header. Without the mark, the next opening rebuilds the index.
        guard index.isSaltIntact else { return }
        let section = ArchiveSection(unshared: self)
        try? section.noteParts()
        if (try? section.leaveSmallerIndex()) == true { return }
        // If the mark can't be set, the next opening verifies the totals.
        try? section.index.cleanMark.set()
    }
}
