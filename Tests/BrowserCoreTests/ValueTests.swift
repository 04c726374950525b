import BrowserCore
import CBOR
import TerminalKit
import Testing

struct ValueTests {
    private func content(_ text: String, _ notation: ValueNotation = .unknown) -> ValueContent {
        ValueContent(Array(text.utf8), total: text.utf8.count, notation: notation)
    }

    @Test func treeKeepsOrderAndNumbers() throws {
        let text = #"{"z":1,"a":[true,null,-0.5,12345678901234567890,1.10],"m":{"x y":"é"}}"#
        let tree = try #require(content(text, .json).tree)
        #expect(
            tree.nodes.map { "\($0.depth) \($0.name) \($0.value)" } == [
                "0  {3}", "1 z 1", "1 a [5]", "2 0 true", "2 1 null", "2 2 -0.5", "2 3 12345678901234567890",
                "2 4 1.1", "1 m {1}", "2 x y \"é\"",
            ])
        #expect(tree.path(of: 6) == "$.a[3]")
        #expect(tree.path(of: 9) == "$.m[\"x y\"]")
        #expect(tree.path(of: 0) == "$")
        #expect(tree.visible(folded: [2]) == [0, 1, 2, 8, 9])
        #expect(tree.visible(folded: [0]) == [0])
    }

    @Test(
        arguments: [
            (.tagged(1, 0), "date 1970-01-01 00:00:00 UTC"),
            (.tagged(1, .float(1_795_275_477.611058)), "date 2026-11-21 15:37:57.611 UTC"),
            (.tagged(1, .float(-0.25)), "date 1969-12-31 23:59:59.750 UTC"),
            (.tagged(1, .unsigned(.max)), "tag 1 18446744073709551615"),
            (.tagged(1, "x"), "tag 1 \"x\""), (.tagged(1, .float(.nan)), "tag 1 nan"),
            (.tagged(0, "2026-01-31T00:00:00Z"), "date 2026-01-31T00:00:00Z"),
            (.tagged(32, "https://a.example/"), "URL \"https://a.example/\""),
            (.tagged(37, .bytes([UInt8](0...15))), "UUID 00010203-0405-0607-0809-0A0B0C0D0E0F"),
            (.tagged(37, .bytes([1, 2])), "tag 37 h'0102' 2 B"),
            (.tagged(4, [-2, 1234]), "12.34"),
            (.tagged(9, .tagged(1, 60)), "tag 9 date 1970-01-01 00:01:00 UTC"),
        ] as [(CBORValue, String)])
    func tagsAreWordsWhereTheyCanBe(value: CBORValue, text: String) {
        #expect(ValueTree(value).nodes.map(\.value) == [text])
    }

    @Test(
        arguments: [
            ([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0], "PNG image", false, false),
            (Array("{\"a\":1}".utf8), "JSON", true, true), (Array("[1, 2]".utf8), "JSON", true, true),
            (Array("{not json".utf8), "text", false, true), (Array("plain".utf8), "text", false, true),
            ([0xa1, 0x61, 0x61, 0x01], "CBOR", true, true), ([0xff, 0xfe, 0x00], "bytes", false, false),
            ([], "empty", false, true), ([0x00, 0x01], "bytes", false, false),
        ] as [([UInt8], String, Bool, Bool)])
    func recognises(bytes: [UInt8], name: String, isTree: Bool, isText: Bool) {
        let content = ValueContent(bytes, total: bytes.count, notation: .unknown)
        #expect(content.name == name)
        #expect((content.tree != nil) == isTree)
        #expect((content.text != nil) == isText)
        #expect(content.problem == nil)
    }

    @Test func damageIsSaidAndTheBytesAreShown() throws {
        let content = ValueContent([0xa1, 0x61], total: 2, notation: .cbor)
        #expect(content.tree == nil)
        #expect(content.problem?.hasPrefix("not valid CBOR: byte") == true)
        #expect(self.content("{oops", .json).problem?.hasPrefix("not valid JSON") == true)
        let source = Fixture.source()
        source.with { state in
            state.archives["City"]?[0].bytes = Array("{oops".utf8)
            state.archives["City"]?[0].entry.size = 5
        }
        let browser = try Fixture.browser(source, keys: "j<enter><enter>")
        #expect(browser.frame.plainText.contains("not valid JSON"))
        #expect(browser.frame.plainText.contains("{oops"))
    }

    /// A big value is opened by its beginning, and scrolled through in windows.
    @Test func bigValuesAreRead() throws {
        let source = Fixture.source()
        let size = 40_000_000
        source.with { state in
            state.archives["Blob"]?[0].bytes = [UInt8](repeating: 0xab, count: size - 1) + [0xcd]
            state.archives["Blob"]?[0].entry.size = size
        }
        var browser = try Fixture.browser(source, keys: "<enter><enter>")
        #expect(browser.frame.plainText.contains("00000000  ab ab ab"))
        browser.press([Key(.end)])
        let text = browser.frame.plainText
        #expect(text.contains("ab cd "))
        #expect(text.contains("of 40,000,000"))
        browser.press([Key(.home), Key(.pageDown)])
        #expect(browser.frame.plainText.contains("ab ab"))
    }

    @Test func foldsAndFinds() throws {
        var browser = try Fixture.browser(Fixture.source(), keys: "j<enter><enter>C")
        #expect(!browser.frame.plainText.contains("Djakarta"))
        browser.press(try Key.script("/djak"))
        #expect(browser.frame.plainText.contains("1 \"Djakarta\""), "what hides a match is unfolded")
        browser.press([Key(.enter)])
        #expect(browser.frame.plainText.contains("$.alternatenames[1]"))
        browser.press(try Key.script("h"))
        #expect(browser.frame.plainText.contains("$.alternatenames "))
        browser.press(try Key.script("h"))
        #expect(browser.frame.plainText.contains("▸ alternatenames [3]"))
        browser.press(try Key.script("E"))
        #expect(browser.frame.plainText.contains("Djakarta"))
        browser.press(try Key.script("/jakarta<enter>nn"))
        #expect(browser.frame.plainText.contains("$.name"), "after the last match comes the first")
        browser.press(try Key.script("N"))
        #expect(browser.frame.plainText.contains("$.place.zone"))
    }

    @Test func viewsAsTextAndBytes() throws {
        var browser = try Fixture.browser(Fixture.source(), keys: "j<enter><enter>t")
        #expect(browser.frame.plainText.contains("{\"geonameid\":1642911"))
        browser.press([.character("t")])
        #expect(browser.frame.plainText.contains("000000  7b 22 67 65"))
        browser.press([.character("t")])
        #expect(browser.frame.plainText.contains("▾ {8}"))
    }

    /// Escape sequences in keys and values are shown, never sent.
    @Test func escapesAreShown() throws {
        let value = try Fixture.browser(Fixture.source(), keys: "<enter>j<enter>").frame
        #expect(value.plainText.contains("Second \\e[31mline"))
        let list = try Fixture.browser(Fixture.source(), columns: 100, keys: "j<enter>jjjjjj").frame
        #expect(list.plainText.contains("evil\\e[2J\\u{7}key"))
        for frame in [value, list] {
            #expect(!frame.ansiText(depth: .mono).contains("\u{1b}[2J"))
            #expect(!frame.plainText.contains("\u{1b}"))
        }
    }

    /// What the pane showed of an entry is still shown when it goes before it is opened.
    @Test func opensWhatWasSeenOfAnEntryThatIsGone() throws {
        let source = Fixture.source()
        let clock = TestClock()
        var browser = try Fixture.browser(source, clock: clock, keys: "j<enter>jj")
        let key = try #require(browser.model.cursorKey)
        source.remove(key, archive: "City")
        browser.press([Key(.enter)])
        #expect(browser.model.screen == .value)
        #expect(browser.frame.plainText.contains("Evicted or removed since; this is what it was."))
        #expect(browser.frame.plainText.contains(" hits  idle "), "the entry's own line and value are there")
        clock.advance(4)
        browser.refresh()
        browser.press([.character("R")])
        #expect(browser.model.screen == .value)
        #expect(browser.frame.plainText.contains("Evicted or removed since; this is what it was."))
        #expect(browser.frame.plainText.contains(" hits  idle "))
    }

    /// Nothing was seen of it, so the list stays.
    @Test func staysOnTheListWhenAnUnseenEntryIsGone() throws {
        let source = Fixture.source()
        var browser = try Fixture.browser(source, keys: "j<enter>pjj")
        let key = try #require(browser.model.cursorKey)
        source.remove(key, archive: "City")
        browser.press([Key(.enter)])
        #expect(browser.model.screen == .entries)
        #expect(browser.frame.plainText.contains("Evicted or removed since: \(key)"))
    }
}
