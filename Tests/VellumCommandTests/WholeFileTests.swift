import Foundation
import StorageEngine
import StoreInspection
import Testing

/// A written file gets its name when complete. Regression: incomplete files had it.
@Suite("files that commands write") struct WholeFileTests {
    private let store: TestStore

    init() throws {
        store = TestStore()
        for number in 0..<3 { try store.done("put", "A", "k\(number)", input: "\(number)") }
    }

    private func content(_ path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }

    @Test func keepsLinksAndPermissions() throws {
        let file = try store.folder.file("file.ndjson", "old")
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file)
        let link = store.folder / "link.ndjson"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "file.ndjson")
        try store.done("export", "A", link, "--force")
        #expect(content(file) == "0\n1\n2\n")
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "file.ndjson")
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(mode == 0o640)
        let open = store.folder / "open.ndjson"
        try FileManager.default.createSymbolicLink(atPath: open, withDestinationPath: "made.ndjson")
        try store.done("export", "A", open)
        #expect(content(store.folder / "made.ndjson") == "0\n1\n2\n")
    }

    @Test("a replaced file keeps its owner", .enabled(if: geteuid() == 0, "only root has files of others"))
    func keepsOwner() throws {
        let file = try store.folder.file("file.ndjson", "old")
        #expect(chown(file, 12_345, 54_321) == 0)
        try store.done("export", "A", file, "--force")
        #expect(content(file) == "0\n1\n2\n")
        let facts = try FileManager.default.attributesOfItem(atPath: file)
        #expect(facts[.ownerAccountID] as? Int == 12_345 && facts[.groupOwnerAccountID] as? Int == 54_321)
    }

    @Test(
        "replaces an existing file only with --force or a yes",
        arguments: [
            ["export", "A", "$FILE"], ["query", "A", "count", "--output", "$FILE"], ["dump", "$FILE"],
        ])
    func replacesOnlyOnRequest(arguments: [String]) throws {
        let file = try store.folder.file("file.ndjson", "old")
        let words = arguments.map { $0 == "$FILE" ? file : $0 } + ["--store", store.path]
        #expect(try Vellum.run(words).status == 2)
        let (answer, _) = try PseudoTerminal.run(words.joined(separator: " "), input: "n\n")
        #expect(answer == 1 && content(file) == "old")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: store.folder.path).sorted() == [
                "file.ndjson", "store",
            ])
        #expect(
            try PseudoTerminal.run(words.joined(separator: " "), input: "y\n").0 == 0
                && content(file) != "old")
        _ = try store.folder.file("file.ndjson", "old")
        #expect(try Vellum.run(words + ["--force"]).status == 0 && content(file) != "old")
    }

    /// Regression: the folder was reported as damaged.
    @Test func refusesFolders() throws {
        for arguments in [
            ["export", "A", store.folder.path], ["query", "A", "count", "--output", store.folder.path],
        ] {
            let refused = try Vellum.run(arguments + ["--store", store.path])
            #expect(refused.status != 0 && refused.errors.contains("it is a folder"), "\(refused.errors)")
        }
    }

    /// Regression: an export replaced a segment, and all entries were lost.
    @Test(arguments: ["vellum-store", "A.archive/00000001.segment", "A.archive/new", "new"])
    func writesNothingIntoStores(name: String) throws {
        let file = store.path + "/" + name
        let before = try? Data(contentsOf: URL(fileURLWithPath: file))
        for arguments in [
            ["export", "A", file, "--store", store.path], ["append", file, "x", "--disk", "1kB"],
        ] {
            try Vellum.run(arguments).expect(2, errors: "in a store's folder")
            #expect((try? Data(contentsOf: URL(fileURLWithPath: file))) == before)
        }
    }

    @Test func writesToDevicesAndPipes() throws {
        #expect(try store.done("export", "A", "/dev/stdout").text == "0\n1\n2\n")
        try store.done("export", "A", "/dev/null")
        let pipe = store.folder / "pipe"
        try #require(mkfifo(pipe, 0o600) == 0)
        let export = try store.start("export", "A", pipe)
        let reader = try FileHandle(forReadingFrom: URL(fileURLWithPath: pipe))
        #expect(try reader.readToEnd() == Data("0\n1\n2\n".utf8))
        #expect(try export.result().status == 0)
        var facts = stat()
        #expect(stat(pipe, &facts) == 0 && facts.st_mode & S_IFMT == S_IFIFO)
    }

    /// Regression: the signal ended the browser.
    @Test("the browser reports a pipe whose reader ends")
    func browserReportsBrokenPipe() async throws {
        let pipe = store.folder / "pipe"
        try #require(mkfifo(pipe, 0o600) == 0)
        let text = String(repeating: "x", count: 200)
        try store.done(
            "append", "Log", "--disk", "1MB", input: (0..<2_000).map { "\($0) \(text)\n" }.joined())
        let reader = open(pipe, O_RDONLY | O_NONBLOCK)
        let browser = try store.start(
            "browse", "--size", "100x24", "--keys", "jj<enter>w<ctrl+u>\(pipe)<enter>", "--print", "text")
        var state = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
        #expect(poll(&state, 1, 60_000) == 1)
        close(reader)
        let result = try browser.result()
        #expect(result.status == 0 && result.text.contains("Writing failed"), "\(result)")
    }

    /// Regression: every name below /dev counted as a device.
    @Test(.enabled(if: FileManager.default.isWritableFile(atPath: "/dev/shm")))
    func writesFilesInSharedMemory() throws {
        let file = "/dev/shm/vellum-test-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: file + ".csv") }
        try store.done("import", "Rows", "-", "--key", "id", input: "{\"id\":1,\"name\":\"x\"}\n")
        try store.done("export", "Rows", file + ".csv")
        #expect(try String(contentsOfFile: file + ".csv", encoding: .utf8) == "id,name\n1,x\n")
        try store.run("export", "Rows", file + ".zip").expect(2, errors: "the name has no known extension")
    }

    @Test func noMatchWritesNothing() throws {
        let none = try store.run("export", "A", "-", "--where", "x < 0")
        #expect(none.status == 1 && none.text.isEmpty)
    }

    @Test func reportsUnwritablePaths() throws {
        let missing = try store.run("export", "A", store.folder / "none/x.ndjson")
        #expect(missing.status == 2 && missing.errors.contains("folder doesn't exist"), "\(missing.errors)")
        try store.run("export", "A", store.folder.path).expect(2, errors: store.folder.path)
    }

    private var partial: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: store.folder.path).filter {
                $0.hasSuffix(".partial")
            }
        }
    }

    /// Regression: partial files of killed processes were never removed. Those of running processes and of other files stay.
    @Test func removesFilesOfKilledProcess() throws {
        let file = store.folder / "out.ndjson"
        let killed = try WholeFile(at: file, replaces: true)
        let name = try #require(partial.first)
        killed.discard()
        #expect(try partial.isEmpty)
        // The lock ended with the process.
        _ = try store.folder.file(name, "what there was")
        _ = try store.folder.file(".vellum-other-0.partial", "another's")
        let living = try WholeFile(at: file, replaces: true)
        #expect(try partial.count == 2)
        try store.done("export", "A", file)
        #expect(content(file) == "0\n1\n2\n")
        #expect(try partial.count == 2)
        try living.finish()
        #expect(try partial == [".vellum-other-0.partial"])
    }

    /// Interrupted at later moments each round, until it completes.
    @Test func interruptedExportLeavesNothing() async throws {
        let opened = try Store.open(at: store.path)
        let archive = try opened.collection("B")
        let value = Array(String(repeating: "x", count: 200).utf8)
        for number in 0..<2_000 { try archive.put(value, forKey: "\(number)") }
        opened.close()
        let file = try store.folder.file("b.ndjson", "old")
        var interrupted = 0
        for round in 0..<15 {
            let export = try store.start("export", "B", file, "--force")
            // Task.sleep could wait for a thread until the program has ended.
            usleep(UInt32(round * round) * 10_000)
            export.signal(SIGTERM)
            let isDone = try await export.finish() == 0
            let left = try FileManager.default.contentsOfDirectory(atPath: store.folder.path)
            #expect(!left.contains { $0.hasSuffix(".partial") }, "\(left)")
            guard !isDone else { break }
            interrupted += 1
            #expect(content(file) == "old", "round \(round)")
        }
        #expect(interrupted > 0)
        if content(file) == "old" { try store.done("export", "B", file, "--force") }
        #expect(content(file)?.split(separator: "\n").count == 2_000)
    }
}
