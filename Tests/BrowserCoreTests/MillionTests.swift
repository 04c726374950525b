import ArchiveQuery
import BrowserCore
import StorageEngine
import StoreInspection
import Synchronization
import TerminalKit
import Testing

/// The cost of a list of a million entries depends on the visible rows.
struct MillionTests {
    /// Generated entries. Counts the requests.
    final class Source: StoreSource, EntryListing {
        let count: Int
        let folder = "/"
        let calls = Mutex((entries: 0, keys: 0, figures: 0))
        let values = Mutex(0)
        /// Properties that are columns.
        let chosen = Mutex<[String]>([])

        /// Whether the listing finds a key's position; it can't for an entry accessed since.
        let knowsPlaces: Bool

        private let name: @Sendable (Int) -> String

        init(
            count: Int, knowsPlaces: Bool = true, name: @escaping @Sendable (Int) -> String = { "user:\($0)" }
        ) {
            self.count = count
            self.knowsPlaces = knowsPlaces
            self.name = name
        }

        var valueBytes: UInt64 { UInt64(count) * 100 }

        func figures(at index: Int) -> (size: UInt64, hits: UInt32) {
            calls.withLock { $0.figures += 1 }
            return (UInt64(index % 1000), UInt32(index % 77))
        }

        func key(at index: Int) -> String? {
            calls.withLock { $0.keys += 1 }
            return name(index)
        }

        func entry(at index: Int) -> EntryMetadata? {
            calls.withLock { $0.entries += 1 }
            return metadata(at: index)
        }

        private func metadata(at index: Int) -> EntryMetadata {
            var entry = EntryMetadata(
                key: name(index), valueBytes: index % 1000, recorded: Fixture.start,
                sequence: UInt64(index))
            entry.accessed = Fixture.start.adding(seconds: -Double(index))
            entry.hits = UInt32(index % 77)
            return entry
        }

        func value(at index: Int) -> (encoding: ValueEncoding, bytes: [UInt8])? {
            values.withLock { $0 += 1 }
            return (.json, Array("{\"n\":\(index % 5)}".utf8))
        }

        func index(ofKey key: String) -> Int? { knowsPlaces ? Int(key.dropFirst(5)) : nil }

        func stores() throws(SourceError) -> StoreList { StoreList([]) }

        func figures(store: String) throws(SourceError) -> StoreFigures {
            var archive = ArchiveSample(name: "Users")
            archive.entries = count
            archive.diskBytes = valueBytes
            archive.diskLimit = valueBytes
            return StoreFigures(archives: [archive])
        }

        func entry(_ key: String, in archive: ArchiveAddress) -> EntryMetadata? {
            Int(key.dropFirst(5)).map(metadata)
        }
        func bytes(_ key: String, range: Range<Int>, in archive: ArchiveAddress) -> [UInt8]? {
            [UInt8](repeating: 0x20, count: range.count)
        }
        func listing(in archive: ArchiveAddress) throws(SourceError) -> any EntryListing { self }
        func recentEntries(
            _ most: Int, in archive: ArchiveAddress
        ) throws(SourceError) -> any EntryListing { Source(count: min(most, count), name: name) }
        func columns(of archive: ArchiveAddress) -> ChosenColumns? {
            let properties = chosen.withLock { $0 }.map { QueryProperty.named($0) }
            return ChosenColumns(archive: archive.name, properties: properties, hidden: [])
        }
        func accessed(at index: Int) -> Timestamp { Fixture.start.adding(seconds: -Double(index)) }
        func messages(
            count: Int, behind: Int, at moment: LogMoment, limit: Int, in archive: ArchiveAddress
        ) throws(SourceError) -> LogBatch { LogBatch() }
        func expiryAndTier(at index: Int) -> (expires: Timestamp?, tier: Tier) { (nil, .disk) }

        func reset() {
            calls.withLock { $0 = (0, 0, 0) }
            values.withLock { $0 = 0 }
        }
    }

    private func browser(_ source: Source) -> HeadlessBrowser {
        var browser = HeadlessBrowser(
            Fixture.model(columns: 90, rows: 40), source: source, clock: { Fixture.start })
        browser.press([Key(.enter)])
        return browser
    }

    @Test func scrollingReadsOnlyVisibleRows() throws {
        let source = Source(count: 1_000_000)
        var browser = browser(source)
        #expect(browser.text.contains("1,000,000 entries"))
        // At most 38 rows are visible; a page on either side is read ahead.
        #expect(source.calls.withLock { $0.entries } <= 40)
        #expect(source.calls.withLock { $0.keys } == 0)
        // Sizes of the oldest are read until 1 % of the limit is free.
        #expect(source.calls.withLock { $0.figures } <= 10_000)
        source.reset()
        for key in try Key.script("jjj<pgdn><pgdn>Ggkkj") { browser.press([key]) }
        #expect(source.calls.withLock { $0.entries } <= 6 * 3 * 40)
        #expect(source.calls.withLock { $0.keys } == 0)
        try browser.press("<end>")
        #expect(browser.model.cursorRow == 999_999)
        #expect(browser.model.cursorKey == "user:999999")
        source.reset()
        _ = browser.frame
        #expect(source.calls.withLock { $0.entries + $0.keys + $0.figures } == 0, "drawing reads entries")
    }

