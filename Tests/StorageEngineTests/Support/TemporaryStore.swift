import Foundation
import StorageEngine

/// A folder that is gone when the test is.
final class TemporaryFolder {
    let path: String

    /// `inMemory` where the medium does not matter, and many syncs would only cost time.
    init(inMemory: Bool = false) throws {
        let memory = URL(fileURLWithPath: "/dev/shm")
        let hasMemory = inMemory && FileManager.default.isWritableFile(atPath: memory.path)
        let base = hasMemory ? memory : FileManager.default.temporaryDirectory
        let folder = base.appendingPathComponent("vellum-test-" + UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    var store: String { path + "/store" }
    /// Workers that churn end when this file is there.
    var stopFile: String { path + "/stop" }

    func files(inArchive name: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: store + "/" + name + ".archive").sorted()
    }

    func removeIndex(_ name: String) throws {
        try FileManager.default.removeItem(atPath: archivePath(name, "index"))
    }

    func archivePath(_ name: String, _ file: String) -> String { store + "/" + name + ".archive/" + file }
}

/// A generator whose sequence is fixed by its seed, so that a failure can be replayed (SplitMix64, by
/// S. Vigna).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}

extension EntryList {
    /// All keys in the list's order.
    var keys: [String] { indices.compactMap { key(at: $0) } }
}
