import Foundation
import TestSupport
import Testing

@Suite("watch and why")
struct WatchTests {
    let store: TestStore

    init() throws {
        store = TestStore()
        try store.done("put", "A", "before", "--disk", "1KB", input: "[1]")
    }

    @Test func followsOtherProcesses() async throws {
        let watch = try store.start("watch", "--json")
        let plain = try store.start("watch", "A")
        // A first line shows that it has begun.
        for process in [watch, plain] {
            try await process.until("a beginning") {
                try store.done("put", "A", "probe", input: "1")
                return !process.lines.isEmpty
            }
        }
        try store.done("put", "A", "probe", input: "[]")
        try store.done("append", "L", "mark", "--disk", "1KB")
        try await watch.until("mark") { watch.lines.last?.contains("append") == true }
        let begun = watch.lines.count
        let put = try store.start("put", "A", "日本語", "--owner", "me")
        #expect(try await put.finish() == 1, "an empty document was stored")
        try store.done("put", "A", "日本語", input: "[1,2]")
        try store.done("put", "New", "k", input: "1")
        try store.done("expire", "A", "日本語", "--in", "5m", "--yes")
        try store.done("rm", "A", "日本語", "--yes")
        try store.done("undo", "A")
        try store.done("resize", "A", "--disk", "3B")
        _ = try store.run("put", "A", "large", input: "[1,2,3,4]")
        try store.done("append", "L", "hello")
        try store.done("expire", "A", "日本語", "--now", "--yes")
        let lines = try await watch.lines(atLeast: begun + 11)
        let expected = [
            ("A", "record", "\"日本語\"", 3, "\"request\""), ("New", "record", "\"k\"", 1, "\"request\""),
            ("A", "deadline", "\"日本語\"", 3, "\"person\""), ("A", "delete", "\"日本語\"", 3, "\"person\""),
            ("A", "restore", "\"日本語\"", 3, "\"undo\""), ("A", "eviction", "\"before\"", 2, "\"limit\""),
            ("A", "eviction", "\"probe\"", 1, "\"limit\""), ("A", "resize", "null", 3, "\"request\""),
            ("A", "rejection", "\"large\"", 5, "\"tooLarge\""), ("L", "append", "null", 5, "\"request\""),
            ("A", "expiry", "\"日本語\"", 3, "\"person\""),
        ]
        .map {
            "{\"time\":T,\"archive\":\"\($0)\",\"event\":\"\($1)\",\"key\":\($2),\"size\":\($3),\"cause\":\($4),\"pid\":P}"
        }
        #expect(lines.dropFirst(begun).map(Masked.text) == expected)
        let rows = try await plain.lines(atLeast: 2)
        #expect(rows.allSatisfy { $0.split(separator: "\t", omittingEmptySubsequences: false).count == 7 })
        #expect(!plain.lines.contains { $0.contains("\tNew\t") })
        for process in [watch, plain] {
            process.signal(SIGINT)
            #expect(try await process.finish() == 130)
            #expect(process.errors.isEmpty)
        }
    }

