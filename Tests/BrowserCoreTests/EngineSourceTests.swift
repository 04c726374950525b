import BrowserCore
import CacheAdvance
import Foundation
import StorageEngine
import StoreInspection
import TerminalKit
import TestSupport
import Testing

/// The browser on a real store.
struct EngineSourceTests {
    /// A folder that is removed with the object.
    final class Folder: Sendable {
        let path = NSTemporaryDirectory() + "browser-" + UUID().uuidString

        /// Without the folder, each use of it fails.
        init() {
            try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }

        deinit { discard(path) }
    }

    let folder = Folder()
    var path: String { folder.path + "/store" }

    func fill(_ path: String, count: Int = 50) throws -> (Store, StorageEngine.Archive) {
        let store = try Store.open(at: path)
        let archive = try store.archive(
            named: "City", orCreate: ArchiveConfiguration(diskLimit: 100_000, memoryLimit: nil))
        for number in 0..<count {
            try archive.put(Array("{\"number\":\(number)}".utf8), forKey: "city \(number)", encoding: .json)
        }
        return (store, archive)
    }

    func browser(store: String?, keys: String = "") throws -> HeadlessBrowser {
        try Fixture.browser(at: folder.path, store: store, keys: keys)
    }

    @Test("an archive with a missing segment is shown as damaged, also where its index has no damage")
    func missingSegmentIsDamage() throws {
        let (store, archive) = try fill(path)
        let value = [UInt8](repeating: 7, count: 2_000)
        for number in 0..<1_500 { try archive.put(value, forKey: "large \(number % 40)") }
        store.close()
        let source = { EngineSource(folder: folder.path) }
        #expect(try source().figures(store: path).archives.map(\.isDamaged) == [false])
        let segments = try FileManager.default.contentsOfDirectory(atPath: path + "/City.archive")
            .filter { $0.hasSuffix(".segment") }.sorted()
        try FileManager.default.removeItem(
            atPath: path + "/City.archive/" + #require(segments.dropLast().last))
        let sample = try #require(try source().figures(store: path).archives.first)
        #expect(sample.isDamaged && sample.damagedPlaces == 0 && sample.damage != nil)
    }

    @Test(
        "an archive that was removed or replaced keeps no disk space",
        .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/fd")), arguments: [false, true])
    func removedArchiveIsClosed(isReplaced: Bool) throws {
        let (store, _) = try fill(path)
        var browser = try browser(store: path, keys: "<enter><esc>")
        #expect(browser.model.screen == .archives)
        try store.removeArchive(named: "City")
        if isReplaced { _ = try fill(path, count: 1) }
        #expect(try !removedFiles().isEmpty)
        // Not each refresh reads the figures if that took long.
        let isClosed = try holds {
            browser.refresh()
            return try removedFiles() == []
        }
        #expect(isClosed)
    }

    /// Removed files of the archive that this process has open or mapped.
    private func removedFiles() throws -> [String] {
        let (files, place) = (FileManager.default, folder.path.split(separator: "/").last ?? "")
        let open = try files.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
            try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)
        }
        let maps = try String(contentsOfFile: "/proc/self/maps", encoding: .utf8).split(separator: "\n")
        return (open + maps.map(String.init)).filter { $0.contains(place) && $0.hasSuffix("(deleted)") }
    }

    /// Order, hits and counters, as other processes see them.
    private func traces(_ archive: StorageEngine.Archive) throws -> [String] {
        let list = try archive.entries()
        let entries = try list.indices.map {
            "\(try list.metadata(at: $0)?.key ?? "-") \(list[$0].hits) \(list[$0].recency)"
        }
        var status = try archive.status()
        status.footprint = 0
        return entries + ["\(status)"]
    }

    @Test("archives whose names differ only in their Unicode form have their own events")
    func eventsOfEqualNames() throws {
        let store = try Store.open(at: path)
        defer { store.close() }
        for (name, count) in [("Caf\u{e9}", 3), ("Cafe\u{301}", 5)] {
            let archive = try store.archive(
                named: name, orCreate: ArchiveConfiguration(diskLimit: 100_000, memoryLimit: nil))
            for number in 0..<count { try archive.put([1], forKey: "k\(number)") }
        }
        var browser = try browser(store: path, keys: "E")
        var counts: [Substring?] = []
        for _ in 0..<4 {
            counts.append(browser.text.firstMatch(of: /(\d+) events/)?.output.1)
            try browser.press("a")
        }
        #expect(counts.first == "8" && counts.last == "8" && Set(counts[1...2]) == ["5", "3"], "\(counts)")
    }

