import TestSupport
import TerminalKit
import Testing

@Suite struct TerminalTextTests {
    @Test(arguments: ["a\tb", "\u{1b}[1m", "\u{202e}x\0", "\r\n"])
    func parsesItsEscapes(text: String) {
        #expect(TerminalText.unescaped(TerminalText.sanitized(text)) == text)
    }

    @Test(arguments: ["", "plain", "\\", "\\x", "\\u41", "\\u{}", "\\u{110000}", "\\u{41"])
    func refusesOtherText(text: String) { #expect(TerminalText.unescaped(text) == nil) }

    @Test(arguments: [
        ("plain", "plain"), ("a\u{1b}[2Jb", "a\\e[2Jb"), ("\u{9b}31m", "\\u{9b}31m"), ("\u{7f}", "\\u{7f}"),
        ("\u{7}", "\\u{7}"), ("tab\tline\nend\r", "tab\\tline\\nend\\r"), ("a\r\nb", "a\\r\\nb"),
        ("\0", "\\0"), ("\u{202e}abc", "\\u{202e}abc"), ("\u{2066}x\u{2069}", "\\u{2066}x\\u{2069}"),
        ("a\u{200b}b", "a\\u{200b}b"),
        ("\u{feff}x", "\\u{feff}x"), ("x\u{ad}y", "x\\u{ad}y"), ("a\u{200d}b", "a\\u{200d}b"),
        ("\u{2028}", "\\u{2028}"),
        ("\u{301}a", "\\u{301}a"), ("a\u{fe0f}", "a\\u{fe0f}"), ("a\u{e0041}", "a\\u{e0041}"),
        ("\u{3164}", "\\u{3164}"), ("\u{61c}", "\\u{61c}"), ("😀\u{200d}", "😀\\u{200d}"),
        ("\u{ffff}", "\\u{ffff}"), ("\u{fff9}", "\\u{fff9}"),
    ])
    func escapesHarmfulText(_ text: String, _ expected: String) {
        #expect(TerminalText.sanitized(text) == expected)
        #expect(TerminalText.sanitized(expected) == expected)
    }

    @Test(arguments: [
        "漢字", "e\u{301}", "👩‍🚀", "👨‍👩‍👧‍👦", "❤\u{fe0f}", "🇯🇵", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "1\u{fe0f}\u{20e3}", "می\u{200c}خواهم",
        "क\u{94d}\u{200d}ष", "葛\u{e0100}", "ก็", "한", "\u{600}1", "⌚\u{fe0e}",
    ])
    func keepsScalarsThatScriptsNeed(_ text: String) {
        #expect(TerminalText.sanitized(text) == text)
    }

    @Test func limitsCombiningMarks() {
        let pile = "a" + String(repeating: "\u{301}", count: 500)
        #expect(TerminalText.sanitized(pile).unicodeScalars.count == 16)
    }

    @Test func escapesInvalidUTF8() {
        func text(_ bytes: [UInt8]) -> String { TerminalText.sanitized(bytes: bytes) }
        #expect(text(Array("né漢😀".utf8)) == "né漢😀")
        #expect(text([0x61, 0xff, 0x62]) == "a\\xffb")
        #expect(text([0xc0, 0x80]) == "\\xc0\\x80")
        #expect(text([0xe6, 0xbc]) == "\\xe6\\xbc")
        #expect(text([0xed, 0xa0, 0x80]) == "\\xed\\xa0\\x80")
        #expect(text([0xf4, 0x90, 0x80, 0x80]) == "\\xf4\\x90\\x80\\x80")
        #expect(text([0x1b, 0x5b, 0x41]) == "\\e[A")
        #expect(text([]) == "")
        #expect(text(Array("e\u{301}".utf8)) == "e\u{301}")
    }

    @Test func escapesEveryControl() {
        var failures: [String] = []
        for value in UInt32(0)...0x10ffff {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let shown = TerminalText.sanitized(String(Character(scalar)))
            let category = scalar.properties.generalCategory
            let obeyed = category == .control || scalar.properties.isBidiControl || category == .lineSeparator
            if obeyed, shown.unicodeScalars.contains(scalar) { failures.append(String(value, radix: 16)) }
            if !shown.unicodeScalars.contains(scalar), !shown.allSatisfy(\.isASCII) {
                failures.append(String(value, radix: 16))
            }
        }
        #expect(failures.isEmpty, "\(failures.prefix(20))")
    }

    @Test func sanitizingIsIdempotent() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<3000 {
            let text = (0..<6).map { _ in hardPieces.randomElement(using: &random) ?? "" }.joined()
            let shown = TerminalText.sanitized(text)
            #expect(shown.allSatisfy { TerminalText.isHarmless($0) }, "\(text.debugDescription)")
            #expect(TerminalText.sanitized(shown) == shown, "\(text.debugDescription)")
        }
    }
}
