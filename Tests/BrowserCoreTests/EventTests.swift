import BrowserCore
import Foundation
import StorageEngine
import StoreInspection
import TerminalKit
import Testing

struct EventTests {
    private let source: MockSource = {
        let source = Fixture.source()
        Fixture.addEvents(source)
        return source
    }()
    private let clock = TestClock()

    /// Regression: the process number followed the name and was cut off.
    @Test(arguments: [(80, 24), (120, 40)], ["jE", "j<enter>t"])
    func processNumberIsNotCut(size: (columns: Int, rows: Int), keys: String) throws {
        let source = Fixture.source { state in
            for index in state.processes.indices {
                state.processes[index].pid += 4_000_000
                state.processes[index].name = "a service with a name of many words"
            }
        }
        source.happen(.record, "Jakarta", archive: "City", bytes: 197, pid: 4_004_121, at: Fixture.start)
        let browser = try Fixture.browser(source, columns: size.columns, rows: size.rows, keys: keys)
        let line = browser.text.split(separator: "\n").last { $0.contains(" recorded ") }
        #expect(line?.contains(" 4004121") == true, "\(browser.text)")
        // The cut of a name is marked. Beside the archive's name a narrow table has space for the number only.
        let isNamed = size.columns > 80 || keys != "jE"
        #expect(line?.contains(" 4004121 a s") == isNamed, "\(browser.text)")
        #expect(line?.contains("…") == isNamed && line?.contains("words") == false, "\(browser.text)")
    }

    @Test(
        "t lists the kinds of events with their numbers, and K filters by the next kind",
        arguments: [(80, 24), (40, 12), (120, 30)])
    func kindIsChosen(size: (columns: Int, rows: Int)) throws {
        var browser = try Fixture.browser(source, columns: size.columns, rows: size.rows, keys: "jEt")
        #expect(browser.boxLines.contains { $0.hasPrefix("recorded ") && $0.last?.isNumber == true })
        try browser.press("evict<enter>")
        let shown = browser.lines.dropFirst(2).filter { $0.contains("evicted") }
        #expect(!shown.isEmpty && !browser.lines.dropFirst(2).contains { $0.contains("recorded") })
        try browser.press("t<ctrl+u>all<enter>")
        try browser.press("K")
        #expect(!browser.lines.dropFirst(2).contains { $0.contains("evicted") }, "\(browser.text)")
    }

    @Test("writes the filtered events, and copies the selected one")
    func eventsAreWrittenAndCopied() throws {
        let folder = EngineSourceTests.Folder()
        var browser = try Fixture.browser(source, columns: 100, keys: "E/evict<enter>")
        try browser.press("w<ctrl+u>\(folder.path)/events.ndjson<enter>")
        let written = try Data(contentsOf: URL(fileURLWithPath: folder.path + "/events.ndjson"))
        let event = try #require(try JSONSerialization.jsonObject(with: written) as? [String: Any])
        #expect(event["event"] as? String == "eviction" && event["archive"] as? String == "City")
        #expect(event["size"] as? Int == 188 && event["time"] as? Double != nil)
        try browser.press("yk")
        #expect(browser.sent.count == 1, "\(browser.text)")
    }

    @Test("a filter finds events by the name of their archive, where it is shown")
    func eventsOfArchiveAreFound() throws {
        let browser = try Fixture.browser(source, columns: 100, keys: "E/Blob<enter>")
        let rows = browser.lines.filter { $0.contains(" recorded ") || $0.contains(" evicted ") }
        #expect(!rows.isEmpty && rows.allSatisfy { $0.contains("Blob") }, "\(browser.text)")
    }

    @Test("the table of events names processes where the name fits", arguments: [(80, 24), (120, 30)])
    func processNameIsShown(size: (columns: Int, rows: Int)) throws {
        let browser = try Fixture.browser(source, columns: size.columns, rows: size.rows, keys: "E")
        let line = browser.lines.first { $0.contains(" recorded ") && $0.contains("4133") }
        #expect(line?.contains("api") == true, "\(browser.text)")
    }

    // MARK: Graphs and alarms

    /// Simulates seconds of a cache with a falling hit ratio.
    private func graphs(
        _ source: MockSource, _ clock: TestClock, seconds: Int, keys: String = "jT"
    ) throws -> HeadlessBrowser {
        var browser = try Fixture.browser(source, clock: clock, keys: keys)
        for second in 0..<seconds {
            clock.advance(1)
            source.with { state in
                state.summaries["City"]?.hits += UInt64(max(0, 90 - second))
                state.summaries["City"]?.misses += UInt64(10 + second)
                state.summaries["City"]?.expirations += 3
            }
            browser.refresh()
        }
        return browser
    }

