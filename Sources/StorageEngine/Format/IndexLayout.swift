/// Offsets in an index file. The meaning of each field: OnDiskFormat, "The index".
enum IndexLayout {
    static let magic: UInt64 = 0x5845_444E_494D_4C56  // "VLMINDEX" read as a little-endian integer
    static let version: UInt32 = 4

    // Header page
    static let magicOffset = 0
    static let versionOffset = 8
    static let stateOffset = 12
    static let identityOffset = 16
    static let bootOffset = 32
    static let deviceOffset = 48
    static let inodeOffset = 56
    static let lockingOffset = 64
    static let lockNamespaceOffset = 68
    static let birthOffset = 72
    static let mutexOffset = 128
    static let starvationOffset = 184
    static let lockOwnerOffset = 192
    static let settledSequenceOffset = 200
    static let touchTailOffset = 256
    static let touchDrainedOffset = 320
    static let sampleThresholdOffset = 328
    static let structureOffset = 384
    static let entryCapacityOffset = 448
    static let entryHighWaterOffset = 452
    static let freeHeadOffset = 456
    static let bucketCountOffset = 460
    static let recencyFirstOffset = 464
    static let entryCountOffset = 472
    static let valueBytesOffset = 480
    static let liveFrameBytesOffset = 488
    static let policyOffset = 496
    static let smallFirstOffset = 500
    static let smallBytesOffset = 816
    static let ghostBytesOffset = 824
    static let ghostEpochOffset = 832
    static let headOffset = 512
    static let oldestSegmentOffset = 520
    static let cleanerOffset = 528
    static let sequenceOffset = 536
    static let segmentBytesOffset = 544
    static let indexBytesOffset = 552
    static let syncedHeadOffset = 568
    static let diskLimitOffset = 576
    static let memoryLimitOffset = 584
    static let cleanSumOffset = 600
    static let cleanFlagOffset = 604
    static let durabilityOffset = 592
    static let syncTenthsOffset = 596
    static let countersOffset = 640
    static let appendedBytesOffset = 560
    static let nextDeadlineOffset = 608
    static let damagedPlacesOffset = 616
    static let leastVisibleOffset = 624
    static let evidenceOffset = 628
    static let tombstoneCountOffset = 632
    static let nextGroupOffset = 636
    static let eventHeadOffset = 704
    static let eventWaitersOffset = 712
    static let firstMessageOffset = 720
    static let residencyUsedOffset = 728
    static let lossFromOffset = 736
    static let lossToOffset = 744
    static let batchOpenOffset = 792
    static let batchDoneOffset = 800
    static let renumberingsOffset = 808
    static let saltOffset = 888
    static let saltCheckOffset = 896
    static let markedWallOffset = 904
    static let markedBootOffset = 912
    static let undoSweepOffset = 752
    static let tombstoneBytesOffset = 760
    static let returnsOffset = 768

    // Tables
    static let processTableOffset = 4096
    static let processSlots = 64
    static let processSlotBytes = 128
    static let segmentTableOffset = 12_288
    static let liveCountShift = 40
    static let touchRingOffset = 45_056
    static let touchCells = 2048
    static let touchCellBytes = 32
    static let eventRingOffset = 110_592
    static let events = 2048
    static let eventBytes = 64
    static let undoTableOffset = 241_664
    static let undoLines = 64
    static func undoPlace(of group: UInt32) -> Int { Int(group) % undoLines }
    static let undoLineBytes = 64
    static let undoSumsOffset = 245_760
    static let undoSumBytes = 64
    static let deadlineGroupsOffset = 249_856
    static let deadlineGroups = 512
    static let chunksInDeadlineGroup = 384
    static let chunksOffset = 262_144

    // Chunks: 1,024 entries, 320 buckets, for each entry a word of residency and a byte of undo, bounds of expiry times, for each
    // entry a byte of its queue, and fingerprints of evicted keys
    static let chunkEntries = 1024
    static let chunkBuckets = 320
    static let bucketBytes = 64
    static let firstBuckets: UInt32 = 64
    static let entryBytes = 64
    static let residencyBytes = 8
    static let bucketsInChunkOffset = chunkEntries * entryBytes
    static let residencyInChunkOffset = bucketsInChunkOffset + chunkBuckets * IndexLayout.bucketBytes
    static let marksInChunkOffset = residencyInChunkOffset + chunkEntries * residencyBytes
    static let deadlinesInChunkOffset = marksInChunkOffset + chunkEntries
    static let entriesInDeadlineRow = 32
    static let deadlineRows = chunkEntries / entriesInDeadlineRow
    static let chunkDeadlineInChunkOffset = deadlinesInChunkOffset + 8 * deadlineRows
    static let queuesInChunkOffset = chunkDeadlineInChunkOffset + 8
    static let ghostsInChunkOffset = queuesInChunkOffset + chunkEntries
    static let ghostSets = 111
    static let ghostSetBytes = 16
    /// Whole pages, so that all pages after the last chunk can be freed.
    static let chunkBytes = (ghostsInChunkOffset + ghostSets * ghostSetBytes + 4095) & ~4095

    /// Buckets of an index with space for this number of entries, in whole chunks.
    @inline(__always) static func buckets(forCapacity entries: UInt32) -> Int {
        Int(entries) / chunkEntries * chunkBuckets
    }

    /// Bytes of a shrunk index that keep blocks: the kernel's write-back of large groups could hit a hole (SIGBUS).
    static func reservedBytes(for bytes: Int) -> Int {
        let group = bytes < 16 << 20 ? 128 << 10 : 2 << 20
        return (bytes + group - 1) / group * group
    }

    static func fileBytes(chunks: Int) -> Int { chunksOffset + chunks * chunkBytes }

    static func chunks(inFileOf bytes: Int) -> Int { max(0, bytes - chunksOffset) / chunkBytes }

    /// The lists of S3-FIFO. LRU has only `main`.
    enum Queue {
        case main, small

        /// Number of the newest entry; that of the oldest follows.
        @inline(__always) var offset: Int {
            self == .main ? IndexLayout.recencyFirstOffset : IndexLayout.smallFirstOffset
        }
    }

    enum State: UInt32 {
        case building = 1
        case ready = 2
        case damaged = 3
        case syncFailed = 4
        /// Kept as evidence by a repair until its own index replaces this one.
        case replaced = 5
    }

    /// What comparisons with the log have found.
    enum Evidence: UInt32 {
        /// No entry is outdated by damage: the index agrees with one from before the damage, or is such a one.
        case reconciled = 1
        /// The log had more than the index when a repair kept it.
        case outdated = 2
    }

    enum Counter: Int, CaseIterable {
        case hits, misses, records, deletes, evictions, expirations, rejections, lostTouches
    }
}
