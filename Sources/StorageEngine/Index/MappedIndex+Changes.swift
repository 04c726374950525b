import CPlatform

extension ChangingIndex {
    // MARK: Identity. Written while only the creator has the index; read-only afterwards.

    func beginBuilding(archive identity: [UInt8], salt: UInt64) {
        memory.set64(IndexLayout.magicOffset, IndexLayout.magic)
        memory.set32(IndexLayout.versionOffset, IndexLayout.version)
        state = .building
        setBytes(identity, at: IndexLayout.identityOffset)
        setBytes(BootIdentity.current, at: IndexLayout.bootOffset)
        memory.set64(IndexLayout.saltOffset, salt)
        memory.set64(IndexLayout.saltCheckOffset, ~salt)
    }

    private func setBytes(_ bytes: [UInt8], at offset: Int) {
        bytes.withUnsafeBytes {
            UnsafeMutableRawBufferPointer(start: memory.field(offset), count: bytes.count).copyMemory(
                from: $0)
        }
    }

    /// Records the file's identity, so that a copy is recognised as another file (F3).
    func identify(_ file: FileDescriptor) throws(StorageError) {
        let status = try file.status()
        memory.set64(IndexLayout.deviceOffset, status.number.device)
        memory.set64(IndexLayout.inodeOffset, status.number.inode)
        memory.set64(IndexLayout.birthOffset, cp_birth_time(file.descriptor))
    }

    var loss: LogLoss? {
        get {
            LogLoss(
                from: memory.location(IndexLayout.lossFromOffset),
                to: memory.location(IndexLayout.lossToOffset))
        }
        nonmutating set {
            memory.set64(IndexLayout.lossFromOffset, newValue?.from.raw ?? 0)
            memory.set64(IndexLayout.lossToOffset, newValue?.to.raw ?? 0)
        }
    }

    var damagedPlaces: Int {
        get { memory.size(IndexLayout.damagedPlacesOffset) }
        nonmutating set { memory.set64(IndexLayout.damagedPlacesOffset, UInt64(newValue)) }
    }

    // MARK: The lock

    var locking: LockingMode? {
        get { LockingMode(rawValue: memory.word32(IndexLayout.lockingOffset)) }
        nonmutating set { memory.set32(IndexLayout.lockingOffset, newValue?.rawValue ?? 0) }
    }
    var lockNamespace: UInt32 {
        get { memory.word32(IndexLayout.lockNamespaceOffset) }
        nonmutating set { memory.set32(IndexLayout.lockNamespaceOffset, newValue) }
    }
    func makeMutex() throws(StorageError) {
        let failure = cp_mutex_init(mutex)
        guard failure == 0 else {
            throw .system(operation: "create the lock of", path: path, code: failure)
        }
    }
    @inline(__always) var lockOwner: UInt64 {
        get { memory.word64(IndexLayout.lockOwnerOffset) }
        nonmutating set { memory.set64(IndexLayout.lockOwnerOffset, newValue) }
    }
    /// Called at the end of a write lock guard. The word shares the cache line of the lock owner, which is written anyway.
    @inline(__always) func settleSequence() { memory.set64(IndexLayout.settledSequenceOffset, sequence) }
    var state: IndexLayout.State? {
        get { IndexLayout.State(rawValue: memory.word32(IndexLayout.stateOffset)) }
        nonmutating set { memory.set32(IndexLayout.stateOffset, newValue?.rawValue ?? 0) }
    }
    /// Marks the index as damaged: no process changes the archive through it, and the next opening rebuilds it.
    func declareDamaged() { state = .damaged }
    func contradiction(at offset: Int, _ reason: String = "the index is inconsistent") -> StorageError {
        declareDamaged()
        return .corrupted(
            path: path, offset: offset,
            reason: reason + "; it is rebuilt when all processes have closed the archive")
    }

    /// Makes running look-ups repeat their search if they find nothing.
    @inline(__always) func beginStructureChange() {
        let version = cp_relaxed64(memory.field(IndexLayout.structureOffset))
        cp_relaxed_store64(memory.field(IndexLayout.structureOffset), version | 1)
        cp_store_fence()
    }

    @inline(__always) func endStructureChange() {
        let version = cp_relaxed64(memory.field(IndexLayout.structureOffset))
        memory.set64(IndexLayout.structureOffset, (version | 1) &+ 1)
    }

    func beginRestore() { memory.set64(IndexLayout.returnsOffset, returns | 1) }
    func endRestore() {
        memory.set64(IndexLayout.returnsOffset, (returns | 1) &+ 1)
        // Restored entries may be older than all visible ones.
        leastVisible = 0
    }

