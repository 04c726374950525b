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
        #if DEBUG
        engine.holds.begin()
        #endif
        index.sectionOwner = UInt64(UInt32(bitPattern: engine.pid))
    }

    @inline(__always)
    deinit {
        guard holdsLock else { return }
        index.settleSequence()
        index.sectionOwner = 0
        engine.lock.release()
        // One, so that no call takes long for what others removed; the background thread does the others.
        engine.log.unmapReleased(most: 1)
        engine.gate.leave()
    }

    /// What changes the index, for as long as the section lasts.
    @inline(__always) var index: ChangingIndex { ChangingIndex(self) }
    @inline(__always) var log: SegmentLog { engine.log }
    /// What changes the log, for as long as the section lasts.
    @inline(__always) var segments: ChangingLog { ChangingLog(self) }

    /// Applies the uses that are pending; the stamp is later than theirs.
    @discardableResult
    func drainTouches() -> UInt64 { index.touches.takeStampAndDrain() }

    /// Declares an index damaged that counts more than what it lists.
    func miscounted() -> StorageError {
        index.contradiction(at: IndexLayout.valueBytesOffset, "it counts more than it lists")
    }

    /// Marks the index as no longer in use, for all processes, and wakes those who wait for events.
    func closeForAll(_ doorbell: Doorbell?) {
        index.state = .building
        index.events.callWaiters(doorbell)
    }
}

extension ArchiveEngine {
    /// Takes the lock, and repairs what a dead holder left half done before anyone sees it (F5).
    /// - Throws: also `closed` once ``detach()`` has begun.
    @inline(__always)
    func acquire(
        nanoseconds: Int64 = ArchiveEngine.patienceNanoseconds
    ) throws(StorageError) -> ArchiveSection {
        guard attachment != nil else { throw .readOnly(operation: "change \"\(name)\"") }
        guard gate.enter() else { throw .closed(name: name) }
        return try lockedSection(nanoseconds: nanoseconds)
    }

    /// For who is within the ``gate``, and leaves it with the section, or when there is none.
    @inline(__always)
    func lockedSection(nanoseconds: Int64) throws(StorageError) -> ArchiveSection {
        let outcome = lock.acquire(nanoseconds: nanoseconds)
        guard case .acquired = outcome else {
            gate.leave()
            throw refusal(outcome, nanoseconds)
        }
        do throws(StorageError) {
            // What another process has added must be within reach before anything changes.
            try index.catchUp()
            if index.sectionOwner != 0 || !index.isReady { try recoverSection() }
        } catch {
            // The marker stays: the next holder repairs.
            lock.release()
            gate.leave()
            throw error
        }
        let section = ArchiveSection(locked: self)
        log.releaseSegments(before: index.oldestSegment)
        return section
    }

    /// Takes the lock if nobody holds it and nothing has to be repaired first: for what can wait.
    func tryAcquire() -> ArchiveSection? {
        guard processSlot != nil, gate.enter() else { return nil }
        guard lock.tryAcquire() else {
            gate.leave()
            return nil
        }
        guard index.sectionOwner == 0, index.isReady, (try? index.catchUp()) != nil else {
            lock.release()
            gate.leave()
            return nil
        }
        return ArchiveSection(locked: self)
    }

    /// Between two of many holds: a mutex isn't fair, and who lets it go and asks again at once has it before one that must
    /// be woken first.
    func letOthersIn() { cp_sleep(50_000) }

    /// Whether the lock was free within that time; takes it for no longer than to find that out.
    func waitForLock(nanoseconds: Int64) -> Bool {
        guard gate.enter() else { return false }
        defer { gate.leave() }
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
            process: Int32(truncatingIfNeeded: index.sectionOwner),
            reason:
                "it did not let go within \(nanoseconds / 1_000_000_000) s; resume or end it"
        )
    }

    /// For the holder of the lock, whose marker isn't set yet.
    @inline(never)
    private func recoverSection() throws(StorageError) {
        switch index.state {
        case .ready: try ArchiveSection(unshared: self).recover()
        case .building: throw .closed(name: name)
        case .syncFailed: throw .syncFailed(path: folder.path)
        case .damaged, nil:
            throw ArchiveSection(unshared: self).index.contradiction(at: IndexLayout.stateOffset)
        }
    }
}
