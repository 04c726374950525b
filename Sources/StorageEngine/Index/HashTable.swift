import CPlatform

/// A bucket: 64 bytes, five cells, each with a few bits of the hash, the frame's location and the entry's
/// number, and the first of a chain of entries for which no cell is free. A look-up thus meets one cache
/// line of the index before the frame itself. Layout: OnDiskFormat, "Buckets".
///
/// Changed by ``HashTable`` alone, under the archive's lock; read by anyone, each word atomically.
struct Bucket {
    static let bytes = 64
    static let cells = 5

    private let base: UnsafeMutableRawPointer

    @inline(__always)
    init(_ base: UnsafeMutableRawPointer) { self.base = base }

    /// 0: the cell is free.
    @inline(__always)
    func cell(_ place: Int) -> UInt64 { cp_load64(base + 8 * place) }
    @inline(__always)
    fileprivate func setCell(_ place: Int, _ cell: UInt64) { cp_store64(base + 8 * place, cell) }
    @inline(__always)
    func number(_ place: Int) -> UInt32 { cp_relaxed32(base + 40 + 4 * place) }
    @inline(__always)
    fileprivate func setNumber(_ place: Int, _ number: UInt32) {
        cp_relaxed_store32(base + 40 + 4 * place, number)
    }
    /// The first entry of the chain; 0: there is none.
    @inline(__always) fileprivate(set) var overflow: UInt32 {
        get { cp_load32(base + 60) }
        nonmutating set { cp_store32(base + 60, newValue) }
    }

    fileprivate func clear() {
        for place in 0..<Bucket.cells { setCell(place, 0) }
        overflow = 0
    }

    /// The place whose cell names the entry, if one does.
    @inline(__always)
    func place(of number: UInt32) -> Int? {
        for place in 0..<Bucket.cells where self.number(place) == number && cell(place) != 0 { return place }
        return nil
    }

