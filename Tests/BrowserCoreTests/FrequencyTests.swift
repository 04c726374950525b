import ArchiveQuery
import BrowserCore
import CBOR
import Foundation
import StorageEngine
import StoreInspection
import TerminalKit
import Testing

struct FrequencyTests {
    /// Cities of which every third is in Japan, and two in no country.
    private let source: MockSource = {
        let source = Fixture.source { state in
            for number in Fixture.keys.indices {
                let country = number % 3 == 0 ? "\"JP\"" : number < 3 ? "null" : "\"ID\""
                let entry = state.archives["City"]?[number].entry.key ?? ""
                state.archives["City"]?[number] = Fixture.record(
                    entry, number: number,
                    bytes: Array("{\"at\":{\"country\":\(country)},\"n\":\(number % 2)}".utf8))
            }
        }
        return source
    }()

    private func browser(_ source: MockSource, _ keys: String) throws -> HeadlessBrowser {
        try Fixture.browser(source, columns: 99, look: Fixture.ascii, keys: "j<enter>p" + keys)
    }

    private func words(_ browser: HeadlessBrowser, _ line: Int) -> [String] {
        browser.lines[line].split(separator: " ").map(String.init)
    }

    @Test func countsValues() throws {
        var browser = try browser(source, "fcountry<enter>")
        #expect(browser.lines[1].contains("3 groups by at.country"), "\(browser.text)")
        #expect(words(browser, 2).prefix(2) == ["at.country", "entries"])
        // The largest first, with its share.
        #expect(words(browser, 3).prefix(2) == ["ID", "8"] && browser.lines[3].contains("50.0%"))
        #expect(words(browser, 4).prefix(2) == ["JP", "6"] && browser.lines[4].contains("37.5%"))
        #expect(browser.lines[5].contains("(no at.country)"))
        try browser.press("c", shows: "groups City --by at.country")
        try browser.press("<enter>j<enter>", on: .entries)
        #expect(browser.lines[1].contains("6 of 16 entries") && browser.lines[1].contains("of at.country JP"))
        // Counts again within the group; Back returns the same way.
        try browser.press("c", shows: "query City 'find at.country = \"JP\"'")
        try browser.press("<enter>fn<enter>")
        #expect(browser.lines[1].contains("2 groups by n") && browser.lines[1].contains("of at.country JP"))
        #expect(words(browser, 3).prefix(2) == ["0", "3"], "\(browser.text)")
        try browser.press("<enter>", row: 1, shows: "3 of 16 entries")
        try browser.press("hh", row: 1, shows: "6 of 16 entries")
        try browser.press("h", row: 1, shows: "3 groups by at.country")
        try browser.press("h", row: 1, shows: " 16 entries")
    }

    @Test("counting values needs confirmation where reads count as accesses; counting metadata doesn't")
    func asksBeforeCounting() throws {
        source.with { $0.countsAccesses = true }
        var browser = try browser(source, "fn<enter>")
        #expect(browser.text.contains("Read all values?"), "\(browser.text)")
        try browser.press("<esc>")
        #expect(browser.model.screen == .entries && source.with { $0.valueCalls } == 0)
        try browser.press("ftier<enter>")
        #expect(browser.model.screen == .groups && source.with { $0.valueCalls } == 0, "\(browser.text)")
        try browser.press("<esc>fn<enter>y", row: 1, shows: "2 groups by n")
        try browser.press("<enter>", row: 1, shows: "8 of 16 entries")
    }

    @Test func countsFilteredEntries() throws {
        var browser = try browser(source, "Wn = 1<enter>fcountry<enter>")
        #expect(browser.lines[1].contains("8 entries") && browser.lines[1].contains("where n = 1"))
        #expect(words(browser, 3).prefix(2) == ["ID", "4"], "\(browser.text)")
        try browser.press("<enter>", row: 1, shows: "4 of 16 entries", "where n = 1")
    }

    @Test func offersSortedColumnFirst() throws {
        source.with { state in
            state.columns = [ChosenColumns(archive: "City", properties: [.named("n")], hidden: [])]
        }
        let browser = try browser(source, "sssssf<enter>")
        #expect(browser.lines[1].contains("2 groups by n"), "\(browser.text)")
    }

