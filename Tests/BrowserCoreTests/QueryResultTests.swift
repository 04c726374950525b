import ArchiveQuery
import BrowserCore
import CBOR
import Foundation
import StorageEngine
import StoreInspection
import TerminalKit
import Testing

/// A result: export, filter, and columns during refreshes.
extension QueryScreenTests {
    private func put(_ number: Int, _ value: CBORValue) throws {
        try archive.put(value.encoded, forKey: "place \(number)", encoding: .cbor)
    }

    @Test(
        "exports the shown rows in their order, though entries changed since",
        arguments: ["ndjson", "csv", "json"])
    func exportIsWhatIsShown(form: String) throws {
        let path = folder.path + "/out.\(form)"
        var browser = try browser("Qfind number <lt> 4 | sort number desc<enter>", columns: 120)
        for number in 1..<4 { try put(number, ["number": 1_000]) }
        try browser.press("w\(path)<enter>")
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(!text.contains("1000") && text.contains("place 3"), "\(text)")
        let last = try #require(text.range(of: "place 0")?.lowerBound)
        #expect(try #require(text.range(of: "place 3")?.lowerBound) < last)
        #expect(browser.model.said?.hasPrefix("4 rows written") == true)
        #expect(browser.model.said?.contains("again") == false)
    }

    @Test("reports that an export repeated the query for rows beyond the kept ones")
    func exportOfManyRowsAsksAgain() throws {
        let many = try store.archive(named: "Many", orCreate: ArchiveConfiguration(diskLimit: 10_000_000))
        for number in 0..<10_050 { try many.put([0xa0], forKey: "\(number)", encoding: .cbor) }
        let browser = try browser("gQ<enter>w\(folder.path)/many.csv<enter>", columns: 200)
        #expect(browser.model.said?.contains("10,050 rows") == true)
        #expect(browser.model.said?.contains("run again") == true)
    }

    @Test("filters a result, marks and exports the filtered rows, and shows all on esc")
    func resultIsFiltered() throws {
        let path = folder.path + "/some.csv"
        var browser = try browser("Qfind number <lt> 20 | sort number<enter>/place 1<enter>", columns: 120)
        #expect(browser.text.contains("1 of 11"))
        try browser.press("w\(path)<enter>")
        #expect(try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").count == 12)
        try browser.press("MD")
        #expect(browser.model.planned?.count == 11)
        try browser.press("<esc>-/nowhere<enter>D")
        #expect(browser.model.planned == nil)
        try browser.press("<esc>", shows: "of 20")
    }

    @Test("the cursor stays at its row when the filter ends")
    func cursorStaysAfterFilter() throws {
        var browser = try browser("Qfind number <lt> 20 | sort number<enter>/place 1<enter>j", columns: 120)
        let key = try #require(browser.model.cursorKey)
        let row = browser.model.cursorRow
        try browser.press("<esc>")
        #expect(browser.model.cursorKey == key && browser.model.cursorRow > row, "\(browser.text)")
    }

    /// The column of a text in the first line that has it.
    private func column(of text: String, _ browser: HeadlessBrowser) -> Int? {
        browser.lines.compactMap { line in
            line.range(of: text).map { line.distance(from: line.startIndex, to: $0.lowerBound) }
        }.first
    }

