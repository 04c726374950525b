import BrowserCore
import StorageEngine
import StoreInspection
import TerminalKit
import Testing

struct EventTests {
    /// What broke: the process' number stood behind its name and was cut off.
    @Test(arguments: [(80, 24), (120, 40)], ["jE", "j<enter>t"])
    func theNumberOfAProcessIsWhole(size: (columns: Int, rows: Int), keys: String) throws {
        let source = Fixture.source()
        source.with { state in
            for index in state.processes.indices {
                state.processes[index].pid += 4_000_000
                state.processes[index].name = "a service with a long name"
            }
        }
        source.happen(.record, "Jakarta", archive: "City", bytes: 197, pid: 4_004_121, at: Fixture.start)
        let browser = try Fixture.browser(source, columns: size.columns, rows: size.rows, keys: keys)
        let line = browser.frame.plainText.split(separator: "\n").last { $0.contains(" recorded ") }
        #expect(line?.contains(" 4004121") == true, "\(browser.frame.plainText)")
    }

    // MARK: Graphs and alarms

    /// Seconds of a cache that answers less and less.
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

    @Test func graphsKeepWhatHappenedWhileOtherScreensWereShown() throws {
        let (source, clock) = (source(), TestClock())
        var browser = try graphs(source, clock, seconds: 70, keys: "j<enter>")
        browser.press([.character("T")])
        let text = browser.frame.plainText
        #expect(text.contains("hit ratio") && text.contains("expiries 3/s"), "\(text)")
        #expect(text.contains("m of City"))
        let filled = text.filter { "▁▂▃▄▅▆▇█".contains($0) }.count
        #expect(filled > 20, "\(text)")
        browser.press([.character("s"), .character("s"), .character("s"), .character("s"), .character("s")])
        #expect(browser.frame.plainText.contains("1m of City"))
        // Paused, the picture stands still though the samples go on.
        browser.press([.character(" ")])
        let before = lines(browser).dropFirst()
        source.with { $0.summaries["City"]?.expirations += 500 }
        clock.advance(2)
        browser.refresh()
        #expect(lines(browser).dropFirst() == before)
        browser.press([.character(" ")])
        #expect(browser.frame.plainText.contains("expiries 2/s"), "\(browser.frame.plainText)")
    }

    @Test func anAlarmRingsOnceAndSaysItsEnd() throws {
        let (source, clock) = (source(), TestClock())
        var browser = try graphs(source, clock, seconds: 2)
        browser.press(try Key.script("A<lt> 80%<enter>"))
        #expect(browser.frame.plainText.contains("The bell rings when hit ratio of City is < 80%."))
        #expect(browser.sent.isEmpty)
        func seconds(_ count: Int, hits: UInt64, misses: UInt64) {
            source.pass(count, hits: hits, misses: misses, clock, &browser)
        }
        seconds(3, hits: 90, misses: 10)
        #expect(browser.sent.isEmpty)
        // Another screen is shown when it rings.
        browser.press([Key(.escape), Key(.enter)])
        seconds(8, hits: 50, misses: 50)
        #expect(browser.sent == [[7]], "the bell rings once")
        #expect(browser.frame.plainText.contains("ALARM: hit ratio of City is"), "\(browser.frame.plainText)")
        #expect(lines(browser)[0].contains(" ALARM "))
        seconds(5, hits: 95, misses: 5)
        #expect(browser.sent.count == 1 && !lines(browser)[0].contains(" ALARM "))
        #expect(browser.frame.plainText.contains("Alarm ended: hit ratio of City was < 80% for"))
        // Without a bound there is none.
        browser.press(try Key.script("<esc>TA<ctrl+u><enter>"))
        #expect(browser.frame.plainText.contains("Alarm removed."))
        seconds(8, hits: 5, misses: 95)
        #expect(browser.sent.count == 1)
    }

