import StoreInspection
import Testing

struct SearchTextTests {
    @Test(arguments: [
        ("jak", "Jakarta", true), ("JAK", "jakarta", true), ("x", "Jakarta", false), ("ü", "MÜNCHEN", true),
        ("münchen", "München", true), ("é", "e", false), ("k", "\u{212a}elvin", true),
        ("\u{212a}", "\u{212a}elvin", true), ("\u{212a}", "kelvin", true),
        ("i\u{307}", "\u{130}stanbul", true), ("\u{e9}", "cafe\u{301}", true),
        ("e\u{301}", "caf\u{e9}", true),
        // An accent is part of its letter in every normal form.
        ("cafe", "cafe\u{301}", false), ("caf", "cafe\u{301}", true),
        ("σ", "ΟΔΟΣ", true), ("ς", "Σ", true), ("Σ", "οδος", true), ("東", "東京", true), ("京東", "東京", false),
        ("longer", "long", false), ("\n", "a\r\nb", true),
        // Regression: parts of a character, which terminals draw separately, weren't found.
        ("👩", "👩‍🚀 astronaut", true), ("🚀", "👩‍🚀 astronaut", true), ("👍", "👍🏽", true), ("❤", "❤️‍🔥", true),
        ("क", "क्षत्रिय", true), ("ष", "क्षत्रिय", true), ("ก", "กำ", true), ("👨", "👩‍🚀", false),
        // Escaped characters are found by their escapes.
        ("\\n", "nl\nthere", true), ("\\nTHERE", "nl\nthere", true), ("\\u{202e}a", "bidi\u{202e}abc", true),
        ("\\u{20", "bidi\u{202e}abc", false), ("f\\u{e9}", "caf\u{e9}", true), ("\\n", "plain", false),
        ("\\n", "back\\nslash", true),
        // Regression: a backslash matched all text that isn't ASCII.
        ("\\", "Müller", false), ("\\u", "漢字", false), ("\\", "C:\\dir", true),
    ])
    func ignoresCase(text: String, key: String, isThere: Bool) throws {
        #expect(try #require(SearchText(text)).matches(key) == isThere)
    }

    /// Whole characters are highlighted, even if only a part matches.
    @Test(arguments: [
        ("kar", "Jakarta", 2..<5), ("🚀", "an 👩‍🚀!", 3..<4), ("e\u{301}", "caf\u{e9}", 3..<4),
        ("é F", "cafe\u{301} for", 3..<6), ("ss", "Straße", 4..<5),
    ])
    func rangeCoversWholeCharacters(text: String, shown: String, range: Range<Int>) throws {
        #expect(try #require(SearchText(text)).range(in: shown) == range)
    }

    @Test func emptyTextIsNil() { #expect(SearchText("") == nil) }
}
