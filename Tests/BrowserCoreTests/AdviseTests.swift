import BrowserCore
import StorageEngine
import StoreInspection
import TerminalKit
import Testing

/// The screen of simulated limits and policies.
struct AdviseTests {
    private let source = Fixture.source()
    private let clock = TestClock()

    private func browser(
        _ keys: String = "ja", columns: Int = 100, rows: Int = 30, isReadOnly: Bool = false
    ) throws -> HeadlessBrowser {
        try Fixture.browser(
            source, columns: columns, rows: rows, isReadOnly: isReadOnly, clock: clock, keys: keys)
    }

    private func speech(_ browser: HeadlessBrowser) -> String {
        var speaker = AccessibilityOutput()
        return speaker.lines(browser.model, browser.frame).last ?? ""
    }

    private var limit: UInt64 { source.with { $0.summaries["City"]?.diskLimit ?? 0 } }
    private var requests: Int { source.with { $0.adviceCalls } }

    @Test("the screen opens from the lists of archives and of entries, and esc returns there")
    func opens() throws {
        Fixture.addAdvice(source)
        var browser = try browser()
        #expect(browser.model.screen == .advise)
        try browser.press("<esc>", on: .archives)
        try browser.press("<enter>a", on: .advise)
        try browser.press("q", on: .entries)
        try browser.press("aE", on: .monitor)
        try browser.press("<esc>", on: .advise)
    }

    @Test("a log has no advice, and a reason is given")
    func refusesLogs() throws {
        let browser = try browser("jja")
        #expect(browser.model.screen == .archives && browser.model.said?.contains("Logs") == true)
        #expect(requests == 0)
    }

    @Test("without recorded requests the screen states that and asks again")
    func isEmptyWithoutRequests() throws {
        var browser = try browser()
        browser.expect(shows: "No requests of City are recorded yet")
        Fixture.addAdvice(source)
        clock.advance(2, refreshing: &browser)
        browser.expect(shows: "miss ratio over the limit", hides: "are recorded yet")
    }

    @Test("a failed request is shown, and keeps the advice")
    func showsProblems() throws {
        source.with { $0.adviceProblem = "the trace is damaged" }
        var browser = try browser()
        browser.expect(shows: "the trace is damaged")
        source.with { $0.adviceProblem = nil }
        Fixture.addAdvice(source)
        clock.advance(2, refreshing: &browser)
        browser.expect(shows: "miss ratio", hides: "the trace is damaged")
        source.with { $0.adviceProblem = "the trace is damaged" }
        clock.advance(2, refreshing: &browser)
        browser.expect(shows: "miss ratio", "the trace is damaged")
    }

    @Test("the advice is requested at most every two seconds, and not during a pause")
    func asksAtIntervals() throws {
        Fixture.addAdvice(source)
        var browser = try browser()
        #expect(requests == 1)
        for _ in 0..<19 { clock.advance(0.1, refreshing: &browser) }
        #expect(requests == 1)
        for _ in 0..<22 { clock.advance(0.1, refreshing: &browser) }
        #expect(requests == 3)
        try browser.press("<space>")
        for _ in 0..<10 { clock.advance(1, refreshing: &browser) }
        #expect(requests == 3)
        try browser.press("<space>")
        #expect(requests == 4)
        try browser.press("<esc>")
        clock.advance(10, refreshing: &browser)
        #expect(requests == 4)
    }

    @Test("a paused screen doesn't take a response to an earlier request")
    func pauseKeepsTheAdvice() throws {
        Fixture.addAdvice(source)
        var test = try UpdateTest(Fixture.model(), source, keys: "ja")
        test.send(
            .tick(Fixture.start.adding(seconds: 3)),
            expecting: ["load figures of \(Fixture.storePath)", "simulate City"])
        let question = try #require(test.effects.last)
        test.send(.clock(Fixture.start.adding(seconds: 3.5)))
        try test.press("<space>", source)
        Fixture.addAdvice(source, reads: 99_999)
        _ = test.answer(question, source)
        test.expect(shows: "12,345", hides: "99,999")
        try test.press("R", source)
        test.expect(shows: "99,999")
    }

