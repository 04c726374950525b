import BrowserCore
import StorageEngine
import StoreInspection
import TerminalKit
import TestSupport
import Testing

/// Rows whose entries are removed while shown.
struct VanishingTests {
    private let clock = TestClock()

    /// A cache of many entries in LRU order.
    private func source(_ count: Int) -> MockSource {
        let source = Fixture.source { state in
            state.archives["City"] = (0..<count).map { number in
                Fixture.record(
                    "key \(number)", number: number % 90, bytes: Fixture.json("key \(number)", number))
            }
        }
        return source
    }

    private func evict(_ count: Int, _ source: MockSource) {
        source.with { _ = $0.archives["City"]?.removeLast(count) }
    }

    /// Regression: the last rows were empty for seconds, and the pane showed another entry's value.
    @Test func removedRowsAreReplaced() throws {
        let source = source(400)
        var browser = try Fixture.browser(source, columns: 120, rows: 40, keys: "j<enter>")
        evict(150, source)
        try browser.press("G", hides: "was removed")
        let text = browser.text
        #expect(browser.model.cursorKey == "key 249")
        #expect(text.contains("key 249  JSON,"), "the pane shows another entry")
        #expect(text.contains("250 of 250"))
        try browser.press("<enter>", shows: "\"key 249\"")
    }

    /// Regression: the header subtracted removed entries and added no new ones.
    @Test("the figures above a frozen list are current")
    func frozenListHasPresentFigures() throws {
        let source = source(400)
        var browser = try Fixture.browser(
            source, columns: 120, rows: 40, clock: clock, keys: "j<enter>j")
        evict(150, source)
        for number in 0..<100 { source.record("new \(number)", [1, 2], archive: "City", at: clock.now) }
        try browser.press("G")
        clock.advance(1, refreshing: &browser)
        let bytes = source.with { $0.archives["City"]?.reduce(0) { $0 + UInt64($1.entry.valueBytes) } } ?? 0
        #expect(browser.model.pace != .live && browser.model.cursorKey == "key 249")
        #expect(browser.lines[1].hasPrefix(" 350 entries  \(Figures.bytes(bytes))"), "\(browser.lines[1])")
        #expect(browser.lines[1].contains("to be evicted: "), "\(browser.lines[1])")
        // The victims of an old list may be evicted already.
        clock.advance(1.5)
        try browser.press("k")
        #expect(browser.model.pace != .live && !browser.lines[1].contains("evicted"), "\(browser.lines[1])")
    }

    @Test("the header states the share of the limit that evicting the victims frees")
    func namesShareOfVictims() throws {
        let source = source(400)
        source.with { state in
            let bytes = state.archives["City"]?.reduce(0) { $0 + UInt64($1.entry.valueBytes) }
            state.summaries["City"]?.diskLimit = bytes
        }
        let many = try Fixture.browser(source, columns: 120, keys: "j<enter>")
        #expect(many.lines[1].contains("next 1% to be evicted: "), "\(many.lines[1])")
        // Sixteen entries: one is more than 1% of the limit.
        let few = try Fixture.browser(Fixture.source(), columns: 120, keys: "j<enter>")
        #expect(few.lines[1].contains(" next to be evicted: "), "\(few.lines[1])")
    }

    @Test("a list below an open filter stays live")
    func filteredListIsLive() throws {
        let source = source(400)
        var browser = try Fixture.browser(
            source, columns: 120, rows: 40, clock: clock, keys: "j<enter>/key 39")
        #expect(browser.lines[1].contains("11 of 400 entries"), "\(browser.lines[1])")
        source.record("new key 39", [1, 2], archive: "City", at: clock.now)
        clock.advance(4, refreshing: &browser)
        #expect(browser.lines[1].contains("12 of 401 entries"), "\(browser.lines[1])")
    }

    /// Regression: the header showed "live" above entries of a removed archive, and always above groups.
    @Test(arguments: ["j<enter>", "jz"]) func removedArchiveIsNotLive(keys: String) throws {
        let source = source(20)
        var browser = try Fixture.browser(source, columns: 100, rows: 30, clock: clock, keys: keys)
        func header() -> String { String(browser.text.prefix { $0 != "\n" }) }
        #expect(!header().contains("REMOVED"))
        clock.advance(40, refreshing: &browser)
        #expect(header().contains(keys == "jz" ? "updated 40" : "following"), "\(header())")
        source.with { ($0.archives["City"], $0.summaries["City"]) = (nil, nil) }
        clock.advance(2, refreshing: &browser)
        #expect(header().contains("REMOVED") && !header().contains("live"), "\(header())")
        try browser.press("D", hides: "Delete ")
    }

