/// How this process opens a store.
public struct StoreOptions: Sendable, Hashable {
    /// The name that other processes see in the process table; by default the executable's.
    public var processName: String?
    /// Which kind of lock a new index is given. An existing one keeps its own, but for `fileLock` asked for by a process that
    /// is the only one to have the archive open: containers that share a store need it (OnDiskFormat, "Containers").
    public var locking: LockingMode

    public init(processName: String? = nil, locking: LockingMode = .automatic) {
        self.processName = processName
        self.locking = locking
    }
}

public enum AccessMode: Sendable, Hashable {
    case readWrite
    /// An observer: it maps the index read-only, never takes the archive's lock, and looking changes no
    /// recency and no counter (F6).
    case readOnly
}
