import CPlatform
import Synchronization

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
/// is never larger than the file and the mapping (checked against the file itself whenever it grows).
///
/// The mapping is as long as the file, with some room where addresses are plenty. What outgrows it is mapped anew, the
/// whole file, elsewhere; the former mapping stays until the index is closed, for readers without a lock may look at
/// either: both show the same file.
final class IndexMemory: @unchecked Sendable {
    /// `nil`: memory of this process alone.
    private let file: IndexFile?
    /// For errors.
    let path: String
    private let writable: Bool
    /// The latest last; only added to. The mutex also serialises mapping.
    private let ranges: Mutex<[MappedRange]>
    /// Where the latest range is. Stored before ``knownCapacity`` rises, so whoever reads that first finds what it says.
    private let address: Atomic<UInt>
    /// Entries that the file is known to have room for, and that are mapped at ``address``; grows only.
    private let knownCapacity = Atomic<UInt32>(0)
    /// Rung for who waits for events. Set by whoever opens the archive, before anyone else has this.
    var doorbell: Doorbell?

    @inline(__always)
    var base: UnsafeMutableRawPointer {
        // Of a range that stays as long as this object.
        UnsafeMutableRawPointer(bitPattern: address.load(ordering: .acquiring)).unsafelyUnwrapped
    }

    /// Maps a file that is open, as far as its header says that it is used; `file` is how it is found later.
    init(_ opened: OpenFile, as file: IndexFile, writable: Bool) throws(StorageError) {
        let bytes = try IndexMemory.usedBytes(of: opened)
        let range = try AddressPressure.relieved { () throws(StorageError) in
            try MappedRange.withRoom(IndexMemory.room(for: bytes), opened, bytes: bytes, writable: writable)
        }
        self.file = file
        path = opened.path
        self.writable = writable
        address = Atomic(UInt(bitPattern: range.base))
        ranges = Mutex([range])
        try catchUp()
    }

    /// Memory of this process alone, with room for an index of `bytes` bytes, and where addresses are plenty for one of
    /// `room` bytes, at least some 40 million entries: it can't be mapped anew elsewhere.
    init(privateBytes bytes: Int, room: Int = 0, path: String) throws(StorageError) {
        let range = try AddressPressure.relieved { () throws(StorageError) in
            if room > 0, ProcessLimit.addresses == nil,
                let range = try? MappedRange(privateBytes: max(room, 4 << 30), for: path)
            {
                return range
            }
            return try MappedRange(privateBytes: max(bytes, room), for: path)
        }
        file = nil
        self.path = path
        writable = true
        address = Atomic(UInt(bitPattern: range.base))
        ranges = Mutex([range])
    }

    private static func usedBytes(of file: OpenFile) throws(StorageError) -> Int {
        var header = ByteReader(try file.read(atMost: IndexLayout.entryCapacityOffset + 4))
        _ = header.take(IndexLayout.entryCapacityOffset)
        let chunks = Int(header.uint32()) / IndexLayout.chunkEntries + 1
        return min(try file.status().bytes, max(IndexLayout.fileBytes(chunks: chunks), wholeBytes))
    }

    /// Room for a million entries, so that most indexes are mapped once; none where addresses are few.
    private static func room(for bytes: Int) -> Int {
        ProcessLimit.addresses == nil ? min(max(96 << 20, 2 * bytes), mostBytes) : 0
    }

    /// More than any honest index has: 2³² entries.
    private static let mostBytes = IndexLayout.fileBytes(chunks: 1 << 22)

    // MARK: What is there

    /// Entry numbers that may be in use: 1 to this.
    var usedEntries: UInt32 {
        let claimed = entryHighWater
        return holds(claimed) ? claimed : knownCapacity.load(ordering: .relaxed)
    }

    /// Bucket numbers that may be in use: 0 to one less than this.
    var usedBuckets: UInt32 {
        let most = Int(usedCapacity) / IndexLayout.chunkEntries * IndexLayout.chunkBuckets
        return min(bucketCount, UInt32(most))
    }

    private var usedCapacity: UInt32 {
        _ = learnCapacity(atLeast: 0)
        return knownCapacity.load(ordering: .relaxed)
    }

    /// `nil` without a file, and of one that was removed.
    func fileStatus() throws(StorageError) -> OpenFile.Status? { try file?.status() }

    /// Bytes of the index's file now; 0 without one, and of one that was removed.
    func fileBytes() throws(StorageError) -> Int { try fileStatus()?.bytes ?? 0 }

    /// Whether the file was removed, or another has taken its place; never of an index without one.
    var isReplaced: Bool {
        guard let file else { return false }
        guard let status = try? file.status() else { return true }
        return status.links == 0
    }

    var hasFile: Bool { file != nil }

    /// Copies the first bytes of an index that nobody changes meanwhile into this one, which nobody else has.
    func takeContent(of other: IndexMemory, bytes: Int) throws(StorageError) {
        try other.mapWhole(atMost: bytes)
        try mapWhole(atMost: bytes)
        UnsafeMutableRawBufferPointer(start: base, count: bytes).copyMemory(
            from: UnsafeRawBufferPointer(start: other.base, count: bytes))
    }

