import CacheSimulation
import Testing

@Suite("parsing of traces")
struct TraceParserTests {
    /// Parses the text in pieces of a length.
    private func parse(_ text: String, pieces: Int = 1 << 20) throws -> [Request] {
        var requests: [Request] = []
        var parser = TraceParser()
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            let piece = Array(bytes[start..<min(bytes.count, start + pieces)])
            try piece.withUnsafeBytes { try parser.read($0) { requests.append($0) } }
        }
        try parser.end { requests.append($0) }
        return requests
    }

    @Test("keys and sizes are read from lines in pieces of any length", arguments: [1, 2, 7, 1000])
    func lines(pieces: Int) throws {
        let text = "a\n# no key\n\nb 5\r\nc\t7\né,8\na , 0 \nlast"
        let found = try parse(text, pieces: pieces)
        #expect(found.map(\.size) == [0, 5, 7, 8, 1, 0])
        #expect(found.map(\.hash) == ["a", "b", "c", "é", "a", "last"].map { Request.hash($0.utf8) })
    }

    @Test(
        "a malformed line is an error with its number",
        arguments: [
            ("a -1", TraceParser.Fault.Kind.badSize), ("a b", .badSize), ("a 1 2", .badSize),
            ("a,", .badSize),
            ("a 9223372036854775808", .badSize), (" a", .noKey), (",5", .noKey),
            (String(repeating: "a", count: TraceParser.longestLine + 1), .longLine),
        ])
    func faults(line: String, kind: TraceParser.Fault.Kind) {
        for pieces in [5, 1 << 20] {
            for end in ["", "\n"] {
                #expect(throws: TraceParser.Fault(kind: kind, line: 3)) {
                    try parse("k 1\n\n" + line + end, pieces: pieces)
                }
            }
        }
    }
}
