import Foundation
import StorageEngine
import StoreInspection
import TerminalKit
import TestSupport
import Testing

/// Dates without a time zone are local.
@Suite("Dates on the command line") struct DateTests {
    private let store: TestStore
    private let now = Date()

    init() throws { store = TestStore() }

    private func run(_ zone: String, _ arguments: String..., settings: String? = nil) throws -> Vellum.Result
    {
        var environment = ["TZ": zone]
        if let settings { environment["XDG_CONFIG_HOME"] = settings }
        return try Vellum.run(["--store", store.path] + arguments, environment: environment)
    }

    /// The date as `2026-01-31 12:00:00` with this offset from UTC.
    private func text(_ date: Date, hours: Int) -> String {
        let form = DateFormatter()
        form.locale = Locale(identifier: "en_US_POSIX")
        form.timeZone = TimeZone(secondsFromGMT: hours * 3600)
        form.dateFormat = "yyyy-MM-dd HH:mm:ss"
        return form.string(from: date)
    }

    @Test("rm deletes entries older than a local time")
    func removal() throws {
        try store.done("put", "A", "k", input: "1")
        // Five hours earlier in this zone: read as UTC, the bound would be in the past.
        let bound = text(now.addingTimeInterval(-1800), hours: -5)
        let kept = try run("Etc/GMT+5", "rm", "A", "--where", "@created < \(bound)", "--yes")
        #expect(
            kept.status == 1 && kept.errors.contains("\(bound) is \(bound.replacing(" ", with: "T"))-05:00"))
        let bounds = text(now.addingTimeInterval(1800), hours: -5)
        #expect(
            try run("Etc/GMT+5", "rm", "A", "--where", "@created > \(bounds)", "--dry-run").text.contains(
                " 0 entr"))
        #expect(try run("Etc/GMT+5", "rm", "A", "--where", "@created < \(bounds)", "--yes").status == 0)
    }

    @Test("stored texts and the browser use the same zone, and the setting times = utc means UTC")
    func zones() throws {
        try store.done("put", "A", "k", input: #"{"d":"2025-04-01 10:00:00"}"#)
        let query = "find d = 2025-04-01T15:00Z | count"
        #expect(try run("Etc/GMT+5", "query", "A", query).text == "1\n")
        #expect(try run("UTC", "query", "A", query).text == "0\n")
        #expect(try run("Etc/GMT+5", "query", "A", "find d = 2025-04-01 10:00 | count").text == "1\n")
        let screen = try run("Etc/GMT+5", "browse", "--size", "100x30", "--keys", "<enter>Q\(query)<enter>")
        #expect(screen.text.contains(/\n.*\b1 row/), "\(screen.text)")
        let folder = store.folder / "settings"
        try FileManager.default.createDirectory(atPath: folder + "/vellum", withIntermediateDirectories: true)
        try Data("times = \"utc\"\n".utf8).write(to: URL(fileURLWithPath: folder + "/vellum/config.toml"))
        #expect(try run("Etc/GMT+5", "query", "A", query, settings: folder).text == "0\n")
        let explained = try run(
            "Etc/GMT+5", "query", "A", "find d > 2025-03-31", "--explain", settings: folder)
        #expect(explained.text.contains("2025-03-31 is 2025-03-31T00:00:00Z"), "\(explained.text)")
    }

    @Test("a crash ends the program by its signal, without a backtrace")
    func crashes() async throws {
        let program = try Spawned(
            ["import", "A", "-", "--key", "k", "--store", store.path], holdsInput: true)
        program.type("{\"k\":\"1\"}\n")
        try await program.until("the store") { FileManager.default.fileExists(atPath: store.path) }
        program.signal(SIGSEGV)
        let status = try await program.finish()
        #expect(status != 0 && !program.errors.contains("Backtrace") && !program.errors.contains("rashed"))
    }

    @Test("the demonstration needs no other file than the program")
    func demonstration() throws {
        let program = store.folder / "alone"
        try FileManager.default.copyItem(atPath: Vellum.executable.path, toPath: program)
        try ChildProcess.run(
            program, ["demo", "--no-browse", "--seconds", "0.1"],
            environment: Vellum.environment(["VELLUM_ASSETS": "", "TMPDIR": store.folder.path])
        ).expect(0, errors: "recorded 6,204 entries")
    }

    @Test("a terminal of more rows than curses can count is used in part", arguments: [32_768, 65_535])
    func manyRows(rows: Int) throws {
        let command =
            "stty rows \(rows) cols 65535; exec '\(Vellum.executable.path)' browse --store '\(store.path)'"
        try store.done("put", "A", "k", input: "1")
        let outcome = try ChildProcess.run(
            "/usr/bin/script", ["-qec", command, "/dev/null"],
            environment: Vellum.environment(["TERM": "xterm-256color", "SHELL": "/bin/sh"]),
            input: Data("qq".utf8))
        #expect(outcome.status == 0, "\(outcome.text.suffix(300))")
    }

    @Test("a key of -0 is called negative zero")
    func negativeZero() throws {
        let result = try store.run("import", "A", "-", "--key", "k", input: "{\"k\":-0}\n")
        #expect(
            result.status == 1 && result.errors.contains("negative zero")
                && !result.errors.contains("fraction"))
    }
}

