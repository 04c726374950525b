import CPlatform

/// The fields of the header: OnDiskFormat, "The index". Unless a field's comment differs, a write lock guard writes it, and
/// readers without the lock load one atomic word that may be older than its neighbors. A damaged or forged index can do no harm
/// (F4): sums are capped, and numbers are checked against the mapping where they are used.
extension MappedIndex {
    // MARK: Identity. Written while only the creator has the index; read-only afterwards.

    /// Input to the keys' hashes, in addition to the archive's secret.
    var salt: UInt64 { memory.word64(IndexLayout.saltOffset) }
    /// Whether the salt equals its copy. With a wrong salt, every look-up would miss without an error.
    var isSaltIntact: Bool { memory.word64(IndexLayout.saltCheckOffset) == ~salt }
    /// Whether the header is valid and wasn't overwritten since it was mapped.
    var isHeaderIntact: Bool { isSaltIntact && state != nil }

    var loss: LogLoss? {
        LogLoss(
            from: memory.location(IndexLayout.lossFromOffset), to: memory.location(IndexLayout.lossToOffset))
    }

    /// Number of places in the log without a valid frame when the index was built from it.
    var damagedPlaces: Int { memory.size(IndexLayout.damagedPlacesOffset) }

    /// `nil`: unknown.
    var evidence: IndexLayout.Evidence? {
        IndexLayout.Evidence(rawValue: memory.word32(IndexLayout.evidenceOffset))
    }

    // MARK: The lock

    /// The kind of the lock; `nil` if the field is damaged. Written by the opening process while no other has the archive open.
    var locking: LockingMode? { LockingMode(rawValue: memory.word32(IndexLayout.lockingOffset)) }
    /// The PID namespace that the mutex's numbers belong to; 0: none. Written like ``locking``.
    var lockNamespace: UInt32 { memory.word32(IndexLayout.lockNamespaceOffset) }
    var mutex: UnsafeMutableRawPointer { memory.field(IndexLayout.mutexOffset) }
    /// Written without the lock (``StarvationMark``).
    var starvation: UnsafeMutableRawPointer { memory.field(IndexLayout.starvationOffset) }

    /// The lock owner: process number of the write lock guard's holder, even after its death (F5). 0: no guard, or no change yet.
    @inline(__always) var lockOwner: UInt64 { memory.word64(IndexLayout.lockOwnerOffset) }

    var state: IndexLayout.State? { IndexLayout.State(rawValue: memory.word32(IndexLayout.stateOffset)) }
    @inline(__always) var isReady: Bool {
        memory.word32(IndexLayout.stateOffset) == IndexLayout.State.ready.rawValue
    }
    /// Whether the archive was removed while it was open. (No other process opens an index that is being built.)
    @inline(__always) var isRemoved: Bool {
        memory.word32(IndexLayout.stateOffset) == IndexLayout.State.building.rawValue
    }
    /// Called after a failed sync, with or without a write lock guard.
    func declareSyncFailed() {
        _ = cp_cas32(
            memory.field(IndexLayout.stateOffset), IndexLayout.State.ready.rawValue,
            IndexLayout.State.syncFailed.rawValue)
    }

    /// Odd while chains of buckets change. A miss counts only if the version was even and didn't change (F6).
    @inline(__always) var structureVersion: UInt64 { memory.word64(IndexLayout.structureOffset) }

    /// Odd while an action's entries are restored. A walk over the entries is repeated if it has changed.
    var returns: UInt64 { memory.word64(IndexLayout.returnsOffset) }
    var renumberings: UInt64 { memory.word64(IndexLayout.renumberingsOffset) }

    // MARK: Entries and buckets

    /// Entries that the file has space for. Increased only after the blocks are allocated.
    @inline(__always) var entryCapacity: UInt32 { memory.word32(IndexLayout.entryCapacityOffset) }
    @inline(__always) var freeHead: UInt32 { memory.word32(IndexLayout.freeHeadOffset) }
    @inline(__always) var bucketCount: UInt32 { memory.word32(IndexLayout.bucketCountOffset) }
    /// Whether the file can have as many buckets as it claims.
    @inline(__always) var canHoldBuckets: Bool {
        Int(bucketCount) <= IndexLayout.buckets(forCapacity: entryCapacity)
    }
    var indexBytes: Int { memory.size(IndexLayout.indexBytesOffset) }

    @inline(__always) func newest(in list: IndexLayout.Queue) -> UInt32 { memory.word32(list.offset) }
    @inline(__always) func oldest(in list: IndexLayout.Queue) -> UInt32 { memory.word32(list.offset + 4) }
    /// Sum of the sizes of the values in the small queue of S3-FIFO.
    var smallBytes: Int { memory.size(IndexLayout.smallBytesOffset) }

    /// Whether any entry was ever marked as held by a process. Set with the first mark, and never cleared.
    @inline(__always) var isResidencyUsed: Bool {
        get { memory.word32(IndexLayout.residencyUsedOffset) != 0 }
        nonmutating set { cp_store32(memory.field(IndexLayout.residencyUsedOffset), newValue ? 1 : 0) }
    }

    // MARK: Totals

