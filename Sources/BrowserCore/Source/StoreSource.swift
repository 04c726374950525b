import ArchiveQuery
import ServerInspection
import StorageEngine
import StoreInspection

/// Data source of the browser. Calls may block, so never call them on the drawing thread. Only ``store(_:in:)``,
/// ``carryOut(_:on:in:checkpoint:)``, ``undo(_:in:checkpoint:)``, and ``change(_:_:seen:progress:)`` write.
package protocol StoreSource: Sendable {
    var folder: String { get }

    /// The source that keeps history and choices; nil: itself, or none.
    var remembers: EngineSource? { get }

    /// Favorites, then the stores of the default folder, each sorted by name, then the last opened ones elsewhere. Empty if the
    /// folder is missing.
    func stores() throws(SourceError) -> StoreList

    func noteOpened(store: String, at moment: Timestamp) throws(SourceError)

    func setFavorite(_ isFavorite: Bool, store: String) throws(SourceError)

    /// All archives with their figures; unreadable ones have a problem.
    func figures(store: String) throws(SourceError) -> StoreFigures

    /// The entries of an archive, most recent first.
    func listing(in archive: ArchiveAddress) throws(SourceError) -> any EntryListing

    /// The entries whose keys contain a text if the source can filter them, as a server can; otherwise all. `shouldContinue` gets the
    /// number found and returns whether to continue; returns nil if stopped.
    /// - Parameter loadsMetadata: requests the metadata of a server's entries as they are found.
    func listing(
        in archive: ArchiveAddress, holding text: String, loadsMetadata: Bool,
        while shouldContinue: (Int) -> Bool
    ) throws(SourceError) -> (any EntryListing)?

    func recentEntries(_ most: Int, in archive: ArchiveAddress) throws(SourceError) -> any EntryListing

    func entry(_ key: String, in archive: ArchiveAddress) throws(SourceError) -> EntryMetadata?

    /// Whether an entry exists. Reads no value.
    func contains(_ key: String, in archive: ArchiveAddress) throws(SourceError) -> Bool

    /// The existing entries among `keys`, as targets of an action. Reads no value. An entry that can't be read has the sequence
    /// 0.
    func targets(_ keys: [String], in archive: ArchiveAddress) throws(SourceError) -> [Target]

    /// The bytes of a range, cut to the value's length; nil if the entry doesn't exist.
    func bytes(_ key: String, range: Range<Int>, in archive: ArchiveAddress) throws(SourceError)
        -> [UInt8]?

    /// The facts of a server about the last value that was read; nil for stores.
    func serverFacts(of key: String, in archive: ArchiveAddress) -> ServerValueFacts?

    /// Allows reading a value, or all values, although the server counts that as an access.
    /// - Parameter key: nil: all keys of the server.
    func allowUse(of key: String?, in archive: ArchiveAddress)

    /// Clients and slow log of a server; nil for stores.
    func serverActivity() throws(SourceError) -> ServerActivity?

    func events(in archive: ArchiveAddress, from: UInt64?) throws(SourceError) -> EventBatch

    func history(of key: String, in archive: ArchiveAddress) throws(SourceError) -> KeyHistory

    /// The simulated hit ratios of an archive at other limits and under other policies; nil if no requests are recorded yet.
    func advice(in archive: ArchiveAddress, by advisor: SharedAdvisor) throws(SourceError) -> ArchiveAdvice?

    /// Why the key has no entry; nil if it has one, or if this is unknown.
    func absence(of key: String, in archive: ArchiveAddress) throws(SourceError) -> KeyAbsence?

    /// Searches the log for changes of a key. `progress` gets the share done, 0 to 1, and returns whether to continue.
    func logHistory(
        of key: String, in archive: ArchiveAddress, progress: (Double) -> Bool
    ) throws(SourceError) -> LogHistory

    /// At most `count` messages of a log, oldest first, beginning with the one that had `behind` later messages at `moment`.
    /// Skips damaged ones. Keeps at most `limit` bytes of each.
    func messages(
        count: Int, behind: Int, at moment: LogMoment, limit: Int, in archive: ArchiveAddress
    ) throws(SourceError) -> LogBatch

    /// The undo records, latest first.
    func reversible(in archive: ArchiveAddress) throws(SourceError) -> [ReversibleAction]

    /// Runs a query; nil if stopped. `progress` gets the share done, 0 to 1, and returns whether to continue.
    func query(_ request: QueryRequest, progress: (Double) -> Bool) throws(SourceError) -> QueryResult?

    /// Runs a query and writes its result to a file; nil if stopped.
    func export(
        _ request: QueryRequest, to file: OutputFile, progress: (Double) -> Bool
    ) throws(SourceError) -> QueryReport?

    /// Properties and values of the latest entries.
    func properties(in archive: ArchiveAddress) throws(SourceError) -> PropertySample

    func pastQueries() throws(SourceError) -> [PastQuery]

    func keep(_ query: PastQuery) throws(SourceError)

    func savedQueries() throws(SourceError) -> [SavedQuery]

    func save(_ query: SavedQuery) throws(SourceError)

    func forget(_ query: SavedQuery) throws(SourceError)

    func columns(of archive: ArchiveAddress) throws(SourceError) -> ChosenColumns?

    func keep(_ columns: ChosenColumns) throws(SourceError)

    // MARK: Editing

    /// Why the entry can't be edited or added; nil if it can.
    func readOnlyReason(_ key: String, in archive: ArchiveAddress) -> SourceError?

    /// Whether a new object or list is stored as JSON, and not as CBOR.
    var storesJSON: Bool { get }

    /// A whole value with its version; nil if the entry doesn't exist or its bytes aren't on disk.
    func stored(_ key: String, in archive: ArchiveAddress) throws(SourceError) -> StoredValue?

    /// An element of a server's value; nil if it doesn't exist.
    func stored(
        _ element: ValueElement, of key: String, in archive: ArchiveAddress
    ) throws(SourceError) -> StoredValue?

    // MARK: Changes

    /// Adds an element with the value `bytes` to a server's value, or removes one with the value `former`. Returns false if another
    /// client changed it; nothing was changed.
    func change(
        _ element: ValueElement, of entry: EntryAddress, from former: [UInt8]?, to bytes: [UInt8]?
    ) throws(SourceError) -> Bool

    /// Stores an edit if the entry is unchanged, which is checked under the archive's lock. Returns whether it was stored.
    func store(_ edit: StoredEdit, in archive: ArchiveAddress) throws(SourceError) -> Carried<Bool>

    /// Changes the targets that are unchanged, with one undo record. `checkpoint` gets the number of finished ones and returns
    /// whether to continue.
    func carryOut(
        _ action: PlannedAction, on targets: [Target], in archive: ArchiveAddress,
        checkpoint: (Int) -> Bool
    ) throws(SourceError) -> Carried<PlanOutcome>

    /// Undoes an action; nil if it can no longer be undone. Doesn't undo another action with the same number. `checkpoint` gets
    /// the share done, 0 to 1, between parts and returns whether to continue.
    func undo(
        _ action: ReversibleAction, in archive: ArchiveAddress, checkpoint: (Double) -> Bool
    ) throws(SourceError) -> Carried<UndoOutcome>?

    /// Changes a whole archive. It can only be dropped if it is unchanged. Returns the outcome in one line.
    func change(
        _ archive: ArchiveAddress, _ change: ArchiveChange, seen: ArchiveSample, progress: (Double) -> Bool
    ) throws(SourceError) -> Carried<String>
}

