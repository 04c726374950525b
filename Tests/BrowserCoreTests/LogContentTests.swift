import ArchiveQuery
import BrowserCore
import Foundation
import StorageEngine
import StoreInspection
import TerminalKit
import Testing

/// Long messages on small terminals, and messages that leave the browser.
struct LogContentTests {
    private let source = Fixture.source()
    private static let sizes = [(80, 24), (40, 12), (120, 30)]
    private static let long =
        "BEGIN " + (1...12).map { "word\($0)" }.joined(separator: " ") + " needle in it and an END"

    private func browser(_ keys: String, _ size: (columns: Int, rows: Int)) throws -> HeadlessBrowser {
        for text in ["first", Self.long, "one\ntwo\nthree"] {
            source.append(text, archive: "Trace", at: Fixture.start)
        }
        return try Fixture.browser(source, columns: size.columns, rows: size.rows, keys: "jj<enter>" + keys)
    }

    /// Whether the rows below each other contain a text that may be cut by line breaks.
    private func shows(_ text: String, _ browser: HeadlessBrowser) -> Bool {
        let lines = browser.lines.map { $0.split(separator: " ").joined() }.joined()
        return lines.contains(text.split(separator: " ").joined())
    }

    @Test("wraps long messages and shows their own line breaks", arguments: sizes)
    func messagesWrap(size: (columns: Int, rows: Int)) throws {
        var browser = try browser("<ctrl+w>", size)
        #expect(browser.lines.contains { $0.contains(" two") && !$0.contains("one") }, "\(browser.text)")
        #expect(browser.text.contains("three"))
        try browser.press("k", shows: "END")
        #expect(browser.model.cursorRow == 1)
        try browser.press("<ctrl+w>")
        #expect(!browser.lines.contains { $0.contains(" two") })
        #expect(!browser.text.contains("END"))
    }

    @Test("a click on any line of a wrapped message selects it")
    func clickSelectsWrappedMessage() throws {
        var browser = try browser("<ctrl+w>", (80, 24))
        let row = try #require(browser.lines.firstIndex { $0.contains("END") })
        #expect(browser.model.cursorRow == 2 && !browser.lines[row].contains("BEGIN"))
        browser.send(.input(.mouse(MouseEvent(kind: .click, at: Point(column: 40, row: row)))))
        #expect(browser.model.cursorRow == 1)
    }

    @Test("the selected message is in view while wrapped messages scroll", arguments: sizes)
    func cursorStaysInView(size: (columns: Int, rows: Int)) throws {
        for number in 0..<30 {
            source.append("\(number)-start " + Self.long, archive: "Trace", at: Fixture.start)
        }
        var browser = try browser("<ctrl+w>g", size)
        for key in "jjjjjjjjjjkkkkkkkkkk" {
            browser.press([.character(key)])
            #expect(shows("\(browser.model.cursorRow)-start", browser), "\(browser.text)")
        }
        try browser.press("<pgdn>")
        #expect(browser.model.cursorRow > 0)
        #expect(shows("\(browser.model.cursorRow)-start", browser), "\(browser.text)")
        try browser.press("G", shows: "three")
    }

    @Test("scrolls messages sideways until their ends", arguments: [(80, 24), (40, 12)])
    func messagesScroll(size: (columns: Int, rows: Int)) throws {
        var browser = try browser("", size)
        #expect(!browser.text.contains("END"))
        for _ in 0..<12 where !browser.text.contains("END") { browser.press([.character(">")]) }
        #expect(browser.text.contains("END") && !browser.text.contains("BEGIN"), "\(browser.text)")
        for _ in 0..<12 where browser.model.said == nil { browser.press([.character(">")]) }
        #expect(browser.model.said != nil)
        for _ in 0..<12 where !browser.text.contains("BEGIN") { browser.press([.character("<")]) }
        #expect(browser.text.contains("BEGIN"))
    }

