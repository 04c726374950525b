import CPlatform
import SystemC

struct ArchiveClosing: ArchiveOperation {
    let engine: ArchiveEngine

    /// Releases the process slot, adds its counters, and makes the lock throw `closed`: others may use the files. Call it once.
    func close() {
        // A forked child must not end the parent's registration.
        guard let attachment = engine.attachment, engine.pid == getpid() else { return }
        engine.gate.closeAndEnter()
        engine.stopMaintenance()
        let hasLeft = leaveTable()
        // A closed handle must not keep disk space that others release.
        log.unmapReleased()
        // If the lock wasn't available, earlier waiters have timed out too.
        let isAlone = engine.gate.isLeft(within: hasLeft ? ArchiveLock.timeoutNanoseconds : 1_000_000)
        engine.syncing.end()
        if index.durability == .interval { try? engine.synchronize(upTo: index.head) }
        // While other threads are inside the gate, the last one to leave unlocks the file.
        guard isAlone else { return }
        if hasLeft { markAsClean() }
        attachment.unlock()
    }

    /// Requires that the caller is inside the gate. Returns `false` if the lock was not available.
    private func leaveTable() -> Bool {
        do throws(StorageError) {
            let section = try engine.lockedSection(nanoseconds: ArchiveLock.timeoutNanoseconds)
            if let processSlot = engine.processSlot, processSlot.pid == UInt32(bitPattern: engine.pid) {
                section.index.touches.drainAll()
                section.leave(processSlot)
                engine.attachment?.unlockByte(processSlot.line)
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
        guard let attachment = engine.attachment, index.isReady,
            let openLock = try? OpenLock.take(in: engine.folder, archive: engine.name, nanoseconds: 0)
        else { return }
        defer { openLock.release() }
        guard (try? attachment.lock(.exclusive, wait: false)) == true else { return }
        // A clean mark would certify a damaged header. Without the mark, the next opening rebuilds the index.
        guard index.isSaltIntact else { return }
        let section = ArchiveSection(unshared: engine)
        if (try? leaveSmallerIndex(section)) == true { return }
        // If the mark can't be set, the next opening verifies the totals.
        try? section.index.cleanMark.set()
    }

    private static let leastSurplus = 256 << 10

    /// Replaces the index by a shorter copy with a clean mark, which observers open; `false` if that saves little. Requires that
    /// no other process has the archive open for writing or is opening it.
    func leaveSmallerIndex(_ section: borrowing ArchiveSection) throws(StorageError) -> Bool {
        let index = section.index
        let needed = index.indexBytes
        guard let status = try index.storage.fileStatus(), needed >= IndexLayout.fileBytes(chunks: 1),
            needed <= status.bytes, status.allocatedBytes > needed + ArchiveClosing.leastSurplus
        else { return false }
        let folder = engine.folder
        _ = try folder.replaceIndex(bytes: needed) { (file) throws(StorageError) in
            let memory = try IndexMemory(file, in: folder, writable: true)
            try memory.takeContent(of: index.storage, bytes: needed)
            defer { withExtendedLifetime(memory) {} }
            let copy = ChangingIndex(unshared: memory)
            try copy.identify(file)
            if copy.locking == .robustMutex { try copy.makeMutex() }
            try copy.cleanMark.set()
        }
        return true
    }
}
