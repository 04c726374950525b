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
    /// Of what is opened inside this folder.
    private let trust: FileTrust

    private init(descriptor: Int32, path: String, trust: FileTrust = .anyone) {
        self.descriptor = descriptor
        self.path = path
        self.trust = trust
    }

    deinit { _ = close(descriptor) }

    struct Status {
        var bytes: Int
        var allocatedBytes: Int
        var device: UInt64
        var inode: UInt64
        var links: UInt64
        var owner: UInt32
        var mode: UInt32
        var isFolder: Bool
        var isRegular: Bool

        fileprivate init(_ facts: stat) {
            bytes = Int(facts.st_size)
            allocatedBytes = Int(facts.st_blocks) * 512
            device = UInt64(truncatingIfNeeded: facts.st_dev)
            inode = UInt64(truncatingIfNeeded: facts.st_ino)
            links = UInt64(truncatingIfNeeded: facts.st_nlink)
            owner = facts.st_uid
            mode = UInt32(facts.st_mode)
            isFolder = facts.st_mode & S_IFMT == S_IFDIR
            isRegular = facts.st_mode & S_IFMT == S_IFREG
        }

        /// Whether both are of one file, whatever its names.
        func isOfSameFile(as other: Status) -> Bool { inode == other.inode && device == other.device }
    }

    // MARK: Opening

    static func folder(at path: String, trust: FileTrust = .anyone) throws(StorageError) -> OpenFile {
        let opened = SystemDoor.perform(.open, path: path) {
            Int(cp_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0))
        }
        guard opened.code == 0 else { throw .fromErrno(opened.code, operation: "open", path: path) }
        let folder = OpenFile(descriptor: Int32(opened.value), path: path, trust: trust)
        try folder.requireTrust(trust)
        return folder
    }

    /// Makes the folder at `path`, and those above it that are missing, with mode 0700. The names of those above are on
    /// the medium when this returns; that of `path` itself is for whoever stores something in it.
    static func makeFolders(at path: String) throws(StorageError) {
        var code = makeFolder(at: path)
        if code == ENOENT, let parent = parent(of: path) {
            try makeFolders(at: parent)
            do throws(StorageError) {
                try folder(
                    at: OpenFile.parent(of: parent) ?? (parent.utf8.first == UInt8(ascii: "/") ? "/" : ".")
                )
                .synchronizeNames()
            } catch {
                // A folder of others that this user may not open.
                guard case .permissionDenied = error else { throw error }
            }
            code = makeFolder(at: path)
        }
        guard code == 0 || code == EEXIST else {
            throw .fromErrno(code, operation: "make folder", path: path)
        }
    }

    /// `nil` where the path has none but the root or the working folder.
    private static func parent(of path: String) -> String? {
        var bytes = path.utf8[...]
        while bytes.count > 1, bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
        guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        bytes = bytes[..<slash]
        while bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
        return bytes.isEmpty ? nil : String(Substring(bytes))
    }

    /// 0 or an errno.
    private static func makeFolder(at path: String) -> Int32 {
        let made = SystemDoor.perform(.makeFolder, path: path) { Int(mkdir(path, 0o700)) }
        if made.code == 0 { SystemFaults.tell(.madeFolder(path: path)) }
        return made.code
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

    /// `nil` only when there is no regular file of that name. That it can't be opened now is an error.
    func fileIfPresent(named name: String, writable: Bool) throws(StorageError) -> OpenFile? {
        do throws(StorageError) {
            return try file(named: name, writable: writable)
        } catch {
            switch error {
            case .corrupted, .system(_, _, SystemCode.missing): return nil
            default: throw error
            }
        }
    }

    /// A file that exists, wherever its user has it; what is no regular file is refused.
    static func file(at path: String, writable: Bool) throws(StorageError) -> OpenFile {
        let opened = SystemDoor.perform(.open, path: path) {
            Int(cp_openat(AT_FDCWD, path, (writable ? O_RDWR : O_RDONLY) | O_NONBLOCK | O_CLOEXEC, 0))
        }
        guard opened.code == 0 else { throw .fromErrno(opened.code, operation: "open", path: path) }
        let file = OpenFile(descriptor: Int32(opened.value), path: path)
        guard try file.status().isRegular else {
            throw .corrupted(path: path, offset: 0, reason: "not a regular file")
        }
        return file
    }

    /// Makes the file if it is missing, with mode 0600.
    func fileMakingIfMissing(named name: String) throws(StorageError) -> OpenFile {
        if try hasEntry(named: name) { return try open(name, flags: O_RDWR | O_CREAT) }
        do throws(StorageError) {
            return try newFile(named: name)
        } catch {
            // Another was faster.
            guard case .system(_, _, EEXIST) = error else { throw error }
            return try open(name, flags: O_RDWR | O_CREAT)
        }
    }

    /// Makes the file; fails when the name is taken.
    func newFile(named name: String) throws(StorageError) -> OpenFile {
        let file = try open(name, flags: O_RDWR | O_CREAT | O_EXCL)
        SystemFaults.tell(.created(path: file.path))
        return file
    }

    /// - Throws: also `notPrivate`, for what others could change.
    private func open(_ name: String, flags: Int32) throws(StorageError) -> OpenFile {
        let file = try openUntrusted(name, flags: flags, trust: trust)
        try file.requireTrust(trust)
        return file
    }

    private func requireTrust(_ trust: FileTrust) throws(StorageError) {
        guard case .ownUser = trust else { return }
        let status = try status()
        let objection = trust.objection(owner: status.owner, mode: status.mode, isFolder: status.isFolder)
        if let objection { throw .notPrivate(path: path, reason: objection) }
    }

    private func openUntrusted(
        _ name: String, flags: Int32, path known: String? = nil, trust: FileTrust = .anyone
    ) throws(StorageError) -> OpenFile {
        let full = known ?? path + "/" + name
        let opened = SystemDoor.perform(.open, path: full) {
            Int(cp_openat(descriptor, name, flags | O_NOFOLLOW | O_CLOEXEC, 0o600))
        }
        guard opened.code == 0 else {
            if opened.code == ELOOP || opened.code == ENOTDIR {
                throw .corrupted(path: full, offset: 0, reason: "a symbolic link or another kind of file")
            }
            throw .fromErrno(opened.code, operation: "open", path: full)
        }
        return OpenFile(descriptor: Int32(opened.value), path: full, trust: trust)
    }

    // MARK: Facts

    func status() throws(StorageError) -> Status {
        var facts = stat()
        let result = SystemDoor.perform(.status, path: path) { Int(fstat(descriptor, &facts)) }
        guard result.code == 0 else { throw .fromErrno(result.code, operation: "examine", path: path) }
        return Status(facts)
    }

    /// The same of an entry of this folder, a symbolic link itself included; `nil` when there is none. Takes no
    /// descriptor.
    func status(ofEntry name: String) throws(StorageError) -> Status? {
        var facts = stat()
        let full = path + "/" + name
        let result = SystemDoor.perform(.status, path: full) {
            Int(fstatat(descriptor, name, &facts, AT_SYMLINK_NOFOLLOW))
        }
        switch result.code {
        case 0: return Status(facts)
        case ENOENT, ENOTDIR: return nil
        default: throw .fromErrno(result.code, operation: "examine", path: full)
        }
    }

    /// Names in this folder, without `.` and `..`, in no order.
    func names() throws(StorageError) -> [String] {
        let copy = SystemDoor.perform(.open, path: path) {
            Int(cp_openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0))
        }
        guard copy.code == 0 else { throw .fromErrno(copy.code, operation: "list", path: path) }
        guard let stream = fdopendir(Int32(copy.value)) else {
            let code = errno
            _ = close(Int32(copy.value))
            throw .fromErrno(code, operation: "list", path: path)
        }
        defer { closedir(stream) }
        var names: [String] = []
        while true {
            // The end and a failure differ in errno alone; a list that broke off must not pass for a whole one.
            var next: UnsafeMutablePointer<dirent>?
            let result = SystemDoor.perform(.list, path: path) {
                errno = 0
                next = readdir(stream)
                return next == nil && errno != 0 ? -1 : 0
            }
            guard result.code == 0 else { throw .fromErrno(result.code, operation: "list", path: path) }
            guard let entry = next else { break }
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names
    }

    /// Whether there is an entry of that name. That it can't be told is an error: to take it for "no" would make
    /// an archive anew over one that is there.
    func hasEntry(named name: String) throws(StorageError) -> Bool {
        let result = SystemDoor.perform(.exists, path: path + "/" + name) {
            Int(faccessat(descriptor, name, F_OK, AT_SYMLINK_NOFOLLOW))
        }
        switch result.code {
        case 0: return true
        case ENOENT, ENOTDIR: return false
        default: throw .fromErrno(result.code, operation: "look for", path: path + "/" + name)
        }
    }

    // MARK: Bytes

    /// The bytes from `start` on, at most `limit`; fewer where the file ends.
    func read(atMost limit: Int, from start: Int = 0) throws(StorageError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: limit)
        let filled = try read(into: &bytes, at: start)
        bytes.removeLast(limit - filled)
        return bytes
    }

    /// Fills `bytes` from `offset` of the file on; returns how many there are, fewer at the file's end.
    func read(into bytes: inout [UInt8], at offset: Int) throws(StorageError) -> Int {
        let limit = bytes.count
        var filled = 0
        while filled < limit {
            let got = bytes.withUnsafeMutableBytes { buffer in
                SystemDoor.transfer(.read, count: limit - filled, path: path) {
                    pread(descriptor, buffer.baseAddress! + filled, $0, off_t(offset + filled))
                }
            }
            guard got.code == 0 else { throw .fromErrno(got.code, operation: "read", path: path) }
            if got.value == 0 { break }
            filled += got.value
        }
        return filled
    }

    /// Writes all of `bytes` at the start of the file.
    func write(_ bytes: [UInt8]) throws(StorageError) {
        try write(bytes, count: bytes.count, at: 0)
    }

    func write(_ bytes: [UInt8], at offset: Int) throws(StorageError) {
        try write(bytes, count: bytes.count, at: offset)
    }

    private func write(_ bytes: [UInt8], count: Int, at offset: Int) throws(StorageError) {
        try checkLength(offset + count)
        var written = 0
        while written < count {
            let put = bytes.withUnsafeBytes { buffer in
                SystemDoor.transfer(.write, count: count - written, path: path) {
                    pwrite(descriptor, buffer.baseAddress! + written, $0, off_t(offset + written))
                }
            }
            guard put.code == 0 else { throw .fromErrno(put.code, operation: "write", path: path) }
            written += put.value
        }
    }

    /// Cuts the file off. Never one that anybody has mapped (F4).
    func truncate(to bytes: Int) throws(StorageError) {
        let result = SystemDoor.perform(.write, path: path) { Int(ftruncate(descriptor, off_t(bytes))) }
        guard result.code == 0 else { throw .fromErrno(result.code, operation: "cut off", path: path) }
    }

    /// Makes the file `end` bytes long, with blocks behind every byte (F4) and zeros from `start` on.
    ///
    /// Writing the zeros brings the pages into memory in one call: first touching each through a mapping of
    /// reserved blocks costs more than three times as much.
    func extend(from start: Int, to end: Int) throws(StorageError) {
        try reserveBlocks(end)
        var offset = start
        while offset < end {
            let count = min(end - offset, OpenFile.zeros.count)
            try write(OpenFile.zeros, count: count, at: offset)
            offset += count
        }
    }

    // As many as the processor's nearer caches hold, and few enough to be had where memory is scarce.
    private static let zeros = [UInt8](repeating: 0, count: 64 << 10)

    /// A process that writes past its limit of a file's length is ended by SIGXFSZ, unless it ignores that signal:
    /// what a signal does is the program's to say, so nothing is written there (F4).
    private func checkLength(_ bytes: Int) throws(StorageError) {
        guard let limit = ProcessLimit.fileBytes, UInt64(bytes) > limit else { return }
        throw .limitReached(operation: "write \(bytes) bytes of", path: path, limit: .fileBytes(limit))
    }

    /// Reserves blocks so that the first `bytes` bytes can be written through a mapping without SIGBUS (F4), holes
    /// among them included. Makes the file that long if it is shorter.
    func reserveBlocks(_ bytes: Int) throws(StorageError) {
        try checkLength(bytes)
        let result = SystemDoor.perform(.allocate, path: path) {
            let failure = cp_preallocate(descriptor, off_t(bytes))
            errno = failure
            return failure == 0 ? 0 : -1
        }
        guard result.code == 0 else { throw .fromErrno(result.code, operation: "extend", path: path) }
    }

    /// Returns when the file's bytes (a folder's names) are on the medium, those written through the mapping
    /// `mapped` included. After a failure it is unknown which are, and asking again would not tell.
    func synchronize(mapped: UnsafeMutableRawBufferPointer? = nil) throws(StorageError) {
        SystemFaults.tell(.syncing(path: path))
        let result = SystemDoor.perform(.sync, path: path) {
            Int(cp_synchronize(descriptor, mapped?.baseAddress, mapped?.count ?? 0))
        }
        guard result.code == 0 else { throw .fromErrno(result.code, operation: "sync", path: path) }
        SystemFaults.tell(.synced(path: path))
    }

    /// Returns when this folder's names are on the medium. Where the file system has no such call, its names
    /// are as lasting as it makes them.
    func synchronizeNames() throws(StorageError) {
        SystemFaults.tell(.syncing(path: path))
        let result = SystemDoor.perform(.sync, path: path) { Int(cp_synchronize_names(descriptor)) }
        guard result.code == 0 || result.code == EINVAL else {
            throw .fromErrno(result.code, operation: "sync", path: path)
        }
        SystemFaults.tell(.synced(path: path))
    }

    /// The folder that this folder is in, wherever it has been moved.
    func parentFolder() throws(StorageError) -> OpenFile {
        let name = OpenFile.parent(of: path) ?? path + "/.."
        return try openUntrusted("..", flags: O_RDONLY | O_DIRECTORY, path: name)
    }

    /// Lets the kernel forget what it holds of the file in memory, so that reading shows what is on the medium.
    func forgetCachedBytes() { cp_forget_cached(descriptor) }

    // MARK: Names

    /// Whether it was made: else it was there.
    @discardableResult
    func makeFolder(named name: String) throws(StorageError) -> Bool {
        let full = path + "/" + name
        let made = SystemDoor.perform(.makeFolder, path: full) { Int(mkdirat(descriptor, name, 0o700)) }
        guard made.code == 0 || made.code == EEXIST else {
            throw .fromErrno(made.code, operation: "make folder", path: full)
        }
        if made.code == 0 { SystemFaults.tell(.madeFolder(path: full)) }
        return made.code == 0
    }

    func rename(_ old: String, to new: String) throws(StorageError) {
        let result = SystemDoor.perform(.rename, path: path + "/" + old) {
            Int(renameat(descriptor, old, descriptor, new))
        }
        guard result.code == 0 else {
            throw .fromErrno(result.code, operation: "rename", path: path + "/" + old)
        }
        SystemFaults.tell(.renamed(from: path + "/" + old, to: path + "/" + new))
    }

    /// Gives a file of this folder a second name.
    func link(_ name: String, as second: String) throws(StorageError) {
        let result = SystemDoor.perform(.rename, path: path + "/" + name) {
            Int(linkat(descriptor, name, descriptor, second, 0))
        }
        guard result.code == 0 else {
            throw .fromErrno(result.code, operation: "give another name to", path: path + "/" + name)
        }
        SystemFaults.tell(.created(path: path + "/" + second))
    }

    /// Removes a name; it being gone already is no error.
    func unlink(_ name: String, isFolder: Bool = false) throws(StorageError) {
        let result = SystemDoor.perform(.unlink, path: path + "/" + name) {
            SystemFaults.tell(.unlinked(path: path + "/" + name))
            return Int(unlinkat(descriptor, name, isFolder ? AT_REMOVEDIR : 0))
        }
        guard result.code == 0 || result.code == ENOENT else {
            throw .fromErrno(result.code, operation: "remove", path: path + "/" + name)
        }
    }

    /// Removes a name, and if it is a folder (which someone else put there) all that is in it; follows no link (F9).
    func removeTree(_ name: String) throws(StorageError) {
        guard try status(ofEntry: name)?.isFolder == true else { return try unlink(name) }
        let inside = try folder(named: name)
        for file in try inside.names() { try inside.removeTree(file) }
        try unlink(name, isFolder: true)
    }

    // MARK: Whole-file locks, which the kernel frees when their holder dies

    enum LockKind { case shared, exclusive }

    /// `false` when another holds it and `wait` is false.
    func lock(_ kind: LockKind, wait: Bool) throws(StorageError) -> Bool {
        let operation = (kind == .shared ? LOCK_SH : LOCK_EX) | (wait ? 0 : LOCK_NB)
        let result = SystemDoor.perform(.lock, path: path) { Int(flock(descriptor, operation)) }
        if result.code == EWOULDBLOCK { return false }
        guard result.code == 0 else { throw .fromErrno(result.code, operation: "lock", path: path) }
        return true
    }

    /// Locks one byte of the file for this open file, beside what ``lock(_:wait:)`` does; `false` when another has it.
    func lockByte(_ offset: Int) throws(StorageError) -> Bool {
        let result = SystemDoor.perform(.lock, path: path) {
            let failure = cp_lock_byte(descriptor, off_t(offset), true)
            errno = failure
            return failure == 0 ? 0 : -1
        }
        if result.code == EAGAIN { return false }
        guard result.code == 0 else { throw .fromErrno(result.code, operation: "lock", path: path) }
        return true
    }

    func unlockByte(_ offset: Int) { _ = cp_lock_byte(descriptor, off_t(offset), false) }

    /// Whether another open file has that byte locked; `true` also where it can't be told.
    func isByteLocked(_ offset: Int) -> Bool { cp_byte_lock_is_held(descriptor, off_t(offset)) != 0 }

    /// Cannot fail on a descriptor that is open, and never waits.
    func unlock() { _ = flock(descriptor, LOCK_UN) }
}
