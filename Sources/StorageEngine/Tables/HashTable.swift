import CPlatform

/// 64 bytes with five cells and the first of a chain of entries without a cell, so a look-up reads one cache line of the index
/// (OnDiskFormat, "Buckets"). Only ``HashTable`` changes it, under the archive's lock; readers load words atomically.
struct Bucket {
    static let cells = 5

    private let base: UnsafeMutableRawPointer

    @inline(__always) init(_ base: UnsafeMutableRawPointer) { self.base = base }

    /// The content of a cell; 0: the cell is free.
    @inline(__always) func cell(_ place: Int) -> UInt64 { cp_load64(base + 8 * place) }
    @inline(__always)
    fileprivate func setCell(_ place: Int, _ cell: UInt64) { cp_store64(base + 8 * place, cell) }
    @inline(__always) func number(_ place: Int) -> UInt32 { cp_relaxed32(base + 40 + 4 * place) }
    @inline(__always) fileprivate func setNumber(_ place: Int, _ number: UInt32) {
        cp_relaxed_store32(base + 40 + 4 * place, number)
    }
    /// The first entry of the overflow chain; 0: the chain is empty.
    @inline(__always) fileprivate(set) var overflow: UInt32 {
        get { cp_load32(base + 60) }
        nonmutating set { cp_store32(base + 60, newValue) }
    }

    fileprivate func clear() {
        for place in 0..<Bucket.cells { setCell(place, 0) }
        overflow = 0
    }

    @inline(__always) func place(of number: UInt32) -> Int? {
        for place in 0..<Bucket.cells where self.number(place) == number && cell(place) != 0 { return place }
        return nil
    }

    @inline(__always) func prefetch() { cp_prefetch(base) }

    /// The bit of a cell that sends look-ups to the entry's slot: the entry expires, is memory-only, or is tombstoned.
    static let look: UInt64 = 1 << 63

    /// Bits 48 to 62 of a cell: hash bits that the bucket's number doesn't imply.
    @inline(__always) static func mark(_ tag: UInt32) -> UInt64 { UInt64((tag &* 0x9E37_79B1) >> 17) }

    @inline(__always) static func mark(in cell: UInt64) -> UInt64 { (cell << 1) >> 49 }

    /// The mark, 25 bits of the segment's number, and 23 bits of the offset divided by 8. That suffices: a frame begins in the
    /// first 64 MiB of its segment, and segments that exist at the same time are never 2²⁵ apart.
    @inline(__always) static func cell(tag: UInt32, location: Location) -> UInt64 {
        mark(tag) << 48 | UInt64(location.segment & 0x1ff_ffff) << 23 | location.raw & 0x7f_ffff
    }

    @inline(__always) static func cell<Right>(of slot: EntrySlot<Right>, at location: Location) -> UInt64 {
        cell(tag: slot.tag, location: location) | (slot.needsSlot ? look : 0)
    }

    /// The location in a cell, given the number of a segment that exists at about the same time.
    @inline(__always) static func location(in cell: UInt64, near segment: UInt32) -> Location {
        let low = UInt32(truncatingIfNeeded: cell >> 23) & 0x1ff_ffff
        let above = segment &+ UInt32(SegmentLayout.slots)
        let segment = above &- ((above &- low) & 0x1ff_ffff)
        return Location(raw: UInt64(segment) << 32 | cell & 0x7f_ffff)
    }
}

/// The buckets of the index, a view: linear hashing, which splits one bucket for every few entries added. (P.-Å. Larson: "Dynamic
/// Hash Tables", CACM 31(4), 1988.)
///
/// Invariants while ``MappedIndex/structureVersion`` is even: each entry that names a frame, tombstoned or not, is once in the
/// bucket of its tag, in a cell or in the chain; its cell and its slot name the same frame; no chain has a cycle. The version is
/// odd while entries are moved. Changes require a write lock guard, reading doesn't (F6): a miss counts only if the version was
/// even and unchanged (OnDiskFormat, "Reading without the lock"). Damage never leads outside the mapping, and walks end (F4).
struct HashTable<Right> {
    let index: MappedIndex<Right>

