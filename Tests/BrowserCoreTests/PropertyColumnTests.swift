import ArchiveQuery
import BrowserCore
import StorageEngine
import StoreInspection
import TerminalKit
import Testing

struct PropertyColumnTests {
    /// Cities with chosen columns.
    private func source(_ properties: String...) -> MockSource {
        let source = Fixture.source { state in
            let properties = properties.compactMap { try? QueryProperty($0) }
            state.columns = [ChosenColumns(archive: "City", properties: properties, hidden: [])]
        }
        return source
    }

    private func browser(_ source: MockSource, _ keys: String, columns: Int = 99) throws -> HeadlessBrowser {
        try Fixture.browser(source, columns: columns, look: Fixture.ascii, keys: "j<enter>p" + keys)
    }

    /// The keys in order of their rows.
    private func keys(_ browser: HeadlessBrowser) -> [String] {
        // The line below the rows repeats the key.
        browser.lines[3..<20].compactMap { line in
            let words = line.split(separator: " ").filter { $0 != "v" }
            return words.first.flatMap { Fixture.keys.contains(String($0)) ? String($0) : nil }
        }
    }

    /// Regression: a long title overwrote the corner of its box.
    @Test func cutsLongTitle() throws {
        let browser = try Fixture.browser(Fixture.source(), columns: 40, keys: "j<enter>C")
        let top = try #require(browser.lines.first { $0.contains("Columns (") })
        #expect(top.contains("…") && top.contains("┐"), "\(top)")
    }

    @Test("9 sorts by the next chosen property")
    func sortsByProperties() throws {
        var browser = try browser(source("population", "place.zone"), "9")
        #expect(CommandLine.words(for: browser.model).contains("sort population"))
        #expect(browser.model.cursorKey == Fixture.keys.last && browser.model.cursorRow == 0)
        try browser.press("9")
        #expect(CommandLine.words(for: browser.model).contains("sort place.zone"))
        browser = try self.browser(source(), "9")
        #expect(browser.model.said?.contains("C chooses columns") == true)
    }

