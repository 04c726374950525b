import CBOR
import Foundation
import StorageEngine
import TestSupport

/// A collection in a temporary store, removed with the last reference.
final class TemporaryArchive {
    let path = NSTemporaryDirectory() + "vellum-query-" + UUID().uuidString
    let archive: Archive
    private let store: Store

    init() throws {
        store = try Store.open(at: path)
        archive = try store.archive(
            named: "things", orCreate: ArchiveConfiguration(kind: .collection, diskLimit: nil))
    }

    deinit {
        store.close()
        discard(path)
    }

    func put(_ key: String, _ json: String, _ attributes: EntryAttributes = .none) throws {
        try archive.put(JSONTranscoder.cbor(from: json), forKey: key, encoding: .cbor, attributes: attributes)
    }
}
