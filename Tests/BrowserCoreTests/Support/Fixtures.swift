import ArchiveQuery
import BrowserCore
import Foundation
import StorageEngine
import StoreInspection
import Synchronization
import TerminalKit

/// A clock that only tests advance.
final class TestClock: Sendable {
    private let moment = Mutex(Fixture.start)

    var now: Timestamp { moment.withLock { $0 } }

    func advance(_ seconds: Double) { moment.withLock { $0 = $0.adding(seconds: seconds) } }

    func advance(_ seconds: Double, refreshing browser: inout HeadlessBrowser) {
        advance(seconds)
        browser.refresh()
    }

    var function: @Sendable () -> Timestamp { { self.now } }
}

/// Stores, looks and browsers for tests.
enum Fixture {
    /// Screens show local time: the zone is set to UTC.
    static let start: Timestamp = {
        setenv("TZ", "UTC", 1)
        tzset()
        return Timestamp(seconds: 1_770_000_000)
    }()
    static let storePath = "/home/ada/.cache/demo"
    static let unicode = Look(theme: Theme(.dark, depth: .trueColor))
    static let ascii = Look(theme: Theme(.mono, depth: .mono), glyphs: .ascii)

    /// Keys of all kinds: plain, Japanese, with a combining mark, an emoji sequence, and a control sequence.
    static let keys = [
        "Jakarta", "Bandung", "東京都", "大阪市", "Cafe\u{301} de Flore", "👩‍👩‍👧 family", "evil\u{1b}[2J\u{7}key",
        "São Paulo", "Wellington", "Kyiv", "Łódź", "Tirana", "Quito", "Nuuk", "Apia", "Malé",
    ]

    static func record(_ key: String, number: Int, bytes: [UInt8]) -> MockSource.Record {
        var entry = EntryMetadata(
            key: key, valueBytes: bytes.count, recorded: start.adding(seconds: -3600 * Double(number + 1)),
            sequence: UInt64(100 + number))
        entry.encoding = bytes.first == 0x7b ? .json : .unknown
        entry.accessed = start.adding(seconds: -7 * Double(number))
        entry.expires = number % 5 == 2 ? start.adding(seconds: 45 + Double(number)) : nil
        entry.hits = UInt32(number * 37 % 91)
        entry.owner = number % 4 == 1 ? "import" : nil
        entry.tier = number % 3 == 0 ? .both : .disk
        return MockSource.Record(entry: entry, bytes: bytes)
    }

    static func json(_ key: String, _ number: Int) -> [UInt8] {
        // Replaces control characters, which JSON doesn't allow.
        let name = key.unicodeScalars.map { $0.value < 32 ? "?" : String($0) }.joined()
        return Array(
            """
            {"geonameid":\(1_642_911 + number),"name":"\(name)","latitude":-6.21462,"population":\(8_540_121 / (number + 1)),\
            "alternatenames":["Batavia","Djakarta","ジャカルタ"],"capital":true,"admin":null,"place":{"zone":"Asia/Jakarta"}}
            """.utf8)
    }

    /// A store with a full cache `City`, a collection `Blob` of unstructured values, and an empty log, then changed.
    static func source(_ change: (inout MockSource.State) -> Void = { _ in }) -> MockSource {
        let source = MockSource()
        source.with { state in
            let cities = keys.enumerated().map { number, key in
                record(key, number: number, bytes: json(key, number))
            }
            state.archives["City"] = cities
            var city = ArchiveSample(name: "City", kind: .cache, typeName: "City")
            city.diskLimit = cities.reduce(0) { $0 + UInt64($1.entry.valueBytes) } + 40
            city.memoryBytes = 1_800
            city.memoryLimit = 2_000
            city.footprint = 70_144
            city.hits = 9_240
            city.misses = 760
            city.records = 412
            city.evictions = 96
            state.summaries["City"] = city
            let blobs: [(String, [UInt8])] = [
                (
                    "picture.png",
                    [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] + (0..<120).map { UInt8($0) }
                ),
                ("notes", Array("First line\nSecond \u{1b}[31mline\nDritte Zeile: Grüße aus 東京\n".utf8)),
                ("empty", []),
            ]
            state.archives["Blob"] = blobs.enumerated().map { number, blob in
                record(blob.0, number: number, bytes: blob.1)
            }
            var blob = ArchiveSample(name: "Blob", kind: .collection)
            blob.footprint = 4_096
            state.summaries["Blob"] = blob
            state.summaries["Trace"] = ArchiveSample(name: "Trace", kind: .log)
            var demo = AttachedProcess(pid: 4121, name: "vellum demo", attached: start.adding(seconds: -4000))
            (demo.hits, demo.misses, demo.memoryBytes, demo.memoryLimit) = (9_240, 760, 1_800, 2_000)
            state.processes = [
                demo,
                AttachedProcess(pid: 4133, name: "api", attached: start.adding(seconds: -65)),
            ]
            state.summaries["City"]?.processes = state.processes
            state.stores = [
                StoreSummary(name: "demo", path: storePath, archives: 3, entries: 19, diskBytes: 4_213),
                StoreSummary(
                    name: "thumbnails", path: "/home/ada/.cache/thumbnails", archives: 1, entries: 612),
                StoreSummary(
                    name: "old", path: "/home/ada/.cache/old", problem: "format 9 is newer than this program"),
            ]
            change(&state)
        }
        return source
    }

