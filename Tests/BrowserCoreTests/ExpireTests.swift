import BrowserCore
import StorageEngine
import TerminalKit
import Testing

struct ExpireTests {
    private let source = Fixture.source()
    private let clock = TestClock()

    @Test func plansTypedTTL() throws {
        var browser = try Fixture.browser(source, keys: "j<enter>gmmx")
        #expect(browser.text.contains("Expire 2 entries"))
        try browser.press(
            "<ctrl+u>1h30m<enter>", shows: "Expire 2 entries in 1h30m?", "2 entries, 394 B, in City")
        #expect(browser.model.planned?.map(\.key) == ["Jakarta", "Bandung"], "in the order of the list")
        #expect(source.with { $0.writeCalls } == 0)
        try browser.press("y")
        #expect(source["Jakarta"]?.entry.expires == Fixture.start.adding(seconds: 5400))
        browser.expect(shows: "Set 2 entries, 394 B to expire in 1h30m; u undoes it.", "writes 2")
    }

    @Test(arguments: [
        ("<down><enter>", "Expire 1 entry now?"), ("<down><down><enter>", "Keep 1 entry from expiring?"),
        ("<enter>", "Expire 1 entry in 5m?"),
    ])
    func offersChoices(keys: String, title: String) throws {
        var browser = try Fixture.browser(source, keys: "j<enter>jjx" + keys)
        #expect(browser.text.contains(title))
        try browser.press("<enter>")
        #expect(browser.model.planned == nil)
        #expect(browser.text.contains("Nothing was changed."))
        #expect(source.with { $0.writeCalls } == 0, "the default is not Cancel")
    }

    @Test func expiresNowAndNever() throws {
        _ = try Fixture.browser(source, keys: "j<enter>gx<down><enter>y")
        #expect(source["Jakarta"] == nil)
        #expect(source["東京都"]?.entry.expires != nil)
        _ = try Fixture.browser(source, keys: "j<enter>gjx<down><down><enter>y")
        let kept = try #require(source["東京都"])
        #expect(kept.entry.expires == nil)
    }

    /// Regression: entries without an expiry time were planned, and recorded as an action.
    @Test func neverSkipsEntriesWithoutExpiry() throws {
        let none = try Fixture.browser(source, keys: "j<enter>gx<down><down><enter>")
        #expect(source["Jakarta"]?.entry.expires == nil)
        #expect(!none.model.isPlanOpen)
        #expect(none.text.contains("The entry has no expiry time. Nothing was changed."))
        // One of three marked entries has an expiry time: the plan has only that one.
        var one = try Fixture.browser(source, keys: "j<enter>gmmmx<down><down><enter>")
        #expect(one.model.planned?.map(\.key) == ["東京都"])
        #expect(one.text.contains("Keep 1 entry from expiring?"))
        // It loses its expiry time while the plan is open.
        source.with { state in
            guard let index = state.archives["City"]?.firstIndex(where: { $0.entry.key == "東京都" }) else {
                return
            }
            state.archives["City"]?[index].entry.expires = nil
        }
        one.press([.character("y")])
        #expect(one.model.said == "Nothing was changed; 1 had no expiry time.")
        #expect(source.with { $0.undoable["City"]?.isEmpty ?? true })
    }

    /// Regression: typed text was appended to the suggestion, as in "5m2h".
    @Test func typingReplacesSuggestion() throws {
        var browser = try Fixture.browser(Fixture.source(), keys: "j<enter>gx2h<enter>")
        #expect(browser.text.contains("Expire 1 entry in 2h?"))
        try browser.press("<esc>x<end>5<enter>")
        #expect(browser.text.contains("such as 90s"), "moving the cursor did not keep the suggestion")
    }

    @Test(arguments: ["5", "", "m", "0s", "-5m", "5x", "1000000d"])
    func refusesWrongTimes(text: String) throws {
        let browser = try Fixture.browser(Fixture.source(), keys: "j<enter>gx<ctrl+u>\(text)<enter>")
        #expect(!browser.model.isPlanOpen)
        let text = browser.text
        #expect(text.contains("; write 500ms") || text.contains("longer than"))
    }