    /// Number of entries that look-ups find, or of messages.
    @inline(__always) var entryCount: Int { memory.size(IndexLayout.entryCountOffset) }
    @inline(__always) var valueBytes: UInt64 { UInt64(memory.size(IndexLayout.valueBytesOffset)) }
    /// Sum of the sizes of the frames that entries name, tombstoned ones included.
    @inline(__always) var liveFrameBytes: Int { memory.size(IndexLayout.liveFrameBytesOffset) }
    /// Sum of the sizes of the segment files. Only determines how much is reclaimed.
    @inline(__always) var segmentBytes: Int { memory.size(IndexLayout.segmentBytesOffset) }

    // MARK: The log

    /// The log tail: location of the next frame. All frames before it are part of the archive. Stored last (F5).
    @inline(__always) var head: Location { memory.location(IndexLayout.headOffset) }
    @inline(__always) var oldestSegment: UInt32 { memory.word32(IndexLayout.oldestSegmentOffset) }
    /// Sequence of the latest operation, which may still be running.
    @inline(__always) var sequence: UInt64 { memory.word64(IndexLayout.sequenceOffset) }
    /// Every operation up to this sequence has ended.
    var settledSequence: UInt64 {
        let settled = memory.word64(IndexLayout.settledSequenceOffset)
        return settled == 0 ? sequence : min(settled, sequence)
    }
    @inline(__always) var appendedBytes: UInt64 { memory.word64(IndexLayout.appendedBytesOffset) }
    /// The log is known to be on the medium up to this location. In each process only the syncing thread writes it.
    var syncedHead: Location {
        get { memory.location(IndexLayout.syncedHeadOffset) }
        nonmutating set { memory.set64(IndexLayout.syncedHeadOffset, newValue.raw) }
    }
    var firstMessage: Location { memory.location(IndexLayout.firstMessageOffset) }

    /// Beginning of a batch whose frames readers must not use yet; `none`: no such batch.
    @inline(__always) var batchOpen: Location { memory.location(IndexLayout.batchOpenOffset) }
    /// Beginning of a published batch whose slots may not be filled yet; `none`: no such batch.
    var batchDone: Location { memory.location(IndexLayout.batchDoneOffset) }

    // MARK: Undo

    @inline(__always) var tombstoneCount: UInt32 { memory.word32(IndexLayout.tombstoneCountOffset) }
    @inline(__always) var tombstoneBytes: Int { memory.size(IndexLayout.tombstoneBytesOffset) }
    var nextGroup: UInt32 { max(1, memory.word32(IndexLayout.nextGroupOffset)) }

    // MARK: The request trace

    /// Requests of keys whose tag is below this are recorded; 0: of none. Requires no order with other words.
    @inline(__always) var sampleThreshold: UInt64 {
        cp_relaxed64(memory.field(IndexLayout.sampleThresholdOffset))
    }

    // MARK: The configuration, as in the descriptor

    @inline(__always) var diskLimit: UInt64? {
        let limit = memory.word64(IndexLayout.diskLimitOffset)
        return limit == .max ? nil : limit
    }
    /// The highest number means no limit.
    var memoryLimit: UInt64 { memory.word64(IndexLayout.memoryLimitOffset) }
    var durability: Durability.Level? {
        Durability.Level(rawValue: memory.word32(IndexLayout.durabilityOffset))
    }
    /// Whether changes are ever synced. Requires no order with other words.
    @inline(__always) var isEverSynced: Bool {
        cp_relaxed32(memory.field(IndexLayout.durabilityOffset)) != Durability.Level.process.rawValue
    }
    var syncTenths: UInt32 { memory.word32(IndexLayout.syncTenthsOffset) }

    @inline(__always) var evictionPolicy: EvictionPolicy {
        memory.word32(IndexLayout.policyOffset) == EvictionPolicy.s3fifo.rawValue ? .s3fifo : .lru
    }

    func hasLimits(of configuration: ArchiveConfiguration) -> Bool {
        diskLimit == configuration.diskLimit && memoryLimit == configuration.memoryLimit ?? .max
    }

    // MARK: The clean mark. Written while no other process has the archive open for writing.

    var cleanFlag: UInt32 { memory.word32(IndexLayout.cleanFlagOffset) }
    var cleanSum: UInt32 { memory.word32(IndexLayout.cleanSumOffset) }

    // MARK: Expiry times, stamps and counters

    /// No entry expires before this, in microseconds on the boot clock; 0: no entry expires.
    var nextDeadline: Int64 { Int64(bitPattern: memory.word64(IndexLayout.nextDeadlineOffset)) }
    /// Whether any entry expires. Requires no order with other words.
    @inline(__always) var hasDeadlines: Bool {
        cp_relaxed64(memory.field(IndexLayout.nextDeadlineOffset)) != 0
    }

    @inline(__always) func add(_ counter: IndexLayout.Counter, _ amount: UInt64 = 1) {
        _ = cp_add64(memory.field(IndexLayout.countersOffset + 8 * counter.rawValue), amount)
    }
    func count(_ counter: IndexLayout.Counter) -> UInt64 {
        cp_relaxed64(memory.field(IndexLayout.countersOffset + 8 * counter.rawValue))
    }
}
