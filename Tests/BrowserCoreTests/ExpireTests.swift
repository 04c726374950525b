import BrowserCore
import StorageEngine
import TerminalKit
import Testing

struct ExpireTests {
    private func entry(_ key: String, _ source: MockSource) -> EntryMetadata? {
        source.with { state in state.archives["City"]?.first { $0.entry.key == key }?.entry }
    }

    @Test func aLifetimeIsTypedAndPlanned() throws {
        let source = Fixture.source()
        var browser = try Fixture.browser(source, keys: "j<enter>gmmx")
        #expect(browser.frame.plainText.contains("Expire 2 entries"))
        browser.press(try Key.script("<ctrl+u>1h30m<enter>"))
        let text = browser.frame.plainText
        #expect(text.contains("Expire 2 entries in 1h30m?"))
        #expect(text.contains("2 entries, 394 B, in City"))
        #expect(browser.model.planned?.map(\.key) == ["Bandung", "Jakarta"])
        #expect(source.with { $0.writeCalls } == 0)
        browser.press([.character("y")])
        #expect(entry("Jakarta", source)?.expires == Fixture.start.adding(seconds: 5400))
        #expect(browser.frame.plainText.contains("Set 2 entries, 394 B to expire in 1h30m; u undoes it."))
        #expect(browser.frame.plainText.contains("writes 2"))
    }

    @Test(arguments: [
        ("<down><enter>", "Expire 1 entry now?"), ("<down><down><enter>", "Keep 1 entry from expiring?"),
        ("<enter>", "Expire 1 entry in 5m?"),
    ])
    func choices(keys: String, title: String) throws {
        let source = Fixture.source()
        var browser = try Fixture.browser(source, keys: "j<enter>jjx" + keys)
        #expect(browser.frame.plainText.contains(title))
        browser.press([Key(.enter)])
        #expect(browser.model.planned == nil)
        #expect(browser.frame.plainText.contains("Nothing was changed."))
        #expect(source.with { $0.writeCalls } == 0, "the default is Cancel")
    }

    @Test func nowAndNever() throws {
        let source = Fixture.source()
        _ = try Fixture.browser(source, keys: "j<enter>gx<down><enter>y")
        #expect(entry("Jakarta", source) == nil)
        #expect(entry("東京都", source)?.expires != nil)
        _ = try Fixture.browser(source, keys: "j<enter>gjx<down><down><enter>y")
        #expect(entry("東京都", source) != nil)
        #expect(entry("東京都", source)?.expires == nil)
    }

