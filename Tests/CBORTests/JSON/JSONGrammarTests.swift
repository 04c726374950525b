import TestSupport
import CBOR
import Testing

@Suite("JSON grammar") struct JSONGrammarTests {
    @Test(
        "texts become the expected CBOR",
        arguments: [
            (" \t\r\n true \n", "f5"), ("false", "f4"), ("null", "f6"), ("[]", "80"), ("{}", "a0"),
            ("[ ]", "80"), ("{ }", "a0"), ("[1,2,3]", "83010203"), (" [ 1 , [ ] , { } ] ", "830180a0"),
            ("{\"a\":[1,2.5]}", "a161618201f94100"), ("{ \"b\" : 1 , \"a\" : 2 }", "a2616201616102"),
            ("{\"a\":1,\"a\":2}", "a2616101616102"), ("{\"\":0}", "a16000"), ("[[[]]]", "818180"),
        ])
    func valid(json: String, expected: String) throws {
        #expect(hex(try JSONTranscoder.cbor(from: json)) == expected)
    }

    @Test("reads counts and lengths of every size of head", arguments: [0, 23, 24, 255, 256, 65_535, 65_536])
    func sizes(count: Int) throws {
        let items = Array(repeating: "0", count: count).joined(separator: ",")
        #expect(try CBORValue(json: "[\(items)]") == .array(Array(repeating: 0, count: count)))
        #expect(try JSONTranscoder.cbor(from: "[\(items)]") == CBORValue(json: "[\(items)]").encoded)
        let entries = Array(repeating: "\"k\":[0]", count: count).joined(separator: ",")
        let map = try CBORValue(json: "{\(entries)}")
        #expect(map.asMap?.count == count)
        #expect(try JSONTranscoder.cbor(from: "{\(entries)}") == map.encoded)
        let text = String(repeating: "x", count: max(0, count - 1))
        for (json, end) in [("\\n", "\n"), ("z", "z")] {
            let value = try CBORValue(json: "\"\(text)\(json)\"")
            #expect(value == .text(text + end))
            #expect(try JSONTranscoder.cbor(from: "\"\(text)\(json)\"") == value.encoded)
        }
    }

    private static let x = UInt8(ascii: "x")

    @Test(
        "errors have the found byte, the expected token and the offset",
        arguments: [
            ("", 0, .unexpectedEnd(expected: .value)), ("  ", 2, .unexpectedEnd(expected: .value)),
            ("x", 0, .unexpected(found: x, expected: .value)),
            ("[x", 1, .unexpected(found: x, expected: .value)),
            ("[1,]", 3, .unexpected(found: 0x5d, expected: .value)),
            ("[1 2]", 3, .unexpected(found: 0x32, expected: .commaOrArrayEnd)),
            ("[1}", 2, .unexpected(found: 0x7d, expected: .commaOrArrayEnd)),
            ("[1", 2, .unexpectedEnd(expected: .commaOrArrayEnd)), ("[", 1, .unexpectedEnd(expected: .value)),
            ("{", 1, .unexpectedEnd(expected: .keyOrEnd)),
            ("{1:2}", 1, .unexpected(found: 0x31, expected: .keyOrEnd)),
            ("{\"a\" 1}", 5, .unexpected(found: 0x31, expected: .colon)),
            ("{\"a\"", 4, .unexpectedEnd(expected: .colon)),
            ("{\"a\":}", 5, .unexpected(found: 0x7d, expected: .value)),
            ("{\"a\":1,}", 7, .unexpected(found: 0x7d, expected: .key)),
            ("{\"a\":1]", 6, .unexpected(found: 0x5d, expected: .commaOrObjectEnd)),
            ("{\"a\":1", 6, .unexpectedEnd(expected: .commaOrObjectEnd)),
            ("1 1", 2, .unexpected(found: 0x31, expected: .end)),
            ("nul", 3, .unexpectedEnd(expected: .literal)),
            ("nulx", 3, .unexpected(found: x, expected: .literal)),
            ("truex", 4, .unexpected(found: x, expected: .end)),
            ("\u{feff}1", 0, .unexpected(found: 0xef, expected: .value)),
            ("\u{c}1", 0, .unexpected(found: 0x0c, expected: .value)),
            ("01", 1, .leadingZero), ("-01", 2, .leadingZero), ("[00.5]", 2, .leadingZero),
            ("-", 1, .unexpectedEnd(expected: .digit)), ("-x", 1, .unexpected(found: x, expected: .digit)),
            ("1.", 2, .unexpectedEnd(expected: .digit)), ("1.x", 2, .unexpected(found: x, expected: .digit)),
            (".5", 0, .unexpected(found: 0x2e, expected: .value)),
            ("+1", 0, .unexpected(found: 0x2b, expected: .value)),
            ("1e", 2, .unexpectedEnd(expected: .digit)), ("1e+", 3, .unexpectedEnd(expected: .digit)),
            ("1ex", 2, .unexpected(found: x, expected: .digit)),
            ("1.5.5", 3, .unexpected(found: 0x2e, expected: .end)),
            ("0x1", 1, .unexpected(found: x, expected: .end)),
            ("NaN", 0, .unexpected(found: 0x4e, expected: .value)),
            ("\"", 1, .unexpectedEnd(expected: .quote)), ("\"abc", 4, .unexpectedEnd(expected: .quote)),
            ("\"\\", 2, .unexpectedEnd(expected: .escape)), ("\"\\n", 3, .unexpectedEnd(expected: .quote)),
            ("\"\\x\"", 2, .unexpected(found: x, expected: .escape)),
            ("\"\\u12\"", 5, .unexpected(found: 0x22, expected: .hexDigit)),
            ("\"\\u123", 6, .unexpectedEnd(expected: .hexDigit)),
            ("\"\\ud800\"", 1, .loneSurrogate(0xd800)), ("\"\\udc00\"", 1, .loneSurrogate(0xdc00)),
            ("\"a\\ud800\\n\"", 2, .loneSurrogate(0xd800)), ("\"\\ud800\\u0041\"", 1, .loneSurrogate(0xd800)),
            ("\"\\ud800\\ud800\"", 1, .loneSurrogate(0xd800)), ("\"a\tb\"", 2, .controlCharacter(0x09)),
            ("\"\\n\n\"", 3, .controlCharacter(0x0a)), ("'a'", 0, .unexpected(found: 0x27, expected: .value)),
            ("[1,// \n2]", 3, .unexpected(found: 0x2f, expected: .value)),
        ] as [(String, Int, JSONError.Reason)])
    func invalid(json: String, offset: Int, reason: JSONError.Reason) {
        #expect(throws: JSONError(offset: offset, reason: reason)) { try JSONTranscoder.cbor(from: json) }
    }

