import Foundation
import Testing

/// A file that a command writes gets its name when it is whole; before, a torn one had it.
@Suite("files that commands write") struct WholeFileTests {
    private let store: TestStore

    init() throws {
        store = try TestStore()
        for number in 0..<3 { try store.done("put", "A", "k\(number)", input: "\(number)") }
    }

    private func content(_ path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }

    @Test func linksAndPermissionsStay() throws {
        let file = try store.folder.file("file.ndjson", "old")
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file)
        let link = store.folder / "link.ndjson"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "file.ndjson")
        try store.done("export", "A", link)
        #expect(content(file) == "0\n1\n2\n")
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "file.ndjson")
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(mode == 0o640)
        let open = store.folder / "open.ndjson"
        try FileManager.default.createSymbolicLink(atPath: open, withDestinationPath: "made.ndjson")
        try store.done("export", "A", open)
        #expect(content(store.folder / "made.ndjson") == "0\n1\n2\n")
    }

    @Test func whatIsNoFileIsWrittenTo() throws {
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

    @Test func whatCannotBeMadeSaysSo() throws {
        let missing = try store.run("export", "A", store.folder / "none/x.ndjson")
        #expect(missing.status == 3 && missing.errors.contains("its folder isn't there"), "\(missing.errors)")
        let taken = try store.run("export", "A", store.folder.path)
        #expect(taken.status == 3 && taken.errors.contains(store.folder.path), "\(taken.errors)")
    }

    /// It is ended while it waits for nobody: what it had begun goes, and what was there stays.
    @Test func anInterruptedExportLeavesNothing() async throws {
        let lines = (0..<200_000).map { "{\"id\":\($0)}" }.joined(separator: "\n")
        try store.done("import", "B", "-", "--key", "id", input: lines)
        let file = try store.folder.file("b.ndjson", "old")
        let export = try store.start("export", "B", file)
        try await export.until("a beginning") {
            try FileManager.default.contentsOfDirectory(atPath: store.folder.path).contains {
                $0.hasSuffix(".partial")
            }
        }
        export.signal(SIGTERM)
        #expect(try await export.finish() == 143)
        #expect(content(file) == "old")
        let left = try FileManager.default.contentsOfDirectory(atPath: store.folder.path)
        #expect(!left.contains { $0.hasSuffix(".partial") }, "\(left)")
    }
}
