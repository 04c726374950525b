import Foundation
import Vellum

/// An archive in memory that writes down what it is asked to do.
final class Shelf<Archive: Archivable>: Archivist, @unchecked Sendable {
    enum Call: Equatable {
        case record(String)
        case access(String)
        case delete(String)
    }

    private let lock = NSRecursiveLock()
    /// The most recent last.
    private var objects: [(key: String, object: Archive)] = []
    private var made: [Call] = []
    /// Called while an object is recorded, as a type's own `archive()` is.
    var whileRecording: () -> Void = {}

    init(_ objects: [Archive] = []) {
        self.objects = objects.reversed().map { ($0.primaryKey, $0) }
    }

    var calls: [Call] { lock.withLock { made } }
    var keys: [String] { lock.withLock { objects.map(\.key).sorted() } }
    func peek(_ key: String) -> Archive? { lock.withLock { objects.last { $0.key == key }?.object } }

    var maxSize: Int { .max }
    var currentSize: Int { 0 }
    func latestAccessedTime(for key: String) -> Date? { nil }
    func deleteAllInvalidateArchives(invalidateTimeInterval: TimeInterval) {}

    func record(_ object: Archive) {
        lock.withLock {
            made.append(.record(object.primaryKey))
            whileRecording()
            objects.removeAll { $0.key == object.primaryKey }
            objects.append((object.primaryKey, object))
        }
    }

    func update(_ object: Archive) { record(object) }

    func access(archiveWithKey key: String) -> Archive? {
        lock.withLock {
            made.append(.access(key))
            return peek(key)
        }
    }

    func accessAll(limitedBy limit: Int) -> [Archive] { Array(accessAll().prefix(limit)) }
    func accessAll() -> [Archive] { lock.withLock { objects.reversed().map(\.object) } }

    func delete(archiveWithKey key: String) {
        lock.withLock {
            made.append(.delete(key))
            objects.removeAll { $0.key == key }
        }
    }

    func deleteAll() { lock.withLock { objects = [] } }

    func process(queries: [Query<Archive>]) -> [Archive] {
        Query.run(queries, over: accessAll()) { $0 }
    }
}
