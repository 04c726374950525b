import Foundation
import Testing

/// Queries beyond their memory use private files that never outlive the process.
@Suite("temporary files of queries")
struct QueryFileTests {
    let store: TestStore
    private var temporary: String { store.folder / "temporary" }
    private var arguments: [String] {
        ["--store", store.path, "query", "A", "sort text", "--memory", "1KB"]
    }

    init() throws {
        store = TestStore()
        try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: false)
        let lines = (0..<3000).map {
            "{\"id\":\($0),\"text\":\"\($0 * 7919 % 3001) \(String(repeating: "x", count: 60))\"}"
        }
        try store.done("import", "A", "-", "--key", "id", input: lines.joined(separator: "\n"))
    }

    private var left: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: temporary) }
    }

    @Test func filesArePrivateAndTemporary() async throws {
        let whole = try Vellum.run(arguments, environment: ["TMPDIR": temporary])
        #expect(whole.status == 0 && whole.lines.count == 3000, "\(whole.errors)")
        #expect(try left.isEmpty)

        // With a full pipe it pauses while it reads its files.
        let pipe = try Spawned.pipeEnds()
        defer { for end in pipe { close(end) } }
        let query = try Spawned(arguments, output: pipe[1], environment: ["TMPDIR": temporary])
        try await query.until("a full pipe") {
            var state = pollfd(fd: pipe[1], events: Int16(POLLOUT), revents: 0)
            return poll(&state, 1, 0) == 0
        }
        #expect(try left.isEmpty, "a file has a name")
        #if os(Linux)
        let descriptors = "/proc/\(query.pid)/fd"
        var found = 0
        for number in try FileManager.default.contentsOfDirectory(atPath: descriptors) {
            let path = descriptors + "/" + number
            guard let name = try? FileManager.default.destinationOfSymbolicLink(atPath: path),
                name.hasPrefix(temporary)
            else { continue }
            found += 1
            var facts = stat()
            try #require(stat(path, &facts) == 0)
            #expect(facts.st_mode & 0o777 == 0o600 && facts.st_nlink == 0, "\(name)")
        }
        #expect(found > 0)
        #endif
        query.signal(SIGKILL)
        #expect(try await query.finish() == -SIGKILL)
        #expect(try left.isEmpty)
    }

    @Test func reportsUnusableFolder() throws {
        let file = try store.folder.file("file", "")
        let missing = store.folder / "missing"
        for (folder, reason) in [(missing, "No such file or directory"), (file, "Not a directory")] {
            let result = try Vellum.run(arguments, environment: ["TMPDIR": folder])
            #expect(result.status == 3 && result.output.isEmpty)
            let words = "in \(folder): \(reason); set TMPDIR to another folder"
            #expect(result.errors == "vellum: cannot create a temporary file for the query \(words)\n")
        }
        // A query without temporary files ignores the folder.
        let roomy = try Vellum.run(
            ["--store", store.path, "query", "A", "sort text | limit 1"], environment: ["TMPDIR": missing])
        #expect(roomy.status == 0 && roomy.lines.count == 1, "\(roomy.errors)")
    }
}
