import Foundation
import ServerInspection
import StorageEngine
import StoreInspection
import Synchronization

/// Reads stores through the engine. Changes open the store for writing and close it at once.
package final class EngineSource: StoreSource {
    package let folder: String
    private let open = Mutex<[ExactText: Store]>([:])
    /// Unreadable segments by archive, and when they were searched for.
    private let lost = Mutex<[ArchiveAddress: (segment: String?, at: ContinuousClock.Instant)]>([:])
    /// Seconds between two searches for lost segments, which read the headers of all segments.
    private static let lossInterval = 5

    let state: StateFolder?
    private let settled: SettledChoices

    /// - Parameters:
    ///   - folder: the folder of ``stores()``.
    ///   - state: the folder of history and choices; nil keeps nothing.
    ///   - settled: the choices from the settings file.
    package init(
        folder: String = CachesFolder.path(), state: StateFolder? = nil,
        settled: SettledChoices = SettledChoices()
    ) {
        self.folder = StorePath.absolute(folder)
        self.state = state
        self.settled = settled
    }

    package func pastQueries() throws(SourceError) -> [PastQuery] { try state?.queries.read() ?? [] }

    package func keep(_ query: PastQuery) throws(SourceError) {
        try state?.queries.change { $0.remember(query) }
    }

    package func savedQueries() throws(SourceError) -> [SavedQuery] {
        try settled.queries + (state?.savedQueries.read() ?? [])
    }

    package func save(_ query: SavedQuery) throws(SourceError) {
        try state?.savedQueries.change { $0.save(query) }
    }

    package func forget(_ query: SavedQuery) throws(SourceError) {
        try state?.savedQueries.change { $0.remove(query.name, of: query.archive) }
    }

    package func columns(of archive: ArchiveAddress) throws(SourceError) -> ChosenColumns? {
        try state?.columns.read().of(archive) ?? settled.columns.of(archive)
    }

    package func keep(_ columns: ChosenColumns) throws(SourceError) {
        try state?.columns.change { $0.remember(columns) }
    }

    package func noteOpened(store: String, at moment: Timestamp) throws(SourceError) {
        try state?.stores.change { $0.noteOpened(Self.remembered(store), at: moment) }
    }

    package func setFavorite(_ isFavorite: Bool, store: String) throws(SourceError) {
        guard let state else {
            throw SourceError("no folder for it: neither XDG_STATE_HOME nor HOME is set")
        }
        try state.stores.change { $0.setFavorite(isFavorite, Self.remembered(store)) }
    }

    private static func remembered(_ store: String) -> String {
        ServerAddress.isURL(store) ? store : StorePath.absolute(store)
    }

    package func stores() throws(SourceError) -> StoreList {
        var summaries: [StoreSummary] = []
        for (name, path) in try StoresFolder.contents(of: folder) {
            if let summary = summary(ofStore: path, name: name) { summaries.append(summary) }
        }
        // Without remembered stores the folder is still listed.
        var remembered: [RememberedStore] = []
        var problem: String?
        do throws(SourceError) {
            remembered = try state?.stores.read() ?? []
        } catch {
            problem = error.description
        }
        var listed: Set<ExactText> = []
        for place in summaries.indices {
            let path = ExactText(StorePath.absolute(summaries[place].path))
            listed.insert(path)
            guard let known = remembered.last(where: { ExactText($0.path) == path }) else { continue }
            (summaries[place].isFavorite, summaries[place].opened) = (known.isFavorite, known.opened)
        }
        let others = remembered.filter { !listed.contains(ExactText($0.path)) }
        let favorites = others.filter(\.isFavorite)
        let recent = others.filter { !$0.isFavorite && $0.opened != nil }
            .sorted { ($0.opened?.microseconds ?? 0) > ($1.opened?.microseconds ?? 0) }
        for known in favorites + recent.prefix(RememberedStore.maximumRecent) {
            guard var summary = elsewhere(known) else { continue }
            (summary.isFavorite, summary.opened) = (known.isFavorite, known.opened)
            summary.isElsewhere = true
            summaries.append(summary)
        }
        let stores =
            summaries.filter(\.isFavorite).sorted { $0.name < $1.name }
            + summaries.filter { !$0.isFavorite }
        return StoreList(stores, favoritesProblem: problem)
    }

    /// The stores for the list of another source; none if they are unreadable.
    func storesElsewhere() -> [StoreSummary] {
        ((try? stores().stores) ?? []).map { store in
            var store = store
            store.isElsewhere = true
            return store
        }
    }

    /// A store in another folder, or a server (without reading it); nil if it is missing and not a favorite.
    private func elsewhere(_ known: RememberedStore) -> StoreSummary? {
        let name = StorePath.name(known.path)
        if ServerAddress.isURL(known.path) { return StoreSummary(name: name, path: known.path) }
        if let summary = summary(ofStore: known.path, name: name) { return summary }
        guard known.isFavorite else { return nil }
        return StoreSummary(name: name, path: known.path, problem: "no store exists at \(known.path)")
    }

    private func summary(ofStore path: String, name: String) -> StoreSummary? {
        var summary = StoreSummary(name: name, path: path)
        do throws(SourceError) {
            guard try SourceError.translating(Store.isStore(at: path)) else { return nil }
            summary.add(try figures(store: path))
        } catch {
            summary.problem = error.description
        }
        return summary
    }

    package func figures(store path: String) throws(SourceError) -> StoreFigures {
        let store = try store(path)
        store.closeRemovedArchives()
        var figures = StoreFigures(archives: [], ownPid: getpid())
        var processes: [Int32: AttachedProcess] = [:]
        let names = try SourceError.translating(store.archiveNames())
        let isOwn = try SourceError.translating(Store.isOwn(at: path))
        figures.isOfAnotherUser = !isOwn
        for name in names {
            do throws(StorageError) {
                // It is read again soon.
                let sample = try store.withArchive(named: name, staysOpen: true) {
                    (archive) throws(StorageError) in
                    var sample = try ArchiveSample(archive)
                    sample.lostSegment = lostSegment(of: archive, at: ArchiveAddress(name, in: path))
                    return sample
                }
                figures.archives.append(sample)
                // A process has a slot in every archive it uses.
                for process in sample.processes {
                    if process.pid == getpid() { figures.ownAccesses &+= process.hits &+ process.misses }
                    if processes[process.pid]?.add(process) == nil { processes[process.pid] = process }
                }
            } catch {
                var archive = ArchiveSample(name: name)
                archive.problem = error.description
                figures.archives.append(archive)
            }
        }
        let empty = try SourceError.translating(store.emptyArchiveNames())
        for name in empty {
            var archive = ArchiveSample(name: name)
            archive.problem = store.emptyArchiveProblem(named: name)
            figures.archives.append(archive)
        }
        if !empty.isEmpty { figures.archives.sort { $0.name < $1.name } }
        figures.processes = processes.values.sorted { $0.pid < $1.pid }
        return figures
    }

    /// Describes a lost segment. Searches again after ``lossInterval``.
    private func lostSegment(of archive: Archive, at address: ArchiveAddress) -> String? {
        let now = ContinuousClock.now
        if let known = lost.withLock({ $0[address] }),
            known.at.duration(to: now) < .seconds(EngineSource.lossInterval)
        {
            return known.segment
        }
        // If the search fails, no loss is reported until the next search.
        let found = (try? archive.lostSegment())?.description
        lost.withLock { $0[address] = (found, now) }
        return found
    }

    package func listing(in archive: ArchiveAddress) throws(SourceError) -> any EntryListing {
        let archive = try self.archive(archive)
        return try SourceError.translating(StoredListing(archive))
    }

    package func recentEntries(
        _ most: Int, in archive: ArchiveAddress
    ) throws(SourceError) -> any EntryListing {
        let archive = try self.archive(archive)
        return try SourceError.translating(StoredListing(archive, mostRecent: most))
    }

    package func entry(_ key: String, in archive: ArchiveAddress) throws(SourceError) -> EntryMetadata? {
        try looking(at: archive) { (archive) throws(StorageError) in try archive.metadata(key) }
    }

    package func bytes(
        _ key: String, range: Range<Int>, in archive: ArchiveAddress
    ) throws(SourceError) -> [UInt8]? {
        try looking(at: archive) { (archive) throws(StorageError) in try archive.peek(key, range: range) }
    }

    package func readOnlyReason(_ key: String, in archive: ArchiveAddress) -> SourceError? {
        access(archive.store, W_OK) == 0
            ? nil : SourceError("No permission to write to \(archive.store).")
    }

    package func stored(_ key: String, in archive: ArchiveAddress) throws(SourceError) -> StoredValue? {
        try looking(at: archive) { (archive) throws(StorageError) in
            try archive.current(key).map {
                StoredValue($0.value, encoding: $0.encoding, sequence: $0.sequence, created: $0.created)
            }
        }
    }

    package func events(in archive: ArchiveAddress, from: UInt64?) throws(SourceError) -> EventBatch {
        try looking(at: archive) { (archive) throws(StorageError) in try archive.namedEvents(from: from) }
    }

    package func history(of key: String, in archive: ArchiveAddress) throws(SourceError) -> KeyHistory {
        try looking(at: archive) { (archive) throws(StorageError) in try archive.history(of: key) }
    }

    package func advice(
        in archive: ArchiveAddress, by advisor: SharedAdvisor
    ) throws(SourceError) -> ArchiveAdvice? {
        try advisor.advice(on: self.archive(archive))
    }

    package func absence(of key: String, in archive: ArchiveAddress) throws(SourceError) -> KeyAbsence? {
        try looking(at: archive) { (archive) throws(StorageError) in
            guard let standing = try archive.standing(of: key) else { return .removed }
            return standing.isExpired ? standing.expires.map(KeyAbsence.expired) : nil
        }
    }

    package func logHistory(
        of key: String, in archive: ArchiveAddress, progress: (Double) -> Bool
    ) throws(SourceError) -> LogHistory {
        try looking(at: archive) { (archive) throws(StorageError) in
            try archive.logHistory(of: key, progress: progress)
        }
    }

    package func messages(
        count: Int, behind: Int, at moment: LogMoment, limit: Int, in archive: ArchiveAddress
    ) throws(SourceError) -> LogBatch {
        let batch: LogBatch? = try looking(at: archive) { (archive) throws(StorageError) in
            do throws(StorageError) {
                guard try archive.identity() == moment.identity else { return LogBatch(missing: count) }
                let (missing, found) = try archive.messages(
                    count: count, behind: behind, appended: moment.appended)
                // Checked after the read: a rebuilt index numbers messages differently.
                guard try archive.indexSalt() == moment.index else { return nil }
                return LogBatch(
                    missing: missing,
                    lines: found.map {
                        LogLine($0.bytes, sequence: $0.sequence, time: $0.time, limit: limit)
                    })
            } catch {
                // The log was removed; a new log may have its name.
                guard case .closed = error else { throw error }
                return LogBatch(missing: count)
            }
        }
        guard let batch else {
            throw SourceError("the log's index was rebuilt; the log is listed again with the next update")
        }
        return batch
    }

    package func reversible(in archive: ArchiveAddress) throws(SourceError) -> [ReversibleAction] {
        try looking(at: archive) { (archive) throws(StorageError) in try archive.reversibleActions() }
    }

    /// Keeps an archive open for the next refresh.
    private func looking<Result>(
        at archive: ArchiveAddress, _ body: (Archive) throws(StorageError) -> Result
    ) throws(SourceError) -> Result {
        let store = try store(archive.store)
        return try SourceError.translating(store.withArchive(named: archive.name, staysOpen: true, body))
    }

    func archive(_ archive: ArchiveAddress) throws(SourceError) -> Archive {
        let store = try self.store(archive.store)
        return try SourceError.translating(store.archive(named: archive.name))
    }

    /// The store, opened read-only. A store that was moved or removed is closed.
    private func store(_ path: String) throws(SourceError) -> Store {
        if let store = open.withLock({ $0[ExactText(path)] }), store.isInItsPlace { return store }
        open.withLock { $0[ExactText(path)] = nil }
        let store = try SourceError.translating(
            Store.open(at: path, mode: .readOnly, createIfMissing: false, options: .forReading))
        open.withLock { $0[ExactText(path)] = store }
        return store
    }
}

extension AttachedProcess {
    fileprivate mutating func add(_ other: AttachedProcess) {
        attached = min(attached, other.attached)
        hits &+= other.hits
        misses &+= other.misses
        memoryBytes &+= other.memoryBytes
        memoryLimit &+= other.memoryLimit
    }
}
