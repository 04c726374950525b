import ArchiveQuery
import CBOR
import Foundation
import StorageEngine
import StoreInspection
import Testing

/// Examples with the same result in the library, the command line and the browser.
@Suite("front ends agree")
struct FrontEndTests {
    let store = TestStore()

    /// The last screen of the browser after these keys.
    private func screen(_ keys: String, environment: [String: String] = [:]) throws -> String {
        let result = try Vellum.run(
            ["browse", "--store", store.path, "--size", "160x40", "--keys", keys, "--print", "text"],
            environment: environment)
        #expect(result.status == 0, "\(keys): \(result.errors)")
        return result.text
    }

    private func literal(_ text: String) -> QueryLiteral? {
        guard case .pipeline(let pipeline) = QueryPipeline.parse("find @ttl < \(text)"),
            case .find(.compare(_, _, let literal))? = pipeline.stages.first
        else { return nil }
        return literal
    }

    private func archive(_ body: (Archive) throws -> Void) throws {
        let opened = try Store.open(at: store.path)
        defer { opened.close() }
        try body(opened.collection("A"))
    }

    // MARK: Durations

    @Test(
        arguments: [
            ("90s", 90_000_000, "90s"), ("500ms", 500_000, "500ms"), ("5m", 300_000_000, "5m"),
            ("1h30m", 5_400_000_000, "1h30m"), ("1.5h", 5_400_000_000, "1h30m"),
            ("2w", 1_209_600_000_000, "14d"), ("3d", 259_200_000_000, "3d"), ("2.5s", 2_500_000, "2.5s"),
            ("1h0.5s", 3_600_500_000, "1h500ms"),
        ] as [(String, Int64, String)])
    func durations(text: String, microseconds: Int64, shown: String) throws {
        #expect(literal(text) == .duration(microseconds: microseconds))
        #expect(literal(text).map { "\($0)" } == shown)
        #expect(try DurationText.interval(text) == .microseconds(microseconds))
        try store.done("put", "A", "k", input: "[1]")
        try store.done("expire", "A", "k", "--in", text, "--yes")
        let story = try JSON.object(try store.done("why", "A", "k", "--json").text)
        let changed = try #require((story["events"] as? [[String: Any]])?.last?["time"] as? Double)
        let meta = story["meta"] as? [String: Any]
        let deadline = try #require((meta?["expires"] ?? story["expired"]) as? Double)
        #expect(abs(deadline - changed - Double(microseconds) / 1e6) < 0.05)
        try store.done("put", "A", "k", input: "[1]")
        #expect(try screen("<enter>x<ctrl+u>\(text)<enter>").contains("Expire 1 entry in \(shown)?"))
    }

    @Test(arguments: ["5", "5x", "1h30", "h", "1h-5m", "5.m", "0.5"])
    func refusesOtherDurations(text: String) throws {
        if case .duration = literal(text) { Issue.record("a query takes \(text)") }
        #expect(throws: DurationFault.self) { try DurationText.interval(text) }
        try store.done("put", "A", "k", input: "[1]")
        let result = try store.run("expire", "A", "k", "--in", text, "--yes")
        #expect(result.status == 2 && result.errors.contains("; write 500ms, 90s, 5m, 1h30m"))
        let picture = try screen("<enter>x<ctrl+u>\(text)<enter>")
        #expect(!picture.contains("Expire 1 entry in") && picture.contains("; write 500ms"), "\(picture)")
    }

    // MARK: Sizes

    @Test(
        arguments: [
            ("20MB", 20_000_000, "20 MB"), ("64KiB", 65_536, "65.5 kB"), ("1.5kb", 1500, "1.5 kB"),
            ("4096B", 4096, "4.1 kB"), ("2TB", 2_000_000_000_000, "2 TB"),
        ] as [(String, UInt64, String)])
    func sizes(text: String, bytes: UInt64, shown: String) throws {
        #expect(literal(text) == .size(bytes: bytes))
        #expect(SizeText.bytes(text) == bytes)
        #expect(Figures.bytes(bytes) == shown)
        // The memory limit of a process may exceed the disk limit.
        try store.done("put", "A", "k", "--memory", text, input: "1")
        #expect(try store.archives()["A"]?["memoryLimit"] as? UInt64 == bytes)
        let (_, list) = try PseudoTerminal.run("ls --store '\(store.path)'")
        #expect(list.contains(" \(shown) "))
        #expect(try screen("").contains("of \(shown) "))
    }

