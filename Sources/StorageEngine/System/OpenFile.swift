import CPlatform

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Codes of the system that callers tell apart.
enum SystemCode {
    static let missing = ENOENT
    static let notAFolder = ENOTDIR
}

/// An open descriptor of a file or folder; safe from any thread because the descriptor never changes.
/// Closed when the last reference goes.
///
/// This file is the engine's one door to the file system: every call that can fail in the kernel is here.
final class OpenFile: Sendable {
    let descriptor: Int32
    let path: String

    private init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit { _ = close(descriptor) }

    struct Status {
        var bytes: Int
        var allocatedBytes: Int
        var device: UInt64
        var inode: UInt64
        var links: UInt64
        var owner: UInt32
        var isFolder: Bool
        var isRegular: Bool
    }

    // MARK: Opening

    static func folder(at path: String) throws(StorageError) -> OpenFile {
        let descriptor = cp_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard descriptor >= 0 else { throw .fromErrno(errno, operation: "open", path: path) }
        return OpenFile(descriptor: descriptor, path: path)
    }

    /// Makes the folder at `path`, and those above it that are missing, with mode 0700.
    static func makeFolders(at path: String) throws(StorageError) {
        guard mkdir(path, 0o700) != 0, errno != EEXIST else { return }
        guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
            throw .fromErrno(errno, operation: "make folder", path: path)
        }
        try makeFolders(at: String(path[..<slash]))
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw .fromErrno(errno, operation: "make folder", path: path)
        }
    }

    /// A folder inside this one; a symbolic link is refused (F9).
    func folder(named name: String) throws(StorageError) -> OpenFile {
        try open(name, flags: O_RDONLY | O_DIRECTORY)
    }

    func file(named name: String, writable: Bool) throws(StorageError) -> OpenFile {
        let file = try open(name, flags: (writable ? O_RDWR : O_RDONLY) | O_NONBLOCK)
        guard try file.status().isRegular else {
            throw .corrupted(path: file.path, offset: 0, reason: "not a regular file")
        }
        return file
    }

    /// Makes the file if it is missing, with mode 0600.
    func fileMakingIfMissing(named name: String) throws(StorageError) -> OpenFile {
        try open(name, flags: O_RDWR | O_CREAT)
    }

    /// Makes the file; fails when the name is taken.
    func newFile(named name: String) throws(StorageError) -> OpenFile {
        try open(name, flags: O_RDWR | O_CREAT | O_EXCL)
    }

    private func open(_ name: String, flags: Int32) throws(StorageError) -> OpenFile {
        let full = path + "/" + name
        let opened = cp_openat(descriptor, name, flags | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard opened >= 0 else {
            if errno == ELOOP || errno == ENOTDIR {
                throw .corrupted(path: full, offset: 0, reason: "a symbolic link or another kind of file")
            }
            throw .fromErrno(errno, operation: "open", path: full)
        }
        return OpenFile(descriptor: opened, path: full)
    }

    // MARK: Facts

    func status() throws(StorageError) -> Status {
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else {
            throw .fromErrno(errno, operation: "examine", path: path)
        }
        return Status(
            bytes: Int(facts.st_size), allocatedBytes: Int(facts.st_blocks) * 512,
            device: UInt64(truncatingIfNeeded: facts.st_dev), inode: UInt64(truncatingIfNeeded: facts.st_ino),
            links: UInt64(truncatingIfNeeded: facts.st_nlink), owner: facts.st_uid,
            isFolder: facts.st_mode & S_IFMT == S_IFDIR, isRegular: facts.st_mode & S_IFMT == S_IFREG)
    }

    /// Names in this folder, without `.` and `..`, in no order.
    func names() throws(StorageError) -> [String] {
        let copy = cp_openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard copy >= 0, let stream = fdopendir(copy) else {
            throw .fromErrno(errno, operation: "list", path: path)
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names
    }

    func hasEntry(named name: String) -> Bool {
        faccessat(descriptor, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0
    }

    // MARK: Bytes

    /// The first bytes of the file, at most `limit`.
    func read(atMost limit: Int) throws(StorageError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: limit)
        var filled = 0
        while filled < limit {
            let got = bytes.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress! + filled, limit - filled, off_t(filled))
            }
            if got < 0 && errno == EINTR { continue }
            guard got >= 0 else { throw .fromErrno(errno, operation: "read", path: path) }
            if got == 0 { break }
            filled += got
        }
        bytes.removeLast(limit - filled)
        return bytes
    }

    /// Writes all of `bytes` at the start of the file.
    func write(_ bytes: [UInt8]) throws(StorageError) {
        try write(bytes, count: bytes.count, at: 0)
    }

    func write(_ bytes: [UInt8], at offset: Int) throws(StorageError) {
        try write(bytes, count: bytes.count, at: offset)
    }

    private func write(_ bytes: [UInt8], count: Int, at offset: Int) throws(StorageError) {
        var written = 0
        while written < count {
            let put = bytes.withUnsafeBytes {
                pwrite(descriptor, $0.baseAddress! + written, count - written, off_t(offset + written))
            }
            if put < 0 && errno == EINTR { continue }
            guard put >= 0 else { throw .fromErrno(errno, operation: "write", path: path) }
            written += put
        }
    }

    /// Makes the file `end` bytes long, with blocks behind every byte (F4) and zeros from `start` on.
    ///
    /// Writing the zeros brings the pages into memory in one call: first touching each through a mapping of
    /// reserved blocks costs more than three times as much.
    func extend(from start: Int, to end: Int) throws(StorageError) {
        try preallocate(end)
        var offset = start
        while offset < end {
            let count = min(end - offset, OpenFile.zeros.count)
            try write(OpenFile.zeros, count: count, at: offset)
            offset += count
        }
    }

    private static let zeros = [UInt8](repeating: 0, count: 1 << 20)

    /// Reserves blocks so that the first `bytes` bytes can be written through a mapping without SIGBUS (F4).
    private func preallocate(_ bytes: Int) throws(StorageError) {
        let failure = cp_preallocate(descriptor, off_t(bytes))
        guard failure == 0 else { throw .fromErrno(failure, operation: "extend", path: path) }
    }

    func synchronize() throws(StorageError) {
        guard fsync(descriptor) == 0 else { throw .fromErrno(errno, operation: "sync", path: path) }
    }

    // MARK: Names

    func makeFolder(named name: String) throws(StorageError) {
        guard mkdirat(descriptor, name, 0o700) == 0 || errno == EEXIST else {
            throw .fromErrno(errno, operation: "make folder", path: path + "/" + name)
        }
    }

    func rename(_ old: String, to new: String) throws(StorageError) {
        guard renameat(descriptor, old, descriptor, new) == 0 else {
            throw .fromErrno(errno, operation: "rename", path: path + "/" + old)
        }
    }

    /// Removes a name; it being gone already is no error.
    func unlink(_ name: String, isFolder: Bool = false) throws(StorageError) {
        guard unlinkat(descriptor, name, isFolder ? AT_REMOVEDIR : 0) == 0 || errno == ENOENT else {
            throw .fromErrno(errno, operation: "remove", path: path + "/" + name)
        }
    }

    // MARK: Whole-file locks, which the kernel frees when their holder dies

    enum LockKind { case shared, exclusive }

    /// `false` when another holds it and `wait` is false.
    func lock(_ kind: LockKind, wait: Bool) throws(StorageError) -> Bool {
        let operation = (kind == .shared ? LOCK_SH : LOCK_EX) | (wait ? 0 : LOCK_NB)
        while flock(descriptor, operation) != 0 {
            if errno == EINTR { continue }
            if errno == EWOULDBLOCK { return false }
            throw .fromErrno(errno, operation: "lock", path: path)
        }
        return true
    }

    func unlock() { _ = flock(descriptor, LOCK_UN) }
}
