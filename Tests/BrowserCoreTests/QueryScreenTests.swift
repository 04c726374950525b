import BrowserCore
import CBOR
import Foundation
import StorageEngine
import TerminalKit
import Testing

/// The screen of queries on a real store: 60 entries with a number, every third of them with a city.
struct QueryScreenTests {
    let folder: EngineSourceTests.Folder
    let store: Store
    let archive: StorageEngine.Archive

    init() throws {
        folder = EngineSourceTests.Folder()
        store = try Store.open(at: folder.path + "/store")
        archive = try store.archive(named: "Place", orCreate: ArchiveConfiguration(diskLimit: 100_000))
        for number in 0..<60 {
            var members: [CBORMap.Entry] = [.init(key: "number", value: .unsigned(UInt64(number)))]
            if number % 3 == 0 {
                let address: CBORValue = ["city": .text(number < 30 ? "東京" : "Bogor")]
                members.append(.init(key: "address", value: address))
            }
            try archive.put(
                CBORValue.map(CBORMap(members)).encoded, forKey: "place \(number)", encoding: .cbor)
        }
    }

    func browser(
        _ keys: String, columns: Int = 90, rows: Int = 24, clock: TestClock? = nil
    ) throws -> HeadlessBrowser {
        var moment: @Sendable () -> Timestamp = { Timestamp.now() }
        if let clock { moment = clock.function }
        return try Fixture.browser(
            at: folder.path, store: folder.path + "/store", columns: columns, rows: rows, clock: moment,
            keys: keys)
    }

    /// The words on the screen without borders, as a dialog wraps its lines.
    func words(_ browser: HeadlessBrowser) -> String {
        browser.text.split { $0.isWhitespace || $0 == "|" }.joined(separator: " ")
    }

    /// The words without spaces, as the store's path decides where a command is wrapped, also within words.
    func unwrapped(_ browser: HeadlessBrowser) -> String { words(browser).filter { $0 != " " } }

    /// Regression: the line for screen readers didn't report a query without matches.
    @Test func reportsNoMatches() throws {
        var browser = try browser("<enter>Q")
        var speaker = AccessibilityOutput()
        _ = speaker.lines(browser.model, browser.frame)
        try browser.press("find number > 100<enter>")
        let said = speaker.lines(browser.model, browser.frame)
        #expect(said.contains { $0.contains("No entry of Place matches") }, "\(said)")
        #expect(speaker.typing == nil, "keys are still inserted into the query")
        #expect(speaker.lines(browser.model, browser.frame).isEmpty)
    }

    /// Regression: a result appeared under another store's archive of the same name, and a delete removed unseen entries there:
    /// stores filled alike have equal sequence numbers.
    @Test func resultBelongsToItsStore() throws {
        let other = try Store.open(at: folder.path + "/twin")
        defer { other.close() }
        let twin = try other.archive(named: "Place", orCreate: ArchiveConfiguration(diskLimit: 100_000))
        for number in 0..<60 { try twin.put([0xa0], forKey: "place \(number)", encoding: .cbor) }
        var browser = try Fixture.browser(at: folder.path, store: nil, columns: 90, rows: 24)
        try browser.press("<enter>Qfind number > 56<enter>", shows: "3 rows  read 60 entries")
        try browser.press("hhj<enter>", shows: "vellum > 2:twin")
        try browser.press("Q", hides: "3 rows")
        try browser.press("D")
        #expect(browser.model.planned == nil)
    }