    @Test func graphsCoverOtherScreens() throws {
        var browser = try graphs(source, clock, seconds: 70, keys: "j<enter>")
        try browser.press("T", shows: "hit ratio", "expiries 3/s", "m of City")
        let text = browser.text
        let filled = text.filter { "▁▂▃▄▅▆▇█".contains($0) }.count
        #expect(filled > 20, "\(text)")
        try browser.press("sssss", shows: "1m of City")
        // Paused, the screen stays, but samples are recorded.
        try browser.press(" ")
        let before = browser.lines.dropFirst()
        source.with { $0.summaries["City"]?.expirations += 500 }
        clock.advance(2, refreshing: &browser)
        #expect(browser.lines.dropFirst() == before)
        try browser.press(" ", shows: "expiries 250/s")
    }

    @Test func alarmRingsOnce() throws {
        var browser = try graphs(source, clock, seconds: 2)
        try browser.press(
            "A<lt> 80%<enter>", shows: "The bell rings when City hit ratio is below 80% for 2s.")
        #expect(browser.sent.isEmpty)
        func seconds(_ count: Int, hits: UInt64, misses: UInt64) {
            source.pass(count, hits: hits, misses: misses, clock, &browser)
        }
        seconds(3, hits: 90, misses: 10)
        #expect(browser.sent.isEmpty)
        // It rings while another screen is shown.
        try browser.press("<esc><enter>")
        seconds(8, hits: 50, misses: 50)
        #expect(browser.sent == [[7]], "the bell did not ring once")
        #expect(browser.text.contains("ALARM: City hit ratio"), "\(browser.text)")
        #expect(browser.lines[0].contains(" ALARM "))
        seconds(5, hits: 95, misses: 5)
        #expect(browser.sent.count == 1 && !browser.lines[0].contains(" ALARM "))
        #expect(browser.text.contains("Alarm ended: City hit ratio was below 80% for"))
        // An empty threshold removes it.
        try browser.press("<esc>TA<ctrl+u><enter>", shows: "Alarm removed.")
        seconds(8, hits: 5, misses: 95)
        #expect(browser.sent.count == 1)
    }

    /// A ringing alarm is highlighted in the bar, the status line and its graph.
    @Test func ringingAlarmIsHighlighted() throws {
        var browser = try graphs(source, clock, seconds: 6)
        try browser.press("A<lt> 80%<enter>")
        let look = Fixture.unicode
        /// The styles of a text in its row.
        func styles(_ text: String) -> Set<Style> {
            let row = browser.lines.firstIndex { $0.contains(text) }
            return Set(row.map { browser.frame.cells(of: text, row: $0).map(\.style) } ?? [])
        }
        /// The colors of the bars in the first graph, the hit ratio.
        func bars() -> Set<Color> {
            let cells = (3..<6).flatMap { row in (0..<40).map { browser.frame[$0, row] } }
            return Set(cells.filter { "▁▂▃▄▅▆▇█".contains($0.text) && $0.text != "" }.map(\.style.foreground))
        }
        source.pass(3, hits: 90, misses: 10, clock, &browser)
        let bound = " alarm < 80%"
        #expect(styles(bound).map(\.foreground) == [look[.dim].foreground], "\(browser.text)")
        #expect(!bars().isEmpty && !bars().contains(look[.danger].foreground))
        source.pass(8, hits: 50, misses: 50, clock, &browser)
        #expect(browser.sent == [[7]])
        let badge = Set([look[.badge].background])
        #expect(badge != [look[.title].background] && badge != [look[.text].background])
        #expect(Set(styles(" ALARM ").map(\.background)) == badge, "\(browser.text)")
        #expect(Set(styles(bound).map(\.background)) == badge)
        #expect(bars() == [look[.danger].foreground])
        #expect(styles("ALARM: City hit ratio").map(\.foreground) == [look[.error].foreground])
        source.pass(6, hits: 95, misses: 5, clock, &browser)
        #expect(styles(" ALARM ").isEmpty)
        #expect(styles(bound).map(\.foreground) == [look[.dim].foreground])
        #expect(!bars().contains(look[.danger].foreground))
    }

