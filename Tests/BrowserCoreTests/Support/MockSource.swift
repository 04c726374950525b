import ArchiveQuery
import BrowserCore
import CBOR
import Foundation
import StorageEngine
import StoreInspection
import Synchronization

/// A store in memory that counts requests. Safe from any thread.
final class MockSource: StoreSource {
    struct Record: Sendable {
        var entry: EntryMetadata
        var bytes: [UInt8]
    }

    struct State: Sendable {
        /// Most recent first.
        var archives: [String: [Record]] = [:]
        var summaries: [String: ArchiveSample] = [:]
        var processes: [AttachedProcess] = []
        var stores: [StoreSummary] = []
        var problem: String?
        /// Problem of reading a value, by key.
        var valueProblems: [String: String] = [:]
        var listingProblem: String?
        var nextSequence: UInt64 = 1_000
        var metadataCalls = 0
        var keyCalls = 0
        /// Values that a list read.
        var valueCalls = 0
        /// Saved queries and chosen columns.
        var savedQueries: [SavedQuery] = []
        var columns: [ChosenColumns] = []
        var keepingProblem: String?
        var listings = 0
        var deleteCalls = 0
        /// All calls that write, including ``deleteCalls``.
        var writeCalls = 0
        /// Events by archive, oldest first, numbered by position.
        var events: [String: [ArchiveEvent]] = [:]
        /// Number of overwritten oldest events by archive.
        var overwritten: [String: Int] = [:]
        /// What the log shows of removed keys.
        var logged: [String: LogHistory] = [:]
        var eventCalls = 0
        var messages: [String: [LogLine]] = [:]
        var messageCalls = 0
        /// Undo records, latest first.
        var undoable: [String: [Undoable]] = [:]
        var nextAction: UInt32 = 1
        /// Folder of a store that answers queries; nil: queries fail.
        var queried: EngineSourceTests.Folder?
        /// Queries run until stopped.
        var isQueryEndless = false
        /// Reads of values count as accesses, as on servers without `CLIENT NO-TOUCH`.
        var countsAccesses = false
        /// The advice by archive; nil: without recorded requests.
        var advice: [String: ArchiveAdvice] = [:]
        var adviceProblem: String?
        var adviceCalls = 0
        weak var advisor: SharedAdvisor?
        var now = Fixture.start

        func hasExpired(_ record: Record) -> Bool { record.entry.expires.map { $0 <= now } ?? false }

        func record(_ key: String, in archive: String) -> Record? {
            archives[archive]?.first { $0.entry.key == key }
        }

        func index(of key: String, in archive: String) -> Int? {
            archives[archive]?.firstIndex { $0.entry.key == key }
        }
    }

    struct Undoable: Sendable {
        var action: ReversibleAction
        var removed: [Record] = []
        var deadlines: [String: Timestamp?] = [:]
    }

    /// The browser's process number; it isn't attached.
    static let ownPid: Int32 = 77

    let folder = "/home/ada/.cache"
    let state = Mutex(State())