    /// Regression: the query made of a filter became invalid when text was appended.
    @Test func filterBecomesQuery() throws {
        var browser = try browser("<enter>/place 1<enter>Qsort number desc | limit 2<enter>")
        #expect(
            browser.lines[1].contains("find @key icontains \"place 1\" | sort number desc | limit 2"),
            "\(browser.text)")
        #expect(browser.lines[4].contains("place 19") && browser.lines[5].contains("place 18"))
        // It also runs unchanged.
        browser = try self.browser("<enter>/place 1<enter>Q<enter>")
        #expect(browser.text.contains("11 rows "), "\(browser.text)")
        #expect(!browser.lines[1].contains("| "), "\(browser.lines[1])")
        #expect(CommandLine.words(for: browser.model).hasSuffix(" Place 'find @key icontains \"place 1\"'"))
        #expect(try self.browser("<enter>/!place 1<enter>Q<enter>").text.contains("49 rows "))
        #expect(try self.browser("<enter>/^place 1$<enter>Q<enter>").text.contains("1 row "))
    }

    @Test func runsQueryAndOpensValue() throws {
        var browser = try browser("Qfind number > 56 | sort number desc<enter>")
        #expect(browser.text.contains("3 rows  read 60 entries"))
        #expect(browser.lines[3].split(separator: " ") == ["key", "number", "address"])
        #expect(browser.lines[4].split(separator: " ") == ["place", "59", "59"])
        try browser.press("j<enter>", shows: "number: 58")
        try browser.press("<esc>")
        #expect(browser.model.screen == .query && browser.model.cursorRow == 1)
        try browser.press("h", on: .archives)
        try browser.press("Q")
        #expect(browser.text.contains("3 rows  read 60 entries"), "the result was lost")
    }

    @Test func columnsFollowQuery() throws {
        let text = try browser("Qfind address.city is not null and @size > 5 | limit 2<enter>").lines
        #expect(text[3].split(separator: " ") == ["key", "address.city", "@size", "number"])
        #expect(text[4].split(separator: " ") == ["place", "57", "Bogor", "30", "B", "57"])
        let sums = try browser("Qgroup by address.city | sum number<enter>").lines
        #expect(sums[3].split(separator: " ") == ["address.city", "sum"])
        #expect(
            sums[4].split(separator: " ") == ["Bogor", "435"]
                && sums[5].split(separator: " ") == ["\\u{6771}\\u{4eac}", "135"])
    }

    @Test func completesProperties() throws {
        var browser = try browser("Qfi")
        #expect(browser.lines[3].contains("find"))
        try browser.press("<tab>nu<tab>> 57<enter>")
        #expect(browser.lines[1].hasPrefix("query find number > 57"))
        #expect(browser.text.contains("2 rows"))
        browser = try self.browser("Qfind address.c<tab>")
        #expect(browser.lines[1].hasSuffix("find address.city"))
        // Tab and Shift-Tab cycle through completions.
        browser = try self.browser("Qs<tab>")
        #expect(browser.lines[1].hasSuffix("query sort"))
        try browser.press("<tab>")
        #expect(["query skip", "query select", "query sum"].contains(browser.lines[1]))
        try browser.press("<backtab>")
        #expect(browser.lines[1] == "query sort")
    }

    @Test func marksErrors() throws {
        let browser = try browser("Qfind number > 3 | srot number")
        let text = browser.text
        #expect(text.contains("character 19: found \"srot\""))
        let style = { (column: Int) in browser.frame[column, 1].style }
        #expect(style(6 + 18) == style(6 + 21) && style(6 + 18) != style(6 + 16))
        var asked = browser
        try asked.press("<enter>", shows: "character 19: found \"srot\"")
        #expect(asked.frame.cursor == Point(column: 6 + 18, row: 1))
        // An incomplete query isn't a mistake.
        let unfinished = try self.browser("Qfind number >")
        unfinished.expect(shows: "Expected next: a number", hides: "found")
    }

    @Test func remembersQueries() throws {
        var browser = try browser("Qlimit 1<enter>i<ctrl+u>limit 2<enter>i<ctrl+u>lim")
        func line() -> String { String(browser.lines[1].dropFirst(6).trimmingCharacters(in: .whitespaces)) }
        #expect(line() == "lim")
        try browser.press("<up>")
        #expect(line() == "limit 2")
        try browser.press("<up>")
        #expect(line() == "limit 1")
        try browser.press("<up>")
        #expect(line() == "limit 1")
        try browser.press("<down><down>")
        #expect(line() == "lim")
    }

    @Test func changesOnlyFoundEntries() throws {
        var browser = try browser("Qfind number <lt> 10 | sort number<enter>MD")
        #expect(browser.model.planned?.map(\.key) == (0..<10).map { "place \($0)" })
        // One is replaced after it was found, and may no longer match.
        try archive.put(CBORValue.map(["number": 99]).encoded, forKey: "place 4", encoding: .cbor)
        try browser.press("y", shows: "Deleted 9 entries", "place 4")
        #expect(try archive.status().entries == 51)
        try browser.press("<enter>")
        #expect(browser.text.contains("0 rows"), "the result was not refreshed")
        try browser.press("uy")
        #expect(try archive.status().entries == 60)
        #expect(try archive.peek("place 0") != nil)
        try browser.press("i<ctrl+u>find number = 20<enter>x<down><enter>y")
        #expect(try archive.peek("place 20") == nil)
        // Aggregated rows have nothing to delete.
        try browser.press("i<ctrl+u>count<enter>D")
        #expect(!browser.model.isPlanOpen)
        #expect(browser.text.contains("The row combines several."))
    }

    @Test func writesFilesAndAsksToReplace() throws {
        let path = folder.path + "/out"
        var browser = try browser(
            "Qfind number in [0, 1] | sort number<enter>w<ctrl+u>\(path).ndjson<enter>", columns: 160)
        #expect(browser.text.contains("2 rows written to"))
        #expect(
            try String(contentsOfFile: path + ".ndjson", encoding: .utf8)
                == """
                {"key":"place 0","value":{"number":0,"address":{"city":"東京"}}}
                {"key":"place 1","value":{"number":1}}

                """)
        // Regression: a .json file had an object per line, which isn't JSON.
        try browser.press("w<ctrl+u>\(path).json<enter>")
        let array = try JSONSerialization.jsonObject(
            with: Data(contentsOf: URL(fileURLWithPath: path + ".json")))
        #expect((array as? [[String: Any]])?.map { $0["key"] as? String } == ["place 0", "place 1"])
        try browser.press("w<ctrl+u>\(path).csv<enter>")
        #expect(
            try String(contentsOfFile: path + ".csv", encoding: .utf8)
                == "key,number,address\nplace 0,0,\"{\"\"city\"\":\"\"東京\"\"}\"\nplace 1,1,\n"
        )
        try "old".write(toFile: path + ".csv", atomically: true, encoding: .utf8)
        try browser.press("w<ctrl+u>\(path).csv<enter>")
        #expect(
            words(browser).contains("Replace the file?")
                && words(browser).contains("Its contents will be lost."))
        try browser.press("<enter>", shows: "Nothing was written.")
        #expect(
            try String(contentsOfFile: path + ".csv", encoding: .utf8) == "old", "the default is not Cancel")
        try browser.press("w<ctrl+u>\(path).csv<enter><tab><enter>", shows: "2 rows written to")
        #expect(try String(contentsOfFile: path + ".csv", encoding: .utf8).hasPrefix("key,number,address\n"))
        try browser.press("w<ctrl+u>\(folder.path)/none/x<enter>", shows: "Writing failed")
    }

    /// Regression: cells were cut as on the screen, and quotes and commas with a combining mark weren't escaped.
    @Test func filesAreCompleteAndQuotedByBytes() throws {
        let path = folder.path + "/whole"
        let long = String(repeating: "x", count: 1000)
        let texts = ["b,\u{301}": "b", "a\"\u{301}": "a"]
        for (text, key) in texts {
            let value: CBORValue = ["text": .text(text), "long": .text(long)]
            try archive.put(value.encoded, forKey: key, encoding: .cbor)
        }
        for number in 60..<300 {
            try archive.put(
                CBORValue.map(["number": .unsigned(UInt64(number))]).encoded, forKey: "place \(number)",
                encoding: .cbor)
        }
        var browser = try browser("Qfind text is not null or number >= 0 | sort @key<enter>", columns: 160)
        try browser.press("w<ctrl+u>\(path).csv<enter>")
        let file = try String(contentsOfFile: path + ".csv", encoding: .utf8)
        let lines = file.utf8.split(separator: UInt8(ascii: "\n")).map { String($0) ?? "" }
        #expect(lines.count == 1 + 302)
        #expect(lines[0] == "key,text,long,number,address")
        #expect(lines[1].utf8.elementsEqual("a,\"a\"\"\u{301}\",\(long),,".utf8))
        #expect(lines[2].utf8.elementsEqual("b,\"b,\u{301}\",\(long),,".utf8))
        #expect(lines[3] == #"place 0,,,0,"{""city"":""東京""}""# && lines[302] == "place 99,,,99,")
        try browser.press("w<ctrl+u>\(path).tsv<enter>")
        let tabs = try String(contentsOfFile: path + ".tsv", encoding: .utf8)
        #expect(
            tabs.hasPrefix(
                "key\ttext\tlong\tnumber\taddress\na\ta\"\u{301}\t\(long)\t\t\nb\tb,\u{301}\t\(long)\t\t\n"
            ))
    }

    @Test func explainsQueryAndShowsSwift() throws {
        var browser = try browser("Qfind number > 50 | sort number | limit 3<enter>X", columns: 160, rows: 40)
        let text = browser.text
        #expect(words(browser).contains("source all entries, in storage order"))
        // Each stage with its share of time and its rows.
        let rows = text.split(separator: "\n")
        let steps = ["list of the entries", "find number > 50", "sort number", "limit 3"]
        let passed = ["60 entries", "9 rows", "3 rows", "3 rows"]
        for (step, amount) in zip(steps, passed) {
            let place = try #require(
                rows.firstIndex { $0.contains("  \(step) ") && $0.contains("|") && !$0.contains("query") })
            #expect(rows[place + 1].contains("v \(amount)"), "\(rows[place + 1])")
        }
        #expect(rows.contains { $0.contains("################  ") })
        // The remaining time, so that the shares add up.
        #expect(rows.contains { $0.contains("  reading entries and processing rows") })
        try browser.press("<enter>S", shows: "archive.number(.greater(than: 50))")
        try browser.press("<enter>c")
        #expect(unwrapped(browser).contains("queryPlace'findnumber>50sortnumberlimit3'"))
    }

    /// Regression: the second line of a long query was below its label.
    @Test func indentsLongQuery() throws {
        let conditions = (3..<8).map { "number > \($0)" }.joined(separator: " and ")
        let rows = try browser("Qfind \(conditions)<enter>X", columns: 60).lines
        let place = try #require(rows.firstIndex { $0.contains("query       find") }, "\(rows)")
        let (first, second) = (rows[place].drop { $0 != "|" }, rows[place + 1].drop { $0 != "|" })
        let beside = first.distance(
            from: first.startIndex, to: try #require(first.range(of: "find")).lowerBound)
        #expect(second.dropFirst().prefix(beside - 1).allSatisfy { $0 == " " }, "\(second)")
        #expect(second.dropFirst(beside).first != " ", "\(second)")
    }

    @Test func refusesInvalidQueries() throws {
        var browser = try browser("Qfind name matches \"(\"<enter>")
        #expect(browser.text.contains("not a regular expression"))
        #expect(browser.model.screen == .query)
        _ = try store.archive(named: "Z", orCreate: ArchiveConfiguration(kind: .log, diskLimit: 10_000))
        browser = try self.browser("GQ")
        #expect(browser.model.screen == .archives)
        #expect(browser.text.contains("Logs can't be queried"))
    }

    @Test func queriesChangeNothing() throws {
        let before = try archive.entries().map { $0.recency }
        var status = try archive.status()
        let browser = try browser("Qfind number > 3 | sort number<enter>jj<enter><esc>e<enter>RhQ<esc>")
        #expect(browser.text.contains("accesses 0, writes 0"))
        #expect(try archive.entries().map { $0.recency } == before)
        var after = try archive.status()
        (status.footprint, after.footprint) = (0, 0)
        #expect(after == status)
    }

    @Test(arguments: [(20, 5), (40, 10), (80, 24), (200, 60)])
    func fitsEverySize(columns: Int, rows: Int) throws {
        for keys in ["Q", "Qfind ", "Qfind number > 3 | sort number<enter>", "Q<enter>X", "Q<enter>w"] {
            let text = try browser(keys, columns: columns, rows: rows).lines
            #expect(text.count >= rows - 1 && text.allSatisfy { TextWidth.width(of: $0) <= columns })
        }
        let text = try browser("Qfind address.city = \"東京\"<enter>", columns: columns, rows: rows).frame
            .plainText
        #expect(text.contains("place 27"))
    }
}
