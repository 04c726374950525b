import ArchiveQuery
import StorageEngine
import StoreInspection

/// A listing as a table shows it: sorted and filtered. Immutable; safe to share between threads.
package struct Arrangement: Sendable {
    package let listing: any EntryListing
    package let order: EntryOrder
    package let filter: String
    /// The group that the rows are of; `nil`: of all.
    let group: GroupMembership?
    /// What the rows' entries meet; `nil`: nothing is asked of them.
    package let condition: EntryCondition?
    /// All entries in `order`.
    let sorted: Positions
    /// Those of `sorted` that are of the group and meet the condition.
    let members: Positions
    /// What couldn't be read on the way.
    package let unread: Unread
    /// Those of `members` whose key matches the filter: the rows.
    package var rows: Positions
    package var rowBytes: UInt64
    /// Entries of the listing that were seen to be gone; they have no rows.
    var gone = 0
    /// The listing's indices of the entries that are evicted next; empty when there is room.
    package let victims: Range<Int>
    package let made: Timestamp
    /// Whether only the most recent entries are listed, which are shown until all are.
    package var isPart = false

    package var count: Int { rows.count }

    /// Whether some entries have no row because a person doesn't want to see them.
    var isFiltered: Bool { !filter.isEmpty || group != nil || condition != nil }

    /// What is known of entries whose values couldn't be read. A value; safe to share between threads.
    package struct Unread: Sendable, Hashable {
        /// Those that a property sorts, and that stand last for it.
        package var sorted = 0
        /// Those of which nobody knows whether they are of the group or meet the condition.
        package var chosen = 0
        /// Those of which nobody knows whether the filter matches their key.
        package var filtered = 0
        package var warnings: [String] = []
        /// What is known of the kinds of values that a property sorts by.
        package var remarks: [String] = []
        /// Those for which the condition is unknown.
        package var undecided = 0
    }
}

/// What an arrangement is to be made of. A value; safe to share between threads.
package struct ArrangementRequest: Sendable {
    package var archive: ArchiveAddress
    package var order: EntryOrder
    package var filter: String
    /// The group that the rows are of; `nil`: of all.
    package var group: GroupMembership?
    /// What entries have to meet; `nil`: nothing.
    package var condition: EntryCondition?
    /// The properties that rows show; `nil`: those that were chosen for the archive in an earlier session.
    package var columns: [QueryProperty]? = []
    package var base: Arrangement?
    /// The key whose row is looked for.
    package var anchor: String?
    /// Where the anchor was, to look there first and to stay there when it is gone.
    package var anchorRow: Int
    /// Rows in view, and how far below the top one the anchor is.
    package var visible: Int
    package var anchorOffset: Int
    /// Keys in view, of which those that went are wanted.
    package var shown: [String] = []
    /// How many entries there may be, for telling how far it is.
    var expected = 0
    /// The marked entries, of which those that have no row are counted.
    var marks = Marks()

    var isWholeInOrder: Bool {
        (order == .recency || order == .found) && filter.isEmpty && group == nil && condition == nil
    }

    package init(in archive: ArchiveAddress, order: EntryOrder = .recency, filter: String = "") {
        self.archive = archive
        self.order = order
        self.filter = filter
        anchorRow = 0
        visible = 0
        anchorOffset = 0
    }
}

/// An arrangement with the rows that are in view first. A value; safe to share between threads.
package struct Arranged: Sendable {
    package var arrangement: Arrangement
    /// Where the anchor stands now; nil when it is gone or filtered out.
    package var anchorRow: Int?
    package var rows: ListedRows
    /// What was chosen for the archive in an earlier session, if it was asked for.
    package var remembered: Result<ChosenColumns?, SourceError>?
    /// The keys of ``ArrangementRequest/shown`` that are no entries any more.
    package var vanished: Set<String>
    /// How many of the marked entries have no row.
    var hiddenMarks = 0
    /// Whether the listing was taken for it.
    var isNew = true
    /// What it cost, in seconds, so that refreshing takes a bounded share of the time.
    package var cost: Double
}

/// Some rows of an arrangement, as they were read. A value; safe to share between threads.
package struct ListedRows: Sendable {
    /// The rows that were looked at; what is neither in `entries` nor in `problems` is gone.
    package var range = 0..<0
    package var entries: [Int: EntryMetadata] = [:]
    package var problems: [Int: String] = [:]
    /// Keys of entries that are gone, and are shown as they were.
    package var vanished: Set<String> = []
    /// Of each row what it shows of ``properties``.
    package var cells: [Int: [ValueCell]] = [:]
    package var properties: [QueryProperty] = []
}

extension Arrangement {
    /// What an action on all rows is about; `nil`: it was stopped.
    func targets(_ progress: (Double) -> Bool) -> CollectedTargets? {
        CollectedTargets(listing, (0..<count).lazy.map { rows.index(atRow: $0) }, progress)
    }

    /// Those of some keys that have no row: they are filtered away, or their entries have gone. Reads the key of each row.
    /// - Returns: `nil` if it was stopped.
    func missing(of keys: Set<ExactText>, _ progress: (Double) -> Bool) -> Set<ExactText>? {
        var missing = keys
        for start in stride(from: 0, to: count, by: 4096) where !missing.isEmpty {
            guard progress(Double(start) / Double(count)) else { return nil }
            _ = listing.readKeys(of: start..<min(start + 4096, count), in: rows) { _, key in
                missing.remove(ExactText(String(decoding: key, as: UTF8.self)))
            }
        }
        return missing
    }
}

extension ArrangementRequest: CustomStringConvertible {
    package var description: String {
        "\(archive.name) by \(order.name)" + (order.descending ? " descending" : "")
            + (filter.isEmpty ? "" : " filter \"\(filter)\"")
            + (condition.map { " where \($0.text)" } ?? "") + (base == nil ? ", new listing" : "")
    }
}
