import BrowserCore
import TerminalKit
import Testing

/// Keys that work on every screen, and text after refused keys.
struct RefusalTests {
    private let clock = TestClock()

    @Test(
        "opens events, processes and graphs from every screen, and returns",
        arguments: [
            "j<enter>", "j<enter><enter>", "j<enter>Q<esc>", "jz", "jj<enter>", "j<enter><enter>Q<esc>",
        ])
    func monitorOpensEverywhere(keys: String) throws {
        for key in "EPTA" {
            var browser = try Fixture.browser(Fixture.source(), keys: keys)
            let before = browser.model.screen
            browser.press([.character(key)])
            #expect(browser.model.screen == .monitor, "\(key)")
            try browser.press("TEh")
            #expect(browser.model.screen == before, "\(key)")
        }
    }

    @Test("opens the monitor of the selected store from the list of stores", arguments: ["E", "P", "T"])
    func monitorOpensFromStores(key: String) throws {
        let browser = try Fixture.browser(Fixture.source(), store: nil, keys: key)
        #expect(browser.model.screen == .monitor)
    }

    @Test(
        "opens a query line from every screen of an archive, and returns",
        arguments: [
            ("j<enter>", Screen.entries), ("j<enter><enter>", .value), ("jz", .groups), ("jT", .monitor),
            ("j<enter>Q<esc>", .entries), ("j<enter><enter>EQ<esc>E", .query),
        ])
    func queryOpensEverywhere(keys: String, origin: Screen) throws {
        var browser = try Fixture.browser(Fixture.source(), keys: keys)
        try browser.press("Qq", on: .query)
        try browser.press("<ctrl+u><esc>")
        #expect(browser.model.screen == (origin == .query ? .monitor : origin))
        // Back leads to the first screen.
        for _ in 0..<12 where browser.model.screen != .archives { browser.press([.character("h")]) }
        #expect(browser.model.screen == .archives)
    }

    @Test("esc in the burst of a refused key only ends the refusal")
    func escapeAcceptsKeysAgain() throws {
        var browser = try Fixture.browser(Fixture.source(), clock: clock, keys: "jzWD")
        let before = browser.model.screen
        #expect(browser.model.said != nil && !browser.model.isPlanOpen)
        try browser.press("<esc>")
        #expect(browser.model.said == nil && browser.model.screen == before)
        try browser.press("q")
        #expect(browser.model.screen != before)
    }

    @Test("a long message is shown in full", arguments: [(40, 12), (20, 5)])
    func longMessageWraps(size: (columns: Int, rows: Int)) throws {
        let browser = try Fixture.browser(
            Fixture.source(), columns: size.columns, rows: size.rows, keys: "V")
        let said = try #require(browser.model.said)
        #expect(said.count > size.columns)
        #expect(browser.lines.joined(separator: " ").contains(said), "\(browser.text)")
    }

    /// Regression: each key within a second was ignored and prolonged that.
    @Test("keys typed after a refused one run their actions", arguments: ["jj<enter>Q", "jzW", "P/"])
    func keysActAfterRefusedKey(keys: String) throws {
        var browser = try Fixture.browser(Fixture.source(), clock: clock, keys: keys)
        clock.advance(0.05)
        try browser.press("h", on: .archives)
    }

    @Test("quits and opens help and actions also in the burst of a refused key", arguments: ["q", "?", ":"])
    func harmlessKeysAreNotRefused(key: String) throws {
        var browser = try Fixture.browser(Fixture.source(), clock: clock, keys: "P/z")
        let (screen, text) = (browser.model.screen, browser.lines.prefix(20))
        try browser.press(key)
        #expect(browser.model.screen != screen || browser.lines.prefix(20) != text)
    }

    @Test(
        "ignores text in the burst of a refused key until an arrow or esc",
        arguments: [("jj<enter>Q", "Dy"), ("jzW", "Dy"), ("P/", "zy")])
    func ignoresTextAfterRefusedKey(keys: String, text: String) throws {
        var browser = try Fixture.browser(Fixture.source(), clock: clock, keys: keys)
        let before = browser.model.screen
        for character in text + "\n\t " {
            clock.advance(0.02)
            browser.press([
                character == "\n" ? Key(.enter) : character == "\t" ? Key(.tab) : .character(character)
            ])
            #expect(browser.model.screen == before && !browser.model.isPlanOpen && browser.exit == nil)
        }
        clock.advance(0.05)
        try browser.press("q")
        #expect(browser.exit == .quit || browser.model.screen != before)
        for end in [Key(.escape), Key(.down)] {
            var other = try Fixture.browser(Fixture.source(), keys: keys)
            other.press([end, .character("q")])
            #expect(other.exit == .quit || other.model.screen != before)
        }
    }

    @Test(
        "the key that quits does not leave the browser right after a refused or closed dialog",
        arguments: [("d", false), ("D", true), ("L", true), ("DEL", false)])
    func quitNeedsAPause(keys: String, isReadOnly: Bool) throws {
        let source = Fixture.source { $0.summaries["City"]?.problem = keys == "DEL" ? "damaged" : nil }
        let script = keys == "DEL" ? "j<delete>" : "j" + keys
        var browser = try Fixture.browser(source, isReadOnly: isReadOnly, clock: clock, keys: script)
        #expect(browser.model.screen == .archives && !browser.model.isPlanOpen)
        clock.advance(0.2)
        try browser.press("q")
        #expect(browser.exit == nil && browser.model.screen == .archives)
        // Held down, it is still the same key.
        for _ in 0..<40 {
            clock.advance(0.033)
            try browser.press("q")
        }
        #expect(browser.exit == nil)
        clock.advance(1)
        try browser.press("q")
        #expect(browser.exit == .quit)
    }

    @Test("q closes a dialog and only the dialog", arguments: ["y", "K", "c"])
    func quitKeyClosesDialogOnly(keys: String) throws {
        var browser = try Fixture.browser(Fixture.source(), clock: clock, keys: "j" + keys + "q")
        for _ in 0..<20 {
            clock.advance(0.033)
            try browser.press("q")
        }
        #expect(browser.exit == nil && browser.model.screen == .archives)
        try browser.press("<ctrl+c>")
        #expect(browser.exit == .quit)
    }
}
