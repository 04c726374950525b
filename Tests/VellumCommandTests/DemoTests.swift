import Foundation
import Testing

@Suite("demo without a terminal", .serialized)
struct DemoTests {
    let folder = TemporaryFolder()
    /// Isolates the temporary stores of each test.
    var environment: [String: String] { ["TMPDIR": folder.path] }

    private var left: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path) }
    }

    @Test func figuresAreExact() throws {
        let result = try Vellum.run(
            ["demo", "--seconds", "4", "--rate", "1500", "--json"], environment: environment
        ).expect(0, errors: "1 s: ")
        let figures = try JSON.object(result.text)
        func count(_ name: String) throws -> Int { try #require(figures[name] as? Int, "\(name)") }
        // Regression: for the rate, a miss and the recording after it counted as one operation.
        let seconds = try #require(figures["seconds"] as? Double)
        #expect(try Double(count("operations")) <= 1500 * seconds + 150)
        #expect(try count("hits") > 100)
        #expect(try count("misses") > 50)
        #expect(try count("records") >= count("misses") - 1)
        #expect(try count("deletes") > 0)
        #expect(try count("evictions") > 0)
        #expect(
            try count("operations") == count("hits") + count("misses") + count("records") + count("deletes"))
        #expect(try count("entries") > 2000 && count("entries") < 6204 + 400)
        #expect(try count("diskBytes") <= count("diskLimit"))
        #expect(try count("footprint") > count("diskBytes"))
        let ratio = try #require(figures["hitRatio"] as? Double)
        #expect(abs(ratio - Double(try count("hits")) / Double(try count("hits") + count("misses"))) < 0.001)
        #expect(try left.isEmpty)
    }

    @Test func opensBrowserOnTerminal() throws {
        let (status, text) = try PseudoTerminal.run("demo", input: "q", environment: environment)
        #expect(status == 0)
        #expect(text.contains("\u{1b}[?1049h") && text.contains("vellum-demo-"))
        #expect(try left.isEmpty)
    }

    @Test func namedStoreIsKept() throws {
        let path = folder / "store"
        let result = try Vellum.run(["demo", "--seconds", "1.5", "--store", path], environment: environment)
        #expect(result.status == 0)
        #expect(result.lines.contains { $0.hasPrefix("hitRatio\t") })
        let list = try Vellum.run(["ls", "--json", "--store", path])
        let archives = try JSON.array(list.output)
        #expect(
            archives.map { $0["archive"] as? String }
                == ["City", "Country", "Journal", "Page", "Session", "Thumbnail"])
        #expect(archives.first?["type"] as? String == "City" && archives[2]["kind"] as? String == "log")
        // Each message of the journal matches a city of the data.
        let told = try Vellum.run(["tail", "Journal", "--raw", "-n", "100", "--store", path]).lines
        #expect(told.first == "demo     6,204 entries, 1.27 MB recorded; the limit holds half of them")
        // On a busy machine the workload may hardly have begun.
        let operations = result.lines.first { $0.hasPrefix("operations\t") }?.split(separator: "\t").last
        if try #require(operations.flatMap { Int($0) }) > 500 {
            #expect(told.contains { $0.hasPrefix("search   ") || $0.hasPrefix("map      ") })
        }
        #expect(!told.contains { $0.contains("(?)") || $0.contains(" 0 people") })
        #expect(try Vellum.run(["check", "--store", path]).status == 0)
    }

    @Test("archives have descriptive keys, owners, expiry times, and values of very different sizes")
    func archivesAreRealistic() throws {
        let path = folder / "store"
        try Vellum.run(["demo", "--seconds", "0", "--store", path], environment: environment).expect(0)
        func rows(_ arguments: String...) throws -> [[String: Any]] {
            let result = try Vellum.run(arguments + ["--json", "--store", path])
            #expect(result.status == 0, "\(arguments): \(result.errors)")
            return try result.lines.map(JSON.object)
        }
        func keys(_ archive: String) throws -> Set<String> {
            Set(try rows("keys", archive).compactMap { $0["key"] as? String })
        }
        let beginnings = [
            ("City", "city:"), ("Country", "country:"), ("Page", "page:/"), ("Session", "session:"),
            ("Thumbnail", "thumb:"),
        ]
        for (archive, beginning) in beginnings {
            let keys = try keys(archive)
            #expect(!keys.isEmpty && keys.allSatisfy { $0.hasPrefix(beginning) }, "\(archive)")
        }
        let countries = try Vellum.run(["get", "Country", "country:ID", "--json", "--store", path])
        #expect(try JSON.object(countries.text)["largest"] as? String == "Jakarta")
        #expect(try rows("keys", "Session").allSatisfy { $0["owner"] is String && $0["expires"] is Double })
        let sizes = try rows("keys", "Thumbnail").compactMap { $0["size"] as? Int }
        #expect(try #require(sizes.max()) > 1000 * #require(sizes.min()))
        // The values are images.
        let small = try #require(try keys("Thumbnail").first { $0.hasPrefix("thumb:16:") })
        let image = try Vellum.run(["get", "Thumbnail", small, "--raw", "--store", path]).output
        #expect(Array(image.prefix(4)) == [0x89, 0x50, 0x4e, 0x47] && image.count == 16 * 17 + 68)
        #expect(image.suffix(4) == Data([0xae, 0x42, 0x60, 0x82]))
    }

    @Test func refusesForeignArchive() throws {
        let path = folder / "store"
        #expect(try Vellum.run(["put", "City", "k", "--store", path], input: "1").status == 0)
        #expect(
            try Vellum.run(["demo", "--seconds", "1", "--store", path], environment: environment).status == 2)
        #expect(try Vellum.run(["keys", "City", "--store", path]).lines.count == 1)
    }

    /// Regression: a log, which has no type, was used as the demo's, and archives created before the conflict stayed.
    @Test func conflictCreatesNothing() throws {
        for arguments in [["append", "Journal", "--disk", "1MB"], ["put", "Thumbnail", "k"]] {
            let path = folder / arguments[1]
            #expect(try Vellum.run(arguments + ["--store", path], input: "1").status == 0)
            let before = try Vellum.run(["ls", "--store", path]).text
            let demo = try Vellum.run(["demo", "--seconds", "1", "--store", path], environment: environment)
            #expect(demo.status == 2 && demo.errors.contains("\(arguments[1]) already"), "\(demo.errors)")
            #expect(try Vellum.run(["ls", "--store", path]).text == before)
        }
    }

    /// Starts a long demo and waits until its workload has begun.
    private func start() async throws -> Spawned {
        let demo = try Spawned(["demo", "--seconds", "600"], environment: environment)
        try await demo.until("its first figures") { demo.errors.contains("1 s: ") }
        #expect(try left.count == 1)
        return demo
    }

    @Test func interruptPrintsFigures() async throws {
        let demo = try await start()
        demo.signal(SIGINT)
        #expect(try await demo.finish() == 130)
        #expect(demo.lines.contains { $0.hasPrefix("hitRatio\t") })
        #expect(try left.isEmpty)
    }

    @Test func workloadCleansUpAfterKill() async throws {
        let demo = try await start()
        demo.signal(SIGKILL)
        #expect(try await demo.finish() == -SIGKILL)
        try await Poll.until("removal of its store") { try left.isEmpty }
    }
}
