import Foundation
import TerminalKit
import Testing

@Suite struct TextWidthTests {
    /// The ranges of the Unicode file itself, made by another program than the table.
    private func wideRanges() throws -> [ClosedRange<UInt32>] {
        let text = try String(
            contentsOf: testFolder("Fixtures").appendingPathComponent("wide-ranges.txt"), encoding: .utf8)
        return try text.split(separator: "\n").map { line in
            let ends = line.split(separator: " ").compactMap { UInt32($0, radix: 16) }
            try #require(ends.count == 2)
            return ends[0]...ends[1]
        }
    }

    private func isOfThatVersion(_ scalar: Unicode.Scalar) -> Bool {
        guard let age = scalar.properties.age else { return false }
        return age.major <= 15 && !(age.major == 15 && age.minor > 0)
    }

    @Test func everyScalarOfTheVersionHasTheWidthOfItsClass() throws {
        var wide = Set<UInt32>()
        for range in try wideRanges() { wide.formUnion(range) }
        #expect(wide.count > 180_000)
        var checked = 0
        var wrong: [String] = []
        for value in UInt32(0x300)...0x10ffff {
            // The standard library knows a later version, in which the Ahom sign medial ra is a spacing mark.
            guard value != 0x1171e, let scalar = Unicode.Scalar(value), isOfThatVersion(scalar) else {
                continue
            }
            let expected: Int
            switch scalar.properties.generalCategory {
            case .nonspacingMark, .enclosingMark: expected = 0
            case .format, .control, .surrogate: continue
            default:
                let isJamo = (0x1160...0x11ff).contains(value) || (0xd7b0...0xd7ff).contains(value)
                expected = isJamo ? 0 : wide.contains(value) ? 2 : 1
            }
            checked += 1
            if TextWidth.width(of: scalar) != expected { wrong.append(String(value, radix: 16)) }
        }
        #expect(checked > 280_000)
        #expect(wrong.isEmpty, "\(wrong.prefix(20))")
    }

    @Test func theTableIsOfTheVersionThatItSays() {
        #expect(TextWidth.unicodeVersion == "15.0.0")
    }

    @Test(arguments: [
        ("a", 1), ("é", 1), ("e\u{301}", 1), ("漢", 2), ("ﾊ", 1), ("Ａ", 2), ("한", 2),
        ("\u{1112}\u{1161}\u{11ab}", 2),
        ("😀", 2), ("👍🏽", 2), ("👩‍🚀", 4), ("👨‍👩‍👧‍👦", 8), ("👩🏽‍🚀", 4), ("❤\u{fe0f}\u{200d}🔥", 4), ("❤", 1),
        ("❤\u{fe0f}", 2), ("⌚", 2), ("⌚\u{fe0e}", 1),
        ("🇯🇵", 2), ("🇯", 1), ("1\u{fe0f}\u{20e3}", 2), ("🏴󠁧󠁢󠁥󠁮󠁧󠁿", 7), ("ก็", 1), ("क्ष", 2), ("─", 1), ("α", 1),
        ("Я", 1),
        ("\u{3000}", 2), ("\u{a0}", 1), ("\u{e0b0}", 1), ("が", 2), ("か\u{3099}", 2), ("שׁ", 1), ("ا", 1),
    ])
    func aClusterTakes(_ text: String, _ columns: Int) {
        #expect(text.count == 1)
        #expect(TextWidth.width(of: Character(text)) == columns)
        #expect(TextWidth.width(of: text) == columns)
    }

    @Test func textCountsItsEscapes() {
        #expect(TextWidth.width(of: "a\u{1b}b") == 4)
        #expect(TextWidth.width(of: "\u{9b}") == "\\u{9b}".count)
        #expect(TextWidth.width(of: "plain ASCII") == 11)
    }

    @Test(arguments: [
        ("hello", 5, "hello"), ("hello", 4, "hel…"), ("hello", 1, "…"), ("hello", 0, ""), ("漢字漢", 5, "漢字…"),
        ("漢字漢", 4, "漢…"), ("漢字", 3, "漢…"), ("漢字", 2, "…"), ("a\nb", 9, "a\\nb"), ("e\u{301}e\u{301}", 1, "…"),
    ])
    func truncated(_ text: String, _ columns: Int, _ expected: String) {
        let cut = TextWidth.truncate(text, to: columns)
        #expect(cut == expected)
        #expect(TextWidth.width(of: cut) <= columns)
    }

    @Test func truncatedAtTheStart() {
        #expect(TextWidth.truncateStart("/var/cache/東京", to: 8) == "…he/東京")
        #expect(TextWidth.truncateStart("abc", to: 3) == "abc")
        #expect(TextWidth.truncateStart("漢字", to: 3) == "…字")
        #expect(TextWidth.truncateStart("abc", to: 0) == "")
    }

    @Test func paddedToExactlyItsColumns() {
        #expect(TextWidth.pad("漢", to: 5) == "漢   ")
        #expect(TextWidth.pad("漢", to: 5, alignment: .trailing) == "   漢")
        #expect(TextWidth.pad("漢", to: 5, alignment: .center) == " 漢  ")
        for piece in hardPieces {
            for columns in 0..<9 {
                #expect(TextWidth.width(of: TextWidth.pad(piece, to: columns)) == columns)
            }
        }
    }

    @Test func wrappedLinesFitAndLoseNoWord() {
        #expect(TextWrap.lines("one two three", columns: 7) == ["one two", "three"])
        #expect(TextWrap.lines("one\n\ntwo", columns: 9) == ["one", "", "two"])
        #expect(TextWrap.lines("abcdefgh ij", columns: 3) == ["abc", "def", "gh", "ij"])
        #expect(TextWrap.lines("漢字漢字", columns: 5) == ["漢字", "漢字"])
        #expect(TextWrap.lines("a\tb", columns: 9) == ["a\\tb"])
        #expect(TextWrap.lines("anything", columns: 0) == [])
    }
}