    @Test func browsingChangesNothing() throws {
        let (store, archive) = try fill(path)
        defer { store.close() }
        _ = try archive.access("city 7")
        let before = try traces(archive)
        var browser = try browser(store: path)
        for key in try Key.script("<enter>jjjj/city 1<enter>1rGgM<enter>tt<esc><esc><esc>DnF<pgdn><enter>") {
            browser.press([key])
            browser.refresh()
        }
        #expect(try traces(archive) == before)
        #expect(browser.text.contains("browser: accesses 0, writes 0, lock 0 ms"))
        // The counter is measured: it counts an access by this process.
        _ = try archive.access("city 7")
        browser.refresh()
        #expect(browser.text.contains("browser: accesses 1, writes 0, lock 0 ms"))
    }

    @Test func showsEntriesInLRUOrder() throws {
        let (store, archive) = try fill(path)
        defer { store.close() }
        _ = try archive.access("city 3")
        var browser = try browser(store: path, keys: "<enter>")
        #expect(browser.model.cursorKey == "city 3")
        #expect(browser.text.contains("50 entries"))
        try browser.press("<down>", cursor: "city 49")
        try browser.press("<enter>", shows: "number: 49", "JSON, 13 B")
        try browser.press("<esc>G", cursor: "city 0")
    }

    /// Regression: a filter left out entries that were stored again since the list was frozen.
    @Test("a filter finds entries stored since the listing", arguments: ["j", "<space>"])
    func filterFindsStoredAgain(keys: String) throws {
        let (store, archive) = try fill(path)
        defer { store.close() }
        var browser = try browser(store: path, keys: "<enter>" + keys)
        for number in 0..<50 { try archive.put([1], forKey: "city \(number)") }
        browser.refresh()
        try browser.press("/city 4", row: 1, shows: "11 of 50 entries")
    }

    @Test("marked rows that were stored again aren't hidden by the filter")
    func storedAgainIsNotHidden() throws {
        let (store, archive) = try fill(path)
        defer { store.close() }
        var browser = try browser(store: path, keys: "<enter>/city 4<enter>M")
        for number in 40..<50 { try archive.put([1], forKey: "city \(number)") }
        try browser.press("D")
        #expect(browser.model.planned?.count == 11)
        #expect(!browser.text.contains("hidden"), "\(browser.text)")
    }

    @Test(
        "w writes the listed entries to a file named .csv, and the selected value to others",
        arguments: ["csv", "raw"])
    func writesListedEntries(ending: String) throws {
        let (store, _) = try fill(path)
        defer { store.close() }
        let file = folder.path + "/out." + ending
        var browser = try browser(store: path, keys: "<enter>/city 4<enter>w<ctrl+u>\(file)")
        #expect(browser.text.contains("writes 11 entries") == (ending == "csv"), "\(browser.text)")
        try browser.press("<enter>")
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
        #expect(lines.count == (ending == "csv" ? 12 : 1), "\(lines)")
        #expect(lines.last?.hasPrefix(ending == "csv" ? "city 4" : "{") == true, "\(lines)")
    }

    @Test func deletesAndShowsCost() throws {
        let (store, archive) = try fill(path)
        defer { store.close() }
        var browser = try browser(store: path, keys: "<enter>/city 4<enter>M")
        #expect(browser.model.markedKeys.count == 11)
        try browser.press("D")
        try archive.put(Array("{}".utf8), forKey: "city 44", encoding: .json)
        _ = try archive.delete("city 45")
        try browser.press(
            "y", shows: "Deleted 9 entries", "\"city 44\" changed after it was read",
            "\"city 45\" was removed already", "writes 9")
        #expect(try archive.peek("city 44") != nil)
        #expect(try archive.peek("city 4") == nil)
        #expect(try archive.status().entries == 40)
        // No process is left attached.
        #expect(try archive.processes().filter(\.isAlive).count == 1)
    }

