import BrowserCore
import StorageEngine
import StoreInspection
import TerminalKit
import Testing

/// Rows whose entries go while a person looks at them.
struct VanishingTests {
    /// A cache of many entries, the last used first.
    private func source(_ count: Int) -> MockSource {
        let source = Fixture.source()
        source.with { state in
            state.archives["City"] = (0..<count).map { number in
                Fixture.record(
                    "key \(number)", number: number % 90, bytes: Fixture.json("key \(number)", number))
            }
        }
        return source
    }

    private func evict(_ count: Int, _ source: MockSource) {
        source.with { _ = $0.archives["City"]?.removeLast(count) }
    }

    /// What broke: the last rows of a store that changes were bare "gone" for seconds, and the pane had another's value.
    @Test func rowsThatWentAreReplacedByThoseThatAreThere() throws {
        let source = source(400)
        var browser = try Fixture.browser(source, columns: 120, rows: 40, keys: "j<enter>")
        evict(150, source)
        browser.press([.character("G")])
        let text = browser.frame.plainText
        #expect(!text.contains(" gone"))
        #expect(browser.model.cursorKey == "key 249")
        #expect(text.contains("key 249  JSON,"), "the pane shows what the cursor is on")
        #expect(text.contains("250 of 250"))
        #expect(text.contains("250 entries"))
        browser.press(try Key.script("<enter>"))
        #expect(browser.frame.plainText.contains("\"key 249\""))
    }

    /// What broke: the entries and groups of an archive that was removed stayed on the screen below a header that said live, and
    /// groups said so while they never followed the store.
    @Test(arguments: ["j<enter>", "jz"]) func anArchiveThatWentIsNotLive(keys: String) throws {
        let source = source(20)
        let clock = TestClock()
        var browser = try Fixture.browser(source, columns: 100, rows: 30, clock: clock, keys: keys)
        func header() -> String { String(browser.frame.plainText.prefix { $0 != "\n" }) }
        #expect(!header().contains("REMOVED"))
        clock.advance(40)
        browser.refresh()
        #expect(header().contains(keys == "jz" ? "asked 40" : "live"), "\(header())")
        source.with { ($0.archives["City"], $0.summaries["City"]) = (nil, nil) }
        clock.advance(2)
        browser.refresh()
        #expect(header().contains("REMOVED") && !header().contains("live"), "\(header())")
    }

    /// Where there is nothing to take their place, the rows that were seen stay and are marked.
    @Test func rowsWithoutSuccessorsAreMarked() throws {
        let source = source(30)
        var browser = try Fixture.browser(source, columns: 120, rows: 40, keys: "j<enter>")
        evict(30, source)
        browser.press([.character("G")])
        #expect(browser.frame.plainText.contains("The entry is gone."))
        #expect(browser.frame.plainText.contains("\nx key 29"))
    }

    /// A row that was seen keeps its key, and the pane says that its entry is gone.
    @Test func aSeenRowThatWentIsMarked() throws {
        let source = source(20)
        let clock = TestClock()
        var browser = try Fixture.browser(source, columns: 120, rows: 40, clock: clock, keys: "j<enter>")
        source.remove("key 3", archive: "City")
        browser.press(try Key.script("jjj"))
        #expect(browser.model.cursorKey == "key 3")
        #expect(browser.frame.plainText.contains("The entry is gone."))
        let row = browser.frame.plainText.split(separator: "\n").first { $0.hasPrefix("x key 3") }
        #expect(row != nil, "\(browser.frame.plainText)")
    }
}
