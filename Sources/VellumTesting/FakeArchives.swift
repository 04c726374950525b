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

    public var maxSize: Int { .max }
    public var currentSize: Int { 0 }

    public func record(_ object: Archive) {
        let key = ExactText(object.primaryKey)
        lock.withLock {
            objects.removeAll { $0.key == key }
            objects.append((key, object, Date()))
        }
    }

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

    public func latestAccessedTime(for key: String) -> Date? {
        lock.withLock { objects.first { $0.key == ExactText(key) }?.used }
    }

    public func accessAll(limitedBy limit: Int) -> [Archive] {
        lock.withLock { objects.reversed().prefix(max(0, limit)).map(\.object) }
    }

    public func accessAll() -> [Archive] { accessAll(limitedBy: .max) }

    public func delete(archiveWithKey key: String) {
        let key = ExactText(key)
        lock.withLock { objects.removeAll { $0.key == key } }
    }

    public func deleteAll() { lock.withLock { objects = [] } }

    public func deleteAllInvalidateArchives(invalidateTimeInterval: TimeInterval) {
        let end = Date().addingTimeInterval(-invalidateTimeInterval)
        lock.withLock { objects.removeAll { $0.used < end } }
    }

    public func process(queries: [Query<Archive>]) -> [Archive] {
        Query.run(queries, over: accessAll()) { $0 }
    }
}
