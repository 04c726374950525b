import CPlatform
import Synchronization

/// The address and size of an index in this process's memory. Never shared with other processes.
struct IndexPlace: ~Copyable {
    /// Address of the latest range. Stored before `knownCapacity` rises, so that the range covers any capacity that is read.
    let address: Atomic<UInt>
    /// Entries that the file is known to have space for and that are mapped at `address`. Only grows.
    let knownCapacity = Atomic<UInt32>(0)

    static func make(_ range: MappedRange) -> UnsafeMutablePointer<IndexPlace> {
        let place = UnsafeMutablePointer<IndexPlace>.allocate(capacity: 1)
        place.initialize(to: IndexPlace(address: Atomic(UInt(bitPattern: range.base))))
        return place
    }

    static func discard(_ place: UnsafeMutablePointer<IndexPlace>) {
        place.deinitialize(count: 1)
        place.deallocate()
    }
}

/// The only access to the bytes of a mapped index, always inside them (F4): offsets are constants of ``IndexLayout`` below the
/// mapped size, and numbers are checked against the capacity, which is checked against the file whenever it grows. Valid as long
/// as the ``IndexMemory``, which every engine owns and views don't retain.
struct IndexBytes: @unchecked Sendable {
    /// Must be first: for the thread sanitizer, `+=` on a property writes the target of its first word, which others must not read.
    private let owner: Unmanaged<IndexMemory>
    private let place: UnsafeMutablePointer<IndexPlace>

    @inline(__always) init(_ place: UnsafeMutablePointer<IndexPlace>, _ owner: Unmanaged<IndexMemory>) {
        self.place = place
        self.owner = owner
    }

    var memory: IndexMemory { owner.takeUnretainedValue() }

    @inline(__always) var base: UnsafeMutableRawPointer {
        // The range stays mapped as long as the memory exists.
        UnsafeMutableRawPointer(bitPattern: place.pointee.address.load(ordering: .acquiring))
            .unsafelyUnwrapped
    }

    /// The only access to the header: the word at an offset that ``IndexLayout`` names.
    @inline(__always) func field(_ offset: Int) -> UnsafeMutableRawPointer {
        assert(offset >= 0 && offset + 8 <= IndexLayout.processTableOffset)
        return base + offset
    }
    @inline(__always) func word32(_ offset: Int) -> UInt32 { cp_load32(field(offset)) }
    @inline(__always) func word64(_ offset: Int) -> UInt64 { cp_load64(field(offset)) }
    @inline(__always) func set32(_ offset: Int, _ value: UInt32) { cp_store32(field(offset), value) }
    @inline(__always) func set64(_ offset: Int, _ value: UInt64) { cp_store64(field(offset), value) }
    @inline(__always) func location(_ offset: Int) -> Location { Location(raw: word64(offset)) }

    /// A count or a sum of bytes, capped at 2⁴⁸ so that arithmetic on a damaged index can't overflow (F4).
    @inline(__always)
    func size(_ offset: Int) -> Int { Int(truncatingIfNeeded: min(word64(offset), 1 << 48)) }

    // MARK: The capacity

    @inline(__always) var claimedCapacity: UInt32 { word32(IndexLayout.entryCapacityOffset) }

    @inline(__always) private func holds(_ number: UInt32) -> Bool {
        number <= place.pointee.knownCapacity.load(ordering: .acquiring) || learn(number)
    }

    /// Whether all entries and buckets of a chunk exist. (In a damaged index, a bucket's number may have any value.)
    @inline(__always) private func holds(chunk: Int) -> Bool {
        guard chunk >= 0, let last = UInt32(exactly: (chunk + 1) * IndexLayout.chunkEntries) else {
            return false
        }
        return holds(last)
    }

    @inline(never) private func learn(_ number: UInt32) -> Bool {
        owner.takeUnretainedValue().updateCapacity(atLeast: number)
    }

    var usedEntries: UInt32 {
        let claimed = word32(IndexLayout.entryHighWaterOffset)
        return holds(claimed) ? claimed : place.pointee.knownCapacity.load(ordering: .relaxed)
    }

