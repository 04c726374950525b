import StoreInspection
import TestSupport
import Testing

struct SearchMatchesTests {
    private func find(
        _ wanted: SearchMatches.Wanted, in bytes: [UInt8], window: Int? = nil
    ) throws -> [Range<Int>] {
        let found = SearchMatches.find(wanted, in: bytes.count, window: window, progress: { _ in true }) {
            Array(bytes[$0])
        }
        let places = try #require(found)
        #expect(places.count == places.places.count)
        return places.places
    }

    private func find(_ pattern: BytePattern?, in bytes: [UInt8], window: Int? = nil) throws -> [Range<Int>] {
        try find(.bytes(try #require(pattern)), in: bytes, window: window)
    }

    private func find(_ text: String, in bytes: [UInt8], window: Int? = nil) throws -> [Range<Int>] {
        try find(.text(try #require(SearchText(text))), in: bytes, window: window)
    }

    @Test(arguments: 1...12) func findsMatchesAcrossWindows(window: Int) throws {
        let bytes = Array("xaaNeedleaaneedleneedLEyneedl".utf8)
        let expected = [3..<9, 11..<17, 17..<23]
        #expect(try find("needle", in: bytes, window: window) == expected)
        #expect(try find(BytePattern(digitsOrText: "needle"), in: bytes, window: window) == expected)
        let twice = Array("aaaaa".utf8)
        #expect(try find("aa", in: twice, window: window) == [0..<2, 2..<4])
        #expect(try find(BytePattern(digitsOrText: "0x6161"), in: twice, window: window) == [0..<2, 2..<4])
    }

    @Test(arguments: [
        ("łÓDŹ", "x Łódź", [2..<9]), ("東", "大東京", [3..<6]), ("STRASSE", "straße Strasse", [0..<7, 8..<15]),
        ("é", "É e\u{301}", [0..<2, 3..<6]), ("👩", "an 👩‍🚀", [3..<7]), ("🚀", "an 👩‍🚀", [10..<14]),
        // Escaped characters are found by their escapes, line ends included.
        ("\\e[31M", "x \u{1b}[31m", [2..<7]), ("\\u{202E}A", "a\u{202e}abc", [1..<5]),
        ("\\n", "a\nb\\n", [3..<5]),
        ("café", "cafe\u{301} CAFÉ", [0..<6, 7..<12]), ("ss", "Straße STRASSE", [4..<6, 12..<14]),
        ("ß", "Straße STRASSE straſse", [4..<6, 12..<14, 20..<23]),
        ("한", "<\u{1112}\u{1161}\u{11ab}>", [1..<10]), ("ΣΊΣΥΦΟΣ", "σίσυφος", [0..<14]),
        ("fish", "ﬁsh", [0..<5]), ("f", "ﬃ", [0..<3]), ("k", "\u{212a}K", [0..<3, 3..<4]),
        // A letter with a mark differs from the letter.
        ("cafe", "cafe\u{301} cafe", [7..<11]),
    ])
    func ignoresCaseAndNormalForm(text: String, whole: String, expected: [Range<Int>]) throws {
        for window in [1, 2, 3, 5, 100] {
            #expect(try find(text, in: Array(whole.utf8), window: window) == expected, "\(window)")
        }
    }

    @Test("finds the same as SearchText, regardless of where the text is divided") func agreesWithSearchText()
        throws
    {
        let letters = Array(
            ("aeikKsSßſéÉåÅ\u{212b}ﬁﬃ\u{301}\u{323}\u{308}\u{344}\u{345}αΑᾳςσΣİı한가\u{1112}\u{1161}\u{11ab}"
                + "क\u{94d}ष\u{93c}กำ東👩\u{200d}🚀\u{fe0f}\u{11099}\u{110ba}\u{2f800} \n\0").unicodeScalars)
        var generator = SeededGenerator.announced("text in all forms")
        func text(_ count: Int) -> String {
            var scalars = String.UnicodeScalarView()
            for _ in 0..<count {
                scalars.append(letters[Int.random(in: 0..<letters.count, using: &generator)])
            }
            return String(scalars)
        }
        for _ in 0..<1_500 {
            let whole = text(Int.random(in: 1...14, using: &generator))
            let scalars = whole.unicodeScalars
            let part = String(
                scalars.dropFirst(Int.random(in: 0..<scalars.count, using: &generator)).prefix(2))
            for wanted in [part, part.uppercased(), text(1)] {
                let places = try find(wanted, in: Array(whole.utf8))
                let isThere = try #require(SearchText(wanted)).matches(whole)
                #expect(places.isEmpty == !isThere, "\(wanted.debugDescription) in \(whole.debugDescription)")
                let window = Int.random(in: 1...9, using: &generator)
                let divided = try find(wanted, in: Array(whole.utf8), window: window)
                #expect(
                    divided == places, "\(wanted.debugDescription) in \(whole.debugDescription), \(window)")
            }
        }
    }

    @Test("skips invalid UTF-8, and searches after very many combining marks")
    func skipsInvalidUTF8() throws {
        let bytes = [0xff] + Array("é".utf8) + [0xc3] + Array("É".utf8) + [0xe2, 0x82]
        for window in 1...9 {
            #expect(try find("é", in: bytes, window: window) == [1..<3, 4..<6])
            #expect(try find("\u{fffd}", in: bytes, window: window) == [])
        }
        let marks = Array(String(repeating: "\u{301}", count: 100_000).utf8)
        #expect(try find("end", in: [0x65] + marks + Array(" END".utf8)) == [200_002..<200_005])
    }

    @Test func findsDigitsAsBytesAndText() throws {
        let bytes: [UInt8] = [0xde, 0xad, 0x00] + Array("DEAD dead".utf8)
        #expect(try find(BytePattern(digitsOrText: "dead"), in: bytes) == [0..<2, 3..<7, 8..<12])
        #expect(try find(BytePattern(digitsOrText: "0xDEAD"), in: bytes) == [0..<2])
        #expect(try find(BytePattern(digitsOrText: "de ad 00"), in: bytes) == [0..<3])
        #expect(try find(BytePattern(digitsOrText: "ead"), in: bytes) == [4..<7, 9..<12])
        #expect(BytePattern(digitsOrText: "0xd") == nil)
        #expect(BytePattern(digitsOrText: "") == nil)
    }

    /// All matches are counted, and a bounded number is kept.
    @Test func boundsMatches() throws {
        let bytes = [UInt8](repeating: 0x61, count: SearchMatches.most + 7)
        let text = try #require(SearchText("a"))
        let found = SearchMatches.find(.text(text), in: bytes.count, progress: { _ in true }) {
            Array(bytes[$0])
        }
        #expect(found?.count == SearchMatches.most + 7)
        #expect(found?.places.count == SearchMatches.most)
    }

    @Test func stopsOnRequest() throws {
        let text = try #require(SearchText("a"))
        var readings = 0
        let found = SearchMatches.find(.text(text), in: 100, window: 10, progress: { $0 < 0.5 }) {
            range -> [UInt8]? in
            readings += 1
            return [UInt8](repeating: 0x61, count: range.count)
        }
        #expect(found == nil && readings == 5)
    }

    @Test func findsMatchesNearPosition() throws {
        var found = SearchMatches()
        for start in [10, 20, 30] { found.add(start..<start + 5) }
        #expect(found.first(from: 11) == 1 && found.first(from: 10) == 0 && found.first(from: 31) == 0)
        #expect(found.places(in: 12..<30) == [10..<15, 20..<25])
        #expect(found.places(in: 15..<20).isEmpty)
    }
}
