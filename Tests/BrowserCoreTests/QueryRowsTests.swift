import BrowserCore
import CBOR
import StorageEngine
import TerminalKit
import Testing

/// Actions on the rows of a result.
extension QueryScreenTests {
    // MARK: Marks

    /// Regression: `D` and `x` applied to all rows.
    @Test func actsOnCursorOrMarkedRows() throws {
        var browser = try browser("Qfind number <lt> 10 | sort number<enter>jD")
        #expect(browser.model.planned?.map(\.key) == ["place 1"])
        try browser.press("<esc>mmD")
        #expect(browser.model.planned?.map(\.key) == ["place 1", "place 2"])
        #expect(browser.text.contains("2 marked"))
        try browser.press("<esc>c")
        let command = CommandLine.words(for: browser.model)
        #expect(command.contains("rm Place 'place 1' 'place 2'"), "\(command)")
        #expect(command.contains("--dry-run"), "\(command)")
        try browser.press("<enter><esc>x")
        #expect(browser.model.screen == .query, "Esc did not only remove the marks")
        #expect(words(browser).contains("Expire 1 entry"))
        try browser.press("<esc>M", shows: "Marked all 10 entries.")
        try browser.press("D")
        #expect(browser.model.planned?.count == 10)
        try browser.press("<esc>-D")
        #expect(browser.model.planned?.map(\.key) == ["place 3"])
        try browser.press("y")
        #expect(try archive.status().entries == 59)
    }

    @Test func marksRowsBeyondShown() throws {
        let many = try store.archive(named: "Many", orCreate: ArchiveConfiguration(diskLimit: 10_000_000))
        for number in 0..<10_050 { try many.put([0xa0], forKey: "\(number)", encoding: .cbor) }
        var browser = try browser("gQ<enter>M", columns: 120)
        #expect(browser.text.contains("Marked all 10,050 entries, 50 of them beyond the rows shown."))
        try browser.press("D")
        #expect(browser.model.planned?.count == 10_050)
        try browser.press("<esc>s", shows: "Sorted only the 10,000 rows shown")
        try browser.press("/99<enter>", shows: "of the rows shown")
    }

    @Test func dropsMarksOutsideResult() throws {
        var browser = try browser("Qfind number <lt> 5 | sort number<enter>mmm", columns: 120)
        try archive.put(CBORValue.map(["number": 99]).encoded, forKey: "place 1", encoding: .cbor)
        try browser.press("R", shows: "Unmarked 1 entry: no longer in the result.")
        try browser.press("D")
        #expect(browser.model.planned?.map(\.key) == ["place 0", "place 2"])
        try browser.press(
            "<esc>i<ctrl+u>limit 2<enter>", shows: "Removed 2 marks of the previous result.", hides: "marked,"
        )
    }

    /// Regression: a row of `distinct` stands for several entries, and a delete removed the first.
    @Test func distinctRowsHaveNoEntry() throws {
        var browser = try browser("Qdistinct address.city | sort address.city<enter>")
        #expect(browser.text.contains("Bogor"), "\(browser.text)")
        for (keys, answer) in [
            ("D", "No entry to delete. The row combines several."),
            ("x", "No entry to expire. The row combines several."),
            ("m", "Nothing to mark: the row combines several entries."),
            ("M", "Nothing to mark: the rows combine several entries."),
            ("<enter>", "No value to open: the row combines several entries."),
            ("o", "No value to open here."),
        ] {
            try browser.press(keys)
            #expect(browser.text.contains(answer), "\(keys): \(browser.text)")
            #expect(browser.model.planned == nil && browser.model.screen == .query)
        }
    }

    // MARK: Order