    @Test(arguments: ["20XB", "1.5B", "MB", "1e3KB"])
    func refusesOtherSizes(text: String) throws {
        if case .size = literal(text) { Issue.record("a query takes \(text)") }
        #expect(SizeText.bytes(text) == nil)
        #expect(try store.run("put", "A", "k", "--memory", text, input: "1").status == 2)
    }

    // MARK: Values

    struct Example: Sendable, CustomStringConvertible {
        let name: String
        let bytes: [UInt8]
        var encoding = ValueEncoding.unknown
        let form: ValueForm
        /// Its JSON.
        let json: String
        /// Texts on the screen of the value.
        let seen: [String]

        var description: String { name }
    }

    static let examples: [Example] = [
        Example(
            name: "JSON behind a space", bytes: Array(" {\"a\":[1]}".utf8), form: .json, json: #"{"a":[1]}"#,
            seen: ["JSON, 10 B", "a: 1 item"]),
        Example(
            name: "JSON", bytes: Array("[true]".utf8), encoding: .json, form: .json, json: "[true]",
            seen: ["JSON, 6 B", "0: true"]),
        Example(
            name: "CBOR", bytes: [0xa1, 0x61, 0x61, 0x01], form: .cbor, json: #"{"a":1}"#,
            seen: ["CBOR, 4 B", "a: 1"]),
        Example(
            name: "text", bytes: Array("plain".utf8), form: .text, json: "\"plain\"",
            seen: ["text, 5 B", "plain"]),
        Example(
            name: "text that looks like JSON", bytes: Array("[1]".utf8), encoding: .text, form: .text,
            json: "\"[1]\"", seen: ["text, 3 B", "[1]"]),
        Example(
            name: "a text with a control", bytes: Array("a\u{1}".utf8), form: .text, json: #""a\u0001""#,
            seen: ["text, 2 B"]),
        Example(
            name: "bytes", bytes: [0xff, 0x00, 0xfe], form: .bytes, json: "\"h'ff00fe'\"",
            seen: ["bytes, 3 B", "ff 00 fe"]),
        Example(
            name: "a property list in XML",
            bytes: Array(
                """
                <?xml version="1.0" encoding="UTF-8"?>
                <plist version="1.0"><dict><key>a</key><integer>7</integer></dict></plist>
                """.utf8), form: .propertyList, json: #"{"a":7}"#, seen: ["property list, ", "a: 7"]),
        Example(
            name: "a binary property list", bytes: binaryList(["a": 7]), encoding: .propertyList,
            form: .propertyList, json: #"{"a":7}"#, seen: ["property list, ", "a: 7"]),
    ]

    private static func binaryList(_ value: Any) -> [UInt8] {
        let data = try? PropertyListSerialization.data(fromPropertyList: value, format: .binary, options: 0)
        return Array(data ?? Data())
    }

    @Test(arguments: examples)
    func values(example: Example) throws {
        try archive { try $0.put(example.bytes, forKey: "k", encoding: example.encoding) }
        let value = RecognizedValue(example.bytes, encoding: example.encoding)
        #expect(value.form == example.form && value.problem == nil)
        #expect(String(decoding: try value.json(.compact), as: UTF8.self) == example.json)
        #expect(try store.done("get", "A", "k", "--json").text == example.json + "\n")
        #expect(try store.done("query", "A", "--json").text == "{\"key\":\"k\",\"value\":\(example.json)}\n")
        #expect(try store.done("export", "A").text == example.json + "\n")
        let picture = try screen("<enter><enter>")
        for part in example.seen { #expect(picture.contains(part), "\(picture)") }
    }

    @Test("a value that contradicts its encoding is reported and shown") func reportsWrongEncoding() throws {
        try archive { try $0.put(Array("{oops".utf8), forKey: "k", encoding: .json) }
        #expect(
            RecognizedValue(Array("{oops".utf8), encoding: .json).problem?.hasPrefix("not valid JSON") == true
        )
        let result = try store.done("get", "A", "k")
        #expect(result.text == "{oops\n" && result.errors.hasPrefix("vellum: \"k\": not valid JSON"))
        #expect(
            try store.run("query", "A", "find a is not null").errors.contains(
                "1 value is not in the declared encoding"))
        let picture = try screen("<enter><enter>")
        #expect(picture.contains("not valid JSON") && picture.contains("{oops"))
    }

    // MARK: Events

    @Test func events() throws {
        try store.done("put", "A", "k", "--disk", "100B", input: "[1]")
        try store.done("put", "A", "k", input: "[2]")
        try store.done("expire", "A", "k", "--in", "1h", "--yes")
        try store.done("rm", "A", "k", "--yes")
        try store.done("undo", "A")
        try store.done("expire", "A", "k", "--now", "--yes")
        _ = try store.run("put", "A", "large", input: "\"" + String(repeating: "x", count: 200) + "\"")
        let kinds: [EventKind] = [.record, .record, .deadline, .delete, .restore, .expiry, .rejection]
        var seen: [EventKind] = []
        try archive { seen = try $0.events(from: nil).events.map(\.kind) }
        #expect(seen == kinds)
        let lines = try store.done("watch", "A", "--from-start", "--seconds", "0", "--json").lines
        #expect(try lines.map { try JSON.object($0)["event"] as? String } == kinds.map(\.word))
        #expect(try lines.map { try JSON.object($0)["cause"] as? String }.last == EventCause.tooLarge.word)
        let picture = try screen("E")
        for kind in kinds { #expect(picture.contains(" \(kind.label) "), "\(kind): \(picture)") }
        #expect(picture.contains(try #require(EventCause.tooLarge.label(of: .rejection))))
        let (_, story) = try PseudoTerminal.run("why A k --store '\(store.path)'")
        for kind in kinds.dropLast() { #expect(story.contains("  \(kind.label)"), "\(story)") }
    }

    // MARK: Results of queries

    @Test(arguments: ["sort @key", "sort @key | select n, t, d, @size", "group by t | count, sum n"])
    func results(query: String) throws {
        try archive { archive in
            for (key, text) in [("a", "x,\u{301}"), ("b", "1"), ("c", "[2]")] {
                let value: CBORValue = [
                    "n": .float(1.5), "t": .text(text), "d": .tagged(1, .unsigned(1_770_000_000)),
                    "list": .array([1, 2]),
                ]
                try archive.put(value.encoded, forKey: key, encoding: .cbor)
            }
        }
        for (format, option) in [("csv", "--csv"), ("ndjson", "--json")] {
            let path = store.folder / "out.\(format)"
            _ = try screen("Q\(query)<enter>w<ctrl+u>\(path)<enter>")
            let file = try String(contentsOfFile: path, encoding: .utf8)
            #expect(try store.done("query", "A", query, option).text == file)
        }
        let (_, table) = try PseudoTerminal.run("query A '\(query)' --store '\(store.path)'", columns: 160)
        let titles = try #require(table.split(whereSeparator: \.isNewline).first).split(separator: " ")
        let picture = try screen("Q\(query)<enter>")
        let header = picture.split(separator: "\n").map { $0.split(separator: " ").map { $0.uppercased() } }
        #expect(header.contains(titles.map { $0.uppercased() }), "\(titles) \(picture)")
        // The cells below, without marks of absent values.
        func cells(_ line: Substring) -> [String] {
            line.split { $0.isWhitespace }.map(String.init).filter { $0 != "-" }
        }
        let rows = table.split(whereSeparator: \.isNewline).dropFirst().map(cells)
        let seen = picture.split(separator: "\n").map(cells)
        #expect(!rows.isEmpty)
        for row in rows { #expect(seen.contains(row), "\(row) \(picture)") }
    }

    // MARK: Messages of a log

    @Test(
        arguments: [
            (Array("plain".utf8), #""text":"plain""#, "plain"),
            (Array("a\u{0}b".utf8), #""text":"a\u0000b""#, #"a\0b"#),
            (Array("日本".utf8), #""text":"日本""#, "日本"), ([0xff, 0x01], #""data":"/wE=""#, "ff 01"),
        ] as [([UInt8], String, String)])
    func messages(bytes: [UInt8], json: String, seen: String) throws {
        let opened = try Store.open(at: store.path)
        defer { opened.close() }
        try opened.archive(named: "L", orCreate: ArchiveConfiguration(kind: .log, diskLimit: 1000)).append(
            bytes)
        #expect(try store.done("tail", "L", "--json").text.hasSuffix(",\(json)}\n"))
        #expect((MessageText.text(bytes) == nil) == json.hasPrefix("\"data\""))
        let picture = try screen("<enter>")
        #expect(picture.contains(" \(seen)"), "\(picture)")
    }

    // MARK: Times

    /// In the local time zone on screens, in seconds for programs.
    @Test(arguments: [("Asia/Tokyo", 9.0), ("UTC", 0.0)])
    func times(zone: String, hours: Double) throws {
        try store.done("put", "A", "k", input: "[1]")
        let entry = try JSON.object(try store.done("keys", "A", "--json").text)
        let created = try #require(entry["created"] as? Double)
        let form = DateFormatter()
        form.locale = Locale(identifier: "en_US_POSIX")
        form.timeZone = TimeZone(secondsFromGMT: Int(hours * 3600))
        form.dateFormat = "yyyy-MM-dd HH:mm:ss"
        let shown = form.string(from: Date(timeIntervalSince1970: created.rounded(.down)))
        let own = ["TZ": zone]
        let (_, story) = try PseudoTerminal.run("why A k --store '\(store.path)'", environment: own)
        #expect(story.contains("created   \(shown), "), "\(story)")
        #expect(story.contains("  \(shown)  2 B  recorded by "), "\(story)")
        #expect(try screen("<enter><enter>", environment: own).contains("created \(shown)"))
        let history = try screen("<enter><enter>b", environment: own)
        #expect(history.contains("created   \(shown), "), "\(history)")
        #expect(history.contains("\(shown)  2 B  recorded by "), "\(history)")
        #expect(try screen("E", environment: own).contains("\(shown.suffix(8)) "))
        let (_, table) = try PseudoTerminal.run(
            "query A 'select @created' --store '\(store.path)'", environment: own)
        let asked = try screen("Qselect @created<enter>", environment: own)
        #expect(table.contains(shown) == asked.contains(shown), "\(table) \(asked)")
    }

    // MARK: Counts

    @Test func counts() throws {
        try archive { archive in
            for number in 0..<1204 { try archive.put([0x01], forKey: "k\(number)", encoding: .cbor) }
        }
        let (_, stats) = try PseudoTerminal.run("stats A --store '\(store.path)'")
        #expect(stats.contains("1,204\r\n") && stats.contains("1,204 records, 0 deletes"), "\(stats)")
        let picture = try screen("")
        #expect(
            picture.contains("1,204 entries") && picture.contains("1,204 records, 0 deletes"), "\(picture)")
        #expect(
            try store.done("rm", "A", "--all", "--dry-run").text == "would delete 1,204 entries, 1.2 kB\n")
        #expect(try screen("<enter>MD").contains("1,204 entries, 1.2 kB, in A"))
    }

    // MARK: Plans and undo

    @Test(
        arguments: [
            (["rm"], "D", "delete 2 entries", "deleted 2 entries, 4 B"),
            (["expire", "--now"], "x<down><enter>", "expire 2 entries", "expired 2 entries, 4 B"),
            (
                ["expire", "--in", "2h"], "x<ctrl+u>2h<enter>", "expire 2 entries",
                "set 2 entries, 4 B to expire in 2h"
            ),
        ] as [([String], String, String, String)])
    func plans(words: [String], keys: String, plan: String, outcome: String) throws {
        func fill() throws {
            for key in ["a", "b"] { try store.done("put", "A", key, input: "[1]") }
        }
        let command = [words[0], "A", "a", "b", "--store", store.path] + words.dropFirst()
        try fill()
        #expect(try Vellum.run(command + ["--dry-run"]).text.hasPrefix("would \(plan)"))
        #expect(try Vellum.run(command + ["--yes"]).errors.hasPrefix(outcome + "\n"))
        let restored =
            words.contains("--in") ? "restored the expiry times of 2 entries, 4 B" : "restored 2 entries, 4 B"
        #expect(try store.done("undo", "A").errors.hasPrefix(restored))
        try fill()
        let picture = try screen("<enter>M\(keys)")
        #expect(picture.contains(plan.prefix(1).uppercased() + plan.dropFirst()), "\(picture)")
        let done = try screen("<enter>M\(keys)y")
        #expect(done.contains(outcome.prefix(1).uppercased() + outcome.dropFirst()), "\(done)")
        let undone = try screen("<enter>uy")
        #expect(undone.contains(restored.prefix(1).uppercased() + restored.dropFirst()), "\(undone)")
    }
}
