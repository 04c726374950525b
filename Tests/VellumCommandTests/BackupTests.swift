import Foundation
import StorageEngine
import TestSupport
import Testing

@Suite("backup") struct BackupTests {
    private let store: TestStore
    private var copy: String { store.folder / "copy" }

    init() throws {
        store = TestStore()
        let opened = try Store.open(at: store.path)
        defer { opened.close() }
        let value = Array("{\"text\":\"\(String(repeating: "x", count: 500))\"}".utf8)
        for name in ["A", "B"] {
            let archive = try opened.collection(name)
            for number in 0..<3_000 { try archive.put(value, forKey: "\(number)", encoding: .json) }
        }
    }

    @Test func copiesStoreInUse() throws {
        // Writes during the whole backup; killed at the end of the test.
        let more = (3_000..<400_000).map { "{\"id\":\($0)}" }.joined(separator: "\n")
        let writer = try Spawned(["--store", store.path, "import", "A", "-", "--key", "id"], input: more)
        defer { withExtendedLifetime(writer) {} }
        #expect(try holds(within: 5) { try store.archives()["A"]?["entries"] as? Int ?? 0 > 3_000 })
        let backup = try store.done("backup", copy)
        #expect(backup.errors.contains("copied 2 archives"), "\(backup.errors)")
        try Vellum.run(["check", "--store", copy]).expect(0)
        let opened = try Store.open(at: copy, mode: .readOnly)
        let entries = try opened.archive(named: "A").entries().count
        #expect(entries > 3_000)
        // A consistent snapshot: it holds every entry that was stored before the last.
        for number in stride(from: 0, to: entries, by: 997) {
            #expect(try opened.archive(named: "A").peek("\(number)") != nil, "\(number)")
        }
        #expect(try opened.archive(named: "B").entries().count == 3_000)
        #expect(!FileManager.default.fileExists(atPath: copy + ".partial"))
        try store.run("backup", copy).expect(2, errors: "already exists")
    }

    @Test("leaves no backup if ended at any moment before completion", arguments: [SIGKILL, SIGINT])
    func leavesNothingWhenEnded(signal: Int32) async throws {
        var ended = 0
        for round in 0..<15 {
            let backup = try store.start("backup", copy)
            // Task.sleep could wait for a thread until the program has ended.
            usleep(UInt32(round * round) * 10_000)
            backup.signal(signal)
            guard try await backup.finish() != 0 else { break }
            ended += 1
            // Killed between the rename and the exit.
            if signal == SIGKILL, FileManager.default.fileExists(atPath: copy) { break }
            #expect(!FileManager.default.fileExists(atPath: copy), "round \(round)")
            if signal == SIGINT { #expect(!FileManager.default.fileExists(atPath: copy + ".partial")) }
        }
        #expect(ended > 0)
        if !FileManager.default.fileExists(atPath: copy) { try store.done("backup", copy) }
        #expect(try Vellum.run(["check", "--store", copy]).status == 0)
        #expect(!FileManager.default.fileExists(atPath: copy + ".partial"))
    }
}
