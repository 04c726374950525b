import BrowserCore
import StorageEngine
import StoreInspection
import TerminalKit
import Testing

/// Graphs, and figures of the last minute in the lists of archives and stores.
struct GraphTests {
    private let source = Fixture.source()
    private let clock = TestClock()

    /// A cache with a high hit ratio that has begun to miss.
    private func failing(_ keys: String = "j", columns: Int = 120, rows: Int = 40, seconds: Int = 70) throws
        -> HeadlessBrowser
    {
        source.with { $0.summaries["City"]?.hits = 900_000 }
        var browser = try Fixture.browser(source, columns: columns, rows: rows, clock: clock, keys: keys)
        for _ in 0..<seconds { source.pass(1, hits: 0, misses: 100, clock, &browser) }
        return browser
    }

    private func row(_ name: String, _ browser: HeadlessBrowser) throws -> String {
        try #require(browser.lines.first { $0.hasPrefix(name + " ") })
    }

    /// The end of a column's title in the list of archives.
    private func column(_ title: String, _ browser: HeadlessBrowser) -> Int? {
        let header = browser.lines.first { $0.hasPrefix("archive") }
        return header?.firstRange(of: title).map { $0.upperBound.utf16Offset(in: header ?? "") }
    }

    @Test("the list of archives shows the ratio of the last minute, the details that of the lifetime")
    func recentRatioInTheList() throws {
        let browser = try failing()
        let text = browser.text
        #expect(text.contains("hit 1m"), "\(text)")
        #expect(try row("City", browser).contains("0.0%"), "\(text)")
        #expect(browser.lines[1].contains("hit 1m 0.0%"), "\(text)")
        #expect(text.contains("overall hit ratio 99.1%: "), "\(text)")
        // The details have the same figure as the list.
        #expect(text.contains("hit, last 1m 0.0%  bars: 1s mean"), "\(text)")
        #expect(text.contains("overall hit ratio 92.4%"), "the process lacks its counters")
    }

    @Test("a ratio of less than a minute is labeled as such")
    func shortWindow() throws {
        let browser = try failing(seconds: 5)
        #expect(browser.text.contains("hit <1m"))
    }

    @Test("a line for screen readers names the window of the ratio")
    func spokenWindow() throws {
        let browser = try failing()
        var speaker = AccessibilityOutput()
        let lines = speaker.lines(browser.model, browser.frame)
        #expect(lines.contains { $0.contains("City") && $0.contains("hit 1m 0.0%") }, "\(lines)")
    }

    @Test("the scale of a graph ends shortly above its largest value")
    func scaleIsTight() throws {
        var browser = try Fixture.browser(source, columns: 120, rows: 40, clock: clock, keys: "jT")
        for _ in 0..<20 { source.pass(1, hits: 1_050, misses: 50, clock, &browser) }
        #expect(browser.text.contains("1,200/s") && !browser.text.contains("2,000/s"), "\(browser.text)")
    }

    @Test("the sparkline of a ratio is scaled from 0 to 100 %")
    func sparklineIsAbsolute() throws {
        var browser = try Fixture.browser(source, columns: 160, rows: 40, clock: clock, keys: "j")
        for _ in 0..<20 { source.pass(1, hits: 2, misses: 98, clock, &browser) }
        let row = try row("City", browser)
        #expect(row.contains("▁▁▁▁▁▁"), "\(row)")
    }

    @Test("left and right read fixed past moments of the graphs")
    func cursorReadsThePast() throws {
        var browser = try Fixture.browser(source, columns: 100, rows: 40, clock: clock, keys: "jT")
        for second in 0..<100 {
            source.pass(1, hits: second == 49 ? 5_000 : 50, misses: 50, clock, &browser)
        }
        func operations() -> String {
            let line = browser.lines.first { $0.contains("operations ") } ?? ""
            let rest = line.components(separatedBy: "operations ").last ?? ""
            return String(rest.prefix { $0 != "/" })
        }
        #expect(browser.text.contains("  bars: 10s mean  now (2s mean)"), "\(browser.text)")
        #expect(operations() == "100")
        // Columns are ten seconds wide, and the present one is the tenth.
        browser.press(Array(repeating: Key(.left), count: 5))
        #expect(browser.model.screen == .monitor)
        #expect(browser.lines[1].contains("02:40:40 to 02:40:50"), "\(browser.lines[1])")
        #expect(operations() == "595", "\(browser.text)")
        for _ in 0..<30 { source.pass(1, hits: 0, misses: 10, clock, &browser) }
        #expect(browser.lines[1].contains("02:40:40 to 02:40:50") && operations() == "595")
        try browser.press("<right>")
        #expect(operations() == "100")
        try browser.press("<esc>")
        #expect(browser.model.screen == .monitor && !browser.lines[1].contains(" to "))
        try browser.press("<lt>h", on: .archives)
    }

