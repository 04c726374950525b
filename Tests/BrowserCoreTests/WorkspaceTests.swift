import BrowserCore
import Foundation
import StorageEngine
import StoreInspection
import TerminalKit
import Testing

/// Several stores that are open at once.
struct WorkspaceTests {
    private static let other = "/home/ada/.cache/thumbnails"

    @Test func aStoreStaysAsItWasLeft() throws {
        var browser = try Fixture.browser(Fixture.source(), columns: 100, keys: "j<enter>jjm")
        let key = try #require(browser.model.cursorKey)
        browser.press(try Key.script("]"))
        #expect(browser.model.said?.contains("No other store is open") == true)
        browser.press(try Key.script("<esc>hh"))
        #expect(browser.model.screen == .stores)
        browser.press(try Key.script("g/thumb<enter><enter>"))
        #expect(browser.model.store == Self.other && browser.model.screen == .archives)
        #expect(browser.frame.plainText.contains("2:thumbnails"))
        browser.press(try Key.script("1"))
        #expect(browser.model.store == Fixture.storePath && browser.model.screen == .archives)
        browser.press(try Key.script("<enter>jjm]"))
        #expect(browser.model.store == Self.other)
        browser.press(try Key.script("j<enter>["))
        #expect(browser.model.store == Fixture.storePath && browser.model.screen == .entries)
        #expect(browser.model.cursorKey == key && browser.frame.plainText.contains("1 marked"))
        #expect(browser.frame.plainText.contains("1:demo"))
        browser.press(try Key.script("]"))
        #expect(browser.model.screen == .entries && browser.model.store == Self.other)
        #expect(browser.model.markedKeys.isEmpty)
    }

    @Test func whatIsNotOpenIsSaid() throws {
        var browser = try Fixture.browser(Fixture.source(), keys: "4")
        #expect(browser.model.said?.contains("There is no store 4: 1 of at most 9 are open.") == true)
        browser.press(try Key.script("1"))
        #expect(browser.model.said == "This is store 1.")
        browser.press(try Key.script("hX"))
        #expect(browser.model.said == "demo is closed.")
        browser.press(try Key.script("X"))
        #expect(browser.model.said == "demo isn't open.")
        browser.press(try Key.script("1"))
        #expect(browser.model.said == "There is no store 1: none is open yet.")
    }

    /// An answer belongs to the store that was asked, wherever that is by now.
    @Test func answersGoWhereTheyWereAskedFor() throws {
        let source = Fixture.source()
        var test = UpdateTest(Fixture.model(columns: 100, rows: 24))
        test.settle(source)
        for key in try Key.script("hj<enter>1j") { _ = test.press(key, source) }
        #expect(test.model.store == Fixture.storePath)
        let asked = test.press(Key(.enter), source, settling: false)
        #expect(asked.map(\.description) == ["arrange City by idle, new listing"])
        _ = test.press(.character("]"), source)
        #expect(test.model.store == Self.other && test.model.screen == .archives)
        let before = test.text
        #expect(test.answer(asked[0], source).isEmpty)
        #expect(test.text == before)
        // With what it asks for nothing is waited for in vain.
        let back = test.press(.character("["), source, settling: false)
        #expect(test.model.screen == .entries && test.text.contains("16 entries"))
        test.effects = back
        test.settle(source)
        #expect(test.text.contains("Jakarta") && test.text.contains("geonameid"))
    }

    /// Rows stay still for who moves among them, also while figures of other stores come.
    @Test func whoMovesKeepsTheRows() throws {
        let clock = TestClock()
        var browser = try Fixture.browser(
            Fixture.source(), columns: 100, clock: clock, keys: "hj<enter>1j<enter>")
        clock.advance(10)
        browser.refresh()
        browser.press(try Key.script("j"))
        for _ in 0..<2 {
            clock.advance(1.1)
            browser.refresh()
            #expect(browser.frame.plainText.contains("frozen "), "\(browser.frame.plainText)")
        }
    }

    /// What was asked of a store that was closed since has no place any more.
    @Test func answersToAClosedStoreAreDropped() throws {
        let source = Fixture.source()
        var test = UpdateTest(Fixture.model(columns: 100, rows: 24))
        test.settle(source)
        for key in try Key.script("hj<enter>") { _ = test.press(key, source) }
        let asked = test.press(.character("R"), source, settling: false)
        #expect(asked.first?.description == "load figures of \(Self.other)")
        for key in try Key.script("hX") { _ = test.press(key, source) }
        let before = test.text
        #expect(test.answer(asked[0], source).isEmpty && test.text == before)
    }

