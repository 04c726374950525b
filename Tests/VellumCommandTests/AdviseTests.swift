import Foundation
import StorageEngine
import Testing

@Suite("advise")
struct AdviseTests {
    private let folder = TemporaryFolder()

    private func advise(_ trace: String, _ options: String...) throws -> Vellum.Result {
        try Vellum.run(["advise", "--trace", "-"] + options, input: trace)
    }

    @Test("JSON has the points in the order of limits, then of policies")
    func json() throws {
        let path = try folder.file("trace", "a\nb\na\nc\na\nb\n")
        let result = try Vellum.run([
            "advise", "--trace", path, "--limits", "2,1", "--policies", "opt,lru", "--json",
        ]).expect(0)
        let object = try JSON.object(result.text)
        #expect(object["requests"] as? Int == 6 && object["keys"] as? Int == 3)
        let points = try #require(object["points"] as? [[String: Any]])
        #expect(points.map { $0["limit"] as? Int } == [2, 2, 1, 1])
        #expect(points.map { $0["policy"] as? String } == ["opt", "lru", "opt", "lru"])
        let ratios = points.map { $0["hitRatio"] as? Double ?? -1 }
        #expect(zip(ratios, [0.5, 1.0 / 3, 1.0 / 3, 0]).allSatisfy { abs($0 - $1) < 1e-5 }, "\(ratios)")
    }

    @Test("limits in bytes have units, and default to powers of two")
    func limits() throws {
        let bytes = try advise(
            "a 600\nb 600\na 600\n", "--unit", "bytes", "--limits", "1kB,1KiB,2kB", "--json")
        let points = try #require(JSON.object(bytes.expect(0).text)["points"] as? [[String: Any]])
        #expect(points.map { $0["limit"] as? Int ?? 0 }.filter { $0 == 1024 }.count == 5)
        let trace = (0..<1000).map { "\($0)\n" }.joined()
        let chosen = try advise(trace, "--policies", "lru", "--json").expect(0).text
        let defaults = try #require(JSON.object(chosen)["points"] as? [[String: Any]])
        #expect(defaults.map { $0["limit"] as? Int } == [8, 16, 32, 64, 128, 256, 512, 1024])
    }

    @Test("text marks one policy for each limit, and draws with characters of the locale")
    func text() throws {
        let trace = (0..<400).map { "\($0 * $0 % 97)\n" }.joined()
        for (locale, isASCII) in [("C", true), ("C.UTF-8", false)] {
            let result = try Vellum.run(
                ["advise", "--trace", "-", "--limits", "4,16,64"], input: trace,
                environment: ["LC_ALL": locale])
            let text = result.expect(0).text
            #expect(text.count { $0 == "*" } >= 3 && text.allSatisfy(\.isASCII) == isASCII, "\(text)")
        }
    }

    @Test(
        "errors name the input and the line",
        arguments: [
            ("a\n", ["--policies", "lru,arc"], 2, "\"arc\""), ("a\n", ["--limits", "0"], 2, "\"0\""),
            ("a\n", ["--limits", "5MB"], 2, "--unit bytes"), ("a 1\nb\n", ["--unit", "bytes"], 2, "line 2"),
            ("a\n", ["--sampling", "0"], 2, "--sampling"), ("# no key\n\n", [], 1, "no requests"),
            ("a 1\nb -1\n", [], 1, "line 2"), ("a\n", ["--trace", "/nonexistent"], 2, "/nonexistent"),
        ] as [(String, [String], Int32, String)])
    func errors(trace: String, options: [String], status: Int32, named: String) throws {
        let result = try Vellum.run(
            ["advise"] + (options.first == "--trace" ? [] : ["--trace", "-"]) + options, input: trace)
        result.expect(status, errors: named)
        #expect(result.output.isEmpty && result.errors.hasPrefix("vellum: "))
    }