/// Defaults for sources that aren't servers.
extension StoreSource {
    package func listing(
        in archive: ArchiveAddress, holding text: String, loadsMetadata: Bool,
        while shouldContinue: (Int) -> Bool
    ) throws(SourceError) -> (any EntryListing)? { try listing(in: archive) }
    package func contains(_ key: String, in archive: ArchiveAddress) throws(SourceError) -> Bool {
        try entry(key, in: archive) != nil
    }
    package func targets(_ keys: [String], in archive: ArchiveAddress) throws(SourceError) -> [Target] {
        keys.compactMap { key in
            do throws(SourceError) { return try entry(key, in: archive)?.target } catch {
                return Target(key: key, sequence: 0, size: 0)
            }
        }
    }
    package func advice(
        in archive: ArchiveAddress, by advisor: SharedAdvisor
    ) throws(SourceError) -> ArchiveAdvice? {
        throw SourceError("Available only for archives of a store.")
    }
    package var storesJSON: Bool { false }
    package func stored(
        _ element: ValueElement, of key: String, in archive: ArchiveAddress
    ) throws(SourceError) -> StoredValue? { nil }
    package func change(
        _ element: ValueElement, of entry: EntryAddress, from former: [UInt8]?, to bytes: [UInt8]?
    ) throws(SourceError) -> Bool { throw SourceError("Only values of a server have elements.") }
    package func serverFacts(of key: String, in archive: ArchiveAddress) -> ServerValueFacts? { nil }
    package func change(
        _ archive: ArchiveAddress, _ change: ArchiveChange, seen: ArchiveSample, progress: (Double) -> Bool
    ) throws(SourceError) -> Carried<String> { throw SourceError("Available only for archives of a store.") }
    package func allowUse(of key: String?, in archive: ArchiveAddress) {}
    package func serverActivity() throws(SourceError) -> ServerActivity? { nil }
}

