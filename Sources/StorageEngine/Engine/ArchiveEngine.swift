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
    /// The view for reading. A write lock guard has a separate view for changing (``ArchiveSection/index``).
    let index: IndexView
    let log: SegmentLog
    let lock: ArchiveLock
    /// Every thread of this process enters it before ``lock``.
    let gate = LockGate()
    /// Line of ``processSlot`` in the process table; -1: none. Set before the engine is shared.
    let slotLine = Atomic<Int>(-1)
    /// Address of ``IndexMemory/requests``, so that recording retains no object; 0: none. Set before the engine is shared.
    let requests = Atomic<UInt>(0)
    /// Locked shared while the archive is open for writing, and exclusively where only this process has the index open.
    let attachment: FileDescriptor?
    let pid: Int32
    let kind: ArchiveKind
    /// For a copy of the log: the index file that could not be used.
    private let unusableIndex: FileDescriptor.FileNumber?
    /// Added to event numbers: a new index counts from 0, but an observer's numbers continue. Set before the engine is shared.
    let eventBase = Atomic<UInt64>(0)
    /// Creation time of this object, on the monotonic clock.
    private let made = cp_monotonic_time()
    /// Value of `drained` at which a look-up last waited for the lock without success.
    let stuckAt = Atomic<UInt64>(.max)
    let tasks: EngineTasks
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

    init(
        _ descriptor: Descriptor, in folder: FileDescriptor, memory: IndexMemory, log: SegmentLog,
        lock: ArchiveLock, role: ArchiveRole, tasks: EngineTasks
    ) {
        name = descriptor.name
        kind = descriptor.configuration.kind
        self.folder = folder
        self.memory = memory
        index = IndexView(memory)
        hash = descriptor.hash(salt: index.salt)
        self.log = log
        self.lock = lock
        attachment = role.attachment
        unusableIndex = role.unusableIndex
        self.tasks = tasks
        pid = getpid()
        syncing = Syncing(folder: folder)
    }

    /// This process's slot in the process table; `nil` for an observer, which writes nothing.
    @inline(__always) var processSlot: ProcessSlot? {
        let line = slotLine.load(ordering: .relaxed)
        return line < 0 ? nil : index.processes[line]
    }

    /// Whether this handle has the log's content, as of one time, in private memory.
    var isCopy: Bool { attachment == nil && !index.storage.hasFile }

    /// Calls `body` with the index and keeps the engine alive during the call; a view doesn't.
    func withIndex<Result>(_ body: (IndexView) -> Result) -> Result {
        withExtendedLifetime(self) { body(index) }
    }

    /// Whether an observer must open the archive again: its index was replaced, truncated or overwritten, or its copy is old.
    var isStale: Bool {
        guard attachment == nil else { return false }
        guard !index.storage.hasFile else { return index.storage.isReplaced || !index.isHeaderIntact }
        let present = (try? folder.status(ofEntry: ArchiveFile.index)) ?? nil
        return cp_monotonic_time() &- made > ArchiveEngine.copyNanoseconds
            || present.map { $0.number != unusableIndex } ?? false
    }

    private static let copyNanoseconds: Int64 = 5_000_000_000

    static func validate(key: UnsafeRawBufferPointer) throws(StorageError) {
        guard key.count > 0 else { throw .invalidKey(reason: "it is empty; use 1 to 1,024 bytes") }
        guard key.count <= Frame.maximumKeyBytes else {
            throw .invalidKey(reason: "\(key.count) bytes; use at most 1,024")
        }
    }

    @inline(__always) func validHash(of key: UnsafeRawBufferPointer) throws(StorageError) -> UInt64 {
        try ArchiveEngine.validate(key: key)
        return hash(key)
    }

    func validHash(of key: String) throws(StorageError) -> UInt64 {
        try withBytes(of: key) { (key) throws(StorageError) in try validHash(of: key) }
    }

    @inline(__always) func validTag(of key: UnsafeRawBufferPointer) throws(StorageError) -> UInt32 {
        try ArchiveEngine.validate(key: key)
        return hash.tag(key)
    }

    @inline(__always) func countHandled(entries: Int = 0, files: Int = 0, chunks: Int = 0) {
        #if DEBUG
        holds.add(entries, files, chunks)
        #endif
    }

    func requireLog(to operation: String) throws(StorageError) {
        guard kind == .log else { throw .wrongKind(archive: name, kind: kind, operation: operation) }
    }

    func requireEntries(to operation: String) throws(StorageError) {
        guard kind != .log else { throw .wrongKind(archive: name, kind: kind, operation: operation) }
    }

    /// Publishes an event that this process caused.
    @inline(__always) func publish(
        _ kind: EventKind, _ cause: EventCause, tag: UInt32 = 0, bytes: Int = 0,
        at location: Location = .none, time: Int64 = Clock.wall(), key: UnsafeRawBufferPointer = .empty
    ) {
        index.events.publish(
            index.events.claim(1), kind, cause, tag: tag, bytes: bytes, location: location, pid: pid,
            time: time, key: key)
    }

    /// Records a request of a sampled key (OnDiskFormat, "The request trace"). `number`: the entry that it found.
    @inline(__always) func trace(_ kind: SampledRequest.Kind, tag: UInt32, entry number: UInt32 = 0) {
        if UInt64(tag) < index.sampleThreshold { traceEntry(kind, tag, number) }
    }

    @inline(never) private func traceEntry(_ kind: SampledRequest.Kind, _ tag: UInt32, _ number: UInt32) {
        guard let slot = index.entry(number), slot.tag == tag else { return traceSampled(kind, tag: tag) }
        traceSampled(
            kind, tag: tag, owner: slot.owner, bytes: Int(slot.shownBytes), deadline: slot.deadline)
    }

    /// Requires that the key is sampled.
    @inline(never) func traceSampled(
        _ kind: SampledRequest.Kind, tag: UInt32, owner: UInt32 = 0, bytes: Int = 0,
        deadline: Int64 = Deadline.never
    ) {
        guard let trace = UnsafeRawPointer(bitPattern: requests.load(ordering: .relaxed)) else { return }
        let request = SampledRequest(
            kind, tag: tag, owner: owner, bytes: bytes, deadline: deadline, threshold: index.sampleThreshold)
        Unmanaged<RequestTrace>.fromOpaque(trace)._withUnsafeGuaranteedRef { $0.record(request) }
    }

    /// Largest sum of value bytes, for all processes; `nil`: no limit. A collection has none, even if a damaged index has one.
    @inline(__always) var diskLimit: UInt64? { kind == .collection ? nil : index.diskLimit }

    var segmentTarget: Int {
        SegmentLayout.targetBytes(of: kind, forLimit: diskLimit, orValues: index.valueBytes)
    }

    var liveness: Liveness {
        Liveness(folder: folder, attachment: attachment, ownLine: processSlot?.line)
    }

    /// One bit for each slot whose process is alive.
    var livingLines: UInt64 {
        let liveness = liveness
        return index.processes.attached.reduce(0) { liveness.isAlive($1) ? $0 | 1 << UInt64($1.line) : $0 }
    }
}