    @Test(arguments: [
        ("<lt> 180%<enter>", "No alarm was set: 180% is not a threshold; write < 80%"),
        ("<lt><enter>", "No alarm was set: < needs a threshold, as in < 80%"),
        ("> 5 zebras<enter>", "No alarm was set: 5 zebras is not a threshold"),
        ("<lt> many<enter>", "No alarm was set: many is not a threshold"),
        ("<lt> 0%<enter>", "No alarm was set: it is never below 0%"),
        ("> 100%<enter>", "No alarm was set: it is never above 100%"),
        ("<lt> 80%<enter>A<ctrl+u>many<enter>", "; < 80% stays"),
    ])
    func refusesInvalidBounds(keys: String, answer: String) throws {
        let browser = try Fixture.browser(source, keys: "jTA" + keys)
        #expect(browser.text.contains(answer), "\(browser.text)")
        #expect(browser.text.contains("alarm when"), "the prompt was closed")
    }

    @Test(
        "a threshold without a sign uses the sign of the example",
        arguments: [("jTA", "80", "below 80"), ("jTA", "80%", "below 80%"), ("jTjA", "500", "above 500")])
    func boundWithoutSign(keys: String, text: String, condition: String) throws {
        let browser = try Fixture.browser(source, keys: keys + text + "<enter>")
        #expect(browser.model.said?.contains("is \(condition)") == true, "\(browser.model.said ?? "")")
    }

    /// Regression: a threshold beyond the range of Int ended the browser.
    @Test(arguments: [("jTj", "1e30"), ("jTjj", "18446744073709551615"), ("jTj", "12345")])
    func boundIsShownAsTyped(keys: String, bound: String) throws {
        var browser = try Fixture.browser(source, keys: keys + "A> " + bound + "<enter>")
        #expect(browser.text.contains(" is above \(bound)"), "\(browser.text)")
        try browser.press("A<enter>", shows: "is above \(bound)")
    }

    @Test func alarmEndsWithItsArchive() throws {
        var browser = try graphs(source, clock, seconds: 3, keys: "jTA<lt> 99%<enter>")
        source.pass(4, hits: 0, misses: 50, clock, &browser)
        #expect(browser.text.contains(" ALARM "), "\(browser.text)")
        source.with { $0.summaries["City"] = nil }
        clock.advance(1, refreshing: &browser)
        browser.expect(shows: "the archive was removed", hides: " ALARM ")
    }

    /// Regression: the alarm counted logs, which the graph omits.
    @Test func graphAndAlarmCountSameArchives() throws {
        Fixture.addMessages(source)
        var browser = try graphs(source, clock, seconds: 3, keys: "E<tab><tab>jjA> 1B<enter>")
        for _ in 0..<4 { clock.advance(1, refreshing: &browser) }
        let text = browser.text
        let said = try #require(text.range(of: "disk of all archives ").map { text[$0.upperBound...] })
        let figure = said.prefix { $0 != "," }
        #expect(text.contains("disk \(figure) "), "\(text)")
    }

    /// Regression: timers waited until the clock reached its former time.
    @Test func clockSetBackStopsNothing() throws {
        var browser = try graphs(source, clock, seconds: 5, keys: "j<enter>j")
        clock.advance(-3600, refreshing: &browser)
        source.record("Oslo", [0xa0], archive: "City", at: clock.now)
        source.pass(30, hits: 0, misses: 50, clock, &browser)
        #expect(browser.text.contains("of 17"), "\(browser.text)")
        try browser.press("TjA> 1<enter>")
        source.pass(4, hits: 0, misses: 50, clock, &browser)
        browser.expect(shows: "operations 50/s", "ALARM")
    }

    @Test func eventOpensHistoryAndEntry() throws {
        var browser = try Fixture.browser(source, keys: "jE/京都<enter>b")
        browser.expect(shows: "Key history of 東京都", "promoted")
        try browser.press("<enter>v")
        #expect(browser.model.screen == .value && browser.model.cursorKey == "東京都")
        try browser.press("<esc>", on: .monitor)
        // A removed entry is reported, and the events stay.
        try browser.press("<esc>/Lima<enter>v", on: .monitor)
        #expect(browser.text.contains("Evicted or removed since: Lima"), "\(browser.text)")
    }

