import TestSupport
import ArchiveQuery
import Foundation
import Testing

@Suite struct TextSearchTests {
    private func contains(_ text: String, _ string: String, caseSensitive: Bool = true) -> Bool {
        let search = TextSearch(string, caseSensitive: caseSensitive)
        let isFound = search.isFound(in: text)
        #expect(
            Array(text.utf8).withUnsafeBytes { search.isFound(inUTF8: $0) } == isFound, "\(text), \(string)")
        return isFound
    }

    @Test func asSwiftComparesStrings() {
        #expect(contains("premium", "mium"))
        #expect(contains("premium", "premium"))
        #expect(contains("premium", ""))
        #expect(contains("", ""))
        #expect(!contains("", "a"))
        #expect(!contains("prem", "premium"))
        #expect(!contains("premium", "Mium"))
        #expect(contains("aab", "ab"))
        #expect(contains("caf\u{e9}", "cafe\u{301}"))
        #expect(!contains("caf\u{e9}", "e"))
        #expect(!contains("cafe\u{301}", "e"))
        #expect(contains("5 K", "\u{212a}"))
        #expect(contains("5 \u{212a}", "K"))
        #expect(contains("日本語", "本"))
        #expect(contains("👩‍👩‍👧 hi", "👩‍👩‍👧"))
        #expect(!contains("👩‍👩‍👧 hi", "👩"))
        #expect(contains("e\u{301}e", "e") && contains("日e", "e") && contains("ea\u{301}", "e"))
        #expect(!contains("na\u{301}", "na") && contains("na\u{301} na", "na"))
        #expect(contains("Bogot\u{e1}", "go") && !contains("Bogot\u{e1}", "ta"))
    }

    @Test func lineEndsAreOneCharacter() {
        #expect(!contains("a\r\nb", "\n"))
        #expect(!contains("a\r\nb", "\r"))
        #expect(contains("a\r\nb", "\r\n"))
        #expect(contains("a\nb", "\nb"))
        #expect(contains("a\r\nb", "b"))
    }

    @Test func withoutCase() {
        #expect(contains("Premium", "PREMIUM", caseSensitive: false))
        #expect(contains("a[Z", "A[z", caseSensitive: false))
        #expect(!contains("a{z", "A[z", caseSensitive: false))
        #expect(contains("Straße 5", "STRASSE", caseSensitive: false))
        #expect(contains("STRASSE", "straße", caseSensitive: false))
        #expect(contains("STRAẞE", "straße", caseSensitive: false))
        #expect(contains("οδος", "ΟΔΟΣ", caseSensitive: false))
        #expect(contains("ΟΔΟΣ", "οδος", caseSensitive: false))
        #expect(contains("ÉCLAIR", "e\u{301}clair", caseSensitive: false))
        #expect(!contains("ECLAIR", "éclair", caseSensitive: false))
        #expect(contains("5 \u{212a}", "5 k", caseSensitive: false))
        #expect(contains("ПРИВЕТ", "привет", caseSensitive: false))
        #expect(contains("Ꭰ", "ꭰ", caseSensitive: false))
        #expect(contains("ﬁn", "FIN", caseSensitive: false))
        #expect(!contains("DIŞ", "dış", caseSensitive: false))
        #expect(contains("dış", "DıŞ", caseSensitive: false))
        #expect(contains("İzmir", "i\u{307}zmir", caseSensitive: false))
    }

    /// Of the planes that have letters with case.
    @Test func foldingIsStable() {
        for value in UInt32(0)...0x1ffff {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let folded = String(scalar).foldedCase
            // Folding what is folded changes nothing, and the three cases of a letter fold alike.
            if folded.foldedCase != folded { Issue.record("\(String(value, radix: 16))") }
            if scalar.properties.lowercaseMapping.foldedCase != folded {
                Issue.record("\(String(value, radix: 16)) small")
            }
            if value != 0x131, scalar.properties.uppercaseMapping.foldedCase != folded {
                Issue.record("\(String(value, radix: 16)) capital")
            }
        }
    }

    private func plainly(_ text: String, _ string: String) -> Bool {
        let (text, string) = (Array(text), Array(string))
        return (0...text.count).contains { Array(text[$0...].prefix(string.count)) == string }
    }

    /// The quick way for ASCII answers as the slow one.
    @Test func asciiAndOtherTextsAreSearchedAlike() {
        var random = SeededGenerator.announced("text search")
        let letters: [Character] = ["a", "A", "b", "B", "é", "e\u{301}", "\n", "\r\n", "ß", "s"]
        var hits = 0
        for _ in 0..<3_000 {
            let kinds = Bool.random(using: &random) ? 4 : letters.count
            func text(_ most: Int) -> String {
                String(
                    (0..<Int.random(in: 0...most, using: &random)).map { _ in
                        letters[Int.random(in: 0..<kinds, using: &random)]
                    })
            }
            let (whole, part) = (text(8), text(3))
            #expect(
                contains(whole, part) == plainly(whole, part),
                "\(whole.debugDescription) \(part.debugDescription)")
            let folded = plainly(whole.foldedCase, part.foldedCase)
            #expect(
                contains(whole, part, caseSensitive: false) == folded,
                "\(whole.debugDescription) \(part.debugDescription)")
            if folded { hits += 1 }
        }
        #expect(hits > 300 && hits < 2_700)
    }

    /// What broke: long texts with many marks took time that grows with their square; half a minute for two megabytes of Hindi.
    @Test(arguments: [
        ("क्षत्रिय ", "x"), ("é" + String(repeating: "क्", count: 50), "क"), ("🇩🇪", "🇪🇩"),
        ("e\u{301}\u{323}", "e\u{301}"),
    ]) func timeGrowsWithTheText(part: String, wanted: String) {
        func cost(_ count: Int) -> Double {
            let text = String(repeating: part, count: count)
            let search = TextSearch(wanted, caseSensitive: false)
            let start = processorSeconds(CLOCK_THREAD_CPUTIME_ID)
            #expect(!search.isFound(in: text))
            return processorSeconds(CLOCK_THREAD_CPUTIME_ID) - start
        }
        let count = 400_000 / part.utf8.count
        // With the square it would be sixteen times as much, and many seconds.
        let (one, four) = (cost(count / 4), cost(count))
        #expect(four < 10 * one + 0.5, "\(one) s and \(four) s")
    }
}