/// Defaults for sources that store no choices, or use those of another source.
extension StoreSource {
    package var remembers: EngineSource? { nil }
    package func noteOpened(store: String, at moment: Timestamp) throws(SourceError) {
        try remembers?.noteOpened(store: store, at: moment)
    }
    package func setFavorite(_ isFavorite: Bool, store: String) throws(SourceError) {
        try remembers?.setFavorite(isFavorite, store: store)
    }
    package func pastQueries() throws(SourceError) -> [PastQuery] { try remembers?.pastQueries() ?? [] }
    package func keep(_ query: PastQuery) throws(SourceError) { try remembers?.keep(query) }
    package func savedQueries() throws(SourceError) -> [SavedQuery] { try remembers?.savedQueries() ?? [] }
    package func save(_ query: SavedQuery) throws(SourceError) { try remembers?.save(query) }
    package func forget(_ query: SavedQuery) throws(SourceError) { try remembers?.forget(query) }
    package func columns(of archive: ArchiveAddress) throws(SourceError) -> ChosenColumns? {
        try remembers?.columns(of: archive)
    }
    package func keep(_ columns: ChosenColumns) throws(SourceError) { try remembers?.keep(columns) }
}

/// Defaults for sources that have only messages, such as ring files.
extension StoreSource {
    package func listing(in archive: ArchiveAddress) throws(SourceError) -> any EntryListing {
        throw .hasNoEntries
    }
    package func recentEntries(
        _ most: Int, in archive: ArchiveAddress
    ) throws(SourceError) -> any EntryListing { throw .hasNoEntries }
    package func entry(_ key: String, in archive: ArchiveAddress) throws(SourceError) -> EntryMetadata? {
        nil
    }
    package func bytes(
        _ key: String, range: Range<Int>, in archive: ArchiveAddress
    ) throws(SourceError) -> [UInt8]? { nil }
    package func events(in archive: ArchiveAddress, from: UInt64?) throws(SourceError) -> EventBatch {
        EventBatch(events: [], next: from ?? 0)
    }
    package func history(of key: String, in archive: ArchiveAddress) throws(SourceError) -> KeyHistory {
        KeyHistory(events: [])
    }
    package func absence(of key: String, in archive: ArchiveAddress) throws(SourceError) -> KeyAbsence? {
        nil
    }
    package func logHistory(
        of key: String, in archive: ArchiveAddress, progress: (Double) -> Bool
    ) throws(SourceError) -> LogHistory { LogHistory() }
    package func reversible(in archive: ArchiveAddress) throws(SourceError) -> [ReversibleAction] { [] }
    package func properties(in archive: ArchiveAddress) throws(SourceError) -> PropertySample {
        PropertySample()
    }
    package func query(
        _ request: QueryRequest, progress: (Double) -> Bool
    ) throws(SourceError) -> QueryResult? { throw .hasNoEntries }
    package func export(
        _ request: QueryRequest, to file: OutputFile, progress: (Double) -> Bool
    ) throws(SourceError) -> QueryReport? { throw .hasNoEntries }
    package func readOnlyReason(_ key: String, in archive: ArchiveAddress) -> SourceError? {
        .isOnlyLookedAt
    }
    package func stored(_ key: String, in archive: ArchiveAddress) throws(SourceError) -> StoredValue? { nil }
    package func store(
        _ edit: StoredEdit, in archive: ArchiveAddress
    ) throws(SourceError) -> Carried<Bool> { throw .isOnlyLookedAt }
    package func carryOut(
        _ action: PlannedAction, on targets: [Target], in archive: ArchiveAddress,
        checkpoint: (Int) -> Bool
    ) throws(SourceError) -> Carried<PlanOutcome> { throw .isOnlyLookedAt }
    package func undo(
        _ action: ReversibleAction, in archive: ArchiveAddress, checkpoint: (Double) -> Bool
    ) throws(SourceError) -> Carried<UndoOutcome>? { throw .isOnlyLookedAt }
}

extension SourceError {
    fileprivate static let hasNoEntries = SourceError("A ring file has messages, not entries.")
    fileprivate static let isOnlyLookedAt = SourceError(
        "Read-only: vellum append adds messages to a ring file.")
}
