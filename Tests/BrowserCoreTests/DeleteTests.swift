import BrowserCore
import StorageEngine
import StoreInspection
import TerminalKit
import Testing

struct DeleteTests {
    private let source = Fixture.source()
    private let clock = TestClock()

    @Test(arguments: [
        ("MWpopulation > 2000000<enter>", 16, "12 are hidden by the filter.", 12),
        ("mm/Kyiv<enter>", 2, "All are hidden by the filter.", 2),
        ("mm/Jakarta<enter>", 2, "1 is hidden by the filter.", 1),
        ("m/Kyiv<enter>", 1, "It is hidden by the filter.", 1),
        ("m/Jakarta<enter>", 1, nil, 0), ("mm/Kyiv<enter><esc>", 2, nil, 0), ("mm/Kyiv<enter>-m", 1, nil, 0),
    ])
    func planCountsHiddenMarks(keys: String, count: Int, words: String?, hidden: Int) throws {
        let writing = try Fixture.browser(Fixture.source(), columns: 120, keys: "j<enter>" + keys + "w")
        #expect(writing.text.contains("(\(hidden) hidden) to:") == (hidden > 0), "\(writing.text)")
        var browser = try Fixture.browser(Fixture.source(), columns: 140, keys: "j<enter>" + keys)
        let header = browser.lines[1]
        #expect(header.contains("● \(count) marked"), "\(header)")
        #expect(header.contains("B, \(hidden) hidden") == (hidden > 0), "\(header)")
        #expect(header.contains(" hidden") == (hidden > 0), "\(header)")
        try browser.press("D")
        #expect(browser.model.planned?.count == count)
        let plan = browser.boxWords
        #expect(plan.contains(words ?? "in City •"), "\(plan)")
        #expect(plan.contains("by the filter") == (words != nil), "\(plan)")
        try browser.press("<esc>x")
        #expect(browser.boxWords.contains("by the filter") == (words != nil), "\(browser.boxWords)")
        try browser.press("<enter>")
        #expect(browser.boxWords.contains("by the filter") == (words != nil), "\(browser.boxWords)")
    }

    /// Regression: on a low screen the plan omitted undo and skipped entries, and did not scroll.
    @Test(arguments: [(40, 10), (40, 11), (80, 10), (20, 5)])
    func planScrollsOnLowScreen(columns: Int, rows: Int) throws {
        var browser = try Fixture.browser(
            Fixture.source(), columns: columns, rows: rows, keys: "j<enter>gmmD")
        var seen = browser.text
        for _ in 0..<20 {
            try browser.press("<down>")
            seen += browser.text
        }
        for word in ["2 entries", "undo it", "minutes", "written", "undo."] {
            #expect(seen.contains(word), "\(word) in \(seen)")
        }
    }