    var renumberings: UInt64 {
        get { memory.word64(IndexLayout.renumberingsOffset) }
        nonmutating set { memory.set64(IndexLayout.renumberingsOffset, newValue) }
    }

    // MARK: Entries and buckets

    @inline(__always) var entryCapacity: UInt32 {
        get { memory.word32(IndexLayout.entryCapacityOffset) }
        nonmutating set { memory.set32(IndexLayout.entryCapacityOffset, newValue) }
    }
    /// The highest number that an entry has or had. Not checked against the mapping, unlike ``usedEntries``.
    @inline(__always) var entryHighWater: UInt32 {
        get { memory.word32(IndexLayout.entryHighWaterOffset) }
        nonmutating set { memory.set32(IndexLayout.entryHighWaterOffset, newValue) }
    }
    @inline(__always) var freeHead: UInt32 {
        get { memory.word32(IndexLayout.freeHeadOffset) }
        nonmutating set { memory.set32(IndexLayout.freeHeadOffset, newValue) }
    }
    @inline(__always) var bucketCount: UInt32 {
        get { memory.word32(IndexLayout.bucketCountOffset) }
        nonmutating set { memory.set32(IndexLayout.bucketCountOffset, newValue) }
    }
    var indexBytes: Int {
        get { memory.size(IndexLayout.indexBytesOffset) }
        nonmutating set { memory.set64(IndexLayout.indexBytesOffset, UInt64(newValue)) }
    }
    @inline(__always) var recencyFirst: UInt32 {
        get { memory.word32(IndexLayout.recencyFirstOffset) }
        nonmutating set { memory.set32(IndexLayout.recencyFirstOffset, newValue) }
    }
    @inline(__always) var recencyLast: UInt32 {
        get { memory.word32(IndexLayout.recencyLastOffset) }
        nonmutating set { memory.set32(IndexLayout.recencyLastOffset, newValue) }
    }
    /// No entry behind this one is visible; 0: not known.
    @inline(__always) var leastVisible: UInt32 {
        get { memory.word32(IndexLayout.leastVisibleOffset) }
        nonmutating set { memory.set32(IndexLayout.leastVisibleOffset, newValue) }
    }

    func clearLists() {
        freeHead = 0
        recencyFirst = 0
        recencyLast = 0
        leastVisible = 0
    }

    // MARK: Totals

    @inline(__always) var entryCount: Int {
        get { memory.size(IndexLayout.entryCountOffset) }
        nonmutating set { memory.set64(IndexLayout.entryCountOffset, UInt64(newValue)) }
    }
    @inline(__always) var valueBytes: UInt64 {
        get { UInt64(memory.size(IndexLayout.valueBytesOffset)) }
        nonmutating set { memory.set64(IndexLayout.valueBytesOffset, newValue) }
    }
    @inline(__always) var liveFrameBytes: Int {
        get { memory.size(IndexLayout.liveFrameBytesOffset) }
        nonmutating set { memory.set64(IndexLayout.liveFrameBytesOffset, UInt64(newValue)) }
    }
    @inline(__always) var segmentBytes: Int {
        get { memory.size(IndexLayout.segmentBytesOffset) }
        nonmutating set { memory.set64(IndexLayout.segmentBytesOffset, UInt64(newValue)) }
    }

    @inline(__always) func adjust(_ total: IndexLayout.Total, by amount: Int) {
        let sum = Int64(bitPattern: memory.word64(total.offset)) &+ Int64(amount)
        if sum < 0 { resetNegative(total) } else { memory.set64(total.offset, UInt64(bitPattern: sum)) }
    }

    /// A negative total means a damaged size, and must not evict intact entries. Failed extensions affect only `segmentBytes`.
    @inline(never) private func resetNegative(_ total: IndexLayout.Total) {
        if total != .segmentBytes { declareDamaged() }
        memory.set64(total.offset, 0)
    }

    /// Counts a frame that becomes live or, with negative `bytes`, one that is no longer live. A segment's word is 0 only if
    /// equally many frames were added and removed, even if damaged entries have wrong sizes.
    @inline(__always) func adjustLive(_ location: Location, by bytes: Int) {
        let live = liveFrames(ofSegment: location.segment)
        let change = (bytes < 0 ? -1 : 1) << IndexLayout.liveCountShift + bytes
        setLiveFrames(ofSegment: location.segment, live &+ UInt64(bitPattern: Int64(change)))
        adjust(.liveFrameBytes, by: bytes)
    }

