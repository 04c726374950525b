import Foundation
import StorageEngine
import Synchronization
import Testing

/// What broke: of a store at a path of which several folders were missing, the names of the new ones above it were never
/// on the medium: a power loss took the whole store, whatever its durability.
@Suite(.oneAtATime) struct NewFolderTests {
    @Test(arguments: ["a/b/c/store", "a//b/store/"])
    func namesOfNewFoldersAboveAStoreAreSynced(path: String) throws {
        let folder = try TemporaryFolder()
        let events = Mutex<[SystemEvent]>([])
        let number = SystemFaults.observe(under: folder.path) { event in events.withLock { $0.append(event) }
        }
        defer { SystemFaults.endObserving(number) }
        let store = try Store.open(at: folder.path + "/" + path)
        try store.archive(named: "A", orCreate: ArchiveConfiguration(durability: .full)).put([1], forKey: "a")
        func plain(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.path }
        var unsynced: Set<String> = []
        for event in events.withLock({ $0 }) {
            switch event {
            case .madeFolder(let path): unsynced.insert(plain(path))
            case .synced(let path):
                unsynced = unsynced.filter {
                    URL(fileURLWithPath: $0).deletingLastPathComponent().path != plain(path)
                }
            default: break
            }
        }
        #expect(unsynced == [])
    }
}