/// Operations of higher folders that the engine starts.
struct EngineTasks: Sendable {
    /// Completes or reverts what a crashed holder of the lock left.
    let recover: @Sendable (borrowing ArchiveSection) throws(StorageError) -> Void
    /// Runs background maintenance once. Returns the nanoseconds until the next run; `nil` ends the task.
    let maintain: @Sendable (ArchiveEngine) -> Int64?
}

struct ArchiveRole {
    /// Locked by a writer as long as it is open; `nil` for a reader.
    var attachment: FileDescriptor?
    /// For a copy: the index file that could not be used.
    var unusableIndex: FileDescriptor.FileNumber?

    /// Changes the archive; has no slot in the process table at first.
    static func writer(attachment: FileDescriptor) -> ArchiveRole { ArchiveRole(attachment: attachment) }
    /// Reads the index that the writers share, and writes nothing.
    static let observer = ArchiveRole()
    /// Has the log's content, as of one time, in private memory, because the index (`beside`) is unusable.
    static func copy(beside index: FileDescriptor.FileNumber?) -> ArchiveRole {
        ArchiveRole(unusableIndex: index)
    }
}

/// Detects that the archive's files were removed by other means, and closes it for all processes.
extension ArchiveEngine {
    var isFolderRemoved: Bool { (try? folder.status().links) == 0 }

    func closeIfRemoved() {
        if !index.isRemoved, hasLostItsFiles { _ = closeForAll() }
    }

    func closedIfRemoved(_ error: StorageError) -> StorageError {
        hasLostItsFiles ? .closed(name: name) : error
    }

    func closingIfRemoved<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result {
        do throws(StorageError) {
            return try body()
        } catch {
            throw closedIfRemoved(error)
        }
    }

    /// Called when a file is missing, before damage is reported: throws `closed` if the archive's files were removed.
    func throwIfRemoved() throws(StorageError) {
        if hasLostItsFiles { throw .closed(name: name) }
    }

    func closeForAll() -> Bool { (try? acquire().closeForAll(nil)) != nil }

    /// `true` only if certain: no opening finds segments that were created during a removal, without descriptor and index.
    var hasLostItsFiles: Bool {
        guard (try? folder.hasEntry(named: Descriptor.fileName)) == false else { return false }
        guard !isFolderRemoved else { return true }
        guard let names = try? folder.names() else { return false }
        return !names.contains(ArchiveFile.index)
            || !names.contains { SegmentHeader.number(ofFileName: $0) != nil }
    }
}
