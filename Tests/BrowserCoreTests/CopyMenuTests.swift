import BrowserCore
import Foundation
import StorageEngine
import StoreInspection
import TerminalKit
import Testing

/// The menu of copies, and the bytes sent to the terminal.
struct CopyMenuTests {
    private let source = Fixture.source()

    private func browser(
        _ keys: String, source: MockSource = Fixture.source(), clipboard: Clipboard = .direct,
        columns: Int = 80, rows: Int = 24
    ) throws -> HeadlessBrowser {
        var environment = Fixture.environment
        environment.clipboard = clipboard
        var browser = HeadlessBrowser(
            Fixture.model(columns: columns, rows: rows, environment: environment), source: source,
            clock: { Fixture.start })
        try browser.press(keys)
        return browser
    }

    @Test(arguments: [
        ("j<enter>yk", "Jakarta"), ("j<enter>j<enter>yk", "Bandung"),
        ("j<enter>y<down><down><down><enter>", "vellum --store /home/ada/.cache/demo get City Jakarta"),
        ("j<enter>jjyc", "vellum --store /home/ada/.cache/demo get City '東京都'"),
        ("j<enter>yp", "/home/ada/.cache/demo"), ("jyn", "City"), ("jyp", "/home/ada/.cache/demo"),
        ("<enter>jyv", "First line\nSecond \u{1b}[31mline\nDritte Zeile: Grüße aus 東京\n"),
        (
            "j<enter>ys",
            "try Store.open(at: \"/home/ada/.cache/demo\", mode: .readOnly).archive(named: \"City\").peek(\"Jakarta\")"
        ),
        ("jyc", "vellum --store /home/ada/.cache/demo keys City"), ("j<enter><enter>jya", "$.geonameid"),
    ])
    func copiesText(keys: String, text: String) throws {
        #expect(try browser(keys).copied() == text)
    }

    /// Bytes are copied in hexadecimal, documents as indented JSON.
    @Test func copiesValuesAsText() throws {
        #expect(try browser("<enter>yv").copied().hasPrefix("89504e470d0a1a0a0001"))
        let city = try browser("j<enter>yv").copied()
        #expect(city.hasPrefix("{\n  \"geonameid\": 1642911,"))
        let row =
            try JSONSerialization.jsonObject(with: Data(browser("j<enter>yj").copied().utf8))
            as? [String: Any]
        #expect((row?["meta"] as? [String: Any])?["key"] as? String == "Jakarta")
        #expect((row?["value"] as? [String: Any])?["geonameid"] as? Int == 1_642_911)
    }

    /// A row is copied as its entry; its command and Swift code are those of the query.
    @Test(arguments: [("", "Bandung", 1_642_912), (" desc", "Jakarta", 1_642_911)])
    func copiesRowsOfQuery(order: String, key: String, number: Int) throws {
        try Fixture.addQueries(source)
        let query = "find population > 4000000 | sort population\(order)"
        func copied(_ letter: Character) throws -> String {
            try browser("jQ\(query)<enter>y\(letter)", source: source).copied()
        }
        #expect(try copied("k") == key)
        let row = try JSONSerialization.jsonObject(with: Data(copied("j").utf8)) as? [String: Any]
        #expect(row?["key"] as? String == key)
        #expect((row?["value"] as? [String: Any])?["geonameid"] as? Int == number)
        #expect(try copied("v").hasPrefix("{\n  \"geonameid\": \(number),"))
        #expect(try copied("c") == "vellum --store /home/ada/.cache/demo query City '\(query)'")
        #expect(try copied("s").contains("archive.population(.greater(than: 4000000))"))
        #expect(try copied("p") == "/home/ada/.cache/demo")
    }

    /// A row of several entries has no key or value; its JSON has its columns.
    @Test func copiesAggregatedRows() throws {
        try Fixture.addQueries(source)
        let keys = "jQgroup by capital | count<enter>y"
        let menu = try browser(keys, source: source).boxLines
        #expect(menu.contains { $0.hasPrefix("j the row as JSON ") }, "\(menu)")
        #expect(!menu.contains { $0.hasPrefix("k ") || $0.hasPrefix("v ") }, "\(menu)")
        let row = try JSONSerialization.jsonObject(
            with: Data(browser(keys + "j", source: source).copied().utf8))
        #expect((row as? [String: Any])?["capital"] as? Bool == true)
        #expect((row as? [String: Any])?["count"] as? Int == 16)
    }

    @Test func copiesMessages() throws {
        source.append("first\n\u{1b}[2J", archive: "Trace", at: Fixture.start)
        #expect(try browser("jj<enter>yv", source: source).copied() == "first\n\u{1b}[2J")
        let row = try browser("jj<enter>yj", source: source).copied()
        #expect(row.contains("\"sequence\":1") && row.contains("\"text\":\"first\\n\\u001b[2J\""))
    }

    /// Advice for terminals that ignore copies is shown once.
    @Test func confirmsCopy() throws {
        var browser = try browser("j<enter>yk", clipboard: .tmux)
        var text = browser.text
        #expect(text.contains("Copied the key, 7 B, to the terminal's clipboard."))
        #expect(text.contains("set-clipboard on"))
        try browser.press("<enter>jyk")
        text = browser.text
        #expect(text.contains("Copied the key, 7 B, to the terminal's clipboard."))
        #expect(!text.contains("set-clipboard"))
        #expect(
            browser.sent.count == 2 && browser.sent[1] == Clipboard.tmux.sequence(for: Array("Bandung".utf8)))
    }

    @Test(arguments: [(80, 24), (40, 10), (20, 5)])
    func showsTextWithoutClipboard(columns: Int, rows: Int) throws {
        let browser = try browser("j<enter>yk", clipboard: .none(type: "linux"), columns: columns, rows: rows)
        #expect(browser.sent.isEmpty)
        // On small screens the text is below the visible lines.
        guard rows >= 24 else { return }
        browser.expect(
            shows: "A terminal of type linux has no clipboard. w writes the value to a file.", "│ Jakarta")
    }

    @Test func refusesLongValues() throws {
        source.record("Jakarta", [UInt8](repeating: 65, count: 70_000), archive: "City", at: Fixture.start)
        let browser = try browser("j<enter>yv", source: source)
        #expect(browser.sent.isEmpty)
        browser.expect(shows: "Nothing was copied", "w writes the value to a file.")
    }

    @Test func reportsRemovedEntry() throws {
        var browser = try browser("j<enter>y", source: source)
        source.remove("Jakarta", archive: "City")
        try browser.press("v")
        #expect(browser.sent.isEmpty)
        #expect(browser.text.contains("Nothing was copied: the entry no longer exists."))
    }
}