    @Test("the history of a removed key has changes from the log if no event shows the removal")
    func historyFromTheLog() throws {
        let source = Fixture.source()
        let start = Fixture.start
        source.happen(.record, "Lima", archive: "City", bytes: 9, at: start)
        let event = ArchiveEvent(.eviction, .limit, key: "Lima", bytes: 9, time: start.adding(seconds: 60))
        source.with { $0.logged["Lima"] = LogHistory([LogHistory.Change(event, notBefore: start)]) }
        var browser = try Fixture.browser(source, columns: 160, keys: "jE/Lima<enter>b")
        #expect(browser.boxWords.contains("From the log:"), "\(browser.text)")
        #expect(browser.boxWords.contains("evicted: disk limit reached"), "\(browser.text)")
        #expect(browser.boxWords.contains("not before \(Figures.date(start))"), "\(browser.text)")
        source.happen(.delete, "Lima", archive: "City", bytes: 9, at: start.adding(seconds: 90))
        try browser.press("<esc>b", hides: "From the log:")
    }

    @Test("consecutive promotions by one process share a line of the history")
    func promotionsShareALine() throws {
        let source = Fixture.source()
        for (second, pid) in [4133, 4133, 4133, 4121].enumerated() {
            source.happen(
                .promotion, "Jakarta", archive: "City", cause: .none, pid: Int32(pid),
                at: Fixture.start.adding(seconds: Double(second)))
        }
        let browser = try Fixture.browser(source, columns: 120, keys: "j<enter>b")
        let end = Figures.time(Fixture.start.adding(seconds: 2))
        #expect(browser.text.contains("promoted by api (4133), 3 times until \(end)"), "\(browser.text)")
        #expect(browser.text.components(separatedBy: "promoted by ").count == 3, "\(browser.text)")
    }

    @Test("a long history opens at its newest event", arguments: ["b", "<enter>b"])
    func historyOpensAtTheNewest(keys: String) throws {
        let source = Fixture.source()
        for second in 0..<60 {
            source.happen(
                second == 0 ? .record : second == 59 ? .rejection : .update, "Jakarta", archive: "City",
                bytes: 9,
                at: Fixture.start.adding(seconds: Double(second)))
        }
        var browser = try Fixture.browser(source, keys: "j<enter>" + keys)
        #expect(browser.boxWords.contains(EventKind.rejection.label), "\(browser.text)")
        #expect(!browser.boxWords.contains(EventKind.record.label))
        try browser.press("<home>")
        #expect(browser.boxWords.contains(EventKind.record.label))
    }

    @Test(
        "a threshold without a unit has the unit of its graph",
        arguments: [
            ("jTjjA50<enter>", "City disk is above 50 B for 2s."),
            ("jTjjA20KB<enter>", "City disk is above 20KB for 2s."),
            ("jTA80<enter>", "City hit ratio is below 80% for 2s."),
        ]) func boundsHaveUnits(keys: String, said: String) throws
    {
        let browser = try Fixture.browser(Fixture.source(), columns: 120, keys: keys)
        #expect(browser.model.said == "The bell rings when " + said)
        #expect(!browser.text.contains(" ,"), "\(browser.text)")
    }

