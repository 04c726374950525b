import CPlatform

/// A bucket: 64 bytes, five cells, each with a few bits of the hash, the frame's location and the entry's
/// number, and the first of a chain of entries for which no cell is free. A look-up thus meets one cache
/// line of the index before the frame itself. Layout: OnDiskFormat, "Buckets".
///
/// Changed under the archive's lock; read by anyone, each word atomically.
struct Bucket {
    static let bytes = 64
    static let cells = 5

    let base: UnsafeMutableRawPointer

    @inline(__always)
    init(_ base: UnsafeMutableRawPointer) { self.base = base }

    /// 0: the cell is free.
    @inline(__always)
    func cell(_ place: Int) -> UInt64 { cp_load64(base + 8 * place) }
    @inline(__always)
    func setCell(_ place: Int, _ cell: UInt64) { cp_store64(base + 8 * place, cell) }
    @inline(__always)
    func number(_ place: Int) -> UInt32 { cp_relaxed32(base + 40 + 4 * place) }
    @inline(__always)
    func setNumber(_ place: Int, _ number: UInt32) { cp_relaxed_store32(base + 40 + 4 * place, number) }
    @inline(__always) var overflow: UInt32 {
        get { cp_load32(base + 60) }
        nonmutating set { cp_store32(base + 60, newValue) }
    }

    func clear() {
        for place in 0..<Bucket.cells { setCell(place, 0) }
        overflow = 0
    }

    /// The place whose cell names the entry, if one does.
    @inline(__always)
    func place(of number: UInt32) -> Int? {
        for place in 0..<Bucket.cells where self.number(place) == number && cell(place) != 0 { return place }
        return nil
    }

    /// The bit of a cell that sends look-ups to the entry's own line: it has a deadline, or only one process has it.
    static let look: UInt64 = 1 << 63

    /// What is in the 15 bits below: bits of the hash that the bucket's own number does not tell.
    @inline(__always)
    static func mark(_ tag: UInt32) -> UInt64 { UInt64((tag &* 0x9E37_79B1) >> 17) }

    @inline(__always)
    static func mark(in cell: UInt64) -> UInt64 { (cell << 1) >> 49 }

    /// Mark, 25 bits of the segment's number and 23 bits of the offset divided by 8: a frame begins in the
    /// first 64 MiB of its segment, and segments that exist at the same time are never 2²⁵ apart.
    @inline(__always)
    static func cell(tag: UInt32, location: Location) -> UInt64 {
        mark(tag) << 48 | UInt64(location.segment & 0x1ff_ffff) << 23 | location.raw & 0x7f_ffff
    }

    @inline(__always)
    static func cell(of slot: EntrySlot, at location: Location) -> UInt64 {
        cell(tag: slot.tag, location: location) | (slot.needsLook ? look : 0)
    }

    /// The location in a cell, given the number of a segment that exists at about the same time. (The newest
    /// that a reader knows of may be a little behind.)
    @inline(__always)
    static func location(in cell: UInt64, near segment: UInt32) -> Location {
        let low = UInt32(truncatingIfNeeded: cell >> 23) & 0x1ff_ffff
        let above = segment &+ UInt32(SegmentLayout.slots)
        let segment = above &- ((above &- low) & 0x1ff_ffff)
        return Location(raw: UInt64(segment) << 32 | cell & 0x7f_ffff)
    }
}

/// A way along entries that are chained by ``EntrySlot/chainNext``. However long a chain is, each of its entries is met; a
/// damaged one that leads back into itself ends where it does so. (R. P. Brent: "An improved Monte Carlo factorization
/// algorithm", BIT 20, 1980: an entry is remembered after 1, 2, 4, … steps, and is met again if there is a ring.)
struct ChainWalk {
    private let index: IndexMemory
    private let first: UInt32
    private var slot: EntrySlot?
    private var remembered: UInt32 = 0
    private var lap = 1
    private var left = 1
    /// Number of the entry that was met last.
    private(set) var number: UInt32 = 0
    /// Whether the chain ended because it leads back into itself.
    private(set) var isRing = false

    @inline(__always)
    init(_ index: IndexMemory, from first: UInt32) {
        self.index = index
        self.first = first
    }

    @inline(__always)
    mutating func next() -> EntrySlot? {
        let number = slot?.chainNext ?? first
        guard let slot = index.entry(number) else { return nil }
        if number == remembered {
            isRing = true
            return nil
        }
        left -= 1
        if left == 0 {
            remembered = number
            lap &*= 2
            left = lap
        }
        self.number = number
        self.slot = slot
        return slot
    }
}