    /// Entries return to their LRU position, whichever process deleted them.
    @Test func undoesDeletesOfAnyProcess() throws {
        let (store, archive) = try fill(path)
        defer { store.close() }
        let before = try archive.entries().map { $0.recency }
        var browser = try browser(store: path, keys: "<enter>mmmDy")
        #expect(try archive.status().entries == 47)
        #expect(browser.text.contains("Deleted 3 entries, 39 B; u undoes it."))
        try browser.press("u", shows: "Restores 3 entries, 39 B, in City", "by this browser")
        try browser.press("y")
        #expect(try archive.entries().map { $0.recency } == before)
        #expect(browser.text.contains("Restored 3 entries, 39 B."))
        let seen = try #require(try archive.metadata("city 9"))
        _ = try archive.carryOut(.delete, on: [PlannedEntry(key: "city 9", sequence: seen.sequence)])
        try browser.press("uy")
        #expect(try archive.peek("city 9") != nil)
        try browser.press("u", shows: "Nothing to undo in City:", "writes 7")
    }

    @Test func undoesStoppedPlanAsOne() throws {
        let (store, archive) = try fill(path, count: 700)
        defer { store.close() }
        let source = EngineSource(folder: folder.path)
        let listing = try source.listing(in: ArchiveAddress("City", in: path))
        let targets = try (0..<listing.count).compactMap { try listing.entry(at: $0)?.target }
        let outcome = try source.carryOut(.delete, on: targets, in: ArchiveAddress("City", in: path)) {
            $0 < 500
        }
        #expect(outcome.outcome.entries == 512)
        #expect(outcome.stopped == "Stopped after 512 of 700; 188 are unchanged.")
        #expect(try archive.status().entries == 188)
        let actions = try source.reversible(in: ArchiveAddress("City", in: path))
        #expect(actions.map(\.entries) == [512])
        let report = try source.undo(try #require(actions.first), in: ArchiveAddress("City", in: path)) {
            _ in true
        }
        #expect(report?.outcome.entries == 512)
        #expect(try archive.status().entries == 700)
        #expect(try source.undo(actions[0], in: ArchiveAddress("City", in: path)) { _ in true } == nil)
    }

    @Test("a replaced archive keeps the effect of an action with the same number")
    func undoOfReplacedArchive() throws {
        let (store, _) = try fill(path)
        let (source, address) = (EngineSource(folder: folder.path), ArchiveAddress("City", in: path))
        func deleteFirst() throws -> ReversibleAction {
            _ = try source.figures(store: path)
            let target = try #require(try source.listing(in: address).entry(at: 0)?.target)
            let carried = try source.carryOut(.delete, on: [target], in: address) { _ in true }
            return try #require(carried.outcome.action)
        }
        let shown = try deleteFirst()
        try store.removeArchive(named: "City")
        store.close()
        let (other, archive) = try fill(path)
        defer { other.close() }
        #expect(try deleteFirst().id == shown.id)
        #expect(try source.undo(shown, in: address) { _ in true } == nil)
        #expect(try archive.status().entries == 49)
    }

