import Foundation

/// Throwing versions of the calls of an ``ArchiveManager`` that don't throw: `try users.throwing.record(user)`. Each does the same
/// as the call of that name there, at the same cost.
///
/// All throw `StorageError`: `invalidKey` (a key has 1 to 1,024 bytes), `valueTooLarge` (the object exceeds the
/// limits of both tiers; nothing was evicted), `noSpace`, `closed`, `corrupted` and other errors of the store.
/// Storing also throws ``ArchiveError/unencodable(type:key:underlying:)``. For a stored value that can't be decoded
/// as the type these calls return `nil` as well, and log it, because a cache may drop any object.
///
/// Calls that read many objects, such as ``accessAll(limitedBy:)`` and queries, leave out values that can't be
/// decoded or whose bytes are damaged. They log this and don't throw, because the other objects are intact.
/// ``staleKeys()`` lists the former, `vellum check` the latter.
public struct ThrowingArchives<Object: Archivable>: @unchecked Sendable {
    @usableFromInline let handle: ArchiveHandle<Object>

    /// As ``ArchiveManager/record(_:options:)``.
    public func record(_ object: Object, options: EntryOptions = EntryOptions()) throws {
        try handle.perform { try $0.store(object, .new(options)) }
    }

    /// As ``ArchiveManager/update(_:options:)``.
    public func update(_ object: Object, options: EntryOptions = EntryOptions()) throws {
        try handle.perform { try $0.store(object, .updated(options)) }
    }

    /// As ``ArchiveManager/insert(all:options:)``, but stops at the first failure.
    public func insert(all objects: [Object], options: EntryOptions = EntryOptions()) throws {
        for object in objects { try record(object, options: options) }
    }

    /// As ``ArchiveManager/access(archiveWithKey:)``.
    @inlinable
    public func access(archiveWithKey key: String) throws -> Object? { try handle.access(key) }

    /// As ``ArchiveManager/peek(archiveWithKey:)``.
    public func peek(archiveWithKey key: String) throws -> Object? { try handle.perform { try $0.peek(key) } }

    /// As ``ArchiveManager/accessAll(limitedBy:)``.
    public func accessAll(limitedBy limit: Int = .max) throws -> [Object] {
        try handle.perform { try $0.accessAll(limit: limit) }
    }

    /// As ``ArchiveManager/process(queries:)``.
    public func process(queries: [Query<Object>]) throws -> [Object] {
        try handle.perform { try $0.process(queries) }
    }

    /// As ``ArchiveManager/countResults(of:)``.
    public func countResults(of queries: [Query<Object>]) throws -> Int {
        try handle.perform { try $0.seen(by: queries).count }
    }

    /// As ``ArchiveManager/deleteResults(of:)``.
    @discardableResult
    public func deleteResults(of queries: [Query<Object>]) throws -> Int {
        try handle.perform { try $0.deleteResults(of: queries) }
    }

    /// As ``ArchiveManager/staleKeys()``.
    public func staleKeys() throws -> [String] { try handle.perform { try $0.staleVersions().map(\.name) } }

    /// As ``ArchiveManager/deleteStale()``.
    @discardableResult
    public func deleteStale() throws -> Int { try handle.perform { try $0.delete($0.staleVersions()) } }

    /// As ``ArchiveManager/latestAccessedTime(for:)``.
    public func latestAccessedTime(for key: String) throws -> Date? {
        try handle.perform { try $0.latestAccess(key) }
    }

    /// As ``ArchiveManager/delete(archiveWithKey:)``.
    public func delete(archiveWithKey key: String) throws { try handle.perform { try $0.delete(key) } }

    /// Deletes the objects with these keys, one after the other. Stops at the first that can't be deleted.
    public func delete(allKeys keys: [String]) throws {
        for key in keys { try handle.perform { try $0.delete(key) } }
    }

    /// As ``ArchiveManager/deleteAll()``.
    public func deleteAll() throws { try handle.perform { try $0.deleteAll() } }

    /// As ``ArchiveManager/deleteAll(ofOwner:)``.
    public func deleteAll(ofOwner owner: String) throws {
        try handle.perform { try $0.deleteAll(ofOwner: owner) }
    }

    /// As ``ArchiveManager/deleteAllInvalidateArchives(invalidateTimeInterval:)``.
    public func deleteAllInvalidateArchives(invalidateTimeInterval: TimeInterval) throws {
        try handle.perform { try $0.deleteIdle(longerThan: .seconds(invalidateTimeInterval)) }
    }

    /// As ``ArchiveManager/resize(memory:disk:)``.
    public func resize(memory: Int? = nil, disk: Int? = nil) throws {
        try handle.perform { try $0.resize(memory: memory, disk: disk) }
    }

    /// As ``ArchiveManager/maxSize`` and its parts.
    public func maxSizes() throws -> ArchiveSizes { try handle.perform { try $0.maxSizes() } }

    /// The sizes in memory and on disk, as ``ArchiveManager/currentSize``.
    public func currentSizes() throws -> ArchiveSizes { try handle.perform { try $0.currentSizes() } }

    /// As ``ArchiveManager/statistics``.
    public func statistics() throws -> ArchiveStatistics { try handle.perform { try $0.statistics() } }
}
