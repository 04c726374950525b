import Foundation
import Papyrus
import StorageEngine
import TestSupport
import Testing

/// A store's folder, removed with the last reference to it.
final class Place: Sendable {
    let url: URL
    let store: PapyrusStore

    init() {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("papyrus-\(UUID().uuidString)")
        store = PapyrusStore(url: url)
    }

    deinit { discard(url.path) }
}

extension PapyrusStore {
    /// The present objects of a type.
    nonisolated(nonsending) func all<Object: Papyrus>(_ type: Object.Type) async -> [Object] {
        await objects(type: type).execute()
    }

    /// The present object with an identifier.
    @discardableResult
    nonisolated(nonsending) func one<Object: Papyrus, ID: CustomStringConvertible>(
        _ id: ID, _ type: Object.Type
    ) async throws -> Object { try await object(id: id, of: type).execute() }
}

/// Collects values from several tasks.
final class Found<Value: Sendable>: Sendable {
    private let values = Guarded<[Value]>([])

    func add(_ value: Value) { values.withLock { $0.append(value) } }
    /// A copy, since the thread sanitizer doesn't see the release of an array that shares its storage.
    var all: [Value] { values.withLock { $0.map { $0 } } }
}

struct Car: Papyrus, Sendable {
    let id: String
    var model = ""
    var manufacturer = "Tesla"
}

/// The error as a query error, if it is one.
func queryError(_ body: () async throws -> Void) async -> PapyrusStore.QueryError? {
    do {
        try await body()
        return nil
    } catch {
        return error as? PapyrusStore.QueryError
    }
}

extension PapyrusStore.QueryError {
    var isNotFound: Bool { if case .notFound = self { true } else { false } }
    var schemaProblem: String? {
        if case .invalidSchema(let details) = self { "\(details)" } else { nil }
    }
}
