import BrowserCore
import TerminalKit
import Testing

struct CursorTests {
    private let source = Fixture.source()
    private let clock = TestClock()

    @Test("the position stays beside a long key") func longKeyKeepsPosition() throws {
        let source = Fixture.source()
        let key = String(repeating: "k", count: 300)
        source.with { $0.archives["City"] = [Fixture.record(key, number: 0, bytes: [0x20])] }
        let browser = try Fixture.browser(source, keys: "j<enter>")
        #expect(browser.lines[22].hasSuffix("1 of 1"), "\(browser.text)")
    }

    @Test("the wheel over the value pane scrolls the value") func wheelScrollsPane() throws {
        let source = Fixture.source()
        let text = (1...90).map { "line \($0)" }.joined(separator: "\n")
        source.with { $0.archives["City"] = [Fixture.record("k", number: 0, bytes: Array(text.utf8))] }
        var browser = try Fixture.browser(source, columns: 120, keys: "j<enter>")
        // Right of the list.
        let pane = Point(column: 110, row: 10)
        #expect(browser.text.contains("line 2\n"), "\(browser.text)")
        browser.send(.input(.mouse(MouseEvent(kind: .wheelDown, button: .none, at: pane))))
        #expect(!browser.text.contains("line 3\n") && browser.text.contains("line 4"), "\(browser.text)")
        for _ in 0..<50 {
            browser.send(.input(.mouse(MouseEvent(kind: .wheelDown, button: .none, at: pane))))
        }
        #expect(browser.text.contains("line 90") && browser.text.contains("line 85"), "\(browser.text)")
    }

