import BrowserCore
import TerminalKit
import Testing

/// The legend at the end of the help: what the signs beside rows and the counters of the top bar mean.
struct LegendTests {
    /// Of the top bar, on each screen of a store.
    private static let bar = [
        "touches Accesses that the store counted for this browser; browsing makes none.",
        "writes Entries and messages that you changed or deleted here.",
        "lock Longest time one of your changes held a lock.",
        "live The screen follows the store; following: the cursor stays at the newest row.",
        "frozen Rows keep their order while you move or type; seconds since then.",
        "UNREACHABLE The store can't be read; the last data is shown.",
        "REMOVED The archive was removed; its last data is shown.",
        "PAUSED The screen is paused; graphs and alarms continue.",
        "paste Keys faster than typing count as text: they change nothing, confirm nothing.",
    ]
    private static let asked = "asked Age of these rows: R refreshes them."

    /// All of it on a screen on which the help has room.
    private func legend(_ keys: String, store: String? = Fixture.storePath) throws -> [String] {
        let browser = try Fixture.browser(
            Fixture.source(), columns: 100, rows: 100, store: store, keys: keys)
        // A long line is cut, so that its row stays one.
        return browser.frame.boxLines
    }

    @Test(arguments: [
        "?", "j<enter>?", "j<enter><f1>", "jz?", "j<enter><enter>?", "jQ<f1><f1>", "E?", "jj<enter>?",
    ])
    func theHelpExplainsTheTopBar(keys: String) throws {
        let lines = try legend(keys)
        for meaning in Self.bar { #expect(lines.contains(meaning), "\(meaning) in \(lines)") }
    }

    @Test(arguments: [
        (
            "j<enter>?",
            [
                "● Marked: included in the next delete or expiry.",
                "▼ Among the next to be evicted.", "x Removed since the list was read.",
                "listed Age of this list: long lists refresh less often.",
            ]
        ),
        (
            "E?",
            [
                "missed Events that were overwritten before the browser read them.",
                "promoted A process loaded the value into its memory.",
            ]
        ), ("jz?", [asked]), ("jQ<f1><f1>", [asked]),
        (
            "j<enter><enter>?",
            ["read Age of this value: the store has changed or removed it since."]
        ),
    ])
    func theHelpExplainsTheSignsOfItsScreen(keys: String, meanings: [String]) throws {
        let lines = try legend(keys)
        for meaning in meanings { #expect(lines.contains(meaning), "\(meaning) in \(lines)") }
    }

    @Test func theListOfStoresHasNoCounters() throws {
        let lines = try legend("?", store: nil)
        #expect(lines.contains("★ A favourite, listed first."))
        #expect(lines.contains("1 The key that shows this open store."))
        #expect(!lines.contains { $0.hasPrefix("touches ") || $0.hasPrefix("● ") })
    }

    /// The signs are those that stand on the screen, whatever it can show.
    @Test(arguments: [(Fixture.unicode, "●", "▼"), (Fixture.ascii, "*", "v")])
    func theSignsAreThoseOnTheScreen(look: Look, marked: String, dying: String) throws {
        var browser = try Fixture.browser(Fixture.source(), rows: 30, look: look, keys: "j<enter>mG")
        #expect(browser.frame.lines.contains { $0.hasPrefix("\(dying) ") }, "\(browser.frame.plainText)")
        browser.press(try Key.script("g"))
        #expect(browser.frame.lines.contains { $0.hasPrefix("\(marked) Jakarta") })
        for (typed, sign) in [("next delete", marked), ("evicted", dying)] {
            browser.press(try Key.script("?\(typed)"))
            #expect(browser.frame.lines.contains { $0.contains(" \(sign)             ") }, "\(sign)")
            browser.press([Key(.escape)])
        }
    }

    /// On a small screen a line is cut; what it says in full stands below the list. There is nothing in it to run.
    @Test func aMeaningIsSearchedAndReadInFull() throws {
        var browser = try Fixture.browser(Fixture.source(), keys: "j<enter>?counted")
        #expect(browser.frame.boxLines.contains { $0.hasPrefix("touches Accesses") && $0.hasSuffix("…") })
        #expect(
            browser.frame.boxWords.contains(
                "touches: Accesses that the store counted for this browser; browsing makes none."))
        let before = browser.frame
        browser.press([Key(.enter)])
        #expect(browser.frame == before)
    }
}