    /// A number, a text in a map, and an absent property.
    static func chooseColumns(_ source: MockSource) {
        let names = ["population", "place.zone", "none"]
        source.with { state in
            let properties = names.compactMap { try? QueryProperty($0) }
            state.columns = [ChosenColumns(archive: "City", properties: properties, hidden: ["tier"])]
        }
    }

    /// Lets a real store with the same entries answer queries; entries get its sequence numbers.
    static func addQueries(_ source: MockSource) throws {
        let folder = EngineSourceTests.Folder()
        let store = try Store.open(at: folder.path + "/store")
        defer { store.close() }
        for (name, records) in source.with({ $0.archives }) {
            let archive = try store.archive(named: name, orCreate: ArchiveConfiguration(kind: .collection))
            var records = records
            for index in records.indices.reversed() {
                let entry = records[index].entry
                try archive.put(records[index].bytes, forKey: entry.key, encoding: entry.encoding)
                if let stored = try archive.metadata(entry.key) {
                    records[index].entry.sequence = stored.sequence
                }
            }
            source.with { [records] in $0.archives[name] = records }
        }
        source.with { $0.queried = folder }
    }

    /// Files named without a folder are written to the temporary folder.
    static var environment: BrowserEnvironment {
        var environment = BrowserEnvironment()
        environment.temporaryFolder = FileManager.default.temporaryDirectory.path
        environment.writingFolder = environment.temporaryFolder
        return environment
    }

    static func model(
        columns: Int = 80, rows: Int = 24, look: Look = unicode, folder: String = "/home/ada/.cache",
        store: String? = storePath, isReadOnly: Bool = false, now: Timestamp = start,
        keyMap: BrowserKeyMap = ActionTable.keyMap(), problems: [String] = [],
        environment: BrowserEnvironment = Fixture.environment
    ) -> Model {
        Model(
            size: Size(columns: columns, rows: rows), look: look, folder: folder, store: store,
            isReadOnly: isReadOnly, now: now, keyMap: keyMap, problems: problems, environment: environment)
    }

    static func browser(
        _ source: MockSource, columns: Int = 80, rows: Int = 24, look: Look = unicode,
        store: String? = storePath,
        isReadOnly: Bool = false, clock: TestClock = TestClock(), keys: String = "",
        programs: @escaping @Sendable (TerminalProgram) -> Result<Int32, SourceError> = { _ in .success(0) }
    ) throws -> HeadlessBrowser {
        var browser = HeadlessBrowser(
            model(columns: columns, rows: rows, look: look, store: store, isReadOnly: isReadOnly),
            source: source, clock: clock.function, programs: programs)
        browser.press(try Key.script(keys))
        return browser
    }

    /// A browser of the stores in a real folder.
    static func browser(
        at folder: String, store: String?, source: (any StoreSource)? = nil, columns: Int = 100,
        rows: Int = 30,
        look: Look = ascii, isReadOnly: Bool = false,
        clock: @escaping @Sendable () -> Timestamp = { Timestamp.now() },
        environment: BrowserEnvironment = Fixture.environment, keys: String = "",
        programs: @escaping @Sendable (TerminalProgram) -> Result<Int32, SourceError> = { _ in .success(0) }
    ) throws -> HeadlessBrowser {
        let model = model(
            columns: columns, rows: rows, look: look, folder: folder, store: store, isReadOnly: isReadOnly,
            now: clock(), environment: environment)
        var browser = HeadlessBrowser(
            model, source: source ?? EngineSource(folder: folder), clock: clock, programs: programs)
        browser.press(try Key.script(keys))
        return browser
    }
}
