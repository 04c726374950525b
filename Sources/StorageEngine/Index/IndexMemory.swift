import CPlatform

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The mapped index: every access to its bytes goes through here, and is inside them.
///
/// Safe from any thread for reading; a field is written only by the holder of the archive's lock, except
/// the touch ring and the counters, which are written with atomic instructions. Offsets are constants of
/// ``IndexLayout`` below the mapped size; entry and bucket numbers are checked against the capacity, which
/// is never larger than the file (checked against the file itself whenever it grows).
final class IndexMemory: @unchecked Sendable {
    let window: AddressWindow
    let base: UnsafeMutableRawPointer
    private let file: OpenFile?
    /// For errors.
    let path: String
    /// Entries that the file is known to have room for; grows only. One word of this process.
    private let knownCapacity: UnsafeMutablePointer<UInt32>
    /// Rung for who waits for events. Set by whoever opens the archive, before anyone else has this.
    var doorbell: Doorbell?

    /// Maps `file`, or, without one, memory of this process alone.
    init(file: OpenFile?, path: String, writable: Bool) throws(StorageError) {
        window = try AddressWindow(
            bytes: IndexLayout.windowBytes, least: IndexLayout.leastWindowBytes, path: path)
        base = window.base
        self.file = file
        self.path = path
        knownCapacity = .allocate(capacity: 1)
        knownCapacity.initialize(to: 0)
        if let file {
            try window.map(file, at: 0, length: window.bytes, writable: writable)
        } else {
            try window.mapPrivate(at: 0, length: window.bytes, path: path)
        }
    }

    deinit { knownCapacity.deallocate() }

    // MARK: Header fields

    @inline(__always) func word32(_ offset: Int) -> UInt32 { cp_load32(base + offset) }
    @inline(__always) func word64(_ offset: Int) -> UInt64 { cp_load64(base + offset) }
    @inline(__always) func set32(_ offset: Int, _ value: UInt32) { cp_store32(base + offset, value) }
    @inline(__always) func set64(_ offset: Int, _ value: UInt64) { cp_store64(base + offset, value) }

    @inline(__always) func add(_ counter: IndexLayout.Counter, _ amount: UInt64 = 1) {
        _ = cp_add64(base + IndexLayout.countersOffset + 8 * counter.rawValue, amount)
    }
    /// As ``IndexMemory/add(_:_:)`` for a counter that only holders of the archive's lock change.
    @inline(__always) func addLocked(_ counter: IndexLayout.Counter, _ amount: UInt64 = 1) {
        let address = base + IndexLayout.countersOffset + 8 * counter.rawValue
        cp_relaxed_store64(address, cp_relaxed64(address) &+ amount)
    }
    func count(_ counter: IndexLayout.Counter) -> UInt64 {
        cp_relaxed64(base + IndexLayout.countersOffset + 8 * counter.rawValue)
    }

    /// A count or a sum of bytes. No honest one reaches 2⁴⁸; capped there, so that arithmetic on what a damaged
    /// index says cannot overflow (F4).
    @inline(__always)
    func size(_ offset: Int) -> Int { Int(truncatingIfNeeded: min(word64(offset), 1 << 48)) }

    /// Entry numbers that may be in use: 1 to this.
    var usedEntries: UInt32 {
        let claimed = word32(IndexLayout.entryHighWaterOffset)
        return holds(claimed) ? claimed : cp_relaxed32(knownCapacity)
    }

    /// Bucket numbers that may be in use: 0 to one less than this.
    var usedBuckets: UInt32 {
        let most = Int(usedCapacity) / IndexLayout.chunkEntries * IndexLayout.chunkBuckets
        return min(bucketCount, UInt32(most))
    }

    private var usedCapacity: UInt32 {
        _ = learnCapacity(atLeast: 0)
        return cp_relaxed32(knownCapacity)
    }

    /// Bytes of the index's file now; 0 without one, or when it can't be asked.
    var fileBytes: Int { (try? file?.status().bytes) ?? 0 }

    /// Marks the index as damaged: nobody changes the archive through it any more, and the next who opens the
    /// archive builds a new one from the log. Needs the lock.
    func declareDamaged() { set32(IndexLayout.stateOffset, IndexLayout.State.damaged.rawValue) }

    func setBytes(_ bytes: [UInt8], at offset: Int) {
        bytes.withUnsafeBytes {
            UnsafeMutableRawBufferPointer(start: base + offset, count: bytes.count).copyMemory(from: $0)
        }
    }

    // MARK: Entries and buckets, numbered from 1 and 0

    /// Whether entries 1...number exist in the mapped file.
    @inline(__always)
    private func holds(_ number: UInt32) -> Bool {
        number <= cp_relaxed32(knownCapacity) || learnCapacity(atLeast: number)
    }

    /// Believes the header's capacity only as far as the file really reaches, so that no access can meet
    /// the end of the file (F4).
    @inline(never)
    private func learnCapacity(atLeast number: UInt32) -> Bool {
        var capacity = Int(word32(IndexLayout.entryCapacityOffset))
        if let file {
            guard let bytes = try? file.status().bytes else { return false }
            capacity = min(capacity, IndexLayout.chunks(inFileOf: bytes) * IndexLayout.chunkEntries)
        }
        capacity = min(capacity, IndexLayout.chunks(inFileOf: window.bytes) * IndexLayout.chunkEntries)
        cp_store32(knownCapacity, UInt32(capacity))
        return Int(number) <= capacity
    }