    @inline(__always) fileprivate init(_ index: MappedIndex<Right>) { self.index = index }

    @inline(__always) func number(of tag: UInt32, count: UInt32) -> UInt32 {
        guard count > 1 else { return 0 }
        let mask = UInt32.max >> UInt32((count - 1).leadingZeroBitCount)
        let bucket = tag & mask
        return bucket < count ? bucket : bucket & (mask >> 1)
    }

    /// The bucket with this number; `nil` if it can't be mapped at the moment.
    @inline(__always)
    func bucket(of tag: UInt32) -> Bucket? { index.bucket(number(of: tag, count: index.bucketCount)) }

    @inline(__always) func prefetch(_ tag: UInt32) { bucket(of: tag)?.prefetch() }

    @inline(__always)
    func chain(of bucket: Bucket) -> ChainWalk<Right> { ChainWalk(index, from: bucket.overflow) }

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

    @inline(__always) func bucket(_ number: UInt32) -> Bucket? {
        guard let address = memory.bucketAddress(number) else { return nil }
        return Bucket(address)
    }
}

extension HashTable where Right == Changing {
    func prepare(forEntries count: Int) throws(StorageError) {
        guard count > IndexLayout.chunkEntries else { return }
        try index.grow(toHold: count)
        index.setBucketCount(UInt32(count * IndexLayout.chunkBuckets / IndexLayout.chunkEntries))
    }

    func clear() { for number in 0..<index.usedBuckets { index.bucket(number)?.clear() } }

    // MARK: Entries in buckets. All but the last two must be inside a structure change.

    @inline(__always) func insert(_ number: UInt32, _ slot: ChangingSlot) {
        // Look-ups would not find an entry without a bucket: the next opening rebuilds the index.
        guard let bucket = bucket(of: slot.tag) else { return index.declareDamaged() }
        insert(number, slot, into: bucket)
    }

    @inline(__always) private func insert(_ number: UInt32, _ slot: ChangingSlot, into bucket: Bucket) {
        for place in 0..<Bucket.cells where bucket.cell(place) == 0 {
            bucket.setNumber(place, number)
            bucket.setCell(place, Bucket.cell(of: slot, at: slot.location))
            return
        }
        slot.setChainNext(bucket.overflow)
        bucket.overflow = number
    }

    @inline(__always) func remove(_ number: UInt32, _ slot: ChangingSlot) {
        guard let bucket = bucket(of: slot.tag) else { return }
        if let place = bucket.place(of: number) {
            if bucket.cell(place) & ~Bucket.look != Bucket.cell(tag: slot.tag, location: slot.location) {
                index.declareDamaged()
            }
            bucket.setCell(place, 0)
            let first = bucket.overflow
            if let chained = index.entry(first) {
                bucket.overflow = chained.chainNext
                insert(first, chained, into: bucket)
            }
            return
        }
        replaceLink(to: number, by: slot.chainNext, in: bucket)
    }

    /// Changes the link of a bucket's chain that names an entry.
    @inline(__always) private func replaceLink(to number: UInt32, by next: UInt32, in bucket: Bucket) {
        guard bucket.overflow != number else { return bucket.overflow = next }
        var chain = chain(of: bucket)
        while let candidate = chain.next() {
            if candidate.chainNext == number { return candidate.setChainNext(next) }
        }
        // The entry isn't in its bucket: the links of this index can't be trusted.
        index.declareDamaged()
    }

    /// Readers see the old or the new frame, so this is no structure change.
    @inline(__always) func setLocation(_ number: UInt32, _ slot: ChangingSlot, _ location: Location) {
        let before = slot.location
        slot.setLocation(location)
        setCell(of: number, slot, location, replacing: before)
    }

