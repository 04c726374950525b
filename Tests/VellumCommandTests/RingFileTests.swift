import CacheAdvance
import Foundation
import StorageEngine
import TestSupport
import Testing

@Suite("ring files by path")
struct RingFileTests {
    let store: TestStore
    let path: String

    init() throws {
        store = TestStore()
        path = store.folder / "My.ring"
    }

    private func run(_ arguments: String..., input: String = "") throws -> Vellum.Result {
        try Vellum.run(arguments, input: input)
    }

    private func ring() throws -> RingFile {
        let settings = try #require(try RingFile.settings(ofFileAt: path))
        return try RingFile(
            path: path, maximumBytes: settings.maximumBytes,
            overwritesOldMessages: settings.overwritesOldMessages)
    }

    @Test func appendsAndPrintsMessages() throws {
        try run("append", path, "x").expect(1, errors: "--disk 1MB creates a ring file there")
        #expect(try run("tail", path).status == 1)
        try Data().write(to: URL(fileURLWithPath: path))
        #expect(try run("append", path, "x").errors.contains("is empty; --disk 1MB creates"))
        #expect(try run("append", path, "first", "--disk", "100B").status == 0)
        #expect(try run("append", path, input: "second\n\nthird\n").status == 0)
        #expect(
            try ring().messages().map { String(decoding: $0, as: UTF8.self) } == ["first", "second", "third"])
        #expect(
            try run("append", path, "4th", "--disk", "1KB").errors.contains(
                "already exists and keeps its settings"))
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(try run("tail", path, "-n", "2").text == "\t\tthird\n\t\t4th\n")
        #expect(try run("tail", path, "--raw", "-n", "0").output.isEmpty)
        #expect(
            try run("tail", path, "--json", "-n", "1").text
                == "{\"sequence\":null,\"time\":null,\"text\":\"4th\"}\n")
        let large = try run("append", path, input: String(repeating: "x", count: 33) + "\n")
        #expect(large.status == 1 && large.errors.contains("standard input:1: "))
        let events = try run("watch", path, "--from-start", "--limit", "1", "--json").text
        #expect(events.contains("\"event\":\"append\",\"key\":null,\"size\":5"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before, "reading changed the file")
    }

    @Test func keepsOldMessages() throws {
        #expect(try run("append", path, "abcdef", "--disk", "80B", "--keep-old").status == 0)
        #expect(try run("append", path, "abcdef").status == 1)
        #expect(try run("tail", path, "--raw").text == "abcdef\n")
        #expect(try run("append", "Name", "x", "--keep-old", "--disk", "80B").status == 2)
    }

    @Test func browserShowsRingFile() throws {
        try run("append", path, "--disk", "1KB", input: "a message\nof two\n").expect(0)
        let screen = try run("browse", path, "--size", "80x12", "--keys", "<enter>")
        #expect(screen.status == 0 && screen.text.contains("a message") && screen.text.contains("2 messages"))
        // Regression: on every screen it was the command for the messages.
        for (keys, words) in [
            ("c", "vellum tail"), ("<enter>c", "vellum tail"), ("<enter>Ec", "vellum watch"),
            ("<enter>Tc", "No command prints this"),
        ] {
            let screen = try run("browse", path, "--size", "80x12", "--keys", keys)
            #expect(screen.text.contains(words), "\(keys): \(screen.text)")
        }
        let archives = try run("browse", path, "--size", "80x12")
        #expect(archives.text.contains("My.ring"))
        let absent = try run("browse", "tial", "--size", "80x12").errors
        #expect(absent.contains("'tial' is neither a command nor a folder"), "\(absent)")
        try run("lsit", "--store", store.path).expect(2, errors: "lsit")
        try run("--sotre", "x").expect(2, errors: "--sotre")
        try run("browse", path, "--store", store.path, "--size", "80x12").expect(2)
    }

    @Test("distinguishes ring files, stores and other files") func distinguishesFiles() throws {
        try run("append", path, "m", "--disk", "1KB").expect(0)
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        for command in [["ls"], ["append", "A", "x", "--disk", "1KB"], ["browse", "--size", "80x12"]] {
            try Vellum.run(command + ["--store", path]).expect(3, errors: "vellum tail \(path)")
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        let text = store.folder / "text"
        for content in ["", "Some text, and so no ring file.\n", "\u{1}" + String(repeating: "z", count: 99)]
        {
            try Data(content.utf8).write(to: URL(fileURLWithPath: text))
            for command in [["tail", text], ["append", text, "x"], ["browse", text, "--size", "80x12"]] {
                let result = try Vellum.run(command)
                #expect(content.isEmpty && command[0] != "append" || result.status != 0, "\(command)")
                #expect(result.status == 0 || result.errors.contains(text), "\(result.errors)")
            }
            #expect(try Data(contentsOf: URL(fileURLWithPath: text)) == Data(content.utf8))
        }
        for command in ["tail", "append", "watch", "browse"] {
            #expect(try run(command, store.folder.path + "/").status != 0)
        }
    }

    /// Followed during writes: no message is lost or repeated.
    @Test func followsMessages() throws {
        try run("append", path, "start", "--disk", "2KB").expect(0)
        let ring = try ring()
        let tail = try Spawned(["tail", path, "-f", "--raw"])
        func wait(_ count: Int) throws -> [String] {
            _ = holds { tail.lines.count >= count }
            return tail.lines
        }
        #expect(try wait(1) == ["start"])
        for part in 0..<20 {
            for number in 0..<20 { try ring.append(Array("\(part * 20 + number)".utf8)) }
            _ = try wait(1 + (part + 1) * 20)
        }
        #expect(try wait(401) == ["start"] + (0..<400).map { "\($0)" })
        tail.signal(SIGINT)
        #expect(tail.errors.isEmpty)
    }
}
