import BrowserCore
import TerminalKit
import Testing

/// Cursor and marks hold to keys while rows move.
struct CursorTests {
    @Test func holdsToItsKeyWhileRowsMove() throws {
        let source = Fixture.source()
        let clock = TestClock()
        var browser = try Fixture.browser(source, clock: clock, keys: "j<enter>jjjj")
        #expect(browser.model.cursorKey == "Cafe\u{301} de Flore")
        #expect(browser.model.cursorRow == 4)
        let place = browser.model.cursorRow - browser.model.firstRow
        for (index, key) in ["Malé", "Apia", "Nuuk"].enumerated() {
            clock.advance(4)
            source.access(key, archive: "City", at: clock.now)
            browser.refresh()
            #expect(browser.model.cursorKey == "Cafe\u{301} de Flore")
            #expect(browser.model.cursorRow == 5 + index)
            #expect(
                browser.model.cursorRow - browser.model.firstRow == place,
                "the row stays where it is on screen")
        }
        // Its own access takes it to the top, and the cursor with it.
        clock.advance(4)
        source.access("Cafe\u{301} de Flore", archive: "City", at: clock.now)
        browser.refresh()
        #expect(browser.model.cursorKey == "Cafe\u{301} de Flore")
        #expect(browser.model.cursorRow == 0)
    }

    @Test(
        "stays at the newest entry until the cursor moves, and then at its key",
        arguments: ["<down>", "m", "y<esc>"])
    func staysAtTheNewest(keys: String) throws {
        let source = Fixture.source()
        let clock = TestClock()
        var browser = try Fixture.browser(source, clock: clock, keys: "j<enter>")
        for key in ["Quito", "Apia"] {
            source.access(key, archive: "City", at: clock.now)
            clock.advance(4)
            browser.refresh()
            #expect(browser.model.cursorKey == key && browser.model.cursorRow == 0)
        }
        browser.press(try Key.script(keys))
        let held = browser.model.cursorKey
        clock.advance(4)
        source.access("Nuuk", archive: "City", at: clock.now)
        browser.refresh()
        #expect(browser.model.cursorKey == held && browser.model.cursorRow > 0)
        // A value that was opened is under the cursor afterwards.
        browser.press(try Key.script("<enter><esc>"))
        #expect(browser.model.cursorKey == held)
    }

    @Test func takesTheNextKeyWhenItsOwnGoes() throws {
        let source = Fixture.source()
        let clock = TestClock()
        var browser = try Fixture.browser(source, clock: clock, keys: "j<enter>jj")
        source.remove("東京都", archive: "City")
        clock.advance(4)
        browser.refresh()
        // Its row stays for a moment.
        #expect(browser.model.cursorKey == "東京都")
        #expect(browser.frame.plainText.contains("x 東京都"))
        clock.advance(1.1)
        browser.refresh()
        #expect(browser.model.cursorRow == 2)
        #expect(browser.model.cursorKey == "大阪市")
        for key in source.with({ $0.archives["City"]?.map(\.entry.key) ?? [] }) {
            source.remove(key, archive: "City")
        }
        for _ in 0..<2 {
            clock.advance(4)
            browser.refresh()
        }
        #expect(browser.model.cursorKey == nil)
        #expect(browser.frame.plainText.contains("No entries; n creates one."))
    }

    /// While a person moves, the order stays and says how old it is; after a rest it goes on.
    @Test func orderIsFrozenWhileMoving() throws {
        let source = Fixture.source()
        let clock = TestClock()
        var browser = try Fixture.browser(source, clock: clock, keys: "j<enter>")
        #expect(browser.model.pace == .live)
        // Nothing has changed for long: the rows are as of now.
        clock.advance(30)
        browser.press([Key(.down), Key(.up)])
        #expect(!browser.frame.plainText.contains("frozen"), "not before a second")
        clock.advance(2)
        browser.press([Key(.down)])
        source.access("Malé", archive: "City", at: clock.now)
        clock.advance(1)
        browser.refresh()
        #expect(browser.model.pace == .frozen(3))
        #expect(browser.frame.plainText.contains("frozen 3s"))
        #expect(browser.frame.plainText.contains("Jakarta"))
        #expect(browser.model.cursorRow == 1)
        clock.advance(2.5)
        browser.refresh()
        #expect(browser.model.pace == .live)
        #expect(browser.model.cursorKey == "Bandung")
        #expect(browser.model.cursorRow == 2, "what was used meanwhile is above it now")
    }

    @Test func followStaysAtTheTop() throws {
        let source = Fixture.source()
        let clock = TestClock()
        var browser = try Fixture.browser(source, clock: clock, keys: "j<enter>jjjF")
        source.access("Quito", archive: "City", at: clock.now)
        clock.advance(1)
        browser.refresh()
        #expect(browser.model.cursorRow == 0)
        #expect(browser.model.cursorKey == "Quito")
        #expect(browser.frame.plainText.contains("following"))
    }

    @Test func holdsToItsKeyWhenSortedAndFiltered() throws {
        var browser = try Fixture.browser(Fixture.source(), keys: "j<enter>jjjjjjjj")
        #expect(browser.model.cursorKey == "Wellington")
        browser.press([.character("1")])
        #expect(browser.model.cursorKey == "Wellington")
        browser.press(try Key.script("/l"))
        #expect(browser.model.cursorKey == "Wellington")
        browser.press(try Key.script("<ctrl+u>ky"))
        #expect(browser.model.cursorKey == "Kyiv")
        browser.press([Key(.escape)])
        #expect(browser.model.cursorKey == "Kyiv")
    }

    @Test func marksHoldToKeys() throws {
        let source = Fixture.source()
        let clock = TestClock()
        var browser = try Fixture.browser(source, clock: clock, keys: "j<enter>mm")
        for key in ["Malé", "Apia"] { source.access(key, archive: "City", at: clock.now) }
        clock.advance(4)
        browser.refresh()
        #expect(browser.model.markedKeys == ["Bandung", "Jakarta"])
        let lines = browser.frame.plainText.split(separator: "\n")
        #expect(
            lines.filter { $0.hasPrefix("●") }.allSatisfy { $0.contains("Jakarta") || $0.contains("Bandung") }
        )
        #expect(lines.filter { $0.hasPrefix("●") }.count == 2)
        browser.press([.character("-")])
        #expect(browser.model.markedKeys.isEmpty)
    }

    @Test func newAndChangedRowsAreHighlightedForAMoment() throws {
        let source = Fixture.source()
        let clock = TestClock()
        var browser = try Fixture.browser(source, clock: clock, keys: "j<enter>")
        clock.advance(1)
        source.record("Oslo", Array("{}".utf8), archive: "City", at: clock.now)
        source.record("Bandung", Array("{}".utf8), archive: "City", at: clock.now)
        browser.refresh()
        let look = Fixture.unicode
        // Rows 0 and 1 of the table stand on lines 3 and 4; the cursor's row has the selection's colors.
        #expect(browser.model.cursorKey == "Bandung")
        #expect(browser.frame[2, 4].text == "O")
        #expect(browser.frame[2, 4].style == look[.new])
        browser.press([Key(.down)])
        #expect(browser.frame[2, 3].style == look[.changed])
        clock.advance(2)
        browser.refresh()
        #expect(browser.frame[2, 3].style == look[.text])
    }
}
