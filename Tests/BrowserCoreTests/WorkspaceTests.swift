import BrowserCore
import Foundation
import StorageEngine
import StoreInspection
import TerminalKit
import Testing

struct WorkspaceTests {
    private let source = Fixture.source()
    private let clock = TestClock()
    private static let other = "/home/ada/.cache/thumbnails"

    @Test func keepsStateOfStores() throws {
        var browser = try Fixture.browser(Fixture.source(), columns: 100, keys: "j<enter>jjm")
        let key = try #require(browser.model.cursorKey)
        try browser.press("]")
        #expect(browser.model.said?.contains("No other store is open") == true)
        try browser.press("<esc>hh", on: .stores)
        try browser.press("g/thumb<enter><enter>")
        #expect(browser.model.store == Self.other && browser.model.screen == .archives)
        #expect(browser.text.contains("2:thumbnails"))
        try browser.press("1")
        #expect(browser.model.store == Fixture.storePath && browser.model.screen == .archives)
        try browser.press("<enter>jjm]")
        #expect(browser.model.store == Self.other)
        try browser.press("j<enter>[")
        #expect(browser.model.store == Fixture.storePath && browser.model.screen == .entries)
        #expect(browser.model.cursorKey == key && browser.text.contains("1 marked"))
        #expect(browser.text.contains("1:demo"))
        try browser.press("]")
        #expect(browser.model.screen == .entries && browser.model.store == Self.other)
        #expect(browser.model.markedKeys.isEmpty)
    }

    @Test("O opens a store by its path beside the others, and reports one that can't be opened")
    func opensStoreByPath() throws {
        var browser = try Fixture.browser(Fixture.source(), columns: 100, keys: "O\(Self.other)<enter>")
        #expect(browser.model.store == Self.other && browser.text.contains("2:thumbnails"), "\(browser.text)")
        try browser.press("Ovalkey://127.0.0.1:1<enter>")
        #expect(browser.exit == nil && browser.model.store == Self.other)
        #expect(browser.model.said?.hasPrefix("Not opened: ") == true, "\(browser.text)")
    }

