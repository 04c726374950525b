import ArchiveQuery
import StorageEngine
import StoreInspection

package struct Arrangement: Sendable {
    package let listing: any EntryListing
    package let order: EntryOrder
    package let filter: String
    let group: GroupMembership?
    package let condition: EntryCondition?
    /// All entries in `order`.
    private(set) var sorted: Positions
    /// Entries of the group that meet the condition.
    private(set) var members: Positions
    package let unread: Unread
    /// Members whose key matches the filter.
    package var rows: Positions
    package var rowBytes: UInt64
    /// Whether the sizes were known when it was made.
    var hasBytes = true
    /// Listed entries that were removed since; they have no rows.
    var removed = 0
    /// Listed entries that were deleted by this browser; ``sorted`` lacks them.
    var deleted = 0
    package let victims: NextEvicted
    package let made: Timestamp
    /// Whether it has only the most recent entries, or those known so far, until all are listed.
    package var isPart = false

    package var count: Int { rows.count }

    var isFiltered: Bool { !filter.isEmpty || group != nil || condition != nil }

    /// Counts of entries that could not be read, and remarks about values.
    package struct Unread: Sendable, Hashable {
        /// Entries that were unreadable when sorted; they are last.
        package var sorted = 0
        /// Entries that were unreadable for the group or the condition.
        package var chosen = 0
        /// Entries that were unreadable for the filter.
        package var filtered = 0
        /// Entries for which the filter's regular expression takes too long.
        package var untested = 0
        package var warnings: [String] = []
        /// Remarks about the kinds of the sorted values.
        package var remarks: [String] = []
        /// Entries for which the condition could not be evaluated.
        package var undecided = 0
        /// Rows with metadata that the user has no right to read.
        var unknown = 0
    }
}

package struct ArrangementRequest: Sendable {
    package var archive: ArchiveAddress
    package var order: EntryOrder
    package var filter: String
    package var group: GroupMembership?
    package var condition: EntryCondition?
    /// Properties in columns; nil: those of an earlier session.
    package var columns: [QueryProperty]? = []
    /// An arrangement whose listing and results are reused.
    package var base: Arrangement?
    /// Keys to remove from the base.
    var removed: [String] = []
    package var anchor: String?
    /// The anchor's previous row, used if its key was removed.
    package var anchorRow = 0
    /// Number of visible rows, and the anchor's offset from the first.
    package var visible = 0
    package var anchorOffset = 0
    /// Visible keys, to report which of them were removed.
    package var shown: [String] = []
    var expected = 0
    /// Marked entries, to count those without a row.
    var marks = Marks()
    /// Whether conditions, groups and the order may read values although the server counts that as accesses.
    var allowsAccesses = false
    /// Whether the condition needs the metadata of all entries.
    var isOfMetadata = false

    /// Whether a server is still being scanned. Then only the entries found so far with known metadata are listed.
    var isGrowing = false

    /// Whether the metadata of each entry is requested from a server.
    var needsFigures: Bool { order.needsFigures || isOfMetadata }

    /// Whether the first entries of a listing are the first rows.
    var isInOrder: Bool { (order == .recency || order == .found) && group == nil && condition == nil }

    package init(in archive: ArchiveAddress, order: EntryOrder = .recency, filter: String = "") {
        self.archive = archive
        self.order = order
        self.filter = filter
    }
}

package struct Arranged: Sendable {
    package var arrangement: Arrangement
    /// Nil if the anchor was removed or filtered out.
    package var anchorRow: Int?
    package var rows: ListedRows
    /// The columns of an earlier session, if requested.
    package var remembered: Result<ChosenColumns?, SourceError>?
    /// Keys of ``ArrangementRequest/shown`` that were removed.
    package var vanished: Set<ExactText>
    /// Marked entries without a row, and those that were removed.
    var hiddenMarks = 0
    var removedMarks = 0
    var isNew = true
    /// ``PresentRows/isOutdated``
    package var isOutdated = false
    /// Seconds of work, which limit how often it is repeated.
    package var cost: Double
}

package struct ListedRows: Sendable {
    /// Rows in neither `entries` nor `problems` were removed.
    package var range = 0..<0
    package var entries: [Int: EntryMetadata] = [:]
    package var problems: [Int: String] = [:]
    /// Metadata that the user has no right to read.
    var unknown: [Int: Set<QueryMetadata>] = [:]
    /// Keys of removed entries that are still shown.
    package var vanished: Set<ExactText> = []
    /// Cells of ``properties`` for each row.
    package var cells: [Int: [ValueCell]] = [:]
    package var properties: [QueryProperty] = []
    var made: Timestamp?

    func holds(_ rows: Range<Int>, _ columns: [QueryProperty]) -> Bool {
        rows.clamped(to: range) == rows && properties == columns
    }

    mutating func update(_ newer: ListedRows) {
        for row in newer.range {
            (entries[row], cells[row]) = (newer.entries[row], newer.cells[row])
            unknown[row] = newer.unknown[row]
        }
        made = newer.made
    }
}

/// The next entries to be evicted.
package struct NextEvicted: Sendable {
    /// Listing indices, the next evicted first.
    package let indices: [Int]
    private let ranks: [Int: Int]

    init(_ indices: [Int]) {
        self.indices = indices
        ranks = Dictionary(uniqueKeysWithValues: zip(indices, 0...))
    }

    /// Position of an entry, from 0; nil if it isn't among them.
    func rank(of index: Int) -> Int? { ranks[index] }
}

extension Arrangement {
    /// Removes keys from all positions. Time linear in the entries.
    func without(_ keys: [String]) -> Arrangement {
        let removed = Set(keys.compactMap(listing.index(ofKey:)).map { Int32($0) })
        func rest(_ positions: Positions) -> Positions {
            .some(
                (0..<positions.count).map { Int32(positions.index(atRow: $0)) }.filter {
                    !removed.contains($0)
                })
        }
        var result = self
        (result.sorted, result.members, result.rows) = (rest(sorted), rest(members), rest(rows))
        result.deleted += sorted.count - result.sorted.count
        return result
    }

    /// Collects the targets of all rows; nil if it was stopped.
    func targets(_ progress: (Double) -> Bool) -> CollectedTargets? {
        CollectedTargets(listing, (0..<count).lazy.map { rows.index(atRow: $0) }, progress)
    }

    /// The keys among `keys` that don't match the filter, group or condition; nil if it was stopped. A group or condition
    /// requires reading the key of each row; then keys stored since the listing match only if they are among `shown`.
    func missing(
        of keys: Set<ExactText>, shown: some Sequence<EntryMetadata>, _ progress: (Double) -> Bool
    ) -> Set<ExactText>? {
        if group == nil, condition == nil {
            guard let pattern = FilterPattern(filter) else { return [] }
            let timeLimit = SearchTimeLimit()
            return keys.filter { key in
                Array(key.text.utf8).withUnsafeBytes { pattern.matches(key: $0, within: timeLimit) } != true
            }
        }
        var missing = keys.subtracting(shown.map { ExactText($0.key) })
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
