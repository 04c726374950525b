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

    @Test("texts match as equal Swift strings do") func normalForms() {
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

    @Test("equivalent characters beyond U+FFFF match each other") func equivalentsBeyondFirstPlane() {
        var count = 0
        for value in UInt32(0x10000)...0x2ffff {
            guard let scalar = Unicode.Scalar(value), scalar.properties.generalCategory != .unassigned
            else { continue }
            let whole = String(Character(scalar))
            let parts = whole.decomposedStringWithCanonicalMapping
            guard !parts.unicodeScalars.elementsEqual(whole.unicodeScalars) else { continue }
            count += 1
            #expect(whole == parts)
            // Characters that join the preceding one aren't contained separately.
            let texts =
                ("日" + whole).count == 1
                ? [(whole, parts), (parts, whole)]
                : [(whole, parts), (parts, whole), ("日" + whole, parts), ("a" + parts, whole)]
            for (text, asked) in texts {
                #expect(contains(text, asked), "\(String(value, radix: 16))")
                #expect(contains(text, asked, caseSensitive: false), "\(String(value, radix: 16))")
                #expect(TextPattern(asked).matches(text), "\(String(value, radix: 16))")
                let parts = TextSearch(asked, caseSensitive: false, partsOfCharacters: true)
                #expect(parts.isFound(in: text), "\(String(value, radix: 16))")
            }
        }
        #expect(count > 560)
    }

    @Test("a composed character beyond U+FFFF is one character to a regular expression")
    func compositesBeyondFirstPlane() {
        let composites = [
            "\u{1109a}", "\u{1109c}", "\u{110ab}", "\u{1112e}", "\u{1112f}", "\u{1134b}", "\u{1134c}",
            "\u{114bb}", "\u{114bc}", "\u{114be}", "\u{115ba}", "\u{115bb}", "\u{11938}",
        ]
        for whole in composites {
            let parts = whole.decomposedStringWithCanonicalMapping
            #expect(parts.unicodeScalars.count == 2)
            for text in [whole, parts] {
                let composed = MarkOrder.composed("日\(text)日")
                #expect(composed.unicodeScalars.elementsEqual("日\(whole)日".unicodeScalars))
                #expect(TextPattern("^a.z$").matches("a\(text)z"))
                #expect(TextPattern("a[\(text)]+z").matches("a\(whole)\(parts)z"))
                #expect(!TextPattern(String(parts.unicodeScalars.prefix(1))).matches(text))
                // A following mark makes no difference.
                #expect(TextPattern("^..z$").matches(text + "\u{301}z"))
            }
        }
    }

    @Test("a line end is one character") func lineEnds() {
        #expect(!contains("a\r\nb", "\n"))
        #expect(!contains("a\r\nb", "\r"))
        #expect(contains("a\r\nb", "\r\n"))
        #expect(contains("a\nb", "\nb"))
        #expect(contains("a\r\nb", "b"))
    }

    @Test func caseFolding() {
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

    /// All planes that have letters with case.
    @Test("marks and an iota subscript fold alike in every order") func iotaSubscripts() throws {
        let forms = [
            "\u{3b1}\u{345}\u{313}", "\u{3b1}\u{313}\u{345}", "\u{1f80}", "\u{1f88}", "\u{1f00}\u{3b9}",
            "\u{1fb3}\u{313}",
        ]
        for whole in forms {
            let source = try ListSource(json: ["{\"t\":\"X\(whole)y\"}"])
            for part in forms {
                #expect(contains("x\(whole)y", part, caseSensitive: false), "\(part) in \(whole)")
                #expect(try source.keys("find t ilike \"x\(part)%\"") == ["0"], "\(part) in \(whole)")
            }
        }
    }

    @Test("folding is idempotent, and all cases of a letter fold alike") func stableFolding() {
        for value in UInt32(0)...0x1ffff {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let folded = String(scalar).foldedCase
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

    @Test("the fast search of ASCII texts finds what the general search finds") func asciiSearch() {
        var random = SeededGenerator.announced("text search")
        let letters: [Character] = [
            "a", "A", "b", "B", "é", "e\u{301}", "\n", "\r\n", "ß", "s", "각", "가", "\u{1100}", "\u{1161}",
            "\u{11a8}", "が", "か", "\u{3099}", "й", "и", "\u{306}", "東", "क", "\u{94d}", "\u{200d}", "👩", "ά",
            "\u{301}", "أ", "\u{654}",
        ]
        var hits = 0
        for _ in 0..<3_000 {
            let kinds = [4, 10, letters.count].randomElement(using: &random) ?? 4
            func text(_ most: Int) -> String {
                String(
                    (0..<Int.random(in: 0...most, using: &random)).map { _ in
                        letters[Int.random(in: 0..<kinds, using: &random)]
                    })
            }
            let (whole, part) = (text(Bool.random(using: &random) ? 8 : 30), text(3))
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

    @Test("if parts of characters may match, a text is compared by scalars in one normal form and case")
    func partsOfCharacters() {
        var random = SeededGenerator.announced("parts of characters")
        let letters: [Unicode.Scalar] = [
            "a", "e", "k", ";", "K", "\u{212a}", "\u{37e}", "\u{301}", "\u{e9}", "\r", "\n", "\u{1100}",
            "\u{1161}", "\u{11a8}", "\u{ac00}", "क", "\u{94d}", "ष", "\u{200d}", "👩", "🚀", "\u{df}", "s",
        ]
        func scalars(_ text: String) -> [Unicode.Scalar] {
            Array(MarkOrder.composed(text.foldedCase).unicodeScalars)
        }
        var hits = 0
        for _ in 0..<3_000 {
            let kinds = [4, 10, letters.count].randomElement(using: &random) ?? 4
            func text(_ most: Int) -> String {
                var text = ""
                for _ in 0..<Int.random(in: 0...most, using: &random) {
                    text.unicodeScalars.append(letters[Int.random(in: 0..<kinds, using: &random)])
                }
                return text
            }
            let (whole, part) = (text(Bool.random(using: &random) ? 8 : 30), text(3))
            let (all, wanted) = (scalars(whole), scalars(part))
            let isThere = (0...all.count).contains { all[$0...].starts(with: wanted) }
            let search = TextSearch(part, caseSensitive: false, partsOfCharacters: true)
            let said = "\(whole.debugDescription) \(part.debugDescription)"
            #expect(search.isFound(in: whole) == isThere, "\(said)")
            #expect(Array(whole.utf8).withUnsafeBytes { search.isFound(inUTF8: $0) } == isThere, "\(said)")
            if isThere { hits += 1 }
        }
        #expect(hits > 300 && hits < 2_900)
    }

    @Test("letters folded without strings match as in Swift") func shortLetters() {
        for value in UInt32(0)..<0x800 {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let text = "a\(String(scalar))É"
            for wanted in [
                String(scalar), "A\(String(scalar).uppercased())", "é", "a", "ss", "k", "i", "j", "n", "s",
            ] {
                if contains(text, wanted, caseSensitive: false) != plainly(text.foldedCase, wanted.foldedCase)
                {
                    Issue.record("\(String(value, radix: 16)) \(wanted)")
                }
            }
        }
    }

    @Test("invalid UTF-8 is decoded as Swift decodes it") func invalidUTF8() {
        var random = SeededGenerator.announced("texts that aren't UTF-8")
        let search = TextSearch("É", caseSensitive: false)
        let replaced = TextSearch("\u{fffd}é", caseSensitive: false)
        let parts: [[UInt8]] = [
            [0xc3, 0xa9], [0xc3, 0x89], [0x80], [0xc3], [0xc1, 0xa9], [0xe0, 0x83, 0xa9], [0xe3, 0x81],
            [0xed, 0xa0, 0x80],
            [0xe6, 0x97, 0xa5], [0xf0, 0x80, 0x83, 0xa9], [0xf4, 0x90, 0x80, 0x80], [0x61], [0xff],
        ]
        for _ in 0..<2_000 {
            let bytes = (0..<Int.random(in: 1...5, using: &random)).flatMap { _ in
                parts.randomElement(using: &random) ?? []
            }
            let text = String(decoding: bytes, as: UTF8.self)
            for search in [search, replaced] {
                let isFound = bytes.withUnsafeBytes { search.isFound(inUTF8: $0) }
                #expect(isFound == search.isFound(in: text), "\(bytes)")
            }
        }
    }

    /// Two megabytes of Hindi took half a minute when the time was quadratic.
    @Test(arguments: [
        ("क्षत्रिय ", "x"), ("é" + String(repeating: "क्", count: 50), "क"), ("🇩🇪", "🇪🇩"),
        ("e\u{301}\u{323}", "e\u{301}"), ("\u{94d}", "x"), ("\u{301}\u{323}", "x"),
        ("\u{5b0}\u{5c1}\u{5bc}", "x"), ("\u{344}", "x"), ("\u{f73}\u{302}", "x"),
    ]) func timeIsLinear(part: String, wanted: String) {
        func cost(_ count: Int) -> Double {
            let text = String(repeating: part, count: count)
            let search = TextSearch(wanted, caseSensitive: false)
            let start = processorSeconds(CLOCK_THREAD_CPUTIME_ID)
            #expect(!search.isFound(in: text))
            return processorSeconds(CLOCK_THREAD_CPUTIME_ID) - start
        }
        let count = 400_000 / part.utf8.count
        // Quadratic growth would be sixteen times as much.
        let (one, four) = (cost(count / 4), cost(count))
        #expect(four < 10 * one + 0.5, "\(one) s and \(four) s")
    }

    @Test("texts with long runs of marks have one form, which is equivalent to them")
    func longRunsOfMarks() throws {
        var random = SeededGenerator.announced("long runs of marks")
        let marks = Array(
            ("\u{300}\u{301}\u{302}\u{304}\u{308}\u{323}\u{327}\u{31b}\u{338}\u{340}\u{343}\u{344}\u{345}\u{94d}\u{93c}"
                + "\u{5b0}\u{5bc}\u{f71}\u{f72}\u{f73}\u{f74}\u{f75}\u{f81}\u{3099}\u{1d165}\u{653}\u{1d16e}")
                .unicodeScalars)
        let others = Array(
            ("aeuüǖấαᾳகডかシ가שּׁ"
                + "\u{9bc}\u{9be}\u{9c7}\u{1100}\u{1161}\u{11a8}\u{1d15e}\u{1d157}\u{200d}\n\u{627}\u{212b}\u{f40}")
                .unicodeScalars)
        for _ in 0..<200 {
            var (text, other) = ("", "")
            while text.unicodeScalars.count < 1_200 {
                for _ in 0..<Int.random(in: 0...3, using: &random) {
                    let scalar = try #require(others.randomElement(using: &random))
                    text.unicodeScalars.append(scalar)
                    other.unicodeScalars.append(scalar)
                }
                let few = try (0..<Int.random(in: 1...6, using: &random)).map { _ in
                    try #require(marks.randomElement(using: &random))
                }
                let run = try (0..<Int.random(in: 66...300, using: &random)).map { _ in
                    try #require(few.randomElement(using: &random))
                }
                text.unicodeScalars.append(contentsOf: run)
                other.unicodeScalars.append(contentsOf: respelled(run))
            }
            let composed = MarkOrder.composed(text)
            #expect(decomposed(composed) == decomposed(text))
            #expect(composed.utf8.elementsEqual(MarkOrder.composed(other).utf8))
            #expect(composed.utf8.elementsEqual(MarkOrder.composed(composed).utf8))
        }
    }

    /// Equivalent marks with the same decomposition, in canonical order.
    private func respelled(_ run: [Unicode.Scalar]) -> [Unicode.Scalar] {
        decomposed(run.reduce(into: "") { $0.unicodeScalars.append($1) })
    }

    /// The text's canonical decomposition (Unicode Standard, D68), which is the same for equivalent texts.
    private func decomposed(_ text: String) -> [Unicode.Scalar] {
        var result: [Unicode.Scalar] = []
        var marks: [(order: UInt8, place: Int, scalar: Unicode.Scalar)] = []
        func end() {
            result += marks.sorted { ($0.order, $0.place) < ($1.order, $1.place) }.map(\.scalar)
            marks = []
        }
        for scalar in text.unicodeScalars {
            for part in String(scalar).decomposedStringWithCanonicalMapping.unicodeScalars {
                let order = part.properties.canonicalCombiningClass.rawValue
                if order == 0 {
                    end()
                    result.append(part)
                } else {
                    marks.append((order, marks.count, part))
                }
            }
        }
        end()
        return result
    }

    @Test("a syllable with its final consonant is one character") func syllables() {
        #expect(contains("가\u{11a8}나", "각") && contains("각나", "\u{1100}\u{1161}\u{11a8}"))
        #expect(!contains("가\u{11a8}나", "가"))
        // Foundation takes these letters for others.
        #expect(
            contains("a\u{1113}\u{1167}b", "\u{1113}\u{1167}")
                && !contains("a\u{1113}\u{1168}b", "\u{1113}\u{1167}"))
        #expect(!contains("\u{1100}\u{1161}\u{11c3}", "개") && !contains("\u{20041}\u{301}", "Á"))
    }
}