    @Test(
        "tab completes the path of a store, and shows the names that fit",
        arguments: [("al", "/alpha-"), ("alpha-1", "/alpha-1/"), (".h", "/.hidden"), ("z", "/z"), ("", "/")])
    func completesPaths(typed: String, completed: String) throws {
        let folder = EngineSourceTests.Folder()
        for name in ["alpha-1", "alpha-2"] {
            let path = folder.path + "/" + name
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        for name in [".hidden", "beta"] {
            #expect(FileManager.default.createFile(atPath: folder.path + "/" + name, contents: nil))
        }
        let browser = try Fixture.browser(
            Fixture.source(), columns: 200, keys: "O\(folder.path)/\(typed)<tab>")
        #expect(browser.text.contains("open: \(folder.path)\(completed)"), "\(browser.text)")
        #expect(browser.text.contains("alpha-1/  alpha-2/") == ["al", ""].contains(typed))
        #expect(!browser.text.contains(".hidden") || typed == ".h")
    }

    /// Regression: the completed name was another file's.
    @Test("tab leaves out names that aren't UTF-8")
    func completesOnlyText() throws {
        let folder = EngineSourceTests.Folder()
        let path = Array(folder.path.utf8CString.dropLast()) + [0x2f, 0x78, -1, 0x79, 0]
        let file = open(path, O_CREAT | O_WRONLY, 0o600)
        // Some file systems refuse such names.
        guard file >= 0 else { return }
        close(file)
        let browser = try Fixture.browser(Fixture.source(), columns: 200, keys: "O\(folder.path)/x<tab>")
        #expect(browser.text.contains("no such file"), "\(browser.text)")
    }

    @Test(
        "tab distinguishes an unreadable folder from a missing one",
        arguments: [("file/x/y", "the folder can't be read"), ("none/x", "no such file")])
    func completesInUnreadableFolder(typed: String, said: String) throws {
        let folder = EngineSourceTests.Folder()
        #expect(FileManager.default.createFile(atPath: folder.path + "/file", contents: nil))
        let browser = try Fixture.browser(
            Fixture.source(), columns: 200, keys: "O\(folder.path)/\(typed)<tab>")
        #expect(browser.text.contains(said), "\(browser.text)")
    }

    @Test("a remembered server is listed without being read")
    func serverIsListed() throws {
        let folder = EngineSourceTests.Folder()
        let state = StateFolder(path: folder.path + "/state")
        let source = EngineSource(folder: folder.path, state: state)
        try source.noteOpened(store: "valkey://127.0.0.1:1", at: Fixture.start)
        let stores = try source.stores().stores
        #expect(stores.map(\.path) == ["valkey://127.0.0.1:1"] && stores[0].problem == nil)
    }

    @Test func reportsStoresNotOpen() throws {
        var browser = try Fixture.browser(Fixture.source(), keys: "4")
        #expect(browser.model.said?.contains("Store 4 is not open: 1 store is open.") == true)
        try browser.press("1", says: "Store 1 is shown already.")
        try browser.press("hX", says: "Closed demo.")
        try browser.press("X", says: "demo isn't open.")
        try browser.press("1", says: "Store 1 is not open: 0 stores are open.")
    }

    @Test func responsesBelongToTheirStore() throws {
        var test = try UpdateTest(Fixture.model(columns: 100), source, keys: "hj<enter>1j")
        #expect(test.model.store == Fixture.storePath)
        let asked = test.press(Key(.enter), source, settling: false)
        #expect(asked.map(\.description) == ["arrange City by idle, new listing"])
        _ = test.press(.character("]"), source)
        #expect(test.model.store == Self.other && test.model.screen == .archives)
        let before = test.text
        #expect(test.answer(asked[0], source).isEmpty)
        #expect(test.text == before)
        // Its effects complete the pending requests.
        let back = test.press(.character("["), source, settling: false)
        #expect(test.model.screen == .entries && test.text.contains("16 entries"))
        test.settle(back, source)
        #expect(test.text.contains("Jakarta") && test.text.contains("geonameid"))
    }

    /// Rows stay in place while the cursor moves, even as other stores' figures arrive.
    @Test func movingFreezesRows() throws {
        var browser = try Fixture.browser(
            Fixture.source(), columns: 100, clock: clock, keys: "hj<enter>1j<enter>")
        clock.advance(10, refreshing: &browser)
        try browser.press("j")
        for _ in 0..<2 {
            clock.advance(1.1, refreshing: &browser)
            #expect(browser.text.contains("frozen "), "\(browser.text)")
        }
    }

    @Test func dropsResponsesOfClosedStore() throws {
        var test = try UpdateTest(Fixture.model(columns: 100), source, keys: "hj<enter>")
        let asked = test.press(.character("R"), source, settling: false)
        #expect(asked.first?.description == "load figures of \(Self.other)")
        try test.press("hX", source)
        let before = test.text
        #expect(test.answer(asked[0], source).isEmpty && test.text == before)
    }

    @Test("events of an open store that isn't shown are read", arguments: [0.25, 1.1])
    func readsEventsOfHiddenStores(seconds: Double) throws {
        Fixture.addEvents(source)
        var browser = try Fixture.browser(source, columns: 100, clock: clock, keys: "hj<enter>")
        let before = source.with { $0.events["City"]?.count ?? 0 }
        for round in 0..<20 {
            for number in 0..<100 {
                source.happen(.update, "\(round) \(number)", archive: "City", at: clock.now)
            }
            // Events that weren't read two seconds later are lost.
            source.with { $0.overwritten["City"] = before + max(0, 100 * (round - Int(2 / seconds))) }
            clock.advance(seconds, refreshing: &browser)
        }
        source.with { $0.overwritten["City"] = before + 1_800 }
        try browser.press("1E", hides: "missed")
    }

    @Test func alarmsRingForHiddenStores() throws {
        var browser = try Fixture.browser(source, columns: 120, clock: clock, keys: "jT")
        func seconds(_ count: Int, hits: UInt64, misses: UInt64) {
            source.pass(count, hits: hits, misses: misses, clock, &browser)
        }
        seconds(3, hits: 90, misses: 10)
        try browser.press("A<lt> 80%<enter>")
        #expect(browser.model.said?.contains("The bell rings") == true, "\(browser.text)")
        try browser.press("<esc>hgj<enter>")
        #expect(browser.model.store == Self.other && browser.sent.isEmpty)
        seconds(8, hits: 50, misses: 50)
        #expect(browser.text.contains("1:demo: ALARM: City hit ratio"))
        #expect(browser.text.contains(" ALARM ") && browser.sent == [[7]])
        // The graph covers that time.
        try browser.press("[")
        #expect(browser.model.store == Fixture.storePath)
        seconds(8, hits: 95, misses: 5)
        #expect(browser.text.contains("Alarm ended: City hit ratio was below 80%"))
    }

    /// The tenth store replaces the one shown longest ago, with its number, and that is reported.
    @Test func atMostNineStoresAreOpen() throws {
        source.with { state in
            state.stores = (0..<12).map {
                StoreSummary(name: "s\($0)", path: "/s/s\($0)", archives: 3, entries: 19)
            }
        }
        var browser = try Fixture.browser(source, columns: 100, store: nil)
        func open(_ number: Int) throws {
            try browser.press("g" + String(repeating: "j", count: number) + "<enter>")
        }
        for number in 0..<9 {
            try open(number)
            try browser.press("h")
        }
        // The first was used since, and the second has an alarm.
        try browser.press("1h2TA<lt> 80%<enter><esc>h")
        try open(9)
        #expect(browser.model.said == "Closed s2: at most 9 stores are open at once.")
        for (key, store) in [("1", "/s/s0"), ("2", "/s/s1"), ("3", "/s/s9"), ("9", "/s/s8")] {
            try browser.press("h" + key)
            #expect(browser.model.store == store)
        }
        try browser.press("hgjjjX", says: "Closed s3.")
        try browser.press("5")
        #expect(browser.model.store == "/s/s4", "the numbers changed")
    }

    @Test("a store with marked rows of a query stays open longer than stores without marks")
    func markedRowsKeepStoreOpen() throws {
        try Fixture.addQueries(source)
        source.with { state in
            state.stores = (0..<10).map {
                StoreSummary(name: "s\($0)", path: "/s/s\($0)", archives: 3, entries: 19)
            }
        }
        var browser = try Fixture.browser(source, columns: 100, store: nil)
        for number in 0..<9 {
            try browser.press("g" + String(repeating: "j", count: number) + "<enter>h")
        }
        try browser.press("1jQlimit 2<enter>m", shows: "1 marked")
        // The others are shown after it.
        try browser.press(String(repeating: "]", count: 8) + "hgjjjjjjjjj<enter>")
        #expect(browser.model.said == "Closed s1: at most 9 stores are open at once.")
        try browser.press("h1")
        #expect(browser.model.store == "/s/s0" && browser.text.contains("1 marked"), "\(browser.text)")
    }

    /// Regression: the result of a change was reported for the shown store, its dialogs were lost, and if its store was closed,
    /// its progress stayed in the status line.
    @Test(arguments: [false, true]) func keepsResultOfChange(fails: Bool) throws {
        var test = try UpdateTest(Fixture.model(columns: 100), source, keys: "hj<enter>1j<enter>D")
        #expect(test.text.contains("in 1:demo/City"))
        _ = test.press(Key(.tab), source)
        let asked = test.press(Key(.enter), source, settling: false)
        #expect(asked.first?.description.hasPrefix("delete 1 of City") == true)
        try test.press("]hgX", source)
        #expect(test.model.said == "demo is busy; close it when the work is done.")
        _ = test.press(.character("2"), source)
        if fails { source.with { $0.problem = "the disk is full" } }
        test.effects = test.answer(asked[0], source)
        source.with { $0.problem = nil }
        test.settle(source)
        let said = try #require(test.model.said)
        if fails {
            #expect(said == "1:demo: Nothing was deleted. Go there to see it.")
            #expect(!test.text.contains("the disk is full"))
            _ = test.press(.character("1"), source)
            #expect(test.text.contains("the disk is full"))
            _ = test.press(Key(.escape), source)
        } else {
            #expect(said.hasPrefix("1:demo: Deleted 1 entry") && !said.contains("undoes"))
        }
        try test.press(fails ? "hhgX" : "hgX", source)
        #expect(test.model.said == "Closed demo.")
    }

    /// Regression: work in another store replaced the collection of entries to delete, which ended without a result.
    @Test func workDoesNotEndWorkOfOtherStores() throws {
        var test = try UpdateTest(Fixture.model(columns: 100), source, keys: "hj<enter>1jz")
        #expect(test.model.screen == .groups)
        let asked = test.press(.character("D"), source, settling: false)
        #expect(asked.map(\.description) == ["collect the targets of City"])
        _ = test.press(.character("R"), source)
        try test.press("]j<enter>", source)
        #expect(test.model.store == Self.other && test.model.screen == .entries)
        test.settle(test.answer(asked[0], source), source)
        #expect(test.model.said == "1:demo: Waiting for your answer. Go there to see it.")
        _ = test.press(.character("["), source)
        #expect(test.text.contains("Delete ") && test.text.contains("in 1:demo/City"), "\(test.text)")
    }

    /// Regression: one key closed all stores, and the browser if there was no demo.
    @Test func demoNeedsConfirmationWithOpenStores() throws {
        var test = try UpdateTest(Fixture.model(columns: 100), source, keys: "h")
        #expect(test.press(.character("d"), source, settling: false).isEmpty)
        #expect(test.model.said == "This closes 1 open store; press d again to start the demo.")
        test.send(.clock(Fixture.start.adding(seconds: 1)))
        #expect(test.press(.character("d"), source, settling: false).map(\.description) == ["startDemo"])
        _ = test.press(.character("X"), source)
        #expect(test.press(.character("d"), source, settling: false).count == 1)
    }

    @Test("quitting during a change needs a second ctrl+c after a pause")
    func quittingDuringAChangeIsConfirmed() throws {
        let quit = Key.control("c")
        var test = try UpdateTest(Fixture.model(columns: 100), source, keys: "j<enter>D")
        _ = test.press(Key(.tab), source)
        let asked = test.press(Key(.enter), source, settling: false)
        test.send(.clock(Fixture.start.adding(seconds: 0.5)))
        #expect(test.press(quit, source, settling: false).isEmpty)
        test.send(.clock(Fixture.start.adding(seconds: 1)))
        #expect(test.text.contains("A change is running; press ctrl+c again to stop it"), "\(test.text)")
        _ = test.press(.character("j"), source, settling: false)
        #expect(test.press(quit, source, settling: false).isEmpty)
        for step in 1...20 {
            test.send(.clock(Fixture.start.adding(seconds: 1 + Double(step) * 0.03)))
            #expect(test.press(quit, source, settling: false).isEmpty)
        }
        test.send(.clock(Fixture.start.adding(seconds: 1.9)))
        #expect(test.press(quit, source, settling: false).map(\.description) == ["quit"])
        test.settle(asked, source)
        #expect(test.press(quit, source, settling: false).map(\.description) == ["quit"])
    }

    /// Regression: an undo in one store ended the countdown of another store's action of the same number.
    @Test func storesHaveSeparateUndo() throws {
        var browser = try Fixture.browser(source, columns: 120, keys: "hj<enter>j<enter>jjDy[j<enter>Dy")
        browser.refresh()
        #expect(browser.text.contains("u: undo"))
        try browser.press("]")
        browser.refresh()
        #expect(browser.model.store == Self.other && browser.text.contains("u: undo"))
        try browser.press("uy[")
        #expect(browser.model.store == Fixture.storePath && browser.text.contains("u: undo"))
    }

    /// Regression: a paused store also paused the list of stores.
    @Test func pauseAppliesToOneStore() throws {
        var browser = try Fixture.browser(source, columns: 100, clock: clock, keys: " ")
        #expect(browser.text.contains("PAUSED"))
        try browser.press("h")
        for _ in 0..<3 {
            clock.advance(1.1, refreshing: &browser)
            #expect(!browser.text.contains("PAUSED"))
        }
        try browser.press(" ")
        clock.advance(1.1, refreshing: &browser)
        #expect(browser.text.contains("PAUSED"))
    }

    // MARK: Remembered stores

    private func store(_ path: String) throws {
        let store = try Store.open(at: path)
        try store.archive(named: "A", orCreate: ArchiveConfiguration(kind: .collection)).put([1], forKey: "k")
        store.close()
    }

    @Test(arguments: [
        ("/a/b", "/a/b"), ("/a//./b/", "/a/b"), ("/", "/"), ("/a/..b/.c", "/a/..b/.c"),
        ("/a/\u{301}b", "/a/\u{301}b"),
    ]) func normalizesPaths(given: String, whole: String) {
        #expect(ExactText(StorePath.absolute(given)) == ExactText(whole))
    }

    @Test("the list of stores names the last shown server, and esc returns to it until it is closed")
    func escapeReturnsToServer() throws {
        let address = "valkey://127.0.0.1:7312"
        let model = Model(
            size: Size(columns: 80, rows: 24), look: Fixture.unicode, folder: address, store: address,
            now: Fixture.start)
        let source = Fixture.source { $0.stores = [StoreSummary(name: "127.0.0.1:7312", path: address)] }
        let closed = try UpdateTest(model, source, keys: "j<enter>hhX")
        #expect(!closed.text.contains("returns to it"), "\(closed.text)")
        var test = try UpdateTest(model, Fixture.source(), keys: "j<enter>hh")
        #expect(test.model.screen == .stores && test.text.contains("returns to it"))
        let lines = test.text.split(separator: "\n")
        #expect(lines[0].contains("servers") && lines[1].contains(address), "\(test.text)")
        #expect(lines[2].contains("memory") && !lines[2].contains("disk"))
        _ = test.press(Key(.escape), Fixture.source())
        #expect(test.model.screen == .archives && test.model.said == nil)
    }

    @Test func nameOmitsCertificates() {
        #expect(StorePath.name("valkeys://127.0.0.1:7312?roots=/tmp/root.pem") == "127.0.0.1:7312")
        #expect(StorePath.name("/a/b?roots=c") == "b?roots=c" && StorePath.name("/") == "/")
    }

    @Test func resolvesPaths() throws {
        let here = FileManager.default.currentDirectoryPath
        #expect(StorePath.absolute("x/") == (here == "/" ? "" : here) + "/x")
        let folder = EngineSourceTests.Folder()
        try FileManager.default.createDirectory(
            atPath: folder.path + "/one/two", withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/link", withDestinationPath: folder.path + "/one/two")
        #expect(StorePath.absolute(folder.path + "/link/") == folder.path + "/link")
        #expect(StorePath.absolute(folder.path + "/link/..").hasSuffix("/one"))
        #expect(StorePath.absolute(folder.path + "/one/../link") == folder.path + "/link")
        #expect(StorePath.absolute("/usr/..") == "/" && StorePath.absolute("/usr/../usr") == "/usr")
    }

    /// Regression: without a state folder, a favorite was reported as saved, and an unreadable state as empty.
    @Test func reportsUnsavedState() throws {
        let folder = EngineSourceTests.Folder()
        try store(folder.path + "/a")
        do throws(SourceError) {
            try EngineSource(folder: folder.path).setFavorite(true, store: folder.path + "/a")
            Issue.record("the favorite was saved")
        } catch {
            #expect(error.description.contains("no folder for it"))
        }
        let state = StateFolder(path: folder.path + "/state")
        let source = EngineSource(folder: folder.path, state: state)
        try source.setFavorite(true, store: folder.path + "/a")
        #expect(try source.stores().favoritesProblem == nil)
        let file = try #require(
            try FileManager.default.subpathsOfDirectory(atPath: folder.path + "/state")
                .first { $0.contains("stores") })
        try FileManager.default.removeItem(atPath: folder.path + "/state/" + file)
        try FileManager.default.createDirectory(
            atPath: folder.path + "/state/" + file, withIntermediateDirectories: true)
        let list = try source.stores()
        #expect(list.stores.map(\.name) == ["a"] && list.favoritesProblem != nil)
    }

    @Test func sortsFavoritesFirst() throws {
        let folder = EngineSourceTests.Folder()
        for name in ["caches/b", "caches/a", "else/where", "else/loved"] {
            try FileManager.default.createDirectory(
                atPath: folder.path + "/" + name, withIntermediateDirectories: true)
            try store(folder.path + "/" + name)
        }
        let source = EngineSource(
            folder: folder.path + "/caches", state: StateFolder(path: folder.path + "/state"))
        #expect(try source.stores().stores.map(\.name) == ["a", "b"])
        let moment = Timestamp(seconds: 1_770_000_000)
        try source.noteOpened(store: folder.path + "/else/where", at: moment)
        try source.noteOpened(store: folder.path + "/else/gone", at: moment)
        try source.setFavorite(true, store: folder.path + "/else/../else/loved")
        try source.setFavorite(true, store: folder.path + "/caches/b")
        let stores = try source.stores().stores
        #expect(stores.map(\.name) == ["b", "loved", "a", "where"])
        #expect(stores.map(\.isElsewhere) == [false, true, false, true])
        #expect(stores.map(\.isFavorite) == [true, true, false, false])
        #expect(stores[3].opened == moment && stores[3].entries == 1)
        try FileManager.default.removeItem(atPath: folder.path + "/else/loved")
        #expect(try source.stores().stores[1].problem?.contains("no store exists") == true)
        try source.setFavorite(false, store: folder.path + "/else/loved")
        #expect(try source.stores().stores.map(\.name) == ["b", "a", "where"])
        // In another session.
        var browser = HeadlessBrowser(
            Model(
                size: Size(columns: 100, rows: 20), look: Fixture.unicode, folder: folder.path + "/caches",
                now: moment), source: source, clock: { moment })
        #expect(browser.text.contains("2 stores in \(folder.path)/caches, 1 elsewhere"))
        try browser.press("jf")
        #expect(try source.stores().stores.map(\.isFavorite) == [true, true, false])
        try browser.press("/whe<enter><enter>")
        #expect(browser.model.store == folder.path + "/else/where")
    }

    /// Regression: "4 of 0 stores in /home, 7 elsewhere", and an empty screen without matches.
    @Test func filterCountsAllStores() throws {
        source.with { state in for place in state.stores.indices { state.stores[place].isElsewhere = true } }
        var browser = try Fixture.browser(source, columns: 100, store: nil, keys: "/thu<enter>")
        #expect(browser.lines[1].contains("1 of 3 stores  filter \"thu\""), "\(browser.text)")
        try browser.press("<esc>/zz<enter>", row: 1, shows: "0 of 3 stores  filter \"zz\"")
        #expect(browser.text.contains("No name or path contains \"zz\"; esc clears the filter."))
    }

    @Test func filtersStores() throws {
        var browser = try Fixture.browser(Fixture.source(), columns: 100, store: nil, keys: "/thu")
        browser.expect(shows: "thumbnails", "1 of 3 stores", hides: "/demo")
        try browser.press("<esc>", shows: "/demo")
        try browser.press("/nothing<enter>")
        #expect(browser.model.cursorRow == 0)
        try browser.press("<enter><esc>")
        #expect(browser.text.contains("/demo") && browser.model.screen == .stores)
    }
}