    var usedBuckets: UInt32 {
        _ = learn(0)
        let known = place.pointee.knownCapacity.load(ordering: .relaxed)
        return min(
            word32(IndexLayout.bucketCountOffset), UInt32(IndexLayout.buckets(forCapacity: known)))
    }

    /// Maps the index's growth; an unmapped entry would count as missing. Two loads if nothing has grown.
    @inline(__always) func catchUp() throws(StorageError) {
        if claimedCapacity > place.pointee.knownCapacity.load(ordering: .acquiring) {
            try owner.takeUnretainedValue().updateCapacity()
        }
    }

    // MARK: Entries, numbered from 1, and buckets, numbered from 0

    @inline(__always) func entryAddress(_ number: UInt32) -> UnsafeMutableRawPointer? {
        address(of: number, in: 0, bytesEach: IndexLayout.entryBytes)
    }

    @inline(__always) func residencyAddress(_ number: UInt32) -> UnsafeMutableRawPointer? {
        address(of: number, in: IndexLayout.residencyInChunkOffset, bytesEach: IndexLayout.residencyBytes)
    }

    @inline(__always) func markAddress(_ number: UInt32) -> UnsafeMutableRawPointer? {
        address(of: number, in: IndexLayout.marksInChunkOffset, bytesEach: 1)
    }

    @inline(__always) func queueAddress(_ number: UInt32) -> UnsafeMutableRawPointer? {
        address(of: number, in: IndexLayout.queuesInChunkOffset, bytesEach: 1)
    }

    /// A set of fingerprints, counted from 0 over all chunks.
    func ghostAddress(_ set: Int) -> UnsafeMutableRawPointer? {
        let chunk = set / IndexLayout.ghostSets
        guard holds(chunk: chunk) else { return nil }
        return base + IndexLayout.chunksOffset + chunk * IndexLayout.chunkBytes
            + IndexLayout.ghostsInChunkOffset + set % IndexLayout.ghostSets * IndexLayout.ghostSetBytes
    }

    /// The address of an entry's part of a table that begins at `offset` of each chunk.
    @inline(__always) private func address(
        of number: UInt32, in offset: Int, bytesEach: Int
    ) -> UnsafeMutableRawPointer? {
        guard number > 0, holds(number) else { return nil }
        let place = Int(number) - 1
        let chunk = base + IndexLayout.chunksOffset + (place >> 10) * IndexLayout.chunkBytes
        return chunk + offset + (place & 1023) * bytesEach
    }

    /// The bounds of a chunk's expiry times: one for each 32 entries, then that of the chunk.
    func deadlineRows(ofChunk chunk: Int) -> UnsafeMutableRawPointer? {
        guard holds(chunk: chunk) else { return nil }
        return base + IndexLayout.chunksOffset + chunk * IndexLayout.chunkBytes
            + IndexLayout.deadlinesInChunkOffset
    }

    func deadlineGroup(_ group: Int) -> UnsafeMutableRawPointer {
        base + IndexLayout.deadlineGroupsOffset + 8 * min(max(group, 0), IndexLayout.deadlineGroups - 1)
    }

    @inline(__always) func bucketAddress(_ number: UInt32) -> UnsafeMutableRawPointer? {
        let chunk = Int(number) / IndexLayout.chunkBuckets
        let place = Int(number) - chunk * IndexLayout.chunkBuckets
        guard holds(chunk: chunk) else { return nil }
        let first = IndexLayout.chunksOffset + chunk * IndexLayout.chunkBytes
        return base + first + IndexLayout.bucketsInChunkOffset + place * IndexLayout.bucketBytes
    }

    @inline(__always) func segmentAddress(_ segment: UInt32) -> UnsafeMutableRawPointer {
        base + IndexLayout.segmentTableOffset + Int(segment & SegmentLayout.slotMask) * 8
    }

    // MARK: The touch ring

    @inline(__always) func touchAddress(_ stamp: Int) -> UnsafeMutableRawPointer {
        base + IndexLayout.touchRingOffset + (stamp & (IndexLayout.touchCells - 1))
            * IndexLayout.touchCellBytes
    }
}