    @Test(
        "refuses and names a repeated name where names must be unique",
        arguments: [
            ("{\"a\":1,\"a\":2}", 7, "\"a\""), ("[{\"x\":{\"b\":1,\"\\u0062\":2}}]", 13, "\"\\u0062\""),
            ("{\"\":{\"\":1},\"\":2}", 11, "\"\""),
            ("{" + (0..<40).map { "\"\($0)\":{}" }.joined(separator: ",") + ",\"7\":0}", 311, "\"7\""),
        ])
    func repeatedNames(json: String, offset: Int, name: String) throws {
        #expect(throws: JSONError(offset: offset, reason: .repeatedName(name))) {
            try JSONTranscoder.cbor(from: Array(json.utf8), uniqueNames: true)
        }
        #expect(throws: Never.self) { try JSONTranscoder.cbor(from: json) }
    }

    @Test("names are unique within an object, not within its parts", arguments: [0, 1, 15, 16, 17, 40])
    func uniqueNames(count: Int) throws {
        let part = "{" + (0..<count).map { "\"\($0)\":0" }.joined(separator: ",") + "}"
        let json = "{\"0\":\(part),\"1\":[\(part),\(part)],\"e\u{301}\":0,\"\u{e9}\":1}"
        let cbor = try JSONTranscoder.cbor(from: Array(json.utf8), uniqueNames: true)
        let plain = try JSONTranscoder.cbor(from: json)
        #expect(cbor == plain)
    }

    @Test("errors read as sentences") func descriptions() {
        #expect(
            JSONError(offset: 3, reason: .unexpected(found: 0x5d, expected: .value)).description
                == "byte 3: found ']', expected a value")
        #expect(
            JSONError(offset: 0, reason: .unexpected(found: 0xef, expected: .key)).description
                == "byte 0: found byte 0xef, expected a key in quotes")
        #expect(
            JSONError(offset: 1, reason: .loneSurrogate(0xd800)).description
                == "byte 1: found half a surrogate pair, \\ud800")
    }

    @Test("after an error the writer has its previous content") func rollback() {
        var writer = CBORWriter()
        writer.write("kept")
        let before = writer.bytes
        for json in ["[1,2,{\"a\":\"\\n", "[1] x"] {
            _ = Array(json.utf8).withUnsafeBytes { bytes in
                #expect(throws: JSONError.self) { try JSONTranscoder.transcode(bytes, into: &writer) }
            }
            #expect(writer.bytes == before)
        }
    }

    @Test(
        "reads nesting up to the limit and refuses one level more",
        arguments: [("[", "]"), ("{\"a\":", "}")])
    func nesting(open: String, close: String) throws {
        let limit = JSONTranscoder.maximumDepth
        func nest(_ depth: Int) -> String {
            String(repeating: open, count: depth) + "-0.123456789012345678901234567890123"
                + String(repeating: close, count: depth)
        }
        #expect(try CBORValue(json: nest(limit)).json() == nest(limit))
        let error = JSONError(offset: open.utf8.count * limit, reason: .nestingTooDeep(limit: limit))
        #expect(throws: error) { try CBORValue(json: nest(limit + 1)) }
        #expect(throws: error) { try CBORValue(json: nest(1_000_000)) }
    }

    @Test("20,000 damaged texts are refused or read and printed again") func mutated() throws {
        var generator = SeededGenerator.announced("damaged JSON")
        let originals = (0..<200).map { _ in Array(CBORValue.random(depth: 2, using: &generator).json().utf8)
        }
        .filter { $0.count < 400 }
        for _ in 0..<20_000 {
            guard var input = originals.randomElement(using: &generator) else { return }
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let place = Int.random(in: 0...input.count, using: &generator)
                let byte = generator.next() % (Bool.random(using: &generator) ? 256 : 128)
                if place < input.count, Bool.random(using: &generator) {
                    input[place] = UInt8(byte)
                } else {
                    input.insert(UInt8(byte), at: place)
                }
            }
            guard let cbor = try? JSONTranscoder.cbor(from: input) else { continue }
            let text = try JSONPrinter.text(of: cbor)
            let again = try JSONTranscoder.cbor(from: Array(text.utf8), uniqueNames: false, readsBytes: true)
            if again != cbor { Issue.record("\(hex(input)) became \(text)") }
        }
    }
}
