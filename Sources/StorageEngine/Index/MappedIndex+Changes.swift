import CPlatform

extension ChangingIndex {
    // MARK: Identity. Written while only the creator has the index; read-only afterwards.

    func beginBuilding(archive identity: [UInt8], salt: UInt64) {
        memory.set64(IndexLayout.magicOffset, IndexLayout.magic)
        memory.set32(IndexLayout.versionOffset, IndexLayout.version)
        setState(.building)
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

    /// Records the file's identity, so that a copy is recognized as another file (F3).
    func identify(_ file: FileDescriptor) throws(StorageError) {
        let status = try file.status()
        memory.set64(IndexLayout.deviceOffset, status.number.device)
        memory.set64(IndexLayout.inodeOffset, status.number.inode)
        memory.set64(IndexLayout.birthOffset, cp_birth_time(file.descriptor))
    }

    func setLoss(_ value: LogLoss?) {
        memory.set64(IndexLayout.lossFromOffset, value?.from.raw ?? 0)
        memory.set64(IndexLayout.lossToOffset, value?.to.raw ?? 0)
    }

    func setEvidence(_ value: IndexLayout.Evidence) {
        memory.set32(IndexLayout.evidenceOffset, value.rawValue)
    }

    func setDamagedPlaces(_ value: Int) { memory.set64(IndexLayout.damagedPlacesOffset, UInt64(value)) }

    // MARK: The lock

    func setLocking(_ value: LockingMode?) { memory.set32(IndexLayout.lockingOffset, value?.rawValue ?? 0) }
    func setLockNamespace(_ value: UInt32) { memory.set32(IndexLayout.lockNamespaceOffset, value) }

    func makeMutex() throws(StorageError) {
        let failure = cp_mutex_init(mutex)
        guard failure == 0 else {
            throw .system(operation: "create the lock of", path: path, code: failure)
        }
    }
    @inline(__always) func setLockOwner(_ value: UInt64) { memory.set64(IndexLayout.lockOwnerOffset, value) }
    /// Called at the end of a write lock guard. The word shares the cache line of the lock owner, which is written anyway.
    @inline(__always) func settleSequence() { memory.set64(IndexLayout.settledSequenceOffset, sequence) }
    func setState(_ value: IndexLayout.State?) { memory.set32(IndexLayout.stateOffset, value?.rawValue ?? 0) }
    /// Marks the index as damaged: no process changes the archive through it, and the next opening rebuilds it.
    func declareDamaged() { setState(.damaged) }
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
        setLeastVisible(0)
    }

    func setRenumberings(_ value: UInt64) { memory.set64(IndexLayout.renumberingsOffset, value) }

    // MARK: Entries and buckets

    @inline(__always)
    func setEntryCapacity(_ value: UInt32) { memory.set32(IndexLayout.entryCapacityOffset, value) }
    /// The highest number that an entry has or had. Not checked against the mapping, unlike ``usedEntries``.
    @inline(__always) var entryHighWater: UInt32 { memory.word32(IndexLayout.entryHighWaterOffset) }
    @inline(__always)
    func setEntryHighWater(_ value: UInt32) { memory.set32(IndexLayout.entryHighWaterOffset, value) }
    @inline(__always) func setFreeHead(_ value: UInt32) { memory.set32(IndexLayout.freeHeadOffset, value) }
    @inline(__always)
    func setBucketCount(_ value: UInt32) { memory.set32(IndexLayout.bucketCountOffset, value) }
    func setIndexBytes(_ value: Int) { memory.set64(IndexLayout.indexBytesOffset, UInt64(value)) }
    @inline(__always)
    func setNewest(in list: IndexLayout.Queue, _ value: UInt32) { memory.set32(list.offset, value) }
    @inline(__always)
    func setOldest(in list: IndexLayout.Queue, _ value: UInt32) { memory.set32(list.offset + 4, value) }
    /// No entry behind this one is visible; 0: not known.
    @inline(__always) var leastVisible: UInt32 { memory.word32(IndexLayout.leastVisibleOffset) }
    @inline(__always)
    func setLeastVisible(_ value: UInt32) { memory.set32(IndexLayout.leastVisibleOffset, value) }

    func clearLists() {
        setFreeHead(0)
        clear(.main)
        clearSmallQueue()
    }

    func clear(_ list: IndexLayout.Queue) {
        setNewest(in: list, 0)
        setOldest(in: list, 0)
        if list == .main { setLeastVisible(0) }
    }

