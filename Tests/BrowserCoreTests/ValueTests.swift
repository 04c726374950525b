import BrowserCore
import StorageEngine
import StoreInspection
import TerminalKit
import Testing

struct ValueTests {
    private let source = Fixture.source()
    private let clock = TestClock()

    @Test func reportsDamageAndShowsBytes() throws {
        source.with { state in
            state.archives["City"]?[0].bytes = Array("{oops".utf8)
            state.archives["City"]?[0].entry.valueBytes = 5
        }
        let browser = try Fixture.browser(source, keys: "j<enter><enter>")
        browser.expect(shows: "not valid JSON", "{oops")
    }

    /// Regression: the error message stayed in place of the value.
    @Test func retriesFailedRead() throws {
        source.with { state in
            for held in state.archives["City"] ?? [] {
                state.valueProblems[held.entry.key] = "no descriptor is free"
            }
        }
        var browser = try Fixture.browser(source, keys: "j<enter><enter>")
        #expect(browser.text.contains("no descriptor is free"))
        source.with { $0.valueProblems = [:] }
        browser.refresh()
        browser.expect(shows: "Jakarta", hides: "no descriptor is free")
    }

    /// Regression: the top bar showed "live" above a value that the store no longer had, and its times advanced.
    @Test func replacedValueShowsAge() throws {
        var browser = try Fixture.browser(source, columns: 120, clock: clock, keys: "j<enter><enter>")
        clock.advance(10, refreshing: &browser)
        #expect(browser.lines[0].contains("● live"), "\(browser.text)")
        let before = browser.lines[1]
        source.record("Jakarta", Array("{\"new\":true}".utf8), archive: "City", at: clock.now)
        clock.advance(32, refreshing: &browser)
        #expect(browser.lines[0].contains("read 32s ago"), "\(browser.text)")
        #expect(browser.lines[1] == before, "its line changed")
        try browser.press("R", row: 0, shows: "● live")
        #expect(browser.text.contains("new: true"))
        source.remove("Jakarta", archive: "City")
        clock.advance(5, refreshing: &browser)
        #expect(browser.lines[0].contains("read 5s ago"), "\(browser.text)")
    }

    /// Regression: the line above an expired value had "expires expired".
    @Test func showsExpiredValue() throws {
        var browser = try Fixture.browser(source, columns: 120, clock: clock, keys: "j<enter>jj<enter>")
        #expect(browser.lines[1].contains("  expires 47s  "))
        clock.advance(60)
        try browser.press("<down>", row: 1, shows: "  expired  ")
        #expect(!browser.text.contains("expires expired"))
    }

    /// A large value is read in windows.
    @Test func readsLargeValues() throws {
        let size = 40_000_000
        source.with { state in
            state.archives["Blob"]?[0].bytes = [UInt8](repeating: 0xab, count: size - 1) + [0xcd]
            state.archives["Blob"]?[0].entry.valueBytes = size
        }
        var browser = try Fixture.browser(source, keys: "<enter><enter>")
        #expect(browser.text.contains("00000000  ab ab ab"))
        try browser.press("<end>", shows: "ab cd ", "of 40,000,000")
        try browser.press("<home><pgdn>", shows: "ab ab")
    }

    /// An entry without hits was never accessed, although its LRU position has a time.
    @Test func showsLastAccess() throws {
        var browser = try Fixture.browser(Fixture.source(), keys: "j<enter><enter>b")
        #expect(browser.boxLines.contains("hits 0"), "\(browser.text)")
        #expect(browser.boxLines.contains("accessed never"), "\(browser.text)")
        try browser.press("<esc><esc>j<enter>b")
        #expect(browser.boxLines.contains("hits 37"), "\(browser.text)")
        #expect(browser.boxLines.contains("accessed 2026-02-02 02:39:53, 7s ago"))
    }

    @Test func foldsAndSearches() throws {
        var browser = try Fixture.browser(Fixture.source(), keys: "j<enter><enter>-")
        #expect(!browser.text.contains("Djakarta"))
        try browser.press("/djak")
        #expect(browser.text.contains("1: \"Djakarta\""), "the folded match is hidden")
        try browser.press("<enter>", shows: "$.alternatenames[1]")
        try browser.press("h", shows: "$.alternatenames ")
        try browser.press("h", shows: "▸ alternatenames: 3 items")
        try browser.press("+", shows: "Djakarta")
        try browser.press("/jakarta<enter>nn")
        #expect(browser.text.contains("$.name"), "the search did not wrap")
        try browser.press("N", shows: "$.place.zone")
    }

    /// Regression: only color marked the end of a name, so that `a b 1` was ambiguous.
    @Test func namesEndWithColon() throws {
        let bytes = Array("{\"a b\":1,\"\":4,\"list\":[7]}".utf8)
        source.with { state in
            state.archives["City"]?[0].bytes = bytes
            state.archives["City"]?[0].entry.valueBytes = bytes.count
        }
        let browser = try Fixture.browser(source, look: Fixture.ascii, keys: "j<enter><enter>/a<enter>")
        let text = browser.text
        for row in ["a b: 1\n", " : 4\n", "list: 1 item\n", "0: 7\n"] {
            #expect(text.contains(row), "\(row) in \(text)")
        }
    }

    @Test func showsTextAndBytes() throws {
        var browser = try Fixture.browser(Fixture.source(), keys: "j<enter><enter>t")
        #expect(browser.text.contains("{\"geonameid\":1642911"))
        try browser.press("t", shows: "000000  7b 22 67 65")
        try browser.press("t", shows: "▾ 8 members")
    }

    @Test func escapesSequences() throws {
        let value = try Fixture.browser(Fixture.source(), keys: "<enter>j<enter>").frame
        #expect(value.plainText.contains("Second \\e[31mline"))
        let list = try Fixture.browser(Fixture.source(), columns: 100, keys: "j<enter>jjjjjj").frame
        #expect(list.plainText.contains("evil\\e[2J\\u{7}key"))
        for frame in [value, list] {
            #expect(!frame.ansiText(depth: .mono).contains("\u{1b}[2J"))
            #expect(!frame.plainText.contains("\u{1b}"))
        }
    }

    /// The preview of an entry is shown even if it is removed before it is opened.
    @Test func opensPreviewOfRemovedEntry() throws {
        var browser = try Fixture.browser(source, clock: clock, keys: "j<enter>jj")
        let key = try #require(browser.model.cursorKey)
        source.remove(key, archive: "City")
        try browser.press("<enter>", on: .value)
        #expect(browser.text.contains("Evicted or removed since; this is the last value."))
        #expect(browser.text.contains(" hits  idle "), "the entry's line and value are missing")
        clock.advance(4, refreshing: &browser)
        try browser.press("R", on: .value)
        browser.expect(shows: "Evicted or removed since; this is the last value.", " hits  idle ")
    }

    /// Without a preview the list stays.
    @Test func removedEntryWithoutPreviewOpensNothing() throws {
        var browser = try Fixture.browser(source, keys: "j<enter>pjj")
        let key = try #require(browser.model.cursorKey)
        source.remove(key, archive: "City")
        try browser.press("<enter>", on: .entries)
        #expect(browser.text.contains("Evicted or removed since: \(key)"))
    }
}
