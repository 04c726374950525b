import StorageEngine
import StoreInspection

/// Where the browser's effects read from. Safe from any thread; its calls may take long and are never made by the
/// thread that draws.
///
/// Looking leaves no trace: everything but ``carryOut(_:on:in:checkpoint:)``, ``undo(_:in:checkpoint:)`` and
/// ``clearLog(in:)`` only peeks.
package protocol StoreSource: Sendable {
    /// The folder whose stores ``stores()`` lists, for the screen that explains an empty list.
    var folder: String { get }

    /// The stores of the default folder, sorted by name. A folder that isn't there has none.
    func stores() throws(SourceError) -> [StoreSummary]

    /// All archives with their figures. An archive that can't be read is listed with its problem.
    func figures(store: String) throws(SourceError) -> StoreFigures

    /// A light list of an archive's entries, most recent first.
    func listing(in archive: ArchiveAddress) throws(SourceError) -> any EntryListing

    /// The metadata of a key; nil when there is no such entry.
    func entry(_ key: String, in archive: ArchiveAddress) throws(SourceError) -> EntryMetadata?

    /// The bytes of a value within a range, cut to the value's length; nil when there is no such entry.
    func bytes(_ key: String, range: Range<Int>, in archive: ArchiveAddress) throws(SourceError)
        -> [UInt8]?

    /// Events of an archive from a number on; nil: all that are still known.
    func events(in archive: ArchiveAddress, from: UInt64?) throws(SourceError) -> EventBatch

    /// What the events tell of a key.
    func biography(of key: String, in archive: ArchiveAddress) throws(SourceError) -> KeyHistory

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

    /// Carries a query out and writes what comes of it into a new file; rows that were written, nil when it was stopped.
    func export(
        _ request: QueryRequest, to path: String, progress: (Double) -> Bool
    ) throws(SourceError) -> Int?

    /// Names of the properties that the latest values have, with dots between where one is part of another.
    func properties(in archive: ArchiveAddress) throws(SourceError) -> [String]

    // MARK: What a person confirmed

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

    /// Deletes every message of a log, for good.
    func clearLog(in archive: ArchiveAddress) throws(SourceError) -> Carried<Removal>
}

/// A list of entries in LRU order as it was at one moment: index 0 is the most recent. Safe from any thread.
///
/// Asking for an entry's metadata reads the store; the list itself doesn't, so that a million entries cost little.
package protocol EntryListing: Sendable {
    var count: Int { get }
    /// Sum of the sizes of all values.
    var valueBytes: UInt64 { get }

    /// Bytes of the value and accesses of an entry, without reading the store.
    func figures(at index: Int) -> (size: UInt32, hits: UInt32)

    /// When an entry was last accessed, without reading the store.
    func accessed(at index: Int) -> Timestamp

    /// The key; nil when the entry is gone and its place was used again.
    /// - Throws: when its bytes are damaged, or can't be read now.
    func key(at index: Int) throws(SourceError) -> String?

    /// The metadata of the entry's key as they are now; nil when the entry is gone.
    /// - Throws: as ``key(at:)``.
    func entry(at index: Int) throws(SourceError) -> EntryMetadata?

    /// Where the entry with that key stands, if that can be told without looking at all of them.
    func index(ofKey key: String) -> Int?
}
