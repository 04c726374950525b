import CPlatform

/// The header's fields. What each means: OnDiskFormat, "The index".
///
/// Unless a field says otherwise it is written by whoever has a section of the archive (``ArchiveSection``) and read by
/// anyone, as one atomic word that may be older than its neighbours. What a damaged or planted index says is only believed
/// as far as it can do no harm (F4): sums are capped, numbers are checked against what is mapped where they are used.
extension IndexMemory {
    @inline(__always) private func word32(_ offset: Int) -> UInt32 { cp_load32(base + offset) }
    @inline(__always) private func word64(_ offset: Int) -> UInt64 { cp_load64(base + offset) }
    @inline(__always) private func set32(_ offset: Int, _ value: UInt32) { cp_store32(base + offset, value) }
    @inline(__always) private func set64(_ offset: Int, _ value: UInt64) { cp_store64(base + offset, value) }

    /// A count or a sum of bytes. No honest one reaches 2⁴⁸; capped there, so that arithmetic on what a damaged
    /// index says cannot overflow (F4).
    @inline(__always)
    private func size(_ offset: Int) -> Int { Int(truncatingIfNeeded: min(word64(offset), 1 << 48)) }

    @inline(__always)
    private func location(_ offset: Int) -> Location { Location(raw: word64(offset)) }

    // MARK: Whose index it is. Written while its maker alone has it, and only read from then on.

    /// Writes what says whose index this is; it is being built from here on.
    func beginBuilding(archive identity: [UInt8], salt: UInt64) {
        set64(IndexLayout.magicOffset, IndexLayout.magic)
        set32(IndexLayout.versionOffset, IndexLayout.version)
        state = .building
        setBytes(identity, at: IndexLayout.identityOffset)
        setBytes(BootIdentity.current, at: IndexLayout.bootOffset)
        set64(IndexLayout.saltOffset, salt)
    }

    private func setBytes(_ bytes: [UInt8], at offset: Int) {
        bytes.withUnsafeBytes {
            UnsafeMutableRawBufferPointer(start: base + offset, count: bytes.count).copyMemory(from: $0)
        }
    }

    /// Writes which file this is: a copy of it is another (F3).
    func identify(_ file: OpenFile) throws(StorageError) {
        let status = try file.status()
        set64(IndexLayout.deviceOffset, status.device)
        set64(IndexLayout.inodeOffset, status.inode)
        set64(IndexLayout.birthOffset, cp_birth_time(file.descriptor))
    }

    /// What keys' hashes depend on besides the archive's secret.
    var salt: UInt64 { word64(IndexLayout.saltOffset) }

    /// The note of a loss.
    var loss: LogLoss? {
        get { LogLoss(from: location(IndexLayout.lossFromOffset), to: location(IndexLayout.lossToOffset)) }
        set {
            set64(IndexLayout.lossFromOffset, newValue?.from.raw ?? 0)
            set64(IndexLayout.lossToOffset, newValue?.to.raw ?? 0)
        }
    }

    // MARK: The lock, and what goes on under it

    /// `nil`: damaged. Written by who opens the archive, alone.
    var locking: LockingMode? {
        get { LockingMode(rawValue: word32(IndexLayout.lockingOffset)) }
        set { set32(IndexLayout.lockingOffset, newValue?.rawValue ?? 0) }
    }
    /// The PID namespace whose numbers the mutex knows; 0: none. Written as ``locking``.
    var lockNamespace: UInt32 {
        get { word32(IndexLayout.lockNamespaceOffset) }
        set { set32(IndexLayout.lockNamespaceOffset, newValue) }
    }
    var mutex: UnsafeMutableRawPointer { base + IndexLayout.mutexOffset }

    /// The pid of who has a section; 0: nobody, or who holds the lock has not changed anything yet. Left by who dies (F5).
    @inline(__always) var sectionOwner: UInt64 {
        get { word64(IndexLayout.sectionOwnerOffset) }
        set { set64(IndexLayout.sectionOwnerOffset, newValue) }
    }