    @inline(__always)
    func prefetch() { cp_prefetch(base) }

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
    static func cell<Right>(of slot: EntrySlot<Right>, at location: Location) -> UInt64 {
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

/// The buckets of the index: linear hashing, one bucket split for every few entries added, so that growth
/// never stops anyone for longer than a split. (P.-Å. Larson: "Dynamic Hash Tables", CACM 31(4), 1988.) A view of the
/// mapped index, valid as long as that is.
///
/// Invariants: each entry that names a frame, also one that is set aside, is in the bucket of its tag once, in a cell or in
/// the chain; its cell says the same frame as its line; no chain leads back into itself. They hold while
/// ``MappedIndex/structureVersion`` is even; whoever moves entries between cells and chains makes it odd meanwhile.
///
/// Changes need a section. Looking needs none (F6): a reader that finds nothing believes it only if that version was even
/// and unchanged meanwhile; otherwise it looks again (OnDiskFormat, "Reading without the lock"). A damaged bucket or chain
/// leads nowhere outside what is mapped, and no walk is without end (F4).
struct HashTable<Right> {
    let index: MappedIndex<Right>

    @inline(__always)
    fileprivate init(_ index: MappedIndex<Right>) { self.index = index }

    /// The number of the bucket of a tag, where there are `count`.
    @inline(__always)
    func number(of tag: UInt32, count: UInt32) -> UInt32 {
        guard count > 1 else { return 0 }
        let mask = UInt32.max >> UInt32((count - 1).leadingZeroBitCount)
        let bucket = tag & mask
        return bucket < count ? bucket : bucket & (mask >> 1)
    }

    /// `nil`: it can't be reached just now.
    @inline(__always)
    func bucket(of tag: UInt32) -> Bucket? { index.bucket(number(of: tag, count: index.bucketCount)) }

    /// Prefetches the bucket of a tag.
    @inline(__always)
    func prefetch(_ tag: UInt32) { bucket(of: tag)?.prefetch() }

    /// The way along a bucket's chain.
    @inline(__always)
    func chain(of bucket: Bucket) -> ChainWalk<Right> { ChainWalk(index, from: bucket.overflow) }

    /// The number of the entry whose frame is at `location`, or `nil` when none is any more.
    func entry(at location: Location, tag: UInt32) -> UInt32? {
        guard let bucket = bucket(of: tag) else { return nil }
        let cell = Bucket.cell(tag: tag, location: location)
        for place in 0..<Bucket.cells where bucket.cell(place) & ~Bucket.look == cell {
            return bucket.number(place)
        }
        guard bucket.overflow != 0 else { return nil }
        var chain = chain(of: bucket)
        while let slot = chain.next() { if slot.location == location { return chain.number } }
        return nil
    }
}

extension MappedIndex {
    @inline(__always) var table: HashTable<Right> { HashTable(self) }
}

extension HashTable where Right == Changing {
    /// Sizes an empty table for about `count` entries.
    func prepare(forEntries count: Int) throws(StorageError) {
        guard count > IndexLayout.chunkEntries else { return }
        try index.grow(toHold: count)
        index.bucketCount = UInt32(count * IndexLayout.chunkBuckets / IndexLayout.chunkEntries)
    }

    /// No entry is in any bucket.
    func clear() { for number in 0..<index.usedBuckets { index.bucket(number)?.clear() } }

    // MARK: Entries in buckets. All but the last two need a structure change around them.

    @inline(__always)
    func insert(_ number: UInt32, _ slot: ChangingSlot) {
        // In no bucket look-ups would not find it: the next who opens the archive makes the index anew.
        guard let bucket = bucket(of: slot.tag) else { return index.declareDamaged() }
        insert(number, slot, into: bucket)
    }

    @inline(__always)
    private func insert(_ number: UInt32, _ slot: ChangingSlot, into bucket: Bucket) {
        for place in 0..<Bucket.cells where bucket.cell(place) == 0 {
            bucket.setNumber(place, number)
            bucket.setCell(place, Bucket.cell(of: slot, at: slot.location))
            return
        }
        slot.chainNext = bucket.overflow
        bucket.overflow = number
    }

    @inline(__always)
    func remove(_ number: UInt32, _ slot: ChangingSlot) {
        guard let bucket = bucket(of: slot.tag) else { return }
        if let place = bucket.place(of: number) {
            if bucket.cell(place) & ~Bucket.look != Bucket.cell(tag: slot.tag, location: slot.location) {
                index.declareDamaged()
            }
            bucket.setCell(place, 0)
            // A free cell is of more use than a chain.
            let first = bucket.overflow
            if let chained = index.entry(first) {
                bucket.overflow = chained.chainNext
                insert(first, chained, into: bucket)
            }
            return
        }
        if bucket.overflow == number {
            bucket.overflow = slot.chainNext
            return
        }
        var chain = chain(of: bucket)
        while let candidate = chain.next() {
            if candidate.chainNext == number {
                candidate.chainNext = slot.chainNext
                return
            }
        }
        // Not where it must be: links of this index cannot be relied on.
        index.declareDamaged()
    }

    /// Lets the entry name another frame; readers see the old or the new one, so this is no structure change.
    @inline(__always)
    func setLocation(_ number: UInt32, _ slot: ChangingSlot, _ location: Location) {
        let before = slot.location
        slot.location = location
        setCell(of: number, slot, location, replacing: before)
    }

    /// Brings an entry's cell in line with what it names, and with whether its line has to be looked at.
    @inline(__always)
    func setCell(of number: UInt32, _ slot: ChangingSlot, _ location: Location, replacing before: Location) {
        guard let bucket = bucket(of: slot.tag), let place = bucket.place(of: number) else { return }
        if bucket.cell(place) & ~Bucket.look != Bucket.cell(tag: slot.tag, location: before) {
            index.declareDamaged()
        }
        bucket.setCell(place, Bucket.cell(of: slot, at: location))
    }

    // MARK: Growing and getting smaller

    /// Far more than have died between taking an entry number and splitting a bucket for it.
    private static var splitsOwedAtMost: Int { IndexLayout.chunkBuckets }

    /// Spreads the entries of one bucket over it and a new one.
    @inline(never)
    func splitNext() {
        let buckets = index.bucketCount
        // One that is in use would be taken for the new one. Whoever died before it split one leaves one too few.
        let needed = Int(index.usedEntries) * IndexLayout.chunkBuckets / IndexLayout.chunkEntries
        guard Int(buckets) + HashTable.splitsOwedAtMost > needed, let new = index.bucket(buckets) else {
            return index.declareDamaged()
        }
        let half = (UInt32.max >> UInt32(buckets.leadingZeroBitCount)) >> 1
        guard let old = index.bucket(buckets & half) else { return }
        let (chain, count) = chained(old)
        old.clear()
        new.clear()
        crashPoint(.bucketSplit)
        index.bucketCount = buckets &+ 1
        insert(chain, count)
        // The lines of the next one's entries are all over the index: they arrive while some entries are added.
        if let next = index.bucket((buckets &+ 1) & half) { prefetchEntries(of: next) }
    }

    @inline(__always)
    private func prefetchEntries(of bucket: Bucket) {
        for place in 0..<Bucket.cells where bucket.cell(place) != 0 {
            index.entry(bucket.number(place))?.prefetch()
        }
        index.entry(bucket.overflow)?.prefetch()
    }

    /// Puts the entries of the last bucket into the one that was split for it; `false` where the index claims more buckets
    /// than it has, so that nobody goes on for as long as it claims.
    func mergeLast() -> Bool {
        guard index.bucketCount > IndexLayout.firstBuckets else { return false }
        let last = index.bucketCount &- 1
        guard let old = index.bucket(last) else {
            index.declareDamaged()
            return false
        }
        let (chain, count) = chained(old)
        old.clear()
        index.bucketCount = last
        crashPoint(.bucketMerged)
        insert(chain, count)
        return true
    }

    /// Chains all entries of a bucket. Its cells and its own chain are void then.
    private func chained(_ bucket: Bucket) -> (first: UInt32, count: Int) {
        var first: UInt32 = 0
        prefetchEntries(of: bucket)
        for place in 0..<Bucket.cells where bucket.cell(place) != 0 {
            guard let slot = index.entry(bucket.number(place)) else { continue }
            slot.chainNext = first
            first = bucket.number(place)
        }
        // Counted first: relinking a chain that leads back into itself would have no end.
        var walk = chain(of: bucket)
        var count = 0
        while walk.next() != nil { count += 1 }
        if walk.isRing { index.declareDamaged() }
        var next = bucket.overflow
        for _ in 0..<count {
            guard let slot = index.entry(next) else { break }
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
            guard let slot = index.entry(next), let bucket = bucket(of: slot.tag) else { break }
            let number = next
            next = slot.chainNext
            insert(number, slot, into: bucket)
        }
    }

    /// Lets the bucket of an entry name it by its new number.
    func renumber(from old: UInt32, to new: UInt32, _ slot: ChangingSlot) {
        guard let bucket = bucket(of: slot.tag) else { return index.declareDamaged() }
        if let place = bucket.place(of: old) { return bucket.setNumber(place, new) }
        guard bucket.overflow != old else { return bucket.overflow = new }
        var chain = chain(of: bucket)
        while let candidate = chain.next() {
            if candidate.chainNext == old { return candidate.chainNext = new }
        }
        index.declareDamaged()
    }
}
