import Foundation
import StorageEngine
import Testing

/// The command had no test.
@Suite("backup") struct BackupTests {
    private let store: TestStore
    private var copy: String { store.folder / "copy" }

    init() throws {
        store = try TestStore()
        let lines = (0..<30_000).map { "{\"id\":\($0),\"text\":\"\(String(repeating: "x", count: 200))\"}" }
        for archive in ["A", "B"] {
            try store.done("import", archive, "-", "--key", "id", input: lines.joined(separator: "\n"))
        }
    }

    @Test func aStoreInUseIsCopiedWhole() throws {
        // More than it can store meanwhile; it is killed when the test is over.
        let more = (30_000..<2_000_000).map { "{\"id\":\($0)}" }.joined(separator: "\n")
        let writer = try Spawned(["--store", store.path, "import", "A", "-", "--key", "id"], input: more)
        defer { withExtendedLifetime(writer) {} }
        for _ in 0..<1000 where try store.archives()["A"]?["entries"] as? Int ?? 0 <= 30_000 { usleep(5_000) }
        let backup = try store.done("backup", copy)
        #expect(backup.errors.contains("copied 2 archives"), "\(backup.errors)")
        let check = try Vellum.run(["check", "--store", copy])
        #expect(check.status == 0, "\(check.text)")
        let opened = try Store.open(at: copy, mode: .readOnly)
        let entries = try opened.archive(named: "A").entries().count
        #expect(entries > 30_000)
        // As of one moment: what was stored before an entry that is there, is there too.
        for number in stride(from: 0, to: entries, by: 997) {
            #expect(try opened.archive(named: "A").peek("\(number)") != nil, "\(number)")
        }
        #expect(try opened.archive(named: "B").entries().count == 30_000)
        #expect(!FileManager.default.fileExists(atPath: copy + ".partial"))
        let again = try store.run("backup", copy)
        #expect(again.status == 2 && again.errors.contains("something is at"), "\(again.errors)")
    }

    @Test func aKilledOneLeavesNothingUnderItsName() async throws {
        var kills = 0
        for round in 0..<6 {
            let backup = try store.start("backup", copy)
            try await backup.until("a beginning") {
                FileManager.default.fileExists(atPath: copy + ".partial/A.archive")
            }
            usleep(UInt32(round) * 4_000)
            backup.signal(SIGKILL)
            guard try await backup.finish() == -SIGKILL else { break }
            kills += 1
            #expect(!FileManager.default.fileExists(atPath: copy), "round \(round)")
        }
        #expect(kills > 0)
        try? FileManager.default.removeItem(atPath: copy)
        try store.done("backup", copy)
        #expect(try Vellum.run(["check", "--store", copy]).status == 0)
        #expect(!FileManager.default.fileExists(atPath: copy + ".partial"))
    }

    @Test func anInterruptedOneLeavesNothing() async throws {
        let backup = try store.start("backup", copy)
        try await backup.until("a beginning") { FileManager.default.fileExists(atPath: copy + ".partial") }
        backup.signal(SIGINT)
        let status = try await backup.finish()
        let isDone = status == 0
        #expect(status == 130 || isDone)
        #expect(FileManager.default.fileExists(atPath: copy) == isDone)
        #expect(!FileManager.default.fileExists(atPath: copy + ".partial"))
    }
}