    /// `nil`: damaged.
    var state: IndexLayout.State? {
        get { IndexLayout.State(rawValue: word32(IndexLayout.stateOffset)) }
        set { set32(IndexLayout.stateOffset, newValue?.rawValue ?? 0) }
    }
    @inline(__always) var isReady: Bool {
        word32(IndexLayout.stateOffset) == IndexLayout.State.ready.rawValue
    }
    /// Marks the index as damaged: nobody changes the archive through it any more, and the next who opens the
    /// archive builds a new one from the log.
    func declareDamaged() { state = .damaged }
    /// After a sync failed. By whoever syncs, with or without a section.
    func declareSyncFailed() {
        _ = cp_cas32(
            base + IndexLayout.stateOffset, IndexLayout.State.ready.rawValue,
            IndexLayout.State.syncFailed.rawValue)
    }

    /// Odd while chains of buckets are changed; a reader that finds nothing believes it only if it was even and still is
    /// the same (F6).
    @inline(__always) var structureVersion: UInt64 { word64(IndexLayout.structureOffset) }

    /// Makes readers that are under way look again if they find nothing.
    @inline(__always)
    func beginStructureChange() {
        let version = cp_relaxed64(base + IndexLayout.structureOffset)
        cp_relaxed_store64(base + IndexLayout.structureOffset, version | 1)
        cp_store_fence()
    }

    @inline(__always)
    func endStructureChange() {
        let version = cp_relaxed64(base + IndexLayout.structureOffset)
        set64(IndexLayout.structureOffset, (version | 1) &+ 1)
    }

    /// Odd while an action comes back; whoever lists entries looks again when it has changed meanwhile.
    var returns: UInt64 { word64(IndexLayout.returnsOffset) }
    func beginReturn() { set64(IndexLayout.returnsOffset, returns | 1) }
    func endReturn() {
        set64(IndexLayout.returnsOffset, (returns | 1) &+ 1)
        // What comes back may be older than all that was visible.
        leastVisible = 0
    }

    /// How often entries were given other numbers.
    var renumberings: UInt64 {
        get { word64(IndexLayout.renumberingsOffset) }
        set { set64(IndexLayout.renumberingsOffset, newValue) }
    }

    // MARK: Entries and buckets

    /// Entries that the file has room for. Rises only once the blocks are there.
    @inline(__always) var entryCapacity: UInt32 {
        get { word32(IndexLayout.entryCapacityOffset) }
        set { set32(IndexLayout.entryCapacityOffset, newValue) }
    }
    /// The highest number that an entry has or had. Not checked against what is mapped: ``usedEntries`` is.
    @inline(__always) var entryHighWater: UInt32 {
        get { word32(IndexLayout.entryHighWaterOffset) }
        set { set32(IndexLayout.entryHighWaterOffset, newValue) }
    }
    /// The first of the free numbers; 0: none.
    @inline(__always) var freeHead: UInt32 {
        get { word32(IndexLayout.freeHeadOffset) }
        set { set32(IndexLayout.freeHeadOffset, newValue) }
    }
    @inline(__always) var bucketCount: UInt32 {
        get { word32(IndexLayout.bucketCountOffset) }
        set { set32(IndexLayout.bucketCountOffset, newValue) }
    }
    /// Bytes of the index file that are in use.
    var indexBytes: Int {
        get { size(IndexLayout.indexBytesOffset) }
        set { set64(IndexLayout.indexBytesOffset, UInt64(newValue)) }
    }

    /// Ends of the list of entries in the order of their use (``EntryOrder``).
    @inline(__always) var recencyFirst: UInt32 {
        get { word32(IndexLayout.recencyFirstOffset) }
        set { set32(IndexLayout.recencyFirstOffset, newValue) }
    }
    @inline(__always) var recencyLast: UInt32 {
        get { word32(IndexLayout.recencyLastOffset) }
        set { set32(IndexLayout.recencyLastOffset, newValue) }
    }
    /// Nothing behind this entry is visible; 0: not known.
    @inline(__always) var leastVisible: UInt32 {
        get { word32(IndexLayout.leastVisibleOffset) }
        set { set32(IndexLayout.leastVisibleOffset, newValue) }
    }

    /// No entry is free, and none is in the order.
    func clearLists() {
        freeHead = 0
        recencyFirst = 0
        recencyLast = 0
        leastVisible = 0
    }

    /// Whether any entry was ever marked as held by a process. Set by who marks one, and never taken back.
    @inline(__always) var isResidencyUsed: Bool {
        get { word32(IndexLayout.residencyUsedOffset) != 0 }
        set { set32(IndexLayout.residencyUsedOffset, newValue ? 1 : 0) }
    }

    // MARK: Totals