    @Test("each graph has its maximum and time marks at fixed moments")
    func axes() throws {
        var browser = try failing("jT", columns: 100, rows: 40)
        func axes() -> [[Substring]] {
            browser.lines.filter { $0.contains("└") }.map { $0.split(separator: " ") }
        }
        #expect(axes().count == 3, "\(browser.text)")
        for axis in axes() { #expect(axis.count { $0 == "└02:40" } == 2, "\(axis)") }
        #expect(browser.text.contains("100%│") && browser.text.contains(" 100/s│"))
        let before = axes()
        for _ in 0..<5 { source.pass(1, hits: 0, misses: 1, clock, &browser) }
        #expect(axes() == before)
    }

    // MARK: The list of archives

    /// The names of the rows.
    private func names(_ browser: HeadlessBrowser) -> [String] {
        browser.lines.dropFirst(5).prefix(3).map { String($0.prefix { $0 != " " }) }
    }

    @Test("s and r sort the archives, and the cursor stays on its archive")
    func archivesAreSorted() throws {
        var browser = try Fixture.browser(Fixture.source(), columns: 120, rows: 40, keys: "jj")
        #expect(names(browser) == ["Blob", "City", "Trace"])
        try browser.press("s")
        #expect(names(browser) == ["City", "Blob", "Trace"] && browser.text.contains("entries ▼"))
        try browser.press("r")
        #expect(names(browser) == ["Trace", "Blob", "City"] && browser.text.contains("entries ▲"))
        #expect(try row("Trace", browser).isEmpty == false && browser.model.cursorRow == 0)
        try browser.press("sssssss")
        #expect(names(browser) == ["Blob", "City", "Trace"] && browser.model.cursorRow == 2)
    }

    @Test("the order of archives stays while the cursor moves")
    func sortedArchivesAreHeld() throws {
        var browser = try Fixture.browser(source, columns: 120, rows: 40, clock: clock, keys: "ssssj")
        #expect(names(browser).first == "City")
        source.with { $0.summaries["Trace"]?.memoryBytes = 9_999_999 }
        clock.advance(1, refreshing: &browser)
        #expect(names(browser).first == "City")
        clock.advance(5, refreshing: &browser)
        browser.refresh()
        #expect(names(browser).first == "Trace")
    }

    @Test("/ filters the archives; esc first shows all")
    func archivesAreFiltered() throws {
        var browser = try Fixture.browser(Fixture.source(), columns: 120, rows: 40, keys: "/it<enter>")
        #expect(names(browser).first == "City" && !browser.text.contains("Blob "))
        #expect(browser.lines[1].contains("1 of 3 archives  filter \"it\""), "\(browser.text)")
        try browser.press("<enter>")
        #expect(browser.model.screen == .entries && browser.text.contains("Jakarta"))
        try browser.press("<esc><esc>")
        #expect(browser.model.screen == .archives && names(browser) == ["Blob", "City", "Trace"])
        try browser.press("/zz<enter><enter>")
        #expect(
            browser.model.screen == .archives
                && browser.text.contains("No archive name contains \"zz\"; esc clears the filter.")
        )
    }

    @Test("the column that archives are sorted by is shown on narrow screens", arguments: [60, 80, 200])
    func sortedColumnIsShown(columns: Int) throws {
        let browser = try Fixture.browser(Fixture.source(), columns: columns, rows: 24, keys: "ssss")
        #expect(browser.text.contains("memory ▼"), "\(browser.text)")
    }

