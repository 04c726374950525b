import ArchiveQuery
import BrowserCore
import StorageEngine
import StoreInspection
import TerminalKit
import Testing

/// Names of archives and keys stay distinguishable on screens of every size.
struct NameTests {
    private static let sizes = [(40, 12), (80, 24), (100, 30), (200, 50)]
    private static let longKey = "https://example.com/" + String(repeating: "a", count: 180) + "/1001"

    private func browser(
        archives names: [String], columns: Int, rows: Int, kind: ArchiveKind = .cache
    ) throws -> HeadlessBrowser {
        let source = Fixture.source { state in
            (state.archives, state.summaries) = ([:], [:])
            for name in names {
                state.archives[name] = []
                state.summaries[name] = ArchiveSample(name: name, kind: kind)
                state.summaries[name]?.diskLimit = kind == .cache ? 2_000_000 : nil
            }
        }
        return try Fixture.browser(source, columns: columns, rows: rows)
    }

    /// The names in the rows of the archives list.
    private func shown(_ browser: HeadlessBrowser, _ count: Int) -> [String] {
        browser.lines.filter { $0.hasPrefix("archive-") }.prefix(count).map { line in
            String(line.prefix { $0 != " " })
        }
    }

    private func source(key: String, property: String = "age") -> MockSource {
        let source = Fixture.source {
            $0.archives["City"] = [Fixture.record(key, number: 0, bytes: Array("{\"\(property)\":3}".utf8))]
        }
        return source
    }

    @Test("archives with a common beginning have different names in the list", arguments: NameTests.sizes)
    func archivesDiffer(columns: Int, rows: Int) throws {
        let names = ["archive-with-a-long-name-images", "archive-with-a-long-name-thumbs"]
        let shown = shown(try browser(archives: names, columns: columns, rows: rows), 2)
        #expect(shown.map { $0.suffix(6) } == ["images", "thumbs"])
        if columns >= 80 { #expect(shown == names) }
    }

    @Test("names that differ in the middle are cut beside it", arguments: NameTests.sizes)
    func archivesDifferInTheMiddle(columns: Int, rows: Int) throws {
        let names = ["archive-a1-with-a-long-name-of-images", "archive-b1-with-a-long-name-of-images"]
        let shown = shown(try browser(archives: names, columns: columns, rows: rows), 2)
        #expect(Set(shown).count == 2 && shown.allSatisfy { $0.hasSuffix("es") }, "\(shown)")
    }

    @Test("a wide screen shows a name of 60 columns whole")
    func longNameIsWhole() throws {
        let name = "archive-" + String(repeating: "x", count: 52)
        #expect(shown(try browser(archives: [name], columns: 200, rows: 50), 1) == [name])
    }

    @Test("rows, pane, status line and plan show both ends of a key", arguments: NameTests.sizes)
    func keysKeepBothEnds(columns: Int, rows: Int) throws {
        var browser = try Fixture.browser(
            source(key: Self.longKey), columns: columns, rows: rows, keys: "j<enter>")
        func isCut(_ text: String) -> Bool {
            text.contains("https:") && text.contains("…") && text.contains("/1001")
        }
        let lines = browser.lines
        #expect(lines.dropFirst().first { $0.contains("https:") }.map(isCut) == true, "\(browser.text)")
        #expect(isCut(lines[rows - 2]), "\(browser.text)")
        if let pane = browser.paneKey { #expect(isCut(pane)) }
        try browser.press("D")
        #expect(browser.boxLines.contains(where: isCut), "\(browser.text)")
        try browser.press("<esc><enter>")
        #expect(isCut(browser.lines[0]), "\(browser.text)")
    }

    @Test("query results show both ends of a key") func queryKeysKeepBothEnds() throws {
        let source = source(key: Self.longKey)
        try Fixture.addQueries(source)
        let browser = try Fixture.browser(source, keys: "jQselect @key, age<enter>")
        let row = try #require(browser.lines.first { $0.contains("https:") }, "\(browser.text)")
        #expect(row.contains("…") && row.contains("/1001"), "\(row)")
    }

    @Test("the match of a filter is highlighted where the cut key shows it") func highlightsCutKey() throws {
        let browser = try Fixture.browser(source(key: Self.longKey), keys: "j<enter>/1001<enter>")
        let frame = browser.frame
        let row = try #require(browser.lines.firstIndex { $0.contains("https:") && $0.contains("/1001") })
        let cells = frame.cells(of: "1001", row: row)
        #expect(cells.count == 4 && Set(cells.map(\.style)).count == 1)
        #expect(cells.first?.style != frame.cells(of: "https", row: row).first?.style)
    }

    @Test("a property and metadata of the same name have different headings", arguments: ["age", "@age"])
    func headingsDiffer(property: String) throws {
        let source = source(key: "Jakarta", property: property)
        let property = try QueryProperty(property)
        source.with { $0.columns = [ChosenColumns(archive: "City", properties: [property], hidden: [])] }
        var browser = try Fixture.browser(source, columns: 200, rows: 50, keys: "j<enter>p")
        let header = try #require(browser.lines.first { $0.contains(" key ") && $0.contains(" size ") })
        let titles = header.split(separator: " ")
        #expect(Set(titles).count == titles.count && titles.contains("age") && titles.contains("@age"))
        try browser.press("C")
        #expect(
            browser.boxLines.count { $0 == "[x] age" || $0.hasPrefix("[x] age ") } == 1, "\(browser.text)")
    }

    @Test("a narrow screen drops the memory figure before the disk figure")
    func headerKeepsDisk() throws {
        let browser = try Fixture.browser(Fixture.source(), columns: 26, rows: 12)
        #expect(browser.lines[1] == " 3 archives  disk 3.36 kB")
    }

    @Test("a store of logs has no memory figure") func logsHaveNoMemory() throws {
        let browser = try browser(archives: ["Trace"], columns: 200, rows: 50, kind: .log)
        #expect(browser.lines[1].contains("disk 0 B") && !browser.lines[1].contains("memory"))
    }

    @Test("the help is first in every footer", arguments: [40, 80, 200])
    func helpIsFirst(columns: Int) throws {
        for keys in [
            "", "h", "j<enter>", "jz", "j<enter><enter>", "jQ", "jQlimit 1<enter>", "jj<enter>", "E", "T",
        ] {
            let browser = try Fixture.browser(Fixture.source(), columns: columns, rows: 50, keys: keys)
            let footer = browser.lines.last { !$0.isEmpty } ?? ""
            #expect(footer.hasPrefix("? Help") || footer.hasPrefix("f1 Help"), "\(keys): \(footer)")
        }
    }

    @Test("a query longer than its line is marked where it continues") func longQueryIsMarked() throws {
        let query = "find name = \"a\"" + String(repeating: " or name = \"a\"", count: 12)
        var browser = try Fixture.browser(Fixture.source(), keys: "jQ" + query)
        #expect(browser.lines[1].hasPrefix("query …") && browser.lines[1].hasSuffix("\"a\""))
        try browser.press("<home>")
        #expect(browser.lines[1].hasPrefix("query find name") && browser.lines[1].hasSuffix("…"))
    }

    @Test("keys have one spelling on all screens", arguments: Scene.all)
    func keysHaveOneSpelling(scene: Scene) throws {
        let text = try scene.browser(columns: 100, rows: 30, look: Fixture.unicode).text
        let names = text.matches(of: /\b(?:Esc|Escape|Enter|Tab|Backspace|Ctrl|ctrl-)\b/).map(\.output)
        #expect(names == [])
    }
}
