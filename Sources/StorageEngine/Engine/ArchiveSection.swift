import CPlatform

/// The write lock guard: the index and the log can be changed only through it (``index``, ``segments``). The end of its scope releases the
/// lock. Used by one thread; the engine must outlive it. ``ArchiveEngine/acquire(nanoseconds:)`` and
/// ``ArchiveEngine/tryAcquire()`` return one that holds the lock and has set the lock owner. If its process dies, the lock owner
/// stays set, and the next holder completes or reverts the change (F5).
struct ArchiveSection: ~Copyable {
    let engine: ArchiveEngine
    private let holdsLock: Bool

    /// Used for an archive without other users, and by a lock holder that recovers the index before it sets the lock owner.
    @inline(__always) init(unshared engine: ArchiveEngine) {
        self.engine = engine
        holdsLock = false
    }

    @inline(__always) fileprivate init(locked engine: ArchiveEngine) {
        self.engine = engine
        holdsLock = true
        #if DEBUG
        engine.holds.begin()
        #endif
        index.setLockOwner(UInt64(UInt32(bitPattern: engine.pid)))
    }

    @inline(__always) deinit {
        guard holdsLock else { return }
        index.settleSequence()
        index.setLockOwner(0)
        engine.lock.release()
        // Unmaps only one, so that a call doesn't unmap many segments that others removed.
        engine.log.unmapReleased(most: 1)
        engine.gate.leave()
    }

    @inline(__always) var index: ChangingIndex { ChangingIndex(locked: engine.index) }
    @inline(__always) var log: SegmentLog { engine.log }
    @inline(__always) var segments: ChangingLog { ChangingLog(locked: engine.log) }

    /// Applies pending touches. Returns a stamp that is later than theirs.
    @discardableResult func drainTouches() -> UInt64 { index.touches.takeStampAndDrain() }

    /// Releases the lock, and sleeps: a thread that requests it again at once would get it before a sleeping waiter.
    consuming func yieldLock() {
        let engine = engine
        _ = consume self
        engine.yieldLock()
    }

    /// Declares the index damaged because its totals exceed its entries.
    func miscounted() -> StorageError {
        index.contradiction(at: IndexLayout.valueBytesOffset, "its totals exceed its entries")
    }
}

extension ArchiveEngine {
    /// Entries handled under one hold of the lock.
    static let actionBatch = 256

    /// Takes the lock, and first completes or reverts what a crashed holder left. Throws `closed` if the archive is closed or closing.
    @inline(__always) func acquire(
        nanoseconds: Int64 = ArchiveLock.timeoutNanoseconds
    ) throws(StorageError) -> ArchiveSection {
        guard attachment != nil else { throw .readOnly(operation: "change \"\(name)\"") }
        guard gate.enter() else { throw .closed(name: name) }
        return try lockedSection(nanoseconds: nanoseconds)
    }

    /// Requires that the caller is within the ``gate``. The guard leaves the gate at its end; on an error, this leaves it.
    @inline(__always) func lockedSection(nanoseconds: Int64) throws(StorageError) -> ArchiveSection {
        let outcome = lock.acquire(nanoseconds: nanoseconds)
        guard case .acquired = outcome else {
            gate.leave()
            throw refusal(outcome, nanoseconds)
        }
        do throws(StorageError) {
            // Maps what other processes have added before the first change.
            try index.catchUp()
            if index.lockOwner != 0 || !index.isReady { try recoverSection() }
        } catch {
            lock.release()
            gate.leave()
            throw error
        }
        let section = ArchiveSection(locked: self)
        log.releaseSegments(before: index.oldestSegment)
        return section
    }

    /// Takes the lock if it is free and no recovery is needed: for work that can be delayed.
    func tryAcquire() -> ArchiveSection? {
        guard processSlot != nil, gate.enter() else { return nil }
        guard lock.tryAcquire() else {
            gate.leave()
            return nil
        }
        return sectionOfSoundIndex()
    }

    /// Requires that the caller holds the lock and is within the gate; leaves both if recovery is needed.
    private func sectionOfSoundIndex() -> ArchiveSection? {
        guard index.lockOwner == 0, index.isReady, (try? index.catchUp()) != nil else {
            lock.release()
            gate.leave()
            return nil
        }
        return ArchiveSection(locked: self)
    }

    /// Like ``acquire(nanoseconds:)``, and applies pending touches.
    func acquireDrained() throws(StorageError) -> ArchiveSection {
        let section = try acquire()
        section.drainTouches()
        return section
    }

    /// Sleeps between two holds of the lock (``ArchiveSection/yieldLock()``).
    func yieldLock() { cp_sleep(50_000) }

    /// Applies pending touches if the lock becomes free within this time and no recovery is needed.
    func drainTouches(within nanoseconds: Int64) -> Bool {
        guard gate.enter() else { return false }
        guard case .acquired = lock.acquire(nanoseconds: nanoseconds) else {
            gate.leave()
            return false
        }
        if let section = sectionOfSoundIndex() { section.index.touches.drainAll() }
        return true
    }

    private func refusal(_ outcome: ArchiveLock.Outcome, _ nanoseconds: Int64) -> StorageError {
        let seconds = nanoseconds / 1_000_000_000
        switch outcome {
        case .failed(let code): return .system(operation: "lock", path: folder.path, code: code)
        case .timedOut(isUsed: true):
            return .busy(
                archive: name, process: 0,
                reason: "other processes held its lock for \(seconds) s; try again")
        case .acquired, .timedOut:
            return .busy(
                archive: name, process: Int32(truncatingIfNeeded: index.lockOwner),
                reason: "it has held the lock for \(seconds) s; resume or end it")
        }
    }

    /// Requires that the caller holds the lock and hasn't set the lock owner yet.
    @inline(never) private func recoverSection() throws(StorageError) {
        switch index.state {
        case .ready: try tasks.recover(ArchiveSection(unshared: self))
        case .building, .replaced: throw .closed(name: name)
        case .syncFailed: throw .syncFailed(path: folder.path)
        case .damaged, nil:
            throw ArchiveSection(unshared: self).index.contradiction(at: IndexLayout.stateOffset)
        }
    }
}

extension ArchiveSection {
    /// Marks the index as removed for all processes, and wakes followers.
    func closeForAll(_ doorbell: Doorbell?) {
        index.setState(.building)
        index.events.callWaiters(doorbell)
    }
}
