import Foundation
import Testing

@Suite("stats and resize")
struct FiguresTests {
    let store = TestStore()

    private func fill() throws {
        for key in ["a", "b", "c"] {
            try store.done(
                "put", "A", key, "--disk", "1KB", "--memory", "2KB", "--owner", key == "c" ? "me" : "you",
                input: "[1,2,3]")
        }
    }

    @Test func smallerLimitEvicts() throws {
        try fill()
        let result = try store.done("resize", "A", "--disk", "9B")
        #expect(result.errors == "A: disk limit 9 B, was 1 kB; evicted 1 entry, 4 B\n")
        #expect(try store.keys("A") == ["c", "b"])
        let archive = try #require(try store.archives()["A"])
        #expect(archive["diskLimit"] as? Int == 9 && archive["memoryLimit"] as? Int == 2000)
        let both = try store.done("resize", "A", "--disk", "20MB", "--memory", "1MiB")
        #expect(
            both.errors == "A: disk limit 20 MB, was 9 B; memory limit 1.05 MB, was 2 kB; "
                + "nothing evicted\n")
        #expect(try store.archives()["A"]?["memoryLimit"] as? Int == 1_048_576)
        try store.done("put", "A", "large", input: "\"" + String(repeating: "x", count: 5000) + "\"")
    }

    @Test func changesEvictionPolicy() throws {
        try fill()
        let changed = try store.done("resize", "A", "--policy", "s3fifo")
        #expect(changed.errors == "A: eviction policy s3fifo, was lru\n")
        #expect(try store.done("stats", "A").lines.contains("A\tevictionPolicy\ts3fifo"))
        try store.done("resize", "A", "--policy", "lru", "--disk", "1MB")
        #expect(try store.done("stats", "A").lines.contains("A\tevictionPolicy\tlru"))
        #expect(try store.run("resize", "A", "--policy", "fifo").status == 2)
        try store.done("put", "C", "k", input: "1")
        #expect(try store.run("resize", "C", "--policy", "s3fifo").status == 2)
    }

    @Test func refusesOtherResizes() throws {
        try store.done("put", "C", "k", input: "1")
        for arguments in [
            ["resize", "C"], ["resize", "C", "--disk", "0"], ["resize", "C", "--disk", "1MB"],
        ] {
            let result = try Vellum.run(arguments + ["--store", store.path])
            #expect(result.status == 2 && result.errors.hasPrefix("vellum: "), "\(arguments)")
        }
        #expect(try store.archives()["C"]?["diskLimit"] is NSNull)
        #expect(try store.run("resize", "Nothing", "--disk", "1MB").status == 1)
        #expect(try Vellum.run(["resize", "C", "--disk", "1MB"]).status == 2, "a store was found")
    }

    @Test func printsFiguresAsObject() throws {
        try fill()
        let stats = try store.done("stats", "A", "--json", "--owners").text
        let footprint = try #require(try store.archives()["A"]?["footprint"] as? Int)
        #expect(
            Masked.text(stats)
                == "{\"time\":T,\"archives\":[{\"archive\":\"A\",\"kind\":\"cache\",\"type\":null,\"entries\":3,"
                + "\"memoryBytes\":0,\"memoryLimit\":2000,\"diskBytes\":12,\"diskLimit\":1000,"
                + "\"footprint\":\(footprint),\"hits\":0,\"misses\":0,\"hitRatio\":null,\"records\":3,"
                + "\"deletes\":0,\"evictions\":0,\"expirations\":0,\"rejections\":0,\"evictionPolicy\":\"lru\",\"processes\":[],\"owners\":["
                + "{\"owner\":\"you\",\"entries\":2,\"bytes\":8,\"hits\":0},"
                + "{\"owner\":\"me\",\"entries\":1,\"bytes\":4,\"hits\":0}]}]}\n")
        let plain = try store.done("stats", "A", "--owners").lines
        #expect(plain.contains("A\tentries\t3") && plain.contains("A\towner\tme\t1\t4\t0"))
        #expect(try store.run("stats", "Nothing").status == 1)
        for arguments in [["--interval", "2s"], ["--watch", "--owners"], ["--watch", "--interval", "x"]] {
            #expect(try Vellum.run(["stats", "--store", store.path] + arguments).status == 2)
        }
    }

    @Test func printsPageOnTerminal() throws {
        try fill()
        try store.done("append", "L", "hello", "--disk", "1KB")
        let (status, text) = try PseudoTerminal.run("stats --owners --store '\(store.path)'")
        #expect(status == 0)
        let lines = text.replacing("\r\n", with: "\n").split(separator: "\n").map(String.init)
        #expect(lines.first == "A: a cache, values as CBOR")
        for line in [
            "  entries    3", "  disk       12 B of 1 kB", "  accesses   0 hits, 0 misses",
            "  processes  no process has it open for writing", "L: a log", "  messages   1",
            "  OWNER  ENTRIES  SIZE  HITS",
        ] {
            #expect(lines.contains(line), "\(line)")
        }
    }

    @Test func showsAttachedProcesses() async throws {
        try fill()
        try store.done("append", "L", "first", "--disk", "1KB")
        let start = Date().timeIntervalSince1970
        let writer = try store.start("append", "L", holdsInput: true)
        writer.type("one\n")
        func processes() throws -> [[String: Any]] {
            let stats = try JSON.object(try store.done("stats", "L", "--json").text)
            let archives = try #require(stats["archives"] as? [[String: Any]])
            return try #require(archives.first?["processes"] as? [[String: Any]])
        }
        try await writer.until("attached") { try processes().count == 1 }
        let process = try #require(try processes().first)
        #expect(process["pid"] as? Int32 == writer.pid && process["name"] as? String == "vellum")
        #expect(
            Set(process.keys)
                == ["pid", "name", "attached", "hits", "misses", "memoryBytes", "memoryLimit"])
        let attached = try #require(process["attached"] as? Double)
        // The store's clock may lag by milliseconds.
        #expect(attached > start - 1 && attached < Date().timeIntervalSince1970 + 1)
        #expect(try store.done("stats", "L").text.contains("L\tprocess\t\(writer.pid)\tvellum\t"))
        writer.endInput()
        #expect(try await writer.finish() == 0)
        #expect(try processes().isEmpty)
    }

    /// Regression: ended with a crash at the second interval.
    @Test("prints the rates of archives whose names differ only in their Unicode form")
    func ratesOfEqualNames() async throws {
        for name in ["caf\u{e9}", "cafe\u{301}"] { try store.done("put", name, "k", input: "1") }
        let rates = try store.start("stats", "--watch", "--interval", "50ms", "--json")
        _ = try await rates.lines(atLeast: 3)
        let archives = try #require(try JSON.object(rates.lines[1])["archives"] as? [[String: Any]])
        #expect(archives.count == 2 && archives.allSatisfy { $0["rates"] != nil })
        rates.signal(SIGINT)
        #expect(try await rates.finish() == 130)
    }

    @Test func printsRatesUntilInterrupted() async throws {
        try fill()
        let json = try store.start("stats", "A", "--watch", "--interval", "100ms", "--json")
        let plain = try store.start("stats", "--watch", "--interval", "0.1s")
        _ = try await json.lines(atLeast: 1)
        for count in 0..<3 { try store.done("put", "A", "new \(count)", input: "1") }
        func records() throws -> Double {
            try json.lines.reduce(0) { sum, line in
                let archives = try JSON.object(line)["archives"] as? [[String: Any]]
                let rates = try #require(archives?.first?["rates"] as? [String: Any])
                #expect(
                    Set(rates.keys) == ["hits", "misses", "records", "deletes", "evictions", "expirations"])
                return try sum + #require(rates["records"] as? Double)
            }
        }
        // Each rate covers about a tenth of a second.
        try await json.until("rates") { try records() > 3 }
        let rows = try await plain.lines(atLeast: 3)
        #expect(rows.allSatisfy { $0.split(separator: "\t", omittingEmptySubsequences: false).count == 12 })
        for process in [json, plain] {
            process.signal(SIGINT)
            #expect(try await process.finish() == 130)
            #expect(process.errors.isEmpty)
        }
    }
}
