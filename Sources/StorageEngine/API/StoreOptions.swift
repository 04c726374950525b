/// How this process opens a store.
public struct StoreOptions: Sendable, Hashable {
    /// The name that other processes see in the process table; by default the executable's.
    public var processName: String?
    /// Which kind of lock a new index is given. An existing one keeps its own, but for `fileLock` asked for by a process that
    /// is the only one to have the archive open: containers that share a store need it (OnDiskFormat, "Containers").
    public var locking: LockingMode
    /// Whether a store that another user owns, or may write, is looked into all the same. That user can end this process
    /// by cutting off a file that it has mapped. Opening for writing needs a store of one's own in any case.
    public var trustsOwner: Bool

    public init(processName: String? = nil, locking: LockingMode = .automatic, trustsOwner: Bool = false) {
        self.processName = processName
        self.locking = locking
        self.trustsOwner = trustsOwner
    }
}

public enum AccessMode: Sendable, Hashable {
    case readWrite
    /// An observer: it maps the index read-only, never takes the archive's lock, and looking changes no
    /// recency and no counter (F6).
    case readOnly
}
