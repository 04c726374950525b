import BrowserCore
import TerminalKit
import Testing

struct LogTests {
    private func source(_ count: Int = 60) -> MockSource {
        let source = Fixture.source()
        Fixture.addMessages(source, count: count)
        return source
    }

    @Test func theNewestStandsAtTheBottomAndIsFollowed() throws {
        let source = source()
        let clock = TestClock()
        var browser = try Fixture.browser(source, clock: clock, keys: "jj<enter>")
        #expect(browser.model.screen == .messages)
        #expect(browser.model.cursorRow == 59)
        #expect(browser.frame.plainText.contains("58 Cafe\u{301} de Flore"))
        source.append("another one", archive: "Trace", at: clock.now)
        browser.refresh()
        #expect(browser.model.cursorRow == 60)
        #expect(browser.frame.plainText.contains("another one"))
        #expect(browser.frame.plainText.contains("61 of 61"))
    }

    /// Whoever reads older messages isn't moved by new ones, nor by the loss of the oldest.
    @Test func theCursorHoldsToItsMessage() throws {
        let source = source()
        let clock = TestClock()
        var browser = try Fixture.browser(source, clock: clock, keys: "jj<enter><pgup>")
        let before = browser.frame.plainText.split(separator: "\n").filter { $0.contains("GET") }
        for number in 0..<5 { source.append("new \(number)", archive: "Trace", at: clock.now) }
        source.with { _ = $0.messages["Trace"]?.removeFirst(5) }
        browser.refresh()
        let after = browser.frame.plainText.split(separator: "\n").filter { $0.contains("GET") }
        #expect(before == after && !before.isEmpty)
        #expect(!browser.frame.plainText.contains("new 4"))
        browser.press([.character("F")])
        #expect(browser.frame.plainText.contains("new 4"))
    }

    @Test func pauseStopsTheLog() throws {
        let source = source()
        let clock = TestClock()
        var browser = try Fixture.browser(source, clock: clock, keys: "jj<enter><space>")
        source.append("unseen", archive: "Trace", at: clock.now)
        clock.advance(1)
        browser.refresh()
        #expect(!browser.frame.plainText.contains("unseen"))
        browser.press([.character(" ")])
        #expect(browser.frame.plainText.contains("unseen"))
    }

    /// A hundred thousand messages cost what the rows in view cost.
    @Test func onlyRowsInViewAreRead() throws {
        let source = source(100_000)
        var browser = try Fixture.browser(source, rows: 40, keys: "jj<enter>")
        #expect(browser.frame.plainText.contains("100,000 messages"))
        let calls = source.with { $0.messageCalls }
        #expect(calls == 1)
        browser.press(try Key.script("g<pgdn><pgdn>G"))
        #expect(source.with { $0.messageCalls } <= calls + 4)
        browser.press([.character("g")])
        #expect(browser.frame.plainText.contains("0 GET /cities"))
        #expect(browser.model.cursorRow == 0)
    }

    /// A log that can't be read is said to be so, and isn't asked for again and again.
    @Test func aProblemIsSaidOnce() throws {
        let source = source()
        let clock = TestClock()
        var browser = try Fixture.browser(source, clock: clock, keys: "jj<enter>")
        source.with { $0.problem = "the store is gone" }
        browser.press([.character("g")])
        #expect(browser.frame.plainText.contains("the store is gone"))
        source.with { $0.problem = nil }
        source.append("back again", archive: "Trace", at: clock.now)
        browser.refresh()
        browser.press([.character("G")])
        #expect(browser.frame.plainText.contains("back again"))
        #expect(!browser.frame.plainText.contains("the store is gone"))
    }

    @Test func aMessageIsReadInFull() throws {
        let browser = try Fixture.browser(source(), keys: "jj<enter>kk<enter>")
        let text = browser.frame.plainText
        #expect(text.contains("Message of Trace"))
        #expect(text.contains("57 panic: \\e[31mred") || text.contains("57 panic: ^[[31mred"))
        #expect(text.contains("at line 40"))
    }

    @Test func allAreDeletedAndThatStays() throws {
        let source = source()
        var browser = try Fixture.browser(source, keys: "jj<enter>D")
        #expect(browser.frame.plainText.contains("Delete 60 messages?"))
        #expect(
            browser.frame.plainText.contains("This can't be undone: every message of Trace, 1.62 kB, goes."))
        browser.press([Key(.enter)])
        #expect(source.with { $0.writeCalls } == 0, "the default is Cancel")
        browser.press(try Key.script("Dy"))
        #expect(source.with { $0.messages["Trace"]?.isEmpty } == true)
        #expect(browser.frame.plainText.contains("Deleted 60 messages"))
        #expect(!browser.frame.plainText.contains("undoes"))
        #expect(browser.frame.plainText.contains("No messages."))
    }
}
