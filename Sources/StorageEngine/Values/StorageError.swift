import SystemC

/// An error of the engine. Each description is one line: the fault, its place, and the remedy.
public enum StorageError: Error, Sendable, Hashable {
    /// The path doesn't exist, or is an empty folder, perhaps of a store that is being created.
    case storeNotFound(path: String)
    /// The item at this path is not a store.
    case notAStore(path: String, reason: String)
    /// The store has no archive of this name.
    case noSuchArchive(name: String, store: String)
    /// Another user owns the store; it may be read, not written.
    case ownedByAnotherUser(path: String)
    /// The file system doesn't allow this user to use the file or folder.
    case permissionDenied(path: String)
    /// Other users could change the file or folder while it is in use; the reason states the remedy.
    case notPrivate(path: String, reason: String)
    /// The store, or this archive, is open for reading only.
    case readOnly(operation: String)
    /// The file system is full, or the user's quota is used up.
    case noSpace(path: String)
    /// The value alone is larger than the archive's limit, or than the 1 GiB that a value can have. Nothing was evicted.
    case valueTooLarge(bytes: Int, limit: UInt64, archive: String)
    /// A batch whose values exceed the archive's limit, or that is larger than allowed. Nothing was changed or evicted.
    case batchTooLarge(bytes: Int, limit: UInt64, archive: String)
    /// The path for a backup or a restored store exists; neither replaces anything.
    case backupExists(path: String)
    /// The path for a backup is inside the store.
    case backupInsideStore(path: String)
    /// The key can't be used (it must have 1 to 1,024 bytes); the reason says why.
    case invalidKey(reason: String)
    /// No archive can have this name; the reason says why.
    case invalidArchiveName(reason: String)
    /// The configuration is not allowed; the reason says why.
    case invalidConfiguration(reason: String)
    /// The owner can't be used (it must have 1 to 255 bytes); the reason says why.
    case invalidOwner(reason: String)
    /// Archives of this kind don't have this operation.
    case wrongKind(archive: String, kind: ArchiveKind, operation: String)
    /// Bytes on disk don't match the format. Readable content is intact.
    case corrupted(path: String, offset: Int, reason: String)
    /// The file was written in a newer format than this program supports.
    case unsupportedVersion(path: String, found: UInt32, supported: UInt32)
    /// Another process holds the archive and didn't release it in time; process 0 means that the holder is unknown.
    case busy(archive: String, process: Int32, reason: String)
    /// The archive or the store behind this object was closed or removed.
    case closed(name: String)
    /// The medium rejected a write, so it is unknown which of the latest changes it has. The archive rejects changes until all
    /// processes have closed it; then it opens with the content of the medium.
    case syncFailed(path: String)
    /// A limit of this process or the system. Nothing was changed. Free resources of the process, or raise the limit.
    case limitReached(operation: String, path: String, limit: ResourceLimit)
    /// Any other error of the operating system; `code` is its errno.
    case system(operation: String, path: String, code: Int32)
}

/// The resource that has run out.
public enum ResourceLimit: Sendable, Hashable {
    /// Addresses for mapping files. The value is the process's limit in bytes (`ulimit -v`); `nil`: the limit is the number of
    /// mappings (`vm.max_map_count`) or the machine's memory.
    case addresses(UInt64?)
    /// The size of a file. The value is the process's limit in bytes (`ulimit -f`).
    case fileBytes(UInt64)
    /// Open files of this process. The value is its limit (`ulimit -n`); `nil`: not known.
    case openFiles(UInt64?)
    /// Open files of all processes together (on Linux `fs.file-max`).
    case openFilesOfAll
    /// Memory of the process or of the system.
    case memory
    /// Segment numbers of a log.
    case segmentNumbers

