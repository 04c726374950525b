import BrowserCore
import TerminalKit
import Testing

/// The exact effects of each message.
struct UpdateTests {
    private let source = Fixture.source()

    private func entries(rows: Int = 24) -> UpdateTest {
        var test = UpdateTest(Fixture.model(rows: rows))
        test.settle(source)
        test.press(.character("j"))
        test.press(Key(.enter), expecting: ["arrange City by idle, new listing"])
        test.settle(source)
        return test
    }

    /// Refreshes after `seconds`, expects that figures are loaded and these effects, and performs them.
    private func refresh(_ test: inout UpdateTest, after seconds: Double, _ others: String...) {
        test.send(
            .tick(Fixture.start.adding(seconds: seconds)),
            expecting: ["load figures of \(Fixture.storePath)"] + others)
        test.settle(source)
    }

    @Test func loadsStoreAtStart() {
        let test = UpdateTest(Fixture.model())
        #expect(
            test.effects.map(\.description) == [
                "load figures of \(Fixture.storePath)", "remember store \(Fixture.storePath)",
            ])
        let none = UpdateTest(Fixture.model(store: nil))
        #expect(none.effects.map(\.description) == ["load stores"])
    }

    @Test func refreshesOneAtATime() {
        var test = UpdateTest(Fixture.model())
        test.send(.tick(Fixture.start))
        test = UpdateTest(Fixture.model())
        test.settle(source)
        test.send(.tick(Fixture.start), expecting: ["load figures of \(Fixture.storePath)"])
        test.send(.tick(Fixture.start))
    }

    @Test func doesNotListUnchangedArchive() {
        var test = entries()
        let before = source.with { $0.listings }
        for second in 1...5 { refresh(&test, after: Double(second)) }
        #expect(source.with { $0.listings } == before)
        source.access("Quito", archive: "City", at: Fixture.start)
        refresh(&test, after: 6)
        #expect(source.with { $0.listings } == before + 1)
        #expect(test.model.cursorKey == "Quito", "following did not show the top")
    }

    /// A paused screen stays; figures are sampled for the graphs.
    @Test func pauseKeepsScreen() {
        var test = entries()
        test.press(.character(" "))
        let shown = test.text.split(separator: "\n").dropFirst()
        source.record("Oslo", Array("{}".utf8), archive: "City", at: Fixture.start)
        for second in 1...5 { refresh(&test, after: Double(second)) }
        #expect(test.text.split(separator: "\n").dropFirst() == shown)
        #expect(test.model.pace == .paused(5))
        #expect(test.text.contains("PAUSED 5s"))
        test.press(
            .character(" "),
            expecting: ["load figures of \(Fixture.storePath)", "arrange City by idle, new listing"])
        #expect(test.model.pace == .live)
    }

    @Test func keystrokesReplaceEarlierFilters() {
        var test = entries()
        test.press(.character("/"))
        test.press(.character("t"), expecting: ["arrange City by idle filter \"t\""])
        let first = test.effects
        test.press(.character("a"), expecting: ["stop", "arrange City by idle filter \"ta\""])
        let second = test.effects
        // The late response to the first changes nothing.
        for message in first.flatMap({ test.answers(to: $0, source) }) { test.send(message) }
        #expect(test.text.contains("16 entries"))
        for message in second.flatMap({ test.answers(to: $0, source) }) { test.send(message) }
        #expect(test.text.contains("1 of 16 entries"))
        test.press(Key(.escape), expecting: ["arrange City by idle"])
        test.settle(source)
        #expect(test.text.contains(" 16 entries"))
    }

    @Test func escapeStopsSorting() throws {
        var test = entries()
        test.press(.character("1"), expecting: ["arrange City by key"])
        let ticket = try #require(test.effects.first?.ticket)
        test.send(.clock(Fixture.start.adding(seconds: 1)))
        test.send(.progress(ticket: ticket, 0.4))
        #expect(test.text.contains("40% sorting by key, esc stops"))
        test.press(Key(.escape), expecting: ["stop"])
        #expect(test.text.contains("Stopped: sorting by key"))
        // The rows are still in LRU order.
        #expect(test.text.contains("idle ▲"))
        test.press(.character("r"), expecting: ["arrange City by idle descending"])
    }

    @Test("esc on another screen leaves that screen, and stops sorting where it is shown")
    func escapeLeavesBeforeItStops() {
        var test = entries()
        test.press(.character("1"), expecting: ["arrange City by key"])
        _ = test.press(.character("T"), source, settling: false)
        test.send(.clock(Fixture.start.adding(seconds: 1)))
        #expect(test.model.screen == .monitor)
        let left = test.press(Key(.escape), source, settling: false)
        #expect(test.model.screen == .entries && !left.map(\.description).contains("stop"))
        test.press(Key(.escape), expecting: ["stop"])
        #expect(test.model.screen == .entries)
    }

    @Test func filteringShowsProgress() throws {
        var test = entries()
        test.press(.character("/"))
        test.press(.character("t"), expecting: ["arrange City by idle filter \"t\""])
        let ticket = try #require(test.effects.first?.ticket)
        test.send(.clock(Fixture.start.adding(seconds: 1)))
        test.send(.progress(ticket: ticket, 0.25))
        #expect(test.text.contains("25.0% filtering, esc stops"))
        test.press(Key(.escape), expecting: ["stop", "arrange City by idle"])
        test.settle(source)
        #expect(test.text.contains(" 16 entries"))
    }

    /// The folder is read once a second, not at each refresh.
    @Test func storesAreReadOnceASecond() {
        var test = UpdateTest(Fixture.model(store: nil))
        test.settle(source)
        test.send(.tick(Fixture.start.adding(seconds: 0.2)))
        test.send(.tick(Fixture.start.adding(seconds: 0.9)))
        test.send(.tick(Fixture.start.adding(seconds: 1.1)), expecting: ["load stores"])
    }

    @Test func movingLoadsVisibleRows() {
        var test = entries(rows: 12)
        test.press(Key(.end), expecting: ["load rows 2..<16"])
        let question = test.effects
        // No request is repeated.
        test.press(Key(.up))
        for message in question.flatMap({ test.answers(to: $0, source) }) { test.send(message) }
        #expect(test.model.cursorKey == "Apia")
    }

    @Test func opensValueWithOneRead() {
        var test = entries()
        test.press(
            Key(.enter), expecting: ["load value City/Jakarta for screen", "load history of City/Jakarta"])
        test.settle(source)
        refresh(&test, after: 1, "check value City/Jakarta")
        source.record("Jakarta", Array("{\"new\":true}".utf8), archive: "City", at: Fixture.start)
        refresh(&test, after: 2, "check value City/Jakarta")
        #expect(test.text.contains("Replaced; R shows the new value."))
        #expect(test.text.contains("geonameid"), "the loaded value was replaced")
        test.press(
            .character("R"),
            expecting: [
                "load figures of \(Fixture.storePath)", "load value City/Jakarta for screen",
                "load history of City/Jakarta",
            ])
        test.settle(source)
        #expect(test.text.contains("new: true"))
        test.press(Key(.escape))
        #expect(test.model.screen == .entries)
    }

    @Test func lateResponseBelongsToItsStore() {
        var test = UpdateTest(Fixture.model(store: nil))
        test.settle(source)
        func open(_ path: String) {
            test.press(Key(.enter), expecting: ["load figures of \(path)", "remember store \(path)"])
            test.settle(source)
            test.press(.character("j"))
            test.press(Key(.enter), expecting: ["arrange City by idle, new listing"])
            test.settle(source)
            test.press(
                Key(.enter),
                expecting: ["load value City/Jakarta for screen", "load history of City/Jakarta"])
        }
        open(Fixture.storePath)
        let late = test.effects.flatMap { test.answers(to: $0, source) }
        test.press(Key(.escape))
        test.press(Key(.escape))
        test.press(.character("h"), expecting: ["load stores"])
        test.settle(source)
        test.press(.character("j"))
        open("/home/ada/.cache/thumbnails")
        let asked = test.effects
        for message in late { test.send(message) }
        #expect(test.text.contains("thumbnails") && test.text.contains("Loading Jakarta"))
        for message in asked.flatMap({ test.answers(to: $0, source) }) { test.send(message) }
        #expect(test.text.contains("geonameid"))
    }

    @Test func leavingListStopsWork() {
        var test = UpdateTest(Fixture.model())
        test.settle(source)
        test.press(Key(.enter), expecting: ["arrange Blob by idle, new listing"])
        let question = test.effects
        test.press(Key(.escape), expecting: ["stop"])
        #expect(test.model.screen == .archives)
        for message in question.flatMap({ test.answers(to: $0, source) }) { test.send(message) }
        #expect(test.model.screen == .archives)
    }

    @Test func quitsAndStartsDemo() {
        var test = UpdateTest(Fixture.model(store: nil))
        test.settle(source)
        test.press(.character("d"), expecting: ["startDemo"])
        test.press(.character("q"), expecting: ["quit"])
        test.press(.control("c"), expecting: ["quit"])
        test.send(.input(.hangUp), expecting: ["quit"])
        var other = entries()
        other.press(.character("d"))
        other.press(.character("/"))
        other.press(.character("q"), expecting: ["arrange City by idle filter \"q\""])
    }

    /// Regression: after a paste without an end, the browser ignored keys without a hint, and Ctrl-C quit.
    @Test func reportsUnfinishedPaste() {
        let unfinished = "Incomplete paste; ctrl+c discards it."
        var test = entries()
        test.send(.input(.pasteUnfinished))
        test.send(.clock(Fixture.start.adding(seconds: 100)))
        #expect(test.text.contains(unfinished), "the message vanished")
        test.send(.input(.pasteDropped), expecting: [])
        test.expect(shows: "The incomplete paste was discarded.", hides: unfinished)
        test.send(.input(.pasteUnfinished))
        test.send(.input(.paste("Oslo")))
        #expect(test.text.contains("Ignored: pasted text runs no keys."))
        test.press(.character("/"))
        test.send(.input(.pasteUnfinished))
        #expect(test.text.contains(unfinished))
        test.send(.input(.pasteDropped), expecting: [])
        #expect(test.text.contains("The incomplete paste was discarded."))
    }

    /// Regression: the line end became a space, so that no key matched.
    @Test("drops line ends after pasted text", arguments: ["jak\n", "jak\r\n\n"])
    func dropsLineEndAfterPaste(text: String) throws {
        var browser = try Fixture.browser(Fixture.source(), keys: "j<enter>/")
        browser.send(.input(.paste(text)))
        #expect(browser.model.cursorKey == "Jakarta")
        #expect(browser.text.contains("1 of 16 entries"), "\(browser.text)")
    }

    @Test func showsAndClearsFailures() {
        var test = entries()
        source.with { $0.problem = "there is no store at /none" }
        refresh(&test, after: 1)
        test.expect(shows: "there is no store at /none", "UNREACHABLE")
        #expect(test.text.contains("Jakarta"), "the loaded rows vanished")
        // The figures have their time, and changes are refused.
        #expect(test.text.contains("read 02:40:00  UNREACHABLE"), "\(test.text)")
        for key in ["D", "x", "u", "n"] { test.press(.character(Character(key))) }
        #expect(test.model.said?.contains("unreachable") == true && test.text.contains("unreachable store"))
        source.with { $0.problem = nil }
        refresh(&test, after: 2)
        test.expect(hides: "there is no store", "UNREACHABLE")
    }

    @Test("the message of a removed store fits narrow screens")
    func problemNamesTheStore() throws {
        var browser = try Fixture.browser(source, columns: 40, rows: 12, keys: "j<enter>")
        source.with { $0.problem = "there is no store at \(Fixture.storePath)" }
        browser.refresh()
        #expect(browser.text.contains("there is no store at demo"), "\(browser.text)")
    }

    @Test func retriesFailedListing() {
        var test = UpdateTest(Fixture.model())
        test.settle(source)
        source.with { $0.listingProblem = "City/index is damaged at byte 64" }
        test.press(.character("j"))
        test.press(Key(.enter), expecting: ["arrange City by idle, new listing"])
        test.settle(source)
        #expect(test.text.contains("City/index is damaged at byte 64"))
        source.with { $0.listingProblem = nil }
        refresh(&test, after: 1.5)
        test.expect(shows: "16 entries", hides: "damaged")
    }
}
