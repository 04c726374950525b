import Foundation
import StorageEngine
import Vellum

/// A store for a test, in a folder that nobody else has, which goes with the last reference to this. Safe from any thread.
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
/// Each test has a suite of its own there, and so a store of its own.
public final class TestStore: Sendable {
    /// The store's folder.
    public let path: String
    /// What the tested program has in place of ``ArchivesFactory/shared``.
    public let factory: ArchivesFactory
    private let others = Guarded<[ArchivesFactory]>([])

    /// An empty store; its folder is made with its first archive.
    /// - Parameter inMemory: whether the folder is in the memory of the machine, where the system has a file system for that.
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

    /// Another factory of the same store, whose archives have a memory of their own, as those of another process.
    public func otherProcess() -> ArchivesFactory {
        let other = ArchivesFactory(storePath: path)
        others.withLock { $0.append(other) }
        return other
    }

    /// Empties the store. Whoever has an archive of it, also of ``otherProcess()``, goes on with an empty one.
    /// - Throws: what kept the folder from being removed.
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