    private func cache(reads: Int) throws -> String {
        let path = folder.path + "/store"
        let archive = try Store.open(at: path).archive(
            named: "City", orCreate: ArchiveConfiguration(kind: .cache, diskLimit: 2000))
        for number in 0..<reads {
            let key = "city:\(number * number % 97)"
            if try archive.access(key) == nil {
                try archive.put([UInt8](repeating: 1, count: 100), forKey: key)
            }
        }
        return path
    }

    @Test("advises on an archive, with the command that applies the advice")
    func archive() throws {
        let store = try cache(reads: 1200)
        let text = try Vellum.run(["advise", "--store", store, "City"]).expect(0).text
        #expect(text.contains("City: limit 2 kB, LRU") && text.contains("4 kB"), "\(text)")
        let object = try JSON.object(Vellum.run(["advise", "-s", store, "City", "--json"]).expect(0).text)
        #expect(object["limit"] as? Int == 2000 && (500...900).contains(object["requests"] as? Int ?? 0))
        let points = try #require(object["points"] as? [[String: Any]])
        #expect(Set(points.compactMap { $0["limit"] as? Int }).count == 9)
        #expect(Set(points.compactMap { $0["policy"] as? String }).count == 5)
        let options = try #require(object["resize"] as? String)
        #expect(text.contains("vellum resize --store \(store) \(options) City"))
        _ = try Vellum.run(["resize", "-s", store, "City"] + options.split(separator: " ").map(String.init))
            .expect(0)
    }

    @Test("an exported trace has the same hit ratio")
    func exportedTrace() throws {
        let store = try cache(reads: 1200)
        let path = folder.path + "/trace"
        _ = try Vellum.run(["advise", "-s", store, "City", "--export-trace", path]).expect(0)
        let trace = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        #expect(trace.count == 1200 && trace.allSatisfy { $0.hasSuffix(" 100") })
        let replayed = try JSON.object(
            Vellum.run([
                "advise", "--trace", path, "--unit", "bytes", "--limits", "2000", "--policies", "lru",
                "--json",
            ]).expect(0).text)
        let points = try #require(replayed["points"] as? [[String: Any]])
        let status = try Store.open(at: store).archive(named: "City").status()
        let ratio = Double(status.hits) / Double(status.hits + status.misses)
        #expect(abs((points[0]["hitRatio"] as? Double ?? -1) - ratio) < 1e-5)
    }

    @Test("an archive without requests or without a limit is an error that says so")
    func absent() throws {
        let store = folder.path + "/other"
        let opened = try Store.open(at: store)
        _ = try opened.archive(named: "Free", orCreate: ArchiveConfiguration(kind: .collection))
        try Vellum.run(["advise", "-s", store, "Free"]).expect(2, errors: "no disk limit")
        try Vellum.run(["advise", "-s", store]).expect(2, errors: "pass an archive")
        try Vellum.run(["advise", "-s", store, "Free", "--unit", "entries"]).expect(2, errors: "bytes")
        try Vellum.run(["advise", "--trace", "-", "--export-trace", "x"]).expect(2, errors: "--export-trace")
    }

    @Test("an archive whose requests can't be recorded is an error that names the obstacle")
    func unusableTrace() throws {
        let store = try cache(reads: 5)
        let path = store + "/City.archive/requests"
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        let result = try Vellum.run(["advise", "-s", store, "City"])
        #expect(result.status != 0 && result.errors.contains(path), "\(result)")
    }

    @Test("SIEVE isn't the best policy of a sample, which overstates it")
    func sampledSIEVE() throws {
        // Each key is read twice soon, and once later: SIEVE is best.
        let trace = (0..<60_000).map { "\($0)\n\($0)\n\(max(0, $0 - 9000))\n" }.joined()
        func stars(_ options: String...) throws -> [[Bool]] {
            let all = ["advise", "--trace", "-", "--limits", "12000", "--policies", "lru,sieve"] + options
            let text = try Vellum.run(all, input: trace).expect(0).text
            let row = text.split(separator: "\n").first { $0.contains("12,000") && $0.contains("%") } ?? ""
            return [row.split(separator: " ").filter { $0.contains("%") }.map { $0.hasSuffix("*") }]
        }
        #expect(try stars("--sampling", "20") == [[true, false]])
    }
}
