/// What asynchronous code mostly does with an archive. ``AsynchronousArchives`` is the one that the library brings; what asks for no
/// more can be given something else in a test, such as the `asynchronous` of a `FakeArchives`, which has three calls to write.
public protocol AsynchronousArchiveAccess<Archive> {
    /// What is archived.
    associatedtype Archive: Archivable

    /// As ``AsynchronousArchives/record(_:expiresIn:inMemory:owner:)``.
    nonisolated(nonsending) func record(
        _ object: Archive, expiresIn lifetime: Duration?, inMemory memoryLifetime: Duration?, owner: String?
    ) async throws
    /// As ``AsynchronousArchives/access(archiveWithKey:)``.
    nonisolated(nonsending) func access(archiveWithKey key: String) async throws -> Archive?
    /// As ``AsynchronousArchives/delete(archiveWithKey:)``.
    nonisolated(nonsending) func delete(archiveWithKey key: String) async throws
    /// As ``AsynchronousArchives/value(forKey:expiresIn:inMemory:owner:renewingBefore:waitingForProcesses:orCompute:)``. Where nothing
    /// else is said, by access and record, and each who asks computes for himself.
    nonisolated(nonsending) func value(
        forKey key: String, expiresIn lifetime: Duration?, inMemory memoryLifetime: Duration?,
        owner: String?, renewingBefore renewal: Duration?, waitingForProcesses patience: Duration?,
        orCompute compute: @escaping @Sendable () async throws -> sending Archive
    ) async throws -> Archive
}

extension AsynchronousArchiveAccess {
    /// Stores the object without any terms, replacing the one of its key.
    public nonisolated(nonsending) func record(_ object: Archive) async throws {
        try await record(object, expiresIn: nil, inMemory: nil, owner: nil)
    }

    /// The object of a key, else what `compute` returns, which is recorded.
    public nonisolated(nonsending) func value(
        forKey key: String, expiresIn lifetime: Duration? = nil,
        orCompute compute: @escaping @Sendable () async throws -> sending Archive
    ) async throws -> Archive {
        try await value(
            forKey: key, expiresIn: lifetime, inMemory: nil, owner: nil, renewingBefore: nil,
            waitingForProcesses: nil, orCompute: compute)
    }

    /// What is there, else what `compute` returns, which is recorded.
    public nonisolated(nonsending) func value(
        forKey key: String, expiresIn lifetime: Duration?, inMemory memoryLifetime: Duration?,
        owner: String?, renewingBefore renewal: Duration?, waitingForProcesses patience: Duration?,
        orCompute compute: @escaping @Sendable () async throws -> sending Archive
    ) async throws -> Archive {
        if let present = try await access(archiveWithKey: key) { return present }
        let object = try await compute()
        try await record(object, expiresIn: lifetime, inMemory: memoryLifetime, owner: owner)
        return object
    }
}

extension AsynchronousArchives: AsynchronousArchiveAccess {}