/// The buckets of the index: linear hashing, one bucket split for every few entries added, so that growth
/// never stops anyone for longer than a split. (P.-Å. Larson: "Dynamic Hash Tables", CACM 31(4), 1988.)
///
/// Changes need the archive's lock. Looking needs none: a reader that finds nothing believes it only if
/// `structure` was even and unchanged meanwhile; otherwise it looks again (OnDiskFormat, "Reading without
/// the lock").
extension IndexMemory {
    static let firstBuckets: UInt32 = 64

    @inline(__always)
    func bucketNumber(of tag: UInt32, count: UInt32) -> UInt32 {
        guard count > 1 else { return 0 }
        let mask = UInt32.max >> UInt32((count - 1).leadingZeroBitCount)
        let bucket = tag & mask
        return bucket < count ? bucket : bucket & (mask >> 1)
    }

    @inline(__always)
    func bucket(of tag: UInt32) -> Bucket? { bucket(bucketNumber(of: tag, count: bucketCount)) }

    /// Sizes an empty table for about `count` entries.
    func prepare(forEntries count: Int) throws(StorageError) {
        guard count > IndexLayout.chunkEntries else { return }
        try grow(toHold: count)
        bucketCount = UInt32(count * IndexLayout.chunkBuckets / IndexLayout.chunkEntries)
    }

    // MARK: Entries in buckets. Each needs the lock, and a structure change around it.

    @inline(__always)
    func insertIntoBucket(_ number: UInt32, _ slot: EntrySlot) {
        guard let bucket = bucket(of: slot.tag) else { return }
        insert(number, slot, into: bucket)
    }

    @inline(__always)
    private func insert(_ number: UInt32, _ slot: EntrySlot, into bucket: Bucket) {
        for place in 0..<Bucket.cells where bucket.cell(place) == 0 {
            bucket.setNumber(place, number)
            bucket.setCell(place, Bucket.cell(of: slot, at: slot.location))
            return
        }
        slot.chainNext = bucket.overflow
        bucket.overflow = number
    }

    @inline(__always)
    func removeFromBucket(_ number: UInt32, _ slot: EntrySlot) {
        guard let bucket = bucket(of: slot.tag) else { return }
        if let place = bucket.place(of: number) {
            if bucket.cell(place) & ~Bucket.look != Bucket.cell(tag: slot.tag, location: slot.location) {
                declareDamaged()
            }
            bucket.setCell(place, 0)
            // A free cell is of more use than a chain.
            let first = bucket.overflow
            if let chained = entry(first) {
                bucket.overflow = chained.chainNext
                insert(first, chained, into: bucket)
            }
            return
        }
        if bucket.overflow == number {
            bucket.overflow = slot.chainNext
            return
        }
        var chain = ChainWalk(self, from: bucket.overflow)
        while let candidate = chain.next() {
            if candidate.chainNext == number {
                candidate.chainNext = slot.chainNext
                return
            }
        }
        // Not where it must be: links of this index cannot be relied on.
        declareDamaged()
    }

    /// Lets the entry name another frame; readers see the old or the new one, so this is no structure change.
    @inline(__always)
    func setLocation(_ number: UInt32, _ slot: EntrySlot, _ location: Location) {
        let before = slot.location
        slot.location = location
        setCell(of: number, slot, location, replacing: before)
    }

    /// Brings an entry's cell in line with what it names, and with whether its line has to be looked at.
    @inline(__always)
    func setCell(of number: UInt32, _ slot: EntrySlot, _ location: Location, replacing before: Location) {
        guard let bucket = bucket(of: slot.tag), let place = bucket.place(of: number) else { return }
        if bucket.cell(place) & ~Bucket.look != Bucket.cell(tag: slot.tag, location: before) {
            declareDamaged()
        }
        bucket.setCell(place, Bucket.cell(of: slot, at: location))
    }

    // MARK: Entry numbers

    /// Makes sure that the next ``allocateEntry()`` finds room in the file.
    @inline(__always)
    func reserveEntry() throws(StorageError) {
        let free = freeHead
        if free != 0 {
            if let slot = entry(free), slot.location == .none { return }
            // An entry in use must not be given away. The free ones are lost until the index is built anew.
            declareDamaged()
            freeHead = 0
        }
        let used = entryHighWater
        let capacity = entryCapacity
        if used >= capacity {
            // More in use than there is room for: what growing by such a number costs has no bound.
            guard used == capacity else { throw contradiction(IndexLayout.entryHighWaterOffset) }
            try grow(toHold: Int(used) + 1 + Int(used) / 16)
        }
        // The file is shorter than the capacity says: an entry that isn't there would be acknowledged and lost.
        guard entry(used &+ 1) != nil else { throw contradiction(IndexLayout.entryCapacityOffset) }
    }

