import Synchronization
import SystemC

/// Reclaims and compacts in slices, each under one hold of the lock. A call that defers compaction finishes it before it returns.
struct LogCleaner: ArchiveOperation {
    let engine: ArchiveEngine

    /// Whether the segments use about as much space as allowed, also after the bound shrank (S3). True half a segment early: a
    /// segment and its copies use space at the same time, and a put must not reclaim too much at once.
    var isReclaimingDue: Bool {
        engine.kind != .log
            && index.segmentBytes > SpaceBudget(engine).allowedSegmentBytes - engine.segmentTarget / 2
    }

    /// Whether the segments exceed their bound by more than a change may leave to the next one. Never true for a log.
    func exceedsBound(_ used: Int) -> Bool {
        engine.kind != .log && used > SpaceBudget(engine).allowedSegmentBytes + engine.segmentTarget
    }

    /// Reclaims after many entries were removed, in slices, each under one hold of the lock, at most once over the log.
    func reclaimInSlices() throws(StorageError) { try reclaimInSlices { isReclaimingDue } }

    /// Makes the current call finish, before it returns, the compaction that exceeds one hold of the lock.
    func deferCompaction() {
        engine.compactionOwner.store(LogCleaner.thread, ordering: .relaxed)
        engine.isCompactionDue.store(true, ordering: .relaxed)
    }

    var hasPendingCompaction: Bool { engine.compactionOwner.load(ordering: .relaxed) == LogCleaner.thread }

    var isCompactionClaimed: Bool {
        let owner = engine.compactionOwner.load(ordering: .relaxed)
        return owner != 0 && owner != LogCleaner.thread && owner != LogCleaner.noThread
    }

    /// Leaves the current call's pending compaction to the next change or to maintenance.
    func leaveCompaction() {
        let (isLeft, _) = engine.compactionOwner.compareExchange(
            expected: LogCleaner.thread, desired: LogCleaner.noThread, ordering: .relaxed)
        // If no thread can be started, the next change continues it.
        if isLeft { try? engine.startMaintenance() }
    }

    /// Value of `compactionOwner` for compaction that no thread has claimed; the next change or maintenance does it.
    private static let noThread = UInt.max

    private static var thread: UInt {
        #if canImport(Darwin)
        UInt(bitPattern: pthread_self())
        #else
        UInt(pthread_self())
        #endif
    }

    /// Does the pending compaction in slices, each under one hold of the lock, so that S3 holds when the call returns.
    @inline(never) func finishPendingCompaction() {
        defer {
            // No effect if another thread has taken the compaction over.
            _ = engine.compactionOwner.compareExchange(
                expected: LogCleaner.thread, desired: 0, ordering: .relaxed)
        }
        dropDeadSegments()
        if exceedsBound(index.segmentBytes) {
            // The sum of the segments' sizes may be wrong.
            guard let section = try? engine.acquire(), (try? section.recountSegments()) != nil else { return }
            _ = consume section
            try? reclaimInSlices { exceedsBound(index.segmentBytes) }
        }
        while true {
            engine.yieldLock()
            guard let section = try? engine.acquire() else { return }
            section.drainTouches()
            guard section.compactSome() else { return }
        }
    }

    private func dropDeadSegments() {
        // Waits for the medium without the lock.
        if SpaceBudget(engine).isOldestDead, index.durability != .process {
            try? engine.synchronize(upTo: index.head)
        }
        while SpaceBudget(engine).isOldestDead {
            engine.yieldLock()
            guard let section = try? engine.acquire(), section.dropDeadSegment() else { return }
        }
    }

    private func reclaimInSlices(while isDue: () -> Bool) throws(StorageError) {
        let last = index.head.segment
        while isDue(), index.oldestSegment < last {
            engine.yieldLock()
            let section = try engine.acquireDrained()
            guard section.reclaimSome(while: isDue) else { return }
        }
    }
}
