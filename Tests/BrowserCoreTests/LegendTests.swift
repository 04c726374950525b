import BrowserCore
import TerminalKit
import Testing

/// The legend at the end of the help: what the signs beside rows and the counters of the top bar mean.
struct LegendTests {
    /// Of the top bar, on each screen of a store.
    private static let bar = [
        "touches Accesses that the store booked to this browser; looking makes none.",
        "writes Entries and messages that you changed or deleted here.",
        "lock The longest that a change of yours took: no lock was held longer.",
        "live The screen follows the store; following: the cursor stays at the newest row.",
        "frozen Rows keep their order while you move or type, for so many seconds by now.",
        "UNREACHABLE The store can't be read now; what was read before is still shown.",
        "REMOVED The archive is gone; what was in it is still shown.",
        "PAUSED The screen stands still until you go on; graphs and alarms miss nothing.",
    ]
    private static let asked = "asked So long ago: the rows stay as they are until you ask again."

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
                "● Marked: the next delete or expiry is about it.",
                "▼ Among the next that the cache evicts.", "x Gone since the list was made.",
                "listed So long ago: so many entries are listed less often.",
            ]
        ),
        (
            "E?",
            [
                "missed Events that were overwritten before the browser read them, as in a pause.",
                "promoted A process took the value into its memory.",
            ]
        ), ("jz?", [asked]), ("jQ<f1><f1>", [asked]),
        (
            "j<enter><enter>?",
            ["read So long ago the store held this; it holds another value by now, or none."]
        ),
    ])
    func theHelpExplainsTheSignsOfItsScreen(keys: String, meanings: [String]) throws {
        let lines = try legend(keys)
        for meaning in meanings { #expect(lines.contains(meaning), "\(meaning) in \(lines)") }
    }

    @Test func theListOfStoresHasNoCounters() throws {
        let lines = try legend("?", store: nil)
        #expect(lines.contains("★ A favourite: it stands first."))
        #expect(lines.contains("1 The key that shows it: it is open, and stays as you left it."))
        #expect(!lines.contains { $0.hasPrefix("touches ") || $0.hasPrefix("● ") })
    }

    /// The signs are those that stand on the screen, whatever it can show.
    @Test(arguments: [(Fixture.unicode, "●", "▼"), (Fixture.ascii, "*", "v")])
    func theSignsAreThoseOnTheScreen(look: Look, marked: String, dying: String) throws {
        var browser = try Fixture.browser(Fixture.source(), rows: 30, look: look, keys: "j<enter>mG")
        #expect(browser.frame.lines.contains { $0.hasPrefix("\(dying) ") }, "\(browser.frame.plainText)")
        browser.press(try Key.script("g"))
        #expect(browser.frame.lines.contains { $0.hasPrefix("\(marked) Jakarta") })
        for (typed, sign) in [("next delete", marked), ("evicts", dying)] {
            browser.press(try Key.script("?\(typed)"))
            #expect(browser.frame.lines.contains { $0.contains(" \(sign)             ") }, "\(sign)")
            browser.press([Key(.escape)])
        }
    }

    /// On a small screen a line is cut; what it says in full stands below the list. There is nothing in it to run.
    @Test func aMeaningIsSearchedAndReadInFull() throws {
        var browser = try Fixture.browser(Fixture.source(), keys: "j<enter>?booked")
        #expect(browser.frame.boxLines.contains { $0.hasPrefix("touches Accesses") && $0.hasSuffix("…") })
        #expect(
            browser.frame.boxWords.contains(
                "touches: Accesses that the store booked to this browser; looking makes none."))
        let before = browser.frame
        browser.press([Key(.enter)])
        #expect(browser.frame == before)
    }
}
