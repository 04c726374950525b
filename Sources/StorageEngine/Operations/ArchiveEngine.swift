import CPlatform
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// One archive as this process has it open: its index, its log and its lock. Safe from any thread: what
/// changes is in the index, under the archive's lock or with atomic instructions.
///
/// The operations are in the other files of this folder; how a handle comes to be is in `Recovery`.
final class ArchiveEngine: Sendable {
    let name: String
    let folder: OpenFile
    let hash: KeyHash
    /// What ``index`` is a view of: held for as long as the engine, so whoever uses the view has to have that.
    private let memory: IndexMemory
    /// For looking; what changes it is a section's (``ArchiveSection/index``).
    let index: IndexView
    let log: SegmentLog
    let lock: ArchiveLock
    /// What everyone goes through who asks for ``lock``.
    let gate = LockGate()
    /// This process' line in the process table; `nil` for an observer, which leaves no trace.
    let processSlot: ProcessSlot?
    /// Held shared while the archive is open for writing, so that nobody rebuilds the index meanwhile.
    /// It is held exclusively where this process alone has the index.
    let attachment: OpenFile?
    let pid: Int32
    let kind: ArchiveKind
    /// Of a copy: the file that was there for an index.
    private let unusableIndex: OpenFile.FileNumber?
    /// When this handle was made, on the monotonic clock.
    private let made = cp_monotonic_time()
    /// The stamp up to which touches were applied when a look-up last waited for the lock in vain.
    let stuckAt = Atomic<UInt64>(.max)
    /// What this process does to keep the archive's durability.
    let syncing: Syncing
    /// The duty that removes what expired and gives room back, while there is one.
    let housekeeping = Guarded<House>(House())
    /// When it looks next, on the boot clock; `.max`: there is none.
    let houseDue = Atomic<Int64>(.max)
    /// Whether more room was dead than may stay, when that was last looked at.
    let isRoomDue = Atomic<Bool>(false)
    /// Whether a change has left reclaiming to be done before its call ends.
    let owesRoom = Atomic<Bool>(false)
    /// While the index is made from the log: for each line of the undo table the entries that were marked with it. So what
    /// an action has is known without looking at what all have. Empty at any other time.
    let replayedMarks = Guarded<[[UInt32]]>([])

    #if DEBUG
    let holds = HoldCounter()
    #endif

    /// How long a user of the archive waits for its lock before it gives up.
    static let patienceNanoseconds: Int64 = 10_000_000_000

    /// Only ``ArchiveOpening/engine(on:as:)`` makes one.
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

    /// The same handle, now with a line in the process table. The other is not to be used afterwards.
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
        // What the other's section found to be done.
        isRoomDue.store(other.isRoomDue.load(ordering: .relaxed), ordering: .relaxed)
        owesRoom.store(other.owesRoom.load(ordering: .relaxed), ordering: .relaxed)
    }

    /// Whether it has read the log into memory of its own, and shows what that was then.
    var isCopy: Bool { attachment == nil && !index.hasFile }

    /// Looks at the index while the engine is held: a view takes no hold on it.
    func look<Result>(_ body: (IndexView) -> Result) -> Result {
        withExtendedLifetime(self) { body(index) }
    }

    /// Gives the line in the process table back; its counts stay with the archive. Whoever asks for the lock from now on
    /// gets `closed`, whatever other threads are doing: what is acknowledged later would be written into what others may
    /// already take for theirs alone. Once.
    func detach() {
        // In a forked child this would end the parent's use.
        guard let attachment, pid == getpid() else { return }
        gate.closeAndEnter()
        endHousekeeping()
        let hasLeft = leaveTable()
        // Whoever keeps the closed handle must not keep the room of what others remove.
        log.unmapReleased()
        // Where it could not be had, whoever waited for it before has given up as well.
        let isAlone = gate.isLeft(within: hasLeft ? ArchiveEngine.patienceNanoseconds : 1_000_000)
        endSyncing()
        // Else the end of the last who is still at it unlocks it.
        guard isAlone else { return }
        if hasLeft { markAsClean() }
        attachment.unlock()
    }

    /// For who is within the gate. `false` when the lock could not be had.
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

    /// The last writer that leaves says so in the index. Whoever is just opening the archive will see to it that
    /// the next mark is set.
    private func markAsClean() {
        guard let attachment, index.isReady,
            let turn = try? OpeningTurn.take(in: folder, archive: name, nanoseconds: 0)
        else { return }
        defer { turn.pass() }
        guard (try? attachment.lock(.exclusive, wait: false)) == true else { return }
        // The mark would say of a damaged header that it is right. The next who opens the archive makes the index anew.
        guard index.isSaltIntact else { return }
        if (try? ArchiveSection(unshared: self).leaveSmallerIndex()) == true { return }
        // Without the mark the next who opens it adds up what is in it.
        try? ArchiveSection(unshared: self).index.cleanMark.set()
    }

    /// Whether what an observer has opened is out of date, so that the archive must be opened again: its index was
    /// replaced; or there was no index that could be observed, and the log as it was then is all that it has.
    var isSuperseded: Bool {
        guard attachment == nil else { return false }
        guard index.hasFile else {
            return cp_monotonic_time() &- made > ArchiveEngine.copyNanoseconds || hasNewIndex
        }
        return index.isReplaced
    }

    /// Whether there is an index by now where none was that could be used.
    private var hasNewIndex: Bool {
        guard let present = try? folder.status(ofEntry: ArchiveOpening.indexName) else { return false }
        return present.number != unusableIndex
    }

    /// How long an observer is content with a copy of the log in its own memory.
    private static let copyNanoseconds: Int64 = 5_000_000_000

    /// Whether the archive's folder was removed; then no file of it can be made any more.
    var isGone: Bool { (try? folder.status().links) == 0 }

    static func validate(key: UnsafeRawBufferPointer) throws(StorageError) {
        guard key.count > 0 else { throw .invalidKey(reason: "it is empty; use 1 to 1,024 bytes") }
        guard key.count <= Frame.maximumKeyBytes else {
            throw .invalidKey(reason: "\(key.count) bytes; use at most 1,024")
        }
    }
}
