/// Objects that are computed where the archive has none.
extension ArchiveManager {
    /// The object of a key, as ``access(archiveWithKey:)`` finds it, else what `compute` returns, which is recorded.
    ///
    /// While it is computed, others in this process that ask for the key wait for the same computation. An error is thrown to
    /// all who wait, and isn't kept: the next call computes anew. If the archive can't be read or the object can't be
    /// stored, that is logged. A thread that waits is blocked: asynchronous code calls
    /// ``AsynchronousArchives/value(forKey:expiresIn:inMemory:owner:renewingBefore:waitingForProcesses:orCompute:)``.
    ///
    /// - Parameters:
    ///   - lifetime: after this the object is found no more, and computed anew when it is asked for.
    ///   - renewal: when the object that is there has less than this left to live, this call computes it anew, while others
    ///     get the one that is there; if that fails, this call returns it too, and the error is logged.
    ///   - patience: makes one computation for a key at a time of those of all processes: what another one computes is waited for,
    ///     this long at most (it may have been stopped), and computed here as well after that. `nil`: each process computes for itself.
    ///     Costs three system calls a computation.
    ///   - compute: makes the object, whose primary key is the one that is asked for.
    /// - Throws: what `compute` throws, ``ArchiveError/otherKey(wanted:computed:)``,
    ///   ``ArchiveError/computesItself(key:)`` and ``ArchiveError/computesEachOther(key:other:)`` instead of waiting for ever (what a
    ///   detached task or another thread asks for on behalf of `compute` isn't known to be its), ``ArchiveError/unencodable(type:key:underlying:)``; ``StorageError`` if the
    ///   key or the archive can't be used.
    public func value(
        forKey key: String, expiresIn lifetime: Duration? = nil, inMemory memoryLifetime: Duration? = nil,
        owner: String? = nil, renewingBefore renewal: Duration? = nil,
        waitingForProcesses patience: Duration? = nil, orCompute compute: () throws -> Archive
    ) throws -> Archive {
        try throwing.value(
            forKey: key, expiresIn: lifetime, inMemory: memoryLifetime, owner: owner,
            renewingBefore: renewal, waitingForProcesses: patience, orCompute: compute)
    }
}

extension ThrowingArchives {
    /// As ``ArchiveManager/value(forKey:expiresIn:inMemory:owner:renewingBefore:waitingForProcesses:orCompute:)``.
    public func value(
        forKey key: String, expiresIn lifetime: Duration? = nil, inMemory memoryLifetime: Duration? = nil,
        owner: String? = nil, renewingBefore renewal: Duration? = nil,
        waitingForProcesses patience: Duration? = nil, orCompute compute: () throws -> Archive
    ) throws -> Archive {
        let terms = Terms.new(lifetime: lifetime, memoryLifetime: memoryLifetime, owner: owner)
        return try handle.perform {
            try $0.value(.init(key: key, terms: terms, renewal: renewal, patience: patience), compute)
        }
    }
}

extension AsynchronousArchives {
    /// As ``ArchiveManager/value(forKey:expiresIn:inMemory:owner:renewingBefore:waitingForProcesses:orCompute:)`` without blocking a thread.
    ///
    /// The computation is a task of its own. Whoever is cancelled while it waits gets `CancellationError`, and the others
    /// their object; when nobody waits any more, the computation is cancelled. What is to be renewed is returned at
    /// once, and computed meanwhile.
    public nonisolated(nonsending) func value(
        forKey key: String, expiresIn lifetime: Duration? = nil, inMemory memoryLifetime: Duration? = nil,
        owner: String? = nil, renewingBefore renewal: Duration? = nil,
        waitingForProcesses patience: Duration? = nil,
        orCompute compute: @escaping @Sendable () async throws -> sending Archive
    ) async throws -> Archive {
        let terms = Terms.new(lifetime: lifetime, memoryLifetime: memoryLifetime, owner: owner)
        return try await handle.value(
            .init(key: key, terms: terms, renewal: renewal, patience: patience), compute)
    }
}
