/// The most common calls on an archive for asynchronous code. ``AsynchronousArchives`` is the library's
/// implementation. Code that needs only these calls can be tested with another one, such as the `asynchronous` of a
/// `FakeArchives`, or a type that implements three methods.
public protocol AsynchronousArchiveAccess<Object> {
    /// The type of the objects.
    associatedtype Object: Archivable

    /// As ``AsynchronousArchives/record(_:options:)``.
    nonisolated(nonsending) func record(_ object: Object, options: EntryOptions) async throws
    /// As ``AsynchronousArchives/access(archiveWithKey:)``.
    nonisolated(nonsending) func access(archiveWithKey key: String) async throws -> Object?
    /// As ``AsynchronousArchives/delete(archiveWithKey:)``.
    nonisolated(nonsending) func delete(archiveWithKey key: String) async throws
    /// As `AsynchronousArchives.value(forKey:options:renewingBefore:waitingForProcesses:orCompute:)`. The default
    /// implementation calls `access` and `record`; concurrent callers each compute the object.
    nonisolated(nonsending) func value(
        forKey key: String, options: EntryOptions, renewingBefore renewal: Duration?,
        waitingForProcesses timeout: Duration?,
        orCompute compute: @escaping @Sendable () async throws -> sending Object
    ) async throws -> Object
}

extension AsynchronousArchiveAccess {
    /// Stores the object without options, and replaces the object with its key.
    public nonisolated(nonsending) func record(_ object: Object) async throws {
        try await record(object, options: EntryOptions())
    }

    /// The object with this key. If absent, calls `compute` and records the result. Ignores `renewal` and `timeout`.
    public nonisolated(nonsending) func value(
        forKey key: String, options: EntryOptions = EntryOptions(), renewingBefore renewal: Duration? = nil,
        waitingForProcesses timeout: Duration? = nil,
        orCompute compute: @escaping @Sendable () async throws -> sending Object
    ) async throws -> Object {
        if let present = try await access(archiveWithKey: key) { return present }
        let object = try await compute()
        try await record(object, options: options)
        return object
    }
}

extension AsynchronousArchives: AsynchronousArchiveAccess {}
