import BrowserCore
import StorageEngine
import StoreInspection
import TerminalKit
import Testing

struct FindTests {
    /// A value of `size` bytes: lines of words with needles at these offsets.
    private static func long(_ size: Int, needles: [Int]) -> [UInt8] {
        var bytes = [UInt8](repeating: 0x20, count: size)
        let line = Array("    a line of a long text with words in it\n".utf8)
        for start in stride(from: 0, to: size, by: line.count) {
            for (index, byte) in line.enumerated() where start + index < size { bytes[start + index] = byte }
        }
        for needle in needles {
            for (index, byte) in "Needle".utf8.enumerated() { bytes[needle + index] = byte }
        }
        return bytes
    }

    private func source(_ bytes: [UInt8], encoding: ValueEncoding = .unknown) -> MockSource {
        let source = Fixture.source { state in
            state.archives["Blob"]?[0].bytes = bytes
            state.archives["Blob"]?[0].entry.valueBytes = bytes.count
            state.archives["Blob"]?[0].entry.encoding = encoding
        }
        return source
    }

    /// Regression: only the first 262 kB were searched.
    @Test(arguments: ["", "t"]) func findsInLongValue(view: String) throws {
        // One spans the edge of two reads.
        let needles = [9_000_000, (4 << 20) - 3, 11_999_994]
        let source = source(Self.long(12_000_000, needles: needles))
        var browser = try Fixture.browser(source, keys: "<enter><enter>\(view)/needle<enter>")
        #expect(browser.text.contains("1 of 3"))
        // As bytes it continues in the next row.
        let seen = view.isEmpty ? ["iNeedle  "] : ["69 4e 65 65   ", "400000  64 6c 65 20 "]
        for text in seen { #expect(browser.text.contains(text), "\(browser.text)") }
        try browser.press("n", shows: "2 of 3  byte 9,000,000 of 12,000,000")
        try browser.press("n", shows: "3 of 3")
        try browser.press("n")
        #expect(browser.text.contains("1 of 3"), "the search did not wrap")
        try browser.press("N", shows: "3 of 3")
        try browser.press("<esc>", hides: "of 3 ", on: .value)
    }

    @Test func findsBytes() throws {
        var bytes = [UInt8](repeating: 0, count: 300_000)
        bytes.replaceSubrange(200_000..<200_003, with: [0xca, 0xfe, 0x01])
        bytes.replaceSubrange(250_000..<250_004, with: Array("cafe".utf8))
        let source = source(bytes)
        var browser = try Fixture.browser(source, keys: "<enter><enter>/0xcafe")
        browser.expect(shows: "as bytes: 1 of 1", "ca fe 01")
        try browser.press("<ctrl+u>ca fe 0", shows: "no match")
        try browser.press("<ctrl+u>cafe<enter>")
        #expect(browser.text.contains("1 of 2  byte 200,000 of 300,000"), "not found as bytes and as text")
        try browser.press("/0xabc", shows: "0x needs pairs of hex digits")
    }

    /// Bytes that span the edge of two reads.
    @Test func findsBytesInLongValue() throws {
        var bytes = [UInt8](repeating: 0, count: 9_000_000)
        bytes.replaceSubrange((4 << 20) - 2..<(4 << 20) + 2, with: [0xde, 0xad, 0xbe, 0xef])
        bytes.replaceSubrange(8_999_996..<9_000_000, with: [0xde, 0xad, 0xbe, 0xef])
        var browser = try Fixture.browser(source(bytes), keys: "<enter><enter>/0xdeadbeef<enter>")
        #expect(browser.text.contains("1 of 2  byte 4,194,302 of 9,000,000"))
        #expect(browser.lines.contains { $0.hasPrefix("400000  be ef 00 ") })
        try browser.press("n", shows: "2 of 2  byte 8,999,996 of 9,000,000")
        try browser.press("/<ctrl+u>0xdeadbeee<enter>", shows: "\"0xdeadbeee\" no match")
    }

    @Test func stopsSearch() throws {
        let source = source(Self.long(9_000_000, needles: [8_000_000]))
        var test = try UpdateTest(Fixture.model(), source, keys: "<enter><enter>/")
        let effects = test.press(.character("n"), source, settling: false)
        #expect(effects.map(\.description) == ["find \"n\" in Blob/picture.png"])
        let now = Fixture.start.adding(seconds: 1)
        test.send(.clock(now))
        #expect(test.text.contains("0.0% searching \"n\", esc stops"))
        let stopping = test.press(Key(.escape), source, settling: false)
        #expect(stopping.map(\.description) == ["stop"])
        // The response is too late.
        for message in test.answers(to: effects[0], source) { test.send(message) }
        #expect(!test.text.contains("of 1"))
        #expect(test.model.screen == .value)
    }

    /// Matches of a replaced value are useless.
    @Test func reportsChangeDuringSearch() throws {
        let source = source(Self.long(9_000_000, needles: [8_000_000]))
        var test = try UpdateTest(Fixture.model(columns: 100), source, keys: "<enter><enter>/")
        let effects = test.press(.character("N"), source, settling: false)
        source.with { $0.archives["Blob"]?[0].entry.sequence += 1 }
        for message in test.answers(to: effects[0], source) { test.send(message) }
        #expect(test.text.contains("the value changed during the search"))
    }

    @Test(arguments: ["/", "t/"], ["café", "strasse", "한", "ΣΊΣΥΦΟΣ", "fish"])
    func textAndTreeFindTheSame(view: String, text: String) throws {
        let value = "{\"t\":\"cafe\u{301} Straße <\u{1112}\u{1161}\u{11ab}> σίσυφος ﬁsh\"}"
        let asTree = try Fixture.browser(
            source(Array(value.utf8), encoding: .json), keys: "<enter><enter>\(view)\(text)<enter>")
        #expect(asTree.text.contains("\" 1 of 1 "), "\(asTree.text)")
        let asText = try Fixture.browser(
            source(Array(value.utf8), encoding: .text), keys: "<enter><enter>/\(text)<enter>")
        #expect(asText.text.contains("\" 1 of 1 "), "\(asText.text)")
    }

    /// A match within a joined emoji highlights the whole, which is drawn as one.
    @Test func highlightsWholeCharacter() throws {
        let browser = try Fixture.browser(
            source(Array("an 👩‍🚀 here".utf8), encoding: .text), keys: "<enter><enter>/🚀<enter>")
        let row = try #require(browser.lines.firstIndex { $0.hasPrefix("an ") })
        let match = Fixture.unicode[.match]
        let marked = (0..<12).filter { browser.frame[$0, row].style == match }
        #expect(marked == Array(3..<3 + TextWidth.width(of: "👩‍🚀")))
    }

    /// Each view is searched as shown.
    @Test func repeatsSearchInOtherView() throws {
        var browser = try Fixture.browser(Fixture.source(), keys: "j<enter><enter>/jakarta<enter>")
        #expect(browser.text.contains("1 of 3"))
        try browser.press("t", shows: "\"jakarta\" 1 of 3")
        try browser.press("t", shows: "\"jakarta\" 1 of 3")
        try browser.press("<esc>")
        try browser.press("n", shows: "No search yet; / starts one.")
    }

    // MARK: Long text

    /// Regression: a text ended after 262 kB.
    @Test func showsAllOfLongText() throws {
        let bytes = Self.long(12_000_000, needles: []) + Array("\nthe very end".utf8)
        let source = source(bytes)
        var browser = try Fixture.browser(source, keys: "<enter><enter>")
        #expect(browser.text.contains("\n    a line of a long text with words in it"), "its indentation")
        try browser.press("<end>", shows: "the very end")
        let bottom = browser.frame
        try browser.press("<pgup><pgdn>")
        #expect(browser.frame == bottom)
        try browser.press("<up>", hides: "the very end")
        try browser.press("<home>", shows: "byte 0 of 12,000,013")
        // Scrolling down and up returns to the top.
        let top = browser.frame
        try browser.press("<pgdn><pgdn>jjjkkk<pgup><pgup>")
        #expect(browser.frame == top)
    }

    @Test func explainsOversizedTree() throws {
        let bytes = Array("{\"a\":\"".utf8) + [UInt8](repeating: 0x78, count: 9_000_000) + Array("\"}".utf8)
        let browser = try Fixture.browser(
            source(bytes, encoding: .json), columns: 100, keys: "<enter><enter>")
        #expect(browser.text.contains("No tree over 8.39 MB; / searches all, t shows bytes."))
    }

    /// The row shows the beginning of a long text; opened, all of it is shown.
    @Test func opensTextOfTree() throws {
        let text = String(repeating: "many words ", count: 4_000) + "the last"
        let source = source(Array("{\"short\":1,\"long\":\"\(text)\"}".utf8), encoding: .json)
        var browser = try Fixture.browser(source, keys: "<enter><enter>jj<enter>")
        browser.expect(shows: "$.long", "\nmany words many words")
        try browser.press("<end>", shows: "words the last")
        try browser.press("/the last<enter>", shows: "1 of 1")
        try browser.press("<esc>t")
        #expect(browser.text.contains("6d 61 6e 79"), "its bytes")
        try browser.press("<esc>", shows: "▾ 2 members")
        try browser.press("/the last<enter>")
        #expect(browser.text.contains("\"the last\" 1 of 1"), "text beyond the row was not found")
        try browser.press("<esc>k<enter>", shows: "The row shows the whole value.")
    }

    /// A tree within its limit is read completely, although other views of that size are windowed.
    @Test func searchesLongTree() throws {
        let items = (0..<20_000).map { "{\"name\":\"item \($0)\",\"number\":\($0)}" }
            .joined(separator: ",")
        let bytes = Array("{\"first\":1,\"items\":[\(items)],\"last\":\"the needle\"}".utf8)
        #expect(bytes.count > 500_000)
        var browser = try Fixture.browser(source(bytes, encoding: .json), keys: "<enter><enter>")
        #expect(browser.text.contains("▸ items: 20,000 items\n  · last: \"the needle\"\n"))
        try browser.press("+G", shows: "· number: 19999 ")
        #expect(browser.lines[22].hasPrefix("$.last ") && browser.lines[22].hasSuffix("60,004 of 60,004"))
        try browser.press("g/item 19999<enter>")
        #expect(browser.lines[22].hasPrefix("$.items[19999].name "), "\(browser.text)")
        #expect(browser.lines[22].contains("\"item 19999\" 1 of 1 "))
        try browser.press("/<ctrl+u>the needle<enter>")
        #expect(browser.lines[22].hasPrefix("$.last ") && browser.lines[22].contains(" 1 of 1 "))
        try browser.press("/<ctrl+u>item 20000<enter>", row: 22, shows: "\"item 20000\" no match")
    }

    /// Regression: text after the cut of a tree was reported as absent.
    @Test func findsTextAfterCutOfTree() throws {
        let count = ValueTree.maximumNodes + 1_000
        let bytes = Array("[\((0..<count).map(String.init).joined(separator: ","))]".utf8)
        var browser = try Fixture.browser(source(bytes, encoding: .json), keys: "<enter><enter>")
        #expect(browser.text.contains("  first "))
        try browser.press("/\(count - 1)<enter>", shows: "\"\(count - 1)\" 1 of 1 ")
        // In the tree, the next match is searched in the text again.
        try browser.press("tt", shows: "  first ", hides: "no match")
        try browser.press("n", shows: "\"\(count - 1)\" 1 of 1 ")
    }

    /// A text is one line in its row, and has several when opened.
    @Test func openedTextHasItsLines() throws {
        let bytes = Array("{\"text\":\"first line\\n    second, indented\\n\\nthe last\",\"other\":1}".utf8)
        var browser = try Fixture.browser(source(bytes, encoding: .json), keys: "<enter><enter>j")
        #expect(
            browser.text.contains(
                "· text: \"first line\\n    second, indented\\n\\nthe last\"\n  · other: 1\n"))
        try browser.press("<enter>", shows: "\nfirst line\n    second, indented\n\nthe last\n")
        #expect(browser.lines[22].hasPrefix("$.text "))
        try browser.press("/indented<enter>", row: 22, shows: "\"indented\" 1 of 1  byte 23 of 41")
    }

    /// A replaced value is never shown as a part of the former.
    @Test func windowsBelongToOneValue() throws {
        let source = source(Self.long(12_000_000, needles: []))
        var browser = try Fixture.browser(source, keys: "<enter><enter>")
        source.with { state in
            state.archives["Blob"]?[0].entry.sequence += 1
            state.archives["Blob"]?[0].bytes = [UInt8](repeating: 0x7a, count: 12_000_000)
        }
        try browser.press("<end>", shows: "Replaced; R shows the new value.", hides: "zzz")
    }
}
