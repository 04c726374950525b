import Foundation
import StorageEngine
import Vellum

/// An archive without a store, for tests: a dictionary that evicts nothing and has no limits. Safe from any thread.
public final class FakeArchives<Object: Archivable>: Archivist, @unchecked Sendable {
    private let lock = NSRecursiveLock()
    // Guarded by the lock. The most recently used object is the last.
    private var objects: [(key: ExactText, object: Object, used: Date)] = []

    /// Creates an archive with these objects.
    /// - Parameter objects: the most recent first.
    public init(_ objects: [Object] = []) {
        self.objects = objects.reversed().map { (ExactText($0.primaryKey), $0, Date()) }
    }

    /// All objects by their keys. Doesn't count as an access. If two keys are equal as Swift strings, like two
    /// spellings of "é", the dictionary has the more recently used object.
    public var contents: [String: Object] {
        lock.withLock { Dictionary(objects.map { ($0.key.text, $0.object) }) { $1 } }
    }

    /// No limit.
    public var maxSize: Int { .max }
    /// Always 0: encoded sizes aren't measured.
    public var currentSize: Int { 0 }

    /// Stores the object, which becomes the most recent.
    public func record(_ object: Object) {
        let key = ExactText(object.primaryKey)
        lock.withLock {
            objects.removeAll { $0.key == key }
            objects.append((key, object, Date()))
        }
    }

    /// The object with this key, which becomes the most recent; `nil` if there is none.
    public func access(archiveWithKey key: String) -> Object? {
        let key = ExactText(key)
        return lock.withLock {
            guard let place = objects.firstIndex(where: { $0.key == key }) else { return nil }
            var found = objects.remove(at: place)
            found.used = Date()
            objects.append(found)
            return found.object
        }
    }

    /// When the object with this key was last recorded or accessed; `nil` if there is none.
    public func latestAccessedTime(for key: String) -> Date? {
        lock.withLock { objects.first { $0.key == ExactText(key) }?.used }
    }

    /// The most recent objects, at most `limit`. Unlike in an archive, this doesn't count as an access.
    public func accessAll(limitedBy limit: Int) -> [Object] {
        lock.withLock { objects.reversed().prefix(max(0, limit)).map(\.object) }
    }

    /// All objects, the most recent first.
    public func accessAll() -> [Object] { accessAll(limitedBy: .max) }

    /// Deletes the object with this key. Does nothing if there is none.
    public func delete(archiveWithKey key: String) {
        let key = ExactText(key)
        lock.withLock { objects.removeAll { $0.key == key } }
    }

    /// Deletes all objects.
    public func deleteAll() { lock.withLock { objects = [] } }

    /// Deletes the objects that were last used more than this many seconds ago.
    public func deleteAllInvalidateArchives(invalidateTimeInterval: TimeInterval) {
        let end = Date().addingTimeInterval(-invalidateTimeInterval)
        lock.withLock { objects.removeAll { $0.used < end } }
    }

    /// Applies the queries to all objects and returns the results, the most recent first unless sorted.
    public func process(queries: [Query<Object>]) -> [Object] {
        Query.run(queries, over: accessAll()) { $0 }
    }
}

/// A ``FakeArchives`` for asynchronous code. Evicts nothing, and ignores lifetimes and owners. Safe from any thread.
public struct FakeAsynchronousArchives<Object: Archivable>: AsynchronousArchiveAccess, Sendable {
    let archives: FakeArchives<Object>

    /// Stores the object.
    public nonisolated(nonsending) func record(
        _ object: Object, expiresIn lifetime: Duration?, inMemory memoryLifetime: Duration?, owner: String?
    ) async throws { archives.record(object) }

    /// The object with this key; `nil` if there is none.
    public nonisolated(nonsending) func access(archiveWithKey key: String) async throws -> Object? {
        archives.access(archiveWithKey: key)
    }

    /// Deletes the object with this key. Does nothing if there is none.
    public nonisolated(nonsending) func delete(archiveWithKey key: String) async throws {
        archives.delete(archiveWithKey: key)
    }
}

extension FakeArchives {
    /// The same objects for asynchronous code.
    public var asynchronous: FakeAsynchronousArchives<Object> { FakeAsynchronousArchives(archives: self) }
}
