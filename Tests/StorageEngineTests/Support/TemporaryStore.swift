import Foundation
import StorageEngine
import TestSupport

/// A temporary folder, which is removed on release.
final class TemporaryFolder {
    let path: String

    /// `inMemory` if the medium doesn't matter, since syncs take time.
    init(inMemory: Bool = false) throws {
        let memory = URL(fileURLWithPath: "/dev/shm")
        let hasMemory = inMemory && FileManager.default.isWritableFile(atPath: memory.path)
        let base = hasMemory ? memory : FileManager.default.temporaryDirectory
        let folder = base.appendingPathComponent("vellum-test-" + UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.path
    }

    deinit { if !isKept { discard(path) } }

    private var isKept = false

    /// Keeps the folder for diagnosis, and prints its path.
    func keep() {
        isKept = true
        print("kept: \(path)")
    }

    var store: String { path + "/store" }
    /// Churning workers end when this file exists.
    var stopFile: String { path + "/stop" }

    func files(inArchive name: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: store + "/" + name + ".archive").sorted()
    }

    func removeIndex(_ name: String) throws {
        try FileManager.default.removeItem(atPath: archivePath(name, "index"))
    }

    func archivePath(_ name: String, _ file: String) -> String { store + "/" + name + ".archive/" + file }
}

extension EntryList {
    /// All keys in the list's order.
    var keys: [String] {
        get throws(StorageError) {
            var keys: [String] = []
            for index in indices { if let key = try key(at: index) { keys.append(key) } }
            return keys
        }
    }
}