    @Test("arrows mark the simulated limits, and home and end the outermost ones")
    func marksLimits() throws {
        Fixture.addAdvice(source)
        var browser = try browser()
        #expect(speech(browser).hasSuffix("; 5 of 9"))
        try browser.press("<right>")
        #expect(speech(browser).contains("(2x)") && speech(browser).hasSuffix("; 6 of 9"))
        try browser.press("ll<gt>")
        #expect(speech(browser).hasSuffix("; 9 of 9"))
        try browser.press("<right>")
        #expect(speech(browser).hasSuffix("; 9 of 9") && browser.model.said != nil)
        try browser.press("<home>")
        #expect(speech(browser).contains("(1/16)") && speech(browser).hasSuffix("; 1 of 9"))
        try browser.press("<left>")
        #expect(speech(browser).hasSuffix("; 1 of 9") && browser.model.said != nil)
        try browser.press("<end>h")
        #expect(speech(browser).hasSuffix("; 8 of 9"))
    }

    @Test("gains and losses are hits per second of all keys, relative to the current limit and policy")
    func showsGains() throws {
        // 12,000 reads of a quarter of the keys in 200 s are 240 reads a second.
        Fixture.addAdvice(source, reads: 12_000)
        var browser = try browser("ja<right>")
        #expect(speech(browser).contains("LRU 80.0% (+32 hits/s)"), "\(speech(browser))")
        try browser.press("<left><left>")
        #expect(speech(browser).contains("LRU 50.0% (-40 hits/s)"), "\(speech(browser))")
        try browser.press("<right>")
        #expect(speech(browser).contains("LRU 66.7%, S3-FIFO 75.2% (+20.5 hits/s)"), "\(speech(browser))")
    }

    @Test("up and down select a group by its name, also after the groups changed their order")
    func selectsGroups() throws {
        Fixture.addAdvice(source)
        var browser = try browser("jajj")
        #expect(browser.model.cursorRow == 2 && speech(browser).hasPrefix("search, "), "\(speech(browser))")
        source.with { state in
            let old = state.advice["City"]
            state.advice["City"] = old.map {
                ArchiveAdvice(
                    limit: $0.limit, policy: $0.policy, rate: $0.rate, reads: $0.reads, seconds: $0.seconds,
                    measured: $0.measured, points: $0.points, advice: $0.advice, groups: $0.groups.reversed())
            }
        }
        clock.advance(2, refreshing: &browser)
        #expect(browser.model.cursorRow == 2 && speech(browser).hasPrefix("search, "))
        try browser.press("k")
        #expect(browser.model.cursorRow == 1 && speech(browser).hasPrefix("mail, "))
        try browser.press("<right>")
        #expect(speech(browser).contains("hit ratio LRU"))
    }

    @Test("a click selects a group")
    func clicks() throws {
        Fixture.addAdvice(source)
        var browser = try browser()
        let row = try #require(browser.lines.firstIndex { $0.hasPrefix("web ") })
        browser.send(.input(.mouse(MouseEvent(kind: .click, at: Point(column: 2, row: row)))))
        #expect(browser.model.cursorRow == 1 && speech(browser).hasPrefix("web, "))
    }

