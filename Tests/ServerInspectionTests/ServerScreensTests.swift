import BrowserCore
import Foundation
import ServerInspection
import ServerSupport
import StorageEngine
import StoreInspection
import TerminalKit
import Testing
import TestSupport
import ValkeyWire

@Suite(.serialized, .enabled(if: ValkeyServer.program != nil, "no server is installed"))
struct ServerScreensTests {
    @Test("lists databases and keys")
    func databasesAndKeys() async throws {
        let served = try await Served()
        try served.fill()
        try served.ask("SELECT", "2")
        try served.ask("SET", "other", "1")
        var browser = try served.browser()
        let databases = browser.text
        for word in ["db0", "db2", "no limit", "primary"] { #expect(databases.contains(word), "\(word)") }
        try browser.press("<enter>")
        let keys = browser.text
        for word in ["scores", "zset", "stream", "hash", "7 entries", "type", "encoding"] {
            #expect(keys.contains(word), "\(word)")
        }
        for word in ["tier", "owner", "hits", "age"] { #expect(!keys.contains(word), "\(word)") }
        try browser.press("/cor<enter>", shows: "1 of 7 entries")
        try browser.press("<esc><esc>", shows: "db2")
    }

    @Test("the first screen of 80 columns has graphs of hits, operations and memory side by side")
    func graphsOfNarrowScreen() async throws {
        let served = try await Served()
        let text = try served.browser(size: Size(columns: 80, rows: 24)).text
        let titles = text.split(separator: "\n").first { $0.contains("hit, last") }
        #expect(titles?.contains("operations") == true && titles?.contains("memory") == true, "\(text)")
        #expect(text.contains("policy"))
    }

    @Test("larger screens have four graphs down to their end", arguments: [(120, 40), (80, 40)])
    func graphsUseTheScreen(columns: Int, rows: Int) async throws {
        let served = try await Served()
        let lines = try served.browser(size: Size(columns: columns, rows: rows)).text
            .split(separator: "\n", omittingEmptySubsequences: false)
        let first = try #require(lines.first { $0.contains("hit, last") })
        let second = try #require(lines.first { $0.contains("evictions ") && $0.contains("memory ") })
        #expect(first.contains("operations") && !second.contains("hit"))
        let end = try #require(lines.lastIndex { $0.contains("└") || $0.contains("+--") })
        #expect(end >= rows - 4, "\(lines.joined(separator: "\n"))")
    }

    @Test("databases are sorted by keys and by expiring keys")
    func sortedDatabases() async throws {
        let served = try await Served()
        try served.ask("MSET", "a", "1", "b", "1")
        try served.ask("SELECT", "3")
        try served.ask("MSET", "a", "1", "b", "1", "c", "1")
        try served.ask("SELECT", "5")
        try served.ask("SET", "a", "1", "EX", "900")
        var browser = try served.browser()
        func names() -> [Substring] {
            browser.text.split(separator: "\n").compactMap { line in
                line.split(separator: " ").first.flatMap { $0.wholeMatch(of: /db[0-9]/) == nil ? nil : $0 }
            }.prefix(3).map { $0 }
        }
        #expect(names() == ["db0", "db3", "db5"])
        try browser.press("s")
        #expect(names() == ["db3", "db0", "db5"], "\(browser.text)")
        try browser.press("r")
        #expect(names() == ["db5", "db0", "db3"], "\(browser.text)")
        try browser.press("s")
        #expect(names().first == "db5", "\(browser.text)")
    }

    @Test("a hash has no bytes of its own; entries of a stream have times")
    func valuesOfTypes() async throws {
        let served = try await Served()
        try served.fill()
        try served.ask("XADD", "times", "1700000000000-0", "event", "login")
        var browser = try served.browser("<enter>/hash<enter><enter><enter>")
        browser.expect(shows: "tree", hides: " hex")
        try browser.press("<esc><esc>/times<enter><enter>")
        let row = browser.text.split(separator: "\n").first { $0.contains("1700000000000-0") }
        let time = Figures.date(Timestamp(seconds: 1_700_000_000))
        #expect(row?.contains(time) == true, "\(browser.text)")
    }

    @Test("a value whose read counts as an access is only read after enter")
    func readsWithoutAccess() async throws {
        let served = try await Served()
        try served.ask("SET", "text", "contents to see")
        try await Task.sleep(for: .milliseconds(2100))
        let touches = try !served.connection.capabilities().keepsIdleTimes
        var browser = try served.browser("<enter><enter>")
        browser.refresh()
        if touches {
            browser.expect(shows: "counts as an access to its key", hides: "contents to see")
        } else {
            #expect(browser.text.contains("contents to see"))
        }
        #expect(try (served.ask("OBJECT", "IDLETIME", "text").number ?? 0) >= 2)
        try browser.press("<enter>", shows: "contents to see")
    }

    @Test("the value beside the list follows changes of equal size: at once, or after R where reads count")
    func changesOfEqualSize() async throws {
        let served = try await Served()
        try served.ask("SET", "text", "value 1")
        let touches = try !served.connection.capabilities().keepsIdleTimes
        var browser = try served.browser("<enter>" + (touches ? "<enter><enter><esc>" : ""))
        try await Task.sleep(for: .milliseconds(1100))
        browser.refresh()
        #expect(browser.text.contains("value 1"), "\(browser.text)")
        for value in ["value 2", "value 3"] {
            try served.ask("SET", "text", value)
            try await Task.sleep(for: .milliseconds(1100))
            browser.refresh()
            #expect(browser.text.contains(value) != touches, "\(browser.text)")
            try browser.press("R", shows: value)
        }
    }

    @Test(
        "actions that a server doesn't support report the reason at once",
        arguments: [
            ("<enter>b", "no events"), ("L", "only"),
        ])
    func disabledActionsReportReason(keys: String, reason: String) async throws {
        let served = try await Served()
        try served.fill()
        var browser = try served.browser()
        try browser.press(keys)
        #expect(browser.model.said?.contains(reason) == true, "\(browser.text)")
        #expect(!browser.text.contains("key of the new entry"))
    }

    @Test("keys are deleted and restored")
    func deletingAndUndoing() async throws {
        let served = try await Served()
        try served.fill()
        _ = try served.browser("<enter>Dy", isReadOnly: true)
        #expect(try served.ask("DBSIZE").number == 7)
        var browser = try served.browser("<enter>/scores<enter>D")
        #expect(browser.text.contains("Delete"))
        try browser.press("y")
        #expect(try served.ask("EXISTS", "scores").number == 0)
        try browser.press("U", shows: "by this browser")
        try browser.press("<esc>uy")
        #expect(try served.ask("EXISTS", "scores").number == 1, "\(browser.text)")
    }

    @Test("keys that another server listed aren't changed")
    func changesOfKeysOfAnotherServer() async throws {
        let served = try await Served()
        try served.ask("SET", "key", "0")
        let targets = try served.targets(["key"])
        let source = served.source()
        #expect(try source.listing(in: served.archive).count == 1)
        served.server.stop()
        try await served.server.start()
        let client = try PlainClient(port: served.server.port)
        try client.command("SET", "key", "of another server")
        // Reconnects.
        #expect(try source.entry("none", in: served.archive) == nil)
        #expect(throws: SourceError.self) {
            try source.carryOut(.delete, on: targets, in: served.archive) { _ in true }
        }
        #expect(try client.command("EXISTS", "key").number == 1)
        _ = try source.listing(in: served.archive)
        #expect(
            try source.carryOut(.delete, on: targets, in: served.archive) { _ in true }.outcome.entries == 1)
    }

