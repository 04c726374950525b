import SystemC

/// Addresses of a file from its start, or of private memory; unmapped with the last reference. May be longer than the file, for
/// growth; its owner must not touch bytes beyond the file's end (F4).
final class MappedRange: @unchecked Sendable {
    let base: UnsafeMutableRawPointer
    let bytes: Int

    /// Maps at least one page. Throws `limitReached` if this process may map no more bytes or ranges.
    init(_ file: FileDescriptor, bytes: Int, writable: Bool) throws(StorageError) {
        self.bytes = MappedRange.wholePages(bytes)
        base = try MappedRange.map(
            self.bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, file.descriptor, file.path)
    }

    /// Zeroed memory of this process only. Pages take memory when they are written.
    init(privateBytes bytes: Int, for path: String) throws(StorageError) {
        self.bytes = MappedRange.wholePages(bytes)
        let flags = MAP_PRIVATE | MAP_ANON | MappedRange.noReserve
        base = try MappedRange.map(self.bytes, PROT_READ | PROT_WRITE, flags, -1, path)
    }

    deinit { munmap(base, bytes) }

    /// Like ``init(_:bytes:writable:)``, with `most` bytes for the file to grow if that much can be mapped.
    static func spanning(_ most: Int, _ file: FileDescriptor, bytes: Int, writable: Bool) throws(StorageError)
        -> MappedRange
    {
        if most > bytes, let range = try? MappedRange(file, bytes: most, writable: writable) { return range }
        return try MappedRange(file, bytes: bytes, writable: writable)
    }

    private static func wholePages(_ bytes: Int) -> Int { (max(bytes, 1) + 4095) & ~4095 }

    private static func map(
        _ bytes: Int, _ protection: Int32, _ flags: Int32, _ descriptor: Int32, _ path: String
    ) throws(StorageError) -> UnsafeMutableRawPointer {
        var place: UnsafeMutableRawPointer?
        let result = SystemCall.map.perform(path: path) {
            place = mmap(nil, bytes, protection, flags, descriptor, 0)
            return place == MAP_FAILED ? -1 : 0
        }
        if result.code == 0, let place {
            if leavesFree(0) { return place }
            munmap(place, bytes)
        }
        guard result.code == 0 || result.code == ENOMEM else {
            throw .fromErrno(result.code, operation: "map", path: path)
        }
        throw .limitReached(
            operation: "map \(bytes) bytes of", path: path, limit: .addresses(ProcessLimit.addresses))
    }

    /// Whether the limit leaves these addresses, the reserved ones (``AddressReservation``), and a margin for allocators.
    static func leavesFree(_ bytes: Int) -> Bool {
        guard ProcessLimit.addresses != nil else { return true }
        let bytes = bytes + leftBytes + AddressReservation.total
        let place = mmap(nil, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANON | noReserve, -1, 0)
        guard place != MAP_FAILED, let place else { return false }
        munmap(place, bytes)
        return true
    }

    private static let leftBytes = 2 << 20

    #if os(Linux)
    private static let noReserve = MAP_NORESERVE
    #else
    private static let noReserve: Int32 = 0
    #endif
}
