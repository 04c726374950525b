import Foundation
import StorageEngine
import Synchronization
import Testing

@Suite(.oneAtATime) struct NewFolderTests {
    @Test("syncs each new folder above a store", arguments: ["a/b/c/store", "a//b/store/"])
    func newFolders(path: String) throws {
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
