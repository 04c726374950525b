import Foundation
import Nest
import StorageEngine
import TestSupport

/// A store's folder, removed with the last reference to it.
final class Place: Sendable {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("nest-\(UUID().uuidString)")

    deinit { discard(url.path) }

    /// A nest with this store. Several are like those of several processes, or after a restart.
    func nest() -> Nest { Nest(named: "N", store: url) }

    /// The nests' archive.
    func archive(typeName: String = "Nest") throws(StorageError) -> Archive {
        try Store.open(at: url.path).archive(
            named: "N", orCreate: ArchiveConfiguration(kind: .collection, typeName: typeName))
    }
}

extension Nest {
    func add(
        _ item: Any, _ key: String, _ inMemory: ExpirationPolicy = .never,
        _ onDisk: PersistancePolicy = .disabled
    ) {
        add(item: item, withKey: key, expirationPolicy: inMemory, andPersistancePolicy: onDisk)
    }
}
