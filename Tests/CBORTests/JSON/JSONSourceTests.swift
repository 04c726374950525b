import CBOR
import Testing

@Suite("JSON in pieces") struct JSONSourceTests {
    private func printed(
        _ source: JSONSource, _ layout: JSONLayout = .compact, isBare: Bool = false
    ) throws -> (text: String, longest: Int) {
        var (bytes, longest): ([UInt8], Int) = ([], 0)
        let isDone = try source.print(layout, isBare: isBare) { piece in
            longest = max(longest, piece.count)
            bytes += piece
            return true
        }
        #expect(isDone)
        return (String(decoding: bytes, as: UTF8.self), longest)
    }

    static let texts = [
        "null", " [ ] ", "{}", "[1, 2.50 ,-0,1e5, 123456789012345678901234567890, 0.1e-400]",
        #"{"a\u00e9" : {"b": [true,false,null, {}], "a": "x\ny\u007f"}, "": "\ud83d\ude00"}"#,
        "\"" + String(repeating: "a\\\"b é 😀 \\u0085", count: 20_000) + "\"",
        "[" + String(repeating: "[],", count: 100_000) + "{\"" + String(repeating: "k", count: 100_000)
            + "\":1}]",
    ]

    @Test("text and CBOR printed in pieces equal those printed whole", arguments: texts.indices)
    func equalsTheWhole(number: Int) throws {
        let text = JSONSourceTests.texts[number]
        let item = try JSONTranscoder.cbor(from: text)
        for layout in [JSONLayout.compact, .pretty] {
            let whole = try JSONPrinter.text(of: item, layout: layout)
            let fromItem = try item.withUnsafeBytes { try printed(.cbor($0), layout) }
            let fromText = try Array(text.utf8).withUnsafeBytes { try printed(.json($0), layout) }
            #expect(fromItem.text == whole)
            #expect(fromText.text == whole)
            #expect(max(fromItem.longest, fromText.longest) < 512 << 10)
        }
    }

    @Test(
        "finds the error that a conversion finds",
        arguments: [
            "", "[1,", "{\"a\" 1}", "{1:2}", "{\"a\":1,}", "[01]", "\"\\x\"", "\"\u{1}\"", "\"abc",
            "\"\\ud800\"", "1 2", "tru", String(repeating: "[", count: 600),
        ])
    func sameErrors(text: String) {
        let bytes = Array(text.utf8)
        var expected: JSONError?
        do throws(JSONError) { _ = try JSONTranscoder.cbor(from: bytes) } catch { expected = error }
        #expect(expected != nil && bytes.withUnsafeBytes { $0.jsonProblem } == expected)
    }

    @Test("prints strings of indefinite length") func indefiniteStrings() throws {
        let bytes: [UInt8] = [0x5f, 0x41, 1, 0x42, 2, 3, 0x40, 0x44, 4, 5, 6, 7, 0xff]
        #expect(try bytes.withUnsafeBytes { try printed(.cbor($0)).text } == "\"h'01020304050607'\"")
        let text: [UInt8] = [0x7f, 0x61, 0x61, 0x62, 0xc3, 0xa9, 0xff]
        #expect(try text.withUnsafeBytes { try printed(.cbor($0)).text } == "\"aé\"")
        #expect(try text.withUnsafeBytes { try printed(.cbor($0), isBare: true).text } == "aé")
    }

    @Test("prints a text without quotes and escapes") func bareTexts() throws {
        let json = Array(#" "a\"é\u0041\n" "#.utf8)
        #expect(try json.withUnsafeBytes { try printed(.json($0), isBare: true).text } == "a\"éA\n")
        #expect(json.withUnsafeBytes { JSONSource.json($0).isText })
        #expect(!Array("[1]".utf8).withUnsafeBytes { JSONSource.json($0).isText })
    }

    @Test("stops when the sink is full") func stops() throws {
        let long = [UInt8](repeating: 0x61, count: 1 << 20)
        for source in [JSONSource.text, JSONSource.bytes] {
            var pieces = 0
            let isDone = try long.withUnsafeBytes { bytes in
                try source(bytes).print { _ in
                    pieces += 1
                    return false
                }
            }
            #expect(!isDone && pieces == 1)
        }
    }

    @Test("splits no character") func piecesAreText() throws {
        let long = Array(String(repeating: "a語😀", count: 100_000).utf8)
        try long.withUnsafeBytes { bytes in
            _ = try JSONSource.text(bytes).print { piece in
                #expect(piece.isUTF8)
                return true
            }
        }
    }
}