    @Test("the list is read again after a restart of the server, even with the same number of keys")
    func listsAgainAfterRestart() async throws {
        let served = try await Served()
        try served.ask("SET", "before", "1")
        var browser = try served.browser("<enter>m")
        #expect(browser.model.markedKeys == ["before"])
        served.server.stop()
        try await served.server.start()
        try PlainClient(port: served.server.port).command("SET", "after", "1")
        // The order is frozen for three seconds after a key, and removed rows stay for a second.
        for milliseconds in [3200, 1100] {
            try await Task.sleep(for: .milliseconds(milliseconds))
            browser.refresh()
        }
        #expect(browser.model.cursorKey == "after", "\(browser.text)")
        #expect(browser.model.markedKeys == [], "changes of another run are refused")
    }

    @Test("the list and the value show one size")
    func sizes() async throws {
        let served = try await Served()
        try served.fill()
        let memory = try #require(try served.connection.facts(of: [Array("scores".utf8)], in: 0)[0]).memory
        var browser = try served.browser("<enter>/scores<enter><enter><enter>")
        let text = browser.text
        #expect(text.contains("zset, \(Figures.bytes(UInt64(memory)))"), "\(text)")
        try browser.press("D", shows: "1 entry, \(Figures.bytes(UInt64(memory)))")
    }