    fileprivate var advice: String {
        switch self {
        case .addresses(let limit?):
            "this process may use \(limit) bytes of addresses; raise this limit (ulimit -v), or open fewer archives"
        case .addresses(nil):
            "this process has reached its limit of mappings; open fewer archives, or raise it (on Linux "
                + "vm.max_map_count)"
        case .fileBytes(let limit):
            "this process may write files of \(limit) bytes at most; raise this limit (ulimit -f)"
        case .openFiles(let limit):
            "this process has reached its limit of open files\(limit.map { " (\($0))" } ?? ""); raise it (ulimit -n), or "
                + "open fewer archives"
        case .openFilesOfAll:
            "the system has reached its limit of open files; close some, or raise it "
                + "(on Linux fs.file-max)"
        case .memory: "not enough memory; end other programs, or raise this process's limit"
        case .segmentNumbers:
            "its log has no segment numbers left; export its entries and import them into a new archive"
        }
    }
}

extension StorageError {
    var isNoSpace: Bool { if case .noSpace = self { true } else { false } }
    var isCorrupted: Bool { if case .corrupted = self { true } else { false } }
    var isPermissionDenied: Bool { if case .permissionDenied = self { true } else { false } }
    /// Whether a file or folder doesn't exist.
    var isMissing: Bool { if case .system(_, _, ENOENT) = self { true } else { false } }
    /// Whether a path doesn't lead to a folder.
    var isNoFolder: Bool { if case .system(_, _, ENOTDIR) = self { true } else { isMissing } }
    /// Whether this user may not use a file.
    var isRefused: Bool { if case .notPrivate = self { true } else { isPermissionDenied } }
    /// Whether an archive was removed while it was open or being opened.
    var isRemoval: Bool { if case .closed = self { true } else { isMissing } }
    /// Whether there is no usable file of a name: none, another item, or one with content of another kind.
    var isMissingOrCorrupted: Bool { isMissing || isCorrupted }
    /// Whether a segment's header isn't one that this version reads.
    var isUnreadableHeader: Bool { if case .unsupportedVersion = self { true } else { isCorrupted } }

    /// Calls `body` up to `most` times, until it throws no error for which `isTransient` is true.
    static func retrying<Result>(
        _ most: Int, while isTransient: (StorageError) throws(StorageError) -> Bool,
        _ body: () throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        for _ in 1..<most {
            do throws(StorageError) {
                return try body()
            } catch {
                guard try isTransient(error) else { throw error }
            }
        }
        return try body()
    }

    /// The value of an expression; `nil` if it throws an error for which `isIgnored` is true.
    @inline(__always) static func nilIf<Value>(
        _ isIgnored: (StorageError) -> Bool, _ value: @autoclosure () throws(StorageError) -> Value
    ) throws(StorageError) -> Value? {
        try ignoring(isIgnored, value)
    }

    /// Calls `body`; returns `nil` if it throws an error for which `isIgnored` is true.
    @inline(__always) static func ignoring<Result>(
        _ isIgnored: (StorageError) -> Bool, _ body: () throws(StorageError) -> Result
    ) throws(StorageError) -> Result? {
        do throws(StorageError) {
            return try body()
        } catch {
            guard isIgnored(error) else { throw error }
            return nil
        }
    }

    /// Calls `body`. If it throws, calls `cleanUp`, and throws the same error.
    @inline(__always) static func rethrowing<Result>(
        after cleanUp: () -> Void, _ body: () throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        do throws(StorageError) {
            return try body()
        } catch {
            cleanUp()
            throw error
        }
    }

    /// The fault and its place; for some errors without the remedy.
    package var finding: String {
        switch self {
        case .corrupted(let path, let offset, let reason): StorageError.damage(path, offset, reason)
        case .storeNotFound(let path): "there is no store at \(path)"
        default: description
        }
    }

    private static func damage(_ path: String, _ offset: Int, _ reason: String) -> String {
        "\(path) is damaged at byte \(offset): \(reason)"
    }
}

