import Foundation
import StorageEngine
import Vellum

/// An archive without a store, for tests: a dictionary that evicts nothing and has no limits. Safe from any thread.
public final class FakeArchives<Object: Archivable>: Archivist, @unchecked Sendable {
    private let lock = NSRecursiveLock()
    // Both guarded by the lock.
    private var objects: [ExactText: Kept] = [:]
    private var uses = 0

    private struct Kept {
        var object: Object
        var used: Date
        /// Number of its last access.
        var use: Int
    }

    /// Creates an archive with these objects, the most recent first.
    public init(_ objects: [Object] = []) {
        for object in objects.reversed() { record(object) }
    }

    /// With the lock.
    private func keep(_ object: Object, _ key: ExactText) {
        uses += 1
        objects[key] = Kept(object: object, used: Date(), use: uses)
    }

    /// The objects, the least recently used first.
    private var ordered: [(key: ExactText, value: Kept)] {
        lock.withLock { objects.sorted { $0.value.use < $1.value.use } }
    }

    /// All objects by their keys. Doesn't count as an access. If two keys are equal as Swift strings, like two
    /// spellings of "é", the dictionary has the more recently used object.
    public var contents: [String: Object] {
        Dictionary(ordered.map { ($0.key.text, $0.value.object) }) { $1 }
    }

    /// No limit.
    public var maxSize: Int { .max }
    /// Always 0: encoded sizes aren't measured.
    public var currentSize: Int { 0 }

    /// Stores the object, which becomes the most recent.
    public func record(_ object: Object) {
        let key = ExactText(object.primaryKey)
        lock.withLock { keep(object, key) }
    }

    /// The object with this key, which becomes the most recent; `nil` if absent.
    public func access(archiveWithKey key: String) -> Object? {
        let key = ExactText(key)
        return lock.withLock {
            guard let found = objects[key]?.object else { return nil }
            keep(found, key)
            return found
        }
    }

    /// When the object with this key was last recorded or accessed; `nil` if absent.
    public func latestAccessedTime(for key: String) -> Date? {
        lock.withLock { objects[ExactText(key)]?.used }
    }

    /// The most recent objects, at most `limit`. Unlike in an archive, this doesn't count as an access.
    public func accessAll(limitedBy limit: Int) -> [Object] {
        ordered.reversed().prefix(max(0, limit)).map(\.value.object)
    }

    /// All objects, the most recent first.
    public func accessAll() -> [Object] { accessAll(limitedBy: .max) }

    /// Deletes the object with this key, if present.
    public func delete(archiveWithKey key: String) {
        let key = ExactText(key)
        lock.withLock { _ = objects.removeValue(forKey: key) }
    }

    /// Deletes all objects.
    public func deleteAll() { lock.withLock { objects = [:] } }

    /// Deletes the objects that were last accessed more than this many seconds ago.
    public func deleteAllInvalidateArchives(invalidateTimeInterval: TimeInterval) {
        let end = Date().addingTimeInterval(-invalidateTimeInterval)
        lock.withLock { objects = objects.filter { $0.value.used >= end } }
    }

    /// Applies the queries to all objects and returns the results, the most recent first unless sorted.
    public func process(queries: [Query<Object>]) -> [Object] {
        Query.run(queries, over: accessAll()) { $0 }
    }
}

/// A ``FakeArchives`` for asynchronous code. Evicts nothing, and ignores lifetimes and owners.
public struct FakeAsynchronousArchives<Object: Archivable>: AsynchronousArchiveAccess, Sendable {
    let archives: FakeArchives<Object>

    /// Stores the object.
    public nonisolated(nonsending) func record(_ object: Object, options: EntryOptions) async throws {
        archives.record(object)
    }

    /// The object with this key; `nil` if absent.
    public nonisolated(nonsending) func access(archiveWithKey key: String) async throws -> Object? {
        archives.access(archiveWithKey: key)
    }

    /// Deletes the object with this key, if present.
    public nonisolated(nonsending) func delete(archiveWithKey key: String) async throws {
        archives.delete(archiveWithKey: key)
    }
}

extension FakeArchives {
    /// The same objects for asynchronous code.
    public var asynchronous: FakeAsynchronousArchives<Object> { FakeAsynchronousArchives(archives: self) }
}
