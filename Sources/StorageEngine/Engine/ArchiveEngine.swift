import CPlatform
import Synchronization
import SystemC

/// One archive that this process has open. Mutable state is in the index, under the lock or atomic.
final class ArchiveEngine: Sendable {
    let name: String
    let folder: FileDescriptor
    let hash: KeyHash
    /// Owns the memory of ``index``, which is only a view. Keep the engine alive while using the view.
    private let memory: IndexMemory
    /// For reading. A write lock guard has a separate view for changing (``ArchiveSection/index``).
    let index: IndexView
    let log: SegmentLog
    let lock: ArchiveLock
    /// Every thread of this process enters it before ``lock``.
    let gate = LockGate()
    /// This process's slot in the process table; `nil` for an observer, which writes nothing.
    let processSlot: ProcessSlot?
    /// Locked shared while the archive is open for writing, and exclusively where only this process has the index open.
    let attachment: FileDescriptor?
    let pid: Int32
    let kind: ArchiveKind
    /// For a copy of the log: the index file that could not be used.
    private let unusableIndex: FileDescriptor.FileNumber?
    /// Added to event numbers: an observer's numbers continue over a new index that counts from 0. Set before the engine is shared.
    let eventBase = Atomic<UInt64>(0)
    /// Creation time of this object, on the monotonic clock.
    private let made = cp_monotonic_time()
    /// Value of `drained` at which a look-up last waited for the lock without success.
    let stuckAt = Atomic<UInt64>(.max)
    let syncing: Syncing
    let maintenance = Guarded<MaintenanceState>(MaintenanceState())
    /// When the maintenance task runs next, on the boot clock; `.max`: never.
    let maintenanceDue = Atomic<Int64>(.max)
    let isCompactionDue = Atomic<Bool>(false)
    /// The thread whose call has to finish the pending compaction before it returns; 0: none. Other threads don't wait for it. If
    /// that call ends without it, maintenance continues it (``ArchiveSection/compactPart()``). Set under the lock.
    let compactionOwner = Atomic<UInt>(0)
    /// During a rebuild of the index: for each line of the undo table, the entries marked with it. Otherwise empty.
    let replayedMarks = Guarded<[[UInt32]]>([])
    /// During a rebuild of the index, the removals read from the log; otherwise `nil`.
    let replayedRemovals = Guarded<ReplayedRemovals?>(nil)

    #if DEBUG
    let holds = HoldCounter()
    #endif

    /// Longest wait for the archive's lock, in nanoseconds.
    static let patienceNanoseconds: Int64 = 10_000_000_000

    init(
        _ opening: ArchiveOpening, memory: IndexMemory, log: SegmentLog, lock: ArchiveLock, role: ArchiveRole
    ) {
        name = opening.descriptor.name
        kind = opening.descriptor.configuration.kind
        folder = opening.folder
        self.memory = memory
        index = IndexView(memory)
        hash = opening.descriptor.hash(salt: index.salt)
        self.log = log
        self.lock = lock
        attachment = role.attachment
        processSlot = role.slot
        unusableIndex = role.unusableIndex
        pid = getpid()
        syncing = Syncing(folder: folder)
    }

    /// The same handle with a slot in the process table. The other handle must not be used afterwards.
    init(_ other: ArchiveEngine, slot: ProcessSlot) {
        name = other.name
        kind = other.kind
        folder = other.folder
        hash = other.hash
        memory = other.memory
        index = other.index
        log = other.log
        lock = other.lock
        attachment = other.attachment
        processSlot = slot
        unusableIndex = other.unusableIndex
        pid = other.pid
        syncing = other.syncing
        // Keeps the pending compaction that the other handle's write lock guard requested.
        isCompactionDue.store(other.isCompactionDue.load(ordering: .relaxed), ordering: .relaxed)
        compactionOwner.store(other.compactionOwner.load(ordering: .relaxed), ordering: .relaxed)
    }

    /// Whether this handle has read the log into private memory, and shows its state at that time.
    var isCopy: Bool { attachment == nil && !index.hasFile }

    /// Calls `body` with the index and keeps the engine alive during the call; a view doesn't.
    func withIndex<Result>(_ body: (IndexView) -> Result) -> Result {
        withExtendedLifetime(self) { body(index) }
    }

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
        let isAlone = gate.isLeft(within: hasLeft ? ArchiveEngine.patienceNanoseconds : 1_000_000)
        endSyncing()
        // Otherwise the last thread inside the gate unlocks the file when it leaves.
        guard isAlone else { return }
        if hasLeft { markAsClean() }
        attachment.unlock()
    }

    /// Requires that the caller is inside the gate. Returns `false` if the lock was not available.
    private func leaveTable() -> Bool {
        do throws(StorageError) {
            let section = try lockedSection(nanoseconds: ArchiveEngine.patienceNanoseconds)
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

    /// Whether an observer must open the archive again: its index was replaced, truncated or overwritten, or its copy is old.
    var isSuperseded: Bool {
        guard attachment == nil else { return false }
        guard index.hasFile else {
            return cp_monotonic_time() &- made > ArchiveEngine.copyNanoseconds || hasNewIndex
        }
        return index.isReplaced || !index.isHeaderIntact
    }

    private var hasNewIndex: Bool {
        guard let present = try? folder.status(ofEntry: ArchiveOpening.indexName) else { return false }
        return present.number != unusableIndex
    }

    private static let copyNanoseconds: Int64 = 5_000_000_000

    var isGone: Bool { (try? folder.status().links) == 0 }

    static func validate(key: UnsafeRawBufferPointer) throws(StorageError) {
        guard key.count > 0 else { throw .invalidKey(reason: "it is empty; use 1 to 1,024 bytes") }
        guard key.count <= Frame.maximumKeyBytes else {
            throw .invalidKey(reason: "\(key.count) bytes; use at most 1,024")
        }
    }
}