    /// The entry of that number; `nil` for 0 and for numbers past the capacity.
    @inline(__always)
    func entry(_ number: UInt32) -> EntrySlot? {
        guard number > 0, holds(number) else { return nil }
        let place = Int(number) - 1
        let chunk = base + IndexLayout.chunksOffset + (place >> 10) * IndexLayout.chunkBytes
        return EntrySlot(chunk + (place & 1023) * IndexLayout.entryBytes)
    }

    /// The word that says which processes hold the entry's object in memory; `nil` past the capacity.
    @inline(__always)
    func residencyAddress(_ number: UInt32) -> UnsafeMutableRawPointer? {
        guard number > 0, holds(number) else { return nil }
        let place = Int(number) - 1
        let chunk = base + IndexLayout.chunksOffset + (place >> 10) * IndexLayout.chunkBytes
        return chunk + IndexLayout.residencyInChunkOffset + (place & 1023) * IndexLayout.residencyBytes
    }

    /// The byte that says by which action the entry was set aside; `nil` past the capacity.
    @inline(__always)
    func markAddress(_ number: UInt32) -> UnsafeMutableRawPointer? {
        guard number > 0, holds(number) else { return nil }
        let place = Int(number) - 1
        let chunk = base + IndexLayout.chunksOffset + (place >> 10) * IndexLayout.chunkBytes
        return chunk + IndexLayout.marksInChunkOffset + (place & 1023)
    }

    /// The bounds of a chunk's deadlines: one for each 32 entries, then that of the chunk; `nil` past the capacity.
    func deadlineRows(ofChunk chunk: Int) -> UnsafeMutableRawPointer? {
        guard chunk >= 0, holds(UInt32(truncatingIfNeeded: (chunk + 1) * IndexLayout.chunkEntries)) else {
            return nil
        }
        return base + IndexLayout.chunksOffset + chunk * IndexLayout.chunkBytes
            + IndexLayout.deadlinesInChunkOffset
    }

    /// The bucket of that number; `nil` past the capacity.
    @inline(__always)
    func bucket(_ number: UInt32) -> Bucket? {
        let chunk = Int(number) / IndexLayout.chunkBuckets
        let place = Int(number) - chunk * IndexLayout.chunkBuckets
        guard holds(UInt32(truncatingIfNeeded: (chunk + 1) * IndexLayout.chunkEntries)) else { return nil }
        let first = IndexLayout.chunksOffset + chunk * IndexLayout.chunkBytes
        return Bucket(base + first + IndexLayout.bucketsInChunkOffset + place * Bucket.bytes)
    }

    // MARK: Live frames of each segment: bytes in the low 40 bits, their number above

    @inline(__always)
    private func segmentAddress(_ segment: UInt32) -> UnsafeMutableRawPointer {
        base + IndexLayout.segmentTableOffset + Int(segment & SegmentLayout.slotMask) * 8
    }
    @inline(__always)
    func liveFrames(ofSegment segment: UInt32) -> UInt64 { cp_relaxed64(segmentAddress(segment)) }
    @inline(__always)
    func setLiveFrames(ofSegment segment: UInt32, _ word: UInt64) {
        cp_relaxed_store64(segmentAddress(segment), word)
    }

    // MARK: Growth

    /// Makes room for `capacity` entries; the header says so only once the blocks are there. Needs the lock.
    func grow(toHold capacity: Int) throws(StorageError) {
        let chunks = (capacity + IndexLayout.chunkEntries - 1) / IndexLayout.chunkEntries
        let bytes = IndexLayout.fileBytes(chunks: chunks)
        guard bytes <= window.bytes else {
            throw .system(operation: "extend", path: file?.path ?? "the index", code: 12)
        }
        // Never zeros over what the capacity says is in use, whatever the other field says (a process may have
        // died between the two stores below).
        let present = IndexLayout.fileBytes(
            chunks: Int(word32(IndexLayout.entryCapacityOffset)) / IndexLayout.chunkEntries)
        let start = max(size(IndexLayout.indexBytesOffset), present)
        try file?.extend(from: min(start, bytes), to: bytes)
        crashPoint(.indexExtended)
        set32(IndexLayout.entryCapacityOffset, UInt32(chunks * IndexLayout.chunkEntries))
        set64(IndexLayout.indexBytesOffset, UInt64(bytes))
        _ = learnCapacity(atLeast: 0)
    }

    /// Gives back the blocks of all chunks that `capacity` entries do not need. The file keeps its length, so
    /// that whoever has it mapped reads zeros (F4); growing reserves blocks again. Needs the lock, and that no entry
    /// and no bucket behind is in use.
    func shrink(toHold capacity: Int) {
        let chunks = max(1, (capacity + IndexLayout.chunkEntries - 1) / IndexLayout.chunkEntries)
        let least = IndexLayout.fileBytes(chunks: chunks)
        let end = min(size(IndexLayout.indexBytesOffset), window.bytes)
        guard let file, end > least, Int(word32(IndexLayout.entryHighWaterOffset)) <= capacity else { return }
        set32(IndexLayout.entryCapacityOffset, UInt32(chunks * IndexLayout.chunkEntries))
        crashPoint(.indexShrunk)
        set64(IndexLayout.indexBytesOffset, UInt64(least))
        // A file system that cannot do it keeps the blocks; they are used when the index grows again.
        _ = cp_punch(file.descriptor, off_t(least), off_t(end))
        _ = learnCapacity(atLeast: 0)
    }
}
