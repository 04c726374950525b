import CPlatform
import SystemC

/// A change of a ring file, for tests that interrupt it.
package enum RingFileStep: Sendable { case write, truncate, sync }

/// An open regular file, closed with the last reference.
final class OpenFile: Sendable {
    enum LockKind { case shared, exclusive }

    let path: String
    private let descriptor: Int32
    private let beforeStep: (@Sendable (RingFileStep) throws(RingFileError) -> Void)?

    init(
        _ path: String, isReadOnly: Bool,
        beforeStep: (@Sendable (RingFileStep) throws(RingFileError) -> Void)?
    ) throws(RingFileError) {
        self.path = path
        self.beforeStep = beforeStep
        let flags = (isReadOnly ? O_RDONLY : O_RDWR) | O_NONBLOCK | O_CLOEXEC
        do throws(RingFileError) {
            let opened = try OpenFile.perform("open", path) { Int(cp_openat(AT_FDCWD, path, flags, 0)) }
            descriptor = Int32(opened)
        } catch {
            if case .system(_, _, EISDIR) = error { throw .notAFile(path: path) }
            throw error
        }
        guard try status().isRegular else { throw .notAFile(path: path) }
    }

    deinit { _ = close(descriptor) }

    /// Makes a call that returns -1 and sets errno if it fails. Repeats an interrupted call, up to a maximum.
    private static func perform(
        _ operation: String, _ path: String, _ call: () -> Int
    ) throws(RingFileError) -> Int {
        for _ in 0..<1_000 {
            let result = call()
            guard result < 0 else { return result }
            let code = errno
            guard code == EINTR else { throw .system(operation: operation, path: path, code: code) }
        }
        throw .system(operation: operation, path: path, code: EINTR)
    }

    // MARK: Bytes

    func status() throws(RingFileError) -> (bytes: Int, links: UInt64, isRegular: Bool) {
        var status = stat()
        _ = try OpenFile.perform("examine", path) { Int(fstat(descriptor, &status)) }
        return (
            Int(status.st_size), UInt64(truncatingIfNeeded: status.st_nlink),
            status.st_mode & S_IFMT == S_IFREG
        )
    }

    /// Whether its path leads to another file now.
    var isReplaced: Bool {
        var (own, named) = (stat(), stat())
        return fstat(descriptor, &own) == 0 && stat(path, &named) == 0
            && (own.st_dev, own.st_ino) != (named.st_dev, named.st_ino)
    }

    /// Reads `count` bytes from `start` on; fewer at the end of the file.
    func read(atMost count: Int, from start: Int = 0) throws(RingFileError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let read = try OpenFile.perform("read", path) {
                bytes.withUnsafeMutableBytes {
                    pread(descriptor, $0.baseAddress! + filled, count - filled, off_t(start + filled))
                }
            }
            if read == 0 { break }
            filled += read
        }
        bytes.removeLast(count - filled)
        return bytes
    }

    func write(_ bytes: [UInt8], at offset: Int = 0) throws(RingFileError) {
        try beforeStep?(.write)
        // Writing beyond the process's limit raises a signal.
        guard UInt64(offset + bytes.count) <= cp_limit_file_bytes() else {
            throw .system(operation: "write", path: path, code: EFBIG)
        }
        var written = 0
        while written < bytes.count {
            written += try OpenFile.perform("write", path) {
                bytes.withUnsafeBytes {
                    pwrite(
                        descriptor, $0.baseAddress! + written, bytes.count - written, off_t(offset + written))
                }
            }
        }
    }

    func truncate(to bytes: Int) throws(RingFileError) {
        try beforeStep?(.truncate)
        _ = try OpenFile.perform("truncate", path) { Int(ftruncate(descriptor, off_t(bytes))) }
    }

    /// Returns when the file's bytes are on the medium.
    func synchronize() throws(RingFileError) {
        try beforeStep?(.sync)
        _ = try OpenFile.perform("sync", path) { Int(cp_synchronize(descriptor, nil, 0)) }
    }

    /// Number of bytes between two offsets that aren't in holes.
    func dataBytes(from start: Int, upTo limit: Int) -> Int {
        var sum = 0
        var (begin, end) = (off_t(0), off_t(start))
        while cp_next_data(descriptor, end, &begin, &end), begin < limit {
            sum += min(Int(end), limit) - Int(begin)
        }
        return sum
    }

    // MARK: Locks, which the kernel releases when their holder dies

    /// Returns `false` if another open file holds the lock.
    func lock(_ kind: LockKind) throws(RingFileError) -> Bool {
        try isLocked { Int(flock(descriptor, (kind == .shared ? LOCK_SH : LOCK_EX) | LOCK_NB)) }
    }

    func unlock() { _ = flock(descriptor, LOCK_UN) }

    /// Whether byte locks belong to the open file (Linux). On other systems they always succeed, and can't be tested.
    static var hasByteLocks: Bool {
        #if os(Linux)
        true
        #else
        false
        #endif
    }

    /// Locks a byte, independently of ``lock(_:)``; `false` if another open file holds it.
    func lockByte(_ offset: Int, _ kind: LockKind) throws(RingFileError) -> Bool {
        try isLocked {
            let code =
                kind == .shared
                ? cp_share_byte(descriptor, off_t(offset)) : cp_lock_byte(descriptor, off_t(offset), true)
            errno = code
            return code == 0 ? 0 : -1
        }
    }

    func unlockByte(_ offset: Int) { _ = cp_lock_byte(descriptor, off_t(offset), false) }

    /// Whether another open file has that byte locked; `true` also if unknown.
    func isByteLocked(_ offset: Int) -> Bool { cp_byte_lock_is_held(descriptor, off_t(offset)) != 0 }

    private func isLocked(_ call: () -> Int) throws(RingFileError) -> Bool {
        do throws(RingFileError) {
            _ = try OpenFile.perform("lock", path, call)
            return true
        } catch {
            guard case .system(_, _, EAGAIN) = error else { throw error }
            return false
        }
    }
}
