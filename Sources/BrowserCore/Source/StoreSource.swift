import ArchiveQuery
import StorageEngine
import StoreInspection

/// The source of the browser's effects; slow, so never called on the drawing thread. Only ``store(_:in:)``,
/// ``carryOut(_:on:in:checkpoint:)``, ``undo(_:in:checkpoint:)`` and ``clearLog(in:)`` leave a trace. Safe from any thread.
package protocol StoreSource: Sendable {
    /// The folder whose stores ``stores()`` lists, for the screen that explains an empty list.
    var folder: String { get }

    /// Favourites first, then the stores of the default folder, each sorted by name, then those elsewhere that were opened last. A
    /// folder that isn't there has none.
    func stores() throws(SourceError) -> StoreList

    /// Keeps for later sessions that a store was opened.
    func noteOpened(store: String, at moment: Timestamp) throws(SourceError)

    /// Keeps for later sessions whether a store is to stand first.
    func setFavourite(_ isFavourite: Bool, store: String) throws(SourceError)

    /// All archives with their figures. An archive that can't be read is listed with its problem.
    func figures(store: String) throws(SourceError) -> StoreFigures

    /// A light list of an archive's entries, most recent first.
    func listing(in archive: ArchiveAddress) throws(SourceError) -> any EntryListing

    /// The same of keys that hold a text, as far as the source can look for that itself, as a server can; all where the text is empty.
    /// `goesOn` is told how many were found, now and then, and says whether to go on; nil: it was stopped.
    func listing(
        in archive: ArchiveAddress, holding text: String, while goesOn: (Int) -> Bool
    ) throws(SourceError) -> (any EntryListing)?

    /// The most recent entries, to be shown while a large archive is listed.
    func recentEntries(_ most: Int, in archive: ArchiveAddress) throws(SourceError) -> any EntryListing

    /// The metadata of a key; nil when there is no such entry.
    func entry(_ key: String, in archive: ArchiveAddress) throws(SourceError) -> EntryMetadata?

    /// The bytes of a value within a range, cut to the value's length; nil when there is no such entry.
    func bytes(_ key: String, range: Range<Int>, in archive: ArchiveAddress) throws(SourceError)
        -> [UInt8]?

    /// What to know of a value that was read, such as that only a part of it was; one line.
    func remark(on key: String, in archive: ArchiveAddress) -> String?

    /// A server's type of a value that was read and isn't a string; `nil`: it is a string, or the source is no server.
    func typeName(of key: String, in archive: ArchiveAddress) -> String?

    /// Bytes that a value takes at a server, as its lists state them; nil: it isn't of a server, and takes its length.
    func memory(of key: String, in archive: ArchiveAddress) -> Int?

    /// Lets the value of a key be read although that counts as an access.
    func allowUse(of key: String, in archive: ArchiveAddress)

    /// Who is connected to a server, and which commands took long there; nil: it is none.
    func serverActivity() throws(SourceError) -> ServerActivity?

    /// Events of an archive from a number on; nil: all that are still known.
    func events(in archive: ArchiveAddress, from: UInt64?) throws(SourceError) -> EventBatch

    /// What the events tell of a key.
    func history(of key: String, in archive: ArchiveAddress) throws(SourceError) -> KeyHistory

    /// Messages of a log, oldest first, at most `count`, beginning with the one that `behind` others followed when
    /// `nextEvent` was the number of the event to come.
    func messages(
        count: Int, behind: Int, nextEvent: UInt64, in archive: ArchiveAddress
    ) throws(SourceError) -> [LogLine]

    /// What can be taken back, latest first.
    func reversible(in archive: ArchiveAddress) throws(SourceError) -> [ReversibleAction]

    /// Carries a query out; nil when it was stopped. `progress` is told how far it is, 0 to 1, and says whether to go on.
    func query(
        _ request: QueryRequest, progress: (Double) -> Bool
    ) throws(SourceError) -> QueryAnswer?

    /// Carries a query out and writes what comes of it into a file; nil when it was stopped.
    /// `replaces`: the file may take the place of one that is there.
    func export(
        _ request: QueryRequest, to path: String, replaces: Bool, progress: (Double) -> Bool
    ) throws(SourceError) -> QueryReport?

    /// The properties that the latest values have, and values of these.
    func properties(in archive: ArchiveAddress) throws(SourceError) -> PropertySample

    /// Queries of earlier sessions, the latest last.
    func pastQueries() throws(SourceError) -> [PastQuery]

    /// Keeps a query for later sessions; nothing of a store changes.
    func keep(_ query: PastQuery) throws(SourceError)

    /// The queries that have names, of all archives.
    func savedQueries() throws(SourceError) -> [SavedQuery]

    /// Keeps a query under its name; one that has that name goes.
    func save(_ query: SavedQuery) throws(SourceError)

    /// Forgets the query of that name.
    func forget(_ query: SavedQuery) throws(SourceError)

    /// The columns that were chosen for an archive; nil: none were.
    func columns(of archive: ArchiveAddress) throws(SourceError) -> ChosenColumns?

    /// Keeps the choice of an archive's columns for later sessions.
    func keep(_ columns: ChosenColumns) throws(SourceError)

    // MARK: Editing

    /// Why nothing in an archive can be stored from here, before somebody writes what can't be; nil: nothing speaks against it.
    func objectionToWriting(in archive: ArchiveAddress) -> SourceError?

    /// A whole value and what tells its version; nil when there is no such entry, or its bytes aren't on disk.
    func stored(_ key: String, in archive: ArchiveAddress) throws(SourceError) -> StoredValue?

    // MARK: What a person confirmed

    /// Stores an edit if the entry is still what was edited, which is decided under the archive's lock; whether it was stored.
    func store(_ edit: StoredEdit, in archive: ArchiveAddress) throws(SourceError) -> Carried<Bool>

    /// Does it to the targets that are still what the plan saw, in one action that can be taken back. `checkpoint` is
    /// told how many are done and says whether to go on.
    func carryOut(
        _ action: PlannedAction, on targets: [Target], in archive: ArchiveAddress,
        checkpoint: (Int) -> Bool
    ) throws(SourceError) -> Carried<PlanOutcome>

    /// Takes an action back; nil when it no longer can be. Deadlines come back in parts: between them `checkpoint` is
    /// told how much is done, 0 to 1, and says whether to go on.
    func undo(
        _ id: UInt32, in archive: ArchiveAddress, checkpoint: (Double) -> Bool
    ) throws(SourceError) -> Carried<UndoOutcome>?

    /// Changes a whole archive; to drop it, it must be as it was seen. One line for the screen.
    func change(
        _ archive: ArchiveAddress, _ change: ArchiveChange, seen: ArchiveSample, progress: (Double) -> Bool
    ) throws(SourceError) -> Carried<String>

    /// Deletes every message of a log, for good.
    func clearLog(in archive: ArchiveAddress) throws(SourceError) -> Carried<Removal>
}

