import Foundation
import Synchronization
import TestSupport
import Vellum

/// A folder for one test's store, removed when the process ends: an archive that outlives the last reference would recreate
/// it.
final class TemporaryStore: Sendable {
    let path: String

    private static let paths = Mutex<[String]>([])
    private static let removesAtExit: Void = {
        atexit {
            for path in TemporaryStore.paths.withLock({ $0 }) {
                discard(path)
            }
        }
    }()

    init() {
        let path = NSTemporaryDirectory() + "vellum-typed-" + UUID().uuidString
        self.path = path
        Self.removesAtExit
        Self.paths.withLock { $0.append(path) }
    }

    /// Each factory has its own handles, like another process.
    func factory() -> ArchivesFactory { ArchivesFactory(storePath: path) }

    /// A factory and its logged messages.
    func loggedFactory() -> (ArchivesFactory, LoggedMessages) {
        let (factory, messages) = (factory(), LoggedMessages())
        factory.logger = messages.logger
        return (factory, messages)
    }
}
