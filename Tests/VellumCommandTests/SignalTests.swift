import Foundation
import StorageEngine
import TestSupport
import Testing

/// Signals during long work: the exit code names the signal, and nothing incomplete is left.
@Suite("commands ended by signals")
struct SignalTests {
    let store = TestStore()

    /// The signals and their exit codes. SIGHUP is ignored under `nohup`.
    static let signals: [(signal: Int32, status: Int32)] = {
        let isHeard = (try? Vellum.shell("kill -HUP $$; echo ignored").text.isEmpty) ?? true
        var signals: [(signal: Int32, status: Int32)] = [(SIGTERM, 143)]
        if isHeard { signals.append((SIGHUP, 129)) }
        return signals
    }()

    private var files: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: store.folder.path).sorted() }
    }

    @Test(arguments: signals)
    func importKeepsCompleteRecords(signal: Int32, status: Int32) async throws {
        let importing = try store.start(
            "import", "A", "-", "--key", "id", "--format", "ndjson", holdsInput: true)
        importing.type("{\"id\":1}\n{\"id\":2}\n{\"id\":3,\"x\":")
        try await importing.until("two entries") {
            try store.run("keys", "A").lines.count == 2
        }
        importing.signal(signal)
        #expect(try await importing.finish() == status)
        #expect(importing.errors.hasPrefix("imported 2 entries, 10 B into A in "), "\(importing.errors)")
        #expect(importing.errors.hasSuffix("\nvellum: interrupted\n"), "\(importing.errors)")
        #expect(try store.keys("A") == ["2", "1"])
        #expect(try store.done("check").text == "A: clean, 2 entries, 10 B\n")
    }

    /// A table is read completely first: until then there is no store, and no copy of the pipe stays.
    @Test(arguments: signals)
    func importOfTableLeavesNothing(signal: Int32, status: Int32) async throws {
        let importing = try Spawned(
            ["--store", store.path, "import", "A", "-", "--key", "id", "--format", "csv"], holdsInput: true,
            environment: ["TMPDIR": store.folder.path])
        // Much more than a pipe holds, so most of it has been read.
        importing.type("id,n\n" + (0..<40_000).map { "\($0),5\n" }.joined())
        importing.signal(signal)
        #expect(try await importing.finish() == status)
        #expect(importing.errors == "vellum: interrupted\n")
        #expect(try files.isEmpty)
    }

    /// Stores texts that keep a regular expression busy for a second, interruptible ten times.
    private func fillSlowly() throws -> String {
        let slow = String(repeating: "a", count: 60) + "b"
        let lines = (0..<160).map { "{\"id\":\($0),\"p\":\"\($0 % 8 == 0 ? slow : "aa")\"}" }
        try store.done("import", "A", "-", "--key", "id", input: lines.joined(separator: "\n"))
        return #"p matches "^(a+)+$""#
    }

    @Test(arguments: signals)
    func incompleteFileReplacesNothing(signal: Int32, status: Int32) async throws {
        let condition = try fillSlowly()
        let file = store.folder / "out.ndjson"
        for arguments in [
            ["query", "A", "find \(condition)", "--output", file, "--force"],
            ["export", "A", file, "--where", condition, "--force"],
        ] {
            // On a busy machine it may end first.
            let isInterrupted = try await holdsOnce(in: 5) {
                _ = try store.folder.file("out.ndjson", "old")
                let writing = try Spawned(["--store", store.path] + arguments)
                // Task.sleep could wait for a thread until the program has ended.
                let isBegun = try holds(within: 5) { try files.contains { $0.hasSuffix(".partial") } }
                writing.signal(signal)
                let ended = try await writing.finish()
                #expect(try files == ["out.ndjson", "store"])
                guard isBegun, ended != 0 else { return false }
                #expect(ended == status && writing.errors.hasSuffix("vellum: interrupted\n"), "\(arguments)")
                #expect(try String(contentsOfFile: file, encoding: .utf8) == "old", "\(arguments)")
                return true
            }
            #expect(isInterrupted, "\(arguments)")
        }
    }

    @Test("an export whose standard error is a broken pipe leaves no partial file")
    func brokenPipe() throws {
        let opened = try Store.open(at: store.path)
        let archive = try opened.collection("A")
        // An object with duplicate names, which an export reports.
        try archive.put([0xa2, 0x61, 0x61, 1, 0x61, 0x61, 2], forKey: "k", encoding: .cbor)
        opened.close()
        let result = try Vellum.shell(
            """
            mkfifo "$1/pipe" && exec 3<>"$1/pipe" 2>"$1/pipe" 3>&-
            "$0" export A "$1/out.ndjson" --store "$1/store"
            echo $?
            rm "$1/pipe"
            """, store.folder.path)
        #expect(result.lines == ["141"])
        #expect(try files == ["store"])
    }

    private func holdsOnce(in rounds: Int, _ body: () async throws -> Bool) async throws -> Bool {
        for _ in 0..<rounds where try await body() { return true }
        return false
    }

    #if os(Linux)
    /// Whether the command collects signals.
    private func collectsSignals(_ command: Spawned) -> Bool {
        let status = (try? String(contentsOfFile: "/proc/\(command.pid)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("SigCgt:") }
        let caught = line.flatMap { UInt64($0.split(separator: "\t")[1], radix: 16) } ?? 0
        return caught >> UInt64(SIGTERM - 1) & 1 == 1
    }

    @Test("a signal ends the wait for the other end of a pipe", arguments: signals + [(SIGINT, 130)])
    func waitForPipe(signal: Int32, status: Int32) async throws {
        try store.done("put", "A", "a", input: "1")
        let pipe = store.folder / "pipe"
        try #require(mkfifo(pipe, 0o600) == 0)
        for arguments in [
            ["export", "A", pipe], ["query", "A", "count", "--output", pipe], ["dump", pipe],
            ["import", "A", pipe, "--format", "ndjson", "--key", "id"],
        ] {
            let waiting = try Spawned(["--store", store.path] + arguments)
            try await waiting.until("signals") { collectsSignals(waiting) }
            // The first may come before the wait.
            try await waiting.until("end") {
                waiting.signal(signal)
                return waiting.hasEnded
            }
            #expect(try await waiting.finish() == status, "\(arguments): \(waiting.errors)")
        }
    }
    #endif

    /// A blocked writer may need a second signal.
    @Test(arguments: signals)
    func blockedWriterEnds(signal: Int32, status: Int32) async throws {
        let lines = (0..<3000).map { "{\"id\":\($0),\"t\":\"\(String(repeating: "x", count: 60))\"}" }
        try store.done("import", "A", "-", "--key", "id", input: lines.joined(separator: "\n"))
        for arguments in [["export", "A"], ["query", "A"]] {
            let pipe = try Spawned.pipeEnds()
            defer { for end in pipe { close(end) } }
            let writing = try Spawned(["--store", store.path] + arguments, output: pipe[1])
            try await writing.until("a full pipe") {
                var state = pollfd(fd: pipe[1], events: Int16(POLLOUT), revents: 0)
                return poll(&state, 1, 0) == 0
            }
            // One by one, as simultaneous signals merge.
            try await writing.until("end") {
                writing.signal(signal)
                return writing.hasEnded
            }
            #expect(try await writing.finish() == status, "\(arguments)")
        }
    }
}