    // MARK: Entries and buckets, numbered from 1 and 0

    /// Whether entries 1...number exist in the mapped file.
    @inline(__always)
    private func holds(_ number: UInt32) -> Bool {
        number <= knownCapacity.load(ordering: .acquiring) || learnCapacity(atLeast: number)
    }

    @inline(never)
    private func learnCapacity(atLeast number: UInt32) -> Bool {
        guard (try? learnCapacity()) != nil else { return false }
        return number <= knownCapacity.load(ordering: .relaxed)
    }

    /// Maps what the index has grown by. Believes the header's capacity only as far as the file really reaches, so that
    /// no access can meet the end of the file (F4).
    private func learnCapacity() throws(StorageError) {
        var capacity = Int(entryCapacity)
        if let file {
            // A file that was removed grows no more.
            guard let bytes = try file.status()?.bytes else { return }
            capacity = min(capacity, IndexLayout.chunks(inFileOf: bytes) * IndexLayout.chunkEntries)
        }
        let chunks = (capacity + IndexLayout.chunkEntries - 1) / IndexLayout.chunkEntries
        try map(IndexLayout.fileBytes(chunks: chunks), upTo: UInt32(capacity))
    }

    /// Makes sure that the first `bytes` bytes are mapped, and lets `capacity` entries count as there.
    private func map(_ bytes: Int, upTo capacity: UInt32) throws(StorageError) {
        try AddressPressure.relieved { () throws(StorageError) in
            let result: Result<Void, StorageError> = ranges.withLock { ranges in
                do throws(StorageError) {
                    let present = ranges.last?.bytes ?? 0
                    if bytes > present {
                        guard let file else {
                            throw .limitReached(
                                operation: "map \(bytes) bytes for the index of", path: path,
                                limit: .addresses(ProcessLimit.addresses))
                        }
                        let range = try MappedRange.withRoom(
                            max(2 * present, IndexMemory.room(for: bytes)), file.opened(writable: writable),
                            bytes: bytes, writable: writable)
                        ranges.append(range)
                        address.store(UInt(bitPattern: range.base), ordering: .releasing)
                    }
                    knownCapacity.store(capacity, ordering: .releasing)
                    return .success(())
                } catch {
                    return .failure(error)
                }
            }
            try result.get()
        }
    }

    /// Makes sure that the file is mapped, or the first `most` bytes of it.
    func mapWhole(atMost most: Int) throws(StorageError) {
        try map(min(fileBytes(), most), upTo: knownCapacity.load(ordering: .relaxed))
    }

    /// Makes sure that all that the index has now is mapped here; for whoever would otherwise take what is not for
    /// nothing. Costs two loads where nothing has grown.
    @inline(__always)
    func catchUp() throws(StorageError) {
        if entryCapacity > knownCapacity.load(ordering: .acquiring) {
            try learnCapacity()
        }
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
        // Never zeros over what the capacity says is in use, whatever the other field says (a process may have
        // died between the two stores below).
        let present = IndexLayout.fileBytes(
            chunks: Int(entryCapacity) / IndexLayout.chunkEntries)
        let start = max(indexBytes, present)
        if let file { try file.opened(writable: true).extend(from: min(start, bytes), to: bytes) }
        // Before the header says so: what can't be mapped here can't be used.
        try map(bytes, upTo: knownCapacity.load(ordering: .relaxed))
        crashPoint(.indexExtended)
        entryCapacity = UInt32(chunks * IndexLayout.chunkEntries)
        indexBytes = bytes
        _ = learnCapacity(atLeast: 0)
    }

    /// Gives back the blocks of all chunks that `capacity` entries do not need. The file keeps its length, so
    /// that whoever has it mapped reads zeros (F4); growing reserves blocks again. Where reading a hole takes room of its
    /// own (tmpfs), another's look-up would end by SIGBUS once there is none: there the blocks stay until the last
    /// writer leaves. Needs the lock, and that no entry and no bucket behind is in use.
    func shrink(toHold capacity: Int) {
        let chunks = max(1, (capacity + IndexLayout.chunkEntries - 1) / IndexLayout.chunkEntries)
        let least = IndexLayout.fileBytes(chunks: chunks)
        let end = indexBytes
        guard end > least, Int(entryHighWater) <= capacity else { return }
        entryCapacity = UInt32(chunks * IndexLayout.chunkEntries)
        crashPoint(.indexShrunk)
        indexBytes = least
        // A file that can't be opened now, or whose file system cannot do it, keeps the blocks; they are used when the
        // index grows again.
        if let file = try? file?.opened(writable: true), cp_holes_are_readable(file.descriptor) {
            _ = cp_punch(file.descriptor, off_t(least), off_t(end))
        }
        _ = learnCapacity(atLeast: 0)
    }
}