    /// What an alarm says while it rings stands out: in the bar, in the line below, and at its graph.
    @Test func anAlarmThatRingsHasItsColor() throws {
        let (source, clock) = (source(), TestClock())
        var browser = try graphs(source, clock, seconds: 6)
        browser.press(try Key.script("A<lt> 80%<enter>"))
        let look = Fixture.unicode
        /// The styles of a text in the row that has it.
        func styles(_ text: String) -> Set<Style> {
            let row = browser.frame.lines.firstIndex { $0.contains(text) }
            return Set(row.map { browser.frame.cells(of: text, row: $0).map(\.style) } ?? [])
        }
        /// The colors of the bars in the graph of the hit ratio, which is the first.
        func bars() -> Set<Color> {
            let cells = (3..<6).flatMap { row in (0..<40).map { browser.frame[$0, row] } }
            return Set(cells.filter { "▁▂▃▄▅▆▇█".contains($0.text) && $0.text != "" }.map(\.style.foreground))
        }
        source.pass(3, hits: 90, misses: 10, clock, &browser)
        let bound = " alarm < 80%"
        #expect(styles(bound).map(\.foreground) == [look[.dim].foreground], "\(browser.frame.plainText)")
        #expect(!bars().isEmpty && !bars().contains(look[.danger].foreground))
        source.pass(8, hits: 50, misses: 50, clock, &browser)
        #expect(browser.sent == [[7]])
        let badge = Set([look[.badge].background])
        #expect(badge != [look[.title].background] && badge != [look[.text].background])
        #expect(Set(styles(" ALARM ").map(\.background)) == badge, "\(browser.frame.plainText)")
        #expect(Set(styles(bound).map(\.background)) == badge)
        #expect(bars() == [look[.danger].foreground])
        #expect(styles("ALARM: hit ratio of City is").map(\.foreground) == [look[.error].foreground])
        source.pass(6, hits: 95, misses: 5, clock, &browser)
        #expect(styles(" ALARM ").isEmpty)
        #expect(styles(bound).map(\.foreground) == [look[.dim].foreground])
        #expect(!bars().contains(look[.danger].foreground))
    }

    @Test(arguments: [
        ("<lt> 180%<enter>", "No alarm was set: 180% is not a bound; write < 80%"),
        ("<lt><enter>", "No alarm was set: < needs a bound, as in < 80%"),
        ("> 5 zebras<enter>", "No alarm was set: 5 zebras is not a bound"),
        ("<lt> many<enter>", "No alarm was set: many is not a bound"),
        ("<lt> 0%<enter>", "No alarm was set: it is never below 0%"),
        ("> 100%<enter>", "No alarm was set: it is never above 100%"),
        ("<lt> 80%<enter>A<ctrl+u>many<enter>", "; < 80% stays"),
    ])
    func whatIsNoBoundIsSaid(keys: String, answer: String) throws {
        let browser = try Fixture.browser(source(), keys: "jTA" + keys)
        #expect(browser.frame.plainText.contains(answer), "\(browser.frame.plainText)")
        #expect(browser.frame.plainText.contains("alarm when"), "it can be mended there")
    }

    @Test(
        "takes a bound alone in the direction of the example",
        arguments: [
            ("jTA", "80", "< 80"), ("jTA", "80%", "< 80%"), ("jTjA", "500", "> 500"),
        ])
    func aBoundAlone(keys: String, text: String, condition: String) throws {
        let browser = try Fixture.browser(source(), keys: keys + text + "<enter>")
        #expect(browser.model.said?.contains("is \(condition)") == true, "\(browser.model.said ?? "")")
    }

    /// A bound that no number of ours can hold ended the browser when it was said.
    @Test(arguments: [("jTj", "> 1e30"), ("jTjj", "> 18446744073709551615"), ("jTj", "> 12345")])
    func aBoundIsSaidAsItWasWritten(keys: String, bound: String) throws {
        var browser = try Fixture.browser(source(), keys: keys + "A" + bound + "<enter>")
        #expect(browser.frame.plainText.contains(" is \(bound)"), "\(browser.frame.plainText)")
        browser.press(try Key.script("A<enter>"))
        #expect(browser.frame.plainText.contains("is \(bound)"), "\(browser.frame.plainText)")
    }