    @Test func printsPastEvents() throws {
        try store.done("put", "B", "b", input: "1")
        let all = try store.done("watch", "--from-start", "--seconds", "0")
        #expect(
            all.lines.map { $0.split(separator: "\t")[1...3].joined(separator: " ") }
                == ["A record before", "B record b"])
        #expect(try store.done("watch", "--seconds", "0").output.isEmpty)
        #expect(try store.done("watch", "--from-start", "--limit", "1").lines.count == 1)
        #expect(try store.done("watch", "--limit", "0").output.isEmpty)
        #expect(try store.run("watch", "Nothing").status == 1)
        for arguments in [["--limit", "-1"], ["--seconds", "-1"], ["--seconds", "x"]] {
            #expect(try Vellum.run(["watch", "--store", store.path] + arguments).status == 2)
        }
        #expect(try Vellum.run(["watch", "--store", store.folder / "missing"]).status == 3)
    }

    @Test func watchCountsNoAccess() async throws {
        let before = try store.done("ls", "--json").text
        let watch = try store.start("watch", "--from-start")
        _ = try await watch.lines(atLeast: 1)
        #expect(try store.done("ls", "--json").text == before)
        let stats = try store.done("stats", "A", "--json").text
        #expect(stats.contains("\"processes\":[]"))
    }

    /// Events overwritten before the start don't count as lost.
    @Test func printsWholeRing() throws {
        let lines = (0..<3000).map { "{\"id\":\($0)}\n" }.joined()
        try store.done("import", "Many", "-", "--key", "id", input: lines)
        for arguments in [["watch", "Many"], ["watch"]] {
            let past = try Vellum.run(
                arguments + ["--from-start", "--seconds", "0", "--json", "--store", store.path])
            #expect(past.status == 0 && past.errors.isEmpty)
            let events = past.lines.filter { $0.contains("\"archive\":\"Many\"") }
            #expect(events.count == 2048)
            #expect(try JSON.object(events[0])["key"] as? String == "952")
        }
    }

    /// Every event is either printed or counted as lost.
    @Test func countsLostEvents() async throws {
        try store.done("put", "Many", "first", input: "1")
        let stopped = try store.start("watch", "Many", "--json", "--from-start")
        _ = try await stopped.lines(atLeast: 1)
        stopped.signal(SIGSTOP)
        let lines = (0..<5000).map { "{\"id\":\($0)}\n" }.joined()
        try store.done("import", "Many", "-", "--key", "id", input: lines)
        stopped.signal(SIGCONT)
        func events() throws -> [[String: Any]] { try stopped.lines.map(JSON.object) }
        func isLoss(_ event: [String: Any]) -> Bool { event["event"] as? String == "lost" }
        try await stopped.until("the end") { try events().contains { $0["key"] as? String == "4999" } }
        let losses = try events().filter(isLoss)
        #expect(!losses.isEmpty)
        let lost = losses.reduce(0) { $0 + ($1["count"] as? Int ?? 0) }
        #expect(try events().count - losses.count + lost == 5001)
        #expect(
            losses.allSatisfy {
                Set($0.keys) == ["time", "archive", "event", "key", "size", "cause", "pid", "count"]
            })
        #expect(stopped.errors.contains("events of Many were overwritten before they were read"))
    }

    @Test func closedPipeEndsQuietly() async throws {
        let ends = try Spawned.pipeEnds()
        let watch = try store.start("watch", "--from-start", output: ends[1])
        close(ends[1])
        var byte: UInt8 = 0
        #expect(read(ends[0], &byte, 1) == 1)
        close(ends[0])
        // It notices without further events.
        let status = try await watch.finish()
        #expect(status == 0 || status == -SIGPIPE)
        #expect(watch.errors.isEmpty)
    }

    @Test func followsRecreatedArchive() async throws {
        let watch = try store.start("watch", "A", "--from-start")
        _ = try await watch.lines(atLeast: 1)
        try removeFolderInUse(store.path + "/A.archive")
        try await watch.until("report") { watch.errors == "vellum: A was removed\n" }
        try store.done("put", "A", "again", input: "1")
        #expect(try await watch.lines(atLeast: 2).last?.contains("\trecord\tagain\t") == true)
    }

    /// Regression: they continued with the moved store.
    @Test func followersReportMovedStore() async throws {
        try store.done("append", "L", "first", "--disk", "1KB")
        let followers = [
            try store.start("watch", "--from-start"), try store.start("watch", "A", "--from-start"),
            try store.start("stats", "--watch", "--json", "--interval", "50ms"),
            try store.start("tail", "L", "--follow"),
        ]
        for follower in followers { _ = try await follower.lines(atLeast: 1) }
        try FileManager.default.moveItem(atPath: store.path, toPath: store.path + ".moved")
        try store.done("put", "A", "other", input: "1")
        for follower in followers {
            #expect(try await follower.finish() == 3)
            #expect(follower.errors.contains("no longer exists"), "\(follower.errors)")
        }
    }

    @Test func printsTableOnTerminal() throws {
        try store.done("put", "A", "evil\u{1b}[31m", input: "1")
        try store.done("rm", "A", "--all", "--yes")
        let (status, text) = try PseudoTerminal.run("watch --from-start --seconds 0 --store '\(store.path)'")
        #expect(status == 0)
        #expect(
            text.hasPrefix("TIME          ARCHIVE  EVENT      KEY               SIZE  CAUSE     PROCESS\r\n"))
        let narrow = try PseudoTerminal.run(
            "watch --from-start --seconds 0 --store '\(store.path)'", columns: 60)
        #expect(narrow.text.hasPrefix("TIME          EVENT      KEY               SIZE  CAUSE\r\n"))
        #expect(text.contains("A        record     evil\\e[31m         1 B  request   "))
        #expect(!text.contains("\u{1b}"))
    }

    @Test func whyPrintsHistory() throws {
        try store.done("put", "A", "k", "--expires", "5m", "--owner", "me", input: "[1]")
        let there = try store.done("why", "A", "k", "--json").text
        #expect(
            Masked.text(there)
                == "{\"archive\":\"A\",\"key\":\"k\",\"present\":true,\"expired\":null,\"meta\":{\"key\":\"k\",\"size\":2,\"tier\":\"disk\","
                + "\"created\":T,\"accessed\":T,\"expires\":T,\"hits\":0,\"owner\":\"me\",\"rank\":1},\"heldBy\":[],"
                + "\"events\":[{\"time\":T,\"event\":\"record\",\"size\":2,\"cause\":\"request\",\"pid\":P,"
                + "\"process\":null}],\"reachesBackTo\":T,\"isCutOff\":false,\"log\":null}\n")
        try store.done("resize", "A", "--disk", "2B")
        try store.done("rm", "A", "k", "--yes")
        let gone = try store.done("why", "A", "before", "--json").text
        #expect(
            Masked.text(gone)
                == "{\"archive\":\"A\",\"key\":\"before\",\"present\":false,\"expired\":null,\"meta\":null,\"heldBy\":[],\"events\":["
                + "{\"time\":T,\"event\":\"record\",\"size\":2,\"cause\":\"request\",\"pid\":P,\"process\":null},"
                + "{\"time\":T,\"event\":\"eviction\",\"size\":2,\"cause\":\"limit\",\"pid\":P,\"process\":null}],"
                + "\"reachesBackTo\":T,\"isCutOff\":false,\"log\":null}\n")
        let plain = try store.done("why", "A", "k").text
        #expect(plain.hasPrefix("present\tfalse\n\n") && plain.contains("\tdelete\t2\tperson\t"))
        let unknown = try store.run("why", "A", "unknown")
        #expect(unknown.status == 1 && unknown.output.isEmpty)
        #expect(
            unknown.errors.hasPrefix("vellum: there is no event of \"unknown\" in A; events reach back to "))
        #expect(try store.run("why", "Nothing", "k").status == 1)
        #expect(try store.run("why", "A", "").status == 2)
    }

    @Test("why searches the log if the events don't show the removal") func whySearchesTheLog() throws {
        try store.done("put", "A", "k", input: "[1]")
        try store.done("rm", "A", "k", "--yes")
        // Without its index, the archive has no events.
        try FileManager.default.removeItem(atPath: store.path + "/A.archive/index")
        let story = try JSON.object(try store.done("why", "A", "k", "--json").text)
        #expect(story["present"] as? Bool == false && (story["events"] as? [Any])?.isEmpty == true)
        let log = try #require(story["log"] as? [String: Any])
        let changes = try #require(log["changes"] as? [[String: Any]])
        #expect(changes.map { $0["event"] as? String } == ["record", "delete"])
        #expect(changes.map { $0["cause"] as? String } == ["request", "person"])
        #expect(log["isPartial"] as? Bool == false)
        let plain = try store.done("why", "A", "k").text
        #expect(plain.contains("\trecord\t2\trequest\n") && plain.hasSuffix("\tdelete\t2\tperson\n"))
        let (status, text) = try PseudoTerminal.run("why A k --store '\(store.path)'")
        #expect(status == 0 && text.contains("From the log:\r\n"))
        #expect(text.contains("  2 B  deleted by a user\r\n"), "\(text)")
        try store.run("why", "A", "unknown").expect(1, errors: "; searched the whole log, ")
    }

    @Test func whyPrintsSentencesOnTerminal() throws {
        try store.done("put", "A", "日本語", "--expires", "5m", "--owner", "地理", input: "[1]")
        var (status, text) = try PseudoTerminal.run("why A 日本語 --store '\(store.path)'")
        #expect(status == 0)
        #expect(text.hasPrefix("\"日本語\" is in A: 2 B\r\n"))
        for part in [
            "  owner     地理\r\n", "  2 B  recorded by process ", " was created.\r\n",
        ] {
            #expect(text.contains(part), "\(part)")
        }
        #expect(text.contains(", in 5m\r\n") || text.contains(", in 4m 5"))
        try store.done("resize", "A", "--disk", "1B")
        (status, text) = try PseudoTerminal.run("why A 日本語 --store '\(store.path)'")
        #expect(status == 0)
        #expect(text.hasPrefix("\"日本語\" is not in A\r\n"))
        #expect(text.contains("  2 B  evicted: disk limit reached, by process "))
    }
}