    @Test func cursorFollowsItsKey() throws {
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
            #expect(browser.model.cursorRow - browser.model.firstRow == place, "the row moved on the screen")
        }
        // Its own access moves it to the top with the cursor.
        clock.advance(4)
        source.access("Cafe\u{301} de Flore", archive: "City", at: clock.now)
        browser.refresh()
        #expect(browser.model.cursorKey == "Cafe\u{301} de Flore")
        #expect(browser.model.cursorRow == 0)
    }

    @Test(
        "stays at the newest entry until the cursor moves, then at its key",
        arguments: ["<down>", "m", "y<esc>"])
    func staysAtTheNewest(keys: String) throws {
        var browser = try Fixture.browser(source, clock: clock, keys: "j<enter>")
        for key in ["Quito", "Apia"] {
            source.access(key, archive: "City", at: clock.now)
            clock.advance(4, refreshing: &browser)
            #expect(browser.model.cursorKey == key && browser.model.cursorRow == 0)
        }
        try browser.press(keys)
        let held = browser.model.cursorKey
        clock.advance(4)
        source.access("Nuuk", archive: "City", at: clock.now)
        browser.refresh()
        #expect(browser.model.cursorKey == held && browser.model.cursorRow > 0)
        // An opened value is under the cursor afterwards.
        try browser.press("<enter><esc>")
        #expect(browser.model.cursorKey == held)
    }

    @Test(
        "a cursor stays with its key at the first sort after it was moved, and goes to the top at the next one"
    )
    func sortKeepsAMovedCursorOnce() throws {
        var browser = try Fixture.browser(source, clock: clock, keys: "j<enter>jj")
        let key = browser.model.cursorKey
        try browser.press("1")
        #expect(browser.model.cursorKey == key && browser.model.cursorRow > 0)
        try browser.press("2")
        #expect(browser.model.cursorRow == 0)
        try browser.press("r")
        #expect(browser.model.cursorRow == 0)
    }

    @Test("a sort from the top row stays at the top", arguments: ["", "jk"])
    func sortStaysAtTheTop(keys: String) throws {
        let browser = try Fixture.browser(source, clock: clock, keys: "j<enter>" + keys + "1")
        #expect(browser.model.cursorRow == 0 && browser.model.cursorKey == "Apia")
    }

    @Test("long keys leave space for other columns")
    func longKeysLeaveSpace() throws {
        source.record(String(repeating: "k", count: 44), [1, 2], archive: "City", at: clock.now)
        let browser = try Fixture.browser(source, columns: 120, clock: clock, keys: "j<enter>")
        for title in ["size", "idle", "hits"] {
            #expect(browser.lines[2].contains(title), "\(browser.lines[2])")
        }
    }

    @Test func cursorMovesOnWhenItsKeyIsRemoved() throws {
        var browser = try Fixture.browser(source, clock: clock, keys: "j<enter>jj")
        source.remove("東京都", archive: "City")
        clock.advance(4, refreshing: &browser)
        #expect(browser.model.cursorKey == "東京都")
        #expect(browser.text.contains("x 東京都"))
        clock.advance(1.1, refreshing: &browser)
        #expect(browser.model.cursorRow == 2)
        #expect(browser.model.cursorKey == "大阪市")
        for key in source.with({ $0.archives["City"]?.map(\.entry.key) ?? [] }) {
            source.remove(key, archive: "City")
        }
        for _ in 0..<2 { clock.advance(4, refreshing: &browser) }
        #expect(browser.model.cursorKey == nil)
        #expect(browser.text.contains("No entries; n creates one."))
    }

    /// While the cursor moves, the order stays and its age is shown; later it is updated.
    @Test func movingFreezesOrder() throws {
        var browser = try Fixture.browser(source, clock: clock, keys: "j<enter>")
        #expect(browser.model.pace == .live)
        // Nothing has changed, so the rows are current.
        clock.advance(30)
        try browser.press("<down><up>")
        #expect(!browser.text.contains("frozen"), "frozen within a second")
        clock.advance(2)
        try browser.press("<down>")
        source.access("Malé", archive: "City", at: clock.now)
        clock.advance(1, refreshing: &browser)
        #expect(browser.model.pace == .frozen(3))
        browser.expect(shows: "frozen 3s", "Jakarta")
        #expect(browser.model.cursorRow == 1)
        clock.advance(2.5, refreshing: &browser)
        #expect(browser.model.pace == .live)
        #expect(browser.model.cursorKey == "Bandung")
        #expect(browser.model.cursorRow == 2, "the accessed entry is not above")
    }

    @Test func followingStaysAtTop() throws {
        var browser = try Fixture.browser(source, clock: clock, keys: "j<enter>jjjF")
        source.access("Quito", archive: "City", at: clock.now)
        clock.advance(1, refreshing: &browser)
        #expect(browser.model.cursorRow == 0)
        #expect(browser.model.cursorKey == "Quito")
        #expect(browser.text.contains("following"))
    }

    @Test func cursorKeepsKeyWhenSortedAndFiltered() throws {
        var browser = try Fixture.browser(Fixture.source(), keys: "j<enter>jjjjjjjj")
        #expect(browser.model.cursorKey == "Wellington")
        try browser.press("1", cursor: "Wellington")
        try browser.press("/l", cursor: "Wellington")
        try browser.press("<ctrl+u>ky", cursor: "Kyiv")
        try browser.press("<esc>", cursor: "Kyiv")
    }

    @Test func marksFollowKeys() throws {
        var browser = try Fixture.browser(source, clock: clock, keys: "j<enter>mm")
        for key in ["Malé", "Apia"] { source.access(key, archive: "City", at: clock.now) }
        clock.advance(4, refreshing: &browser)
        #expect(browser.model.markedKeys == ["Bandung", "Jakarta"])
        let lines = browser.text.split(separator: "\n")
        #expect(
            lines.filter { $0.hasPrefix("●") }.allSatisfy { $0.contains("Jakarta") || $0.contains("Bandung") }
        )
        #expect(lines.filter { $0.hasPrefix("●") }.count == 2)
        try browser.press("-")
        #expect(browser.model.markedKeys.isEmpty)
    }

    @Test func highlightsNewAndChangedRows() throws {
        var browser = try Fixture.browser(source, clock: clock, keys: "j<enter>")
        clock.advance(1)
        source.record("Oslo", Array("{}".utf8), archive: "City", at: clock.now)
        source.record("Bandung", Array("{}".utf8), archive: "City", at: clock.now)
        browser.refresh()
        let look = Fixture.unicode
        // Rows 0 and 1 are on lines 3 and 4; the cursor's row has the selection's colors.
        #expect(browser.model.cursorKey == "Bandung")
        #expect(browser.frame[2, 4].text == "O")
        #expect(browser.frame[2, 4].style == look[.new])
        try browser.press("<down>")
        #expect(browser.frame[2, 3].style == look[.changed])
        clock.advance(2, refreshing: &browser)
        #expect(browser.frame[2, 3].style == look[.text])
    }
}
