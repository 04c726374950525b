import CPlatform

/// How this process opens a store.
public struct StoreOptions: Sendable, Hashable {
    /// The name that other processes see in the process table; by default the executable's.
    public var processName: String?
    /// Kind of lock of a new index. An existing index keeps its kind, except that `fileLock` is applied if no other process has
    /// the archive open. Containers that share a store need it (OnDiskFormat, "Containers").
    public var locking: LockingMode
    /// Whether to read a store that another user owns or may write. That user can crash this process by truncating a
    /// mapped file. Opening a store for writing requires its user to own it.
    public var trustsOwner: Bool
    /// Whether a cache or a log without an index keeps its entries on a full disk. Then this process is its only writer until it
    /// closes the archive. Otherwise the oldest entries are dropped to get space for an index.
    package var keepsEntriesWithoutIndex = false
    /// Whether requests of sampled keys are recorded (OnDiskFormat, "The request trace"). For measurements.
    package var recordsRequests = true
    /// Whether the caller is a backup that creates this store. Others must not open its folder: the next backup removes it.
    var isUnfinishedBackup = false

    static let forUnfinishedBackup: StoreOptions = {
        var options = StoreOptions()
        options.isUnfinishedBackup = true
        return options
    }()

    /// Options for opening a store; the defaults suit processes of one user on one machine.
    public init(processName: String? = nil, locking: LockingMode = .automatic, trustsOwner: Bool = false) {
        self.processName = processName
        self.locking = locking
        self.trustsOwner = trustsOwner
    }
}

/// Whether a store is opened for writing or for reading only.
public enum AccessMode: Sendable, Hashable {
    /// A writer: may read and change the store.
    case readWrite
    /// An observer: maps the index read-only and never takes the lock. Reading changes no recency and no counter (F6).
    case readOnly
}

/// Which kind of lock guards an archive. Fixed when the index is built; all processes follow it.
public enum LockingMode: UInt32, Sendable {
    /// A robust mutex in the index where the platform has them, else a file lock.
    case automatic = 0
    /// Always a process-shared robust mutex.
    case robustMutex = 1
    /// An exclusive lock on a file, and a mutex among the threads of each process (F8).
    case fileLock = 2

    var resolved: LockingMode {
        self == .automatic ? (cp_mutex_supported() ? .robustMutex : .fileLock) : self
    }
}
