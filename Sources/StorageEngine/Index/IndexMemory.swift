import CPlatform
import Synchronization
import SystemC

/// The memory of a mapped index, unmapped when the object ends. ``IndexBytes`` gives access to the bytes.
///
/// The mapping is as long as the file, with some reserve if addresses are plentiful. If the file outgrows it, the whole file is
/// mapped again; readers may use the former mapping until the index is closed.
final class IndexMemory: @unchecked Sendable {
    /// The mapped file; `nil` for memory of this process only.
    private let file: IndexFile?
    let path: String
    private let writable: Bool
    /// The latest range is last; ranges are only added. The mutex also serializes mapping.
    private let ranges: Guarded<[MappedRange]>
    private let place: UnsafeMutablePointer<IndexPlace>
    /// Rung when followers wait for events. Set before other threads have this object.
    var doorbell: Doorbell?
    /// Grows with the index; `nil` for an archive without a reserve. Set when the archive is opened, like ``doorbell``.
    var removalReserve: RemovalReserve?
    /// `nil` if this process records no requests. Set when the archive is opened, like ``doorbell``.
    var requests: RequestTrace?
    /// The state of the change for which a reader last waited without success (``WriterWait``); 0: none.
    let stoppedState = Atomic<UInt64>(0)
    let readerSleeps = Atomic<Int>(0)

    @inline(__always) var bytes: IndexBytes { IndexBytes(place, Unmanaged.passUnretained(self)) }

    private var base: UnsafeMutableRawPointer { bytes.base }

    /// Maps the used part of an open file in this folder, according to its header. With `staysOpen`, keeps the descriptor.
    init(
        _ opened: FileDescriptor, in folder: FileDescriptor, writable: Bool, staysOpen: Bool = true
    ) throws(StorageError) {
        let bytes = try IndexMemory.usedBytes(of: opened)
        let range = try AddressPressure.relieved(
            MappedRange.spanning(IndexMemory.reserve(for: bytes), opened, bytes: bytes, writable: writable))
        file = IndexFile(folder: folder, number: try opened.status().number, open: staysOpen ? opened : nil)
        path = opened.path
        self.writable = writable
        place = IndexPlace.make(range)
        ranges = Guarded([range])
        try self.bytes.catchUp()
    }

    deinit { IndexPlace.discard(place) }

    /// Memory of this process only, for `bytes`. It can't grow later, so it gets up to `reserve` bytes if possible.
    init(privateBytes bytes: Int, reserve: Int = 0, path: String) throws(StorageError) {
        let most = reserve > 0 && ProcessLimit.addresses == nil ? max(reserve, 4 << 30) : 0
        let large = most == 0 ? nil : try? MappedRange(privateBytes: most, for: path)
        let range =
            if let large { large } else {
                try AddressPressure.relieved(MappedRange(privateBytes: max(bytes, reserve), for: path))
            }
        file = nil
        self.path = path
        writable = true
        place = IndexPlace.make(range)
        ranges = Guarded([range])
    }

    private static func usedBytes(of file: FileDescriptor) throws(StorageError) -> Int {
        var header = ByteReader(try file.read(atMost: IndexLayout.entryCapacityOffset + 4))
        _ = header.take(IndexLayout.entryCapacityOffset)
        let chunks = Int(header.uint32()) / IndexLayout.chunkEntries + 1
        return min(try file.status().bytes, max(IndexLayout.fileBytes(chunks: chunks), wholeBytes))
    }

    /// Addresses for a million entries, so that most indexes are mapped only once; 0 if addresses are limited.
    private static func reserve(for bytes: Int) -> Int {
        ProcessLimit.addresses == nil ? min(max(96 << 20, 2 * bytes), mostBytes) : 0
    }

    /// More than any valid index has: 2³² entries.
    private static let mostBytes = IndexLayout.fileBytes(chunks: 1 << 22)

    func fileStatus() throws(StorageError) -> FileDescriptor.Status? { try file?.status() }

    func fileBytes() throws(StorageError) -> Int { try fileStatus()?.bytes ?? 0 }

    /// Whether the file was removed, replaced or truncated, so that an access may exceed its end. Costs a system call.
    var isReplaced: Bool {
        guard let file else { return false }
        guard let status = try? file.status(), status.links > 0 else { return true }
        return isCut(to: status.bytes)
    }

    /// Whether the file was truncated; also `true` if unknown.
    var isCut: Bool {
        guard let file else { return false }
        return (try? file.status()).map { isCut(to: $0.bytes) } ?? true
    }