    @Test func sortsRows() throws {
        var browser = try browser("Qfind number <lt> 12<enter>")
        func column(_ place: Int) -> [String] {
            browser.lines[4..<16].compactMap { line in
                let cells = line.split(separator: " ")
                return cells.indices.contains(place) ? String(cells[place]) : nil
            }
        }
        let own = column(1)
        #expect(CommandLine.lines(for: browser.model).count == 1)
        try browser.press("s")
        #expect(CommandLine.lines(for: browser.model).last?.contains("in the query's order") == true)
        #expect(
            column(1) == ["0", "1", "10", "11", "2", "3", "4", "5", "6", "7", "8", "9"],
            "keys are not sorted as texts")
        try browser.press("s")
        #expect(column(2) == (0..<12).map(String.init), "numbers are sorted as texts")
        #expect(browser.lines[3].contains("number ^"))
        try browser.press("r")
        #expect(column(2) == (0..<12).reversed().map(String.init))
        try browser.press("ss")
        #expect(column(1) == own, "the query's order does not follow the last column")
        let header = try #require(browser.lines[3].range(of: "number"))
        let at = Point(
            column: browser.lines[3].distance(
                from: browser.lines[3].startIndex, to: header.upperBound) - 1, row: 3)
        browser.send(.input(.mouse(MouseEvent(kind: .click, at: at))))
        #expect(column(2) == (0..<12).map(String.init))
        // The cursor stays on its row and opens that entry.
        try browser.press("gr")
        #expect(browser.model.cursorRow == 11 && browser.model.cursorKey == "place 0")
    }

    // MARK: Columns

    @Test func scrollsColumns() throws {
        let members = (0..<12).map { CBORMap.Entry(key: .text("column\($0)"), value: .unsigned(UInt64($0))) }
        try archive.put(CBORValue.map(CBORMap(members)).encoded, forKey: "wide", encoding: .cbor)
        var browser = try browser("Qfind column1 = 1<enter>", columns: 50)
        #expect(browser.lines[3].contains("key") && browser.lines[3].hasSuffix(">"))
        #expect(!browser.text.contains("column11"))
        for _ in 0..<8 { browser.press(try Key.script("<gt>")) }
        #expect(browser.text.contains("column11") && browser.lines[3].contains("<"))
        #expect(browser.lines[4].contains("wide"), "the first column is hidden")
        try browser.press("<gt><gt><gt><gt>", shows: "No more columns to the right.")
        for _ in 0..<12 { browser.press([Key(.left, modifiers: .shift)]) }
        #expect(!browser.lines[3].contains("<") && !browser.text.contains("column11"))
        // Hidden columns leave space for others.
        try browser.press("C", shows: "[x] column0")
        try browser.press("*<end><enter><esc>")
        #expect(browser.lines[3].split(separator: " ") == ["key", "column11"])
    }

    /// Regression: properties absent from the first hundred rows were no columns, and longer numbers were cut.
    @Test func addsColumnsOfLaterRows() throws {
        let many = try store.archive(named: "Many", orCreate: ArchiveConfiguration(diskLimit: 10_000_000))
        for number in 0..<300 {
            var members: [CBORMap.Entry] = [.init(key: "n", value: .unsigned(UInt64(number)))]
            if number == 40 { members.append(.init(key: "rare", value: .unsigned(5))) }
            let value: CBORValue = number == 3 ? .text("no object") : .map(CBORMap(members))
            try many.put(value.encoded, forKey: "key \(number)", encoding: .cbor)
        }
        var browser = try browser("gQ<enter>", columns: 100)
        #expect(browser.lines[3].split(separator: " ") == ["key", "n", "rare", "value"])
        #expect(!browser.text.contains("more propert"))
        try browser.press("sssg")
        #expect(browser.lines[4].split(separator: " ").prefix(4) == ["key", "40", "40", "5"])
        try browser.press("G")
        #expect(browser.lines.contains { $0.contains("key 3 ") && $0.contains("no object") })
        try browser.press("C", shows: "[x] rare")
        browser = try self.browser("gQfind n >= 0 | sort n<enter>G", columns: 100)
        #expect(browser.lines.contains { $0.split(separator: " ").prefix(3) == ["key", "299", "299"] })
    }

    /// Regression: names equal but for their bytes shared a column with the first one's value.
    @Test func distinguishesNamesByBytes() throws {
        let values: [CBORValue] = [["\u{e9}": 7], ["e\u{301}": 5], ["\u{e9}": 7, "e\u{301}": 2]]
        for (number, value) in values.enumerated() {
            try archive.put(value.encoded, forKey: "accent \(number)", encoding: .cbor)
        }
        let query = "find @key starts with \"accent\" | sort @key<enter>"
        var browser = try Fixture.browser(
            at: folder.path, store: folder.path + "/store", columns: 90, rows: 24, look: Fixture.unicode,
            keys: "Q" + query)
        #expect(browser.lines[3].split(separator: " ") == ["key", "é", "é", "2"])
        let cells = browser.lines[4...6].map { Array($0.split(separator: " ").dropFirst(2)) }
        #expect(cells == [["7"], ["5"], ["7", "2"]], "\(browser.text)")
        // The second has three values, the first two.
        try browser.press("f<down><enter>", shows: " 3 rows ")
        // Each can be hidden separately.
        try browser.press("i<ctrl+u>\(query)C<down><enter><esc>")
        #expect(browser.lines[3].split(separator: " ") == ["key", "é"], "\(browser.text)")
    }

    // MARK: Age

    @Test func showsAgeAndChanges() throws {
        let clock = TestClock()
        var browser = try browser("Qfind number <lt> 5 | sort number<enter>", columns: 110, clock: clock)
        #expect(browser.lines[0].hasSuffix("updated 0s ago"))
        clock.advance(12, refreshing: &browser)
        #expect(browser.lines[0].hasSuffix("updated 12s ago") && !browser.lines[0].contains("live"))
        #expect(!browser.text.contains("since"))
        try archive.put(CBORValue.map(["number": 3]).encoded, forKey: "place 1", encoding: .cbor)
        _ = try archive.delete("place 2")
        browser.refresh()
        #expect(browser.text.contains("1 changed, 1 removed since"))
        #expect(browser.lines[5].hasPrefix("~ place 1") && browser.lines[6].hasPrefix("x place 2"))
        try browser.press("j", shows: "place 1  1 changed, 1 removed since; R runs the query again")
        try browser.press("R")
        #expect(browser.lines[0].hasSuffix("updated 0s ago") && !browser.text.contains("since"))
        #expect(browser.model.cursorKey == "place 1", "the cursor left its key")
    }

    @Test("a plan leaves out marked rows that are shown as removed")
    func plansPresentRows() throws {
        let clock = TestClock()
        var browser = try browser(
            "Qfind number <lt> 3 | sort number<enter>M", columns: 110, clock: clock)
        _ = try archive.delete("place 2")
        clock.advance(12, refreshing: &browser)
        #expect(browser.text.contains("1 removed since"))
        try browser.press("D")
        #expect(browser.model.planned?.map(\.key) == ["place 0", "place 1"])
    }

    @Test func refreshesAutomatically() throws {
        let clock = TestClock()
        var browser = try browser("Qcount<enter>a", columns: 110, clock: clock)
        #expect(browser.text.contains("refreshing every 1s"))
        _ = try archive.delete("place 7")
        clock.advance(0.5, refreshing: &browser)
        #expect(browser.lines[4].contains("60"))
        clock.advance(0.6, refreshing: &browser)
        #expect(browser.lines[4].contains("59") && browser.lines[0].hasSuffix("updated 0s ago"))
        // Not while the query is edited.
        try browser.press("i")
        _ = try archive.delete("place 8")
        clock.advance(5, refreshing: &browser)
        #expect(browser.lines[4].contains("59"))
        try browser.press("<esc>aaa", hides: "refreshing every")
        try browser.press("i<up>")
        #expect(browser.lines[1].contains("count"), "automatic refreshes are in the history")
        try browser.press("<esc>a", shows: "refreshing every 1s")
        try browser.press("i<ctrl+u>limit 3<enter>")
        #expect(!browser.text.contains("refreshing every"), "another query refreshes automatically")
    }
}