    /// An alarm of an archive that was removed rang for ever.
    @Test func anAlarmEndsWithItsArchive() throws {
        let (source, clock) = (source(), TestClock())
        var browser = try graphs(source, clock, seconds: 3, keys: "jTA<lt> 99%<enter>")
        for _ in 0..<4 {
            clock.advance(1)
            source.with { $0.summaries["City"]?.misses += 50 }
            browser.refresh()
        }
        #expect(browser.frame.plainText.contains(" ALARM "), "\(browser.frame.plainText)")
        source.with { $0.summaries["City"] = nil }
        clock.advance(1)
        browser.refresh()
        let text = browser.frame.plainText
        #expect(!text.contains(" ALARM ") && text.contains("the archive was removed"), "\(text)")
    }

    /// The graph leaves logs out; the alarm on it counted them.
    @Test func graphAndAlarmOfAllAreOfTheSameArchives() throws {
        let (source, clock) = (source(), TestClock())
        Fixture.addMessages(source)
        var browser = try graphs(source, clock, seconds: 3, keys: "E<tab><tab>jjA> 1B<enter>")
        for _ in 0..<4 {
            clock.advance(1)
            browser.refresh()
        }
        let text = browser.frame.plainText
        let said = try #require(text.range(of: "disk of all archives is ").map { text[$0.upperBound...] })
        let figure = said.prefix { $0 != "," }
        #expect(text.contains("disk \(figure) "), "\(text)")
    }

    /// What waited for a moment waited for the hour until the clock was there again.
    @Test func aClockThatIsSetBackStopsNothing() throws {
        let (source, clock) = (source(), TestClock())
        var browser = try graphs(source, clock, seconds: 5, keys: "j<enter>j")
        clock.advance(-3600)
        browser.refresh()
        source.record("Oslo", [0xa0], archive: "City", at: clock.now)
        for _ in 0..<30 {
            clock.advance(1)
            source.with { $0.summaries["City"]?.misses += 50 }
            browser.refresh()
        }
        #expect(browser.frame.plainText.contains("of 17"), "\(browser.frame.plainText)")
        browser.press(try Key.script("TjA> 1<enter>"))
        for _ in 0..<4 {
            clock.advance(1)
            source.with { $0.summaries["City"]?.misses += 50 }
            browser.refresh()
        }
        let text = browser.frame.plainText
        #expect(text.contains("operations 50/s") && text.contains("ALARM"), "\(text)")
    }