    @Test("the undo of an expiry restores keys that have expired since, as its plan states")
    func undoneExpiry() async throws {
        let served = try await Served()
        try served.fill()
        let set = try served.changes().carryOut(
            .setLifetime(.milliseconds(100)), on: try served.targets(["scores"]))
        #expect(set.outcome.entries == 1)
        #expect(try await eventually { try served.ask("EXISTS", "scores").number == 0 })
        var browser = try served.browser("<enter>u")
        #expect(browser.text.contains("expired since are "), "\(browser.text)")
        try browser.press("y")
        #expect(try served.ask("EXISTS", "scores").number == 1)
    }

    @Test("exports the key and metadata that a result shows, without values that were not read")
    func unreadValuesAreNotWritten() async throws {
        let served = try await Served()
        try served.fill()
        let path = served.folder + ".json"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let browser = try served.browser("<enter>Q@type = \"hash\"<enter>w\(path)<enter>")
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(text.contains("\"key\":\"hash\"") && !text.contains("null"), "\(text)")
        guard try !served.connection.capabilities().keepsIdleTimes else { return }
        #expect(text.contains("\"@type\":\"hash\"") && text.contains("\"@size\":"), "\(text)")
        #expect(!text.contains("\"value\""), "\(text)")
        #expect(browser.text.contains("@size"), "\(browser.text)")
    }

    @Test("leaves out the columns of groups that the server can't report")
    func groupsHaveReportedColumnsAlone() async throws {
        let served = try await Served()
        try served.fill()
        let browser = try served.browser("<enter>z")
        browser.expect(shows: "idle", hides: "hits")
    }

    @Test("a stopped list continues, and the keys found so far are listed")
    func continuedList() async throws {
        let served = try await Served()
        for number in 0..<3000 { try served.ask("SET", "key \(number)", "1") }
        let source = served.source()
        let stopped = try source.listing(in: served.archive, holding: "") { $0 < 1000 }
        #expect(stopped == nil)
        let part = try source.recentEntries(500, in: served.archive)
        #expect((1000..<3000).contains(part.count))
        var first: Int?
        let whole = try source.listing(in: served.archive, holding: "") { found in
            first = first ?? found
            return true
        }
        #expect(first == part.count)
        #expect(try Set((0..<3000).compactMap { try whole?.key(at: $0) }).count == 3000)
        #expect(try source.recentEntries(500, in: served.archive).count == 500)
    }

    @Test("the pace full and an idle server take larger steps", arguments: ["full", "polite"])
    func pace(pace: String) async throws {
        let served = try await Served()
        for number in 0..<5000 { try served.ask("SET", "key \(number)", "1") }
        // The server's average rate of commands still includes these.
        if pace == "polite" { try await Task.sleep(for: .seconds(2)) }
        let address = try ServerAddress(served.address.description + "?pace=" + pace)
        #expect(address.description == served.address.description)
        let listing = try ServerListing(ListingScan(ServerConnection(address), database: 0))
        #expect(listing?.count == 5000)
        #expect(try served.calls("scan") < 60)
    }

