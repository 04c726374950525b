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

    func segments(_ name: String = "A") throws -> [String] {
        try files(inArchive: name).filter { $0.hasSuffix(".segment") }
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

extension ArchiveSnapshot {
    func contents() throws -> [String: [UInt8]] {
        try (0..<count).reduce(into: [:]) { $0[try key(at: $1)] = try value(at: $1) }
    }
}

/// Changes bytes of a file in place, so that it keeps its inode.
func overwrite(_ path: String, at offset: Int, with bytes: some Sequence<UInt8>) throws {
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    defer { try? file.close() }
    try file.seek(toOffset: UInt64(offset))
    try file.write(contentsOf: Data(bytes))
}

/// Replaces a file by its changed contents.
func change(file path: String, _ body: (inout Data) -> Void) throws {
    var data = try Data(contentsOf: URL(fileURLWithPath: path))
    body(&data)
    try data.write(to: URL(fileURLWithPath: path))
}
