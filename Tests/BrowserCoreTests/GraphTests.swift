import BrowserCore
import StorageEngine
import StoreInspection
import TerminalKit
import Testing

/// Graphs and the figures of the last minute: in the monitor, in the list of archives and in the list of stores.
struct GraphTests {
    /// A cache that answered well for long and fails now.
    private func failing(_ keys: String = "j", columns: Int = 120, rows: Int = 40, seconds: Int = 70) throws
        -> (
            MockSource, TestClock, HeadlessBrowser
        )
    {
        let (source, clock) = (Fixture.source(), TestClock())
        source.with { $0.summaries["City"]?.hits = 900_000 }
        var browser = try Fixture.browser(source, columns: columns, rows: rows, clock: clock, keys: keys)
        for _ in 0..<seconds { source.pass(1, hits: 0, misses: 100, clock, &browser) }
        return (source, clock, browser)
    }

    private func row(_ name: String, _ browser: HeadlessBrowser) throws -> String {
        try #require(browser.frame.lines.first { $0.hasPrefix(name + " ") })
    }

    @Test("the list of archives shows the ratio of the last minute; the lifetime is in the details")
    func recentRatioInTheList() throws {
        let (_, _, browser) = try failing()
        let text = browser.frame.plainText
        #expect(text.contains("hit 1m"), "\(text)")
        #expect(try row("City", browser).contains("0.0%"), "\(text)")
        #expect(browser.frame.lines[1].contains("hit 1m 0.0%"), "\(text)")
        #expect(text.contains("lifetime hit 99.1%: "), "\(text)")
        #expect(text.contains("lifetime hit 92.4%"), "a process has counters of its own")
    }

    @Test("the ratio of less than a minute says so")
    func shortWindow() throws {
        let (_, _, browser) = try failing(seconds: 5)
        #expect(browser.frame.plainText.contains("hit <1m"))
    }

    @Test("a line for screen readers names the window of the ratio")
    func spokenWindow() throws {
        let (_, _, browser) = try failing()
        var speaker = Speaker()
        let lines = speaker.lines(browser.model, browser.frame)
        #expect(lines.contains { $0.contains("City") && $0.contains("hit 1m 0.0%") }, "\(lines)")
    }

    @Test("the sparkline of a ratio is drawn from 0 to 100 %, not up to its own maximum")
    func sparklineIsAbsolute() throws {
        let (source, clock) = (Fixture.source(), TestClock())
        var browser = try Fixture.browser(source, columns: 160, rows: 40, clock: clock, keys: "j")
        for _ in 0..<20 { source.pass(1, hits: 2, misses: 98, clock, &browser) }
        let row = try row("City", browser)
        #expect(row.contains("▁▁▁▁▁▁"), "\(row)")
    }

    @Test("left and right read a past moment of the graphs, which stays where it is")
    func cursorReadsThePast() throws {
        let (source, clock) = (Fixture.source(), TestClock())
        var browser = try Fixture.browser(source, columns: 100, rows: 40, clock: clock, keys: "jT")
        for second in 0..<100 {
            source.pass(1, hits: second == 49 ? 5_000 : 50, misses: 50, clock, &browser)
        }
        func operations() -> String {
            let line = browser.frame.lines.first { $0.contains("operations ") } ?? ""
            let rest = line.components(separatedBy: "operations ").last ?? ""
            return String(rest.prefix { $0 != "/" })
        }
        #expect(browser.frame.plainText.contains("  now, 10s mean"), "\(browser.frame.plainText)")
        #expect(operations() == "100")
        // Columns are ten seconds wide, and the present one is the tenth.
        browser.press(Array(repeating: Key(.left), count: 5))
        #expect(browser.model.screen == .monitor)
        #expect(browser.frame.lines[1].contains("02:40:40 to 02:40:50"), "\(browser.frame.lines[1])")
        #expect(operations() == "595", "\(browser.frame.plainText)")
        for _ in 0..<30 { source.pass(1, hits: 0, misses: 10, clock, &browser) }
        #expect(browser.frame.lines[1].contains("02:40:40 to 02:40:50") && operations() == "595")
        browser.press([Key(.right)])
        #expect(operations() == "100")
        browser.press([Key(.escape)])
        #expect(browser.model.screen == .monitor && !browser.frame.lines[1].contains(" to "))
        browser.press(try Key.script("<lt>h"))
        #expect(browser.model.screen == .archives)
    }

