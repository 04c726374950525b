import ArchiveQuery
import BrowserCore
import CBOR
import Foundation
import StorageEngine
import StoreInspection
import TerminalKit
import Testing

/// How frequent the values of a column are.
struct FrequencyTests {
    /// Cities of which every third is in Japan, and two in no country.
    private func source() -> MockSource {
        let source = Fixture.source()
        source.with { state in
            for number in Fixture.keys.indices {
                let country = number % 3 == 0 ? "\"JP\"" : number < 3 ? "null" : "\"ID\""
                let entry = state.archives["City"]?[number].entry.key ?? ""
                state.archives["City"]?[number] = Fixture.record(
                    entry, number: number,
                    bytes: Array("{\"at\":{\"country\":\(country)},\"n\":\(number % 2)}".utf8))
            }
        }
        return source
    }

    private func browser(_ source: MockSource, _ keys: String) throws -> HeadlessBrowser {
        try Fixture.browser(source, columns: 99, look: Fixture.ascii, keys: "j<enter>p" + keys)
    }

    private func lines(_ browser: HeadlessBrowser) -> [String] {
        browser.frame.plainText.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    private func words(_ browser: HeadlessBrowser, _ line: Int) -> [String] {
        lines(browser)[line].split(separator: " ").map(String.init)
    }

    @Test func countsTheValuesOfAProperty() throws {
        let source = source()
        var browser = try browser(source, "fcountry<enter>")
        #expect(lines(browser)[1].contains("3 groups by at.country"), "\(browser.frame.plainText)")
        #expect(words(browser, 2).prefix(2) == ["at.country", "entries"])
        // The largest first, with its share of the entries.
        #expect(words(browser, 3).prefix(2) == ["ID", "8"] && lines(browser)[3].contains("50.0%"))
        #expect(words(browser, 4).prefix(2) == ["JP", "6"] && lines(browser)[4].contains("37.5%"))
        #expect(lines(browser)[5].contains("(no at.country)"))
        browser.press(try Key.script("c"))
        #expect(browser.frame.plainText.contains("groups City --by at.country"))
        browser.press(try Key.script("<enter>j<enter>"))
        #expect(browser.model.screen == .entries)
        #expect(
            lines(browser)[1].contains("6 of 16 entries") && lines(browser)[1].contains("of at.country JP"))
        // And further, among these; the way back is the same.
        browser.press(try Key.script("c"))
        #expect(
            browser.frame.plainText.contains("query City 'find at.country = \"JP\"'"),
            "\(browser.frame.plainText)")
        browser.press(try Key.script("<enter>fn<enter>"))
        #expect(lines(browser)[1].contains("2 groups by n") && lines(browser)[1].contains("of at.country JP"))
        #expect(words(browser, 3).prefix(2) == ["0", "3"], "\(browser.frame.plainText)")
        browser.press(try Key.script("<enter>"))
        #expect(lines(browser)[1].contains("3 of 16 entries"), "\(browser.frame.plainText)")
        browser.press(try Key.script("hh"))
        #expect(lines(browser)[1].contains("6 of 16 entries"))
        browser.press(try Key.script("h"))
        #expect(lines(browser)[1].contains("3 groups by at.country"), "\(browser.frame.plainText)")
        browser.press(try Key.script("h"))
        #expect(lines(browser)[1].contains(" 16 entries"))
    }

    /// What is filtered is counted as it is shown.
    @Test func countsWhatIsShown() throws {
        var browser = try browser(source(), "Wn = 1<enter>fcountry<enter>")
        #expect(lines(browser)[1].contains("8 entries") && lines(browser)[1].contains("where n = 1"))
        #expect(words(browser, 3).prefix(2) == ["ID", "4"], "\(browser.frame.plainText)")
        browser.press(try Key.script("<enter>"))
        #expect(lines(browser)[1].contains("4 of 16 entries"))
        #expect(lines(browser)[1].contains("where n = 1"), "\(lines(browser)[1])")
    }

    @Test func offersTheColumnThatSortsFirst() throws {
        let source = source()
        source.with { state in
            state.columns = [
                ChosenColumns(archive: "City", properties: [.named("n")], hidden: [])
            ]
        }
        let browser = try browser(source, "sssssf<enter>")
        #expect(lines(browser)[1].contains("2 groups by n"), "\(browser.frame.plainText)")
    }

    @Test func countsOwnersKindsAndTiers() throws {
        let owners = try browser(source(), "fowner<enter>")
        #expect(words(owners, 3).prefix(3) == ["(no", "owner)", "12"], "\(owners.frame.plainText)")
        let kinds = try Fixture.browser(
            Fixture.source(), columns: 99, look: Fixture.ascii, keys: "<enter>fkind<enter>")
        let text = kinds.frame.plainText
        #expect(text.contains("3 groups by kind of value"), "\(text)")
        #expect(text.contains("PNG image") && text.contains("empty") && text.contains("text"))
        let tiers = try browser(source(), "ftier<enter>")
        #expect(words(tiers, 3).prefix(2) == ["disk", "10"], "\(tiers.frame.plainText)")
    }

    @Test func takesWhatIsTyped() throws {
        let browser = try browser(source(), "f@hits - @hits<enter>")
        #expect(words(browser, 3).prefix(2) == ["0", "16"], "\(browser.frame.plainText)")
        let wrong = try self.browser(source(), "f@@<enter>")
        #expect(wrong.frame.plainText.contains("@@ is not a property"))
        let many = try self.browser(source(), "ftags[]<enter>")
        #expect(many.frame.plainText.contains("An entry has many tags[]"))
    }

    @Test func aGroupIsDeletedByPlan() throws {
        let source = source()
        var browser = try browser(source, "fcountry<enter>jD")
        #expect(browser.frame.plainText.contains("Delete 6 entries?"), "\(browser.frame.plainText)")
        browser.press(try Key.script("y"))
        #expect(source.with { $0.archives["City"]?.count } == 10)
        #expect(lines(browser)[1].contains("2 groups"))
    }

    @Test func whatCantBeReadIsSaid() throws {
        let source = source()
        source.with { $0.valueProblems = ["Bandung": "the entry fails its checksum"] }
        let browser = try browser(source, "fcountry<enter>")
        #expect(lines(browser)[1].contains("1 unreadable"), "\(browser.frame.plainText)")
    }

    /// So many different values are kept, and what is beyond them is counted.
    @Test func manyValuesAreBounded() throws {
        let listing = MillionTests.Source(count: EntryGroups.most + 7)
        let groups = EntryGroups(
            listing, keys: nil, by: .property(.metadata(.key)), now: Fixture.start
        ) { (_) throws(Never) in }
        #expect(groups.groups.count == EntryGroups.most && groups.ungrouped == 7)
    }

    /// What broke: the largest groups were left out where there were many more than are kept, others in each run.
    @Test func theLargestOfManyAreKept() throws {
        // 1,000 groups of 4, spread among 900,000 of one entry: more than one pass can count.
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

    /// Numbers are one group however they are written.
    @Test func equalNumbersAreOneGroup() throws {
        let source = source()
        source.with { state in
            for (number, text) in ["1", "1.0", "1e0", "2"].enumerated() {
                state.archives["City"]?[number].bytes = Array("{\"n\":\(text),\"x\":\(text)}".utf8)
            }
        }
        let browser = try browser(source, "fx<enter>")
        #expect(lines(browser).contains { $0.split(separator: " ").prefix(2) == ["1", "3"] })
    }
}