    @Test("highlights a match in wrapped and scrolled messages", arguments: ["<ctrl+w>", ">>"])
    func matchIsHighlighted(keys: String) throws {
        let browser = try browser("/needle<enter>" + keys, (80, 24))
        let row = try #require(browser.lines.firstIndex { $0.contains("needle") && !$0.contains("filter") })
        let match = browser.frame.cells(of: "needle", row: row).map(\.style)
        let rest = browser.frame.cells(of: "in it", row: row).map(\.style)
        #expect(Set(match).count == 1 && Set(match).isDisjoint(with: rest), "\(browser.text)")
    }

    // MARK: Search

    @Test("a search begins at the selected message while its text is typed, and esc returns there")
    func searchBeginsAtCursor() throws {
        Fixture.addMessages(source)
        var browser = try Fixture.browser(source, columns: 120, keys: "jj<enter>kkkkk")
        let start = browser.model.cursorRow
        try browser.press("fwarning<ctrl+u>panic")
        #expect(browser.model.cursorRow == start - (start - 3) % 6)
        try browser.press("<esc>")
        #expect(browser.model.cursorRow == start)
        try browser.press("gfwarning<enter>")
        #expect(browser.model.cursorRow > 50 && browser.text.contains("wrapped"), "\(browser.text)")
        try browser.press("n", hides: "wrapped")
    }

    // MARK: Files and programs

    private struct Log {
        let folder: EngineSourceTests.Folder
        let store: Store
        var browser: HeadlessBrowser

        init(
            keys: String, columns: Int = 100, rows: Int = 24,
            programs: ProgramTests.Programs = ProgramTests.Programs()
        ) throws {
            folder = EngineSourceTests.Folder()
            store = try Store.open(at: folder.path + "/store")
            let log = try store.archive(
                named: "Trace",
                orCreate: ArchiveConfiguration(kind: .log, diskLimit: 1_000_000, memoryLimit: nil))
            for number in 0..<700 {
                try log.append(Array("\(number) \(number % 7 == 0 ? "warn" : "info")".utf8))
            }
            try log.append(Array(("warn, long " + String(repeating: "x", count: 40_000) + " tail").utf8))
            try log.append(Array("bad ".utf8) + [0xff, 0xfe])
            browser = try Fixture.browser(
                at: folder.path, store: folder.path + "/store", columns: columns, rows: rows,
                clock: { Fixture.start }, keys: "<enter>" + keys, programs: { programs.run($0) })
        }

        mutating func write(_ name: String) throws -> String {
            try browser.press("w<ctrl+u>\(folder.path)/\(name)<enter>")
            return String(
                decoding: try Data(contentsOf: URL(fileURLWithPath: folder.path + "/" + name)), as: UTF8.self)
        }
    }

    @Test("writes the filtered messages as shown, whole and in their order", arguments: [(80, 24), (40, 12)])
    func filteredMessagesAreWritten(size: (columns: Int, rows: Int)) throws {
        var log = try Log(keys: "/warn<enter>", columns: size.0, rows: size.1)
        let lines = try log.write("out.ndjson").split(separator: "\n")
        #expect(lines.count == 101)
        #expect(log.browser.model.said?.hasPrefix("101 messages written to") == true)
        let objects = try lines.map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        #expect(objects[1]["text"] as? String == "7 warn")
        let numbers = objects.compactMap { $0["sequence"] as? Int }
        #expect(numbers.count == 101 && numbers == numbers.sorted())
        #expect((objects[100]["text"] as? String)?.hasSuffix("tail") == true)
        #expect(objects.allSatisfy { $0["time"] as? Double != nil })
    }

    @Test("writes all messages without a filter, as text, CSV and JSON")
    func allMessagesAreWritten() throws {
        var log = try Log(keys: "")
        let text = try log.write("out.log")
        #expect(text.hasPrefix("0 warn\n1 info\n") && text.split(separator: "\n").count == 702)
        let table = try log.write("out.csv").split(separator: "\n")
        #expect(table.count == 703 && table[0] == "sequence,time,text,data" && table[1].hasSuffix(",0 warn,"))
        let array = try JSONSerialization.jsonObject(with: Data(try log.write("out.json").utf8))
        #expect((array as? [Any])?.count == 702)
    }

