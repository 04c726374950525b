/// Calls of an ``ArchiveManager`` for asynchronous code: `try await users.asynchronous.record(user)`. They throw like
/// those of ``ThrowingArchives``, and don't block the caller's thread while they wait for the disk or for another
/// process.
///
/// They run on their caller's actor. Objects are encoded there before the first suspension, conditions of queries are
/// tested there, and objects in memory are returned from there at once. Everything else runs on a thread of a system
/// queue, because Swift's threads must not be blocked. ``ArchiveManager/perform(_:)`` performs other calls there.
public struct AsynchronousArchives<Object: Archivable>: @unchecked Sendable {
    @usableFromInline let handle: ArchiveHandle<Object>

    // MARK: Storing

    /// As ``ArchiveManager/record(_:options:)``.
    public nonisolated(nonsending) func record(
        _ object: Object, options: EntryOptions = EntryOptions()
    ) async throws {
        try await store(object, .new(options))
    }

    /// As ``ArchiveManager/update(_:options:)``.
    public nonisolated(nonsending) func update(
        _ object: Object, options: EntryOptions = EntryOptions()
    ) async throws {
        try await store(object, .updated(options))
    }

    /// As ``ArchiveManager/insert(all:options:)``, but stops at the first object that can't be stored.
    public nonisolated(nonsending) func insert(
        all objects: [Object], options: EntryOptions = EntryOptions()
    ) async throws {
        let prepared = try handle.perform { core in try objects.map { try core.prepare($0) } }
        try await handle.blocking { core in
            for object in prepared { try core.store(object, .new(options)) }
        }
    }

    private nonisolated(nonsending) func store(_ object: Object, _ options: ResolvedOptions) async throws {
        // While this is suspended, the caller's actor may change an instance of a class.
        let prepared = try handle.perform { try $0.prepare(object) }
        try await handle.blocking { try $0.store(prepared, options) }
    }

    // MARK: Reading

    /// As ``ArchiveManager/access(archiveWithKey:)``. A hit in memory doesn't suspend.
    @inlinable
    public nonisolated(nonsending) func access(archiveWithKey key: String) async throws -> Object? {
        if let object = try handle.accessInMemory(key) { return object }
        return try await accessOnDisk(key)
    }

    @usableFromInline
    nonisolated(nonsending) func accessOnDisk(_ key: String) async throws -> Object? {
        try await handle.blocking { try $0.accessOnDisk(key) }
    }

    /// As ``ArchiveManager/peek(archiveWithKey:)``. A hit in memory doesn't suspend.
    public nonisolated(nonsending) func peek(archiveWithKey key: String) async throws -> Object? {
        if let object = try handle.perform({ try $0.peekInMemory(key) }) { return object }
        return try await handle.blocking { try $0.peek(key) }
    }

    // MARK: Deleting

    /// As ``ArchiveManager/delete(archiveWithKey:)``.
    public nonisolated(nonsending) func delete(archiveWithKey key: String) async throws {
        try await handle.blocking { try $0.delete(key) }
    }
}

extension ArchiveManager {
    /// Performs calls of this archive on a thread of a system queue, where they may block, and returns their result:
    /// `let keys = try await users.perform { try $0.throwing.keys() }`. Throws the errors of `body`.
    ///
    /// That queue has about as many threads as the machine has cores, for all asynchronous calls of the process. So
    /// `body` should be short, as it delays others' calls; if it waits for another asynchronous call, it may wait for
    /// ever.
    public nonisolated(nonsending) func perform<Value>(
        _ body: @escaping @Sendable (ArchiveManager<Object>) throws -> sending Value
    ) async throws -> Value {
        try await BlockingExecutor.run { try body(self) }
    }
}