/// What a source answers that is no server.
extension StoreSource {
    package func listing(
        in archive: ArchiveAddress, holding text: String, while goesOn: (Int) -> Bool
    ) throws(SourceError) -> (any EntryListing)? { try listing(in: archive) }
    package func remark(on key: String, in archive: ArchiveAddress) -> String? { nil }
    package func typeName(of key: String, in archive: ArchiveAddress) -> String? { nil }
    package func memory(of key: String, in archive: ArchiveAddress) -> Int? { nil }
    package func change(
        _ archive: ArchiveAddress, _ change: ArchiveChange, seen: ArchiveSample, progress: (Double) -> Bool
    ) throws(SourceError) -> Carried<String> { throw SourceError("Only archives of a store can be changed.") }
    package func allowUse(of key: String, in archive: ArchiveAddress) {}
    package func serverActivity() throws(SourceError) -> ServerActivity? { nil }
}

/// What a source answers that has messages alone, as a ring file does.
extension StoreSource {
    package func noteOpened(store: String, at moment: Timestamp) throws(SourceError) {}
    package func setFavourite(_ isFavourite: Bool, store: String) throws(SourceError) {}
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
    package func reversible(in archive: ArchiveAddress) throws(SourceError) -> [ReversibleAction] { [] }
    package func properties(in archive: ArchiveAddress) throws(SourceError) -> PropertySample {
        PropertySample()
    }
    package func query(
        _ request: QueryRequest, progress: (Double) -> Bool
    ) throws(SourceError) -> QueryAnswer? { throw .hasNoEntries }
    package func export(
        _ request: QueryRequest, to path: String, replaces: Bool, progress: (Double) -> Bool
    ) throws(SourceError) -> QueryReport? { throw .hasNoEntries }
    package func pastQueries() throws(SourceError) -> [PastQuery] { [] }
    package func keep(_ query: PastQuery) throws(SourceError) {}
    package func savedQueries() throws(SourceError) -> [SavedQuery] { [] }
    package func save(_ query: SavedQuery) throws(SourceError) {}
    package func forget(_ query: SavedQuery) throws(SourceError) {}
    package func columns(of archive: ArchiveAddress) throws(SourceError) -> ChosenColumns? { nil }
    package func keep(_ columns: ChosenColumns) throws(SourceError) {}
    package func objectionToWriting(in archive: ArchiveAddress) -> SourceError? { .isOnlyLookedAt }
    package func stored(_ key: String, in archive: ArchiveAddress) throws(SourceError) -> StoredValue? { nil }
    package func store(
        _ edit: StoredEdit, in archive: ArchiveAddress
    ) throws(SourceError) -> Carried<Bool> { throw .isOnlyLookedAt }
    package func carryOut(
        _ action: PlannedAction, on targets: [Target], in archive: ArchiveAddress,
        checkpoint: (Int) -> Bool
    ) throws(SourceError) -> Carried<PlanOutcome> { throw .isOnlyLookedAt }
    package func undo(
        _ id: UInt32, in archive: ArchiveAddress, checkpoint: (Double) -> Bool
    ) throws(SourceError) -> Carried<UndoOutcome>? { throw .isOnlyLookedAt }
    package func clearLog(in archive: ArchiveAddress) throws(SourceError) -> Carried<Removal> {
        throw .isOnlyLookedAt
    }
}

extension SourceError {
    fileprivate static let hasNoEntries = SourceError("A ring file has messages and no entries.")
    fileprivate static let isOnlyLookedAt = SourceError(
        "A ring file is only looked at here; vellum append adds to it.")
}
