import ArchiveQuery
import BrowserCore
import StorageEngine
import StoreInspection
import TerminalKit
import Testing

/// A condition of the query language as the filter of the entries.
struct ConditionTests {
    private func browser(_ keys: String, _ source: MockSource = Fixture.source()) throws -> HeadlessBrowser {
        try Fixture.browser(source, columns: 99, look: Fixture.ascii, keys: "j<enter>" + keys)
    }

    private func line(_ browser: HeadlessBrowser, _ number: Int) -> String {
        String(browser.frame.plainText.split(separator: "\n", omittingEmptySubsequences: false)[number])
    }

    @Test func showsWhatMeetsIt() throws {
        var browser = try browser("Wpopulation > 2000000")
        #expect(
            line(browser, 1).contains("4 of 16 entries") && line(browser, 22).hasPrefix("where: population"))
        browser.press(try Key.script("<enter>jj"))
        #expect(line(browser, 1).contains("where population > 2000000"), "\(line(browser, 1))")
        #expect(
            CommandLine.words(for: browser.model).hasSuffix("query City 'find population > 2000000'"))
        // A filter looks among them.
        browser.press(try Key.script("/dung"))
        #expect(line(browser, 1).contains("1 of 16 entries"))
        browser.press(try Key.script("<esc><esc>"))
        #expect(line(browser, 1).contains(" 16 entries"), "\(line(browser, 1))")
        browser.press(try Key.script("/<tab>@hits = 0"))
        #expect(line(browser, 1).contains("1 of 16 entries"), "Tab leads from a filter to a condition")
        browser.press(try Key.script("<esc>"))
        #expect(line(browser, 1).contains(" 16 entries"))
    }

    @Test func pointsOutMistakes() throws {
        var browser = try browser("Wpopulation > 2000000 and")
        // What could come is said while it isn't whole, and what was asked last stays.
        #expect(line(browser, 1).contains("Expected next: "), "\(line(browser, 1))")
        browser.press(try Key.script("<enter>"))
        #expect(line(browser, 1).contains("at 25: incomplete"), "\(line(browser, 1))")
        #expect(line(browser, 22).hasPrefix("where: "), "it isn't taken for what was meant")
        browser.press(try Key.script("<ctrl+u>population >> 3"))
        #expect(line(browser, 1).contains("at 13: found \">\""), "\(line(browser, 1))")
        browser.press(try Key.script("<ctrl+u>name matches \"(\"<enter>"))
        #expect(line(browser, 1).contains("is not a regular expression"), "\(line(browser, 1))")
        browser.press(try Key.script("<ctrl+u>popluation > 1<enter>"))
        #expect(
            line(browser, 1).contains("no value that was read has the property popluation"),
            "\(line(browser, 1))")
        #expect(browser.frame.plainText.contains("No entry matches popluation > 1; esc clears this."))
        browser.press(try Key.script("W<ctrl+u>population > \"a\"<enter>"))
        #expect(line(browser, 1).contains("population is a number, not a tex"), "\(line(browser, 1))")
    }

    @Test func completes() throws {
        var browser = try browser("Wpopu<tab>")
        #expect(line(browser, 22).hasPrefix("where: population "), "\(line(browser, 22))")
        browser.press(try Key.script("> 1 and place.zo<tab>= <tab>"))
        #expect(line(browser, 22).contains("and place.zone = \"Asia/Jakarta\""), "\(line(browser, 22))")
        #expect(line(browser, 1).contains("16 of 16 entries"))
    }

    @Test func isKeptWhileTheStoreChanges() throws {
        let source = Fixture.source()
        let clock = TestClock()
        var browser = try Fixture.browser(
            source, columns: 99, look: Fixture.ascii, clock: clock,
            keys: "j<enter>Wpopulation > 2000000<enter>")
        source.record("Lagos", Array("{\"population\":15388000}".utf8), archive: "City", at: clock.now)
        source.record("Vaduz", Array("{\"population\":5774}".utf8), archive: "City", at: clock.now)
        for _ in 0..<20 {
            clock.advance(1)
            browser.refresh()
        }
        #expect(line(browser, 1).contains("5 of 18 entries"), "\(browser.frame.plainText)")
        #expect(browser.frame.plainText.contains("Lagos") && !browser.frame.plainText.contains("Vaduz"))
    }

    /// Another order asks nobody anything anew.
    @Test func anotherOrderReadsNoValues() throws {
        let source = Fixture.source()
        var browser = try browser("pWpopulation > 2000000<enter>", source)
        let before = source.with { $0.valueCalls }
        browser.press(try Key.script("2"))
        #expect(source.with { $0.valueCalls } == before && line(browser, 1).contains("4 of 16 entries"))
    }

    @Test func whatCantBeReadIsCounted() throws {
        let source = Fixture.source()
        source.with { $0.valueProblems = ["Bandung": "the entry fails its checksum"] }
        let browser = try browser("Wpopulation > 2000000<enter>", source)
        #expect(line(browser, 1).contains("3 of 16 entries, 1 unreadable"), "\(line(browser, 1))")
    }

    @Test func goesOnAsAQuery() throws {
        let browser = try browser("/a<enter>Wpopulation > 2000000<enter>Q")
        #expect(
            line(browser, 1).contains("find @key icontains \"a\" | find population > 2000000"),
            "\(line(browser, 1))")
    }
}
