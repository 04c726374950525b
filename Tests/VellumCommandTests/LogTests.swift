import Foundation
import TestSupport
import Testing

@Suite("append and tail")
struct LogTests {
    let store = TestStore()

    @Test func keepsOrderOfMessages() throws {
        try store.done("append", "L", "first", "--disk", "1KB")
        try store.done("append", "L", input: "second\n\n日本語\nlast")
        try store.done("append", "L", "--whole", input: "two\nlines\n")
        #expect(
            Masked.text(try store.done("tail", "L", "--json").text) == """
                {"sequence":1,"time":T,"text":"first"}
                {"sequence":2,"time":T,"text":"second"}
                {"sequence":3,"time":T,"text":""}
                {"sequence":4,"time":T,"text":"日本語"}
                {"sequence":5,"time":T,"text":"last"}
                {"sequence":6,"time":T,"text":"two\\nlines\\n"}

                """)
        #expect(try store.done("tail", "L", "-n", "3", "--raw").text == "日本語\nlast\ntwo\nlines\n\n")
        #expect(try store.done("tail", "L", "--lines", "0").output.isEmpty)
        let row = try store.done("tail", "L", "-n", "2").lines[0].split(separator: "\t")
        #expect(row.count == 3 && row[0] == "5" && row[2] == "last")
        #expect(Masked.text(String(row[1])) == "T")
        let archive = try #require(try store.archives()["L"])
        #expect(archive["kind"] as? String == "log" && archive["entries"] as? Int == 6)
        #expect(archive["diskLimit"] as? Int == 1000)
        #expect(try store.done("check").text.hasPrefix("L: clean, 6 entries"))
    }

    @Test func messagesAreOneLineInPipe() throws {
        let message = "one\ttwo\nthree\rfour\u{2028}five\n"
        try store.done("append", "L", "--whole", "--disk", "1KB", input: message)
        let line = try store.done("tail", "L").text
        #expect(line.hasSuffix("\tone\\ttwo\\nthree\\rfour\\u{2028}five\\n\n"), "\(line)")
        #expect(line.unicodeScalars.count { $0 == "\n" } == 1, "\(line)")
        #expect(line.unicodeScalars.count { $0 == "\t" } == 2, "\(line)")
        #expect(try store.done("tail", "L", "--raw").text == message + "\n")
        let object = try JSON.object(try store.done("tail", "L", "--json").text)
        #expect(object["text"] as? String == message)
    }

    @Test func printsBytesAsBase64() throws {
        try store.done("append", "L", "x", "--disk", "1KB")
        let file = store.folder / "bytes"
        try Data([0xff, 0, 0x3e, 0x3f]).write(to: URL(fileURLWithPath: file))
        try Vellum.shell("\"$0\" append L --whole --store \"$1\" < \"$2\"", store.path, file).expect(0)
        #expect(
            Masked.text(try store.done("tail", "L", "-n", "1", "--json").text)
                == "{\"sequence\":2,\"time\":T,\"data\":\"/wA+Pw==\"}\n")
        #expect(try store.done("tail", "L", "-n", "1", "--raw").output == Data([0xff, 0, 0x3e, 0x3f, 0x0a]))
    }

    @Test func createsLogOnlyWithLimit() throws {
        try store.done("put", "A", "k", input: "1")
        try store.run("append", "L", "x").expect(1, errors: "--disk 1MB creates one")
        #expect(try store.archives()["L"] == nil)
        try store.done("append", "L", "x", "--disk", "1KB")
        let other = try store.done("append", "L", "y", "--disk", "2KB")
        #expect(other.errors.hasPrefix("vellum: log \"L\" already exists and keeps its limit"))
        #expect(try store.archives()["L"]?["diskLimit"] as? Int == 1000)
        for arguments in [["L", "x", "--whole"], ["L", "x", "--disk", "0"], []] {
            #expect(try Vellum.run(["append", "--store", store.path] + arguments).status == 2)
        }
        try Vellum.run(["append", "L", "x", "--store", store.folder / "missing"]).expect(3)
        for arguments in [["L", "--json", "--raw"], ["L", "-n", "x"], ["L", "--lines=-1"]] {
            #expect(try Vellum.run(["tail", "--store", store.path] + arguments).status == 2)
        }
        #expect(try store.run("tail", "Nothing").status == 1)
    }

    @Test func omitsMessagesAboveLimit() throws {
        try store.done("append", "L", "x", "--disk", "10B")
        let result = try store.run("append", "L", input: "one\n\(String(repeating: "y", count: 11))\ntwo\n")
        #expect(result.status == 1)
        #expect(result.errors.hasPrefix("vellum: standard input:2: a value of 11 bytes is larger"))
        #expect(try store.done("tail", "L", "--raw").text == "x\none\ntwo\n")
        #expect(try store.run("append", "L", "12345678901").status == 1)
        try store.done("append", "L", "1234567890")
        #expect(try store.done("tail", "L", "--raw").text == "1234567890\n", "the oldest messages stayed")
    }

    @Test func smallerLimitDropsOldest() throws {
        try store.done("append", "L", "--disk", "1KB", input: "one\ntwo\nsix\n")
        #expect(
            try store.done("resize", "L", "--disk", "6B").errors
                == "L: disk limit 6 B, was 1 kB; evicted 1 message, 3 B\n")
        #expect(try store.done("tail", "L", "--raw").text == "two\nsix\n")
    }

    @Test func refusesWrongKindOfArchive() throws {
        try store.done("append", "L", "x", "--disk", "1KB")
        try store.done("put", "A", "k", input: "1")
        for arguments in [
            ["keys", "L"], ["get", "L", "k"], ["put", "L", "k"], ["rm", "L", "k", "--yes"],
            ["expire", "L", "k", "--now", "--yes"], ["undo", "L"], ["undo", "L", "--list"],
            ["why", "L", "k"],
            ["export", "L"], ["import", "L", "-", "--key", "id", "--format", "ndjson"],
        ] {
            let result = try Vellum.run(arguments + ["--store", store.path], input: "{\"id\":1}")
            #expect(result.status == 2 && result.output.isEmpty, "\(arguments)")
            #expect(result.errors.hasPrefix("vellum: archive \"L\" is a log, "), "\(arguments)")
            #expect(result.errors.contains("vellum tail L"), "\(arguments)")
            #expect(result.errors.split(separator: "\n").count == 1, "\(arguments)")
        }
        for arguments in [["tail", "A"], ["append", "A", "x"], ["append", "A", "x", "--disk", "1KB"]] {
            let result = try Vellum.run(arguments + ["--store", store.path])
            #expect(result.status == 2, "\(arguments)")
            #expect(result.errors.hasPrefix("vellum: archive \"A\" is a collection, "), "\(arguments)")
        }
        let kind = try store.run("put", "B", "k", "--kind", "log", input: "1")
        #expect(kind.status == 2 && kind.errors.contains("vellum append NAME --disk SIZE"))
        #expect(try store.archives()["B"] == nil)
        #expect(try store.done("tail", "L", "--raw").text == "x\n")
    }

    /// A full ring, followed during writes: no message is lost or repeated.
    @Test func followsWithoutGaps() async throws {
        try store.done("append", "L", "start", "--disk", "300KB")
        let tail = try store.start("tail", "L", "-f", "-n", "1", "--json")
        // Begins with the last message at the time of opening.
        _ = try await tail.lines(atLeast: 1)
        let writer = try store.start("append", "L", holdsInput: true)
        let filler = String(repeating: "x", count: 190)
        for part in 0..<20 {
            writer.type((0..<200).map { "\(part * 200 + $0) \(filler)\n" }.joined())
            // The writer stays less than a ring ahead of the reader.
            _ = try await tail.lines(atLeast: 1 + (part + 1) * 200 - 400)
        }
        writer.endInput()
        #expect(try await writer.finish() == 0)
        let lines = try await tail.lines(atLeast: 4_001)
        let numbers = try lines.map { try #require(JSON.object($0)["sequence"] as? Int) }
        #expect(numbers == Array(1...4_001))
        let last = try #require(try JSON.object(lines[4_000])["text"] as? String)
        #expect(last == "3999 " + filler)
        tail.signal(SIGINT)
        #expect(try await tail.finish() == 130)
        #expect(tail.errors.isEmpty)
    }

    /// Regression: a follower waited silently at a place that the damaged log no longer had, or that was rewritten.
    @Test(arguments: ["cut to nothing", "cut", "removed", "index", "index cut"])
    func followsAfterDamage(_ damage: String) async throws {
        try store.done("append", "L", "--disk", "300KB", input: (0..<50).map { "message \($0)\n" }.joined())
        let tail = try store.start("tail", "L", "-f", "-n", "1", "--raw")
        _ = try await tail.lines(atLeast: 1)
        let segment = store.path + "/L.archive/00000001.segment"
        switch damage {
        case "cut to nothing": #expect(truncate(segment, 0) == 0)
        case "cut": #expect(truncate(segment, 500) == 0)
        case "removed": #expect(unlink(segment) == 0)
        case "index cut": #expect(truncate(store.path + "/L.archive/index", 0) == 0)
        default:
            let index = try #require(FileHandle(forWritingAtPath: store.path + "/L.archive/index"))
            try index.write(contentsOf: (0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 167 >> 3) })
            try index.close()
        }
        for number in 50..<53 { try store.done("append", "L", "message \(number)") }
        let lines = try await tail.lines(atLeast: 4)
        #expect(lines == (49..<53).map { "message \($0)" })
        try await tail.until("report") {
            damage.hasPrefix("index") || tail.errors.contains("some messages are damaged")
        }
        tail.signal(SIGINT)
        #expect(try await tail.finish() == 130)
    }

    /// Each message fills a segment and drops the one before, so the reader's place was before the oldest message. Sequence
    /// numbers show that nothing was lost.
    @Test func reportsOnlyLostMessages() async throws {
        let message = String(repeating: "m", count: 140_000)
        try store.done("append", "L", "--whole", "--disk", "150KB", input: message)
        let tail = try store.start("tail", "L", "-f", "-n", "0", "--json")
        func begun() throws -> Bool {
            try store.done("append", "L", "--whole", input: message)
            // The ring holds one message: a second before this one is read would be a loss.
            return holds(within: 2) { !tail.lines.isEmpty }
        }
        try await tail.until("a beginning", begun)
        for _ in 0..<5 {
            let count = tail.lines.count
            try store.done("append", "L", "--whole", input: message)
            _ = try await tail.lines(atLeast: count + 1)
        }
        let read = tail.lines.count
        #expect(tail.errors.isEmpty)
        tail.signal(SIGSTOP)
        for _ in 0..<3 { try store.done("append", "L", "--whole", input: message) }
        tail.signal(SIGCONT)
        _ = try await tail.lines(atLeast: read + 1)
        try await tail.until("report") { !tail.errors.isEmpty }
        #expect(tail.errors == "vellum: some messages were dropped before they were read\n")
    }

    /// Regression: it was reported as dropped, and the last one not at all.
    @Test(arguments: ["second", "third"])
    func reportsDamagedMessages(message: String) throws {
        for text in ["first", "second", "third"] { try store.done("append", "L", text, "--disk", "10KB") }
        let path = URL(fileURLWithPath: store.path + "/L.archive/00000001.segment")
        var data = try Data(contentsOf: path)
        data[try #require(data.range(of: Data(message.utf8))).lowerBound] ^= 1
        try data.write(to: path)
        let tail = try store.run("tail", "L", "--raw").expect(3)
        #expect(tail.lines == ["first", "second", "third"].filter { $0 != message })
        #expect(tail.errors == "vellum: some messages are damaged and left out; vellum check shows where\n")
    }

    /// Regression: the missing end of a log wasn't reported.
    @Test func reportsCutLog() throws {
        for text in ["first", "second", "third"] { try store.done("append", "L", text, "--disk", "10KB") }
        let path = URL(fileURLWithPath: store.path + "/L.archive/00000001.segment")
        let data = try Data(contentsOf: path)
        try data[..<(try #require(data.range(of: Data("third".utf8))).lowerBound)].write(to: path)
        let tail = try store.run("tail", "L", "--raw").expect(3)
        #expect(tail.lines == ["first", "second"])
        #expect(tail.errors.hasPrefix("vellum: L: its log is damaged in "))
        for command in [["rm", "L", "--all"], ["drop", "L"]] {
            let plan = try Vellum.run(command + ["--dry-run", "--store", store.path])
            #expect(plan.status == 3 && plan.text.contains("2 messages"), "\(command): \(plan.errors)")
        }
    }

    @Test("a deletion of all messages keeps those appended before the confirmation")
    func keepsMessagesAppendedBeforeConfirmation() async throws {
        try store.done("append", "L", "--disk", "1MB", input: "a\nb\nc\n")
        let asking = try PseudoTerminal.start("rm L --all --store '\(store.path)'")
        try await asking.until("question") { asking.text.contains("[y/N]") }
        try store.done("append", "L", input: "new 1\nnew 2\n")
        asking.type("y\n")
        #expect(try await asking.finish() == 0)
        #expect(asking.text.contains("deleted 3 messages, 3 B"), "\(asking.text)")
        #expect(try store.done("tail", "L", "--raw").lines == ["new 1", "new 2"])
    }

    @Test func escapesMessagesOnTerminal() throws {
        try store.done("append", "L", "--whole", "--disk", "1KB", input: "a\u{1b}[31mb\nsecond line\n")
        let (status, text) = try PseudoTerminal.run("tail L --store '\(store.path)'")
        #expect(status == 0)
        let lines = text.replacing("\r\n", with: "\n").split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines[0].hasSuffix("  a\\e[31mb") && lines[0].count == 29)
        #expect(lines[1] == String(repeating: " ", count: 21) + "second line")
        for option in ["--raw", "--json"] {
            let (_, text) = try PseudoTerminal.run("tail L \(option) --store '\(store.path)'")
            #expect(!text.contains("\u{1b}") && text.contains("31mb"), "\(option)")
        }
    }

    /// Regression: it continued as long as others appended.
    @Test func endsDuringAppends() throws {
        try store.done("append", "L", "first", "--disk", "20kB")
        // More than it can append during the test; killed at its end.
        let appender = try Spawned(
            ["--store", store.path, "append", "L"], input: String(repeating: "abcdefgh\n", count: 3_000_000))
        defer { withExtendedLifetime(appender) {} }
        #expect(try holds(within: 5) { try store.done("tail", "L", "-n", "1", "--raw").text != "first\n" })
        for count in [1, 3] {
            let result = try store.done("tail", "L", "-n", "\(count)", "--raw")
            #expect(result.lines.count <= count)
            #expect(result.lines.allSatisfy { $0 == "abcdefgh" })
            #expect(!result.lines.isEmpty || !result.errors.isEmpty)
            #expect(result.errors.split(separator: "\n").count <= 1, "\(result.errors.prefix(300))")
        }
    }

    /// Regression: the browser used a count that restarts with the index, and showed no messages.
    @Test func browserShowsMessagesAfterIndexRebuild() throws {
        try store.done("append", "L", "--disk", "1KB", input: "one\ntwo\nthree")
        try FileManager.default.removeItem(atPath: store.path + "/L.archive/index")
        for count in 3...4 {
            let screen = try store.done(
                "browse", "--size", "80x12", "--keys", "<enter>", "--print", "text"
            ).text
            #expect(screen.contains("\(count) messages"))
            #expect(screen.contains("two"))
            try store.done("append", "L", "four")
        }
    }
}
