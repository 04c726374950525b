import CPlatform
import Synchronization
import SystemC

enum SystemCode {
    static let missing = ENOENT
    static let notAFolder = ENOTDIR
    static let notEmpty = ENOTEMPTY
    static let exists = EEXIST
}

/// An open file or folder, closed with the last reference, and the only access to the file system.
final class FileDescriptor: Sendable {
    let descriptor: Int32
    let path: String
    private let trust: FileTrust
    let wasLocked = Atomic<Bool>(false)

    private init(descriptor: Int32, path: String, trust: FileTrust = .anyone) {
        self.descriptor = descriptor
        self.path = path
        self.trust = trust
    }

    deinit {
        // A process that another thread is starting has a copy of the descriptor, which would keep the lock.
        if wasLocked.load(ordering: .relaxed) { unlock() }
        _ = close(descriptor)
    }

    /// Identifies a file among all existing ones, under any of its names.
    struct FileNumber: Hashable {
        var device: UInt64
        var inode: UInt64
    }

    struct Status {
        fileprivate let facts: stat

        var bytes: Int { Int(facts.st_size) }
        var allocatedBytes: Int { Int(facts.st_blocks) * 512 }
        var number: FileNumber {
            FileNumber(
                device: UInt64(truncatingIfNeeded: facts.st_dev),
                inode: UInt64(truncatingIfNeeded: facts.st_ino))
        }
        var links: UInt64 { UInt64(truncatingIfNeeded: facts.st_nlink) }
        var owner: UInt32 { facts.st_uid }
        var mode: UInt32 { UInt32(facts.st_mode) }
        var isFolder: Bool { facts.st_mode & S_IFMT == S_IFDIR }
        var isRegular: Bool { facts.st_mode & S_IFMT == S_IFREG }
        /// When the file or its status was last changed, by the wall clock, in nanoseconds.
        var changed: Int {
            #if canImport(Darwin)
            let time = facts.st_ctimespec
            #else
            let time = facts.st_ctim
            #endif
            return Int(time.tv_sec) &* 1_000_000_000 &+ Int(time.tv_nsec)
        }
    }

    static func folder(at path: String, trust: FileTrust = .anyone) throws(StorageError) -> FileDescriptor {
        let opened = try SystemCall.open.run("open", path: path) {
            Int(cp_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0))
        }
        let folder = FileDescriptor(descriptor: Int32(opened), path: path, trust: trust)
        try folder.requireTrust(trust)
        return folder
    }

    /// A folder inside this one. Symbolic links are refused (F9).
    func folder(named name: String) throws(StorageError) -> FileDescriptor {
        try open(name, flags: O_RDONLY | O_DIRECTORY)
    }

    func file(named name: String, writable: Bool) throws(StorageError) -> FileDescriptor {
        let file = try open(name, flags: (writable ? O_RDWR : O_RDONLY) | O_NONBLOCK)
        guard try file.status().isRegular else {
            throw .corrupted(path: file.path, offset: 0, reason: "not a regular file")
        }
        return file
    }

    /// Opens a file; `nil` only if no regular file has that name. Throws if the file can't be opened now.
    func fileIfPresent(named name: String, writable: Bool) throws(StorageError) -> FileDescriptor? {
        try StorageError.nilIf(\.isMissingOrCorrupted, file(named: name, writable: writable))
    }

    /// Creates the file with mode 0600 if it is missing.
    func fileMakingIfMissing(named name: String) throws(StorageError) -> FileDescriptor {
        if try hasEntry(named: name) { return try open(name, flags: O_RDWR | O_CREAT) }
        do throws(StorageError) {
            return try newFile(named: name)
        } catch {
            // Another process has created the file.
            guard case .system(_, _, EEXIST) = error else { throw error }
            return try open(name, flags: O_RDWR | O_CREAT)
        }
    }

    func newFile(named name: String) throws(StorageError) -> FileDescriptor {
        let file = try open(name, flags: O_RDWR | O_CREAT | O_EXCL)
        SystemFaults.tell(.created(path: file.path))
        return file
    }

    func parentFolder() throws(StorageError) -> FileDescriptor {
        let name = FileDescriptor.parent(of: path) ?? path + "/.."
        return try openUntrusted("..", flags: O_RDONLY | O_DIRECTORY, path: name)
    }

    private func open(_ name: String, flags: Int32) throws(StorageError) -> FileDescriptor {
        let file = try openUntrusted(name, flags: flags, trust: trust)
        try file.requireTrust(trust)
        return file
    }

    private func requireTrust(_ trust: FileTrust) throws(StorageError) {
        guard case .ownUser = trust else { return }
        let status = try status()
        let reason = trust.reason(owner: status.owner, mode: status.mode, isFolder: status.isFolder)
        if let reason { throw .notPrivate(path: path, reason: reason) }
    }

    private func openUntrusted(
        _ name: String, flags: Int32, path known: String? = nil, trust: FileTrust = .anyone
    ) throws(StorageError) -> FileDescriptor {
        let full = known ?? path + "/" + name
        let opened = SystemCall.open.perform(path: full) {
            Int(cp_openat(descriptor, name, flags | O_NOFOLLOW | O_CLOEXEC, 0o600))
        }
        guard opened.code == 0 else {
            if opened.code == ELOOP || opened.code == ENOTDIR {
                throw .corrupted(path: full, offset: 0, reason: "is a symbolic link or not a file")
            }
            throw .fromErrno(opened.code, operation: "open", path: full)
        }
        return FileDescriptor(descriptor: Int32(opened.value), path: full, trust: trust)
    }

    func status() throws(StorageError) -> Status {
        var facts = stat()
        try SystemCall.status.run("examine", path: path) { Int(fstat(descriptor, &facts)) }
        return Status(facts: facts)
    }

    /// Bytes that this process can still allocate on the file system; 0 if unknown.
    func availableBytes() -> UInt64 {
        var facts = statvfs()
        guard fstatvfs(descriptor, &facts) == 0 else { return 0 }
        return UInt64(facts.f_bavail) &* UInt64(facts.f_frsize)
    }

    /// The status of an entry of this folder, of a link itself; `nil`: absent. Needs no descriptor.
    func status(ofEntry name: String) throws(StorageError) -> Status? {
        var facts = stat()
        let full = path + "/" + name
        let code = try SystemCall.status.code("examine", path: full, allowing: ENOENT, ENOTDIR) {
            Int(fstatat(descriptor, name, &facts, AT_SYMLINK_NOFOLLOW))
        }
        return code == 0 ? Status(facts: facts) : nil
    }
}