extension StorageError: CustomStringConvertible {
    /// One line: the fault, its place, and the remedy.
    public var description: String {
        switch self {
        case .storeNotFound: finding + "; check the path, or create it with vellum put"
        case .notAStore(let path, let reason):
            "\(path) is not a store: \(reason)"
        case .noSuchArchive(let name, let store):
            "there is no archive \"\(name)\" in \(store); vellum ls lists its archives"
        case .ownedByAnotherUser(let path):
            "\(path) belongs to another user and can only be read; open it as its owner to write"
        case .notPrivate(let path, let reason): "\(path) \(reason)"
        case .permissionDenied(let path):
            "no permission for \(path); ask its owner, or use an account with access"
        case .readOnly(let operation):
            "cannot \(operation): opened for reading only"
        case .noSpace(let path):
            "no space left for \(path); free some space or inodes, and try again (nothing stored before is lost)"
        case .valueTooLarge(let bytes, UInt64(ArchiveConfiguration.maximumValueBytes), _)
        where bytes > ArchiveConfiguration.maximumValueBytes:
            "a value of \(bytes) bytes is larger than the \(ArchiveConfiguration.maximumValueBytes) that a value can have; "
                + "store it in parts (nothing was evicted)"
        case .valueTooLarge(let bytes, let limit, let archive):
            "a value of \(bytes) bytes is larger than the limit of archive \"\(archive)\" (\(limit) bytes); "
                + "raise the limit or store less (nothing was evicted)"
        case .batchTooLarge(let bytes, UInt64(Batch.maximumBytes), let archive):
            "\(bytes) bytes are more than the \(Batch.maximumBytes) of a batch for archive \"\(archive)\"; store them in parts, and a "
                + "large value in a separate call (nothing was changed or evicted)"
        case .batchTooLarge(let bytes, let limit, let archive):
            "a batch of \(bytes) bytes is larger than the \(limit) bytes that archive \"\(archive)\" accepts at once; "
                + "store it in parts, or raise the archive's limit (nothing was changed or evicted)"
        case .backupExists(let path):
            "\(path) already exists; name another folder, or remove it"
        case .backupInsideStore(let path):
            "\(path) is inside the store itself; name a folder outside of it for the backup"
        case .invalidKey(let reason): "invalid key: \(reason)"
        case .invalidArchiveName(let reason): "invalid archive name: \(reason)"
        case .invalidConfiguration(let reason): "invalid archive configuration: \(reason)"
        case .invalidOwner(let reason): "invalid owner: \(reason)"
        case .wrongKind(let archive, let kind, let operation):
            "cannot \(operation): archive \"\(archive)\" is a \(kind); "
                + (kind == .log ? "append to it, and read its messages" : "only a log takes messages")
        case .corrupted(let path, let offset, let reason):
            StorageError.damage(path, offset, reason) + "; run a check to find the affected entries"
        case .unsupportedVersion(let path, let found, let supported):
            "\(path) has format version \(found), this program reads version \(supported); update the program"
        case .busy(let archive, 0, let reason): "archive \"\(archive)\" is in use: \(reason)"
        case .busy(let archive, let process, let reason):
            "archive \"\(archive)\" is held by process \(process): \(reason)"
        case .closed(let name): "\"\(name)\" was closed or removed; open it again"
        case .syncFailed(let path):
            "writing \(path) to the medium failed: the latest changes may be lost at a power failure; check the "
                + "disk, close the archive everywhere, and open it again"
        case .limitReached(let operation, let path, let limit):
            "cannot \(operation) \(path): \(limit.advice) (nothing was lost)"
        case .system(let operation, let path, let code):
            "cannot \(operation) \(path): \(StorageError.text(ofErrno: code))"
        }
    }

    package static func fromErrno(_ code: Int32, operation: String, path: String) -> StorageError {
        switch code {
        case ENOSPC, EDQUOT: .noSpace(path: path)
        case EACCES, EPERM: .permissionDenied(path: path)
        case EROFS: .readOnly(operation: "\(operation) \(path) on a read-only file system")
        case EISDIR: .corrupted(path: path, offset: 0, reason: "is a folder, not a file")
        default:
            limit(code).map { .limitReached(operation: operation, path: path, limit: $0) }
                ?? .system(operation: operation, path: path, code: code)
        }
    }

    private static func limit(_ code: Int32) -> ResourceLimit? {
        switch code {
        case EMFILE: .openFiles(ProcessLimit.openFiles)
        case ENFILE: .openFilesOfAll
        case ENOMEM: .memory
        // If the process has no limit, the file system has one.
        case EFBIG: ProcessLimit.fileBytes.map { .fileBytes($0) }
        default: nil
        }
    }

    private static func text(ofErrno code: Int32) -> String {
        guard let text = strerror(code) else { return "error \(code)" }
        return String(cString: text)
    }
}
