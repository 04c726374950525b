import TestSupport
import ArchiveQuery
import CBOR
import Foundation
import Testing

/// Compares answers with those of a Python program that was written from the language's description.
@Suite("An independent reader of queries") struct IndependentReaderTests {
    private static let python = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":")
        .map { $0 + "/python3" }.first(where: FileManager.default.isExecutableFile(atPath:))
    /// A soak runs ten thousand, or the number in `VELLUM_TEST_QUERIES`.
    private static let count =
        ProcessInfo.processInfo.environment["VELLUM_TEST_QUERIES"].flatMap(Int.init)
        ?? (Soak.seconds == 0 ? 300 : 10_000)

    /// The script's answers, a JSON array each.
    private func answers(_ documents: [String], _ queries: [String]) throws -> [NSArray] {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Reader/queries.py")
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func file(_ name: String, _ lines: [String]) throws -> URL {
            let url = folder.appendingPathComponent(name)
            try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: url)
            return url
        }
        let words = [
            script.path, try file("documents", documents).path, try file("queries", queries).path,
        ]
        let outcome = try ChildProcess.run(String(try #require(Self.python)), words)
        try #require(outcome.status == 0, "\(outcome.errors)")
        return try outcome.output.split(separator: UInt8(ascii: "\n")).map {
            try #require(try JSONSerialization.jsonObject(with: $0) as? NSArray)
        }
    }

    /// The library's answer.
    private func answer(_ query: String, _ source: ListSource) throws -> NSArray {
        let plan = QueryPlan(try QueryPipeline(query))
        let rows = try plan.rows(of: source).rows.map { row in
            if plan.columns == nil { return "\"\(row.entry?.key ?? "")\"" }
            let columns = try row.columns.map { try $0.map { try JSONPrinter.text(of: $0) } ?? "null" }
            return "[" + columns.joined(separator: ",") + "]"
        }
        let text = "[" + rows.joined(separator: ",") + "]"
        // Of equal texts any may be shown.
        let plain = Data(text.precomposedStringWithCanonicalMapping.utf8)
        return try #require(try JSONSerialization.jsonObject(with: plain) as? NSArray)
    }

    private func compare(_ documents: [String], _ queries: [String]) throws {
        let source = try ListSource(json: documents)
        let answers = try answers(documents, queries)
        #expect(answers.count == queries.count)
        var matched = 0
        for (query, expected) in zip(queries, answers) {
            let found = try answer(query, source)
            #expect(found == expected, "\(query)")
            if found.count > 0 { matched += 1 }
        }
        // At least a third of the queries must match something.
        #expect(matched * 3 > queries.count)
    }

    @Test("answers queries of the cities like the script", .enabled(if: python != nil, "needs python3"))
    func cities() throws {
        let path = URL(fileURLWithPath: #filePath).appendingPathComponent(
            "../../../../Assets/demo/cities.ndjson"
        ).standardized
        let all = try String(contentsOf: path, encoding: .utf8).split(separator: "\n").map(String.init)
        // Every tenth city keeps this ten times faster.
        let documents = all.enumerated().filter { $0.offset % 10 == 0 }.map(\.element)
        var queries = CityQueries(random: .announced("queries of cities"))
        try compare(documents, (0..<Self.count).map { _ in queries.pipeline() })
    }

    @Test("answers queries of nested documents like the script", .enabled(if: python != nil, "needs python3"))
    func nested() throws {
        var random = SeededGenerator.announced("queries of nested documents")
        let documents = (0..<200).map { _ in NestedDocument.text(using: &random) }
        var queries = NestedQueries(random: random)
        try compare(documents, (0..<Self.count).map { _ in queries.pipeline() })
    }
}
