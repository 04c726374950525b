import TestSupport
import CBOR
import Testing

@Suite("JSON strings") struct JSONStringTests {
    @Test(
        "strings are read as their text, and printed again",
        arguments: [
            (#""""#, "", #""""#), (#""a""#, "a", #""a""#),
            (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{c}\n\r\t", #""\"\\/\b\f\n\r\t""#),
            (
                #""\u0041\u00e9\u6c34\ud83d\ude00\uD83D\uDE00""#, "A\u{e9}\u{6c34}\u{1f600}\u{1f600}",
                "\"A\u{e9}\u{6c34}\u{1f600}\u{1f600}\""
            ),
            (
                #""\u0000\u001f\u007F\u0080\u009f\u00a0""#, "\0\u{1f}\u{7f}\u{80}\u{9f}\u{a0}",
                "\"\\u0000\\u001f\\u007f\\u0080\\u009f\u{a0}\""
            ),
            (
                "\"e\u{301} \u{e9} \u{2028}\u{2029}\u{feff}\"", "e\u{301} \u{e9} \u{2028}\u{2029}\u{feff}",
                "\"e\u{301} \u{e9} \u{2028}\u{2029}\u{feff}\""
            ),
            (#""\uffff\ufffe""#, "\u{ffff}\u{fffe}", "\"\u{ffff}\u{fffe}\""),
            ("\"\u{9b}31m\u{7f}\u{1f600}\"", "\u{9b}31m\u{7f}\u{1f600}", "\"\\u009b31m\\u007f\u{1f600}\""),
        ])
    func strings(json: String, text: String, printed: String) throws {
        let value = try CBORValue(json: json)
        #expect(value == .text(text))
        #expect(Array(value.json().utf8) == Array(printed.utf8))
        #expect(try CBORValue(json: printed) == value)
    }

    /// The scanner reads eight bytes at a time, so each kind of byte is tested at each position of a word.
    @Test("finds ends and escapes at every position", arguments: 0..<20) func places(before: Int) throws {
        for after in 0..<20 {
            for (json, text) in [
                ("\\n", "\n"), ("\\\"", "\""), ("\u{e9}", "\u{e9}"), ("\\u00c2", "\u{c2}"),
                ("\u{c2}", "\u{c2}"),
            ] {
                let plain = String(repeating: "x", count: before)
                let rest = String(repeating: "y", count: after)
                let value = try CBORValue(json: "\"" + plain + json + rest + "\"")
                #expect(value == .text(plain + text + rest))
                #expect(try CBORValue(json: value.json()) == value)
            }
            for bad: UInt8 in [0x00, 0x1f, 0x80, 0xff, 0xc2] {
                var input = Array(repeating: UInt8(ascii: "x"), count: before + after)
                input.insert(bad, at: before)
                let json = [UInt8(ascii: "\"")] + input + [UInt8(ascii: "\"")]
                let reason: JSONError.Reason = bad < 0x20 ? .controlCharacter(bad) : .invalidUTF8
                #expect(throws: JSONError(offset: before + 1, reason: reason)) {
                    try JSONTranscoder.cbor(from: json)
                }
            }
        }
    }

    @Test("random texts print and read unchanged, escaped or not") func random() throws {
        var generator = SeededGenerator.announced("texts")
        for _ in 0..<5000 {
            let text = CBORValue.randomText(using: &generator)
            let value = CBORValue.text(text)
            #expect(try CBORValue(json: value.json()) == value)
            let escaped = text.utf16.map { unit in
                let digits = String(unit, radix: 16, uppercase: Bool.random(using: &generator))
                return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
            #expect(try CBORValue(json: "\"" + escaped.joined() + "\"") == value)
        }
    }

    @Test("printed text has no control character") func harmless() throws {
        let all = String(String.UnicodeScalarView((0..<0x300).compactMap { Unicode.Scalar($0) }))
        for scalar in CBORValue.text(all).json().unicodeScalars {
            #expect(scalar.properties.generalCategory != .control, "U+\(String(scalar.value, radix: 16))")
        }
    }
}
