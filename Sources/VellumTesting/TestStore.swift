import Foundation
import StorageEngine
import Vellum

/// A temporary store for a test, in a separate folder that is removed with the last reference to this object. Safe from
/// any thread.
///
/// ```swift
/// @Suite struct LoginTests {
///     let store = TestStore()
///
///     @Test func aLoginIsKept() throws {
///         let users = try store.factory.archives(for: User.self)
///     }
/// }
/// ```
///
/// A suite is created again for each test, so each test has its own store.
public final class TestStore: Sendable {
    /// The store's folder.
    public let path: String
    /// A factory for the store, to be passed to tested code in place of `ArchivesFactory.shared`.
    public let factory: ArchivesFactory
    private let others = Guarded<[ArchivesFactory]>([])

    /// Creates an empty store; its first archive creates the folder. `inMemory`: in `/dev/shm`, if present.
    public init(inMemory: Bool = true) {
        let memory = "/dev/shm"
        let isThere = inMemory && FileManager.default.isWritableFile(atPath: memory)
        path = (isThere ? memory + "/" : NSTemporaryDirectory()) + "vellum-test-" + UUID().uuidString
        factory = ArchivesFactory(storePath: path)
    }

    deinit {
        close()
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Another factory for the same store, whose archives have separate memory, like those of another process.
    public func otherProcess() -> ArchivesFactory {
        let other = ArchivesFactory(storePath: path)
        others.withLock { $0.append(other) }
        return other
    }

    /// Empties the store. Its archives, also those of ``otherProcess()``, stay usable. Throws an error of the file
    /// system if the folder can't be removed.
    public func reset() throws {
        close()
        guard FileManager.default.fileExists(atPath: path) else { return }
        try FileManager.default.removeItem(atPath: path)
    }

    private func close() {
        factory.close()
        for other in others.withLock({ $0 }) { other.close() }
    }
}