    /// Updates an entry's cell: the frame that it names, and whether look-ups must read its slot.
    @inline(__always)
    func setCell(of number: UInt32, _ slot: ChangingSlot, _ location: Location, replacing before: Location) {
        guard let bucket = bucket(of: slot.tag), let place = bucket.place(of: number) else { return }
        if bucket.cell(place) & ~Bucket.look != Bucket.cell(tag: slot.tag, location: before) {
            index.declareDamaged()
        }
        bucket.setCell(place, Bucket.cell(of: slot, at: location))
    }

    /// Far more than the processes that can have died between taking an entry number and splitting a bucket.
    private static var mostPendingSplits: Int { IndexLayout.chunkBuckets }

    /// Distributes the entries of one bucket over it and a new one.
    @inline(never) func splitNext() {
        let buckets = index.bucketCount
        // A bucket in use must not become the new one. A process that died before its split leaves one bucket too few.
        let needed = Int(index.usedEntries) * IndexLayout.chunkBuckets / IndexLayout.chunkEntries
        guard Int(buckets) + HashTable.mostPendingSplits > needed, let new = index.bucket(buckets) else {
            return index.declareDamaged()
        }
        let half = (UInt32.max >> UInt32(buckets.leadingZeroBitCount)) >> 1
        guard let old = index.bucket(buckets & half) else { return }
        let (chain, count) = chained(old)
        old.clear()
        new.clear()
        crashPoint(.bucketSplit)
        index.setBucketCount(buckets &+ 1)
        insert(chain, count)
        // Prefetches the slots for the next split, which are spread over the index, while some entries are added.
        if let next = index.bucket((buckets &+ 1) & half) { prefetchEntries(of: next) }
    }

    @inline(__always) private func prefetchEntries(of bucket: Bucket) {
        for place in 0..<Bucket.cells where bucket.cell(place) != 0 {
            index.entry(bucket.number(place))?.prefetch()
        }
        index.entry(bucket.overflow)?.prefetch()
    }

    /// Moves the last bucket's entries into the one that was split for it; `false`: the index claims more buckets than it has.
    func mergeLast() -> Bool {
        guard index.bucketCount > IndexLayout.firstBuckets else { return false }
        let last = index.bucketCount &- 1
        guard let old = index.bucket(last) else {
            index.declareDamaged()
            return false
        }
        let (chain, count) = chained(old)
        old.clear()
        index.setBucketCount(last)
        crashPoint(.bucketMerged)
        insert(chain, count)
        return true
    }

    /// Chains all entries of a bucket. Afterwards its cells and its own chain are invalid.
    private func chained(_ bucket: Bucket) -> (first: UInt32, count: Int) {
        var first: UInt32 = 0
        prefetchEntries(of: bucket)
        for place in 0..<Bucket.cells where bucket.cell(place) != 0 {
            guard let slot = index.entry(bucket.number(place)) else { continue }
            slot.setChainNext(first)
            first = bucket.number(place)
        }
        // Counts first, because relinking a chain with a cycle would never end.
        var walk = chain(of: bucket)
        var count = 0
        while walk.next() != nil { count += 1 }
        if walk.isBroken { index.declareDamaged() }
        var next = bucket.overflow
        for _ in 0..<count {
            guard let slot = index.entry(next) else { break }
            let behind = slot.chainNext
            slot.setChainNext(first)
            first = next
            next = behind
        }
        return (first, count + Bucket.cells)
    }

    private func insert(_ first: UInt32, _ count: Int) {
        var next = first
        for _ in 0..<count {
            guard let slot = index.entry(next), let bucket = bucket(of: slot.tag) else { break }
            let number = next
            next = slot.chainNext
            insert(number, slot, into: bucket)
        }
    }

    func renumber(from old: UInt32, to new: UInt32, _ slot: ChangingSlot) {
        guard let bucket = bucket(of: slot.tag) else { return index.declareDamaged() }
        if let place = bucket.place(of: old) { return bucket.setNumber(place, new) }
        replaceLink(to: old, by: new, in: bucket)
    }
}
