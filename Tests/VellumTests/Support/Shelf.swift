import Foundation
import Vellum

/// An archive in memory that records its calls.
final class Shelf<Object: Archivable>: Archivist, @unchecked Sendable {
    enum Call: Equatable {
        case record(String)
        case access(String)
        case delete(String)
    }

    private let lock = NSRecursiveLock()
    /// The most recent last.
    private var objects: [(key: String, object: Object)] = []
    private var made: [Call] = []
    /// Called while an object is recorded, as a type's own `archive()` is.
    var whileRecording: () -> Void = {}

    init(_ objects: [Object] = []) {
        self.objects = objects.reversed().map { ($0.primaryKey, $0) }
    }

    var calls: [Call] { lock.withLock { made } }
    var keys: [String] { lock.withLock { objects.map(\.key).sorted() } }
    func peek(_ key: String) -> Object? { lock.withLock { objects.last { $0.key == key }?.object } }

    var maxSize: Int { .max }
    var currentSize: Int { 0 }
    func latestAccessedTime(for key: String) -> Date? { nil }
    func deleteAllInvalidateArchives(invalidateTimeInterval: TimeInterval) {}

    func record(_ object: Object) {
        lock.withLock {
            made.append(.record(object.primaryKey))
            whileRecording()
            objects.removeAll { $0.key == object.primaryKey }
            objects.append((object.primaryKey, object))
        }
    }

    func update(_ object: Object) { record(object) }

    func access(archiveWithKey key: String) -> Object? {
        lock.withLock {
            made.append(.access(key))
            return peek(key)
        }
    }

    func accessAll(limitedBy limit: Int) -> [Object] { Array(accessAll().prefix(limit)) }
    func accessAll() -> [Object] { lock.withLock { objects.reversed().map(\.object) } }

    func delete(archiveWithKey key: String) {
        lock.withLock {
            made.append(.delete(key))
            objects.removeAll { $0.key == key }
        }
    }

    func deleteAll() { lock.withLock { objects = [] } }

    func process(queries: [Query<Object>]) -> [Object] {
        Query.run(queries, over: accessAll()) { $0 }
    }
}