    /// Entry 5 and all after it were accessed at least 35 s ago; the filter doesn't matter.
    @Test func expiresIdleEntriesOfArchive() throws {
        var browser = try Fixture.browser(
            source, clock: clock, keys: "j<enter>/ta<enter>x<up><ctrl+u>30s<enter>")
        #expect(browser.text.contains("Expire 11 entries idle over 30s?"))
        #expect(browser.boxWords.contains("all idle entries of City"))
        #expect(browser.model.planned?.first?.key == Fixture.keys[5])
        // One is accessed while the plan is open.
        source.access(Fixture.keys[7], archive: "City", at: clock.now)
        try browser.press("y")
        #expect(source[Fixture.keys[7]] != nil)
        #expect(source.with { $0.archives["City"]?.count } == 6)
        browser.expect(shows: "Expired 10 entries", "was accessed after the plan was made")
    }

    @Test("the title and the first line state the scope of the choice")
    func scopeFollowsTheChoice() throws {
        var browser = try Fixture.browser(Fixture.source(), keys: "j<enter>jx")
        for (key, title, scope) in [
            (nil, "Expire 1 entry", "1 entry of City."),
            (Key(.up), "Expire idle entries of City", "All idle entries of City, filtered or not."),
            (Key(.down), "Expire 1 entry", "1 entry of City."),
        ] {
            if let key { browser.press([key]) }
            #expect(browser.text.contains("┌ \(title) ─"), "\(browser.text)")
            #expect(browser.boxWords.hasPrefix(scope), "\(browser.text)")
        }
    }

    @Test func reportsNoIdleEntries() throws {
        let browser = try Fixture.browser(Fixture.source(), keys: "j<enter>x<up><ctrl+u>2d<enter>")
        #expect(!browser.model.isPlanOpen)
        #expect(browser.model.said == "No entry to expire. None has been idle over 2d.")
    }

    @Test("without shown entries, no entry of the archive is expired")
    func refusesToExpireHiddenEntries() throws {
        let browser = try Fixture.browser(Fixture.source(), keys: "j<enter>/zzz<enter>x")
        #expect(browser.model.said == "No entry to expire. No entries are shown.")
        #expect(!browser.text.contains("idle longer than"), "\(browser.text)")
    }

    @Test func targetsAreFrozen() throws {
        var browser = try Fixture.browser(source, clock: clock, keys: "j<enter>jjx")
        for key in ["Malé", "Apia"] { source.access(key, archive: "City", at: clock.now) }
        source.record("東京都", Array("new".utf8), archive: "City", at: clock.now)
        for _ in 0..<5 { clock.advance(1, refreshing: &browser) }
        try browser.press("<down><enter>y")
        #expect(source["東京都"] != nil)
        #expect(browser.text.contains("\"東京都\" changed after it was read"))
    }

    /// A search for idle entries can be stopped; a late response opens nothing.
    @Test func stopsIdleSearch() throws {
        var test = try UpdateTest(Fixture.model(), source, keys: "j<enter>x<up>")
        test.press(Key(.enter), expecting: ["collect the targets of City"])
        let answer = test.answers(to: test.effects[0], source)
        test.press(Key(.escape), expecting: ["stop"])
        for message in answer { test.send(message) }
        #expect(!test.model.isPlanOpen)
    }

    @Test("fields and explanations are aligned")
    func columnsAreAligned() throws {
        let browser = try Fixture.browser(source, keys: "j<enter>x")
        func column(_ text: String) throws -> Int? {
            let line = try #require(browser.lines.first { $0.contains(text) })
            return line.firstRange(of: text).map { TextWidth.width(of: String(line[..<$0.lowerBound])) }
        }
        #expect(try column("such as") == column("all of City"), "\(browser.text)")
    }

    /// The row of an expired entry vanishes although the store's counters are unchanged.
    @Test func expiredRowVanishes() throws {
        var browser = try Fixture.browser(source, clock: clock, keys: "j<enter>")
        let left = Fixture.start.adding(seconds: 47)
        #expect(source["東京都"]?.entry.expires == left)
        clock.advance(46, refreshing: &browser)
        #expect(browser.text.contains("東京都"))
        clock.advance(1.5)
        source.with { $0.now = clock.now }
        browser.refresh()
        #expect(browser.text.contains("x 東京都"), "the row vanished at once")
        clock.advance(1.1, refreshing: &browser)
        #expect(!browser.text.contains("東京都"))
    }

    @Test("a plan leaves out marked entries whose rows show their removal")
    func plansPresentEntries() throws {
        var browser = try Fixture.browser(source, clock: clock, keys: "j<enter>gmmm")
        clock.advance(46, refreshing: &browser)
        clock.advance(1.5)
        source.with { $0.now = clock.now }
        browser.refresh()
        #expect(browser.text.contains("x 東京都"))
        try browser.press("D")
        #expect(browser.model.planned?.map(\.key) == ["Jakarta", "Bandung"])
    }
}