    // MARK: The log

    @inline(__always) var head: Location {
        get { memory.location(IndexLayout.headOffset) }
        nonmutating set { memory.set64(IndexLayout.headOffset, newValue.raw) }
    }
    @inline(__always) var oldestSegment: UInt32 {
        get { memory.word32(IndexLayout.oldestSegmentOffset) }
        nonmutating set { memory.set32(IndexLayout.oldestSegmentOffset, newValue) }
    }
    var cleaner: Location {
        get { memory.location(IndexLayout.cleanerOffset) }
        nonmutating set { memory.set64(IndexLayout.cleanerOffset, newValue.raw) }
    }
    @inline(__always) var sequence: UInt64 {
        get { memory.word64(IndexLayout.sequenceOffset) }
        nonmutating set { memory.set64(IndexLayout.sequenceOffset, newValue) }
    }
    @inline(__always) var appendedBytes: UInt64 {
        get { memory.word64(IndexLayout.appendedBytesOffset) }
        nonmutating set { memory.set64(IndexLayout.appendedBytesOffset, newValue) }
    }
    var firstMessage: Location {
        get { memory.location(IndexLayout.firstMessageOffset) }
        nonmutating set { memory.set64(IndexLayout.firstMessageOffset, newValue.raw) }
    }
    @inline(__always) var batchOpen: Location {
        get { memory.location(IndexLayout.batchOpenOffset) }
        nonmutating set { memory.set64(IndexLayout.batchOpenOffset, newValue.raw) }
    }
    var batchDone: Location {
        get { memory.location(IndexLayout.batchDoneOffset) }
        nonmutating set { memory.set64(IndexLayout.batchDoneOffset, newValue.raw) }
    }

    // MARK: Undo

    @inline(__always) var tombstoneCount: UInt32 {
        get { memory.word32(IndexLayout.tombstoneCountOffset) }
        nonmutating set { memory.set32(IndexLayout.tombstoneCountOffset, newValue) }
    }
    @inline(__always) var tombstoneBytes: Int {
        get { memory.size(IndexLayout.tombstoneBytesOffset) }
        nonmutating set { memory.set64(IndexLayout.tombstoneBytesOffset, UInt64(newValue)) }
    }
    var nextGroup: UInt32 {
        get { max(1, memory.word32(IndexLayout.nextGroupOffset)) }
        nonmutating set { memory.set32(IndexLayout.nextGroupOffset, newValue) }
    }
    /// The entry after which the search for entries that can no longer be restored continues.
    var undoSweep: UInt32 {
        get { memory.word32(IndexLayout.undoSweepOffset) }
        nonmutating set { memory.set32(IndexLayout.undoSweepOffset, newValue) }
    }

    // MARK: The configuration, as in the descriptor

    func setConfiguration(_ configuration: ArchiveConfiguration) {
        memory.set64(IndexLayout.memoryLimitOffset, configuration.memoryLimit ?? .max)
        memory.set64(IndexLayout.diskLimitOffset, configuration.diskLimit ?? .max)
        memory.set32(IndexLayout.syncTenthsOffset, UInt32(configuration.durability.tenths))
        memory.set32(IndexLayout.durabilityOffset, configuration.durability.level.rawValue)
    }

    // MARK: The clean mark. Written while no other process has the archive open for writing.

    var cleanFlag: UInt32 {
        get { memory.word32(IndexLayout.cleanFlagOffset) }
        nonmutating set { memory.set32(IndexLayout.cleanFlagOffset, newValue) }
    }
    var cleanSum: UInt32 {
        get { memory.word32(IndexLayout.cleanSumOffset) }
        nonmutating set { memory.set32(IndexLayout.cleanSumOffset, newValue) }
    }

    @inline(__always) func addLocked(_ counter: IndexLayout.Counter, _ amount: UInt64 = 1) {
        let address = memory.field(IndexLayout.countersOffset + 8 * counter.rawValue)
        cp_relaxed_store64(address, cp_relaxed64(address) &+ amount)
    }
}

extension IndexLayout {
    enum Total {
        case entryCount, valueBytes, liveFrameBytes, segmentBytes, appendedBytes

        @inline(__always) fileprivate var offset: Int {
            switch self {
            case .entryCount: IndexLayout.entryCountOffset
            case .valueBytes: IndexLayout.valueBytesOffset
            case .liveFrameBytes: IndexLayout.liveFrameBytesOffset
            case .segmentBytes: IndexLayout.segmentBytesOffset
            case .appendedBytes: IndexLayout.appendedBytesOffset
            }
        }
    }
}
