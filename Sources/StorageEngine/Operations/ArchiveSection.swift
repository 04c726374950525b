import CPlatform

/// The right to change an archive. Every operation that changes its index or its log is this type's, so none can be
/// called without one; the value ends at the end of its scope, and others get at the archive again.
///
/// There are two kinds. ``ArchiveEngine/acquire(nanoseconds:)`` and ``ArchiveEngine/tryAcquire()`` give one that holds
/// the lock of all processes and threads, and that has the section's marker: whoever dies inside leaves it, and the next
/// holder repairs what was left half done (F5). ``init(unshared:)`` is for what its maker alone has anyway.
///
/// Used by one thread. The engine outlives it: whoever has a section has the engine that gave it.
struct ArchiveSection: ~Copyable {
    let engine: ArchiveEngine
    /// Whether the lock, and the marker in the index, go with it.
    private let holdsLock: Bool

    /// For an archive that nobody else changes: its index is being built, or nobody else has it open and nobody can
    /// open it; or for who holds the lock and repairs, before the marker is its own.
    @inline(__always)
    init(unshared engine: ArchiveEngine) {
        self.engine = engine
        holdsLock = false
    }

    @inline(__always)
    fileprivate init(locked engine: ArchiveEngine) {
        self.engine = engine
        holdsLock = true
        engine.index.set64(IndexLayout.sectionOwnerOffset, UInt64(UInt32(bitPattern: engine.pid)))
    }

    @inline(__always)
    deinit {
        guard holdsLock else { return }
        engine.index.set64(IndexLayout.sectionOwnerOffset, 0)
        engine.lock.release()
    }

    @inline(__always) var index: IndexMemory { engine.index }
    @inline(__always) var log: SegmentLog { engine.log }

    /// Applies the uses that are pending; the stamp is later than theirs.
    @discardableResult
    func drainTouches() -> UInt64 { index.takeStampAndDrain() }

    /// Marks the index as no longer in use, for all processes, and wakes those who wait for events.
    func closeForAll(_ doorbell: Doorbell?) {
        index.set32(IndexLayout.stateOffset, IndexLayout.State.building.rawValue)
        index.ring.callWaiters(doorbell)
    }

    // MARK: Totals

    @inline(__always)
    func adjust(_ offset: Int, by amount: Int) {
        let sum = Int64(bitPattern: index.word64(offset)) &+ Int64(amount)
        if sum < 0 { fallBelowNothing(offset) } else { index.set64(offset, UInt64(bitPattern: sum)) }
    }

    /// A total can't be negative: some entry's size is not what it was, and evicting for such a total would remove
    /// what is intact. The sum of the files' sizes may be off after a failed extension, and decides only how much is
    /// reclaimed.
    @inline(never)
    private func fallBelowNothing(_ offset: Int) {
        if offset != IndexLayout.segmentBytesOffset { index.declareDamaged() }
        index.set64(offset, 0)
    }

    /// Counts a frame that becomes live, or, with negative `bytes`, one that no longer is. A segment's word is 0 only
    /// when as many have gone as had come: a wrong size in a damaged entry can't make it so.
    @inline(__always)
    func adjustLive(_ location: Location, by bytes: Int) {
        let live = index.liveFrames(ofSegment: location.segment)
        let change = (bytes < 0 ? -1 : 1) << IndexLayout.liveCountShift + bytes
        index.setLiveFrames(ofSegment: location.segment, live &+ UInt64(bitPattern: Int64(change)))
        adjust(IndexLayout.liveFrameBytesOffset, by: bytes)
    }
}

extension ArchiveEngine {
    /// Takes the lock, and repairs what a dead holder left half done before anyone sees it (F5).
    @inline(__always)
    func acquire(
        nanoseconds: Int64 = ArchiveEngine.patienceNanoseconds
    ) throws(StorageError) -> ArchiveSection {
        guard attachment != nil else { throw .readOnly(operation: "change \"\(name)\"") }
        let outcome = lock.acquire(nanoseconds: nanoseconds)
        guard case .acquired = outcome else { throw refusal(outcome, nanoseconds) }
        do throws(StorageError) {
            // What another process has added must be within reach before anything changes.
            try index.catchUp()
            if index.word64(IndexLayout.sectionOwnerOffset) != 0
                || index.word32(IndexLayout.stateOffset) != IndexLayout.State.ready.rawValue
            {
                try recoverSection()
            }
        } catch {
            // The marker stays: the next holder repairs.
            lock.release()
            throw error
        }
        let section = ArchiveSection(locked: self)
        log.releaseSegments(before: index.word32(IndexLayout.oldestSegmentOffset))
        return section
    }

    /// Takes the lock if nobody holds it and nothing has to be repaired first: for what can wait.
    func tryAcquire() -> ArchiveSection? {
        guard processSlot != nil, lock.tryAcquire() else { return nil }
        guard index.word64(IndexLayout.sectionOwnerOffset) == 0,
            index.word32(IndexLayout.stateOffset) == IndexLayout.State.ready.rawValue,
            (try? index.catchUp()) != nil
        else {
            lock.release()
            return nil
        }
        return ArchiveSection(locked: self)
    }

    /// Whether the lock was free within that time; takes it for no longer than to find that out.
    func waitForLock(nanoseconds: Int64) -> Bool {
        guard case .acquired = lock.acquire(nanoseconds: nanoseconds) else { return false }
        lock.release()
        return true
    }

    private func refusal(_ outcome: ArchiveLock.Outcome, _ nanoseconds: Int64) -> StorageError {
        if case .failed(let code) = outcome {
            return .system(operation: "lock", path: folder.path, code: code)
        }
        return .busy(
            archive: name,
            process: Int32(truncatingIfNeeded: index.word64(IndexLayout.sectionOwnerOffset)),
            reason:
                "it did not let go within \(nanoseconds / 1_000_000_000) s; resume or end it"
        )
    }

    /// For the holder of the lock, whose marker isn't set yet.
    @inline(never)
    private func recoverSection() throws(StorageError) {
        let state = index.word32(IndexLayout.stateOffset)
        guard state == IndexLayout.State.ready.rawValue else {
            if state == IndexLayout.State.building.rawValue { throw .closed(name: name) }
            if state == IndexLayout.State.syncFailed.rawValue { throw .syncFailed(path: folder.path) }
            throw .corrupted(
                path: folder.path + "/" + ArchiveOpening.indexName, offset: 0,
                reason:
                    "the index contradicts itself; it is built anew when all processes have closed the archive"
            )
        }
        try ArchiveSection(unshared: self).repair()
    }
}