    /// Entries that look-ups find, or messages.
    @inline(__always) var entryCount: Int {
        get { size(IndexLayout.entryCountOffset) }
        set { set64(IndexLayout.entryCountOffset, UInt64(newValue)) }
    }
    /// No walk along a list of entries is longer, whatever number the index counts.
    var listedEntries: Int { min(entryCount, Int(usedEntries)) }
    /// Of the values of these.
    @inline(__always) var valueBytes: UInt64 {
        get { UInt64(size(IndexLayout.valueBytesOffset)) }
        set { set64(IndexLayout.valueBytesOffset, newValue) }
    }
    /// Of the frames that entries name, what is set aside included.
    @inline(__always) var liveFrameBytes: Int {
        get { size(IndexLayout.liveFrameBytesOffset) }
        set { set64(IndexLayout.liveFrameBytesOffset, UInt64(newValue)) }
    }
    /// Sum of the segment files' sizes. Decides how much is reclaimed, and nothing else.
    @inline(__always) var segmentBytes: Int {
        get { size(IndexLayout.segmentBytesOffset) }
        set { set64(IndexLayout.segmentBytesOffset, UInt64(newValue)) }
    }

    @inline(__always)
    func adjust(_ total: IndexLayout.Total, by amount: Int) {
        let sum = Int64(bitPattern: word64(total.offset)) &+ Int64(amount)
        if sum < 0 { fallBelowNothing(total) } else { set64(total.offset, UInt64(bitPattern: sum)) }
    }

    /// A total can't be negative: some entry's size is not what it was, and evicting for such a total would remove
    /// what is intact. The sum of the files' sizes may be off after a failed extension.
    @inline(never)
    private func fallBelowNothing(_ total: IndexLayout.Total) {
        if total != .segmentBytes { declareDamaged() }
        set64(total.offset, 0)
    }

    /// Counts a frame that becomes live, or, with negative `bytes`, one that no longer is. A segment's word is 0 only
    /// when as many have gone as had come: a wrong size in a damaged entry can't make it so.
    @inline(__always)
    func adjustLive(_ location: Location, by bytes: Int) {
        let live = liveFrames(ofSegment: location.segment)
        let change = (bytes < 0 ? -1 : 1) << IndexLayout.liveCountShift + bytes
        setLiveFrames(ofSegment: location.segment, live &+ UInt64(bitPattern: Int64(change)))
        adjust(.liveFrameBytes, by: bytes)
    }

    // MARK: The log

    /// Where the next frame goes: what is before it is the archive's. Moved last (S7).
    @inline(__always) var head: Location {
        get { location(IndexLayout.headOffset) }
        set { set64(IndexLayout.headOffset, newValue.raw) }
    }
    /// 0: there is no segment.
    @inline(__always) var oldestSegment: UInt32 {
        get { word32(IndexLayout.oldestSegmentOffset) }
        set { set32(IndexLayout.oldestSegmentOffset, newValue) }
    }
    /// Where reclaiming goes on in the oldest segment.
    var cleaner: Location {
        get { location(IndexLayout.cleanerOffset) }
        set { set64(IndexLayout.cleanerOffset, newValue.raw) }
    }
    /// Of the latest operation.
    @inline(__always) var sequence: UInt64 {
        get { word64(IndexLayout.sequenceOffset) }
        set { set64(IndexLayout.sequenceOffset, newValue) }
    }
    /// Bytes that were ever appended.
    @inline(__always) var appendedBytes: UInt64 {
        get { word64(IndexLayout.appendedBytesOffset) }
        set { set64(IndexLayout.appendedBytesOffset, newValue) }
    }
    /// Up to here the log is on the medium, as far as is known. Written by the one of a process who syncs.
    var syncedHead: Location {
        get { location(IndexLayout.syncedHeadOffset) }
        set { set64(IndexLayout.syncedHeadOffset, newValue.raw) }
    }
    /// The oldest message of a log archive; none while there is no message.
    var firstMessage: Location {
        get { location(IndexLayout.firstMessageOffset) }
        set { set64(IndexLayout.firstMessageOffset, newValue.raw) }
    }

    /// Where the batch begins whose frames readers must not believe yet; none: there is none.
    @inline(__always) var batchOpen: Location {
        get { location(IndexLayout.batchOpenOffset) }
        set { set64(IndexLayout.batchOpenOffset, newValue.raw) }
    }
    /// Where the batch begins that is decided and whose lines may not be filled yet; none: there is none.
    var batchDone: Location {
        get { location(IndexLayout.batchDoneOffset) }
        set { set64(IndexLayout.batchDoneOffset, newValue.raw) }
    }

