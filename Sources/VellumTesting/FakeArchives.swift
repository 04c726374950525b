import Foundation
import StorageEngine
import Vellum

/// An archive without a store: a dictionary, for tests of what uses an archive. It forgets nothing by itself and has no limits.
/// Safe from any thread.
public final class FakeArchives<Archive: Archivable>: Archivist, @unchecked Sendable {
    private let lock = NSRecursiveLock()
    // Guarded by the lock; the most recently used last.
    private var objects: [(key: ExactText, object: Archive, used: Date)] = []

    /// An archive of these objects.
    /// - Parameter objects: what is in it, the most recent first.
    public init(_ objects: [Archive] = []) {
        self.objects = objects.reversed().map { (ExactText($0.primaryKey), $0, Date()) }
    }

    /// All objects by their keys, without any of them being used. Of two keys that Swift takes for one, two spellings of "é", the
    /// dictionary has the more recently used.
    public var contents: [String: Archive] {
        lock.withLock { Dictionary(objects.map { ($0.key.text, $0.object) }) { $1 } }
    }

    /// No limit.
    public var maxSize: Int { .max }
    /// Nobody measures what is in it.
    public var currentSize: Int { 0 }

    /// Keeps the object, which is the most recent then.
    public func record(_ object: Archive) {
        let key = ExactText(object.primaryKey)
        lock.withLock {
            objects.removeAll { $0.key == key }
            objects.append((key, object, Date()))
        }
    }

    /// The object of this key, which is the most recent then.
    public func access(archiveWithKey key: String) -> Archive? {
        let key = ExactText(key)
        return lock.withLock {
            guard let place = objects.firstIndex(where: { $0.key == key }) else { return nil }
            var found = objects.remove(at: place)
            found.used = Date()
            objects.append(found)
            return found.object
        }
    }

    /// When the object of this key was last recorded or accessed.
    public func latestAccessedTime(for key: String) -> Date? {
        lock.withLock { objects.first { $0.key == ExactText(key) }?.used }
    }

    /// The most recent objects, at most `limit`. Unlike in an archive that counts as an access of none.
    public func accessAll(limitedBy limit: Int) -> [Archive] {
        lock.withLock { objects.reversed().prefix(max(0, limit)).map(\.object) }
    }

    /// All objects, the most recent first.
    public func accessAll() -> [Archive] { accessAll(limitedBy: .max) }

    /// Forgets the object of this key.
    public func delete(archiveWithKey key: String) {
        let key = ExactText(key)
        lock.withLock { objects.removeAll { $0.key == key } }
    }

    /// Forgets all objects.
    public func deleteAll() { lock.withLock { objects = [] } }

    /// Forgets the objects whose last use is longer ago than this many seconds.
    public func deleteAllInvalidateArchives(invalidateTimeInterval: TimeInterval) {
        let end = Date().addingTimeInterval(-invalidateTimeInterval)
        lock.withLock { objects.removeAll { $0.used < end } }
    }

    /// What the queries leave of all objects, the most recent first unless sorted.
    public func process(queries: [Query<Archive>]) -> [Archive] {
        Query.run(queries, over: accessAll()) { $0 }
    }
}

/// A ``FakeArchives`` for asynchronous code. It forgets nothing by itself: what is said of lifetimes and owners makes no difference.
public struct FakeAsynchronousArchives<Archive: Archivable>: AsynchronousArchiveAccess, Sendable {
    let archives: FakeArchives<Archive>

    /// Keeps the object.
    public nonisolated(nonsending) func record(
        _ object: Archive, expiresIn lifetime: Duration?, inMemory memoryLifetime: Duration?, owner: String?
    ) async throws { archives.record(object) }

    /// The object of this key.
    public nonisolated(nonsending) func access(archiveWithKey key: String) async throws -> Archive? {
        archives.access(archiveWithKey: key)
    }

    /// Forgets the object of this key.
    public nonisolated(nonsending) func delete(archiveWithKey key: String) async throws {
        archives.delete(archiveWithKey: key)
    }
}

extension FakeArchives {
    /// The same objects for asynchronous code.
    public var asynchronous: FakeAsynchronousArchives<Archive> { FakeAsynchronousArchives(archives: self) }
}