    @Test("each graph has its maximum and its own times, at moments that don't move")
    func axes() throws {
        let (source, clock, found) = try failing("jT", columns: 100, rows: 40)
        var browser = found
        func axes() -> [[Substring]] {
            browser.frame.lines.filter { $0.contains("└") }.map { $0.split(separator: " ") }
        }
        #expect(axes().count == 3, "\(browser.frame.plainText)")
        for axis in axes() { #expect(axis.count { $0 == "└02:40" } == 2, "\(axis)") }
        #expect(browser.frame.plainText.contains("100%│") && browser.frame.plainText.contains(" 100/s│"))
        let before = axes()
        for _ in 0..<5 { source.pass(1, hits: 0, misses: 1, clock, &browser) }
        #expect(axes() == before)
    }

    // MARK: The list of archives

    /// The names of the rows.
    private func names(_ browser: HeadlessBrowser) -> [String] {
        browser.frame.lines.dropFirst(5).prefix(3).map { String($0.prefix { $0 != " " }) }
    }

    @Test("s sorts the archives by each column, r turns the order round, and the cursor stays on its archive")
    func archivesAreSorted() throws {
        var browser = try Fixture.browser(Fixture.source(), columns: 120, rows: 40, keys: "jj")
        #expect(names(browser) == ["Blob", "City", "Trace"])
        browser.press([.character("s")])
        #expect(names(browser) == ["City", "Blob", "Trace"] && browser.frame.plainText.contains("entries ▼"))
        browser.press([.character("r")])
        #expect(names(browser) == ["Trace", "Blob", "City"] && browser.frame.plainText.contains("entries ▲"))
        #expect(try row("Trace", browser).isEmpty == false && browser.model.cursorRow == 0)
        browser.press(try Key.script("sssssss"))
        #expect(names(browser) == ["Blob", "City", "Trace"] && browser.model.cursorRow == 2)
    }

    @Test("the order of sorted archives stays while the cursor moves")
    func sortedArchivesAreHeld() throws {
        let (source, clock) = (Fixture.source(), TestClock())
        var browser = try Fixture.browser(source, columns: 120, rows: 40, clock: clock, keys: "ssssj")
        #expect(names(browser).first == "City")
        source.with { $0.summaries["Trace"]?.memoryBytes = 9_999_999 }
        clock.advance(1)
        browser.refresh()
        #expect(names(browser).first == "City")
        clock.advance(5)
        browser.refresh()
        browser.refresh()
        #expect(names(browser).first == "Trace")
    }

    @Test("/ filters the archives; esc shows all again before it leaves")
    func archivesAreFiltered() throws {
        var browser = try Fixture.browser(Fixture.source(), columns: 120, rows: 40, keys: "/it<enter>")
        #expect(names(browser).first == "City" && !browser.frame.plainText.contains("Blob "))
        #expect(
            browser.frame.plainText.contains("1 of 3 archives  filter \"it\""), "\(browser.frame.plainText)")
        browser.press([Key(.enter)])
        #expect(browser.model.screen == .entries && browser.frame.plainText.contains("Jakarta"))
        browser.press([Key(.escape), Key(.escape)])
        #expect(browser.model.screen == .archives && names(browser) == ["Blob", "City", "Trace"])
        browser.press(try Key.script("/zz<enter><enter>"))
        #expect(
            browser.model.screen == .archives
                && browser.frame.plainText.contains("No archive name contains \"zz\"; esc clears the filter.")
        )
    }

    @Test("the column that archives are sorted by is shown on narrow screens", arguments: [60, 80, 200])
    func sortedColumnIsShown(columns: Int) throws {
        let browser = try Fixture.browser(Fixture.source(), columns: columns, rows: 24, keys: "ssss")
        #expect(browser.frame.plainText.contains("memory ▼"), "\(browser.frame.plainText)")
    }

    @Test("an archive with an alarm that is too small shows both")
    func alarmAndTooSmall() throws {
        let (source, clock, found) = try failing("jTA<lt> 80%<enter>", columns: 200, seconds: 5)
        var browser = found
        browser.press([.character("h")])
        for number in 0..<40 {
            source.happen(.eviction, "key \(number)", archive: "City", at: clock.now)
            source.happen(.record, "key \(number)", archive: "City", at: clock.now)
        }
        for _ in 0..<2 { source.pass(1, hits: 0, misses: 100, clock, &browser) }
        #expect(try row("City", browser).contains("cache ALARM, too small "), "\(browser.frame.plainText)")
    }

    @Test("an alarm names its archive in the row and in the header")
    func alarmNamesItsArchive() throws {
        let (source, clock, found) = try failing("jTA<lt> 80%<enter>", seconds: 5)
        var browser = found
        #expect(browser.frame.lines[0].contains(" ALARM City "))
        browser.press([.character("h")])
        source.pass(1, hits: 0, misses: 100, clock, &browser)
        #expect(try row("City", browser).contains(" ALARM "), "\(browser.frame.plainText)")
        #expect(try !row("Blob", browser).contains("ALARM"))
    }

    @Test(
        "an archive that records what it evicted is marked as too small",
        arguments: [(true, true), (false, false)])
    func tooSmall(returns: Bool, isMarked: Bool) throws {
        let (source, clock) = (Fixture.source(), TestClock())
        var browser = try Fixture.browser(source, columns: 80, rows: 40, clock: clock)
        for number in 0..<40 {
            source.happen(.eviction, "key \(number)", archive: "City", at: clock.now)
            source.happen(
                .record, returns ? "key \(number)" : "other \(number)", archive: "City", at: clock.now)
        }
        clock.advance(1)
        browser.refresh()
        browser.refresh()
        #expect(
            try row("City", browser).contains("cache too small") == isMarked, "\(browser.frame.plainText)")
    }

    @Test("narrow screens keep name and ratio, and the gauge from 80 columns on", arguments: [40, 80, 100])
    func narrowLists(columns: Int) throws {
        let (_, _, browser) = try failing(columns: columns, rows: 24, seconds: 3)
        let row = try row("City", browser)
        #expect(row.contains("█▉") == (columns >= 80) && row.contains("0.0%"), "\(row)")
    }

    @Test("the list of stores shows the ratio and the operations of each store")
    func storesHaveFigures() throws {
        let (source, clock) = (Fixture.source(), TestClock())
        var browser = try Fixture.browser(source, columns: 120, store: nil, clock: clock)
        for _ in 0..<4 {
            clock.advance(2)
            source.with { state in
                state.stores[0].activity.hits += 30
                state.stores[0].activity.misses += 10
            }
            browser.refresh()
        }
        let row = try row("demo", browser)
        #expect(
            browser.frame.plainText.contains("hit <1m") && row.contains("75.0%") && row.contains(" 20 "),
            "\(row)")
    }

    @Test(
        "matches of the filter and of the search are highlighted in a log",
        arguments: ["/warning<enter>", "fwarn.ng<enter>"])
    func logMatches(keys: String) throws {
        let source = Fixture.source()
        Fixture.addMessages(source)
        let browser = try Fixture.browser(source, keys: "jj<enter>" + keys)
        let row = try #require(
            browser.frame.lines.firstIndex { $0.contains("warning") && $0.contains("02:") })
        let style = Fixture.unicode[.match]
        #expect(
            browser.frame.cells(of: "warning", row: row).allSatisfy {
                $0.style.background == style.background
            })
    }
}
