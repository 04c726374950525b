import CPlatform

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A reserved range of addresses into which files are mapped; nothing else may land there, and its
/// address never changes. Its own methods are safe from any thread; what is mapped where is its owner's
/// to serialise.
///
/// Reserving a range larger than the files can ever grow lets a growing file appear at a fixed address in
/// every process, so that readers need no lock against a remapping. Reserved addresses cost no memory.
final class AddressWindow: @unchecked Sendable {
    let base: UnsafeMutableRawPointer
    let bytes: Int

    /// Reserves `bytes`, or the largest power-of-two fraction of it down to `least` that the system grants.
    init(bytes: Int, least: Int, path: String) throws(StorageError) {
        var size = bytes
        while true {
            let flags = MAP_PRIVATE | AddressWindow.anonymous | AddressWindow.noReserve
            var range: UnsafeMutableRawPointer?
            let result = SystemDoor.perform(.map, path: path) {
                range = mmap(nil, size, PROT_NONE, flags, -1, 0)
                return range == MAP_FAILED ? -1 : 0
            }
            if result.code == 0, let range {
                base = range
                self.bytes = size
                return
            }
            guard result.code == ENOMEM, size / 2 >= least else {
                throw .fromErrno(result.code, operation: "reserve addresses for", path: path)
            }
            size /= 2
        }
    }

    deinit { munmap(base, bytes) }

    /// Maps `length` bytes of `file` from its start at `offset` of the window. The part past the file's end
    /// may be mapped, and must not be touched before the file has been preallocated that far.
    func map(_ file: OpenFile, at offset: Int, length: Int, writable: Bool) throws(StorageError) {
        guard offset >= 0, length > 0, offset <= bytes - length else {
            throw .corrupted(path: file.path, offset: 0, reason: "too large to map (\(length) bytes)")
        }
        let protection = writable ? PROT_READ | PROT_WRITE : PROT_READ
        let result = SystemDoor.perform(.map, path: file.path) {
            let place = mmap(base + offset, length, protection, MAP_SHARED | MAP_FIXED, file.descriptor, 0)
            return place == MAP_FAILED ? -1 : 0
        }
        guard result.code == 0 else { throw .fromErrno(result.code, operation: "map", path: file.path) }
    }

    /// Memory of this process alone in place of a file.
    func mapPrivate(at offset: Int, length: Int, path: String) throws(StorageError) {
        guard offset >= 0, length > 0, offset <= bytes - length else {
            throw .corrupted(path: path, offset: 0, reason: "too large to map (\(length) bytes)")
        }
        let flags = MAP_PRIVATE | MAP_FIXED | AddressWindow.anonymous | AddressWindow.noReserve
        let result = SystemDoor.perform(.map, path: path) {
            mmap(base + offset, length, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED ? -1 : 0
        }
        guard result.code == 0 else { throw .fromErrno(result.code, operation: "map", path: path) }
    }

    /// Gives a range back to being reserved and empty; files mapped there are let go. Where the system refuses,
    /// the old mapping stays until the next one replaces it: harmless.
    func unmap(at offset: Int, length: Int) {
        guard offset >= 0, length > 0, offset <= bytes - length else { return }
        let flags = MAP_PRIVATE | MAP_FIXED | AddressWindow.anonymous | AddressWindow.noReserve
        _ = mmap(base + offset, length, PROT_NONE, flags, -1, 0)
    }

    private static let anonymous = MAP_ANON
    #if os(Linux)
    private static let noReserve = MAP_NORESERVE
    #else
    private static let noReserve: Int32 = 0
    #endif
}
