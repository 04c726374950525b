import BrowserCore
import StorageEngine
import TerminalKit
import Testing

struct LogTests {
    private let source = LogTests.source()
    private let clock = TestClock()

    private static func source(_ count: Int = 60) -> MockSource {
        let source = Fixture.source()
        Fixture.addMessages(source, count: count)
        return source
    }

    @Test func followsNewestMessage() throws {
        var browser = try Fixture.browser(source, clock: clock, keys: "jj<enter>")
        #expect(browser.model.screen == .messages)
        #expect(browser.model.cursorRow == 59)
        #expect(browser.text.contains("58 Cafe\u{301} de Flore"))
        source.append("another one", archive: "Trace", at: clock.now)
        browser.refresh()
        #expect(browser.model.cursorRow == 60)
        #expect(browser.text.contains("another one"))
        #expect(browser.text.contains("61 of 61") && browser.lines[0].hasSuffix("following"))
        try browser.press("k")
        #expect(browser.lines[1].hasSuffix("1 newer below") && browser.lines[0].hasSuffix("live"))
    }

    /// Neither new messages nor the loss of the oldest move the view.
    @Test func cursorFollowsItsMessage() throws {
        var browser = try Fixture.browser(source, clock: clock, keys: "jj<enter><pgup>")
        let before = browser.text.split(separator: "\n").filter { $0.contains("GET") }
        for number in 0..<5 { source.append("new \(number)", archive: "Trace", at: clock.now) }
        source.with { _ = $0.messages["Trace"]?.removeFirst(5) }
        browser.refresh()
        let after = browser.text.split(separator: "\n").filter { $0.contains("GET") }
        #expect(before == after && !before.isEmpty)
        #expect(!browser.text.contains("new 4"))
        try browser.press("F", shows: "new 4")
    }

    @Test("a live list begins with the oldest message that can be read")
    func overwrittenAreSkipped() throws {
        var browser = try Fixture.browser(source, clock: clock, keys: "jj<enter>")
        source.with { _ = $0.messages["Trace"]?.removeFirst(50) }
        try browser.press("g", shows: "10 messages", "58 Cafe\u{301} de Flore", hides: "removed")
        #expect(browser.model.cursorRow == 0)
        for number in 0..<100 { source.append("new \(number)", archive: "Trace", at: clock.now) }
        source.with { _ = $0.messages["Trace"]?.removeFirst(80) }
        browser.refresh()
        browser.expect(shows: "30 messages", "new 70", hides: "removed")
    }

    @Test func pauseStopsMessages() throws {
        var browser = try Fixture.browser(source, clock: clock, keys: "jj<enter><space>")
        source.append("unseen", archive: "Trace", at: clock.now)
        clock.advance(1, refreshing: &browser)
        #expect(!browser.text.contains("unseen"))
        try browser.press(" ", shows: "unseen")
    }

    @Test func readsOnlyVisibleRows() throws {
        let source = Self.source(100_000)
        var browser = try Fixture.browser(source, rows: 40, keys: "jj<enter>")
        #expect(browser.text.contains("100,000 messages"))
        let calls = source.with { $0.messageCalls }
        // The second call shows that the first skipped no damaged message.
        #expect(calls <= 2)
        try browser.press("g<pgdn><pgdn>G")
        #expect(source.with { $0.messageCalls } <= calls + 4)
        try browser.press("g", shows: "0 GET /cities")
        #expect(browser.model.cursorRow == 0)
    }

    /// An unreadable log is reported, and not requested repeatedly.
    @Test func reportsProblemOnce() throws {
        var browser = try Fixture.browser(source, clock: clock, keys: "jj<enter>")
        source.with { $0.problem = "the store is unreachable" }
        try browser.press("g", shows: "the store is unreachable")
        source.with { $0.problem = nil }
        source.append("back again", archive: "Trace", at: clock.now)
        browser.refresh()
        try browser.press("G", shows: "back again", hides: "the store is unreachable")
    }

    @Test func filtersByPattern() throws {
        var browser = try Fixture.browser(
            source, columns: 120, clock: clock, keys: "jj<enter>/warning|jakarta<enter>")
        browser.expect(shows: "20 of 60 messages  filter \"warning|jakarta\"", hides: "panic:")
        source.append("nothing of that kind", archive: "Trace", at: clock.now)
        source.append("back to Jakarta", archive: "Trace", at: clock.now)
        browser.refresh()
        browser.expect(shows: "21 of 62 messages", "back to Jakarta", hides: "nothing of that kind")
        try browser.press("/<ctrl+u>!warning|jakarta<enter>")
        #expect(browser.text.contains("41 of 62 messages"), "not all others")
        try browser.press(
            "/<ctrl+u>nowhere<enter>", shows: "No message matches \"nowhere\"; esc clears the filter.")
        try browser.press("<esc>", shows: "62 messages", on: .messages)
    }

    @Test func reportsPatternErrors() throws {
        var browser = try Fixture.browser(source, columns: 120, keys: "jj<enter>/pan(ic")
        let line = browser.text.split(separator: "\n").first { $0.contains("filter: pan(ic") }
        #expect(line?.contains("expected ')'") == true, "\(browser.text)")
        try browser.press("<enter>", shows: "Not a regular expression: ", "60 messages")
    }

