import BrowserCore
import TerminalKit
import Testing

/// The legend of the help: signs beside rows, and counters of the top bar.
struct LegendTests {
    /// The legend of the top bar on all screens of a store.
    private static let bar = [
        "accesses Accesses by the browser, as counted by the store; browsing adds none.",
        "writes Entries and messages that you changed or deleted here.",
        "lock Longest step of your changes; no lock was held longer.",
        "live The screen follows the store. following: the cursor stays at the newest row.",
        "frozen Rows keep their order while you move or type; shows for how long.",
        "no answer The store or server hasn't answered yet; seconds since the request.",
        "UNREACHABLE The store can't be read; the time of its last data is beside it.",
        "REMOVED The archive was removed; its last data is shown.",
        "PAUSED The screen is paused; graphs and alarms continue.",
        "paste Keys that arrive faster than typing count as pasted: they change nothing.",
    ]
    private static let asked = "updated Age of these rows: R refreshes them."

    /// The legend on a screen that fits the whole help.
    private func legend(_ keys: String, store: String? = Fixture.storePath) throws -> [String] {
        let browser = try Fixture.browser(Fixture.source(), columns: 100, rows: 120, store: store, keys: keys)
        return browser.boxLines
    }

    @Test(arguments: [
        "?", "j<enter>?", "j<enter><f1>", "jz?", "j<enter><enter>?", "jQ<f1><f1>", "E?", "jj<enter>?",
    ])
    func explainsTopBar(keys: String) throws {
        let lines = try legend(keys)
        for meaning in Self.bar { #expect(lines.contains(meaning), "\(meaning) in \(lines)") }
    }

    @Test(arguments: [
        (
            "j<enter>?",
            [
                "● Marked: included in the next delete or expiry.",
                "▼ Evicted next, to free 1% of the limit.",
                "x Removed since the list was read.",
                "updated Age of this list: long lists refresh less often.",
            ]
        ),
        (
            "E?",
            [
                "missed Events that were overwritten before the browser read them.",
                "promoted A process loaded the value into its memory.",
            ]
        ), ("jz?", [asked]), ("jQ<f1><f1>", [asked]),
        ("j<enter><enter>?", ["read Age of this value: the store has changed or removed it since."]),
    ])
    func explainsSignsOfScreen(keys: String, meanings: [String]) throws {
        let lines = try legend(keys)
        for meaning in meanings { #expect(lines.contains(meaning), "\(meaning) in \(lines)") }
    }

    @Test func listOfStoresHasNoCounters() throws {
        let lines = try legend("?", store: nil)
        #expect(lines.contains("★ A favorite, listed first."))
        #expect(lines.contains("1 The key that shows this open store."))
        #expect(!lines.contains { $0.hasPrefix("accesses ") || $0.hasPrefix("● ") })
    }

    @Test(arguments: [(Fixture.unicode, "●", "▼"), (Fixture.ascii, "*", "v")])
    func showsSignsOfLook(look: Look, marked: String, dying: String) throws {
        var browser = try Fixture.browser(Fixture.source(), rows: 30, look: look, keys: "j<enter>mG")
        #expect(browser.lines.contains { $0.hasPrefix("\(dying) ") }, "\(browser.text)")
        try browser.press("g")
        #expect(browser.lines.contains { $0.hasPrefix("\(marked) Jakarta") })
        for (typed, sign) in [("next delete", marked), ("evicted", dying)] {
            try browser.press("?\(typed)")
            #expect(browser.lines.contains { $0.contains(" \(sign)             ") }, "\(sign)")
            try browser.press("<esc>")
        }
    }

    /// On a small screen a line is cut, and its full text is below the list. Enter does nothing.
    @Test func showsSelectedLineInFull() throws {
        var browser = try Fixture.browser(Fixture.source(), keys: "j<enter>?counted")
        #expect(browser.boxLines.contains { $0.hasPrefix("accesses Acc") && $0.hasSuffix("…") })
        #expect(
            browser.boxWords.contains(
                "accesses: Accesses by the browser, as counted by the store; browsing adds none."))
        let before = browser.frame
        try browser.press("<enter>")
        #expect(browser.frame == before)
    }
}