    @Test func picksFromExistingProperties() throws {
        let source = Fixture.source { $0.archives["City"]?[3].bytes = Array("{\"population\":1}".utf8) }
        var browser = try browser(source, "C")
        #expect(browser.text.contains("Columns (properties of the latest 16 values)"), "\(browser.text)")
        #expect(browser.lines.contains { $0.contains("[ ] population") && $0.contains("16 of 16") })
        #expect(browser.lines.contains { $0.contains("[ ] place.zone") && $0.contains("15 of 16") })
        // Chooses population, and then the zone before it.
        try browser.press("popul<enter>place.zone<enter><lt><lt><lt><lt><lt>")
        try browser.press("<esc>")
        let header = browser.lines[2]
        let places = try ["key", "place.zone", "population", "size"].map {
            try #require(header.range(of: $0)?.lowerBound, "\(header)")
        }
        #expect(places == places.sorted(), "\(header)")
        #expect(
            browser.lines.contains {
                $0.contains("Jakarta") && $0.contains("Asia/Jakarta") && $0.contains(" 8540121 ")
            })
        #expect(
            source.with { $0.columns.last?.properties.map(\.description) } == ["place.zone", "population"])
        // A removed column is forgotten.
        try browser.press("C<enter><esc>")
        #expect(!browser.lines[2].contains("place.zone") && browser.lines[2].contains("population"))
        #expect(source.with { $0.columns.last?.properties.map(\.description) } == ["population"])
    }

    /// Regression: a property with a dot in its name was offered only in quotes.
    @Test func offersNamesWithDots() throws {
        let source = Fixture.source {
            $0.archives["City"]?[0].bytes = Array("{\"x.y\":17,\"z\":{\"u.v\":1}}".utf8)
        }
        var browser = try browser(source, "C")
        #expect(
            browser.lines.contains { $0.contains("[ ] x.y") && $0.contains("1 of 16") }, "\(browser.lines)")
        #expect(browser.lines.contains { $0.contains("[ ] z.u.v") && $0.contains("1 of 16") })
        try browser.press("<enter><esc>")
        #expect(source.with { $0.columns.last?.properties.map(\.description) } == ["\"x.y\""])
        #expect(browser.lines.contains { $0.contains("Jakarta") && $0.contains(" 17 ") }, "\(browser.lines)")
        try browser.press("fx.y")
        #expect(
            browser.lines.contains { $0.contains(#" "x.y" "#) && $0.contains("1 of 16") },
            "\(browser.lines)")
        try browser.press("<enter>")
        #expect(
            browser.lines.contains { $0.split(separator: " ").starts(with: ["17", "1"]) },
            "\(browser.lines)")
    }

    @Test func acceptsTypedProperties() throws {
        let source = Fixture.source()
        var browser = try browser(source, "Calternatenames[1]<enter>")
        #expect(browser.lines.contains { $0.contains("[x] alternatenames[1]") }, "\(browser.text)")
        try browser.press("<esc>")
        #expect(browser.lines.contains { $0.contains("Jakarta") && $0.contains("Djakarta") })
        try browser.press("C..<enter>", row: 22, shows: "found \".\", expected a property")
    }

    @Test func remembersColumns() throws {
        let source = source("population")
        var browser = try browser(source, "")
        #expect(browser.lines[2].contains("population"), "\(browser.text)")
        source.with { $0.keepingProblem = "no space" }
        try browser.press("C<enter><esc>", shows: "Columns are kept for this session only: no space")
    }

    /// After the metadata, `s` sorts by properties; entries without the property are last in both directions.
    @Test func sortsInBothDirections() throws {
        let source = source("population")
        source.with { state in
            state.archives["City"]?[1].bytes = Array("{}".utf8)
            state.archives["City"]?[0].bytes = Array("{\"population\":9007199254740993}".utf8)
            state.archives["City"]?[9].bytes = Array("{\"population\":9007199254740992.0}".utf8)
        }
        var browser = try browser(source, "sssss")
        #expect(browser.lines[2].contains("population ^"), "\(browser.text)")
        #expect(keys(browser).first == "Apia" && keys(browser).last == "Bandung", "\(keys(browser))")
        #expect(keys(browser).suffix(3) == ["Kyiv", "Jakarta", "Bandung"], "\(keys(browser))")
        try browser.press("r")
        #expect(keys(browser).first == "Jakarta" && keys(browser).last == "Bandung", "\(browser.text)")
        #expect(CommandLine.words(for: browser.model).hasSuffix("query City 'sort population desc'"))
        // Without its column, the order would be invisible.
        try browser.press("C<enter><esc>", row: 2, shows: "idle ^")
    }

    @Test func reportsUnreadableValues() throws {
        let source = source("population")
        source.with { $0.valueProblems = ["Bandung": "the entry fails its checksum"] }
        let browser = try browser(source, "sssss")
        #expect(browser.lines[1].contains("1 value unreadable, listed last"), "\(browser.text)")
        #expect(keys(browser).last == "Bandung")
        #expect(browser.lines.contains { $0.contains("Bandung") && $0.contains("unreadable") })
    }

    @Test func doesNotReadLongValues() throws {
        let source = source("population")
        source.with { state in
            let padding = String(repeating: "x", count: 1 << 20)
            let bytes = Array("{\"population\":3,\"text\":\"\(padding)\"}".utf8)
            state.archives["City"]?[0] = Fixture.record("Jakarta", number: 0, bytes: bytes)
        }
        var browser = try browser(source, "")
        #expect(browser.lines.contains { $0.contains("Jakarta") && $0.contains("too long") })
        // Sorting reads all values.
        try browser.press("sssss")
        #expect(keys(browser).first == "Jakarta")
    }

    @Test func stopsSort() throws {
        let source = source("population")
        let model = try browser(source, "").model
        var request = ArrangementRequest(
            in: ArchiveAddress("City", in: Fixture.storePath),
            order: EntryOrder(.property(try QueryProperty("population"))))
        request.visible = 10
        let arranger = ListBuilder(source: source, clock: { model.now }, progress: { _ in false })
        #expect(try arranger.arrange(request) == nil)
    }

    @Test func readsOnlyVisibleRows() throws {
        let source = MillionTests.Source(count: 1_000_000)
        source.chosen.withLock { $0 = ["n"] }
        var browser = HeadlessBrowser(
            Fixture.model(columns: 90, rows: 40), source: source, clock: { Fixture.start })
        try browser.press("<enter>p", row: 2, shows: " n")
        try browser.press("jjj<pgdn><pgdn>Ggkkj")
        #expect(source.values.withLock { $0 } <= 8 * 3 * 40)
        let before = source.values.withLock { $0 }
        _ = browser.frame
        #expect(source.values.withLock { $0 } == before, "drawing reads values")
    }

    // MARK: Sideways

    /// The expected columns except the key.
    private func all(_ properties: [String]) -> [String] {
        properties + ["size", "tier", "idle", "expires", "hits", "owner"]
    }

    /// A list with more columns than fit.
    private func narrow(_ columns: Int, _ properties: [String]) throws -> HeadlessBrowser {
        let source = Fixture.source { state in
            let properties = properties.compactMap { try? QueryProperty($0) }
            state.columns = [ChosenColumns(archive: "City", properties: properties, hidden: ["age"])]
        }
        return try browser(source, "", columns: columns)
    }

    /// The visible columns, and the numbers of hidden ones before and after.
    private func view(
        _ browser: HeadlessBrowser, of all: [String]
    ) -> (shown: [String], before: Int, behind: Int) {
        let words = browser.lines[2].split(separator: " ").map(String.init)
        let before = words.compactMap { $0.first == "<" ? Int($0.dropFirst()) : nil }.first ?? 0
        let behind = browser.lines[2].firstMatch(of: /(\d+)(?: more )?>/).flatMap { Int($0.output.1) } ?? 0
        return (all.filter(words.contains), before, behind)
    }

    /// The title line counts hidden columns; `>` scrolls by one column, and `<` back.
    @Test(arguments: [(60, [String]()), (44, []), (60, ["population", "place.zone"])])
    func scrollSideways(columns: Int, properties: [String]) throws {
        var browser = try narrow(columns, properties)
        let all = all(properties)
        let first = browser.lines[2]
        let start = view(browser, of: all)
        #expect(start.shown.first == all[0] && start.before == 0 && start.behind > 0, "\(first)")
        var steps = 0
        while view(browser, of: all).behind > 0, steps < all.count {
            let (shown, before, behind) = view(browser, of: all)
            let header = browser.lines[2]
            #expect(before == steps && shown.count + before + behind == all.count, "\(header)")
            #expect(header.split(separator: " ").first == "key", "the key is hidden: \(header)")
            try browser.press(">")
            #expect(!view(browser, of: all).shown.contains(all[steps]), "\(all[steps]): \(browser.lines[2])")
            steps += 1
        }
        let last = browser.lines[2]
        let end = view(browser, of: all)
        #expect(steps > 0 && end.behind == 0 && end.before == steps, "\(last)")
        #expect(end.shown == Array(all.dropFirst(steps)) && end.shown.last == "owner", "\(last)")
        #expect(browser.lines[3].hasPrefix("  Jakarta "))
        browser.press([Key(.right, modifiers: .shift)])
        #expect(browser.text.contains("No more columns to the right."))
        #expect(browser.lines[2] == last)
        for _ in 0..<steps { browser.press([.character("<")]) }
        #expect(browser.lines[2] == first)
        browser.press([Key(.left, modifiers: .shift)])
        #expect(browser.text.contains("No more columns to the left."))
    }

    @Test("a list sorted by a column that is scrolled out names it above the list")
    func scrolledOrderIsNamed() throws {
        var browser = try Fixture.browser(Fixture.source(), columns: 100, keys: "j<enter>2")
        #expect(browser.lines[2].contains("size ▼") && !browser.lines[1].contains("sorted by"))
        try browser.press(">")
        #expect(!browser.lines[2].contains("size") && browser.lines[1].contains("  sorted by size ▼"))
    }

    /// Scrolling right shows each column once, whatever its weight.
    @Test(arguments: [60, 44]) func scrollingShowsEveryColumn(columns: Int) throws {
        var browser = try narrow(columns, [])
        let all = all([])
        var seen = Set(view(browser, of: all).shown)
        for _ in all {
            try browser.press(">")
            seen.formUnion(view(browser, of: all).shown)
        }
        #expect(all.filter { !seen.contains($0) } == [])
    }
}