    /// Declares the index damaged, and says so.
    func contradiction(_ offset: Int) -> StorageError {
        declareDamaged()
        return .corrupted(
            path: path, offset: offset,
            reason:
                "the index contradicts itself; it is built anew when all processes have closed the archive")
    }

    /// Takes an entry that is free out of the list of those.
    func unlinkFree(_ number: UInt32, _ slot: EntrySlot) {
        guard freeHead != number else { return freeHead = slot.chainNext }
        // What it says was before it in the list is so only while that one is free itself.
        guard let before = entry(slot.newer), before.location == .none, before.chainNext == number else {
            return declareDamaged()
        }
        before.chainNext = slot.chainNext
        entry(slot.chainNext)?.newer = slot.newer
    }

    /// Takes an entry number after ``reserveEntry()``, and splits a bucket when there are many entries.
    @inline(__always)
    func allocateEntry() -> UInt32 {
        let free = freeHead
        if free != 0, let slot = entry(free) {
            freeHead = slot.chainNext
            return free
        }
        let next = entryHighWater &+ 1
        entryHighWater = next
        let count = Int(bucketCount)
        if Int(next) * IndexLayout.chunkBuckets > count * IndexLayout.chunkEntries { splitNextBucket() }
        return next
    }

    @inline(__always)
    func freeEntry(_ number: UInt32, _ slot: EntrySlot) {
        slot.clear()
        let next = freeHead
        slot.chainNext = next
        entry(next)?.newer = number
        freeHead = number
    }

    /// Spreads the entries of one bucket over it and a new one.
    @inline(never)
    private func splitNextBucket() {
        let buckets = bucketCount
        guard let new = bucket(buckets) else { return }
        let half = (UInt32.max >> UInt32(buckets.leadingZeroBitCount)) >> 1
        guard let old = bucket(buckets & half) else { return }
        let (chain, count) = chained(old)
        old.clear()
        new.clear()
        crashPoint(.bucketSplit)
        bucketCount = buckets &+ 1
        insert(chain, count)
    }

    /// Puts the entries of the last bucket into the one that was split for it.
    func mergeLastBucket() {
        guard bucketCount > IndexMemory.firstBuckets else { return }
        let last = bucketCount &- 1
        guard let old = bucket(last) else { return declareDamaged() }
        let (chain, count) = chained(old)
        old.clear()
        bucketCount = last
        crashPoint(.bucketMerged)
        insert(chain, count)
    }

    /// Chains all entries of a bucket. Its cells and its own chain are void then.
    private func chained(_ bucket: Bucket) -> (first: UInt32, count: Int) {
        var first: UInt32 = 0
        for place in 0..<Bucket.cells where bucket.cell(place) != 0 {
            if let slot = entry(bucket.number(place)) { cp_prefetch(slot.base) }
        }
        for place in 0..<Bucket.cells where bucket.cell(place) != 0 {
            guard let slot = entry(bucket.number(place)) else { continue }
            slot.chainNext = first
            first = bucket.number(place)
        }
        // Counted first: relinking a chain that leads back into itself would have no end.
        var walk = ChainWalk(self, from: bucket.overflow)
        var count = 0
        while walk.next() != nil { count += 1 }
        if walk.isRing { declareDamaged() }
        var next = bucket.overflow
        for _ in 0..<count {
            guard let slot = entry(next) else { break }
            let behind = slot.chainNext
            slot.chainNext = first
            first = next
            next = behind
        }
        return (first, count + Bucket.cells)
    }

    /// Puts entries that are chained into their buckets.
    private func insert(_ first: UInt32, _ count: Int) {
        var next = first
        for _ in 0..<count {
            guard let slot = entry(next), let bucket = bucket(of: slot.tag) else { break }
            let number = next
            next = slot.chainNext
            insert(number, slot, into: bucket)
        }
    }

    /// Lets the bucket of an entry name it by its new number.
    func renumberInBucket(from old: UInt32, to new: UInt32, _ slot: EntrySlot) {
        guard let bucket = bucket(of: slot.tag) else { return declareDamaged() }
        if let place = bucket.place(of: old) { return bucket.setNumber(place, new) }
        guard bucket.overflow != old else { return bucket.overflow = new }
        var chain = ChainWalk(self, from: bucket.overflow)
        while let candidate = chain.next() {
            if candidate.chainNext == old { return candidate.chainNext = new }
        }
        declareDamaged()
    }
}
