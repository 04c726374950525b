import CPlatform

/// The header's fields, for whoever looks. What each means: OnDiskFormat, "The index".
///
/// Unless a field says otherwise it is written by whoever has a section (`MappedIndex+Changes.swift`) and read by anyone, as
/// one atomic word that may be older than its neighbours. What a damaged or planted index says is only believed as far as
/// it can do no harm (F4): sums are capped, numbers are checked against what is mapped where they are used.
extension MappedIndex {
    // MARK: Whose index it is. Written while its maker alone has it, and only read from then on.

    /// What keys' hashes depend on besides the archive's secret.
    var salt: UInt64 { memory.word64(IndexLayout.saltOffset) }
    /// With another salt no entry would be found, and all be missed in silence.
    var isSaltIntact: Bool { memory.word64(IndexLayout.saltCheckOffset) == ~salt }

    /// The note of a loss.
    var loss: LogLoss? {
        LogLoss(
            from: memory.location(IndexLayout.lossFromOffset), to: memory.location(IndexLayout.lossToOffset))
    }

    /// How many places of the log held nothing valid when the index was made from it.
    var damagedPlaces: Int { memory.size(IndexLayout.damagedPlacesOffset) }

    // MARK: The lock, and what goes on under it

    /// `nil`: damaged. Written by who opens the archive, alone.
    var locking: LockingMode? { LockingMode(rawValue: memory.word32(IndexLayout.lockingOffset)) }
    /// The PID namespace whose numbers the mutex knows; 0: none. Written as ``locking``.
    var lockNamespace: UInt32 { memory.word32(IndexLayout.lockNamespaceOffset) }
    var mutex: UnsafeMutableRawPointer { memory.field(IndexLayout.mutexOffset) }

    /// The pid of who has a section; 0: nobody, or who holds the lock has not changed anything yet. Left by who dies (F5).
    @inline(__always) var sectionOwner: UInt64 { memory.word64(IndexLayout.sectionOwnerOffset) }

    /// `nil`: damaged.
    var state: IndexLayout.State? { IndexLayout.State(rawValue: memory.word32(IndexLayout.stateOffset)) }
    @inline(__always) var isReady: Bool {
        memory.word32(IndexLayout.stateOffset) == IndexLayout.State.ready.rawValue
    }
    /// Whether the archive was removed while it was open. (An index that is being made is open to nobody else.)
    @inline(__always) var isRemoved: Bool {
        memory.word32(IndexLayout.stateOffset) == IndexLayout.State.building.rawValue
    }
    /// After a sync failed. By whoever syncs, with or without a section.
    func declareSyncFailed() {
        _ = cp_cas32(
            memory.field(IndexLayout.stateOffset), IndexLayout.State.ready.rawValue,
            IndexLayout.State.syncFailed.rawValue)
    }

    /// Odd while chains of buckets are changed; a reader that finds nothing believes it only if it was even and still is
    /// the same (F6).
    @inline(__always) var structureVersion: UInt64 { memory.word64(IndexLayout.structureOffset) }

    /// Odd while an action comes back; whoever lists entries looks again when it has changed meanwhile.
    var returns: UInt64 { memory.word64(IndexLayout.returnsOffset) }
    /// How often entries were given other numbers.
    var renumberings: UInt64 { memory.word64(IndexLayout.renumberingsOffset) }

    // MARK: Entries and buckets

    /// Entries that the file has room for. Rises only once the blocks are there.
    @inline(__always) var entryCapacity: UInt32 { memory.word32(IndexLayout.entryCapacityOffset) }
    /// The highest number that an entry has or had. Not checked against what is mapped: ``usedEntries`` is.
    @inline(__always) var entryHighWater: UInt32 { memory.word32(IndexLayout.entryHighWaterOffset) }
    /// The first of the free numbers; 0: none.
    @inline(__always) var freeHead: UInt32 { memory.word32(IndexLayout.freeHeadOffset) }
    @inline(__always) var bucketCount: UInt32 { memory.word32(IndexLayout.bucketCountOffset) }
    /// Bytes of the index file that are in use.
    var indexBytes: Int { memory.size(IndexLayout.indexBytesOffset) }

    /// Ends of the list of entries in the order of their use (``EntryOrder``).
    @inline(__always) var recencyFirst: UInt32 { memory.word32(IndexLayout.recencyFirstOffset) }
    @inline(__always) var recencyLast: UInt32 { memory.word32(IndexLayout.recencyLastOffset) }
    /// Nothing behind this entry is visible; 0: not known.
    @inline(__always) var leastVisible: UInt32 { memory.word32(IndexLayout.leastVisibleOffset) }

    /// Whether any entry was ever marked as held by a process. Set by who marks one, and never taken back.
    @inline(__always) var isResidencyUsed: Bool {
        get { memory.word32(IndexLayout.residencyUsedOffset) != 0 }
        nonmutating set { cp_store32(memory.field(IndexLayout.residencyUsedOffset), newValue ? 1 : 0) }
    }

    // MARK: Totals