    /// What broke: entries without a deadline were planned to lose it, and that was an action to be undone.
    @Test func neverOfWhatHasNoDeadline() throws {
        let source = Fixture.source()
        let none = try Fixture.browser(source, keys: "j<enter>gx<down><down><enter>")
        #expect(entry("Jakarta", source)?.expires == nil)
        #expect(!none.model.isPlanOpen)
        #expect(none.frame.plainText.contains("The entry has no expiry time. Nothing was changed."))
        // Of three that are marked one has a deadline: the plan is about that one.
        var one = try Fixture.browser(source, keys: "j<enter>gmmmx<down><down><enter>")
        #expect(one.model.planned?.map(\.key) == ["東京都"])
        #expect(one.frame.plainText.contains("Keep 1 entry from expiring?"))
        // It loses its deadline otherwise while the plan is open.
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

    /// What broke: what was typed stood behind the suggestion, as in "5m2h".
    @Test func typingReplacesTheSuggestion() throws {
        var browser = try Fixture.browser(Fixture.source(), keys: "j<enter>gx2h<enter>")
        #expect(browser.frame.plainText.contains("Expire 1 entry in 2h?"))
        browser.press(try Key.script("<esc>x<end>5<enter>"))
        #expect(browser.frame.plainText.contains("such as 90s"), "a key that moves keeps it: 5m5 is no time")
    }

    @Test(arguments: ["5", "", "m", "0s", "-5m", "5x", "1000000d"])
    func aWrongTimeIsSaidAndNothingPlanned(text: String) throws {
        let browser = try Fixture.browser(Fixture.source(), keys: "j<enter>gx<ctrl+u>\(text)<enter>")
        #expect(!browser.model.isPlanOpen)
        let text = browser.frame.plainText
        #expect(text.contains("; write 500ms") || text.contains("longer than"))
    }

    /// Entry 5 and all behind it were used 35 s ago or longer; those are found among all, filtered out or not.
    @Test func idleEntriesOfTheWholeArchive() throws {
        let source = Fixture.source()
        let clock = TestClock()
        var browser = try Fixture.browser(
            source, clock: clock, keys: "j<enter>/ta<enter>x<up><ctrl+u>30s<enter>")
        #expect(browser.frame.plainText.contains("Expire 11 entries idle over 30s?"))
        #expect(browser.frame.boxWords.contains("all idle entries of City"))
        #expect(browser.model.planned?.first?.key == Fixture.keys[5])
        // One is used before the plan is carried out: it isn't idle any more.
        source.access(Fixture.keys[7], archive: "City", at: clock.now)
        browser.press([.character("y")])
        #expect(entry(Fixture.keys[7], source) != nil)
        #expect(source.with { $0.archives["City"]?.count } == 6)
        #expect(browser.frame.plainText.contains("Expired 10 entries"))
        #expect(browser.frame.plainText.contains("was accessed after the plan was made"))
    }

    @Test("the title and the first line state the scope of the selected choice")
    func scopeFollowsTheChoice() throws {
        var browser = try Fixture.browser(Fixture.source(), keys: "j<enter>jx")
        for (key, title, scope) in [
            (nil, "Expire 1 entry", "1 entry of City."),
            (Key(.up), "Expire idle entries of City", "All idle entries of City, filtered or not."),
            (Key(.down), "Expire 1 entry", "1 entry of City."),
        ] {
            if let key { browser.press([key]) }
            #expect(browser.frame.plainText.contains("┌ \(title) ─"), "\(browser.frame.plainText)")
            #expect(browser.frame.boxWords.hasPrefix(scope), "\(browser.frame.plainText)")
        }
    }

    @Test func noneIsIdleThatLong() throws {
        let browser = try Fixture.browser(Fixture.source(), keys: "j<enter>x<up><ctrl+u>2d<enter>")
        #expect(!browser.model.isPlanOpen)
        #expect(browser.frame.plainText.contains("No entry of City is idle over 2d."))
    }

    /// In an archive without entries in view only the choice of idle ones is left.
    @Test func withoutAnEntryOnlyIdleOnesCanBeChosen() throws {
        var browser = try Fixture.browser(Fixture.source(), keys: "j<enter>/zzz<enter>x<up><down>")
        #expect(browser.frame.plainText.contains("Expire idle entries of City"))
        browser.press(try Key.script("<ctrl+u>30s<enter>"))
        #expect(browser.frame.plainText.contains("Expire 11 entries idle over 30s?"))
    }

    @Test func targetsAreFrozenWhenTheDialogOpens() throws {
        let source = Fixture.source()
        let clock = TestClock()
        var browser = try Fixture.browser(source, clock: clock, keys: "j<enter>jjx")
        for key in ["Malé", "Apia"] { source.access(key, archive: "City", at: clock.now) }
        source.record("東京都", Array("new".utf8), archive: "City", at: clock.now)
        for _ in 0..<5 {
            clock.advance(1)
            browser.refresh()
        }
        browser.press(try Key.script("<down><enter>y"))
        #expect(entry("東京都", source) != nil)
        #expect(browser.frame.plainText.contains("\"東京都\" changed after the plan was made"))
    }

    /// Looking for idle ones among many takes a while and can be stopped; its answer then opens nothing.
    @Test func lookingForIdleOnesIsStopped() {
        var test = UpdateTest(Fixture.model(columns: 80, rows: 24))
        let source = Fixture.source()
        test.settle(source)
        test.press(.character("j"))
        test.press(Key(.enter), expecting: ["arrange City by idle, new listing"])
        test.settle(source)
        test.press(.character("x"))
        test.press(Key(.up))
        test.press(Key(.enter), expecting: ["collect idle of City before 1769996400"])
        let answer = test.answers(to: test.effects[0], source)
        test.press(Key(.escape), expecting: ["stop"])
        for message in answer { test.send(message) }
        #expect(!test.model.isPlanOpen)
    }

    /// The row of an entry whose time is over goes by itself, although the store's figures stay as they were.
    @Test func anExpiredRowVanishes() throws {
        let source = Fixture.source()
        let clock = TestClock()
        var browser = try Fixture.browser(source, clock: clock, keys: "j<enter>")
        let left = Fixture.start.adding(seconds: 47)
        #expect(entry("東京都", source)?.expires == left)
        clock.advance(46)
        browser.refresh()
        #expect(browser.frame.plainText.contains("東京都"))
        clock.advance(1.5)
        source.with { $0.now = clock.now }
        browser.refresh()
        #expect(browser.frame.plainText.contains("x 東京都"), "it stays for a moment")
        clock.advance(1.1)
        browser.refresh()
        #expect(!browser.frame.plainText.contains("東京都"))
    }
}
