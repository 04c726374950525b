import ArchiveQuery
import BrowserCore
import StorageEngine
import StoreInspection
import TerminalKit
import Testing

struct ConditionTests {
    private let source = Fixture.source()

    private func browser(_ keys: String, _ source: MockSource = Fixture.source()) throws -> HeadlessBrowser {
        try Fixture.browser(source, columns: 99, look: Fixture.ascii, keys: "j<enter>" + keys)
    }

    @Test func showsMatchingEntries() throws {
        var browser = try browser("Wpopulation > 2000000")
        #expect(
            browser.lines[1].contains("4 of 16 entries") && browser.lines[22].hasPrefix("where: population"))
        try browser.press("<enter>jj", row: 1, shows: "where population > 2000000")
        #expect(CommandLine.words(for: browser.model).hasSuffix("query City 'find population > 2000000'"))
        // A filter applies to the matches.
        try browser.press("/dung", row: 1, shows: "1 of 16 entries")
        try browser.press("<esc><esc>", row: 1, shows: " 16 entries")
        try browser.press("/<tab>@hits = 0")
        #expect(browser.lines[1].contains("1 of 16 entries"), "Tab did not change the filter to a condition")
        try browser.press("<esc>", row: 1, shows: " 16 entries")
    }

    @Test(
        "a condition whose reads count as accesses is applied after one confirmation, and its list isn't read again automatically"
    )
    func asksBeforeReading() throws {
        let (source, clock) = (Fixture.source(), TestClock())
        source.with { $0.countsAccesses = true }
        var browser = try Fixture.browser(
            source, columns: 99, clock: clock, keys: "j<enter>Wpopulation > 2000000<enter>")
        #expect(
            browser.boxWords.contains("at most 16 keys, which counts as an access to each"), "\(browser.text)"
        )
        try browser.press("<esc>")
        #expect(
            source.with { $0.valueCalls } == 0 && browser.model.said?.contains("No values were read") == true)
        #expect(browser.lines[1].contains(" 16 entries"), "\(browser.lines[1])")
        try browser.press("Wpopulation > 2000000<enter>y", row: 1, shows: "4 of 16 entries")
        try browser.press("W<ctrl+u>population > 3000000")
        let read = source.with { $0.valueCalls }
        try browser.press("<enter>", row: 1, shows: "2 of 16 entries")
        #expect(source.with { $0.valueCalls } == read + 16, "typing reads no values")
        clock.advance(600)
        source.access("Kyiv", archive: "City", at: clock.now)
        browser.refresh()
        #expect(source.with { $0.valueCalls } == read + 16)
    }

    @Test("marks end with their archive, also in a list whose repeated reads would count as accesses")
    func replacedArchive() throws {
        let (source, clock) = (Fixture.source(), TestClock())
        source.with { $0.countsAccesses = true }
        var browser = try Fixture.browser(
            source, columns: 99, clock: clock, keys: "j<enter>Wpopulation > 2000000<enter>ym")
        #expect(browser.model.markedKeys.count == 1)
        let read = source.with { $0.valueCalls }
        source.with { $0.summaries["City"]?.identity = [7] }
        clock.advance(4, refreshing: &browser)
        #expect(browser.model.markedKeys == [])
        try browser.press("m")
        clock.advance(4, refreshing: &browser)
        #expect(browser.model.markedKeys.count == 1)
        #expect(source.with { $0.valueCalls } == read)
    }

    @Test("an empty list states how many entries couldn't be read")
    func countsUnreadableWithoutMatches() throws {
        let source = Fixture.source { $0.valueProblems["Kyiv"] = "the entry fails its checksum" }
        var browser = try browser("Wpopulation > 999999999<enter>", source)
        #expect(
            browser.text.contains("population > 999999999, but 1 entry could not be read"), "\(browser.text)")
        try browser.press("<esc>Wpopulation > 1<enter>", row: 1, shows: "15 of 16 entries, 1 unreadable")
    }

    @Test func reportsErrors() throws {
        var browser = try browser("Wpopulation > 2000000 and")
        // An incomplete condition shows what may follow, and the previous one applies.
        #expect(browser.lines[22].contains("Expected next: "), "\(browser.text)")
        #expect(browser.lines[1].contains("4 of 16 entries"), "\(browser.lines[1])")
        try browser.press("<enter>")
        // Mistakes are shown at the prompt, the counts above the list.
        func prompt() -> String { browser.lines[20...].joined(separator: "\n") }
        #expect(prompt().contains("character 25: incomplete"), "\(browser.text)")
        #expect(browser.lines[22].hasPrefix("where: "), "the prompt was closed")
        try browser.press("<ctrl+u>population >> 3")
        #expect(prompt().contains("character 13: found \">\""), "\(browser.text)")
        try browser.press("<ctrl+u>é :: 3")
        #expect(prompt().contains("character 3: found \":\""), "\(browser.text)")
        try browser.press("<ctrl+u>name matches \"(\"<enter>")
        #expect(prompt().contains("is not a regular expression"), "\(browser.text)")
        #expect(browser.lines[1].contains("16 entries"), "\(browser.lines[1])")
        try browser.press("<ctrl+u>popluation > 1<enter>")
        #expect(
            browser.lines[1].contains("no value that was read has the property popluation"),
            "\(browser.lines[1])")
        #expect(browser.text.contains("No entry matches popluation > 1: no value has popluation"))
        try browser.press("W<ctrl+u>population > \"a\"<enter>")
        #expect(browser.lines[1].contains("population is a number, not a tex"), "\(browser.lines[1])")
    }

    @Test("suggests a similar name for an unknown one, while typing and after, on 80 columns")
    func suggestsNames() throws {
        let hint = "no value has popluation; did you mean population?"
        var browser = try Fixture.browser(
            Fixture.source(), columns: 80, look: Fixture.ascii, keys: "j<enter>Wpopluation > 1")
        #expect(browser.text.contains(hint), "\(browser.text)")
        try browser.press("<enter>")
        #expect(browser.model.said == hint && browser.text.contains(hint), "\(browser.text)")
        try browser.press("W<ctrl+u>owner = \"import\"", shows: "did you mean @owner?")
        try browser.press("<ctrl+u>population > 1<enter>")
        #expect(browser.model.said != hint && !browser.text.contains("did you mean"), "\(browser.text)")
    }

    @Test("marks are counted before a long condition")
    func marksComeFirst() throws {
        let condition = Array(repeating: "population > 2000000", count: 6).joined(separator: " or ")
        let browser = try browser("MW\(condition)<enter>")
        #expect(browser.lines[1].contains("16 marked"), "\(browser.lines[1])")
    }

    @Test func completesNames() throws {
        var browser = try browser("Wpopu<tab>")
        #expect(browser.lines[22].hasPrefix("where: population "), "\(browser.lines[22])")
        try browser.press("> 1 and place.zo<tab>= <tab>", row: 22, shows: "and place.zone = \"Asia/Jakarta\"")
        #expect(browser.lines[1].contains("16 of 16 entries"))
    }

    @Test func appliesToNewEntries() throws {
        let clock = TestClock()
        var browser = try Fixture.browser(
            source, columns: 99, look: Fixture.ascii, clock: clock,
            keys: "j<enter>Wpopulation > 2000000<enter>")
        source.record("Lagos", Array("{\"population\":15388000}".utf8), archive: "City", at: clock.now)
        source.record("Vaduz", Array("{\"population\":5774}".utf8), archive: "City", at: clock.now)
        for _ in 0..<20 { clock.advance(1, refreshing: &browser) }
        #expect(browser.lines[1].contains("5 of 18 entries"), "\(browser.text)")
        #expect(browser.text.contains("Lagos") && !browser.text.contains("Vaduz"))
    }

    @Test func reorderingReadsNoValues() throws {
        var browser = try browser("pWpopulation > 2000000<enter>", source)
        let before = source.with { $0.valueCalls }
        try browser.press("2")
        #expect(source.with { $0.valueCalls } == before && browser.lines[1].contains("4 of 16 entries"))
    }

    @Test func continuesAsQuery() throws {
        let browser = try browser("/a<enter>Wpopulation > 2000000<enter>Q")
        #expect(
            browser.lines[1].contains("find @key icontains \"a\" | find population > 2000000"),
            "\(browser.lines[1])")
    }
}