    func clearSmallQueue() {
        clear(.small)
        setSmallBytes(0)
    }

    func setSmallBytes(_ value: Int) { memory.set64(IndexLayout.smallBytesOffset, UInt64(value)) }
    var ghostBytes: Int { memory.size(IndexLayout.ghostBytesOffset) }
    func setGhostBytes(_ value: Int) { memory.set64(IndexLayout.ghostBytesOffset, UInt64(value)) }
    var ghostEpoch: UInt32 { memory.word32(IndexLayout.ghostEpochOffset) }
    func setGhostEpoch(_ value: UInt32) { memory.set32(IndexLayout.ghostEpochOffset, value) }

    // MARK: Totals

    @inline(__always)
    func setEntryCount(_ value: Int) { memory.set64(IndexLayout.entryCountOffset, UInt64(value)) }
    @inline(__always)
    func setValueBytes(_ value: UInt64) { memory.set64(IndexLayout.valueBytesOffset, value) }
    @inline(__always)
    func setLiveFrameBytes(_ value: Int) { memory.set64(IndexLayout.liveFrameBytesOffset, UInt64(value)) }
    @inline(__always)
    func setSegmentBytes(_ value: Int) { memory.set64(IndexLayout.segmentBytesOffset, UInt64(value)) }

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

    @inline(__always) func setHead(_ value: Location) { memory.set64(IndexLayout.headOffset, value.raw) }
    @inline(__always)
    func setOldestSegment(_ value: UInt32) { memory.set32(IndexLayout.oldestSegmentOffset, value) }
    var cleaner: Location { memory.location(IndexLayout.cleanerOffset) }
    func setCleaner(_ value: Location) { memory.set64(IndexLayout.cleanerOffset, value.raw) }
    @inline(__always) func setSequence(_ value: UInt64) { memory.set64(IndexLayout.sequenceOffset, value) }
    @inline(__always)
    func setAppendedBytes(_ value: UInt64) { memory.set64(IndexLayout.appendedBytesOffset, value) }
    func setFirstMessage(_ value: Location) { memory.set64(IndexLayout.firstMessageOffset, value.raw) }
    @inline(__always)
    func setBatchOpen(_ value: Location) { memory.set64(IndexLayout.batchOpenOffset, value.raw) }
    func setBatchDone(_ value: Location) { memory.set64(IndexLayout.batchDoneOffset, value.raw) }

    // MARK: Undo

    @inline(__always)
    func setTombstoneCount(_ value: UInt32) { memory.set32(IndexLayout.tombstoneCountOffset, value) }
    @inline(__always)
    func setTombstoneBytes(_ value: Int) { memory.set64(IndexLayout.tombstoneBytesOffset, UInt64(value)) }
    func setNextGroup(_ value: UInt32) { memory.set32(IndexLayout.nextGroupOffset, value) }
    /// The entry after which the search for entries that can no longer be restored continues.
    var undoSweep: UInt32 { memory.word32(IndexLayout.undoSweepOffset) }
    func setUndoSweep(_ value: UInt32) { memory.set32(IndexLayout.undoSweepOffset, value) }

    // MARK: The configuration, as in the descriptor

    func setConfiguration(_ configuration: ArchiveConfiguration) {
        memory.set64(IndexLayout.memoryLimitOffset, configuration.memoryLimit ?? .max)
        memory.set64(IndexLayout.diskLimitOffset, configuration.diskLimit ?? .max)
        memory.set32(IndexLayout.syncTenthsOffset, UInt32(configuration.durability.tenths))
        memory.set32(IndexLayout.durabilityOffset, configuration.durability.level.rawValue)
    }

    func setEvictionPolicy(_ value: EvictionPolicy) {
        memory.set32(IndexLayout.policyOffset, UInt32(value.rawValue))
    }

    // MARK: The clean mark. Written while no other process has the archive open for writing.

    func setCleanFlag(_ value: UInt32) { memory.set32(IndexLayout.cleanFlagOffset, value) }
    func setMarkedReading(_ reading: Clock.Reading) {
        memory.set64(IndexLayout.markedWallOffset, UInt64(bitPattern: reading.wall))
        memory.set64(IndexLayout.markedBootOffset, UInt64(bitPattern: reading.boot))
    }
    func setCleanSum(_ value: UInt32) { memory.set32(IndexLayout.cleanSumOffset, value) }

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