    @Test func countsOwnersKindsAndTiers() throws {
        let owners = try browser(source, "fowner<enter>")
        #expect(words(owners, 3).prefix(3) == ["(no", "owner)", "12"], "\(owners.text)")
        let kinds = try Fixture.browser(
            Fixture.source(), columns: 99, look: Fixture.ascii, keys: "<enter>fkind<enter>")
        kinds.expect(shows: "3 groups by kind of value", "PNG image", "empty", "text")
        let tiers = try browser(source, "ftier<enter>")
        #expect(words(tiers, 3).prefix(2) == ["disk", "10"], "\(tiers.text)")
    }

    @Test func countsByTypedExpression() throws {
        let browser = try browser(source, "f@hits - @hits<enter>")
        #expect(words(browser, 3).prefix(2) == ["0", "16"], "\(browser.text)")
        let wrong = try self.browser(source, "f@@<enter>")
        #expect(wrong.text.contains("@@ is not a property"))
        let many = try self.browser(source, "ftags[]<enter>")
        #expect(many.text.contains("An entry can have several tags[]"))
    }

    @Test func deletesGroup() throws {
        var browser = try browser(source, "fcountry<enter>jD")
        #expect(browser.text.contains("Delete 6 entries of group at.country JP?"), "\(browser.text)")
        try browser.press("y")
        #expect(source.with { $0.archives["City"]?.count } == 10)
        #expect(browser.lines[1].contains("2 groups"))
    }

    @Test func reportsUnreadableValues() throws {
        source.with { $0.valueProblems = ["Bandung": "the entry fails its checksum"] }
        let browser = try browser(source, "fcountry<enter>")
        #expect(browser.lines[1].contains("1 unreadable"), "\(browser.text)")
    }

    /// A bounded number of values is kept, and the others are counted.
    @Test func boundsValues() throws {
        let listing = MillionTests.Source(count: EntryGroups.most + 7)
        let groups = EntryGroups(
            listing, keys: nil, by: .property(.metadata(.key)), now: Fixture.start
        ) { (_) throws(Never) in }
        #expect(groups.groups.count == EntryGroups.most && groups.ungrouped == 7)
    }

    /// Regression: with too many groups, a random part of the largest was dropped.
    @Test func keepsLargestGroups() throws {
        // 1,000 groups of 4, spread among 900,000 of one entry.
        let (large, count) = (1_000, 904_000)
        let listing = MillionTests.Source(count: count) { place in
            let number = place * 7_919 % count
            return number < 4 * large ? "large \(number / 4)" : "single \(number)"
        }
        let groups = EntryGroups(
            listing, keys: nil, by: .property(.metadata(.key)), now: Fixture.start
        ) { (_) throws(Never) in }
        #expect(groups.groups.count == EntryGroups.most)
        let found = groups.groups.filter { $0.name.contains("large") }
        #expect(found.count == large)
        #expect(found.reduce(0) { $0 + $1.entries } == 4 * large)
        #expect(groups.entries + groups.ungrouped == listing.count)
    }

    /// Spellings of a number are one group.
    @Test func groupsEqualNumbers() throws {
        source.with { state in
            for (number, text) in ["1", "1.0", "1e0", "2"].enumerated() {
                state.archives["City"]?[number].bytes = Array("{\"n\":\(text),\"x\":\(text)}".utf8)
            }
        }
        let browser = try browser(source, "fx<enter>")
        #expect(browser.lines.contains { $0.split(separator: " ").prefix(2) == ["1", "3"] })
    }
}

