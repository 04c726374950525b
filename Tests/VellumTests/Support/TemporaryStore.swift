import Foundation
import Vellum

/// A folder for one test's store, removed with the last reference.
final class TemporaryStore: Sendable {
    let path: String

    init() {
        path = NSTemporaryDirectory() + "vellum-typed-" + UUID().uuidString
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Each factory has its own handles, like another process.
    func factory() -> ArchivesFactory { ArchivesFactory(storePath: path) }
}
