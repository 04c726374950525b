import Foundation

/// The calls of an ``ArchiveManager`` as ones that throw: `try users.throwing.record(user)`. Each does the same as the
/// one of its name there, and costs the same.
///
/// All throw `StorageError`: `invalidKey` (a key is 1 to 1,024 bytes), `valueTooLarge` (larger than the limits of both
/// tiers; nothing was evicted), `noSpace`, `closed`, `corrupted` and what else the store refuses. Storing throws also
/// ``ArchiveError/unencodable(type:key:underlying:)``. A stored value that is no object of the type any more is `nil`
/// here too, and logged: a cache may forget.
public struct ThrowingArchives<Archive: Archivable>: @unchecked Sendable {
    let core: ArchiveCore<Archive>

    /// As ``ArchiveManager/record(_:)``, with a lifetime on disk and one in memory (`nil`: as long as there is room), and an owner
    /// of 1 to 255 bytes.
    public func record(
        _ object: Archive, expiresIn lifetime: Duration? = nil, inMemory memoryLifetime: Duration? = nil,
        owner: String? = nil
    ) throws {
        try core.store(object, .new(lifetime: lifetime, memoryLifetime: memoryLifetime, owner: owner))
    }

    /// As ``ArchiveManager/update(_:expiresIn:inMemory:owner:dropping:)``.
    public func update(
        _ object: Archive, expiresIn lifetime: Duration? = nil, inMemory memoryLifetime: Duration? = nil,
        owner: String? = nil, dropping dropped: Set<ArchiveTerm> = []
    ) throws {
        try core.store(
            object,
            .updated(lifetime: lifetime, memoryLifetime: memoryLifetime, owner: owner, dropping: dropped))
    }

    /// As ``ArchiveManager/insert(all:expiresIn:inMemory:owner:)``; the first object that can't be stored ends it.
    public func insert(
        all objects: [Archive], expiresIn lifetime: Duration? = nil, inMemory memoryLifetime: Duration? = nil,
        owner: String? = nil
    ) throws {
        let terms = Terms.new(lifetime: lifetime, memoryLifetime: memoryLifetime, owner: owner)
        for object in objects { try core.store(object, terms) }
    }

    /// As ``ArchiveManager/access(archiveWithKey:)``.
    public func access(archiveWithKey key: String) throws -> Archive? { try core.access(key) }

    /// As ``ArchiveManager/peek(archiveWithKey:)``.
    public func peek(archiveWithKey key: String) throws -> Archive? { try core.peek(key) }

    /// As ``ArchiveManager/accessAll(limitedBy:)``.
    public func accessAll(limitedBy limit: Int = .max) throws -> [Archive] {
        try core.accessAll(limit: limit)
    }

    /// As ``ArchiveManager/process(queries:)``.
    public func process(queries: [Query<Archive>]) throws -> [Archive] { try core.process(queries) }

    /// As ``ArchiveManager/staleKeys()``.
    public func staleKeys() throws -> [String] { try core.staleVersions().map(\.name) }

    /// As ``ArchiveManager/deleteStale()``.
    @discardableResult
    public func deleteStale() throws -> Int { try core.delete(core.staleVersions()) }

    /// As ``ArchiveManager/latestAccessedTime(for:)``.
    public func latestAccessedTime(for key: String) throws -> Date? { try core.latestAccess(key) }

    /// As ``ArchiveManager/delete(archiveWithKey:)``.
    public func delete(archiveWithKey key: String) throws { try core.delete(key) }

    /// Deletes the objects of these keys, one after the other; the first that can't be deleted ends it.
    public func delete(allKeys keys: [String]) throws {
        for key in keys { try core.delete(key) }
    }

    /// As ``ArchiveManager/deleteAll()``.
    public func deleteAll() throws { try core.deleteAll() }

    /// As ``ArchiveManager/deleteAll(ofOwner:)``.
    public func deleteAll(ofOwner owner: String) throws { try core.deleteAll(ofOwner: owner) }

    /// As ``ArchiveManager/deleteAllInvalidateArchives(invalidateTimeInterval:)``.
    public func deleteAllInvalidateArchives(invalidateTimeInterval: TimeInterval) throws {
        try core.deleteIdle(longerThan: .seconds(invalidateTimeInterval))
    }

    /// As ``ArchiveManager/resize(memory:disk:)``.
    public func resize(memory: Int? = nil, disk: Int? = nil) throws {
        try core.resize(memory: memory, disk: disk)
    }

    /// As ``ArchiveManager/maxSize`` and its parts.
    public func maxSizes() throws -> ArchiveSizes {
        let sizes = try core.maxSizes()
        return ArchiveSizes(memory: sizes.memory, disk: sizes.disk, total: sizes.both)
    }

    /// As ``ArchiveManager/currentSize`` and its parts.
    public func currentSizes() throws -> ArchiveSizes {
        let sizes = try core.currentSizes()
        return ArchiveSizes(memory: sizes.memory, disk: sizes.disk, total: sizes.both)
    }

    /// As ``ArchiveManager/statistics``.
    public func statistics() throws -> ArchiveStatistics { try core.statistics() }
}

/// Bytes of encoded objects in both tiers.
public struct ArchiveSizes: Sendable, Hashable {
    /// In the memory of this process.
    public var memory: Int
    /// On disk.
    public var disk: Int
    /// Both together; `Int.max` if that is no limit.
    public var total: Int
}