    @Test("the history of a key includes listed events that the store has overwritten")
    func historyHasListedEvents() throws {
        let source = Fixture.source()
        for (second, key) in ["Kyiv", "Lima", "Quito", "Lima"].enumerated() {
            source.happen(
                .record, key, archive: "City", bytes: 9, pid: 4133,
                at: Fixture.start.adding(seconds: Double(second)))
        }
        var browser = try Fixture.browser(source, columns: 120, keys: "jE/Lima<enter>")
        source.with { $0.overwritten["City"] = 3 }
        try browser.press("b")
        let text = browser.text
        let start = Figures.date(Fixture.start)
        #expect(text.components(separatedBy: "recorded by api").count == 3, "\(text)")
        #expect(
            text.contains("Events before \(start) (") && !text.contains("events missed between"), "\(text)")
    }

    @Test("a gap in the events limits the history")
    func historyAfterAGap() throws {
        let source = Fixture.source()
        func happen(_ key: String, _ second: Double) {
            source.happen(
                .record, key, archive: "City", bytes: 9, pid: 4133, at: Fixture.start.adding(seconds: second))
        }
        happen("Lima", 0)
        happen("Kyiv", 1)
        var browser = try Fixture.browser(source, columns: 120, keys: "jE")
        for second in 2..<6 { happen("Quito", Double(second)) }
        source.with { $0.overwritten["City"] = 4 }
        try browser.press("gb")
        let text = browser.text
        let times = [0.0, 1, 4].map { Figures.date(Fixture.start.adding(seconds: $0)) }
        let wanted = [
            "Events before \(times[0]) (", "\(times[0])  9 B  recorded by api",
            "... events missed between \(times[1]) and \(times[2])",
        ]
        let places = wanted.map { text.range(of: $0)?.lowerBound }
        #expect(!places.contains(nil), "\(text)")
        #expect(places.compactMap { $0 } == places.compactMap { $0 }.sorted(), "\(text)")
    }

    @Test("a replaced value shows the events of its record and the replacement")
    func replacedValueKeepsItsEvents() throws {
        let (source, clock) = (Fixture.source(), TestClock())
        source.happen(
            .record, "東京都", archive: "City", bytes: 9, pid: 4121, at: Fixture.start.adding(seconds: -60))
        var browser = try Fixture.browser(source, columns: 120, clock: clock, keys: "j<enter>jj<enter>")
        clock.advance(2)
        source.happen(.record, "東京都", archive: "City", bytes: 2, pid: 4133, at: clock.now)
        source.record("東京都", Array("{}".utf8), archive: "City", at: clock.now)
        clock.advance(1, refreshing: &browser)
        let text = browser.text
        let (own, other) = (Fixture.start.adding(seconds: -60), Fixture.start.adding(seconds: 2))
        #expect(text.contains(" recorded \(Figures.time(own)) by vellum demo (4121)"), "\(text)")
        let line = "Replaced \(Figures.time(other)) by api (4133); R shows the new value."
        #expect(text.contains(line) && !text.contains("recorded \(Figures.time(other))"), "\(text)")
        try browser.press("b", shows: line)
    }

    @Test(
        "events of an earlier entry of a key are not shown as those of its value", arguments: [false, true])
    func earlierEntryIsSeparate(isReplaced: Bool) throws {
        let (source, clock) = (Fixture.source(), TestClock())
        // The entry was created three hours before.
        let created = Fixture.start.adding(seconds: -3 * 3600)
        source.happen(.record, "東京都", archive: "City", at: created.adding(seconds: -60))
        source.happen(.eviction, "東京都", archive: "City", cause: .limit, at: created.adding(seconds: -50))
        var browser = try Fixture.browser(source, columns: 160, clock: clock, keys: "j<enter>jj<enter>")
        if isReplaced {
            clock.advance(2)
            source.record("東京都", Array("{}".utf8), archive: "City", at: clock.now)
            clock.advance(1, refreshing: &browser)
        }
        let text = browser.text
        #expect(text.contains("recorded \(Figures.time(created)) (event missed)"), "\(text)")
        #expect(!text.contains("evicted") && text.contains("Replaced; R shows") == isReplaced, "\(text)")
    }

    /// Events of all archives in order of time, newest last; only changed archives are read.
    @Test func showsEventsBelowArchives() throws {
        var browser = try Fixture.browser(source, rows: 40, clock: clock)
        let order = ["rejected", "(all)", "Bandung"].compactMap { text in
            browser.lines.firstIndex { $0.contains(text) && $0.contains("02:3") }
        }
        #expect(order.count == 3 && order == order.sorted())
        let calls = source.with { $0.eventCalls }
        #expect(calls == 2, "not one read for each archive with events")
        for _ in 0..<5 { clock.advance(0.2, refreshing: &browser) }
        #expect(source.with { $0.eventCalls } == calls, "read without new events")
        source.happen(.eviction, "Quito", archive: "City", cause: .limit, at: clock.now)
        browser.refresh()
        #expect(source.with { $0.eventCalls } == calls + 1)
        #expect(browser.lines.contains { $0.contains("evicted") && $0.contains("Quito") })
        try browser.press("t", hides: "Quito")
    }

    @Test func paneShowsEventsOfArchive() throws {
        let browser = try Fixture.browser(source, rows: 40, keys: "j<enter>t")
        #expect(browser.lines.contains { $0.contains("rejected") && $0.contains("over the limit") })
        #expect(!browser.text.contains("(all)"))
        let small = try Fixture.browser(source, columns: 60, rows: 9, keys: "j<enter>t")
        #expect(small.text.contains("No space for the event pane; E"))
    }

    @Test func filtersEvents() throws {
        var browser = try Fixture.browser(source, columns: 100, keys: "E")
        #expect(browser.model.screen == .monitor)
        #expect(browser.text.contains("13 events"))
        try browser.press("/ta<enter>", shows: "1 of 13 events", "Jakarta")
        try browser.press("<esc>K", shows: "recorded  4 of 13 events")
        try browser.press("a", shows: "recorded  1 of 2 events  of Blob")
        try browser.press("<esc>", on: .monitor)
        #expect(browser.text.contains("  2 events  of Blob"))
        try browser.press("<esc>", on: .archives)
    }

    @Test func cursorFollowsItsEvent() throws {
        var browser = try Fixture.browser(source, columns: 100, clock: clock, keys: "E")
        #expect(browser.model.cursorRow == 12)
        source.happen(.record, "Oslo", archive: "City", at: clock.now)
        browser.refresh()
        #expect(browser.model.cursorRow == 13)
        try browser.press("kk")
        for number in 0..<40 { source.happen(.record, "key \(number)", archive: "City", at: clock.now) }
        browser.refresh()
        #expect(browser.model.cursorRow == 11)
        try browser.press("<enter>", shows: "in Blob")
        try browser.press("<esc>G")
        source.happen(.record, "last", archive: "City", at: clock.now)
        browser.refresh()
        #expect(browser.model.cursorRow == 54)
    }

    @Test func pauseStopsEvents() throws {
        var browser = try Fixture.browser(source, clock: clock, keys: "E<space>")
        source.happen(.record, "Oslo", archive: "City", at: clock.now)
        clock.advance(1, refreshing: &browser)
        #expect(!browser.text.contains("Oslo"))
        try browser.press(" ", shows: "Oslo")
    }

    @Test func listsProcesses() throws {
        var browser = try Fixture.browser(Fixture.source(), columns: 120, keys: "P")
        browser.expect(shows: "2 processes, 1 archive open", "4121 vellum demo", "92.4%", "1.8 of 2 kB", "1h")
        try browser.press("<esc><enter>P", shows: "No process has the store open for writing.")
        try browser.press("<esc>", on: .entries)
    }

    @Test("a process with several archives counts once, and narrow screens name the archives")
    func processOfSeveralArchives() throws {
        let source = Fixture.source { $0.summaries["Blob"]?.processes = [$0.processes[0]] }
        let browser = try Fixture.browser(source, columns: 60, keys: "P")
        #expect(browser.text.contains("2 processes, 2 archives open"), "\(browser.text)")
        #expect(browser.lines.contains { $0.contains("pid") && $0.contains("archive") }, "\(browser.text)")
        #expect(browser.lines.count { $0.contains("4121") } == 2, "\(browser.text)")
    }

    @Test(
        "the filter of events finds keys, kinds, causes and process numbers",
        arguments: ["oslo", "evict", "disk lim", "4133"])
    func filterFindsKindAndCause(text: String) throws {
        let source = Fixture.source()
        source.happen(.eviction, "Oslo", archive: "City", cause: .limit, pid: 4133, at: clock.now)
        source.happen(.record, "Lima", archive: "City", at: clock.now)
        let browser = try Fixture.browser(source, columns: 100, clock: clock, keys: "E/\(text)<enter>")
        #expect(browser.text.contains("1 of 2 events"), "\(browser.text)")
    }

    @Test func valueShowsHistory() throws {
        var browser = try Fixture.browser(
            source, columns: 160, rows: 30, clock: clock, keys: "j<enter>jj<enter>")
        let story =
            "recorded 02:30:20 by api (4133), promoted 02:35:00 to memory of api (4133), "
            + "TTL set 02:36:00 by process 999"
        #expect(browser.text.contains(story))
        // The cause of an eviction is shown.
        source.happen(.eviction, "東京都", archive: "City", cause: .limit, bytes: 199, at: clock.now)
        source.remove("東京都", archive: "City")
        browser.refresh()
        #expect(browser.text.contains("by process 999, evicted 02:40:00: disk limit"))
        try browser.press(
            "b", shows: "2026-02-02 02:40:00  199 B  evicted: disk limit reached, by vellum demo (4121)")
    }

    @Test func requestsInProgressAreNotRepeated() {
        var test = UpdateTest(Fixture.model(columns: 80, rows: 40))
        let answers = test.answers(to: test.effects[0], source)
        test.send(answers[0], expecting: ["load events of Blob, City"])
        let events = test.answers(to: test.effects[0], source)
        test.send(answers[0], expecting: [])
        test.send(events[0], expecting: [])
        source.happen(.record, "Oslo", archive: "City", at: Fixture.start)
        test.send(.tick(Fixture.start), expecting: ["load figures of \(Fixture.storePath)"])
        let again = test.answers(to: test.effects[0], source)
        test.send(again[0], expecting: ["load events of City from 11"])
    }
}
