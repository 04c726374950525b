import Foundation

/// The calls of an ``ArchiveManager`` for asynchronous code: `try await users.asynchronous.record(user)`. They throw
/// like those of ``ThrowingArchives``, and don't block the caller's thread while they wait for the disk or for another
/// process.
///
/// They run on their caller's actor. Objects are encoded there before the first suspension, conditions of queries are
/// tested there, and objects in memory are returned from there at once. Everything else runs on a thread of a system
/// queue, because Swift's threads must not be blocked.
///
/// That queue has about as many threads as the machine has cores, for all asynchronous calls of the process. So
/// closures of these calls, such as that of `modify`, should be short, as they delay others' calls; one that waits for
/// another asynchronous call may wait for ever.
public struct AsynchronousArchives<Object: Archivable>: @unchecked Sendable {
    @usableFromInline let handle: ArchiveHandle<Object>

    // MARK: Storing

    /// As ``ArchiveManager/record(_:expiresIn:inMemory:owner:)``; without terms as ``ArchiveManager/record(_:)``.
    public nonisolated(nonsending) func record(
        _ object: Object, expiresIn lifetime: Duration? = nil, inMemory memoryLifetime: Duration? = nil,
        owner: String? = nil
    ) async throws {
        try await store(
            object, .new(lifetime: lifetime, memoryLifetime: memoryLifetime, owner: owner))
    }

    /// As ``ArchiveManager/update(_:expiresIn:inMemory:owner:dropping:)``.
    public nonisolated(nonsending) func update(
        _ object: Object, expiresIn lifetime: Duration? = nil, inMemory memoryLifetime: Duration? = nil,
        owner: String? = nil, dropping dropped: Set<ArchiveTerm> = []
    ) async throws {
        try await store(
            object,
            .updated(lifetime: lifetime, memoryLifetime: memoryLifetime, owner: owner, dropping: dropped))
    }

    /// As ``ArchiveManager/insert(all:expiresIn:inMemory:owner:)``, but stops at the first object that can't be stored.
    public nonisolated(nonsending) func insert(
        all objects: [Object], expiresIn lifetime: Duration? = nil, inMemory memoryLifetime: Duration? = nil,
        owner: String? = nil
    ) async throws {
        let terms = Terms.new(lifetime: lifetime, memoryLifetime: memoryLifetime, owner: owner)
        let prepared = try handle.perform { core in try objects.map { try core.prepare($0) } }
        try await handle.elsewhere { core in
            for object in prepared { try core.store(object, terms) }
        }
    }

    private nonisolated(nonsending) func store(_ object: Object, _ terms: Terms) async throws {
        // While this is suspended, the caller's actor may change an instance of a class.
        let prepared = try handle.perform { try $0.prepare(object) }
        try await handle.elsewhere { try $0.store(prepared, terms) }
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
        try await handle.elsewhere { try $0.accessOnDisk(key) }
    }

    /// As ``ArchiveManager/peek(archiveWithKey:)``. A hit in memory doesn't suspend.
    public nonisolated(nonsending) func peek(archiveWithKey key: String) async throws -> Object? {
        if let object = try handle.perform({ try $0.peekInMemory(key) }) { return object }
        return try await handle.elsewhere { try $0.peek(key) }
    }

    /// As ``ArchiveManager/accessAll(limitedBy:)``.
    public nonisolated(nonsending) func accessAll(limitedBy limit: Int = .max) async throws -> [Object] {
        try await handle.elsewhere { try $0.accessAll(limit: limit) }
    }

    /// As ``ArchiveManager/latestAccessedTime(for:)``.
    public nonisolated(nonsending) func latestAccessedTime(for key: String) async throws -> Date? {
        try await handle.elsewhere { try $0.latestAccess(key) }
    }

    // MARK: Stale values

    /// As ``ArchiveManager/staleKeys()``.
    public nonisolated(nonsending) func staleKeys() async throws -> [String] {
        try await handle.elsewhere { try $0.staleVersions().map(\.name) }
    }

    /// As ``ArchiveManager/deleteStale()``.
    @discardableResult
    public nonisolated(nonsending) func deleteStale() async throws -> Int {
        try await handle.elsewhere { try $0.delete($0.staleVersions()) }
    }

    // MARK: Deleting

    /// As ``ArchiveManager/delete(archiveWithKey:)``.
    public nonisolated(nonsending) func delete(archiveWithKey key: String) async throws {
        try await handle.elsewhere { try $0.delete(key) }
    }

    /// As ``ThrowingArchives/delete(allKeys:)``.
    public nonisolated(nonsending) func delete(allKeys keys: [String]) async throws {
        try await handle.elsewhere { core in
            for key in keys { try core.delete(key) }
        }
    }

    /// As ``ArchiveManager/deleteAll()``.
    public nonisolated(nonsending) func deleteAll() async throws {
        try await handle.elsewhere { try $0.deleteAll() }
    }

    /// As ``ArchiveManager/deleteAll(ofOwner:)``.
    public nonisolated(nonsending) func deleteAll(ofOwner owner: String) async throws {
        try await handle.elsewhere { try $0.deleteAll(ofOwner: owner) }
    }

    /// As ``ArchiveManager/deleteAllInvalidateArchives(invalidateTimeInterval:)``.
    public nonisolated(nonsending) func deleteAllInvalidateArchives(
        invalidateTimeInterval: TimeInterval
    ) async throws {
        try await handle.elsewhere { try $0.deleteIdle(longerThan: .seconds(invalidateTimeInterval)) }
    }

    // MARK: The whole

    /// As ``ArchiveManager/resize(memory:disk:)``.
    public nonisolated(nonsending) func resize(memory: Int? = nil, disk: Int? = nil) async throws {
        try await handle.elsewhere { try $0.resize(memory: memory, disk: disk) }
    }

    /// As ``ThrowingArchives/maxSizes()``.
    public nonisolated(nonsending) func maxSizes() async throws -> ArchiveSizes {
        try await handle.elsewhere { ArchiveSizes(try $0.maxSizes()) }
    }

    /// As ``ThrowingArchives/currentSizes()``.
    public nonisolated(nonsending) func currentSizes() async throws -> ArchiveSizes {
        try await handle.elsewhere { ArchiveSizes(try $0.currentSizes()) }
    }

    /// As ``ArchiveManager/statistics``.
    public nonisolated(nonsending) func statistics() async throws -> ArchiveStatistics {
        try await handle.elsewhere { try $0.statistics() }
    }
}
