import BrowserCore
import StorageEngine
import StoreInspection
import TerminalKit
import Testing

/// The events that the browser keeps, counts and misses.
struct EventLogTests {
    private let source: MockSource = {
        let source = Fixture.source()
        Fixture.addEvents(source)
        return source
    }()
    private let clock = TestClock()

    /// The same term for events missed on the screen and during a pause.
    @Test("overwritten events are counted as missed", arguments: ["", "<esc><enter>", "<space>"])
    func missedEventsAreCounted(away: String) throws {
        var browser = try Fixture.browser(source, columns: 100, clock: clock, keys: "E" + away)
        #expect(!browser.text.contains("missed"))
        for number in 0..<3_000 { source.happen(.record, "key \(number)", archive: "City", at: clock.now) }
        source.with { $0.overwritten["City"] = 1_211 }
        clock.advance(60, refreshing: &browser)
        try browser.press(away == "<space>" ? "<space>" : away.isEmpty ? "" : "<esc>E")
        browser.refresh()
        #expect(browser.text.contains("1,200 missed"), "\(browser.text)")
    }

    /// The number of kept events is bounded; cursor and filter stay.
    @Test func boundsEvents() throws {
        var browser = try Fixture.browser(source, columns: 120, clock: clock, keys: "E/key 1<enter>")
        for _ in 0..<30 {
            for number in 0..<1_000 {
                source.happen(.update, "key \(number)", archive: "City", at: clock.now)
            }
            clock.advance(0.2, refreshing: &browser)
        }
        let all = try #require(browser.text.firstMatch(of: /([\d,]+) of latest ([\d,]+) events/))
        let kept = try #require(Int(all.output.2.filter { $0 != "," }))
        // Beside the last 20,000 to 25,000, the two older events of the other archive are kept.
        #expect((20_000...25_002).contains(kept))
        // 111 of a thousand begin with "key 1".
        let shown = try #require(Int(all.output.1.filter { $0 != "," }))
        #expect(abs(shown - kept * 111 / 1_000) <= 111)
    }

    /// Regression: many events of one archive replaced those of all others.
    @Test("keeps the events of an archive during many events of another one")
    func keepsEventsOfEachArchive() throws {
        for number in 0..<150 { source.happen(.record, "note \(number)", archive: "Blob", at: clock.now) }
        var browser = try Fixture.browser(source, columns: 120, clock: clock, keys: "E/note 7<enter>gj")
        let row = browser.lines[22]
        for _ in 0..<3 {
            for number in 0..<20_000 {
                source.happen(.update, "key \(number)", archive: "City", at: clock.now)
            }
            clock.advance(0.2, refreshing: &browser)
        }
        #expect(browser.text.contains("11 of latest 20,"), "\(browser.text)")
        #expect(browser.lines[22] == row, "the cursor moved")
    }

    /// Regression: the latest 2,048 events of each archive were kept, without a bound for all.
    @Test("bounds the events of many busy archives")
    func boundsEventsOfManyArchives() throws {
        let source = Fixture.source()
        for number in 0..<40 {
            let name = "Archive \(number)"
            source.with { $0.summaries[name] = ArchiveSample(name: name) }
            for key in 0..<2_000 {
                source.happen(.update, "key \(key)", archive: name, at: clock.now)
            }
        }
        let browser = try Fixture.browser(source, columns: 120, clock: clock, keys: "E")
        let all = try #require(browser.text.firstMatch(of: /([\d,]+) events/))
        let kept = try #require(Int(all.output.1.filter { $0 != "," }))
        // The last 20,000, which are of ten archives, and 500 of each of the others.
        #expect(kept == 35_000)
    }

    @Test("reads the events of a busy archive again at once, and those of an idle one at the next refresh")
    func readsBusyArchivesAgain() {
        var test = UpdateTest(Fixture.model(columns: 80, rows: 40))
        let answers = test.answers(to: test.effects[0], source)
        test.send(answers[0], expecting: ["load events of Blob, City"])
        for key in 0..<100 { source.happen(.record, "key \(key)", archive: "City", at: Fixture.start) }
        let first = test.answers(to: test.effects[0], source)
        test.send(first[0], expecting: ["load events of City from 111"])
        for key in 0..<10 { source.happen(.record, "key \(key)", archive: "City", at: Fixture.start) }
        let second = test.answers(to: test.effects[0], source)
        test.send(second[0], expecting: [])
    }

    @Test("reading a busy archive sends only its response")
    func readingSendsNoProgress() {
        var test = UpdateTest(Fixture.model(columns: 80, rows: 40))
        test.send(test.answers(to: test.effects[0], source)[0], expecting: ["load events of Blob, City"])
        for key in 0..<100 { source.happen(.record, "key \(key)", archive: "City", at: Fixture.start) }
        test.send(
            test.answers(to: test.effects[0], source)[0], expecting: ["load events of City from 111"])
        let clock = TestClock()
        let performer = EffectPerformer(source: source) {
            clock.advance(1)
            return clock.now
        }
        var sent = 0
        performer.perform(test.effects[0], isStopped: { false }, send: { _ in sent += 1 })
        #expect(sent == 1)
    }

    @Test(
        "reads the events of all archives on every screen, during a pause too",
        arguments: [
            "<enter>", "j<enter><enter>", "j<enter>Q", "j<enter>/x", "jz", "T", "j<enter><space>", "E<space>",
        ])
    func readsEventsOnEveryScreen(keys: String) throws {
        var browser = try Fixture.browser(source, columns: 120, clock: clock, keys: keys)
        let before = browser.model.readEvents
        for archive in ["Blob", "City"] {
            for round in 0..<3 {
                for number in 0..<1_000 {
                    source.happen(.update, "\(round) \(number)", archive: archive, at: clock.now)
                }
                source.with { $0.overwritten[archive] = round * 1_000 }
                clock.advance(1, refreshing: &browser)
            }
        }
        #expect(browser.model.readEvents - before == 6_000)
    }

    @Test("figures computed from events are marked as estimates after missed events")
    func missedEventsMarkFigures() throws {
        var browser = try Fixture.browser(source, columns: 200, rows: 40, clock: clock, keys: "jE")
        for number in 0..<40 {
            source.happen(.eviction, "key \(number)", archive: "City", cause: .limit, at: clock.now)
            source.happen(.record, "key \(number)", archive: "City", at: clock.now)
        }
        source.with { $0.overwritten["City"] = 21 }
        browser.refresh()
        try browser.press("<esc>", shows: "~97.2% of", "10 events; ~ marks estimates")
    }

    /// Regression: the header counted the events of all archives, and decreased when old ones were dropped.
    @Test func countsOfEventsAgree() throws {
        var browser = try Fixture.browser(source, columns: 120, clock: clock, keys: "Eaa")
        for round in 1...3 {
            for number in 0..<9_000 {
                source.happen(.update, "key \(number)", archive: "City", at: clock.now)
            }
            clock.advance(0.2, refreshing: &browser)
            let header = try #require(browser.text.firstMatch(of: /([\d,]+) events  of City/))
            let count = header.output.1
            #expect(browser.lines[22].contains(" \(count) of \(count)"), "\(browser.text)")
            if round == 3 { #expect(count == "20,000") }
        }
    }
}
