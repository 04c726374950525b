/// Why a store, an archive or a value can't be shown: one line for a person. A value; safe to share between
/// threads.
public struct SourceError: Error, Sendable, Hashable, CustomStringConvertible {
    public let description: String

    public init(_ description: String) { self.description = description }
}

/// Where the browser's effects read from. Safe from any thread; its calls may take long and are never made by the
/// thread that draws.
///
/// Looking leaves no trace: everything but ``delete(_:archive:store:checkpoint:)`` only peeks.
public protocol StoreSource: Sendable {
    /// The folder whose stores ``stores()`` lists, for the screen that explains an empty list.
    var folder: String { get }

    /// The stores of the default folder, sorted by name. A folder that isn't there has none.
    func stores() throws(SourceError) -> [StoreSummary]

    /// All archives with their figures. An archive that can't be read is listed with its problem.
    func figures(store: String) throws(SourceError) -> StoreFigures

    /// A light list of an archive's entries, most recent first.
    func listing(archive: String, store: String) throws(SourceError) -> any EntryListing

    /// The metadata of a key; nil when there is no such entry.
    func entry(_ key: String, archive: String, store: String) throws(SourceError) -> Entry?

    /// The bytes of a value within a range, cut to the value's length; nil when there is no such entry.
    func bytes(_ key: String, range: Range<Int>, archive: String, store: String) throws(SourceError)
        -> [UInt8]?

    /// Deletes the targets that are still what the plan saw. `checkpoint` is told how many are done and says
    /// whether to go on.
    func delete(
        _ targets: [Target], archive: String, store: String, checkpoint: (Int) -> Bool
    ) throws(SourceError) -> Deletion
}

/// What became of a plan. A value; safe to share between threads.
public struct Deletion: Sendable, Hashable {
    public var deleted = 0
    /// Value bytes of what was deleted.
    public var bytes: UInt64 = 0
    /// Keys whose value was replaced since the plan was made; they are left alone.
    public var changed: [String] = []
    /// Keys that were gone already.
    public var absent: [String] = []
    /// Whether a person stopped it, or an error did, before all targets were looked at.
    public var stopped: String?
    /// The longest that one delete took, in seconds: no lock was held longer.
    public var longestCall = 0.0

    public init() {}
}

/// A list of entries in LRU order as it was at one moment: index 0 is the most recent. Safe from any thread.
///
/// Asking for an entry's metadata reads the store; the list itself doesn't, so that a million entries cost little.
public protocol EntryListing: Sendable {
    var count: Int { get }
    /// Sum of the sizes of all values.
    var valueBytes: UInt64 { get }

    /// Bytes of the value and accesses of an entry, without reading the store.
    func figures(at index: Int) -> (size: UInt32, hits: UInt32)

    /// The key; nil when the entry is gone and its place was used again.
    func key(at index: Int) -> String?

    /// The metadata of the entry's key as they are now; nil when the entry is gone.
    func entry(at index: Int) -> Entry?

    /// Where the entry with that key stands, if that can be told without looking at all of them.
    func index(ofKey key: String) -> Int?
}