    /// Entries that look-ups find, or messages.
    @inline(__always) var entryCount: Int { memory.size(IndexLayout.entryCountOffset) }
    /// No walk along a list of entries is longer, whatever number the index counts.
    var listedEntries: Int { min(entryCount, Int(usedEntries)) }
    /// Of the values of these.
    @inline(__always) var valueBytes: UInt64 { UInt64(memory.size(IndexLayout.valueBytesOffset)) }
    /// Of the frames that entries name, what is set aside included.
    @inline(__always) var liveFrameBytes: Int { memory.size(IndexLayout.liveFrameBytesOffset) }
    /// Sum of the segment files' sizes. Decides how much is reclaimed, and nothing else.
    @inline(__always) var segmentBytes: Int { memory.size(IndexLayout.segmentBytesOffset) }

    // MARK: The log

    /// Where the next frame goes: what is before it is the archive's. Moved last (F5).
    @inline(__always) var head: Location { memory.location(IndexLayout.headOffset) }
    /// 0: there is no segment.
    @inline(__always) var oldestSegment: UInt32 { memory.word32(IndexLayout.oldestSegmentOffset) }
    /// Where reclaiming goes on in the oldest segment.
    var cleaner: Location { memory.location(IndexLayout.cleanerOffset) }
    /// Of the latest operation, which may be under way.
    @inline(__always) var sequence: UInt64 { memory.word64(IndexLayout.sequenceOffset) }
    /// No operation up to this one is under way.
    var settledSequence: UInt64 {
        let settled = memory.word64(IndexLayout.settledSequenceOffset)
        return settled == 0 ? sequence : min(settled, sequence)
    }
    /// Bytes that were ever appended.
    @inline(__always) var appendedBytes: UInt64 { memory.word64(IndexLayout.appendedBytesOffset) }
    /// Up to here the log is on the medium, as far as is known. Written by the one of a process who syncs.
    var syncedHead: Location {
        get { memory.location(IndexLayout.syncedHeadOffset) }
        nonmutating set { memory.set64(IndexLayout.syncedHeadOffset, newValue.raw) }
    }
    /// The oldest message of a log archive; none while there is no message.
    var firstMessage: Location { memory.location(IndexLayout.firstMessageOffset) }

    /// Where the batch begins whose frames readers must not believe yet; none: there is none.
    @inline(__always) var batchOpen: Location { memory.location(IndexLayout.batchOpenOffset) }
    /// Where the batch begins that is decided and whose lines may not be filled yet; none: there is none.
    var batchDone: Location { memory.location(IndexLayout.batchDoneOffset) }

    // MARK: What can be undone

    /// Entries that are set aside.
    @inline(__always) var setAsideCount: UInt32 { memory.word32(IndexLayout.setAsideCountOffset) }
    /// Of their frames.
    @inline(__always) var setAsideBytes: Int { memory.size(IndexLayout.setAsideBytesOffset) }
    /// The number that the next reversible action gets; 0 counts as 1.
    var nextGroup: UInt32 { max(1, memory.word32(IndexLayout.nextGroupOffset)) }
    /// The entry behind which what can no longer be undone is looked for next.
    var undoSweep: UInt32 { memory.word32(IndexLayout.undoSweepOffset) }

    // MARK: The configuration, as the descriptor has it

    /// `nil`: no limit.
    @inline(__always) var diskLimit: UInt64? {
        let limit = memory.word64(IndexLayout.diskLimitOffset)
        return limit == .max ? nil : limit
    }
    /// The highest number: no limit.
    var memoryLimit: UInt64 { memory.word64(IndexLayout.memoryLimitOffset) }
    /// `nil`: damaged.
    var durability: Durability.Level? {
        Durability.Level(rawValue: memory.word32(IndexLayout.durabilityOffset))
    }
    /// Whether changes have to be brought to the medium. Needs no order with other words.
    @inline(__always) var isEverSynced: Bool {
        cp_relaxed32(memory.field(IndexLayout.durabilityOffset)) != Durability.Level.process.rawValue
    }
    /// Tenths of a second between two syncs.
    var syncTenths: UInt32 { memory.word32(IndexLayout.syncTenthsOffset) }

    func hasLimits(of configuration: ArchiveConfiguration) -> Bool {
        diskLimit == configuration.diskLimit && memoryLimit == configuration.memoryLimit ?? .max
    }

    // MARK: The clean mark. Written while nobody else has the archive open for writing.

    /// 1: set; 0: not.
    var cleanFlag: UInt32 { memory.word32(IndexLayout.cleanFlagOffset) }
    var cleanSum: UInt32 { memory.word32(IndexLayout.cleanSumOffset) }

    // MARK: Deadlines, stamps and counters

    /// No entry expires before this, microseconds on the boot clock; 0: none expires.
    var nextDeadline: Int64 { Int64(bitPattern: memory.word64(IndexLayout.nextDeadlineOffset)) }
    /// Whether any entry expires. Needs no order with other words.
    @inline(__always) var hasDeadlines: Bool {
        cp_relaxed64(memory.field(IndexLayout.nextDeadlineOffset)) != 0
    }

    /// Counts that anyone adds to.
    @inline(__always) func add(_ counter: IndexLayout.Counter, _ amount: UInt64 = 1) {
        _ = cp_add64(memory.field(IndexLayout.countersOffset + 8 * counter.rawValue), amount)
    }
    func count(_ counter: IndexLayout.Counter) -> UInt64 {
        cp_relaxed64(memory.field(IndexLayout.countersOffset + 8 * counter.rawValue))
    }
}