    /// A click on the scroll bar moves to that part of the list.
    @Test func clickOnScrollBarScrolls() throws {
        var browser = browser(Source(count: 1_000_000))
        func click(_ row: Int) {
            browser.send(.input(.mouse(MouseEvent(kind: .click, at: Point(column: 89, row: row)))))
        }
        // The rows begin below title, info and header; the pane uses the rest.
        let lines = browser.lines
        let bar = lines.indices.filter { lines[$0].hasSuffix("│") || lines[$0].hasSuffix("█") }
        click(try #require(bar.last))
        #expect(browser.model.cursorRow >= 999_960)
        click(bar[bar.count / 2])
        #expect((400_000...600_000).contains(browser.model.cursorRow))
        click(try #require(bar.first))
        #expect(browser.model.cursorRow == 0)
    }

    @Test func filteringReadsEachKeyOnce() throws {
        let source = Source(count: 200_000)
        var browser = browser(source)
        source.reset()
        try browser.press("/1")
        #expect(source.calls.withLock { $0.keys } == 200_000)
        let matching = (0..<200_000).count { String($0).contains("1") }
        source.reset()
        try browser.press("9")
        #expect(source.calls.withLock { $0.keys } == matching, "not only the former matches were read")
        try browser.press("99")
        let expected = (0..<200_000).filter { String($0).contains("1999") }.count
        #expect(browser.text.contains("\(expected) of 200,000 entries"))
    }

    /// An entry accessed during the listing is found among the most recent ones.
    @Test func cursorKeepsAccessedEntry() throws {
        let source = Source(count: 100_000, knowsPlaces: false)
        var browser = browser(source)
        for _ in 0..<90 { browser.press([Key(.pageDown)]) }
        let key = try #require(browser.model.cursorKey)
        #expect((1_000..<5_000).contains(browser.model.cursorRow))
        try browser.press("2")
        #expect(browser.model.cursorKey == key)
        #expect(browser.model.cursorRow > 5_000)
        source.reset()
        try browser.press("R")
        #expect(browser.model.cursorKey == key)
        #expect(source.calls.withLock { $0.keys } <= 5_000)
    }

    @Test func sortsAllEntries() throws {
        let source = Source(count: 100_000)
        var browser = browser(source)
        try browser.press("2")
        #expect(browser.model.cursorKey == "user:999", "the most recent of equal sizes is not first")
        try browser.press("2g", cursor: "user:0")
        try browser.press("1G", cursor: "user:99999")
    }

    /// The first rows appear before the list is complete, and the cursor keeps its key.
    @Test func showsFirstRowsEarly() throws {
        let source = Source(count: 1_000_000)
        var test = UpdateTest(Fixture.model(columns: 90, rows: 40))
        test.settle(source)
        let asked = test.press(Key(.enter), source, settling: false)
        #expect(asked.map(\.description) == ["first rows of Users", "arrange Users by idle, new listing"])
        #expect(test.answer(asked[0], source).map(\.description) == ["load value Users/user:0 for preview"])
        test.settle(source)
        test.expect(shows: "most recent 2,000 of 1,000,000 entries", "1 of 1,000,000")
        try test.press("jjj", source)
        #expect(test.model.cursorKey == "user:3")
        let again = try #require(test.answer(asked[1], source).first)
        #expect(again.description == "arrange Users by idle")
        // The value of user:3 is shown already.
        #expect(test.answer(again, source).isEmpty)
        #expect(test.model.cursorKey == "user:3" && test.text.contains("4 of 1,000,000"))
        #expect(test.text.contains("1,000,000 entries") && !test.text.contains("most recent "))
    }

    /// A list of a million entries that shows its first rows.
    private func firstRows(of source: Source) throws -> UpdateTest {
        var test = UpdateTest(Fixture.model(columns: 90, rows: 40))
        test.settle(source)
        let first = try #require(test.press(Key(.enter), source, settling: false).first)
        _ = test.answer(first, source)
        test.settle(source)
        return test
    }

    @Test func firstRowsAreNotAllEntries() throws {
        let source = Source(count: 1_000_000)
        var test = try firstRows(of: source)
        _ = test.press(.character("M"), source)
        #expect(test.text.contains("Still listing entries."), "\(test.text)")
        let sorted = test.press(.character("2"), source, settling: false)
        #expect(sorted.map(\.description) == ["stop", "arrange Users by size descending, new listing"])
        test.settle(sorted, source)
        #expect(test.text.contains("1,000,000 entries"), "\(test.text)")
    }

    @Test("a filter typed while the first rows are shown shows their matches at once")
    func filterOfFirstRows() throws {
        let source = Source(count: 1_000_000)
        var test = try firstRows(of: source)
        _ = test.press(.character("/"), source, settling: false)
        let filtered = test.press(.character("7"), source, settling: false)
        #expect(filtered.map(\.description.first) == ["s", "f", "a"])
        _ = test.answer(filtered[1], source)
        #expect(test.model.cursorKey == "user:7")
        #expect(test.text.contains("of the most recent 2,000 of 1,000,000 entries"), "\(test.text)")
    }

    @Test("a filter typed while the first rows are shown is answered once")
    func filterDuringFirstRows() throws {
        let source = Source(count: 1_000_000)
        var test = try firstRows(of: source)
        _ = test.press(.character("/"), source, settling: false)
        let filtered = try #require(test.press(.character("9"), source, settling: false).last)
        #expect(test.answer(filtered, source).allSatisfy { !$0.description.hasPrefix("arrange") })
        test.expect(shows: " of 1,000,000 entries", hides: "most recent ")
    }
}