    @Test func alarmsRingForStoresThatAreNotShown() throws {
        let source = Fixture.source()
        let clock = TestClock()
        var browser = try Fixture.browser(source, columns: 120, clock: clock, keys: "jT")
        func seconds(_ count: Int, hits: UInt64, misses: UInt64) {
            source.pass(count, hits: hits, misses: misses, clock, &browser)
        }
        seconds(3, hits: 90, misses: 10)
        browser.press(try Key.script("A<lt> 80%<enter>"))
        #expect(browser.model.said?.contains("The bell rings") == true, "\(browser.frame.plainText)")
        browser.press(try Key.script("<esc>hgj<enter>"))
        #expect(browser.model.store == Self.other && browser.sent.isEmpty)
        seconds(8, hits: 50, misses: 50)
        #expect(browser.frame.plainText.contains("ALARM: hit ratio of City in 1:demo is"))
        #expect(browser.frame.plainText.contains(" ALARM ") && browser.sent == [[7]])
        // The graph has what happened meanwhile.
        browser.press(try Key.script("["))
        #expect(browser.model.store == Fixture.storePath)
        seconds(8, hits: 95, misses: 5)
        #expect(browser.frame.plainText.contains("The alarm is over: hit ratio of City was"))
    }

    /// The tenth store takes the place of the one that was opened first.
    @Test func atMostNineAreOpen() throws {
        let source = Fixture.source()
        source.with { state in
            state.stores = (0..<12).map {
                StoreSummary(name: "s\($0)", path: "/s/s\($0)", archives: 3, entries: 19)
            }
        }
        var browser = try Fixture.browser(source, columns: 100, store: nil)
        for number in 0..<12 {
            browser.press(try Key.script("g" + String(repeating: "j", count: number) + "<enter>h"))
        }
        browser.press(try Key.script("9"))
        #expect(browser.model.store == "/s/s11")
        browser.press(try Key.script("1"))
        #expect(browser.model.store == "/s/s3")
    }

    // MARK: Those that are remembered

    private func store(_ path: String) throws {
        let store = try Store.open(at: path)
        try store.archive(named: "A", orCreate: ArchiveConfiguration(kind: .collection)).put([1], forKey: "k")
        store.close()
    }

    @Test func favouritesStandFirstAndRecentOnesLast() throws {
        let folder = try EngineSourceTests.Folder()
        for name in ["caches/b", "caches/a", "else/where", "else/loved"] {
            try FileManager.default.createDirectory(
                atPath: folder.path + "/" + name, withIntermediateDirectories: true)
            try store(folder.path + "/" + name)
        }
        let source = EngineSource(
            folder: folder.path + "/caches", state: StateFolder(path: folder.path + "/state"))
        #expect(try source.stores().map(\.name) == ["a", "b"])
        let moment = Timestamp(seconds: 1_770_000_000)
        try source.noteOpened(store: folder.path + "/else/where", at: moment)
        try source.noteOpened(store: folder.path + "/else/gone", at: moment)
        try source.setFavourite(true, store: folder.path + "/else/../else/loved")
        try source.setFavourite(true, store: folder.path + "/caches/b")
        let stores = try source.stores()
        #expect(stores.map(\.name) == ["b", "loved", "a", "where"])
        #expect(stores.map(\.isElsewhere) == [false, true, false, true])
        #expect(stores.map(\.isFavourite) == [true, true, false, false])
        #expect(stores[3].opened == moment && stores[3].entries == 1)
        try FileManager.default.removeItem(atPath: folder.path + "/else/loved")
        #expect(try source.stores()[1].problem?.contains("no store any more") == true)
        try source.setFavourite(false, store: folder.path + "/else/loved")
        #expect(try source.stores().map(\.name) == ["b", "a", "where"])
        // Another session knows them, too.
        var browser = HeadlessBrowser(
            Model(
                size: Size(columns: 100, rows: 20), look: Fixture.unicode, folder: folder.path + "/caches",
                now: moment), source: source, clock: { moment })
        #expect(browser.frame.plainText.contains("2 stores in \(folder.path)/caches, 1 elsewhere"))
        browser.press(try Key.script("jf"))
        #expect(try source.stores().map(\.isFavourite) == [true, true, false])
        browser.press(try Key.script("/whe<enter><enter>"))
        #expect(browser.model.store == folder.path + "/else/where")
    }

    @Test func aFilterShowsSomeStores() throws {
        var browser = try Fixture.browser(Fixture.source(), columns: 100, store: nil, keys: "/thu")
        #expect(browser.frame.plainText.contains("thumbnails") && !browser.frame.plainText.contains("/demo"))
        #expect(browser.frame.plainText.contains("1 of 3 stores"))
        browser.press(try Key.script("<esc>"))
        #expect(browser.frame.plainText.contains("/demo"))
        browser.press(try Key.script("/nothing<enter>"))
        #expect(browser.model.cursorRow == 0)
        browser.press(try Key.script("<enter><esc>"))
        #expect(browser.frame.plainText.contains("/demo") && browser.model.screen == .stores)
    }
}