    func with<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        state.withLock { state in body(&state) }
    }

    /// The entry of `City`.
    subscript(key: String) -> Record? { with { $0.record(key, in: "City") } }

    /// Advances by `seconds`; in each, `City` has `hits` and `misses`, and the browser refreshes.
    func pass(
        _ seconds: Int, hits: UInt64, misses: UInt64, _ clock: TestClock, _ browser: inout HeadlessBrowser
    ) {
        for _ in 0..<seconds {
            clock.advance(1)
            with { state in
                state.summaries["City"]?.hits += hits
                state.summaries["City"]?.misses += misses
            }
            browser.refresh()
        }
    }

    func check() throws(SourceError) {
        if let problem = with({ $0.problem }) { throw SourceError(problem) }
    }

    func stores() throws(SourceError) -> StoreList {
        try check()
        return with { StoreList($0.stores) }
    }

    func figures(store: String) throws(SourceError) -> StoreFigures {
        try check()
        return with { state in
            let archives = state.summaries.keys.sorted().map { name -> ArchiveSample in
                guard var summary = state.summaries[name] else { return ArchiveSample(name: name) }
                let records = state.archives[name] ?? []
                if !records.isEmpty {
                    summary.entries = records.count
                    summary.diskBytes = records.reduce(0) { $0 + UInt64($1.entry.valueBytes) }
                }
                summary.nextEvent = UInt64(state.events[name]?.count ?? 0)
                if summary.kind == .log, let messages = state.messages[name] {
                    summary.entries = messages.count
                    summary.diskBytes = messages.reduce(0) { $0 + UInt64($1.size) }
                    summary.records = messages.last?.sequence ?? 0
                }
                return summary
            }
            var figures = StoreFigures(
                archives: archives, processes: state.processes, ownPid: MockSource.ownPid)
            if state.countsAccesses { figures.unreadableReason = "reading counts as an access" }
            return figures
        }
    }

    func listing(in archive: ArchiveAddress) throws(SourceError) -> any EntryListing {
        try check()
        if let problem = with({ $0.listingProblem }) { throw SourceError(problem) }
        return with { state in
            state.listings += 1
            // As in the engine, expired entries aren't found, removed or not.
            let records = (state.archives[archive.name] ?? []).filter { !state.hasExpired($0) }
            return MockListing(source: self, archive: archive.name, records: records)
        }
    }

    func entry(_ key: String, in archive: ArchiveAddress) throws(SourceError) -> EntryMetadata? {
        try check()
        return with { state in
            state.archives[archive.name]?.first { $0.entry.key == key && !state.hasExpired($0) }?.entry
        }
    }

    func bytes(_ key: String, range: Range<Int>, in archive: ArchiveAddress) throws(SourceError)
        -> [UInt8]?
    {
        try check()
        if let problem = with({ $0.valueProblems[key] }) { throw SourceError(problem) }
        return with { state in
            state.record(key, in: archive.name).map {
                Array($0.bytes[range.clamped(to: 0..<$0.bytes.count)])
            }
        }
    }

    func properties(in archive: ArchiveAddress) throws(SourceError) -> PropertySample {
        try check()
        var sample = PropertySample()
        for record in with({ $0.archives[archive.name] ?? [] }) {
            let value = RecognizedValue(record.bytes, encoding: record.entry.encoding)
            if let item = try? CBORReader.decode(value.item) { sample.add(nil, item) }
        }
        return sample
    }

    /// Answers from the store that ``Fixture/addQueries(_:)`` made.
    func query(
        _ request: QueryRequest, progress: (Double) -> Bool
    ) throws(SourceError) -> QueryResult? {
        try check()
        if with({ $0.isQueryEndless }) {
            while progress(0.1) { usleep(1_000) }
            return nil
        }
        if with({ $0.countsAccesses }), !request.allowsAccesses {
            throw SourceError("reading counts as an access", isAccessRefusal: true)
        }
        guard let folder = with({ $0.queried }) else { throw SourceError("no query is answered here") }
        var request = request
        request.archive = ArchiveAddress(request.archive.name, in: folder.path + "/store")
        return try EngineSource(folder: folder.path).query(request, progress: progress)
    }

    func advice(
        in archive: ArchiveAddress, by advisor: SharedAdvisor
    ) throws(SourceError) -> ArchiveAdvice? {
        try check()
        let (advice, problem) = with { state in
            state.adviceCalls += 1
            state.advisor = advisor
            return (state.advice[archive.name], state.adviceProblem)
        }
        if let problem { throw SourceError(problem) }
        return advice
    }

    // MARK: State

    func savedQueries() -> [SavedQuery] { with { $0.savedQueries } }

    func save(_ query: SavedQuery) throws(SourceError) {
        if let problem = with({ $0.keepingProblem }) { throw SourceError(problem) }
        with { $0.savedQueries.save(query) }
    }

    func forget(_ query: SavedQuery) { with { $0.savedQueries.remove(query.name, of: query.archive) } }

    func columns(of archive: ArchiveAddress) -> ChosenColumns? {
        with { $0.columns.last { $0.archive == archive.name } }
    }

    func keep(_ columns: ChosenColumns) throws(SourceError) {
        if let problem = with({ $0.keepingProblem }) { throw SourceError(problem) }
        with { $0.columns.remember(columns) }
    }

    // MARK: Other processes

    /// Accesses an entry, which becomes the most recent.
    func access(_ key: String, archive: String, at now: Timestamp) {
        with { state in
            guard let index = state.index(of: key, in: archive),
                var record = state.archives[archive]?.remove(at: index)
            else { return }
            record.entry.hits += 1
            record.entry.accessed = now
            state.archives[archive]?.insert(record, at: 0)
            state.summaries[archive]?.hits += 1
        }
    }

    /// Records a new entry, or replaces one.
    func record(_ key: String, _ bytes: [UInt8], archive: String, at now: Timestamp) {
        with { state in
            let old = state.record(key, in: archive)?.entry.created
            state.archives[archive]?.removeAll { $0.entry.key == key }
            state.nextSequence += 1
            var entry = EntryMetadata(
                key: key, valueBytes: bytes.count, recorded: now, sequence: state.nextSequence)
            entry.created = old ?? now
            state.archives[archive]?.insert(Record(entry: entry, bytes: bytes), at: 0)
            state.summaries[archive]?.records += 1
        }
    }

    func remove(_ key: String, archive: String) {
        with { state in
            state.archives[archive]?.removeAll { $0.entry.key == key }
            state.summaries[archive]?.deletes += 1
        }
    }
}

struct MockListing: EntryListing {
    let source: MockSource
    let archive: String
    let records: [MockSource.Record]
    var allowsAccesses = false

    func allowingAccesses() -> any EntryListing {
        var listing = self
        listing.allowsAccesses = true
        return listing
    }

    var count: Int { records.count }
    var valueBytes: UInt64 { records.reduce(0) { $0 + UInt64($1.entry.valueBytes) } }

    func figures(at index: Int) -> (size: UInt64, hits: UInt32) {
        (UInt64(records[index].entry.valueBytes), records[index].entry.hits)
    }

    func expiryAndTier(at index: Int) -> (expires: Timestamp?, tier: Tier) {
        (records[index].entry.expires, records[index].entry.tier)
    }

    func accessed(at index: Int) -> Timestamp { records[index].entry.accessed }

    func key(at index: Int) -> String? {
        source.with { $0.keyCalls += 1 }
        return records[index].entry.key
    }

    func entry(at index: Int) -> EntryMetadata? {
        source.with { state in
            state.metadataCalls += 1
            let key = records[index].entry.key
            return state.record(key, in: archive)?.entry
        }
    }

    func value(at index: Int) throws(SourceError) -> (encoding: ValueEncoding, bytes: [UInt8])? {
        let key = records[index].entry.key
        if let problem = source.with({ $0.valueProblems[key] }) { throw SourceError(problem) }
        if !allowsAccesses, source.with({ $0.countsAccesses }) {
            throw SourceError("reading counts as an access")
        }
        return source.with { state in
            state.valueCalls += 1
            return state.record(key, in: archive).map { ($0.entry.encoding, $0.bytes) }
        }
    }

    func index(ofKey key: String) -> Int? { nil }
}