    @Test("an archive that is too small and has an alarm shows both")
    func alarmAndTooSmall() throws {
        var browser = try failing("jTA<lt> 80%<enter>", columns: 200, seconds: 5)
        try browser.press("h")
        recordEvictedKeys()
        for _ in 0..<2 { source.pass(1, hits: 0, misses: 100, clock, &browser) }
        #expect(try row("City", browser).contains(" ! cache "), "\(browser.text)")
        browser.expect(shows: "ALARM      hit ratio < 80%", "too small  ")
    }

    @Test("an alarm names its archive in the row and in the header")
    func alarmNamesItsArchive() throws {
        var browser = try failing("jTA<lt> 80%<enter>", seconds: 5)
        #expect(browser.lines[0].contains(" ALARM City "))
        try browser.press("h")
        source.pass(1, hits: 0, misses: 100, clock, &browser)
        #expect(try row("City", browser).contains(" ! cache "), "\(browser.text)")
        #expect(try !row("Blob", browser).contains("!"))
    }

    @Test(
        "a full archive that records evicted keys is marked as too small",
        arguments: [(true, true, true), (false, true, false), (true, false, false)])
    func tooSmall(returns: Bool, isFull: Bool, isMarked: Bool) throws {
        if !isFull { source.with { $0.summaries["City"]?.diskLimit = 1_000_000 } }
        var browser = try Fixture.browser(source, columns: 80, rows: 40, clock: clock)
        let entries = column("entries", browser)
        for number in 0..<40 {
            evict("key \(number)")
            record(returns ? "key \(number)" : "other \(number)")
        }
        clock.advance(1, refreshing: &browser)
        browser.refresh()
        #expect(try row("City", browser).contains(" ! ") == isMarked, "\(browser.text)")
        #expect(column("entries", browser) == entries, "the warning moves columns")
    }

    @Test("the mark of an archive that is too small ends in the second minute without records")
    func tooSmallEnds() throws {
        var browser = try Fixture.browser(source, columns: 80, rows: 40, clock: clock)
        clock.advance(1)
        for number in 0..<40 {
            evict("key \(number)", bytes: 500)
            source.happen(.record, "key \(number)", archive: "City", at: clock.now)
        }
        for (seconds, isMarked) in [(1.0, true), (60, true), (60, false)] {
            clock.advance(seconds, refreshing: &browser)
            browser.refresh()
            #expect(try row("City", browser).contains(" ! ") == isMarked, "\(browser.text)")
        }
    }

    @Test("L proposes the limit that would have kept the evicted keys that were recorded again")
    func neededLimitIsProposed() throws {
        let limit = try #require(source.with { $0.summaries["City"]?.diskLimit })
        var browser = try Fixture.browser(source, columns: 120, rows: 40, clock: clock, keys: "j")
        for _ in 0..<2 {
            for number in 0..<40 { evict("key \(number)", bytes: 500) }
            for number in 0..<40 { record("key \(number)", bytes: 500) }
        }
        try expectProposal(limit + 39 * 500, in: &browser)
    }

    /// Expects that `L` proposes this disk limit.
    private func expectProposal(_ limit: UInt64, in browser: inout HeadlessBrowser) throws {
        clock.advance(1, refreshing: &browser)
        browser.refresh()
        try browser.press("L", shows: "disk \(Figures.bytes(limit)) memory")
    }

    private func evict(_ key: String, bytes: Int = 0) {
        source.happen(.eviction, key, archive: "City", cause: .limit, bytes: bytes, at: clock.now)
    }

    private func record(_ key: String, bytes: Int = 0) {
        source.happen(.record, key, archive: "City", bytes: bytes, at: clock.now)
    }

    private func recordEvictedKeys() {
        for number in 0..<40 {
            evict("key \(number)")
            record("key \(number)")
        }
    }