/// Characters in names that control terminals, lines or text direction.
@Suite("Control characters in names") struct ControlCharacterTests {
    private static let names = ["x\u{9b}31m", "x\u{2028}y", "x\u{202e}y", "x\u{2066}y", "x\u{85}"]

    @Test("control characters are refused in names of new archives", arguments: names)
    func refusal(name: String) throws {
        let store = TestStore()
        let refused = try store.run("put", name, "k", input: "1").expect(2)
        #expect(!refused.errors.unicodeScalars.contains { $0 != "\n" && TerminalText.isControl($0) })
        try store.done("put", "A", "k", input: "1")
        #expect(try store.run("rename", "A", name).status == 2)
    }

    @Test("an archive with a control character in its name is usable, and no output has it", arguments: names)
    func existing(name: String) throws {
        let store = TestStore()
        let made = try Store.open(at: store.path)
        try made.archive(named: name, orCreate: ArchiveConfiguration(kind: .collection), isCopy: true).close()
        made.close()
        try store.done("put", name, "k2", input: "2")
        #expect(try store.done("get", name, "k2").text == "2\n")
        for command in [
            ["stats"], ["stats", "--json"], ["ls"], ["ls", "--json"], ["check"], ["get", name, "none"],
            ["keys", name],
            ["rm", name, "k2", "--yes"], ["query", name, "fnid"], ["why", name, "k2"], ["undo", name],
            ["doctor"], ["export", name, store.folder / "x.bin"],
        ] {
            let result = try Vellum.run(command + ["--store", store.path])
            let isRaw = (result.text + result.errors).unicodeScalars.contains {
                !["\n", "\t"].contains($0) && TerminalText.isControl($0)
            }
            #expect(!isRaw, "\(command)")
        }
        #expect(try store.done("backup", store.folder / "backup").status == 0)
        #expect(try Vellum.run(["get", name, "k2", "--store", store.folder / "backup"]).text == "2\n")
    }

    /// The limit, which is checked after the name, prevents an archive.
    @Test("the engine refuses the characters that control terminals")
    func oneTable() throws {
        let store = TestStore()
        let made = try Store.open(at: store.path)
        for value in (0x21..<0x3000 as Range<UInt32>) {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let isRefused: Bool
            do {
                _ = try made.archive(named: "\(scalar)", orCreate: ArchiveConfiguration(diskLimit: 0))
                isRefused = false
            } catch StorageError.invalidArchiveName {
                isRefused = true
            } catch {
                isRefused = false
            }
            #expect(isRefused == TerminalText.isControl(scalar), "\(value)")
        }
    }
}