    /// From an event to what became of its entry, and to the entry.
    @Test func anEventLeadsToTheHistoryAndToTheEntry() throws {
        let source = source()
        var browser = try Fixture.browser(source, keys: "jE/京都<enter>b")
        #expect(browser.frame.plainText.contains("Key history of 東京都"), "\(browser.frame.plainText)")
        #expect(browser.frame.plainText.contains("promoted"))
        browser.press(try Key.script("<enter>v"))
        #expect(browser.model.screen == .value && browser.model.cursorKey == "東京都")
        browser.press([Key(.escape)])
        #expect(browser.model.screen == .monitor)
        // One that has gone says so, and the events stay.
        browser.press(try Key.script("<esc>/Lima<enter>v"))
        #expect(browser.model.screen == .monitor)
        #expect(
            browser.frame.plainText.contains("Evicted or removed since: Lima"), "\(browser.frame.plainText)")
    }

    @Test("b in the list shows the history of the selected entry")
    func historyFromTheList() throws {
        let browser = try Fixture.browser(source(), keys: "j<enter>jjb")
        #expect(browser.frame.plainText.contains("Key history of 東京都"), "\(browser.frame.plainText)")
        #expect(browser.frame.plainText.contains("promoted"))
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
        #expect(browser.frame.boxWords.contains(EventKind.rejection.label), "\(browser.frame.plainText)")
        #expect(!browser.frame.boxWords.contains(EventKind.record.label))
        browser.press([Key(.home)])
        #expect(browser.frame.boxWords.contains(EventKind.record.label))
    }

    @Test(
        "A bound without a unit gets the one of its graph",
        arguments: [
            ("jTjjA50<enter>", "disk of City is > 50 B."), ("jTjjA20KB<enter>", "disk of City is > 20KB."),
            ("jTA80<enter>", "hit ratio of City is < 80%."),
        ]) func boundsHaveUnits(keys: String, said: String) throws
    {
        let browser = try Fixture.browser(Fixture.source(), columns: 120, keys: keys)
        #expect(browser.model.said == "The bell rings when " + said)
        #expect(!browser.frame.plainText.contains(" ,"), "\(browser.frame.plainText)")
    }

    @Test("The history of a key has the events of the list that the store no longer keeps")
    func historyHasListedEvents() throws {
        let source = Fixture.source()
        for (second, key) in ["Kyiv", "Lima", "Quito", "Lima"].enumerated() {
            source.happen(
                .record, key, archive: "City", bytes: 9, pid: 4133,
                at: Fixture.start.adding(seconds: Double(second)))
        }
        var browser = try Fixture.browser(source, columns: 120, keys: "jE/Lima<enter>")
        source.with { $0.overwritten["City"] = 3 }
        browser.press(try Key.script("b"))
        let text = browser.frame.plainText
        let start = Figures.date(Fixture.start)
        #expect(text.components(separatedBy: "recorded by api").count == 3, "\(text)")
        #expect(
            text.contains("Events before \(start) (") && !text.contains("events lost between"), "\(text)")
    }

    @Test("A gap in the events is shown at its place in the history of a key")
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
        browser.press(try Key.script("gb"))
        let text = browser.frame.plainText
        let times = [0.0, 1, 4].map { Figures.date(Fixture.start.adding(seconds: $0)) }
        let wanted = [
            "Events before \(times[0]) (", "\(times[0])  9 B  recorded by api",
            "... events lost between \(times[1]) and \(times[2])",
        ]
        let places = wanted.map { text.range(of: $0)?.lowerBound }
        #expect(!places.contains(nil), "\(text)")
        #expect(places.compactMap { $0 } == places.compactMap { $0 }.sorted(), "\(text)")
    }

    @Test("A value that was replaced shows the events of its own record, and when it was replaced")
    func replacedValueKeepsItsEvents() throws {
        let (source, clock) = (Fixture.source(), TestClock())
        source.happen(
            .record, "東京都", archive: "City", bytes: 9, pid: 4121, at: Fixture.start.adding(seconds: -60))
        var browser = try Fixture.browser(source, columns: 120, clock: clock, keys: "j<enter>jj<enter>")
        clock.advance(2)
        source.happen(.record, "東京都", archive: "City", bytes: 2, pid: 4133, at: clock.now)
        source.record("東京都", Array("{}".utf8), archive: "City", at: clock.now)
        clock.advance(1)
        browser.refresh()
        let text = browser.frame.plainText
        let (own, other) = (Fixture.start.adding(seconds: -60), Fixture.start.adding(seconds: 2))
        #expect(text.contains(" recorded \(Figures.time(own)) by vellum demo (4121), hit "), "\(text)")
        let line = "Replaced \(Figures.time(other)) by api (4133); R shows the new value."
        #expect(text.contains(line) && !text.contains("recorded \(Figures.time(other))"), "\(text)")
        browser.press([.character("b")])
        #expect(browser.frame.plainText.contains(line), "\(browser.frame.plainText)")
    }

    private func source() -> MockSource {
        let source = Fixture.source()
        Fixture.addEvents(source)
        return source
    }

    private func lines(_ browser: HeadlessBrowser) -> [String] {
        browser.frame.plainText.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// Events of all archives in order of time, newest at the bottom; the ring is read only when it has something.
    @Test func theTailStandsBelowTheArchives() throws {
        let source = source()
        let clock = TestClock()
        var browser = try Fixture.browser(source, rows: 40, clock: clock)
        let order = ["rejected", "(all)", "Bandung"].compactMap { text in
            lines(browser).firstIndex { $0.contains(text) && $0.contains("02:3") }
        }
        #expect(order.count == 3 && order == order.sorted())
        let calls = source.with { $0.eventCalls }
        #expect(calls == 2, "one look for each archive that has events")
        for _ in 0..<5 {
            clock.advance(0.2)
            browser.refresh()
        }
        #expect(source.with { $0.eventCalls } == calls, "nothing new, nothing read")
        source.happen(.eviction, "Quito", archive: "City", cause: .limit, at: clock.now)
        browser.refresh()
        #expect(source.with { $0.eventCalls } == calls + 1)
        #expect(lines(browser).contains { $0.contains("evicted") && $0.contains("Quito") })
        browser.press([.character("t")])
        #expect(!browser.frame.plainText.contains("Quito"))
    }

    @Test func thePaneOfAnArchiveShowsItsOwn() throws {
        let browser = try Fixture.browser(source(), rows: 40, keys: "j<enter>t")
        #expect(lines(browser).contains { $0.contains("rejected") && $0.contains("over the limit") })
        #expect(!browser.frame.plainText.contains("(all)"))
        let small = try Fixture.browser(source(), columns: 60, rows: 9, keys: "j<enter>t")
        #expect(small.frame.plainText.contains("No room for the event pane; E"))
    }

    @Test func theScreenFiltersByKindArchiveAndKey() throws {
        var browser = try Fixture.browser(source(), columns: 100, keys: "E")
        #expect(browser.model.screen == .monitor)
        #expect(browser.frame.plainText.contains("13 events"))
        browser.press(try Key.script("/ta<enter>"))
        #expect(browser.frame.plainText.contains("1 of 13 events"))
        #expect(browser.frame.plainText.contains("Jakarta"))
        browser.press(try Key.script("<esc>t"))
        #expect(browser.frame.plainText.contains("4 of 13 events  recorded"))
        browser.press([.character("a")])
        #expect(browser.frame.plainText.contains("1 of 2 events  of Blob  recorded"))
        browser.press([Key(.escape)])
        #expect(browser.model.screen == .monitor)
        #expect(browser.frame.plainText.contains("  2 events  of Blob"))
        browser.press([Key(.escape)])
        #expect(browser.model.screen == .archives)
    }

    /// The cursor holds to its event while others come, or stays at the newest.
    @Test func theCursorHoldsToItsEvent() throws {
        let source = source()
        let clock = TestClock()
        var browser = try Fixture.browser(source, columns: 100, clock: clock, keys: "E")
        #expect(browser.model.cursorRow == 12)
        source.happen(.record, "Oslo", archive: "City", at: clock.now)
        browser.refresh()
        #expect(browser.model.cursorRow == 13)
        browser.press(try Key.script("kk"))
        for number in 0..<40 { source.happen(.record, "key \(number)", archive: "City", at: clock.now) }
        browser.refresh()
        #expect(browser.model.cursorRow == 11)
        browser.press([Key(.enter)])
        #expect(browser.frame.plainText.contains("in Blob"))
        browser.press(try Key.script("<esc>G"))
        source.happen(.record, "last", archive: "City", at: clock.now)
        browser.refresh()
        #expect(browser.model.cursorRow == 54)
    }

    @Test func pauseStopsTheEvents() throws {
        let source = source()
        let clock = TestClock()
        var browser = try Fixture.browser(source, clock: clock, keys: "E<space>")
        source.happen(.record, "Oslo", archive: "City", at: clock.now)
        clock.advance(1)
        browser.refresh()
        #expect(!browser.frame.plainText.contains("Oslo"))
        browser.press([.character(" ")])
        #expect(browser.frame.plainText.contains("Oslo"))
    }

    /// One term for all events that were overwritten before they were read, on the screen or during a pause.
    @Test("events that were overwritten are counted as missed", arguments: ["", "<esc><enter>", "<space>"])
    func missedEventsAreCounted(away: String) throws {
        let source = source()
        let clock = TestClock()
        var browser = try Fixture.browser(source, columns: 100, clock: clock, keys: "E" + away)
        #expect(!browser.frame.plainText.contains("missed"))
        for number in 0..<3_000 { source.happen(.record, "key \(number)", archive: "City", at: clock.now) }
        source.with { $0.overwritten["City"] = 1_211 }
        clock.advance(60)
        browser.refresh()
        browser.press(try Key.script(away == "<space>" ? "<space>" : away.isEmpty ? "" : "<esc>E"))
        browser.refresh()
        #expect(browser.frame.plainText.contains("1,200 missed"), "\(browser.frame.plainText)")
    }

    /// However many there were, those that are kept are bounded, and the cursor and the filter go on.
    @Test func keepsABoundedNumber() throws {
        let source = source()
        let clock = TestClock()
        var browser = try Fixture.browser(source, columns: 120, clock: clock, keys: "E/key 1<enter>")
        for _ in 0..<30 {
            for number in 0..<1_000 {
                source.happen(.update, "key \(number)", archive: "City", at: clock.now)
            }
            clock.advance(0.2)
            browser.refresh()
        }
        let all = try #require(browser.frame.plainText.firstMatch(of: /([\d,]+) of ([\d,]+) events/))
        let kept = try #require(Int(all.output.2.filter { $0 != "," }))
        #expect((20_000...25_000).contains(kept))
        // 111 of a thousand begin with "key 1".
        let shown = try #require(Int(all.output.1.filter { $0 != "," }))
        #expect(abs(shown - kept * 111 / 1_000) <= 111)
    }

    /// What broke: above the events of an archive stood how many all archives had, and it fell when old ones were let go.
    @Test func theCountsOfEventsAgree() throws {
        let source = source()
        let clock = TestClock()
        var browser = try Fixture.browser(source, columns: 120, clock: clock, keys: "Eaa")
        for round in 1...3 {
            for number in 0..<9_000 {
                source.happen(.update, "key \(number)", archive: "City", at: clock.now)
            }
            clock.advance(0.2)
            browser.refresh()
            let header = try #require(browser.frame.plainText.firstMatch(of: /([\d,]+) events  of City/))
            let count = header.output.1
            #expect(browser.frame.lines[22].contains(" \(count) of \(count)"), "\(browser.frame.plainText)")
            if round == 3 { #expect(count == "20,000") }
        }
    }

    @Test func processesOfOneArchiveAndOfAll() throws {
        var browser = try Fixture.browser(Fixture.source(), columns: 120, keys: "P")
        let text = browser.frame.plainText
        #expect(text.contains("2 processes have the store open"))
        #expect(text.contains("4121 vellum demo"))
        #expect(text.contains("92.4%") && text.contains("1.8 of 2 kB") && text.contains("1h"))
        browser.press(try Key.script("<esc><enter>P"))
        #expect(browser.frame.plainText.contains("No process has it open for writing."))
        browser.press([Key(.escape)])
        #expect(browser.model.screen == .entries)
    }

    @Test func theValueTellsItsPast() throws {
        let source = source()
        let clock = TestClock()
        var browser = try Fixture.browser(
            source, columns: 160, rows: 30, clock: clock, keys: "j<enter>jj<enter>")
        let story =
            "recorded 02:30:20 by api (4133), promoted 02:35:00 to memory of api (4133), "
            + "TTL set 02:36:00 by a user, hit 74 times"
        #expect(browser.frame.plainText.contains(story))
        // It is evicted: the last line says why.
        source.happen(.eviction, "東京都", archive: "City", cause: .limit, bytes: 199, at: clock.now)
        source.remove("東京都", archive: "City")
        browser.refresh()
        #expect(browser.frame.plainText.contains("hit 74 times, evicted 02:40:00: disk limit"))
        browser.press([.character("b")])
        #expect(
            browser.frame.plainText.contains(
                "2026-02-02 02:40:00  199 B  evicted: disk limit reached, by vellum demo (4121)"))
    }

    @Test func askingTwiceForWhatIsUnderWay() {
        var test = UpdateTest(Fixture.model(columns: 80, rows: 40))
        let source = source()
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
