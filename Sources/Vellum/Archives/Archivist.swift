import Foundation

/// What a program mostly does with an archive. What asks for no more can be given something else in a test, which has three calls
/// to write.
///
/// None of these calls throws, as in a cache that may always forget: what could not be done is logged and counted.
public protocol ArchiveAccess<Archive> {
    /// What is archived.
    associatedtype Archive: Archivable

    /// Stores the object, replacing the one of its key, and makes it the most recent.
    func record(_ object: Archive)
    /// As ``record(_:)``, and an object that was there keeps its creation time. Where nothing else is said, ``record(_:)``.
    func update(_ object: Archive)
    /// The object of this key, which becomes the most recent; `nil` if there is none.
    func access(archiveWithKey key: String) -> Archive?
    /// Deletes the object of this key; nothing happens if there is none.
    func delete(archiveWithKey key: String)
}

extension ArchiveAccess {
    /// Stores the object as ``record(_:)`` does.
    public func update(_ object: Archive) { record(object) }
}

/// What every archive of objects can do. ``ArchiveManager`` is the one that the library brings; a test may bring
/// another, such as the `FakeArchives` of the product `VellumTesting`.
public protocol Archivist<Archive>: ArchiveAccess {
    /// Most bytes that the encoded objects of both tiers may have together.
    var maxSize: Int { get }
    /// Bytes that the encoded objects of both tiers have together.
    var currentSize: Int { get }
    /// When the object of this key was last recorded or accessed; `nil` if there is none.
    func latestAccessedTime(for key: String) -> Date?
    /// Deletes the objects whose last access is longer ago than this many seconds.
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
    /// How many objects the queries leave. Where nothing else is said, as many as ``process(queries:)`` returns.
    func countResults(of queries: [Query<Archive>]) -> Int
    /// Deletes what the queries leave, and returns how many that were. Where nothing else is said, by
    /// ``process(queries:)`` and ``delete(archiveWithKey:)``.
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