    @Test("the proposed limit has space only for keys that were evicted at the same time")
    func neededLimitIsAtMostWhatExists() throws {
        let limit = try #require(source.with { $0.summaries["City"]?.diskLimit })
        var browser = try Fixture.browser(source, columns: 120, rows: 40, clock: clock, keys: "j")
        let size = Int(limit / 5)
        evict("key 0", bytes: size)
        for number in 0..<40 {
            evict("key \(number + 1)", bytes: size)
            record("key \(number)", bytes: size)
        }
        try expectProposal(limit + UInt64(size), in: &browser)
    }

    @Test("the proposed limit has space for absent values that were evicted later, not before")
    func neededLimitHasReuseDistance() throws {
        let limit = try #require(source.with { $0.summaries["City"]?.diskLimit })
        var browser = try Fixture.browser(source, columns: 120, rows: 40, clock: clock, keys: "j")
        for number in 0..<50 { evict("before \(number)", bytes: 500) }
        for number in 0..<100 { evict("key \(number)", bytes: 500) }
        evict("key 99", bytes: 500)
        for number in 20..<32 { record("key \(number)", bytes: 500) }
        try expectProposal(limit + 79 * 500, in: &browser)
    }

    @Test("evictions before a change of the limits don't count as too small", arguments: [false, true])
    func limitChangeClearsEstimate(isChangedBefore: Bool) throws {
        var browser = try Fixture.browser(source, columns: 80, rows: 40, clock: clock)
        func change() { source.happen(.resize, nil, archive: "City", at: clock.now) }
        if isChangedBefore { change() }
        for number in 0..<40 { evict("key \(number)", bytes: 500) }
        for number in 0..<20 { record("key \(number)", bytes: 500) }
        if !isChangedBefore { change() }
        for number in 20..<40 { record("key \(number)", bytes: 500) }
        clock.advance(1, refreshing: &browser)
        browser.refresh()
        #expect(try row("City", browser).contains(" ! ") == isChangedBefore, "\(browser.text)")
    }

    @Test("the status line names the reason of a mark", arguments: [(40, 10), (80, 12), (200, 60)])
    func markIsExplained(columns: Int, rows: Int) throws {
        var browser = try Fixture.browser(source, columns: columns, rows: rows, clock: clock, keys: "j")
        recordEvictedKeys()
        clock.advance(1, refreshing: &browser)
        browser.refresh()
        #expect(browser.lines[rows - 2].hasPrefix("! too small"), "\(browser.text)")
        try browser.press("k")
        #expect(!browser.lines[rows - 2].contains("too small"), "\(browser.text)")
    }

    @Test("the scale of a graph includes the current value")
    func scaleIncludesPresent() throws {
        var browser = try Fixture.browser(source, columns: 100, rows: 40, clock: clock, keys: "jT")
        source.pass(58, hits: 50, misses: 0, clock, &browser)
        // The mean of the last column, of ten seconds, is about a thousand.
        source.pass(2, hits: 5_000, misses: 0, clock, &browser)
        let row = try #require(browser.lines.firstIndex { $0.contains("operations 5,000/s") })
        #expect(browser.lines[row + 1].contains("5,000/s"), "\(browser.text)")
    }

    @Test("narrow screens keep name and ratio, and from 80 columns the gauge", arguments: [40, 80, 100])
    func narrowLists(columns: Int) throws {
        let browser = try failing(columns: columns, rows: 24, seconds: 3)
        let row = try row("City", browser)
        #expect(row.contains("█▉") == (columns >= 80) && row.contains("0.0%"), "\(row)")
    }

    @Test("the list of stores shows the ratio and the operations of each store")
    func storesHaveFigures() throws {
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
        #expect(browser.text.contains("hit <1m") && row.contains("75.0%") && row.contains(" 20 "), "\(row)")
    }

    @Test(
        "highlights matches of filter and search in a log",
        arguments: ["/warning<enter>", "fwarn.ng<enter>"])
    func logMatches(keys: String) throws {
        Fixture.addMessages(source)
        let browser = try Fixture.browser(source, keys: "jj<enter>" + keys)
        let row = try #require(browser.lines.firstIndex { $0.contains("warning") && $0.contains("02:") })
        let style = Fixture.unicode[.match]
        #expect(
            browser.frame.cells(of: "warning", row: row).allSatisfy {
                $0.style.background == style.background
            })
    }
}
