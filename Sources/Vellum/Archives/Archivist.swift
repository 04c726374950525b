import Foundation

/// The most common calls on an archive. Code that needs only these can be tested with another implementation, which
/// has to provide three methods.
///
/// None of these calls throws, because a cache may always forget. Failures are logged and counted.
public protocol ArchiveAccess<Archive> {
    /// The type of the objects.
    associatedtype Archive: Archivable

    /// Stores the object, replaces the one with its key, and makes it the most recent.
    func record(_ object: Archive)
    /// As ``record(_:)``, but an existing object keeps its creation time. The default implementation calls
    /// ``record(_:)``.
    func update(_ object: Archive)
    /// The object with this key, which becomes the most recent; `nil` if there is none.
    func access(archiveWithKey key: String) -> Archive?
    /// Deletes the object with this key. Does nothing if there is none.
    func delete(archiveWithKey key: String)
}

extension ArchiveAccess {
    /// Stores the object as ``record(_:)`` does.
    public func update(_ object: Archive) { record(object) }
}

/// The calls of every archive of objects. ``ArchiveManager`` is the library's implementation; tests may use
/// another, such as `FakeArchives` of the product `VellumTesting`.
public protocol Archivist<Archive>: ArchiveAccess {
    /// The limit for encoded objects in both tiers together, in bytes.
    var maxSize: Int { get }
    /// The size of the encoded objects in both tiers together, in bytes.
    var currentSize: Int { get }
    /// When the object of this key was last recorded or accessed; `nil` if there is none.
    func latestAccessedTime(for key: String) -> Date?
    /// Deletes the objects that were last accessed more than this many seconds ago.
    func deleteAllInvalidateArchives(invalidateTimeInterval: TimeInterval)
    /// The most recent objects, at most `limit`, the most recent first. Counts as an access of each.
    func accessAll(limitedBy limit: Int) -> [Archive]
    /// All objects, the most recent first. Counts as an access of each.
    func accessAll() -> [Archive]
    /// Deletes all objects.
    func deleteAll()
    /// Deletes the objects of these keys, all together where the archive can, as ``ArchiveManager`` does. Where nothing else is
    /// said, one after the other.
    func delete(keys: [String])
    /// What the queries leave of all objects, one query after the other. Counts as an access of what it returns.
    func process(queries: [Query<Archive>]) -> [Archive]
    /// The number of the queries' results. The default implementation counts what ``process(queries:)`` returns.
    func countResults(of queries: [Query<Archive>]) -> Int
    /// Deletes the queries' results and returns their number. The default implementation uses ``process(queries:)``
    /// and ``delete(archiveWithKey:)``.
    func deleteResults(of queries: [Query<Archive>]) -> Int
}

extension Archivist {
    /// Deletes the objects of these keys, one after the other.
    public func delete(keys: [String]) { delete(allKeys: keys) }

    /// As many as ``process(queries:)`` returns.
    public func countResults(of queries: [Query<Archive>]) -> Int { process(queries: queries).count }

    /// Deletes what ``process(queries:)`` returns, one after the other.
    public func deleteResults(of queries: [Query<Archive>]) -> Int {
        let results = process(queries: queries)
        delete(all: results)
        return results.count
    }

    /// When the object of the same key was last recorded or accessed; `nil` if there is none.
    public func latestAccessedTime(for object: Archive) -> Date? {
        latestAccessedTime(for: object.primaryKey)
    }

    /// Records the objects one after the other; the last one is the most recent then.
    public func insert(_ objects: Archive...) { insert(all: objects) }

    /// Records the objects one after the other; the last one is the most recent then.
    public func insert(all objects: [Archive]) {
        for object in objects { record(object) }
    }

    /// Deletes the object of the same key.
    public func delete(_ object: Archive) { delete(archiveWithKey: object.primaryKey) }

    /// Deletes the objects of the same keys, one after the other.
    public func delete(_ objects: Archive...) { delete(all: objects) }

    /// Deletes the objects of the same keys, one after the other.
    public func delete(all objects: [Archive]) {
        for object in objects { delete(archiveWithKey: object.primaryKey) }
    }

    /// Deletes the objects of keys that are written out, as the others of that name are.
    public func delete(keys: String...) { delete(keys: keys) }

    /// Deletes the objects of these keys, one after the other.
    public func delete(allKeys keys: [String]) {
        for key in keys { delete(archiveWithKey: key) }
    }
}
