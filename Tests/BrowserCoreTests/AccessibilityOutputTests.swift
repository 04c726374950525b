import BrowserCore
import StorageEngine
import TerminalKit
import Testing

/// Lines for screen readers.
struct AccessibilityOutputTests {
    private var speaker = AccessibilityOutput()
    private var browser: HeadlessBrowser
    private let source = Fixture.source()

    init() throws { browser = try Fixture.browser(source) }

    private mutating func said(_ keys: String = "") throws -> [String] {
        try browser.press(keys)
        return speaker.lines(browser.model, browser.frame)
    }

    @Test mutating func announcesPlacesAndRowsOnce() throws {
        let first = try said()
        #expect(first.first == "archives: demo; ? lists the keys")
        #expect(first.contains { $0.hasPrefix("3 archives, ") })
        #expect(
            first.last?.hasPrefix("Blob, kind collection, entries ") == true
                && first.last?.hasSuffix("1 of 3") == true)
        #expect(try said().isEmpty)
        let city = try said("j")
        #expect(city.count == 1 && city[0].hasPrefix("City, kind cache, ") && city[0].hasSuffix("; 2 of 3"))
        let entries = try said("<enter>")
        #expect(entries.first == "entries: demo City; ? lists the keys")
        let row = try #require(entries.last)
        #expect(row.contains(", size ") && row.contains(", idle ") && row.contains("; 1 of "))
        #expect(try said("mk").last?.contains(", marked; ") == true)
        #expect(try said("h").first?.hasPrefix("archives: ") == true)
    }

    @Test mutating func announcesDialogs() throws {
        _ = try said("j<enter>")
        let plan = try said("D")
        #expect(plan.first?.contains("Delete") == true, "\(plan)")
        #expect(plan.last == "button Cancel")
        #expect(plan.contains { $0.contains("in City") })
        #expect(try said("<tab>") == ["button Delete"])
        #expect(try said("<esc>").last?.contains("; 1 of ") == true, "the row was not announced")
        let menu = try said("y")
        #expect(menu.first == "Copy" && menu.last?.hasPrefix("k: the key, ") == true)
        #expect(try said("<down>").first?.hasPrefix("v: the value") == true)
        let help = try said("<esc>?")
        #expect(help.first == "Help: entries" && help.count == 2)
        #expect(speaker.typing?.label == "> ")
    }

    @Test mutating func typedTextHasSeparateLine() throws {
        _ = try said("j<enter>/jak")
        #expect(speaker.typing?.text == "jak")
        _ = try said("<enter>")
        #expect(speaker.typing == nil)
        _ = try said("<esc>Q")
        _ = try said("fnid")
        #expect(speaker.typing?.label == "query " && speaker.typing?.text == "fnid")
        #expect(try said("<enter>").contains { $0.contains("find") }, "the mistake was not announced")
    }

    @Test mutating func announcesValues() throws {
        let value = try said("j<enter><enter>")
        #expect(value.first?.hasPrefix("value: demo City ") == true, "\(value)")
        let next = try said("j")
        #expect(next.count == 1 && !next[0].isEmpty)
        // As text, all visible lines are announced.
        #expect(try said("t").count > 2)
    }

    @Test mutating func announcesProblemsAndTheirEnd() throws {
        _ = try said("j<enter>")
        source.with { $0.problem = "there is no store at /none" }
        browser.refresh()
        #expect(try said().contains("there is no store at /none"))
        source.with { $0.problem = nil }
        browser.refresh()
        #expect(try said().contains("store readable again"))
        #expect(try said("<space>").contains("paused"))
        #expect(try said("<space>").contains("no longer paused"))
    }

    /// Ages and countdowns would interrupt each second.
    @Test mutating func doesNotAnnounceAges() throws {
        let clock = TestClock()
        browser = try Fixture.browser(source, clock: clock)
        _ = try said("j<enter>D<tab><enter>")
        for keys in ["", "U", "<esc>x", "<esc>D"] {
            _ = try said(keys)
            browser.refresh()
            _ = try said()
            clock.advance(5, refreshing: &browser)
            #expect(try said() == [], "after \(keys)")
        }
    }

    /// Regression: an opened log announced its old messages as new.
    @Test mutating func oldMessagesAreNotNew() throws {
        let clock = TestClock()
        Fixture.addMessages(source, count: 1)
        browser = try Fixture.browser(source, clock: clock)
        _ = try said("jj<enter>")
        for number in 0..<5 { source.append("old \(number)", archive: "Trace", at: clock.now) }
        browser.refresh()
        var heard = speaker.lines(browser.model, browser.frame, isAnswer: false)
        clock.advance(2, refreshing: &browser)
        heard += speaker.lines(browser.model, browser.frame, isAnswer: false)
        #expect(heard.last?.contains("old 4") == true, "\(heard)")
        #expect(!heard.contains { $0.contains("new") }, "\(heard)")
        for number in 0..<3 { source.append("young \(number)", archive: "Trace", at: clock.now) }
        clock.advance(2, refreshing: &browser)
        heard = speaker.lines(browser.model, browser.frame, isAnswer: false)
        #expect(heard.first?.contains("3 new") == true, "\(heard)")
    }

    /// Regression: two spaces became a comma, a scroll bar was announced, and each step announced the page.
    @Test mutating func announcesTextsUnchanged() throws {
        let lines = (1...200).map { $0 == 2 ? "  two  spaces   here" : "line \($0)" }
        let bytes = Array(lines.joined(separator: "\n").utf8)
        source.with { $0.archives["City"]?.append(Fixture.record("text", number: 99, bytes: bytes)) }
        _ = try said("j<enter>1/text<enter>")
        let page = Array(try said("<enter>").dropFirst(2))
        #expect(page.contains("  two  spaces   here"), "\(page)")
        #expect(page.allSatisfy { $0 == "  two  spaces   here" || $0.hasPrefix("line ") }, "\(page)")
        let next = try said("j")
        #expect(next.count == 1 && next[0].hasPrefix("line "), "\(next)")
        #expect(try said("k") == ["line 1"])
        let found = try said("/line 150<enter>")
        #expect(found.contains("1 of 1: line 150"), "\(found)")
    }

    @Test mutating func announcesChanges() throws {
        _ = try said("j<enter>")
        #expect(try said("m").first == "1 marked")
        // Regression: a query, which has separate marks, announced that these were removed.
        for keys in ["Q", "<esc>"] {
            let lines = try said(keys)
            #expect(
                !lines.isEmpty && !lines.contains { ["none marked", "1 marked"].contains($0) }, "\(lines)")
        }
        #expect(try said("2").first?.hasPrefix("sorted by size, ") == true)
        #expect(try said("r").first?.hasPrefix("sorted by size, ") == true)
        _ = try said("<esc>W")
        _ = try said("size >> 3")
        let refused = try said("<enter>")
        #expect(refused.contains { $0.contains(">") }, "\(refused)")
        #expect(speaker.typing?.behind.isEmpty == false, "the position of the mistake is missing")
        let graphs = try said("<esc><esc>T")
        #expect(graphs.last?.contains(" of 6") == true, "\(graphs)")
        #expect(try said("j") != [])
    }

    /// Regression: keys pressed before the announcement confirmed the dialog.
    @Test mutating func announcesDialogBeforeConfirmation() throws {
        _ = try said("j<enter>")
        #expect(!speaker.asks)
        _ = try said("D")
        #expect(speaker.asks)
        _ = try said("<tab>")
        #expect(!speaker.asks)
    }

    @Test mutating func escapesControls() throws {
        source.with { $0.archives["City"]?[0].entry.key = "a\u{1b}[2Jb\r\nc" }
        for line in try said("j<enter>") + said("D") {
            #expect(
                !line.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7f },
                "\(line.debugDescription)")
        }
    }
}