    /// A key's line breaks must not look like lines of the plan, and a long key must not push out the rest.
    @Test(arguments: [(80, 24), (40, 12), (20, 8)])
    func planEscapesKeys(columns: Int, rows: Int) throws {
        source.with { state in
            state.archives["City"]?.insert(
                contentsOf: [
                    Fixture.record("\r\nx\nEntries\u{2028}y", number: 0, bytes: [0x31]),
                    Fixture.record(String(repeating: "long 漢", count: 120), number: 0, bytes: [0x31]),
                    Fixture.record("last", number: 0, bytes: [0x31]),
                ], at: 0)
        }
        let browser = try Fixture.browser(source, columns: columns, rows: rows, keys: "j<enter>gmmmD")
        let lines = browser.text.split(separator: "\n").filter { $0.contains("• ") }
        #expect(browser.model.planned?.count == 3)
        let shown = max(1, min(3, rows - 9))
        #expect(lines.count == shown + (shown < 3 ? 1 : 0), "\(browser.text)")
        #expect(browser.text.contains("• \\r\\nx\\n"))
        if shown == 3 { #expect(browser.text.contains("• last")) }
        #expect(browser.text.contains(columns < 24 ? "[Cancel] [Delete]" : "[ Cancel ]"))
    }

    /// Beyond the undo space, an undo lasts until a number of bytes is written; the time is estimated by the write rate.
    @Test(arguments: [
        (left: UInt64(100_000), records: UInt64(40), isMore: false, soon: false), (400, 0, true, false),
        (400, 40, true, true), (400, 1, true, true),
    ])
    func planStatesUndoBound(
        left: UInt64, records: UInt64, isMore: Bool, soon: Bool
    ) throws {
        source.with { state in
            state.summaries["City"]?.undoBudget.values = 4_194_304
            state.summaries["City"]?.undoBudget.valuesLeft = left
            state.summaries["City"]?.undoBudget.space = 67_108_864
            state.summaries["City"]?.undoBudget.spaceLeft = 67_108_864
        }
        var browser = try Fixture.browser(source, clock: clock, keys: "j<enter>")
        for _ in 0..<4 {
            clock.advance(1)
            source.with { $0.summaries["City"]?.records += records }
            browser.refresh()
        }
        try browser.press("gmmmD")
        #expect(browser.boxWords.contains("3 entries, 593 B, in City"))
        let written = isMore ? "65.5 kB are written, or " : ""
        let sentence =
            (isMore ? "Larger than the undo space: " : "")
            + "u can undo it for ten minutes, or until \(written)the disk is full."
        #expect(browser.boxWords.contains(sentence), "\(browser.text)")
        #expect(browser.boxWords.contains("Larger than the undo") == isMore)
        // A put writes a value of the average size and about a hundred bytes.
        let value = source.with { state in
            let sizes = state.archives["City"]?.map(\.entry.valueBytes) ?? []
            return Double(sizes.reduce(0, +)) / Double(max(1, sizes.count))
        }
        let seconds = 65_536 / (Double(records) * (value + 100))
        let estimate = "At the current write rate, about \(Figures.interval(seconds))."
        #expect(browser.boxWords.contains("At the current write rate") == soon, "\(browser.text)")
        if soon {
            #expect(browser.boxWords.contains(estimate), "\(estimate) \(browser.text)")
        }
    }

    /// Previous expiry times are kept only in the log, so this bound always applies.
    @Test func planOfExpiryStatesUndoBound() throws {
        source.with { state in
            state.summaries["City"]?.undoBudget.values = 4_194_304
            state.summaries["City"]?.undoBudget.space = 67_108_864
        }
        let plan = try Fixture.browser(source, keys: "j<enter>gx<ctrl+u>1h<enter>").boxWords
        let bound = "u can undo it for ten minutes, or until 4.19 MB are written, or the disk is full."
        #expect(plan.contains(bound), "\(plan)")
        #expect(!plan.contains("Larger than the undo"))
    }

    @Test(arguments: ["<enter>", "<esc>", "n", "<tab><tab><enter>"])
    func cancelIsDefault(keys: String) throws {
        let browser = try Fixture.browser(source, keys: "j<enter>mmD" + keys)
        #expect(source.with { $0.deleteCalls } == 0)
        #expect(browser.model.planned == nil)
        #expect(browser.model.markedKeys == ["Bandung", "Jakarta"])
    }

    @Test(arguments: ["y", "<tab><enter>", "<right><enter>", "l<enter>"])
    func deletesAfterConfirmation(keys: String) throws {
        let browser = try Fixture.browser(source, keys: "j<enter>mmD" + keys)
        #expect(source.with { $0.archives["City"]?.count } == 14)
        #expect(browser.model.markedKeys.isEmpty)
        browser.expect(shows: "Deleted 2 entries, 394 B; u undoes it.", "writes 2, lock 0.4 ms", "14 entries")
    }

    /// Regression: work begun during the delete replaced it, and Esc stopped that work.
    @Test func escapeStopsLongDelete() throws {
        var test = try UpdateTest(Fixture.model(columns: 100), source, keys: "j<enter>D")
        test.press(.character("y"), expecting: ["delete 1 of City"])
        let delete = try #require(test.effects.first)
        test.press(.character("2"), expecting: ["arrange City by size descending"])
        let sort = try #require(test.effects.first)
        test.send(.progress(ticket: delete.ticket ?? 0, 0.5))
        test.send(.clock(Fixture.start.adding(seconds: 1)))
        #expect(test.text.contains("deleting 1, esc stops"))
        test.press(Key(.escape), expecting: ["stop"])
        #expect(test.text.contains("stopping after 1"))
        test.press(Key(.escape), expecting: [])
        for answer in test.answers(to: sort, source) {
            test.send(answer, expecting: ["load value City/👩‍👩‍👧 family for preview"])
        }
        #expect(test.text.contains("stopping after 1"))
        test.settle([delete], source)
        #expect(!test.text.contains("stopping"))
    }

    @Test("events of a large change are read until it has ended, so that its own events aren't missed")
    func ownEventsAreRead() throws {
        for number in 0..<500 {
            source.record("key \(number)", [1], archive: "City", at: Fixture.start)
        }
        var test = try UpdateTest(Fixture.model(columns: 100), source, keys: "j<enter>MD")
        let asked = test.press(.character("y"), source, settling: false)
        try #require(asked.count == 2, "\(asked)")
        #expect(asked[0].description.hasPrefix("load events of City"))
        #expect(asked[1].description == "delete 516 of City")
        let again = try #require(test.answer(asked[0], source).first)
        #expect(again.description.hasPrefix("load events of City"))
        test.settle([asked[1]], source)
        #expect(!test.answer(again, source).contains { $0.description.hasPrefix("load events") })
    }

    @Test func longDeleteShowsProgress() throws {
        var test = try UpdateTest(Fixture.model(columns: 100), source, keys: "j<enter>M")
        _ = test.press(.character("D"), source)
        test.press(.character("y"), expecting: ["delete 16 of City"])
        let delete = try #require(test.effects.first)
        test.send(.clock(Fixture.start.adding(seconds: 1)))
        for (share, words) in [
            (0, "deleting 16, esc stops"), (0.25, "25% deleting 4 of 16, esc stops"),
            (0.5, "50% deleting 8 of 16, esc stops"), (0.99, "99% deleting 15 of 16, esc stops"),
        ] {
            test.send(.progress(ticket: delete.ticket ?? 0, share))
            #expect(test.text.contains(words), "\(test.text)")
        }
        let shown = Browser.frame(test.model).lines[22]
        #expect(shown.contains("█"), "no bar: \(shown)")
        test.settle([delete], source)
        #expect(!test.text.contains("deleting") && test.text.contains("Deleted 16 entries"))
    }

    /// Entries replaced while the plan was open are skipped and listed; removed ones are counted.
    @Test func skipsChangedEntries() throws {
        var browser = try Fixture.browser(source, clock: clock, keys: "j<enter>mmmD")
        source.record("Bandung", Array("new".utf8), archive: "City", at: clock.now)
        source.remove("東京都", archive: "City")
        try browser.press("y")
        #expect(source["Bandung"] != nil && source["Jakarta"] == nil)
        let text = browser.text
        browser.expect(
            shows: "Deleted 1 entry, 197 B; u undoes it.", "\"Bandung\" changed after it was read",
            "\"東京都\" was removed already")
        // The report offers to delete the skipped entries, and the undo.
        #expect(text.contains("[ Delete 1 too ]"))
        #expect(text.contains("y Delete 1 too"))
        clock.advance(2)
        try browser.press("y")
        #expect(browser.model.planned?.map(\.key) == ["Bandung"])
        clock.advance(2)
        try browser.press("y")
        #expect(source["Bandung"] == nil)
    }

    @Test("a report states that nothing was deleted, and offers no further deletion", arguments: [1, 2])
    func reportOfNothing(marked: Int) throws {
        var browser = try Fixture.browser(
            source, clock: clock, keys: "j<enter>" + String(repeating: "m", count: marked) + "D")
        source.record("Jakarta", Array("new".utf8), archive: "City", at: clock.now)
        try browser.press("y")
        #expect(browser.text.contains("[ Delete 1 too ]") == (marked == 2), "\(browser.text)")
        #expect(browser.text.contains("[ Delete 1 anyway ]") == (marked == 1), "\(browser.text)")
        #expect(browser.text.contains("Nothing was deleted") == (marked == 1))
    }

    @Test("the report counts skipped entries by reason, before the keys")
    func reportCountsReasons() throws {
        var browser = try Fixture.browser(source, clock: clock, keys: "j<enter>MD")
        source.record("Bandung", Array("new".utf8), archive: "City", at: clock.now)
        for key in Fixture.keys.suffix(5) { source.remove(key, archive: "City") }
        try browser.press("y")
        let report = browser.boxWords
        #expect(report.contains("6 were skipped: 1 changed, 5 removed since they were read"), "\(report)")
        #expect(report.contains("\"Bandung\" changed") && !report.contains("was removed"), "\(report)")
    }

    @Test("the report undoes a delete")
    func reportUndoes() throws {
        var browser = try Fixture.browser(source, clock: clock, keys: "j<enter>mmmD")
        source.record("Bandung", Array("new".utf8), archive: "City", at: clock.now)
        try browser.press("y")
        #expect(source.with { $0.archives["City"]?.count } == 14)
        clock.advance(2)
        try browser.press("u", shows: "Undo this?")
        try browser.press("y")
        #expect(source.with { $0.archives["City"]?.count } == 16)
    }

    @Test("a plan names and unmarks marked entries that were removed before it")
    func plansPresentMarks() throws {
        var browser = try Fixture.browser(source, columns: 100, clock: clock, keys: "j<enter>mmm")
        source.remove("Jakarta", archive: "City")
        browser.press([.character("D")])
        #expect(browser.model.planned?.map(\.key) == ["Bandung", "東京都"])
        #expect(browser.boxWords.contains("1 marked entry was removed since: Jakarta."), "\(browser.text)")
        #expect(browser.model.markedKeys == ["Bandung", "東京都"])
        source.remove("Bandung", archive: "City")
        browser.press([.character("y")])
        #expect(browser.model.said?.contains("1 was already absent") == true, "\(browser.text)")
    }

    @Test("if all marked entries were removed, there is no plan", arguments: ["D", "x"])
    func refusesAbsentMarks(key: String) throws {
        var browser = try Fixture.browser(source, columns: 100, keys: "j<enter>mm")
        for key in ["Jakarta", "Bandung"] { source.remove(key, archive: "City") }
        browser.press(try Key.script(key))
        #expect(!browser.model.isPlanOpen && browser.model.markedKeys.isEmpty, "\(browser.text)")
    }

    /// Regression: Enter opened a value, over which the plan of the marked rows appeared.
    @Test("keys that act on rows are refused until the plan is open", arguments: ["<enter>", "y", "m"])
    func refusesKeysBeforePlan(key: String) throws {
        var test = try UpdateTest(Fixture.model(columns: 100, rows: 24), source, keys: "j<enter>mm")
        let asked = test.press(.character("D"), source, settling: false)
        #expect(test.press(try #require(try Key.script(key).first), source, settling: false).isEmpty)
        #expect(test.model.screen == .entries && test.model.said?.contains("still loading") == true)
        test.effects = asked
        test.settle(source)
        #expect(test.model.planned?.count == 2)
    }

    @Test("absent entries need no report")
    func absentEntriesNeedNoReport() throws {
        var browser = try Fixture.browser(source, keys: "j<enter>mmmD")
        source.remove("東京都", archive: "City")
        try browser.press("y")
        #expect(browser.model.said?.contains("1 was already absent") == true)
        #expect(!browser.text.contains("[ Close ]"))
    }

    /// The targets are the rows when the plan opened.
    @Test func targetsAreFrozen() throws {
        var browser = try Fixture.browser(source, clock: clock, keys: "j<enter>jjD")
        #expect(browser.model.planned?.map(\.key) == ["東京都"])
        for key in ["Malé", "Apia", "Nuuk"] { source.access(key, archive: "City", at: clock.now) }
        for _ in 0..<10 { clock.advance(1, refreshing: &browser) }
        #expect(browser.model.planned?.map(\.key) == ["東京都"])
        try browser.press("y")
        #expect(source["東京都"] == nil)
        #expect(source.with { $0.archives["City"]?.count } == 15)
    }

    @Test func marksFilteredEntries() throws {
        let browser = try Fixture.browser(Fixture.source(), keys: "j<enter>/ta<enter>M")
        #expect(browser.model.markedKeys == ["Jakarta"])
        let two = try Fixture.browser(Fixture.source(), keys: "j<enter>/u<enter>M<esc>")
        #expect(two.model.markedKeys == ["Bandung", "Nuuk", "Quito", "São Paulo"])
        #expect(two.text.contains("4 marked"))
    }

    @Test("enter while groups are loading is refused as too early")
    func refusesEnterDuringGrouping() throws {
        var test = try UpdateTest(Fixture.model(columns: 100), source, keys: "j<enter>")
        let asked = test.press(.character("z"), source, settling: false)
        #expect(test.press(Key(.enter), source, settling: false).isEmpty)
        #expect(test.model.said == "\(Key(.enter)) ignored: still loading; esc cancels.")
        test.settle(asked, source)
        #expect(test.model.said == "Loaded. Press the key again.")
    }

    /// Regression: a key after the Enter of a slow condition applied to a row outside its matches.
    @Test(arguments: ["D", "m", "x", "y", "o", "<enter>"])
    func refusesKeysDuringLoading(key: String) throws {
        var test = try UpdateTest(Fixture.model(columns: 100), source, keys: "j<enter>W")
        var asked: [Effect] = []
        for key in try Key.script("population > 2000000<enter>") {
            asked += test.press(key, source, settling: false)
        }
        let key = try #require(try Key.script(key).first)
        #expect(test.press(key, source, settling: false).isEmpty)
        #expect(test.model.said == "\(key) ignored: still loading; esc cancels.")
        #expect(!test.model.isPlanOpen && test.model.markedKeys.isEmpty)
        test.settle(asked, source)
        #expect(test.model.said == "Loaded. Press the key again.")
        _ = test.press(.character("D"), source)
        #expect(test.model.isPlanOpen)
    }

    /// Regression: repeats of the confirming key opened the copy menu over the result.
    @Test func heldKeyConfirmsOnce() throws {
        var test = try UpdateTest(Fixture.model(columns: 100), source, keys: "j<enter>D")
        for repeated in [0, 0.6, 0.63, 0.66, 1.3] {
            test.refresh(source, at: Fixture.start.adding(seconds: repeated))
            _ = test.press(.character("y"), source)
            #expect(test.model.said?.hasPrefix("Deleted 1 entry") == true)
        }
        #expect(source.with { $0.archives["City"]?.count } == 15)
        test.refresh(source, at: Fixture.start.adding(seconds: 2.1))
        _ = test.press(.character("y"), source)
        #expect(test.text.contains("the key"))
    }

    /// Regression: further typing marked all entries of the archive, and a delete during marking planned the entry under the
    /// cursor.
    @Test func marksOnlyLoadedMatches() throws {
        var test = try UpdateTest(Fixture.model(columns: 100), source, keys: "j<enter>/")
        var asked: [Effect] = []
        for key in try Key.script("ta<enter>") { asked += test.press(key, source, settling: false) }
        #expect(test.press(.character("M"), source, settling: false).isEmpty)
        #expect(test.model.said?.contains("Still filtering") == true)
        test.settle(asked, source)
        let marking = test.press(.character("M"), source, settling: false)
        #expect(marking.map(\.description) == ["collect all rows"])
        #expect(test.press(.character("D"), source, settling: false).isEmpty)
        #expect(test.model.planned == nil && test.model.said?.contains("Still marking") == true)
        // After a stop nothing is marked, and keys don't wait.
        #expect(
            test.press(Key(.escape), source, settling: false).first?.description.hasPrefix("stop") == true)
        test.settle(marking, source)
        #expect(test.model.markedKeys.isEmpty)
        let again = test.press(.character("M"), source, settling: false)
        #expect(test.press(.character("D"), source, settling: false).isEmpty)
        #expect(test.model.said?.contains("Still marking") == true)
        test.settle(again, source)
        // Regression: a key typed ahead was dropped, and its message vanished with the marking.
        #expect(test.model.said == "The entries are marked now. Press the key again.")
        #expect(test.model.markedKeys == ["Jakarta"])
        _ = test.press(.character("D"), source)
        #expect(test.model.planned?.map(\.key) == ["Jakarta"])
    }

    @Test func deletesShownValue() throws {
        let browser = try Fixture.browser(source, keys: "j<enter>j<enter>Dy")
        #expect(browser.model.screen == .entries)
        #expect(source["Bandung"] == nil)
    }

    @Test func reportsFailure() throws {
        var browser = try Fixture.browser(source, keys: "j<enter>D")
        source.with { $0.problem = "there is no store at \(Fixture.storePath)" }
        try browser.press("y", shows: "Nothing was deleted", "there is no store")
    }
}