/// Frequencies in the result of a query.
extension QueryScreenTests {
    @Test func countsRowsOfResult() throws {
        var browser = try browser("Qfind number > 20<enter>faddress<enter>", columns: 120)
        // No condition can name a map, the type of this column.
        browser.expect(shows: "group by address | count, sum @size as bytes | sort \"count\" desc", "3 rows")
        #expect(browser.lines[4].contains("66.7%"), "\(browser.lines[4])")
        try browser.press("j<enter>", shows: "Can't open: no condition can express this value.")
        try browser.press("i<ctrl+u>find number > 20<enter>faddress.city<enter>")
        #expect(browser.lines[3].split(separator: " ").prefix(3) == ["address.city", "count", "bytes"])
        #expect(browser.lines[4].split(separator: " ").prefix(2) == ["(absent)", "26"], "\(browser.text)")
        try browser.press("j<enter>")
        #expect(
            browser.lines[1].contains("find number > 20 | find address.city = \"Bogor\""),
            "\(browser.lines[1])")
        #expect(browser.text.contains("10 rows"))
        // Rows without the property.
        try browser.press("i<ctrl+u>find number > 20<enter>faddress.city<enter><enter>")
        #expect(browser.lines[1].contains("address.city is null"), "\(browser.lines[1])")
        #expect(browser.text.contains("26 rows"))
    }

    @Test("the shown rows of a filtered result are counted, and esc returns to it with its marks")
    func countsFilteredRows() throws {
        var browser = try browser(
            "Qfind number > 20 | select @key, number, address.city as city<enter>/place 3<enter>mfcity<enter>",
            columns: 120)
        func rows() -> [[Substring]] { browser.lines.map { $0.split(separator: " ") } }
        #expect(rows().contains { $0.prefix(2) == ["(absent)", "6"] }, "\(browser.text)")
        #expect(rows().contains { $0.prefix(2) == ["Bogor", "4"] }, "\(browser.text)")
        try browser.press("j<enter>", shows: "4 rows")
        try browser.press("D")
        #expect(browser.model.planned?.count == 1, "\(browser.text)")
        try browser.press("n<esc>")
        #expect(rows().contains { $0.prefix(2) == ["Bogor", "4"] }, "\(browser.text)")
        try browser.press("<esc>", shows: "filter \"place 3\": 10", "1 marked", "find number > 20 | select")
        // Filter, marks, and the result itself.
        try browser.press("<esc><esc>")
        #expect(browser.model.screen == .query && browser.text.contains("39 rows"))
        try browser.press("<esc>", on: .archives)
    }

    @Test("enter on a group lists its rows, and esc returns to the groups")
    func opensGroups() throws {
        var browser = try browser(
            "Qgroup by @tier, address.city as city | count as many | sort many desc<enter>",
            columns: 120)
        let many = try #require(browser.lines[4].split(separator: " ").last)
        try browser.press("<enter>", shows: "\(many) rows")
        #expect(browser.model.cursorKey != nil)
        try browser.press("<esc>", shows: "| count as many")
        try browser.press("i<ctrl+u>find number > 20 | count<enter><enter>")
        #expect(browser.model.said?.hasPrefix("No value to open") == true)
    }

    @Test("a result is updated after a delete from a count of it")
    func countedResultIsUpdated() throws {
        var browser = try browser("Qfind number > 20<enter>Mfaddress.city<enter>j<enter>", columns: 120)
        #expect(browser.text.contains("10 rows"), "\(browser.text)")
        try browser.press("MDy<esc>", hides: "Bogor")
        try browser.press("<esc>", shows: "29 rows", "29 marked")
    }

    /// Regression: the column of a property `key` had the title of the entries' keys, in tables and files, and `f` counted keys.
    @Test func distinguishesPropertyNamedKey() throws {
        for number in 0..<3 {
            let value = CBORValue.map(["key": .text("same")])
            try archive.put(value.encoded, forKey: "k\(number)", encoding: .cbor)
        }
        let path = folder.path + "/keys.csv"
        var browser = try browser("Qfind key is not null | sort @key<enter>", columns: 120)
        #expect(browser.lines[3].split(separator: " ") == ["key", "key", "2"], "\(browser.lines[3])")
        try browser.press("w<ctrl+u>\(path)<enter>")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "key,key 2\nk0,same\nk1,same\nk2,same\n")
        try browser.press("fkey 2<enter>", shows: "group by key | count")
        #expect(browser.lines[4].split(separator: " ").prefix(2) == ["same", "3"], "\(browser.lines[4])")
    }

    /// Regression: only 16 properties were shown, without a hint.
    @Test func reportsFurtherProperties() throws {
        func wide(_ count: Int) -> CBORValue {
            .map(CBORMap((0..<count).map { .init(key: .text("c\($0)"), value: .unsigned(UInt64($0))) }))
        }
        try archive.put(wide(40).encoded, forKey: "k", encoding: .cbor)
        var browser = try browser("Qfind c39 = 39<enter>", columns: 400)
        #expect(browser.lines[3].split(separator: " ").count == 41, "\(browser.lines[3])")
        #expect(!browser.text.contains("more propert"))
        try archive.put(wide(70).encoded, forKey: "k", encoding: .cbor)
        try browser.press("R")
        #expect(browser.text.contains("1 row, 6 more properties to select"), "\(browser.lines[1])")
    }
}