    @Test("each policy has its own letter in the graph and the legend")
    func lettersDiffer() throws {
        Fixture.addAdvice(source)
        let browser = try browser(columns: 80, rows: 24)
        let plot = browser.lines.filter { $0.contains("│") }.joined()
        for letter in ["L", "3", "S", "W"] { #expect(plot.contains(letter), "\(browser.text)") }
        browser.expect(shows: "L LRU  3 S3-FIFO  S SIEVE  W W-TinyLFU", "owner", "! ")
    }

    @Test("small screens show the marked limit", arguments: [(20, 5), (24, 6), (40, 10)])
    func fitsSmallScreens(columns: Int, rows: Int) throws {
        Fixture.addAdvice(source)
        let browser = try browser("ja<right>", columns: columns, rows: rows)
        browser.expect(shows: "(2x)")
    }

    @Test("a simulation that differs from the archive, and too few reads, are stated")
    func statesDoubt() throws {
        Fixture.addAdvice(source, measured: 0.4)
        try browser(columns: 200).expect(shows: "the other figures are rough")
        Fixture.addAdvice(source, reads: 20)
        try browser(columns: 200).expect(shows: "Too few requests yet")
    }

    // MARK: Changes

    @Test(
        "enter and L propose the marked limit, and a plan resizes the archive", arguments: ["<enter>", "L"])
    func resizes(key: String) throws {
        Fixture.addAdvice(source)
        let former = limit
        var browser = try browser("ja<right>" + key)
        browser.expect(shows: "disk \(Figures.bytes(former * 2)) memory 2 kB")
        #expect(!browser.model.isPlanOpen && limit == former)
        try browser.press("<enter>")
        #expect(browser.model.isPlanOpen && limit == former)
        try browser.press("y")
        #expect(Figures.bytes(limit) == Figures.bytes(former * 2), "\(browser.text)")
        #expect(browser.model.screen == .advise)
    }

    @Test("u plans to restore the limits before a resize", arguments: ["", "<esc>", "<esc><enter>"])
    func undoesResize(keys: String) throws {
        Fixture.addAdvice(source)
        let former = limit
        var browser = try browser("ja<right><enter><enter>y")
        #expect(browser.model.said?.contains("u restores disk \(Figures.bytes(former))") == true)
        try browser.press(keys + "u")
        #expect(browser.model.isPlanOpen, "\(browser.text)")
        try browser.press("y")
        #expect(limit == former, "\(browser.text)")
    }

    @Test("u undoes a resize once")
    func undoesResizeOnce() throws {
        Fixture.addAdvice(source)
        var browser = try browser("ja<right><enter><enter>yuy")
        #expect(browser.model.said?.contains("restores") == false, "\(browser.text)")
        try browser.press("u")
        #expect(!browser.model.isPlanOpen, "\(browser.text)")
    }

    @Test("u undoes a later deletion before a resize")
    func undoesTheLastChange() throws {
        Fixture.addAdvice(source)
        let former = limit
        var browser = try browser("ja<right><enter><enter>y<esc><enter>")
        clock.advance(1)
        source.with { $0.now = clock.now }
        try browser.press("Dyu")
        browser.expect(shows: "Undo this?")
        try browser.press("yu")
        #expect(browser.boxWords.contains("disk limit: "), "\(browser.text)")
        try browser.press("y")
        #expect(limit == former)
    }

    @Test("u restores the limit of a log, too")
    func undoesResizeOfLog() throws {
        source.with { $0.summaries["Trace"]?.diskLimit = 4_000_000 }
        var browser = try browser("jjL<ctrl+u>disk 8 MB<enter>y")
        #expect(source.with { $0.summaries["Trace"]?.diskLimit } == 8_000_000, "\(browser.text)")
        try browser.press("uy")
        #expect(source.with { $0.summaries["Trace"]?.diskLimit } == 4_000_000, "\(browser.text)")
    }

    @Test("the recommended policy is proposed at the current limit")
    func proposesPolicy() throws {
        Fixture.addAdvice(source)
        var browser = try browser("ja<enter>")
        browser.expect(shows: "policy s3fifo")
        let ratio = try #require(source.with { $0.advice["City"] }?.advice?.after)
        browser.expect(shows: "simulated hit ratio \(Figures.percent(ratio))")
        try browser.press("<enter>")
        #expect(browser.boxWords.contains("policy: lru -> s3fifo"), "\(browser.text)")
        try browser.press("<esc><enter><ctrl+u>policy lru<enter>", says: "Limits and policy are unchanged.")
    }

    @Test("a read-only browser shows the advice but doesn't resize")
    func readOnlyDoesNotResize() throws {
        Fixture.addAdvice(source)
        let browser = try browser("ja<right><enter>", isReadOnly: true)
        #expect(browser.model.said?.contains("read-only") == true && !browser.model.isPlanOpen)
        #expect(browser.model.screen == .advise)
    }

    @Test("the simulation is freed when the screen is left")
    func freesSimulation() throws {
        Fixture.addAdvice(source)
        var browser = try browser()
        #expect(source.with { $0.advisor } != nil)
        try browser.press("<esc>", on: .archives)
        #expect(source.with { $0.advisor } == nil)
    }
}
