import BrowserCore
import StorageEngine
import StoreInspection
import TerminalKit
import Testing

/// Finding in values, and reading all of a long one.
struct FindTests {
    /// A value of that many bytes: lines of words, and a needle near its end, far behind what is read to open it.
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
        let source = Fixture.source()
        source.with { state in
            state.archives["Blob"]?[0].bytes = bytes
            state.archives["Blob"]?[0].entry.valueBytes = bytes.count
            state.archives["Blob"]?[0].entry.encoding = encoding
        }
        return source
    }

    /// What broke: only the first 262 kB of a long value were searched, and then it was said that it isn't there.
    @Test(arguments: ["", "t"]) func findsInAllOfALongValue(view: String) throws {
        // One lies across the edge of two readings.
        let needles = [9_000_000, (4 << 20) - 3, 11_999_994]
        let source = source(Self.long(12_000_000, needles: needles))
        var browser = try Fixture.browser(source, keys: "<enter><enter>\(view)/needle<enter>")
        #expect(browser.frame.plainText.contains("1 of 3"))
        // In bytes it goes on in the next row.
        let seen = view.isEmpty ? ["iNeedle  "] : ["69 4e 65 65   ", "400000  64 6c 65 20 "]
        for text in seen { #expect(browser.frame.plainText.contains(text), "\(browser.frame.plainText)") }
        browser.press(try Key.script("n"))
        #expect(browser.frame.plainText.contains("2 of 3  byte 9,000,000 of 12,000,000"))
        browser.press(try Key.script("n"))
        #expect(browser.frame.plainText.contains("3 of 3"))
        browser.press(try Key.script("n"))
        #expect(browser.frame.plainText.contains("1 of 3"), "after the last comes the first")
        browser.press(try Key.script("N"))
        #expect(browser.frame.plainText.contains("3 of 3"))
        browser.press([Key(.escape)])
        #expect(!browser.frame.plainText.contains("of 3 "))
        #expect(browser.model.screen == .value)
    }

    @Test func findsBytes() throws {
        var bytes = [UInt8](repeating: 0, count: 300_000)
        bytes.replaceSubrange(200_000..<200_003, with: [0xca, 0xfe, 0x01])
        bytes.replaceSubrange(250_000..<250_004, with: Array("cafe".utf8))
        let source = source(bytes)
        var browser = try Fixture.browser(source, keys: "<enter><enter>/0xcafe")
        #expect(browser.frame.plainText.contains("as bytes: 1 of 1"))
        #expect(browser.frame.plainText.contains("ca fe 01"))
        browser.press(try Key.script("<ctrl+u>ca fe 0"))
        #expect(browser.frame.plainText.contains("no match"))
        browser.press(try Key.script("<ctrl+u>cafe<enter>"))
        #expect(browser.frame.plainText.contains("1 of 2  byte 200,000 of 300,000"), "as bytes, and as text")
        browser.press(try Key.script("/0xabc"))
        #expect(browser.frame.plainText.contains("0x needs pairs of hex digits"))
    }

    /// Bytes on both sides of the edge of two readings, as in ``findsInAllOfALongValue(view:)`` a text.
    @Test func findsBytesInAllOfALongValue() throws {
        var bytes = [UInt8](repeating: 0, count: 9_000_000)
        bytes.replaceSubrange((4 << 20) - 2..<(4 << 20) + 2, with: [0xde, 0xad, 0xbe, 0xef])
        bytes.replaceSubrange(8_999_996..<9_000_000, with: [0xde, 0xad, 0xbe, 0xef])
        var browser = try Fixture.browser(source(bytes), keys: "<enter><enter>/0xdeadbeef<enter>")
        #expect(browser.frame.plainText.contains("1 of 2  byte 4,194,302 of 9,000,000"))
        #expect(browser.frame.lines.contains { $0.hasPrefix("400000  be ef 00 ") })
        browser.press(try Key.script("n"))
        #expect(browser.frame.plainText.contains("2 of 2  byte 8,999,996 of 9,000,000"))
        browser.press(try Key.script("/<ctrl+u>0xdeadbeee<enter>"))
        #expect(browser.frame.plainText.contains("\"0xdeadbeee\" no match"))
    }

    @Test func aSearchIsStopped() throws {
        let source = source(Self.long(9_000_000, needles: [8_000_000]))
        var test = try UpdateTest(Fixture.model(columns: 80, rows: 24), source, keys: "<enter><enter>/")
        let effects = test.press(.character("n"), source, settling: false)
        #expect(effects.map(\.description) == ["find \"n\" in Blob/picture.png"])
        let now = Fixture.start.adding(seconds: 1)
        test.send(.clock(now))
        #expect(test.text.contains("0.0% searching \"n\", Esc stops"))
        let stopping = test.press(Key(.escape), source, settling: false)
        #expect(stopping.map(\.description) == ["stop"])
        // What it has to say comes too late.
        for message in test.answers(to: effects[0], source) { test.send(message) }
        #expect(!test.text.contains("of 1"))
        #expect(test.model.screen == .value)
    }

    /// What was found in a value is nothing to go by once there is another.
    @Test func saysThatTheValueChangedMeanwhile() throws {
        let source = source(Self.long(9_000_000, needles: [8_000_000]))
        var test = try UpdateTest(Fixture.model(columns: 100, rows: 24), source, keys: "<enter><enter>/")
        let effects = test.press(.character("N"), source, settling: false)
        source.with { $0.archives["Blob"]?[0].entry.sequence += 1 }
        for message in test.answers(to: effects[0], source) { test.send(message) }
        #expect(test.text.contains("the value changed during the search"))
    }

    /// What broke: what a tree's find finds in another form of its letters wasn't there in the text view of the same value.
    @Test(arguments: ["/", "t/"], ["café", "strasse", "한", "ΣΊΣΥΦΟΣ", "fish"])
    func textAndTreeFindTheSame(view: String, text: String) throws {
        let value = "{\"t\":\"cafe\u{301} Straße <\u{1112}\u{1161}\u{11ab}> σίσυφος ﬁsh\"}"
        let asTree = try Fixture.browser(
            source(Array(value.utf8), encoding: .json), keys: "<enter><enter>\(view)\(text)<enter>")
        #expect(asTree.frame.plainText.contains("\" 1 of 1 "), "\(asTree.frame.plainText)")
        let asText = try Fixture.browser(
            source(Array(value.utf8), encoding: .text), keys: "<enter><enter>/\(text)<enter>")
        #expect(asText.frame.plainText.contains("\" 1 of 1 "), "\(asText.frame.plainText)")
    }

    /// A part of a joined emoji is found in a text, and the whole of it is highlighted: it is drawn as one.
    @Test func aPartOfACharacterIsHighlighted() throws {
        let browser = try Fixture.browser(
            source(Array("an 👩‍🚀 here".utf8), encoding: .text), keys: "<enter><enter>/🚀<enter>")
        let row = try #require(browser.frame.lines.firstIndex { $0.hasPrefix("an ") })
        let match = Fixture.unicode[.match]
        let marked = (0..<12).filter { browser.frame[$0, row].style == match }
        #expect(marked == Array(3..<3 + TextWidth.width(of: "👩‍🚀")))
    }

    /// Each view of a value is searched as it is shown.
    @Test func findsAnewInAnotherView() throws {
        var browser = try Fixture.browser(Fixture.source(), keys: "j<enter><enter>/jakarta<enter>")
        #expect(browser.frame.plainText.contains("1 of 3"))
        browser.press([.character("t")])
        #expect(browser.frame.plainText.contains("\"jakarta\" 1 of 3"))
        browser.press([.character("t")])
        #expect(browser.frame.plainText.contains("\"jakarta\" 1 of 3"))
        browser.press([Key(.escape)])
        browser.press([.character("n")])
        #expect(browser.frame.plainText.contains("No search yet; / starts one."))
    }

    // MARK: Long text

    /// What broke: a text ended after 262 kB.
    @Test func allOfALongTextIsShown() throws {
        let bytes = Self.long(12_000_000, needles: []) + Array("\nthe very end".utf8)
        let source = source(bytes)
        var browser = try Fixture.browser(source, keys: "<enter><enter>")
        #expect(
            browser.frame.plainText.contains("\n    a line of a long text with words in it"),
            "its indentation")
        browser.press([Key(.end)])
        #expect(browser.frame.plainText.contains("the very end"))
        let bottom = browser.frame
        browser.press([Key(.pageUp), Key(.pageDown)])
        #expect(browser.frame == bottom)
        browser.press([Key(.up)])
        #expect(!browser.frame.plainText.contains("the very end"))
        browser.press([Key(.home)])
        #expect(browser.frame.plainText.contains("byte 0 of 12,000,013"))
        // Down and up again leads to where one was.
        let top = browser.frame
        browser.press(try Key.script("<pgdn><pgdn>jjjkkk<pgup><pgup>"))
        #expect(browser.frame == top)
    }

    @Test func aTooLongTreeIsSaidWithWhatToPress() throws {
        let bytes = Array("{\"a\":\"".utf8) + [UInt8](repeating: 0x78, count: 9_000_000) + Array("\"}".utf8)
        let browser = try Fixture.browser(
            source(bytes, encoding: .json), columns: 100, keys: "<enter><enter>")
        #expect(
            browser.frame.plainText.contains("No tree over 8.39 MB; / searches all, t shows bytes.")
        )
    }

    /// A long text of a tree is read in full: its row shows the beginning.
    @Test func aTextOfATreeIsOpened() throws {
        let text = String(repeating: "many words ", count: 4_000) + "the last"
        let source = source(Array("{\"short\":1,\"long\":\"\(text)\"}".utf8), encoding: .json)
        var browser = try Fixture.browser(source, keys: "<enter><enter>jj<enter>")
        #expect(browser.frame.plainText.contains("$.long"))
        #expect(browser.frame.plainText.contains("\nmany words many words"))
        browser.press([Key(.end)])
        #expect(browser.frame.plainText.contains("words the last"))
        browser.press(try Key.script("/the last<enter>"))
        #expect(browser.frame.plainText.contains("1 of 1"))
        browser.press(try Key.script("<esc>t"))
        #expect(browser.frame.plainText.contains("6d 61 6e 79"), "its bytes")
        browser.press(try Key.script("<esc>"))
        #expect(browser.frame.plainText.contains("▾ {2}"))
        browser.press(try Key.script("/the last<enter>"))
        #expect(
            browser.frame.plainText.contains("\"the last\" 1 of 1"),
            "a row that doesn't show it is found by it")
        browser.press(try Key.script("<esc>k<enter>"))
        #expect(browser.frame.plainText.contains("The row shows the whole value."))
    }

    /// Up to its limit a tree is read as a whole, though a value of that size is shown in parts elsewhere.
    @Test func allOfALongTreeIsShownAndSearched() throws {
        let items = (0..<20_000).map { "{\"name\":\"item \($0)\",\"number\":\($0)}" }
            .joined(separator: ",")
        let bytes = Array("{\"first\":1,\"items\":[\(items)],\"last\":\"the needle\"}".utf8)
        #expect(bytes.count > 500_000)
        var browser = try Fixture.browser(source(bytes, encoding: .json), keys: "<enter><enter>")
        #expect(browser.frame.plainText.contains("▸ items: [20,000]\n  · last: \"the needle\"\n"))
        browser.press(try Key.script("+G"))
        #expect(browser.frame.plainText.contains("· number: 19999 "), "\(browser.frame.plainText)")
        #expect(
            browser.frame.lines[22].hasPrefix("$.last ")
                && browser.frame.lines[22].hasSuffix("60,004 of 60,004"))
        browser.press(try Key.script("g/item 19999<enter>"))
        #expect(browser.frame.lines[22].hasPrefix("$.items[19999].name "), "\(browser.frame.plainText)")
        #expect(browser.frame.lines[22].contains("\"item 19999\" 1 of 1 "))
        browser.press(try Key.script("/<ctrl+u>the needle<enter>"))
        #expect(browser.frame.lines[22].hasPrefix("$.last ") && browser.frame.lines[22].contains(" 1 of 1 "))
        browser.press(try Key.script("/<ctrl+u>item 20000<enter>"))
        #expect(browser.frame.lines[22].contains("\"item 20000\" no match"))
    }

    /// What broke: of a tree that is cut what stands behind was said not to be there.
    @Test func whatIsBehindTheEndOfACutTreeIsFound() throws {
        let count = ValueTree.maximumNodes + 1_000
        let bytes = Array("[\((0..<count).map(String.init).joined(separator: ","))]".utf8)
        var browser = try Fixture.browser(source(bytes, encoding: .json), keys: "<enter><enter>")
        #expect(browser.frame.plainText.contains("  first "))
        browser.press(try Key.script("/\(count - 1)<enter>"))
        #expect(browser.frame.plainText.contains("\"\(count - 1)\" 1 of 1 "), "\(browser.frame.plainText)")
        // Back in the tree the next one is looked for in the text again.
        browser.press(try Key.script("tt"))
        #expect(
            browser.frame.plainText.contains("  first ") && !browser.frame.plainText.contains("no match"))
        browser.press(try Key.script("n"))
        #expect(browser.frame.plainText.contains("\"\(count - 1)\" 1 of 1 "), "\(browser.frame.plainText)")
    }

    /// In its row a text of a tree is one line; opened it has its own.
    @Test func aTextOfATreeHasItsLines() throws {
        let bytes = Array("{\"text\":\"first line\\n    second, indented\\n\\nthe last\",\"other\":1}".utf8)
        var browser = try Fixture.browser(source(bytes, encoding: .json), keys: "<enter><enter>j")
        #expect(
            browser.frame.plainText.contains(
                "· text: \"first line\\n    second, indented\\n\\nthe last\"\n  · other: 1\n"))
        browser.press([Key(.enter)])
        #expect(
            browser.frame.plainText.contains("\nfirst line\n    second, indented\n\nthe last\n"),
            "\(browser.frame.plainText)")
        #expect(browser.frame.lines[22].hasPrefix("$.text "))
        browser.press(try Key.script("/indented<enter>"))
        #expect(browser.frame.lines[22].contains("\"indented\" 1 of 1  byte 23 of 41"))
    }

    /// A value that was stored anew is never shown as a part of the one before.
    @Test func windowsAreOfOneValue() throws {
        let source = source(Self.long(12_000_000, needles: []))
        var browser = try Fixture.browser(source, keys: "<enter><enter>")
        source.with { state in
            state.archives["Blob"]?[0].entry.sequence += 1
            state.archives["Blob"]?[0].bytes = [UInt8](repeating: 0x7a, count: 12_000_000)
        }
        browser.press([Key(.end)])
        #expect(!browser.frame.plainText.contains("zzz"))
        #expect(browser.frame.plainText.contains("Replaced; R shows the new value."))
    }
}
