import BrowserCore
import StorageEngine
import StoreInspection
import TerminalKit
import Testing

struct ValueTests {
    @Test func damageIsSaidAndTheBytesAreShown() throws {
        let source = Fixture.source()
        source.with { state in
            state.archives["City"]?[0].bytes = Array("{oops".utf8)
            state.archives["City"]?[0].entry.valueBytes = 5
        }
        let browser = try Fixture.browser(source, keys: "j<enter><enter>")
        #expect(browser.frame.plainText.contains("not valid JSON"))
        #expect(browser.frame.plainText.contains("{oops"))
    }

    /// What broke: why a value could not be read stood in its place for good.
    @Test func whatCouldNotBeReadIsReadAgain() throws {
        let source = Fixture.source()
        source.with { state in
            for held in state.archives["City"] ?? [] {
                state.valueProblems[held.entry.key] = "no descriptor is free"
            }
        }
        var browser = try Fixture.browser(source, keys: "j<enter><enter>")
        #expect(browser.frame.plainText.contains("no descriptor is free"))
        source.with { $0.valueProblems = [:] }
        browser.refresh()
        #expect(!browser.frame.plainText.contains("no descriptor is free"))
        #expect(browser.frame.plainText.contains("Jakarta"))
    }

    /// What broke: the top bar said "live" above a value that the store no longer held, and its times ran on.
    @Test func aValueThatTheStoreNoLongerHasSaysOfWhenItIs() throws {
        let source = Fixture.source()
        let clock = TestClock()
        var browser = try Fixture.browser(source, columns: 120, clock: clock, keys: "j<enter><enter>")
        clock.advance(10)
        browser.refresh()
        #expect(browser.frame.lines[0].contains("● live"), "\(browser.frame.plainText)")
        let before = browser.frame.lines[1]
        source.record("Jakarta", Array("{\"new\":true}".utf8), archive: "City", at: clock.now)
        clock.advance(32)
        browser.refresh()
        #expect(browser.frame.lines[0].contains("read 32s ago"), "\(browser.frame.plainText)")
        #expect(browser.frame.lines[1] == before, "its line is of that moment, too")
        browser.press([.character("R")])
        #expect(browser.frame.lines[0].contains("● live"), "\(browser.frame.plainText)")
        #expect(browser.frame.plainText.contains("new: true"))
        source.remove("Jakarta", archive: "City")
        clock.advance(5)
        browser.refresh()
        #expect(browser.frame.lines[0].contains("read 5s ago"), "\(browser.frame.plainText)")
    }

    /// What broke: the line above a value whose time was over said "expires expired".
    @Test func aValueWhoseTimeIsOverIsSaidToHaveExpired() throws {
        let source = Fixture.source()
        let clock = TestClock()
        var browser = try Fixture.browser(source, columns: 120, clock: clock, keys: "j<enter>jj<enter>")
        #expect(browser.frame.lines[1].contains("  expires 47s  "))
        clock.advance(60)
        browser.press([Key(.down)])
        #expect(browser.frame.lines[1].contains("  expired  "), "\(browser.frame.plainText)")
        #expect(!browser.frame.plainText.contains("expires expired"))
    }

    /// A big value is opened by its beginning, and scrolled through in windows.
    @Test func bigValuesAreRead() throws {
        let source = Fixture.source()
        let size = 40_000_000
        source.with { state in
            state.archives["Blob"]?[0].bytes = [UInt8](repeating: 0xab, count: size - 1) + [0xcd]
            state.archives["Blob"]?[0].entry.valueBytes = size
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

    /// An entry that nobody hit since it was recorded was never used, though its place in the order has a time; of another
    /// it is said when.
    @Test func theLastUseOfAnEntryIsSaid() throws {
        var browser = try Fixture.browser(Fixture.source(), keys: "j<enter><enter>b")
        #expect(browser.frame.boxLines.contains("hits 0"), "\(browser.frame.plainText)")
        #expect(browser.frame.boxLines.contains("accessed never"), "\(browser.frame.plainText)")
        browser.press(try Key.script("<esc><esc>j<enter>b"))
        #expect(browser.frame.boxLines.contains("hits 37"), "\(browser.frame.plainText)")
        #expect(browser.frame.boxLines.contains("accessed 2026-02-02 02:39:53, 7s ago"))
    }

    @Test func foldsAndFinds() throws {
        var browser = try Fixture.browser(Fixture.source(), keys: "j<enter><enter>-")
        #expect(!browser.frame.plainText.contains("Djakarta"))
        browser.press(try Key.script("/djak"))
        #expect(browser.frame.plainText.contains("1: \"Djakarta\""), "what hides a match is unfolded")
        browser.press([Key(.enter)])
        #expect(browser.frame.plainText.contains("$.alternatenames[1]"))
        browser.press(try Key.script("h"))
        #expect(browser.frame.plainText.contains("$.alternatenames "))
        browser.press(try Key.script("h"))
        #expect(browser.frame.plainText.contains("▸ alternatenames: [3]"))
        browser.press(try Key.script("+"))
        #expect(browser.frame.plainText.contains("Djakarta"))
        browser.press(try Key.script("/jakarta<enter>nn"))
        #expect(browser.frame.plainText.contains("$.name"), "after the last match comes the first")
        browser.press(try Key.script("N"))
        #expect(browser.frame.plainText.contains("$.place.zone"))
    }

    /// What broke: where a name ends was told by a color alone, so that `a b 1` could be read in two ways.
    @Test func aNameOfATreeEndsWithAColon() throws {
        let source = Fixture.source()
        let bytes = Array("{\"a b\":1,\"\":4,\"list\":[7]}".utf8)
        source.with { state in
            state.archives["City"]?[0].bytes = bytes
            state.archives["City"]?[0].entry.valueBytes = bytes.count
        }
        let browser = try Fixture.browser(source, look: Fixture.ascii, keys: "j<enter><enter>/a<enter>")
        let text = browser.frame.plainText
        for row in ["a b: 1\n", " : 4\n", "list: [1]\n", "0: 7\n"] {
            #expect(text.contains(row), "\(row) in \(text)")
        }
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
        #expect(browser.frame.plainText.contains("Evicted or removed since; this is the last value."))
        #expect(browser.frame.plainText.contains(" hits  idle "), "the entry's own line and value are there")
        clock.advance(4)
        browser.refresh()
        browser.press([.character("R")])
        #expect(browser.model.screen == .value)
        #expect(browser.frame.plainText.contains("Evicted or removed since; this is the last value."))
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