    @Test("finds the latest message first, and then earlier ones")
    func findsMessagesBackwards() throws {
        var browser = try Fixture.browser(source, columns: 120, keys: "jj<enter>fpanic<enter>")
        #expect(browser.text.contains("\"panic\": 10 of 10"), "\(browser.text)")
        try browser.press("n", shows: "\"panic\": 9 of 10")
        try browser.press("N", shows: "\"panic\": 10 of 10")
        try browser.press("N")
        #expect(browser.text.contains("\"panic\": 1 of 10"), "not from the other end")
        try browser.press("n", shows: "\"panic\": 10 of 10")
    }

    @Test func findsMessages() throws {
        var browser = try Fixture.browser(source, columns: 120, keys: "jj<enter>gf^1.*panic<enter>")
        #expect(browser.text.contains("find \"^1.*panic\": 1 of 1"))
        try browser.press("f<ctrl+u>panic<enter>")
        #expect(browser.text.contains("\"panic\": 3 of 10"), "not from the cursor")
        try browser.press("n", shows: "2 of 10")
        try browser.press("NN", shows: "4 of 10")
        try browser.press("<esc>n", shows: "No search yet; f starts one.")
    }

    /// `!` finds the other messages, with a text and with an expression.
    @Test func findsOtherMessages() throws {
        var browser = try Fixture.browser(source, columns: 120, keys: "jj<enter>gf!panic<enter>")
        #expect(browser.text.contains("find \"!panic\": 1 of 50"), "\(browser.text)")
        try browser.press("NNN")
        // The fourth message is a panic.
        #expect(browser.text.contains("\"!panic\": 4 of 50"))
        #expect(browser.model.cursorRow == 4)
        try browser.press("n", shows: "\"!panic\": 3 of 50")
        #expect(browser.model.cursorRow == 2)
        try browser.press("gf<ctrl+u>!^1.*PANIC<enter>", shows: "\"!^1.*PANIC\": 1 of 59")
        // The filter limits the search.
        try browser.press("/panic<enter>gf<ctrl+u>!^1<enter>", shows: "10 of 60 messages", "\"!^1\": 1 of 9")
    }

    @Test func showsBytesOfMessage() throws {
        source.append(
            bytes: [0xde, 0xad, 0xbe, 0xef] + Array("text".utf8), archive: "Trace", at: Fixture.start)
        var browser = try Fixture.browser(source, columns: 100, keys: "jj<enter>")
        #expect(browser.text.contains("de ad be ef 74"))
        try browser.press("<enter>", shows: "000000  de ad be ef 74 65 78 74", "....text")
    }

    @Test("deletes all messages after its name is typed, not by the key for entries")
    func allAreDeletedByName() throws {
        var browser = try Fixture.browser(source, clock: clock, keys: "jj<enter>D")
        #expect(!browser.model.isPlanOpen && browser.model.said?.contains("ctrl+x") == true)
        try browser.press("<ctrl+x>")
        #expect(
            browser.boxWords.contains(
                "of Trace, and any that arrive before you confirm. This can't be undone."))
        // None of these confirms: buttons, another or incomplete name, and a pasted line end.
        for keys in ["y", "<enter>", "<ctrl+u>City<enter>", "<ctrl+u>Trac<enter>", "<tab><enter>"] {
            try browser.press(keys)
            #expect(browser.model.isPlanOpen, "\(keys)")
        }
        try browser.press("<esc>Trace<enter>")
        #expect(source.with { $0.writeCalls } == 0 && !browser.model.isPlanOpen)
        clock.advance(2)
        try browser.press("<esc><ctrl+x>Trace<enter>")
        #expect(source.with { $0.messages["Trace"]?.isEmpty } == true)
        browser.expect(shows: "No messages yet.", hides: "undoes")
    }

    /// A real log larger than one read: old and new messages are matched.
    @Test func filtersAndSearchesLongLog() throws {
        let folder = EngineSourceTests.Folder()
        let store = try Store.open(at: folder.path + "/store")
        defer { store.close() }
        let log = try store.archive(
            named: "Trace", orCreate: ArchiveConfiguration(kind: .log, diskLimit: 1_000_000, memoryLimit: nil)
        )
        for number in 0..<2_500 {
            try log.append(Array("\(number) \(number % 100 == 7 ? "Error" : "info") of a request".utf8))
        }
        var browser = try Fixture.browser(
            at: folder.path, store: folder.path + "/store", columns: 120, rows: 40, clock: clock.function,
            keys: "<enter>/error<enter>")
        browser.expect(
            shows: "25 of 2,500 messages  filter \"error\"", " 7 Error of", " 2407 Error of", hides: "info")
        try log.append(Array("2500 info".utf8))
        try log.append(Array("2501 error again".utf8))
        browser.refresh()
        browser.expect(shows: "26 of 2,502 messages", "2501 error again")
        try browser.press("/<ctrl+u>!info|^2501<enter>", shows: "25 of 2,502 messages")
        try browser.press("<esc>gf^[12].*07 error<enter>")
        // 107 and 207, 1007 to 1907, 2007 to 2407.
        #expect(browser.text.contains("\"^[12].*07 error\": 17 of 17"), "\(browser.text)")
        #expect(browser.model.cursorRow == 2_407)
        try browser.press("N")
        #expect(browser.text.contains("1 of 17") && browser.model.cursorRow == 107)
        try browser.press("gf<ctrl+u>!info<enter>")
        #expect(browser.text.contains("\"!info\": 26 of 26") && browser.model.cursorRow == 2_501)
    }
}