/// The same of a query's result, on a real store.
extension QueryScreenTests {
    @Test func countsTheRowsOfAResult() throws {
        var browser = try browser("Qfind number > 20<enter>faddress<enter>", columns: 120)
        // The column is one of maps, which no condition names.
        #expect(
            browser.frame.plainText.contains(
                "group by address | count, sum @size as bytes | sort \"count\" desc")
        )
        #expect(browser.frame.plainText.contains("3 rows"), "\(browser.frame.plainText)")
        #expect(lines(browser)[4].contains("66.7%"), "\(lines(browser)[4])")
        browser.press(try Key.script("j<enter>"))
        #expect(browser.frame.plainText.contains("Can't open: no condition can express this value."))
        browser.press(try Key.script("i<ctrl+u>find number > 20<enter>faddress.city<enter>"))
        #expect(lines(browser)[3].split(separator: " ").prefix(3) == ["address.city", "count", "bytes"])
        #expect(
            lines(browser)[4].split(separator: " ").prefix(2) == ["(absent)", "26"],
            "\(browser.frame.plainText)")
        browser.press(try Key.script("j<enter>"))
        #expect(
            lines(browser)[1].contains("find number > 20 | find address.city = \"Bogor\""),
            "\(lines(browser)[1])")
        #expect(browser.frame.plainText.contains("10 rows"))
        // Those that have none.
        browser.press(try Key.script("i<ctrl+u>find number > 20<enter>faddress.city<enter><enter>"))
        #expect(lines(browser)[1].contains("address.city is null"), "\(lines(browser)[1])")
        #expect(browser.frame.plainText.contains("26 rows"))
    }

    /// What broke: the column of a property `key` had the name of the entries' keys, in the table and in files, and `f` counted
    /// these.
    @Test func aPropertyMayBeCalledKey() throws {
        for number in 0..<3 {
            let value = CBORValue.map(["key": .text("same")])
            try archive.put(value.encoded, forKey: "k\(number)", encoding: .cbor)
        }
        let path = folder.path + "/keys.csv"
        var browser = try browser("Qfind key is not null | sort @key<enter>", columns: 120)
        #expect(lines(browser)[3].split(separator: " ") == ["key", "key", "2"], "\(lines(browser)[3])")
        browser.press(try Key.script("w<ctrl+u>\(path)<enter>"))
        #expect(
            try String(contentsOfFile: path, encoding: .utf8)
                == "key,key 2\nk0,same\nk1,same\nk2,same\n")
        browser.press(try Key.script("fkey 2<enter>"))
        #expect(browser.frame.plainText.contains("group by key | count"), "\(browser.frame.plainText)")
        #expect(lines(browser)[4].split(separator: " ").prefix(2) == ["same", "3"], "\(lines(browser)[4])")
    }

    /// What broke: entries had 16 properties at most, and nothing said that there were more.
    @Test func aResultHasManyColumnsAndSaysWhatElseThereIs() throws {
        func wide(_ count: Int) -> CBORValue {
            .map(CBORMap((0..<count).map { .init(key: .text("c\($0)"), value: .unsigned(UInt64($0))) }))
        }
        try archive.put(wide(40).encoded, forKey: "k", encoding: .cbor)
        var browser = try browser("Qfind c39 = 39<enter>", columns: 400)
        #expect(lines(browser)[3].split(separator: " ").count == 41, "\(lines(browser)[3])")
        #expect(!browser.frame.plainText.contains("more propert"))
        try archive.put(wide(70).encoded, forKey: "k", encoding: .cbor)
        browser.press(try Key.script("R"))
        #expect(
            browser.frame.plainText.contains("1 row, 6 more properties to select"), "\(lines(browser)[1])")
    }
}