    /// Regression: a removed row was evicted next, and stayed marked after its key was recorded again.
    @Test("removed and restored entries are not evicted next")
    func restoredEntryIsNotVictim() throws {
        let source = source(20)
        var browser = try Fixture.browser(source, columns: 120, rows: 40, clock: clock, keys: "j<enter>G")
        #expect(browser.text.contains("evicted next"))
        clock.advance(0.5)
        source.remove("key 19", archive: "City")
        try browser.press("<pgup><pgdn>")
        #expect(browser.model.cursorKey == "key 19" && browser.text.contains("\nx key 19"))
        #expect(!browser.text.contains("evicted next"), "\(browser.text)")
        source.record("key 19", Fixture.json("key 19", 19), archive: "City", at: clock.now)
        clock.advance(1.1, refreshing: &browser)
        #expect(browser.paneKey == "key 19" && !browser.text.contains("\nx key 19"), "\(browser.text)")
        #expect(!browser.text.contains("evicted next"), "\(browser.text)")
    }

    @Test("a removed archive offers no changes, and an empty list states that", arguments: [0, 20])
    func removedArchiveOffersNoChanges(entries: Int) throws {
        let source = source(entries)
        var browser = try Fixture.browser(source, columns: 160, rows: 30, clock: clock, keys: "j<enter>")
        let footer = 29
        #expect(browser.lines[footer].contains("D Delete") == (entries > 0), "\(browser.text)")
        source.with { ($0.archives["City"], $0.summaries["City"]) = (nil, nil) }
        clock.advance(2, refreshing: &browser)
        #expect(!browser.lines[footer].contains("D Delete"), "\(browser.text)")
        if entries == 0 { #expect(browser.text.contains("City was removed; esc goes back.")) }
    }

    /// Without replacements the shown rows stay and are marked.
    @Test func rowsWithoutSuccessorsAreMarked() throws {
        let source = source(30)
        var browser = try Fixture.browser(source, columns: 120, rows: 40, keys: "j<enter>")
        evict(30, source)
        try browser.press("G", shows: "The entry was removed.", "\nx key 29")
    }

    /// Regardless of removals, the pane shows the value of the row under the cursor.
    @Test(arguments: 1...4 as ClosedRange<UInt64>, [(120, 30), (80, 24)])
    func paneAndCursorAgree(seed: UInt64, size: (columns: Int, rows: Int)) throws {
        var numbers = SeededGenerator(seed: seed)
        let source = source(300)
        var browser = try Fixture.browser(
            source, columns: size.columns, rows: size.rows, clock: clock, keys: "j<enter>")
        let keys = try Key.script("jjkG<pgdn><pgdn><pgup>2r4")
        var shown = 0
        for step in 0..<120 {
            let count = source.with { $0.archives["City"]?.count ?? 0 }
            switch Int.random(in: 0..<8, using: &numbers) {
            case 0: evict(min(count, .random(in: 1...9, using: &numbers)), source)
            case 1:
                // The entry under the cursor, or any other.
                let other = "key \(Int.random(in: 0..<300, using: &numbers))"
                source.remove(
                    (Bool.random(using: &numbers) ? browser.model.cursorKey : nil) ?? other, archive: "City")
            case 2:
                source.access(
                    "key \(Int.random(in: 0..<300, using: &numbers))", archive: "City", at: clock.now)
            case 3:
                clock.advance(.random(in: 0...4, using: &numbers))
                browser.refresh()
            default: if let key = keys.randomElement(using: &numbers) { browser.press([key]) }
            }
            #expect(browser.disagreement == nil, "seed \(seed), step \(step)")
            guard browser.paneKey != nil, let key = browser.model.cursorKey else { continue }
            shown += 1
            // Three lines are above the rows: bar, figures and titles.
            let row = browser.lines[3 + browser.model.cursorRow - browser.model.firstRow].dropFirst(2)
            #expect(row.hasPrefix(key + " "), "seed \(seed), step \(step): \(key) in \(row)")
        }
        #expect(shown > 40, "the pane rarely shows values")
    }

    /// A shown row keeps its key, and the pane reports the removal.
    @Test func removedRowIsMarked() throws {
        let source = source(20)
        var browser = try Fixture.browser(source, columns: 120, rows: 40, clock: clock, keys: "j<enter>")
        source.remove("key 3", archive: "City")
        try browser.press("jjj", cursor: "key 3")
        #expect(browser.text.contains("The entry was removed."))
        let row = browser.text.split(separator: "\n").first { $0.hasPrefix("x key 3") }
        #expect(row != nil, "\(browser.text)")
    }

    @Test("the pane loads a restored entry")
    func restoredEntryIsLoaded() throws {
        let source = source(20)
        var browser = try Fixture.browser(source, columns: 120, rows: 40, clock: clock, keys: "j<enter>")
        let removed = source.with { $0.archives["City"]?.remove(at: 3) }
        try browser.press("jjj", shows: "The entry was removed.")
        let record = try #require(removed)
        source.with { $0.archives["City"]?.insert(record, at: 3) }
        clock.advance(1.1, refreshing: &browser)
        #expect(browser.paneKey == "key 3", "\(browser.text)")
    }
}