    private func isCut(to bytes: Int) -> Bool {
        let capacity = Int(place.pointee.knownCapacity.load(ordering: .relaxed))
        return bytes < IndexLayout.fileBytes(chunks: capacity / IndexLayout.chunkEntries)
    }

    var hasFile: Bool { file != nil }

    /// Requires that no other user changes the other index or shares this one.
    func takeContent(of other: IndexMemory, bytes: Int) throws(StorageError) {
        try other.mapWhole(atMost: bytes)
        try mapWhole(atMost: bytes)
        UnsafeMutableRawBufferPointer(start: base, count: bytes).copyMemory(
            from: UnsafeRawBufferPointer(start: other.base, count: bytes))
    }

    @inline(never) func updateCapacity(atLeast number: UInt32) -> Bool {
        guard (try? updateCapacity()) != nil else { return false }
        return number <= place.pointee.knownCapacity.load(ordering: .relaxed)
    }

    /// Maps the index's growth, and trusts the header's capacity only as far as the file reaches (F4).
    func updateCapacity() throws(StorageError) {
        var capacity = Int(bytes.claimedCapacity)
        if let file {
            // The growth of a removed or replaced file is unknown, so other processes may have added entries.
            guard let bytes = try file.status()?.bytes else { throw .closed(name: path) }
            capacity = min(capacity, IndexLayout.chunks(inFileOf: bytes) * IndexLayout.chunkEntries)
        }
        let chunks = (capacity + IndexLayout.chunkEntries - 1) / IndexLayout.chunkEntries
        try map(IndexLayout.fileBytes(chunks: chunks), upTo: UInt32(capacity))
    }

    /// Maps at least the first `bytes` bytes, and then publishes `capacity`.
    private func map(_ bytes: Int, upTo capacity: UInt32) throws(StorageError) {
        try AddressPressure.relieved(
            ranges.withLock { (ranges) throws(StorageError) in
                let present = ranges.last?.bytes ?? 0
                if bytes > present {
                    guard let file else {
                        throw .limitReached(
                            operation: "map \(bytes) bytes for the index of", path: path,
                            limit: .addresses(ProcessLimit.addresses))
                    }
                    let range = try MappedRange.spanning(
                        max(2 * present, IndexMemory.reserve(for: bytes)), file.opened(writable: writable),
                        bytes: bytes, writable: writable)
                    ranges.append(range)
                    place.pointee.address.store(UInt(bitPattern: range.base), ordering: .releasing)
                }
                place.pointee.knownCapacity.store(capacity, ordering: .releasing)
            })
    }

    func mapWhole(atMost most: Int) throws(StorageError) {
        try map(min(fileBytes(), most), upTo: place.pointee.knownCapacity.load(ordering: .relaxed))
    }

    /// The checksum covers an index up to this size, and of a larger one only header and tables, so that opening stays fast.
    static let wholeBytes = 4 << 20

    /// The checksum for a clean mark; excludes some bytes of the header. 0 without a file that is long enough.
    func checksum(sparing spared: Range<Int>) throws(StorageError) -> UInt32 {
        let bytes = try fileBytes()
        guard bytes >= IndexLayout.chunksOffset else { return 0 }
        try mapWhole(atMost: IndexMemory.wholeBytes)
        let end = bytes <= IndexMemory.wholeBytes ? bytes : IndexLayout.chunksOffset
        let behind = spared.upperBound
        let sum = Checksum.crc32c(UnsafeRawBufferPointer(start: base, count: spared.lowerBound))
        return Checksum.crc32c(UnsafeRawBufferPointer(start: base + behind, count: end - behind), seed: sum)
    }

    func extend(from start: Int, to end: Int) throws(StorageError) {
        if let file { try file.opened(writable: true).extend(from: start, to: end) }
        try map(end, upTo: place.pointee.knownCapacity.load(ordering: .relaxed))
    }

    /// Frees the blocks of a range. If that fails, the file keeps them and uses them when the index grows again.
    func punch(from start: Int, to end: Int) {
        guard start < end, let file, cp_holes_are_readable(file.folder.descriptor),
            let file = try? file.opened(writable: true)
        else { return }
        _ = cp_punch(file.descriptor, off_t(start), off_t(end))
    }

    /// Returns when the file's bytes are on the medium.
    func synchronize() throws(StorageError) {
        guard let file = try file?.opened(writable: true) else { return }
        let bytes = try min(file.status().bytes, ranges.withLock { $0.last?.bytes ?? 0 })
        try file.synchronize(mapped: UnsafeMutableRawBufferPointer(start: base, count: bytes))
    }

    func refreshCapacity() { _ = updateCapacity(atLeast: 0) }
}