    @Test("keeps places and widths of columns during refreshes")
    func liveColumnsStay() throws {
        try put(0, ["number": 0, "note": "a long note of many words", "other": 5])
        var browser = try browser("Qfind number <lt> 3 | sort number<enter>", columns: 120)
        let before = ["number", "note", "other"].map { column(of: $0, browser) }
        #expect(!before.contains(nil))
        try browser.press("m")
        #expect(
            ["number", "note", "other"].map { column(of: $0, browser) } == before,
            "the first mark moved columns")
        try put(0, ["other": 7, "number": 0, "note": "x", "more": 1])
        try browser.press("R")
        #expect(["number", "note", "other"].map { column(of: $0, browser) } == before)
        #expect(column(of: "more", browser) != nil)
        try put(0, ["number": 0])
        try browser.press("R")
        #expect(["number", "note", "other"].map { column(of: $0, browser) } == before)
    }

    @Test("aligns groups to the left, and uses separators only in their figures")
    func groupsArePacked() throws {
        for number in 0..<3 { try put(number, ["number": 2026, "amount": 1_234_567]) }
        let browser = try browser(
            "Qfind number = 2026 | group by number | count, sum amount as total<enter>", columns: 120)
        let row = try #require(browser.lines.first { $0.contains("3,703,701") })
        #expect(row.contains("2026") && !row.contains("2,026"))
        #expect(row.trimmingCharacters(in: .whitespaces).count < 40, "\(row)")
    }

    @Test(
        "shows counts and sums with separators",
        arguments: ["count", "group by @tier | count", "group by @tier | count as many | select many"])
    func countsHaveSeparators(query: String) throws {
        for number in 100..<1_700 { try archive.put([0xa0], forKey: "\(number)", encoding: .cbor) }
        let count = try Figures.count(archive.status().entries)
        let browser = try browser("Q\(query)<enter>", columns: 120)
        let hasRow = browser.lines.contains { $0.contains(count) && !$0.contains("read") }
        #expect(count.contains(",") && hasRow, "\(browser.text)")
    }

    @Test("shows durations as in lists, and writes seconds to files")
    func durationsAreAsInLists() throws {
        let path = folder.path + "/idle.csv"
        var browser = try browser("Qselect @key, @idle, @age | limit 1<enter>", columns: 120)
        let row = try #require(browser.lines.first { $0.contains("place 59") })
        #expect(!row.contains("."), "\(row)")
        try browser.press("w\(path)<enter>")
        #expect(try String(contentsOfFile: path, encoding: .utf8).contains("."))
    }

    @Test("names the group of entries without the property")
    func groupOfAbsentPropertyHasName() throws {
        let browser = try browser("Qgroup by address.city | count<enter>", columns: 120)
        #expect(browser.lines.contains { $0.contains("(absent)") && $0.contains("40") })
    }

    @Test("suggests metadata for names without @")
    func metadataWithoutItsSign() throws {
        let completions = QueryPipeline.completions(in: "find own", at: 8, properties: ["number"])
        #expect(completions.map(\.text).contains("@owner"))
        var browser = try browser("Qfind owner = ", columns: 90)
        #expect(browser.text.contains("did you mean @owner?"))
        try browser.press("1<enter>", shows: "did you mean @owner?")
    }

    @Test("suggests names while typing, but none for calculated columns")
    func similarNamesAreSuggested() throws {
        try put(1, ["country": "ID"])
        #expect(try browser("Qfind contry = 5", columns: 90).text.contains("did you mean country?"))
        let counting = try browser("Qgroup by country | count | sort count", columns: 90)
        #expect(!counting.text.contains("did you mean"), "\(counting.text)")
    }

    @Test("reports all unknown names in one line")
    func unknownNamesAreAllNamed() throws {
        let browser = try browser("Qfind agge > 10 and owner = 5", columns: 90)
        #expect(browser.text.contains("no value has agge, owner; did you mean @owner?"), "\(browser.text)")
    }

    @Test("offers no actions on entries for aggregated rows")
    func rowsOfAggregatesHaveNoEntry() throws {
        for number in 0..<3 { try put(number, ["number": 2026]) }
        let browser = try browser("Qgroup by number | count<enter>", columns: 120)
        let footer = try #require(browser.lines.last)
        #expect(!footer.contains("Open") && !footer.contains("Mark"), "\(footer)")
    }

    @Test("hints about queries fit on 80 columns", arguments: ["fnd number = 1", "number <gt><gt> 5"])
    func adviceFits(query: String) throws {
        let browser = try browser("Q" + query, columns: 80)
        guard case .errors(let errors) = QueryPipeline.parse(query.replacing("<gt>", with: ">")),
            let advice = errors.first?.advice
        else { return }
        #expect(browser.text.contains(advice))
    }

    @Test("the example query has a property of the archive, and is labeled as an example")
    func exampleIsOfTheArchive() throws {
        let browser = try browser("Q", columns: 120)
        browser.expect(shows: "for example: find number > ", hides: "population")
    }

    @Test("typing replaces the suggested file name")
    func offeredNameIsReplaced() throws {
        var browser = try browser("Qlimit 2<enter>w", columns: 120)
        #expect(browser.text.contains("Place.ndjson"))
        try browser.press("\(folder.path)/typed.csv<enter>")
        #expect(FileManager.default.fileExists(atPath: folder.path + "/typed.csv"))
    }

    @Test("opens the query of an earlier result for editing")
    func reopenedQueryIsWritten() throws {
        var browser = try browser("Qlimit 2<enter>hQ")
        try browser.press("<ctrl+u>limit 3<enter>", shows: "1 of 3")
    }
}
