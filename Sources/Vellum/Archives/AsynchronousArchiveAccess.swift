/// The most common calls on an archive for asynchronous code. ``AsynchronousArchives`` is the library's
/// implementation. Code that needs only these calls can be tested with another one, such as the `asynchronous` of a
/// `FakeArchives`, or a type that implements three methods.
public protocol AsynchronousArchiveAccess<Object> {
    /// The type of the objects.
    associatedtype Object: Archivable

    /// As ``AsynchronousArchives/record(_:expiresIn:inMemory:owner:)``.
    nonisolated(nonsending) func record(
        _ object: Object, expiresIn lifetime: Duration?, inMemory memoryLifetime: Duration?, owner: String?
    ) async throws
    /// As ``AsynchronousArchives/access(archiveWithKey:)``.
    nonisolated(nonsending) func access(archiveWithKey key: String) async throws -> Object?
    /// As ``AsynchronousArchives/delete(archiveWithKey:)``.
    nonisolated(nonsending) func delete(archiveWithKey key: String) async throws
    /// As `AsynchronousArchives.value(forKey:expiresIn:inMemory:owner:renewingBefore:waitingForProcesses:orCompute:)`.
    /// The default implementation calls `access` and `record`; concurrent callers each compute the object.
    nonisolated(nonsending) func value(
        forKey key: String, expiresIn lifetime: Duration?, inMemory memoryLifetime: Duration?,
        owner: String?, renewingBefore renewal: Duration?, waitingForProcesses patience: Duration?,
        orCompute compute: @escaping @Sendable () async throws -> sending Object
    ) async throws -> Object
}

extension AsynchronousArchiveAccess {
    /// Stores the object without lifetime and owner, and replaces the object with its key.
    public nonisolated(nonsending) func record(_ object: Object) async throws {
        try await record(object, expiresIn: nil, inMemory: nil, owner: nil)
    }

    /// The object with this key. If absent, calls `compute` and records the result.
    public nonisolated(nonsending) func value(
        forKey key: String, expiresIn lifetime: Duration? = nil,
        orCompute compute: @escaping @Sendable () async throws -> sending Object
    ) async throws -> Object {
        try await value(
            forKey: key, expiresIn: lifetime, inMemory: nil, owner: nil, renewingBefore: nil,
            waitingForProcesses: nil, orCompute: compute)
    }

    /// The object with this key. If absent, calls `compute` and records the result. Ignores `renewal` and `patience`.
    public nonisolated(nonsending) func value(
        forKey key: String, expiresIn lifetime: Duration?, inMemory memoryLifetime: Duration?,
        owner: String?, renewingBefore renewal: Duration?, waitingForProcesses patience: Duration?,
        orCompute compute: @escaping @Sendable () async throws -> sending Object
    ) async throws -> Object {
        if let present = try await access(archiveWithKey: key) { return present }
        let object = try await compute()
        try await record(object, expiresIn: lifetime, inMemory: memoryLifetime, owner: owner)
        return object
    }
}

extension AsynchronousArchives: AsynchronousArchiveAccess {}