    /// Entries accessed since the plan aren't idle, though their sequence is unchanged.
    @Test func accessedEntryIsNotIdle() throws {
        let (store, archive) = try fill(path, count: 20)
        defer { store.close() }
        let source = EngineSource(folder: folder.path)
        let listing = try source.listing(in: ArchiveAddress("City", in: path))
        let targets = try (0..<listing.count).compactMap { try listing.entry(at: $0)?.target }
        // The engine's clock has a resolution of milliseconds.
        var before = Timestamp.now()
        #expect(
            holds {
                before = Timestamp.now()
                return before > listing.accessed(at: 0)
            })
        _ = try archive.access("city 3")
        let outcome = try source.carryOut(
            .expireIdle(before: before), on: targets, in: ArchiveAddress("City", in: path)
        ) { _ in true }
        #expect(outcome.outcome.skips == [PlanSkip(key: "city 3", reason: .used)])
        #expect(outcome.outcome.entries == 19)
        #expect(try archive.peek("city 3") != nil)
        #expect(try archive.status().entries == 1)
    }

    /// Regression: the access was checked before the change, not during it.
    @Test func accessDuringPlanKeepsEntry() throws {
        let (store, archive) = try fill(path, count: 20)
        defer { store.close() }
        let latest = try #require(try archive.entries().first?.accessed)
        #expect(holds { Timestamp.now().microseconds > latest.microseconds + 1000 })
        var browser = try browser(store: path, keys: "<enter>x<up><ctrl+u>1ms<enter>")
        #expect(browser.text.contains("Expire 20 entries idle over 1ms?"))
        _ = try archive.access("city 3")
        try browser.press("y", shows: "Expired 19 entries", "was accessed after the plan was made")
        #expect(try archive.entries().count == 1 && archive.peek("city 3") != nil)
    }

    @Test func changesExpiryTimes() throws {
        let (store, archive) = try fill(path)
        defer { store.close() }
        try archive.put(
            [0x31], forKey: "owned", attributes: EntryAttributes(lifetime: .seconds(7200), owner: "api"))
        var browser = try browser(store: path, keys: "<enter>p")
        let row = try #require(browser.text.split(separator: "\n").first { $0.contains("owned") })
        #expect((row.contains(" 2h ") || row.contains("1h59m")) && row.contains("api"))
        try browser.press("mmx<ctrl+u>3d<enter>y")
        let deadline = try #require(try archive.metadata("city 49")?.expires)
        #expect(abs(deadline.secondsSince1970 - Timestamp.now().secondsSince1970 - 3 * 86_400) < 60)
        try browser.press("x<down><enter>y")
        #expect(try archive.status().entries == 50)
        try browser.press("uyuy")
        #expect(try archive.metadata("city 49")?.expires == nil)
        let left = try #require(try archive.metadata("owned")?.expires)
        #expect(abs(left.secondsSince1970 - Timestamp.now().secondsSince1970 - 7200) < 60)
    }

    /// The header's cost counts changes by the user; browsing changes nothing.
    @Test func eventsAndHistoryChangeNothing() throws {
        let (store, archive) = try fill(path)
        defer { store.close() }
        _ = try archive.delete("city 1")
        let before = try traces(archive)
        let next = try archive.nextEvent()
        var browser = try browser(store: path)
        #expect(browser.text.contains("deleted   city 1"))
        try browser.press("P", shows: "alive")
        try browser.press("<tab>", shows: "hit ratio")
        try browser.press("<tab>", shows: "51 events")
        try browser.press(
            "<esc><enter>t<enter>b", shows: "Key history of city 49", "13 B  recorded by this browser")
        #expect(try traces(archive) == before)
        #expect(try archive.nextEvent() == next)
        #expect(browser.text.contains("accesses 0, writes 0"))
    }

    @Test("the history of an expired key that isn't removed yet states when it expired")
    func historyOfAnExpiredKey() async throws {
        let (store, entries) = try fill(path)
        try entries.put([1], forKey: "gone", attributes: EntryAttributes(lifetime: .seconds(1)))
        // An open store would remove the entry.
        store.close()
        try await Task.sleep(for: .milliseconds(1100))
        var browser = try browser(store: path)
        try browser.press("<enter>/gone<enter>b")
        let source = EngineSource(folder: folder.path)
        let archive = ArchiveAddress("City", in: path)
        let absence = try source.absence(of: "gone", in: archive)
        let put = try #require(try source.history(of: "gone", in: archive).events.first)
        #expect(absence == put.expires.map(KeyAbsence.expired))
        #expect(put.sentence(by: nil).contains("TTL 1s"))
        #expect(try source.absence(of: "none", in: archive) == .removed)
        let city = try #require(try source.figures(store: path).archives.first)
        #expect((city.entries, city.expiredEntries, city.expirations) == (50, 1, 0))
        #expect(city.facts.contains { $0.name == "expired" })
        #expect(browser.text.contains("Expired at "), "\(browser.text)")
    }

    @Test func readsLogDuringWrites() throws {
        let store = try Store.open(at: path)
        defer { store.close() }
        let log = try store.archive(
            named: "Trace", orCreate: ArchiveConfiguration(kind: .log, diskLimit: 4_000, memoryLimit: nil))
        for number in 0..<500 { try log.append(Array("message \(number)".utf8)) }
        var browser = try browser(store: path, keys: "<enter>")
        #expect(browser.model.screen == .messages)
        #expect(browser.text.contains("message 499"))
        try log.append(Array("one more".utf8))
        browser.refresh()
        #expect(browser.text.contains("one more"))
        try browser.press("g")
        let oldest = try #require(try log.messages(most: 1).messages.first)
        let text = String(decoding: oldest.bytes, as: UTF8.self)
        browser.expect(shows: text, hides: " removed")
        try browser.press("<ctrl+x>Trace<enter>")
        #expect(try log.status().entries == 0)
        #expect(browser.text.contains("No messages yet."))
    }

    @Test func cursorKeepsKeyDuringWrites() throws {
        let (store, archive) = try fill(path, count: 500)
        defer { store.close() }
        let clock = TestClock()
        var browser = try Fixture.browser(
            at: folder.path, store: path, columns: 80, rows: 24, clock: clock.function,
            keys: "<enter><pgdn><pgdn>")
        let key = try #require(browser.model.cursorKey)
        for step in 0..<20 {
            _ = try archive.access("city \(step)")
            try archive.put(Array("{}".utf8), forKey: "new \(step)")
            clock.advance(4, refreshing: &browser)
            #expect(browser.model.cursorKey == key)
        }
    }

    @Test func listsStoresOfFolder() throws {
        let (one, _) = try fill(folder.path + "/one", count: 3)
        one.close()
        try FileManager.default.createDirectory(
            atPath: folder.path + "/other", withIntermediateDirectories: false)
        try "x".write(toFile: folder.path + "/file", atomically: true, encoding: .utf8)
        var browser = try browser(store: nil)
        #expect(browser.text.contains("1 store in"))
        try browser.press("<enter><enter>", on: .entries)
        #expect(browser.text.contains("3 entries"))
        try browser.press("<esc><esc>", on: .stores)
        let none = EngineSource(folder: folder.path + "/missing")
        #expect(try none.stores().stores.isEmpty)
    }

    @Test func reportsMissingStore() throws {
        let (store, _) = try fill(path)
        store.close()
        var browser = try browser(store: path, keys: "<enter>")
        try removeFolderInUse(path)
        try browser.press("<down>")
        browser.refresh()
        browser.expect(shows: "was removed or moved", "UNREACHABLE")
        let (again, _) = try fill(path, count: 2)
        again.close()
        try browser.press("R", shows: "2 entries", hides: "was removed or moved")
    }

    func copied(_ text: String) -> [UInt8] { Clipboard.direct.sequence(for: Array(text.utf8)) ?? [] }

    /// Regression: entries of a recreated archive with as many events weren't read.
    @Test func showsRecreatedArchive() throws {
        for (place, word) in [(path, "former"), (path + "-2", "latter")] {
            let store = try Store.open(at: place)
            let archive = try store.archive(named: "City", orCreate: ArchiveConfiguration())
            for number in 1...3 { try archive.put(Array(word.utf8), forKey: "\(word) \(number)") }
            store.close()
        }
        var browser = try browser(store: path, keys: "<enter>")
        try browser.press("m", shows: "former 3", "1 marked")
        try removeFolderInUse(path)
        try FileManager.default.moveItem(atPath: path + "-2", toPath: path)
        // Rows stay for a moment after a key, and removed ones for another.
        #expect(
            holds {
                browser.refresh()
                return browser.text.contains("latter 3")
            })
        browser.expect(hides: "former", "marked")
    }

    /// Flips a bit in the first byte of a text in one file of the store.
    static func flipBit(in store: String, behind text: String) throws {
        var hits = 0
        for name in try FileManager.default.subpathsOfDirectory(atPath: store) {
            let file = URL(fileURLWithPath: store + "/" + name)
            guard let bytes = try? Data(contentsOf: file), let range = bytes.range(of: Data(text.utf8)) else {
                continue
            }
            let handle = try FileHandle(forWritingTo: file)
            try handle.seek(toOffset: UInt64(range.lowerBound))
            try handle.write(contentsOf: [bytes[range.lowerBound] ^ 0x20])
            try handle.close()
            hits += 1
        }
        #expect(hits == 1)
    }

    /// Regression: the bytes of a damaged key were shown as a key, and an unreadable entry as removed.
    @Test func reportsDamagedKey() throws {
        let (store, archive) = try fill(path, count: 3)
        try archive.put(Array("{}".utf8), forKey: "to be damaged", encoding: .json)
        store.close()
        // Its event contains the key.
        try FileManager.default.removeItem(atPath: path + "/City.archive/index")
        _ = try Store.open(at: path).archive(named: "City").status()
        try Self.flipBit(in: path, behind: "to be damaged")
        var browser = try browser(store: path, keys: "<enter>")
        #expect(browser.model.cursorKey == nil)
        browser.expect(shows: "can't be read", "checksum", hides: "gone")
        try browser.press("<enter>")
        #expect(browser.model.screen == .entries && browser.text.contains("checksum"))
        try browser.press("/city", shows: "3 of 4 entries, 1 unreadable")
        try browser.press("<escape>*", shows: "1 entry that can't be read is left out", "3 marked")
    }

    /// Regression: results, groups and archives showed the rest of a damaged log as complete.
    @Test func reportsDamagedLogEverywhere() throws {
        let (store, archive) = try fill(path, count: 3)
        try archive.put(Array("{}".utf8), forKey: "to be damaged", encoding: .json)
        try archive.put(Array("{}".utf8), forKey: "behind it", encoding: .json)
        store.close()
        // It is rebuilt without the entry.
        try FileManager.default.removeItem(atPath: path + "/City.archive/index")
        try Self.flipBit(in: path, behind: "to be damaged")
        let words = "log damaged: some may be missing"
        var browser = try browser(store: path)
        #expect(browser.text.contains("1 archive  1 damaged  "))
        browser.send(.input(.resize(Size(columns: 60, rows: 12))))
        #expect(
            browser.text.split(separator: "\n").contains {
                $0.hasPrefix("City") && $0.contains(" ! ")
            })
        browser.send(.input(.resize(Size(columns: 100, rows: 30))))
        try browser.press("z", shows: "4 entries", words)
        try browser.press("hQcount<enter>", shows: "1 row  \(words)")
        var speaker = AccessibilityOutput()
        #expect(speaker.lines(browser.model, browser.frame).contains { $0.contains(words) })
        try browser.press("w<ctrl+u>\(folder.path)/count.ndjson<enter>")
        let said = speaker.lines(browser.model, browser.frame)
        #expect(said.contains("1 row written to \(folder.path)/count.ndjson; \(words)."), "\(said)")
        // It fits only into the status line.
        browser.send(.input(.resize(Size(columns: 60, rows: 8))))
        try browser.press("R", shows: words)
    }

    /// Regression: a store recreated between refreshes stayed without archives.
    @Test func followsRecreatedStore() throws {
        let source = EngineSource(folder: folder.path)
        try fill(path, count: 3).0.close()
        #expect(try source.figures(store: path).archives.map(\.entries) == [3])
        try removeFolderInUse(path)
        try fill(path, count: 5).0.close()
        #expect(try source.figures(store: path).archives.map(\.entries) == [5])
        // Another store replaces it while the former still exists.
        try FileManager.default.moveItem(atPath: path, toPath: path + "-2")
        try fill(path, count: 7).0.close()
        #expect(try source.figures(store: path).archives.map(\.entries) == [7])
        try removeFolderInUse(path)
        #expect(throws: SourceError.self) { try source.figures(store: path) }
    }

    @Test func reportsDamagedValue() throws {
        let (store, archive) = try fill(path)
        try archive.put(Array("{\"mark\":\"to be damaged\"}".utf8), forKey: "damaged", encoding: .json)
        store.close()
        try Self.flipBit(in: path, behind: "to be damaged")
        var browser = try browser(store: path, keys: "<enter>")
        #expect(browser.model.cursorKey == "damaged")
        // The text is wrapped, so single words are checked.
        #expect(browser.text.contains("checksum"))
        try browser.press("<enter>", on: .value)
        #expect(browser.text.contains("checksum"))
        try browser.press("<esc><down><enter>", shows: "number: 49")
    }

    @Test(arguments: ["", "/nothing/here"])
    func reportsFolderWithoutStore(suffix: String) throws {
        let browser = try browser(store: folder.path + suffix)
        let text = browser.text
        #expect(text.contains("there is no store") || text.contains("is not a store"))
    }
}
