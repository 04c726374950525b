import ArchiveQuery
import BrowserCore
import StorageEngine
import StoreInspection
import TerminalKit
import Testing

/// Properties of the values as columns of the entries.
struct PropertyColumnTests {
    /// Cities with the columns that were chosen for them.
    private func source(_ properties: String...) -> MockSource {
        let source = Fixture.source()
        source.with { state in
            let properties = properties.compactMap { try? QueryProperty($0) }
            state.columns = [ChosenColumns(archive: "City", properties: properties, hidden: [])]
        }
        return source
    }

    private func browser(_ source: MockSource, _ keys: String, columns: Int = 99) throws -> HeadlessBrowser {
        try Fixture.browser(source, columns: columns, look: Fixture.ascii, keys: "j<enter>p" + keys)
    }

    private func lines(_ browser: HeadlessBrowser) -> [String] {
        browser.frame.plainText.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// Keys in the order in which they stand.
    private func keys(_ browser: HeadlessBrowser) -> [String] {
        // Below the rows it is said again what the cursor is on.
        lines(browser)[3..<20].compactMap { line in
            let words = line.split(separator: " ").filter { $0 != "v" }
            return words.first.flatMap { Fixture.keys.contains(String($0)) ? String($0) : nil }
        }
    }

    /// What broke: a long title ran over the corner of its box.
    @Test func aTitleIsCutOffWithASign() throws {
        let browser = try Fixture.browser(Fixture.source(), columns: 40, keys: "j<enter>C")
        let top = try #require(lines(browser).first { $0.contains("Columns (") })
        #expect(top.contains("…") && top.contains("┐"), "\(top)")
    }

    @Test func arePickedFromThoseThatOccur() throws {
        let source = Fixture.source()
        source.with { $0.archives["City"]?[3].bytes = Array("{\"population\":1}".utf8) }
        var browser = try browser(source, "C")
        let list = browser.frame.plainText
        #expect(list.contains("Columns (properties of the latest 16 values)"), "\(list)")
        #expect(lines(browser).contains { $0.contains("[ ] population") && $0.contains("16 of 16") })
        #expect(lines(browser).contains { $0.contains("[ ] place.zone") && $0.contains("15 of 16") })
        // Population, and then the zone before it.
        browser.press(try Key.script("jjj<enter>jjjjj<enter>KKKKK"))
        browser.press(try Key.script("<esc>"))
        let header = lines(browser)[2]
        let places = try ["key", "place.zone", "population", "size"].map {
            try #require(header.range(of: $0)?.lowerBound, "\(header)")
        }
        #expect(places == places.sorted(), "\(header)")
        #expect(
            lines(browser).contains {
                $0.contains("Jakarta") && $0.contains("Asia/Jakarta") && $0.contains(" 8540121 ")
            })
        #expect(
            source.with { $0.columns.last?.properties.map(\.description) } == ["place.zone", "population"])
        // What is taken off the list again is gone, and so is what it remembered.
        browser.press(try Key.script("C<enter><esc>"))
        #expect(!lines(browser)[2].contains("place.zone") && lines(browser)[2].contains("population"))
        #expect(source.with { $0.columns.last?.properties.map(\.description) } == ["population"])
    }

    /// What broke: a property whose name holds a dot was neither a column to pick nor one to count by, except in quotes.
    @Test func aNameWithADotIsOffered() throws {
        let source = Fixture.source()
        source.with { $0.archives["City"]?[0].bytes = Array("{\"x.y\":17,\"z\":{\"u.v\":1}}".utf8) }
        var browser = try browser(source, "C")
        #expect(
            lines(browser).contains { $0.contains("[ ] x.y") && $0.contains("1 of 16") }, "\(lines(browser))")
        #expect(lines(browser).contains { $0.contains("[ ] z.u.v") && $0.contains("1 of 16") })
        browser.press(try Key.script("<enter><esc>"))
        #expect(source.with { $0.columns.last?.properties.map(\.description) } == ["\"x.y\""])
        #expect(
            lines(browser).contains { $0.contains("Jakarta") && $0.contains(" 17 ") }, "\(lines(browser))")
        browser.press(try Key.script("fx.y"))
        #expect(
            lines(browser).contains { $0.contains(#" "x.y" "#) && $0.contains("1 of 16") },
            "\(lines(browser))")
        browser.press([Key(.enter)])
        #expect(
            lines(browser).contains { $0.split(separator: " ").starts(with: ["17", "1"]) },
            "\(lines(browser))")
    }

    @Test func areNamedWhereNoneOfThemOccurs() throws {
        let source = Fixture.source()
        var browser = try browser(source, "Caalternatenames[1]<enter>")
        #expect(
            lines(browser).contains { $0.contains("[x] alternatenames[1]") }, "\(browser.frame.plainText)")
        browser.press(try Key.script("<esc>"))
        #expect(lines(browser).contains { $0.contains("Jakarta") && $0.contains("Djakarta") })
        browser.press(try Key.script("Ca..<enter>"))
        #expect(lines(browser)[22].contains("found \".\", expected a property"), "\(browser.frame.plainText)")
    }

    @Test func areRememberedAndWhatCantBeKeptIsSaid() throws {
        let source = source("population")
        var browser = try browser(source, "")
        #expect(lines(browser)[2].contains("population"), "\(browser.frame.plainText)")
        source.with { $0.keepingProblem = "no room" }
        browser.press(try Key.script("C<enter><esc>"))
        #expect(
            browser.frame.plainText.contains("Columns are kept for this session only: no room"),
            "\(browser.frame.plainText)")
    }

    /// Behind the facts of entries `s` comes to the properties; what has none stands last in both directions.
    @Test func sortUpAndDown() throws {
        let source = source("population")
        source.with { state in
            state.archives["City"]?[1].bytes = Array("{}".utf8)
            state.archives["City"]?[0].bytes = Array("{\"population\":9007199254740993}".utf8)
            state.archives["City"]?[9].bytes = Array("{\"population\":9007199254740992.0}".utf8)
        }
        var browser = try browser(source, "sssss")
        #expect(lines(browser)[2].contains("population ^"), "\(browser.frame.plainText)")
        #expect(keys(browser).first == "Apia" && keys(browser).last == "Bandung", "\(keys(browser))")
        #expect(keys(browser).suffix(3) == ["Kyiv", "Jakarta", "Bandung"], "\(keys(browser))")
        browser.press(try Key.script("r"))
        #expect(
            keys(browser).first == "Jakarta" && keys(browser).last == "Bandung", "\(browser.frame.plainText)")
        #expect(CommandLine.words(for: browser.model).hasSuffix("query City 'sort population desc'"))
        // Without the column nothing shows any more what the order is.
        browser.press(try Key.script("C<enter><esc>"))
        #expect(lines(browser)[2].contains("idle ^"))
    }

    @Test func whatCantBeReadIsSaid() throws {
        let source = source("population")
        source.with { $0.valueProblems = ["Bandung": "the entry fails its checksum"] }
        let browser = try browser(source, "sssss")
        #expect(lines(browser)[1].contains("1 value unreadable, listed last"), "\(browser.frame.plainText)")
        #expect(keys(browser).last == "Bandung")
        #expect(lines(browser).contains { $0.contains("Bandung") && $0.contains("unreadable") })
    }

    @Test func aLongValueIsntReadForARow() throws {
        let source = source("population")
        source.with { state in
            let padding = String(repeating: "x", count: 1 << 20)
            let bytes = Array("{\"population\":3,\"text\":\"\(padding)\"}".utf8)
            state.archives["City"]?[0] = Fixture.record("Jakarta", number: 0, bytes: bytes)
        }
        var browser = try browser(source, "")
        #expect(lines(browser).contains { $0.contains("Jakarta") && $0.contains("too long") })
        // To sort them all are read.
        browser.press(try Key.script("sssss"))
        #expect(keys(browser).first == "Jakarta")
    }

    @Test func aSortIsStopped() throws {
        let source = source("population")
        let model = try browser(source, "").model
        var request = ArrangementRequest(
            in: ArchiveAddress("City", in: Fixture.storePath),
            order: EntryOrder(.property(try QueryProperty("population"))))
        request.visible = 10
        let arranger = Arranger(source: source, clock: { model.now }, progress: { _ in false })
        #expect(try arranger.arrange(request) == nil)
    }

    /// A million entries cost what the rows in view cost.
    @Test func onlyRowsInViewAreRead() throws {
        let source = MillionTests.Source(count: 1_000_000)
        source.chosen.withLock { $0 = ["n"] }
        var browser = HeadlessBrowser(
            Fixture.model(columns: 90, rows: 40), source: source, clock: { Fixture.start })
        browser.press(try Key.script("<enter>p"))
        #expect(lines(browser)[2].contains(" n"), "\(browser.frame.plainText)")
        browser.press(try Key.script("jjj<pgdn><pgdn>Ggkkj"))
        #expect(source.values.withLock { $0 } <= 8 * 3 * 40)
        let before = source.values.withLock { $0 }
        _ = browser.frame
        #expect(source.values.withLock { $0 } == before, "drawing reads nothing")
    }

    // MARK: Sideways

    /// The columns that are to be seen, the key aside.
    private func all(_ properties: [String]) -> [String] {
        properties + ["size", "tier", "idle", "expires", "hits", "owner"]
    }

    /// Rows of too many columns.
    private func narrow(_ columns: Int, _ properties: [String]) throws -> HeadlessBrowser {
        let source = Fixture.source()
        source.with { state in
            let properties = properties.compactMap { try? QueryProperty($0) }
            state.columns = [ChosenColumns(archive: "City", properties: properties, hidden: ["age"])]
        }
        return try browser(source, "", columns: columns)
    }

    /// The columns in view, and how many are said to be left out before and behind them.
    private func view(
        _ browser: HeadlessBrowser, of all: [String]
    ) -> (shown: [String], before: Int, behind: Int) {
        let words = lines(browser)[2].split(separator: " ").map(String.init)
        func count(_ sign: Character) -> Int {
            words.compactMap { $0.first == sign ? Int($0.dropFirst()) : nil }.first ?? 0
        }
        return (all.filter(words.contains), count("<"), count("+"))
    }

    /// Where not all columns fit, the title line says how many are left out; `>` takes the one beside the key away for
    /// others, and `<` brings it back.
    @Test(arguments: [(60, [String]()), (44, []), (60, ["population", "place.zone"])])
    func scrollSideways(columns: Int, properties: [String]) throws {
        var browser = try narrow(columns, properties)
        let all = all(properties)
        let first = lines(browser)[2]
        let start = view(browser, of: all)
        #expect(start.shown.first == all[0] && start.before == 0 && start.behind > 0, "\(first)")
        var steps = 0
        while view(browser, of: all).behind > 0, steps < all.count {
            let (shown, before, behind) = view(browser, of: all)
            let header = lines(browser)[2]
            #expect(before == steps && shown.count + before + behind == all.count, "\(header)")
            #expect(header.split(separator: " ").first == "key", "the key stays: \(header)")
            browser.press([.character(">")])
            #expect(!view(browser, of: all).shown.contains(all[steps]), "\(all[steps]): \(lines(browser)[2])")
            steps += 1
        }
        let last = lines(browser)[2]
        let end = view(browser, of: all)
        #expect(steps > 0 && end.behind == 0 && end.before == steps, "\(last)")
        #expect(end.shown == Array(all.dropFirst(steps)) && end.shown.last == "owner", "\(last)")
        #expect(lines(browser)[3].hasPrefix("  Jakarta "))
        browser.press([Key(.right, modifiers: .shift)])
        #expect(browser.frame.plainText.contains("No more columns to the right."))
        #expect(lines(browser)[2] == last)
        for _ in 0..<steps { browser.press([.character("<")]) }
        #expect(lines(browser)[2] == first)
        browser.press([Key(.left, modifiers: .shift)])
        #expect(browser.frame.plainText.contains("No more columns to the left."))
    }

    @Test("a list sorted by a column that is scrolled out names it above the list")
    func scrolledOrderIsNamed() throws {
        var browser = try Fixture.browser(Fixture.source(), columns: 100, keys: "j<enter>2")
        #expect(lines(browser)[2].contains("size ▼") && !lines(browser)[1].contains("sorted by"))
        browser.press([.character(">")])
        #expect(!lines(browser)[2].contains("size") && lines(browser)[1].contains("  sorted by size ▼"))
    }

    /// On the way to the right each column is in view once: what stands beside the key isn't left out for its little weight.
    @Test(arguments: [60, 44]) func noColumnIsPassedUnseen(columns: Int) throws {
        var browser = try narrow(columns, [])
        let all = all([])
        var seen = Set(view(browser, of: all).shown)
        for _ in all {
            browser.press([.character(">")])
            seen.formUnion(view(browser, of: all).shown)
        }
        #expect(all.filter { !seen.contains($0) } == [])
    }
}