    // MARK: What can be undone

    /// Entries that are set aside.
    @inline(__always) var setAsideCount: UInt32 {
        get { word32(IndexLayout.setAsideCountOffset) }
        set { set32(IndexLayout.setAsideCountOffset, newValue) }
    }
    /// Of their frames.
    @inline(__always) var setAsideBytes: Int {
        get { size(IndexLayout.setAsideBytesOffset) }
        set { set64(IndexLayout.setAsideBytesOffset, UInt64(newValue)) }
    }
    /// The number that the next reversible action gets; 0 counts as 1.
    var nextGroup: UInt32 {
        get { max(1, word32(IndexLayout.nextGroupOffset)) }
        set { set32(IndexLayout.nextGroupOffset, newValue) }
    }
    /// The entry behind which what can no longer be undone is looked for next.
    var undoSweep: UInt32 {
        get { word32(IndexLayout.undoSweepOffset) }
        set { set32(IndexLayout.undoSweepOffset, newValue) }
    }

    // MARK: The configuration, as the descriptor has it

    /// `nil`: no limit.
    @inline(__always) var diskLimit: UInt64? {
        let limit = word64(IndexLayout.diskLimitOffset)
        return limit == .max ? nil : limit
    }
    /// The highest number: no limit.
    var memoryLimit: UInt64 { word64(IndexLayout.memoryLimitOffset) }
    /// `nil`: damaged.
    var durability: Durability.Level? {
        Durability.Level(rawValue: word32(IndexLayout.durabilityOffset))
    }
    /// Whether changes have to be brought to the medium. Needs no order with other words.
    @inline(__always) var isEverSynced: Bool {
        cp_relaxed32(base + IndexLayout.durabilityOffset) != Durability.Level.process.rawValue
    }
    /// Tenths of a second between two syncs.
    var syncTenths: UInt32 { word32(IndexLayout.syncTenthsOffset) }

    func setConfiguration(_ configuration: ArchiveConfiguration) {
        set64(IndexLayout.memoryLimitOffset, configuration.memoryLimit ?? .max)
        set64(IndexLayout.diskLimitOffset, configuration.diskLimit ?? .max)
        set32(IndexLayout.syncTenthsOffset, UInt32(configuration.durability.tenths))
        set32(IndexLayout.durabilityOffset, configuration.durability.level.rawValue)
    }

    func hasLimits(of configuration: ArchiveConfiguration) -> Bool {
        diskLimit == configuration.diskLimit && memoryLimit == configuration.memoryLimit ?? .max
    }

    // MARK: The clean mark. Written while nobody else has the archive open for writing.

    /// 1: set; 0: not.
    var cleanFlag: UInt32 {
        get { word32(IndexLayout.cleanFlagOffset) }
        set { set32(IndexLayout.cleanFlagOffset, newValue) }
    }
    var cleanSum: UInt32 {
        get { word32(IndexLayout.cleanSumOffset) }
        set { set32(IndexLayout.cleanSumOffset, newValue) }
    }

    // MARK: Deadlines, stamps and counters

    /// No entry expires before this, microseconds on the boot clock; 0: none expires.
    var nextDeadline: Int64 { Int64(bitPattern: word64(IndexLayout.nextDeadlineOffset)) }
    /// Whether any entry expires. Needs no order with other words.
    @inline(__always) var hasDeadlines: Bool { cp_relaxed64(base + IndexLayout.nextDeadlineOffset) != 0 }

    /// Counts that anyone adds to.
    @inline(__always) func add(_ counter: IndexLayout.Counter, _ amount: UInt64 = 1) {
        _ = cp_add64(base + IndexLayout.countersOffset + 8 * counter.rawValue, amount)
    }
    /// As ``add(_:_:)`` for a counter that only sections change.
    @inline(__always) func addLocked(_ counter: IndexLayout.Counter, _ amount: UInt64 = 1) {
        let address = base + IndexLayout.countersOffset + 8 * counter.rawValue
        cp_relaxed_store64(address, cp_relaxed64(address) &+ amount)
    }
    func count(_ counter: IndexLayout.Counter) -> UInt64 {
        cp_relaxed64(base + IndexLayout.countersOffset + 8 * counter.rawValue)
    }
}

extension IndexLayout {
    /// A sum that changes by what an operation adds or takes away.
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