    @Test("a filter finds the characters of a message that isn't text, which is written as data")
    func bytesAreFound() throws {
        var log = try Log(keys: "/bad<enter>")
        let object = try JSONSerialization.jsonObject(with: Data(try log.write("out.ndjson").utf8))
        let message = try #require(object as? [String: Any])
        #expect(message["data"] as? String == "YmFkIP/+" && message["text"] == nil)
    }

    @Test("a filter selects the match at the selected message, and its end returns to the message")
    func filterStays() throws {
        var browser = try Log(keys: "gjjjjjjjjjj/warn").browser
        #expect(browser.model.cursorRow == 2, "\(browser.text)")
        try browser.press("<esc>")
        #expect(browser.model.cursorRow == 10, "\(browser.text)")
        try browser.press("/nothing<enter><esc>")
        #expect(browser.model.cursorRow == 10, "\(browser.text)")
    }

    @Test("asks before it replaces a file")
    func fileIsNotReplaced() throws {
        var log = try Log(keys: "/warn<enter>")
        _ = try log.write("out.log")
        log.browser.press(try Key.script("<esc>w<ctrl+u>\(log.folder.path)/out.log<enter>"))
        #expect(log.browser.model.isPlanOpen)
        log.browser.press(try Key.script("<tab><enter>"))
        #expect(log.browser.model.said?.hasPrefix("702 messages written to") == true)
    }

    @Test("copies and opens a message that passes the filter", arguments: [(80, 24), (40, 12), (120, 30)])
    func filteredMessageIsCopied(size: (columns: Int, rows: Int)) throws {
        let copied = try browser("/needle<enter>yv", size).copied()
        #expect(copied == Self.long)
    }

    @Test("a pager gets the whole message")
    func pagerGetsWholeMessage() throws {
        let programs = ProgramTests.Programs()
        _ = try Log(keys: "/long<enter>o", programs: programs)
        #expect(programs.last?.content.count == 40_016)
        #expect(programs.last?.content.suffix(4) == ArraySlice("tail".utf8))
    }
}

/// Marked entries that are copied or written.
struct MarkedRowsTests {
    private func browser(_ keys: String, columns: Int = 80, rows: Int = 24) throws -> (
        browser: HeadlessBrowser, folder: EngineSourceTests.Folder
    ) {
        let folder = EngineSourceTests.Folder()
        let store = try Store.open(at: folder.path + "/store")
        let archive = try store.archive(
            named: "City", orCreate: ArchiveConfiguration(diskLimit: 1_000_000, memoryLimit: nil))
        for number in 0..<9 {
            try archive.put(Array("{\"n\":\(number)}".utf8), forKey: "key \(number)", encoding: .json)
        }
        store.close()
        let browser = try Fixture.browser(
            at: folder.path, store: folder.path + "/store", columns: columns, rows: rows,
            clock: { Fixture.start }, keys: keys)
        return (browser, folder)
    }

    @Test("y copies the marked entries", arguments: ["<enter>1", "<enter>Qfind n >= 0 | sort @key<enter>"])
    func marksAreCopied(keys: String) throws {
        #expect(try browser(keys + "gmjmyk").browser.copied().split(separator: "\n").count == 2)
        let rows = try browser(keys + "gMyj").browser.copied().split(separator: "\n")
        #expect(rows.count == 9)
        let first = try JSONSerialization.jsonObject(with: Data(rows[0].utf8)) as? [String: Any]
        #expect((first?["value"] as? [String: Any])?["n"] is Int)
    }

    @Test(
        "w writes the marked entries and states their number",
        arguments: ["<enter>1", "<enter>Qfind n >= 0 | sort @key<enter>"], [(80, 24), (40, 12), (120, 30)])
    func marksAreWritten(keys: String, size: (columns: Int, rows: Int)) throws {
        var (browser, folder) = try browser(keys + "gM", columns: size.columns, rows: size.rows)
        // One is unmarked.
        try browser.press("gmw<ctrl+u>\(folder.path)/out.ndjson<enter>")
        let text = try String(contentsOfFile: folder.path + "/out.ndjson", encoding: .utf8)
        #expect(
            text.split(separator: "\n").count == 8 && text.contains("{\"key\":\"key 4\",\"value\":{\"n\":4}}")
        )
        #expect(browser.model.said?.hasPrefix("8 marked entries written to") == true)
    }
}
