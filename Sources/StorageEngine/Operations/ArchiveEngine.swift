import CPlatform
import Synchronization
import SystemC

/// One archive as this process has it open. Mutable state is in the index, under the lock or atomic.
final class ArchiveEngine: Sendable {
    let name: String
    let folder: FileDescriptor
    let hash: KeyHash
    /// Owns the memory of ``index``, which is only a view. Keep the engine alive while using the view.
    private let memory: IndexMemory
    /// For reading. A section has its own view for changing (``ArchiveSection/index``).
    let index: IndexView
    let log: SegmentLog
    let lock: ArchiveLock
    /// All threads of this process pass it on the way to ``lock``.
    let gate = LockGate()
    /// This process' slot in the process table; `nil` for an observer, which leaves no trace.
    let processSlot: ProcessSlot?
    /// Locked shared while the archive is open for writing; exclusively where this process alone has the index.
    let attachment: FileDescriptor?
    let pid: Int32
    let kind: ArchiveKind
    /// For a copy of the log: the index file that could not be used.
    private let unusableIndex: FileDescriptor.FileNumber?
    /// Added to event numbers, so an observer's go on over a new index that counts from 0. Set before others know the engine.
    let eventBase = Atomic<UInt64>(0)
    /// On the monotonic clock.
    private let made = cp_monotonic_time()
    /// How many touches had been applied when a look-up last waited for the lock in vain.
    let stuckAt = Atomic<UInt64>(.max)
    let syncing: Syncing
    let maintenance = Guarded<MaintenanceState>(MaintenanceState())
    /// When the background task runs next, on the boot clock; `.max`: never.
    let maintenanceDue = Atomic<Int64>(.max)
    let isCompactionDue = Atomic<Bool>(false)
    /// The thread whose call has to reclaim space before it ends; 0: none. Other threads' calls continue. If the call
    /// ends without it, the background does it (``ArchiveSection/compactPart()``). Set under the lock.
    let compactionOwner = Atomic<UInt>(0)
    /// While the index is rebuilt: for each line of the undo table, the entries marked with it. Empty at other times.
    let replayedMarks = Guarded<[[UInt32]]>([])
    /// While the index is rebuilt, what the log said was removed; `nil` at other times.
    let replayedRemovals = Guarded<ReplayedRemovals?>(nil)

    #if DEBUG
    let holds = HoldCounter()
    #endif

    /// How long a caller waits for the archive's lock, in nanoseconds.
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

    /// The same handle with a slot in the process table. Don't use the other one afterwards.
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
        // Space that the other handle's section found to be due for reclaiming.
        isCompactionDue.store(other.isCompactionDue.load(ordering: .relaxed), ordering: .relaxed)
        compactionOwner.store(other.compactionOwner.load(ordering: .relaxed), ordering: .relaxed)
    }

    /// Whether this handle has read the log into its own memory, and shows its state at that time.
    var isCopy: Bool { attachment == nil && !index.hasFile }

    /// Calls `body` with the index and keeps the engine alive during the call; a view doesn't.
    func withIndex<Result>(_ body: (IndexView) -> Result) -> Result {
        withExtendedLifetime(self) { body(index) }
    }

    /// Gives back the process slot, adds its counters, and makes the lock throw `closed`: others may own the files. Call it once.
    func detach() {
        // In a forked child this would end the parent's use.
        guard let attachment, pid == getpid() else { return }
        gate.closeAndEnter()
        stopMaintenance()
        let hasLeft = leaveTable()
        // A closed handle that is kept must not keep disk space that others free.
        log.unmapReleased()
        // If the lock wasn't available, earlier waiters have timed out too.
        let isAlone = gate.isLeft(within: hasLeft ? ArchiveEngine.patienceNanoseconds : 1_000_000)
        endSyncing()
        // Otherwise the last remaining thread unlocks it when it ends.
        guard isAlone else { return }
        if hasLeft { markAsClean() }
        attachment.unlock()
    }

    /// Call it within the gate. Returns `false` if the lock was not available.
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

    /// The last writer marks the index as clean, unless another process is just opening the archive.
    private func markAsClean() {
        guard let attachment, index.isReady,
            let openLock = try? OpenLock.take(in: folder, archive: name, nanoseconds: 0)
        else { return }
        defer { openLock.release() }
        guard (try? attachment.lock(.exclusive, wait: false)) == true else { return }
        // A clean mark would certify a damaged header. Without it the next opening rebuilds the index.
        guard index.isSaltIntact else { return }
        let section = ArchiveSection(unshared: self)
        try? section.noteParts()
        if (try? section.leaveSmallerIndex()) == true { return }
        // If the mark can't be set, the next opening verifies the totals.
        try? section.index.cleanMark.set()
    }

    /// Whether an observer must open the archive again: its index was replaced, cut or overwritten, or its copy is old.
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
