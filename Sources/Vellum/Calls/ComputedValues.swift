extension ArchiveManager {
    /// The object with this key, as ``access(archiveWithKey:)`` finds it. If absent, calls `compute` and records the
    /// result.
    ///
    /// While the object is computed, other callers in this process that request the key wait for the same computation.
    /// An error is thrown to all of them and isn't kept: the next call computes again. If the archive can't be read or
    /// the object can't be stored, that is logged. Waiting blocks the thread; asynchronous code should call
    /// `AsynchronousArchives.value(forKey:options:renewingBefore:waitingForProcesses:orCompute:)`.
    ///
    /// - Parameters:
    ///   - key: the object's primary key.
    ///   - options: of the object that is recorded. When it has expired, it is computed again at the next request.
    ///   - renewal: if the existing object has less time left than this, this call computes a new one, while other
    ///     callers get the existing one. If the computation fails, the error is logged and this call returns the
    ///     existing one too.
    ///   - timeout: allows only one computation of a key at a time among all processes. If another process is
    ///     computing the object, this call waits for it, at most this long (that process may be stopped), and then
    ///     computes it here as well. `nil`: each process computes for itself. Costs three system calls per
    ///     computation.
    ///   - compute: returns the object, which must have the requested primary key.
    /// - Throws: the errors of `compute`, ``ArchiveError/otherKey(wanted:computed:)``,
    ///   ``ArchiveError/computesItself(key:)`` and ``ArchiveError/computesEachOther(key:other:)`` instead of waiting
    ///   forever (but requests that `compute` makes through a detached task or another thread are not recognized),
    ///   ``ArchiveError/unencodable(type:key:underlying:)``; ``StorageError`` if the key or the archive can't be used.
    public func value(
        forKey key: String, options: EntryOptions = EntryOptions(), renewingBefore renewal: Duration? = nil,
        waitingForProcesses timeout: Duration? = nil, orCompute compute: () throws -> Object
    ) throws -> Object {
        try handle.perform {
            try $0.value(.init(key: key, options: .new(options), renewal: renewal, timeout: timeout), compute)
        }
    }
}

extension AsynchronousArchives {
    /// As `ArchiveManager.value(forKey:options:renewingBefore:waitingForProcesses:orCompute:)` without
    /// blocking a thread.
    ///
    /// The computation is a separate task. A caller that is cancelled while waiting gets `CancellationError`, and the
    /// others get the object. When no caller is left, the computation is cancelled. An object due for renewal is
    /// returned at once and computed in the background.
    public nonisolated(nonsending) func value(
        forKey key: String, options: EntryOptions = EntryOptions(), renewingBefore renewal: Duration? = nil,
        waitingForProcesses timeout: Duration? = nil,
        orCompute compute: @escaping @Sendable () async throws -> sending Object
    ) async throws -> Object {
        try await handle.value(
            .init(key: key, options: .new(options), renewal: renewal, timeout: timeout), compute)
    }
}
