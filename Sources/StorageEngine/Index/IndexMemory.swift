import CPlatform
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The memory of a mapped index: brings it into the address space, and lets it go with the object. Safe from any thread.
/// The bytes are reached through ``IndexDoor``; what they mean, and who may write which of them, is ``MappedIndex``'s and that
/// of the types over it.
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
    private let ranges: Guarded<[MappedRange]>
    private let place: UnsafeMutablePointer<IndexPlace>
    /// Rung for who waits for events. Set by whoever opens the archive, before anyone else has this.
    var doorbell: Doorbell?

    /// The door to the bytes, for as long as this object is there.
    @inline(__always) var door: IndexDoor { IndexDoor(place, Unmanaged.passUnretained(self)) }

    private var base: UnsafeMutableRawPointer { door.base }

    /// Maps a file that is open, as far as its header says that it is used; `file` is how it is found later.
    init(_ opened: OpenFile, as file: IndexFile, writable: Bool) throws(StorageError) {
        let bytes = try IndexMemory.usedBytes(of: opened)
        let range = try AddressPressure.relieved { () throws(StorageError) in
            try MappedRange.withRoom(IndexMemory.room(for: bytes), opened, bytes: bytes, writable: writable)
        }
        self.file = file
        path = opened.path
        self.writable = writable
        place = IndexPlace.make(range)
        ranges = Guarded([range])
        try door.catchUp()
    }

    deinit { IndexPlace.discard(place) }

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
        place = IndexPlace.make(range)
        ranges = Guarded([range])
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

    // MARK: What is mapped

    @inline(never)
    func learnCapacity(atLeast number: UInt32) -> Bool {
        guard (try? learnCapacity()) != nil else { return false }
        return number <= place.pointee.knownCapacity.load(ordering: .relaxed)
    }

    /// Maps what the index has grown by. Believes the header's capacity only as far as the file really reaches, so that
    /// no access can meet the end of the file (F4).
    func learnCapacity() throws(StorageError) {
        var capacity = Int(door.claimedCapacity)
        if let file {
            // Of a file that was removed, or replaced, nobody can see what it had grown by: "there is no more" would be a guess.
            guard let bytes = try file.status()?.bytes else { throw .closed(name: path) }
            capacity = min(capacity, IndexLayout.chunks(inFileOf: bytes) * IndexLayout.chunkEntries)
        }
        let chunks = (capacity + IndexLayout.chunkEntries - 1) / IndexLayout.chunkEntries
        try map(IndexLayout.fileBytes(chunks: chunks), upTo: UInt32(capacity))
    }

    /// Makes sure that the first `bytes` bytes are mapped, and lets `capacity` entries count as there.
    private func map(_ bytes: Int, upTo capacity: UInt32) throws(StorageError) {
        try AddressPressure.relieved { () throws(StorageError) in
            try ranges.withLock { (ranges) throws(StorageError) in
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
                    place.pointee.address.store(UInt(bitPattern: range.base), ordering: .releasing)
                }
                place.pointee.knownCapacity.store(capacity, ordering: .releasing)
            }
        }
    }

    /// Makes sure that the file is mapped, or the first `most` bytes of it.
    func mapWhole(atMost most: Int) throws(StorageError) {
        try map(min(fileBytes(), most), upTo: place.pointee.knownCapacity.load(ordering: .relaxed))
    }

    // MARK: A checksum

    /// An index up to this size is covered whole; of a larger one the header and the tables, so that opening a
    /// million entries does not mean reading 80 MB.
    private static let wholeBytes = 4 << 20

    /// The checksum of what a mark covers but for some bytes of the header; 0 of an index without a file, or one that is
    /// too short for any.
    func checksum(sparing spared: Range<Int>) throws(StorageError) -> UInt32 {
        let bytes = try fileBytes()
        guard bytes >= IndexLayout.chunksOffset else { return 0 }
        try mapWhole(atMost: IndexMemory.wholeBytes)
        let end = bytes <= IndexMemory.wholeBytes ? bytes : IndexLayout.chunksOffset
        let behind = spared.upperBound
        let sum = Checksum.crc32c(UnsafeRawBufferPointer(start: base, count: spared.lowerBound))
        return Checksum.crc32c(UnsafeRawBufferPointer(start: base + behind, count: end - behind), seed: sum)
    }

    // MARK: Growth

    /// Blocks for the bytes up to `end`, zeros from `start` on, and a mapping of them: what can't be mapped here can't be
    /// used.
    func extend(from start: Int, to end: Int) throws(StorageError) {
        if let file { try file.opened(writable: true).extend(from: start, to: end) }
        try map(end, upTo: place.pointee.knownCapacity.load(ordering: .relaxed))
    }

    /// Gives the blocks of a range back. A file that can't be opened now, or whose file system cannot do it, keeps them;
    /// they are used when the index grows again.
    func punch(from start: Int, to end: Int) {
        guard start < end, let file, cp_holes_are_readable(file.folder.descriptor),
            let file = try? file.opened(writable: true)
        else { return }
        _ = cp_punch(file.descriptor, off_t(start), off_t(end))
    }

    /// Takes in what the header says of the capacity by now.
    func relearnCapacity() { _ = learnCapacity(atLeast: 0) }
}