    @Test("marking sparse rows requests only their keys")
    func sparseTargets() async throws {
        let served = try await Served()
        for number in 0..<2000 { try served.ask("SET", "key \(number)", "1") }
        let listing = try #require(
            try ServerListing(ListingScan(served.connection, database: 0), isPaced: false))
        let places = stride(from: 0, to: 2000, by: 20).map { $0 }
        let targets = try #require(CollectedTargets(listing, places) { _ in true }).targets
        #expect(try targets.map(\.key) == places.map { try listing.key(at: $0) })
        #expect(try served.calls("type") == places.count)
    }

    @Test("visible rows are read again while the list stays")
    func rowsAreReadAgain() async throws {
        let served = try await Served()
        try served.ask("SET", "key", "text")
        var browser = try served.browser("<enter>")
        #expect(browser.text.contains("string"))
        try served.ask("DEL", "key")
        try served.ask("RPUSH", "key", "one")
        try await Task.sleep(for: .milliseconds(1100))
        browser.refresh()
        browser.expect(shows: "list", hides: "string")
    }

    @Test("sorts by the shown columns only, with digits in their order")
    func sortsByShownColumns() async throws {
        let served = try await Served()
        try served.fill()
        var browser = try served.browser("<enter>")
        for _ in 0..<8 {
            try browser.press("s")
            #expect(!browser.text.contains("sorted by"), "a hidden column")
        }
        try browser.press("122")
        #expect(browser.model.cursorKey == "scores", "the second column is the type; zset is the last type")
        try browser.press("9")
        #expect(browser.model.said?.contains("6 columns") == true)
        try browser.press(":sort by age<enter>")
        #expect(browser.model.said?.contains("age") == true, "\(browser.text)")
    }

    @Test("a sort that reads many keys states their number first")
    func expensiveSort() async throws {
        let served = try await Served()
        for number in 0..<1_200 { try served.ask("SET", "key \(number)", "x") }
        var browser = try served.browser("<enter>4")
        #expect(browser.text.contains("1,200 keys"), "\(browser.text)")
        try browser.press("<esc>1")
        #expect(browser.model.cursorKey == "key 0", "names need no metadata")
    }

    @Test("after the first value, enter reads values at once")
    func valuesAreReadAtOnce() async throws {
        let served = try await Served()
        try served.ask("MSET", "first", "contents one", "second", "contents two")
        var browser = try served.browser("<enter><enter>")
        if try !served.connection.capabilities().keepsIdleTimes { try browser.press("<enter>") }
        #expect(browser.text.contains("contents"))
        try browser.press("<esc><down><enter>", shows: "contents")
    }

    @Test("a deletion and its undo change the list without scanning the server")
    func deletionWithoutScan() async throws {
        let served = try await Served()
        try served.fill()
        func scans() throws -> Substring? {
            try served.ask("INFO", "commandstats").shownText.split(separator: "cmdstat_scan:calls=")
                .dropFirst()
                .first?.prefix { $0 != "," }
        }
        var browser = try served.browser("<enter>/scores<enter>")
        let before = try scans()
        try browser.press("Dy<esc>", shows: "6 entries")
        try browser.press("/scores<enter>")
        #expect(browser.model.cursorKey == nil)
        try browser.press("uy")
        #expect(browser.model.cursorKey == "scores", "\(browser.text)")
        #expect(try scans() == before)
    }

    @Test("a server's summary has its memory and no disk size")
    func summary() async throws {
        let served = try await Served()
        let source = served.source()
        let summary = try #require(try source.stores().stores.first)
        #expect(summary.memoryBytes ?? 0 > 0 && summary.diskBytes == 0)
    }

    @Test("sorting by size reads the facts of all keys")
    func sorting() async throws {
        let served = try await Served()
        try served.fill()
        for number in 0..<200 {
            try served.ask("SET", "key \(number)", String(repeating: "x", count: number * 10))
        }
        let source = served.source()
        var request = ArrangementRequest(in: served.archive, order: EntryOrder(.size))
        request.visible = 10
        let arranged = try #require(try ListBuilder(source: source, clock: { .now() }).arrange(request))
        let sizes = (0..<10).compactMap { arranged.rows.entries[$0]?.valueBytes }
        #expect(sizes.count == 10)
        #expect(sizes == sizes.sorted(by: >))
        request.order = EntryOrder(.key)
        let byKey = try #require(try ListBuilder(source: source, clock: { .now() }).arrange(request))
        #expect(byKey.rows.entries[0]?.key == "hash")
    }

    @Test("while a list is sorted by metadata, its known part is shown in order, and the progress only grows")
    func sortedPart() async throws {
        let served = try await Served()
        for number in 0..<3000 {
            try served.ask("SET", "key \(number)", String(repeating: "x", count: number % 500))
        }
        let source = ServerSource(served.address, remembers: EngineSource(), undoFolder: nil)
        let archive = ArchiveAddress("db0", in: served.address.description)
        var request = ArrangementRequest(in: archive, order: EntryOrder(.size))
        request.visible = 10
        var (shares, parts): ([Double], [Arrangement]) = ([], [])
        let builder = ListBuilder(source: source, clock: { .now() }) { share in
            shares.append(share)
            let part = try? ListBuilder(source: source, clock: { .now() }).arrange(request, isFirst: true)
            if let part = part?.arrangement, part.isPart, part.count > 0 { parts.append(part) }
            return true
        }
        let whole = try #require(try builder.arrange(request)).arrangement
        #expect(whole.count == 3000 && !whole.isPart && whole.listing.knowsFigures)
        #expect(shares == shares.sorted())
        let counts = parts.map(\.count)
        #expect(Set(counts).count > 2 && counts == counts.sorted(), "\(counts)")
        for part in parts {
            let sizes = (0..<part.count).map { part.listing.figures(at: part.rows.index(atRow: $0)).size }
            #expect(sizes == sizes.sorted(by: >) && sizes.last != 0)
        }
    }

    @Test("a property's column states that a value isn't read where that counts as an access")
    func withheldProperties() async throws {
        let served = try await Served()
        try served.ask("SET", "object", #"{"year":1852}"#)
        try await Task.sleep(for: .milliseconds(2100))
        let browser = try served.browser("<enter>pCyear<enter><esc>")
        let isRead = try served.connection.capabilities().keepsIdleTimes
        let row = browser.frame.plainText.split(separator: "\n").first { $0.contains("object") }
        #expect(row?.contains(isRead ? "1852" : "not read") == true, "\(browser.frame.plainText)")
        #expect(try (served.ask("OBJECT", "IDLETIME", "object").number ?? 0) >= 2)
    }

    @Test("R among likely victims stays at the first row")
    func refreshOfLikelyVictims() async throws {
        let served = try await Served(["--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"])
        try served.ask("MSET", "first", "1", "second", "1")
        try await Task.sleep(for: .milliseconds(2100))
        try served.ask("TOUCH", "second")
        var browser = try served.browser("<enter>V")
        #expect(browser.model.cursorKey == "first")
        try await Task.sleep(for: .milliseconds(2100))
        try served.ask("TOUCH", "first")
        try browser.press("R")
        #expect(browser.model.cursorRow == 0 && browser.model.cursorKey == "second")
    }

    @Test("a filter finds a key stored after an old list was read")
    func filterOfOldList() async throws {
        let served = try await Served()
        try served.fill()
        let shift = Guarded(0.0)
        var browser = try served.browser(
            "<enter>", clock: { Timestamp.now().adding(seconds: shift.withLock { $0 }) })
        try served.ask("SET", "fresh", "1")
        try browser.press("/fresh<enter>")
        #expect(browser.model.cursorKey == nil, "the list is recent")
        try browser.press("<esc>")
        shift.withLock { $0 = 60 }
        try browser.press("/fresh<enter>")
        #expect(browser.model.cursorKey == "fresh", "\(browser.text)")
    }

    @Test("a condition on values and a count of values read nothing before the user confirms")
    func allowedReads() async throws {
        let served = try await Served()
        for number in 0..<20 { try served.ask("HSET", "h:\(number)", "stock", "\(number)") }
        var browser = try served.browser("<enter>Wstock > 14<enter>")
        let asks = try !served.connection.capabilities().keepsIdleTimes
        #expect(browser.text.contains("Read all values?") == asks)
        if asks { try browser.press("y") }
        #expect(browser.text.contains("5 of 20 entries"), "\(browser.text)")
        try browser.press("<esc>fstock<enter>", shows: "20 groups by stock")
    }

    @Test("a filter shows some of the databases")
    func filteredDatabases() async throws {
        let served = try await Served()
        for number in ["0", "1", "12"] {
            try served.ask("SELECT", number)
            try served.ask("SET", "key", "1")
        }
        var browser = try served.browser("/b1<enter>")
        let text = browser.text
        #expect(text.contains("2 of 3 databases") && !text.contains("db0"), "\(text)")
        try browser.press("<esc>", shows: "db0")
    }

    @Test("a plan leaves out marked keys whose rows show that they were removed")
    func plansWithoutRemovedRows() async throws {
        let served = try await Served()
        _ = try served.fill(keys: 4)
        var browser = try served.browser("<enter>M")
        try served.ask("DEL", "key 1", "key 3")
        try await Task.sleep(for: .milliseconds(1100))
        browser.refresh()
        try browser.press("D")
        #expect(browser.model.planned?.map(\.key).sorted() == ["key 0", "key 2"])
    }

    @Test("a plan looks up marked keys at the server, which may be newer than the list")
    func plansOfMarkedKeys() async throws {
        let served = try await Served()
        _ = try served.fill(keys: 4)
        var browser = try served.browser("<enter>M")
        try served.ask("DEL", "key 1")
        try browser.press("D")
        #expect(browser.model.planned?.map(\.key).sorted() == ["key 0", "key 2", "key 3"])
        browser = try served.browser("<enter>M")
        try served.ask("DEL", "key 2")
        try browser.press("R")
        try served.ask("SET", "key 2", "1")
        try browser.press("D")
        #expect(browser.model.planned?.map(\.key).sorted() == ["key 0", "key 2", "key 3"])
    }

    @Test("a sort by type uses the metadata that a sort by size has read")
    func sortsReuseMetadata() async throws {
        let served = try await Served()
        for number in 0..<200 { try served.ask("SET", "key \(number)", "1") }
        var browser = try served.browser("<enter>4")
        let before = try served.calls("type")
        try browser.press("2")
        #expect(try served.calls("type") < before + 150)
    }

    @Test("the monitor shows clients and slow commands")
    func monitor() async throws {
        let served = try await Served(["--slowlog-log-slower-than", "0"])
        try served.fill()
        var browser = try served.browser("P")
        #expect(browser.text.contains("vellum-browser"))
        try browser.press("<enter>")
        #expect(browser.text.contains("Client "), "a client in full")
        try browser.press("<esc><esc>E", shows: "HSET hash name Ada")
        try served.ask("EVAL", "for number = 1, 10000000 do end", "0")
        try served.ask("PING")
        try await Task.sleep(for: .milliseconds(1100))
        browser.refresh()
        try browser.press("s")
        let rows = browser.text.split(separator: "\n")
        let eval = try #require(rows.firstIndex { $0.contains("EVAL") })
        #expect(eval < rows.firstIndex { $0.contains("HSET") } ?? .max)
        try browser.press("r")
        #expect(
            try #require(browser.text.split(separator: "\n").firstIndex { $0.contains("EVAL") })
                > eval)
        try browser.press("/hset<enter>", shows: "HSET hash name Ada", hides: "EVAL")
        try browser.press("<esc>/info<enter>", shows: "INFO")
        try browser.press("t", shows: "No command contains")
        try browser.press("P", hides: "vellum-browser")
    }

    @Test("an unreachable server is reported, and the list stays")
    func unreachableServer() async throws {
        let served = try await Served()
        try served.fill()
        var browser = try served.browser("<enter>")
        served.server.stop()
        try await Task.sleep(for: .milliseconds(1100))
        browser.refresh()
        browser.expect(shows: "UNREACHABLE", "scores")
    }
}
