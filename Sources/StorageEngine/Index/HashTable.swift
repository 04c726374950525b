import CPlatform

/// Buckets and chains of the index: linear hashing, one bucket split for each entry added, so that growth
/// never stops anyone for longer than a split. (P.-Å. Larson: "Dynamic Hash Tables", CACM 31(4), 1988.)
///
/// Changes need the archive's lock. Looking needs none: a reader that finds nothing believes it only if
/// `structure` was even and unchanged meanwhile; otherwise it looks again (OnDiskFormat, "Reading without
/// the lock").
extension IndexMemory {
    static let firstBuckets: UInt32 = 1024

    @inline(__always)
    func bucket(of tag: UInt32, count: UInt32) -> UInt32 {
        guard count > 1 else { return 0 }
        let mask = UInt32.max >> UInt32((count - 1).leadingZeroBitCount)
        let bucket = tag & mask
        return bucket < count ? bucket : bucket & (mask >> 1)
    }

    @inline(__always) var bucketCount: UInt32 { word32(IndexLayout.bucketCountOffset) }

    /// Makes readers that are under way look again if they find nothing.
    @inline(__always)
    func beginStructureChange() {
        let version = cp_relaxed64(base + IndexLayout.structureOffset)
        set64(IndexLayout.structureOffset, version | 1)
        cp_fence()
    }

    @inline(__always)
    func endStructureChange() {
        let version = cp_relaxed64(base + IndexLayout.structureOffset)
        set64(IndexLayout.structureOffset, (version | 1) &+ 1)
    }

    /// Takes an unused entry number; the table is split by one bucket to stay as wide as it has entries.
    /// Needs the lock, within a structure change.
    func allocateEntry() throws(StorageError) -> UInt32 {
        let free = word32(IndexLayout.freeHeadOffset)
        if free != 0, let slot = entry(free) {
            set32(IndexLayout.freeHeadOffset, slot.chainNext)
            return free
        }
        let next = word32(IndexLayout.entryHighWaterOffset) + 1
        if next > word32(IndexLayout.entryCapacityOffset) {
            try grow(toHold: Int(next) + Int(next) / 8)
        }
        set32(IndexLayout.entryHighWaterOffset, next)
        if next > bucketCount { splitNextBucket() }
        return next
    }

    /// Entries that can be added before the file must grow.
    func reserveEntry() throws(StorageError) {
        guard word32(IndexLayout.freeHeadOffset) == 0 else { return }
        let next = word32(IndexLayout.entryHighWaterOffset) + 1
        if next > word32(IndexLayout.entryCapacityOffset) {
            try grow(toHold: Int(next) + Int(next) / 8)
        }
    }

    /// Gives an entry number back. Needs the lock, within a structure change.
    @inline(__always)
    func freeEntry(_ number: UInt32, _ slot: EntrySlot) {
        slot.location = .none
        slot.chainNext = word32(IndexLayout.freeHeadOffset)
        set32(IndexLayout.freeHeadOffset, number)
    }

    @inline(__always)
    func insertIntoChain(_ number: UInt32, _ slot: EntrySlot) {
        let bucket = bucket(of: slot.tag, count: bucketCount)
        slot.chainNext = bucketHead(bucket)
        setBucketHead(bucket, number)
    }

    @inline(__always)
    func removeFromChain(_ number: UInt32, _ slot: EntrySlot) {
        let bucket = bucket(of: slot.tag, count: bucketCount)
        var current = bucketHead(bucket)
        if current == number {
            setBucketHead(bucket, slot.chainNext)
            return
        }
        while let candidate = entry(current) {
            if candidate.chainNext == number {
                candidate.chainNext = slot.chainNext
                return
            }
            current = candidate.chainNext
        }
    }

    /// Spreads the entries of one bucket over it and a new one.
    private func splitNextBucket() {
        let count = bucketCount
        guard count < word32(IndexLayout.entryCapacityOffset) else { return }
        let half = (UInt32.max >> UInt32(count.leadingZeroBitCount)) >> 1
        let old = count & half
        var stay: UInt32 = 0
        var move: UInt32 = 0
        var current = bucketHead(old)
        let grown = count + 1
        while let slot = entry(current) {
            let next = slot.chainNext
            if bucket(of: slot.tag, count: grown) == count {
                slot.chainNext = move
                move = current
            } else {
                slot.chainNext = stay
                stay = current
            }
            current = next
        }
        setBucketHead(count, move)
        set32(IndexLayout.bucketCountOffset, grown)
        setBucketHead(old, stay)
    }
}
