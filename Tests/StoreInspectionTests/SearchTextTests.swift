import StoreInspection
import Testing

/// Text that is looked for in keys, whatever its case.
struct SearchTextTests {
    @Test(arguments: [
        ("jak", "Jakarta", true), ("JAK", "jakarta", true), ("x", "Jakarta", false), ("ü", "MÜNCHEN", true),
        ("münchen", "München", true), ("é", "e", false), ("k", "\u{212a}elvin", true),
        ("\u{212a}", "\u{212a}elvin", true), ("\u{212a}", "kelvin", true),
        ("i\u{307}", "\u{130}stanbul", true), ("\u{e9}", "cafe\u{301}", true),
        ("e\u{301}", "caf\u{e9}", true),
        // Whole characters, as a query finds them: the accent is part of the last one.
        ("cafe", "cafe\u{301}", false), ("caf", "cafe\u{301}", true),
        ("σ", "ΟΔΟΣ", true), ("ς", "Σ", true), ("Σ", "οδος", true), ("東", "東京", true), ("京東", "東京", false),
        ("longer", "long", false),
    ])
    func findsTextWhateverItsCase(text: String, key: String, isThere: Bool) throws {
        #expect(try #require(SearchText(text)).matches(key) == isThere)
    }

    @Test func anEmptyTextIsNone() { #expect(SearchText("") == nil) }
}
