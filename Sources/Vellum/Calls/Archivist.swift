import Foundation

/// The most common calls on an archive. Code that needs only these can be tested with another implementation, which
/// has to provide three methods.
///
/// None of these calls throws, because a cache may drop any object. Failures are logged and counted.
public protocol ArchiveAccess<Object> {
    /// The type of the objects.
    associatedtype Object: Archivable

    /// Stores the object, replaces the one with its key, and makes it the most recent.
    func record(_ object: Object)
    /// As ``record(_:)``, but an existing object keeps its creation time. By default calls ``record(_:)``.
    func update(_ object: Object)
    /// The object with this key, which becomes the most recent; `nil` if absent.
    func access(archiveWithKey key: String) -> Object?
    /// Deletes the object with this key, if present.
    func delete(archiveWithKey key: String)
}

extension ArchiveAccess {
    /// The type of the objects, by the published library's name.
    public typealias Archive = Object

    /// Stores the object as ``record(_:)`` does.
    public func update(_ object: Object) { record(object) }
}

/// The calls of every archive of objects. ``ArchiveManager`` is the library's implementation; tests may use
/// another, such as `FakeArchives` of the product `VellumTesting`.
public protocol Archivist<Object>: ArchiveAccess {
    /// The limit for encoded objects in both tiers together, in bytes.
    var maxSize: Int { get }
    /// The size of the encoded objects in both tiers together, in bytes.
    var currentSize: Int { get }
    /// When the object of this key was last recorded or accessed; `nil` if absent.
    func latestAccessedTime(for key: String) -> Date?
    /// Deletes the objects that were last accessed more than this many seconds ago.
    func deleteAllInvalidateArchives(invalidateTimeInterval: TimeInterval)
    /// The most recent objects, at most `limit`, the most recent first. Counts as an access of each.
    func accessAll(limitedBy limit: Int) -> [Object]
    /// All objects, the most recent first. Counts as an access of each.
    func accessAll() -> [Object]
    /// Deletes all objects.
    func deleteAll()
    /// Deletes the objects with these keys: ``ArchiveManager`` atomically; the default implementation one by one.
    func delete(keys: [String])
    /// Applies the queries to all objects, one after the other, and returns the results. Counts as an access of each result.
    func process(queries: [Query<Object>]) -> [Object]
    /// The number of the queries' results. The default implementation counts what ``process(queries:)`` returns.
    func countResults(of queries: [Query<Object>]) -> Int
    /// Deletes the queries' results and returns their number. By default by ``process(queries:)`` and
    /// `delete(archiveWithKey:)`.
    func deleteResults(of queries: [Query<Object>]) -> Int
}

extension Archivist {
    /// Deletes the objects of these keys, one after the other.
    public func delete(keys: [String]) { delete(allKeys: keys) }

    /// The number of objects that ``process(queries:)`` returns.
    public func countResults(of queries: [Query<Object>]) -> Int { process(queries: queries).count }

    /// Deletes the objects that ``process(queries:)`` returns, one after the other.
    public func deleteResults(of queries: [Query<Object>]) -> Int {
        let results = process(queries: queries)
        delete(all: results)
        return results.count
    }

    /// When the object of the same key was last recorded or accessed; `nil` if absent.
    public func latestAccessedTime(for object: Object) -> Date? { latestAccessedTime(for: object.primaryKey) }

    /// Records the objects one after the other; the last one is then the most recent.
    public func insert(_ objects: Object...) { insert(all: objects) }

    /// Records the objects one after the other; the last one is then the most recent.
    public func insert(all objects: [Object]) {
        for object in objects { record(object) }
    }

    /// Deletes the object of the same key.
    public func delete(_ object: Object) { delete(archiveWithKey: object.primaryKey) }

    /// Deletes the objects of the same keys, one after the other.
    public func delete(_ objects: Object...) { delete(all: objects) }

    /// Deletes the objects of the same keys, one after the other.
    public func delete(all objects: [Object]) {
        for object in objects { delete(archiveWithKey: object.primaryKey) }
    }

    /// Deletes the objects with these keys: `delete(keys: "ada", "bob")`.
    public func delete(keys: String...) { delete(keys: keys) }

    /// Deletes the objects of these keys, one after the other.
    public func delete(allKeys keys: [String]) {
        for key in keys { delete(archiveWithKey: key) }
    }
}
