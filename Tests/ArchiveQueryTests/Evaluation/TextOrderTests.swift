import ArchiveQuery
import Foundation
import TestSupport
import Testing

/// Texts are ordered by their scalars in normal form C, whatever form they are stored in.
@Suite struct TextOrderTests {
    private static func order(_ left: String, _ right: String) -> Int {
        SortValue.compare(.text(left), .text(right), isDescending: false).signum()
    }

    /// Independent of our composition: Foundation normalizes the whole text, correctly once it is decomposed.
    private static func expected(_ left: String, _ right: String) -> Int {
        func scalars(_ text: String) -> [UInt32] {
            text.decomposedStringWithCanonicalMapping.precomposedStringWithCanonicalMapping.unicodeScalars
                .map(\.value)
        }
        let (left, right) = (scalars(left), scalars(right))
        return left == right ? 0 : left.lexicographicallyPrecedes(right) ? -1 : 1
    }

    /// Swift's `<` orders some texts in different normal forms wrongly where one begins with the other.
    @Test(arguments: [
        ("e\u{301}1", "\u{e9}10"), ("e\u{301}e\u{301}1", "\u{e9}\u{e9}10"), ("e\u{301}", "\u{e9}"),
        ("\u{e9}", "e\u{301}\u{302}"), ("\u{627}", "\u{627}\u{653}"), ("\u{627}\u{653}", "\u{627}x"),
        ("k\u{e9}", "k"), ("e", "e\u{301}"), ("f", "e\u{301}"), ("e\u{ffff}", "e\u{20dd}"), ("", "e\u{301}"),
        ("", ""), ("\u{1112}\u{1161}", "\u{d558}"), ("\u{d558}\u{11ab}", "\u{d55c}x"),
        ("\u{d558}x", "\u{1112}\u{1161}\u{11ab}"), ("a\u{323}\u{302}", "a\u{302}\u{323}"),
        ("\u{212b}", "A\u{30a}z"), ("か\u{3099}", "が1"), ("日本", "日本語"), ("\u{0}", ""),
        ("e\u{301}\u{0}", "\u{e9}"), ("e\u{301}\u{0}1", "\u{e9}\u{0}10"), ("\u{1f600}", "\u{ff21}"),
    ])
    func orderIgnoresNormalForm(left: String, right: String) {
        let expected = Self.expected(left, right)
        #expect(Self.order(left, right) == expected)
        #expect(Self.order(right, left) == -expected)
        #expect((left == right) == (expected == 0))
    }

    @Test(
        "vowel signs that consist of marks equal these marks",
        arguments: ["\u{f55}\u{f39}\u{f71}\u{f72}", "\u{f55}\u{f39}\u{f73}", "\u{f55}\u{f71}\u{f72}\u{f39}"])
    func composedMarks(text: String) {
        #expect(Self.order(text, "\u{f55}\u{f39}\u{f73}") == 0)
        #expect(Self.order(text, "\u{f55}\u{f71}\u{f72}\u{f39}") == 0)
    }

    private static let pieces = [
        "a", "e", "1", "10", "\0", "\r\n", "\u{301}", "\u{323}", "\u{302}", "\u{30a}", "\u{e9}", "e\u{301}",
        "\u{1ec7}", "\u{212b}", "\u{1112}\u{1161}", "\u{d558}", "\u{11ab}", "\u{627}", "\u{653}", "か",
        "\u{3099}", "が", "日", "語", "Ж", "й", "и\u{306}", "क", "\u{93c}", "ไ", "ά", "α\u{301}", "\u{20dd}",
        "\u{200d}", "👩", "\u{ffff}",
    ]

    @Test("random texts are in the order of their scalars in normal form C") func scalarOrder() {
        var random = SeededGenerator.announced("texts in mixed forms")
        func text() -> String {
            (0..<Int.random(in: 0...6, using: &random)).map { _ in Self.pieces.randomElement(using: &random)!
            }.joined()
        }
        for _ in 0..<20_000 {
            let beginning = text()
            let left =
                Bool.random(using: &random) ? beginning.decomposedStringWithCanonicalMapping : beginning
            let (first, second) = (left + text(), beginning + text())
            let expected = Self.expected(first, second)
            guard Self.order(first, second) == expected, Self.order(second, first) == -expected else {
                Issue.record(
                    "\(first.unicodeScalars.map(\.value)) and \(second.unicodeScalars.map(\.value)): not \(expected)"
                )
                return
            }
        }
    }

    @Test("a sort and a comparison agree, with any memory limit") func sortsMatchComparisons() throws {
        var random = SeededGenerator.announced("texts in mixed forms, sorted")
        let texts = (0..<1_500).map { _ in
            let text = ["e\u{301}", "e\u{301}e\u{301}", "か\u{3099}"].randomElement(using: &random)!
            let number = Int.random(in: 0..<120, using: &random)
            return (Bool.random(using: &random) ? text.precomposedStringWithCanonicalMapping : text)
                + String(number)
        }
        let source = try ListSource(json: texts.map { #"{"v":"\#($0)"}"# })
        // Equal texts stay in the source's order.
        let expected = texts.indices.sorted {
            let order = Self.expected(texts[$0], texts[$1])
            return order < 0 || order == 0 && $0 < $1
        }
        #expect(try source.keys("sort v") == expected.map(String.init))
        #expect(try source.keys("sort v") { $0.memoryLimit = 20_000 } == expected.map(String.init))
        for bound in ["\u{e9}1", "e\u{301}50", "\u{e9}\u{e9}", "が7"] {
            let less = texts.indices.filter { Self.expected(texts[$0], bound) < 0 }
            #expect(try source.keys("find v < \"\(bound)\"") == less.map(String.init))
        }
    }
}
