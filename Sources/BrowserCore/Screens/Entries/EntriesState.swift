import ArchiveQuery
import StorageEngine
import StoreInspection
import TerminalKit

struct EntriesState: Sendable {
    let archive: ArchiveAddress
    var order = EntryOrder.recency
    var filter = ""
    var condition: EntryCondition?
    var cycle: QueryState.Cycle?
    /// The group that is listed; `nil`: all entries.
    var group: GroupMembership?
    /// Properties that have a column, in their order; nil until the choice of earlier sessions is loaded.
    var properties: [QueryProperty]?
    var sample: PropertySample?
    /// The listed rows; nil until the archive was read.
    var arrangement: Arrangement?
    var read = ListedRows()
    var rowsTicket: Int?
    /// The selected row and its key, which stays selected while rows move.
    var cursor = 0
    var key: String?
    var top = 0
    /// Whether the next listing keeps the first visible row instead of the cursor's distance from it, so that entries restored
    /// above the cursor are visible.
    var keepsTop = false
    /// Whether the cursor stays at the top row: until it moves or an action uses its row.
    var follows = true
    var marks = Marks() { didSet { if marks.isEmpty { (hiddenMarks, removedMarks) = (0, 0) } } }
    /// Marked entries without a row, and those that were removed.
    var hiddenMarks = 0
    var removedMarks = 0
    var marking: Int?
    var firstColumn = 0
    var hiddenColumns: Set<String> = []
    /// Columns that the source can't report.
    var unreported: Set<EntryColumn> = []
    var flashes: [ExactText: Flash] = [:]
    var preview = Preview()
    var showsPreview = true
    var showsEvents = false
    /// Visible keys that were removed since the listing: their rows stay dimmed until the next one.
    var vanished: Set<ExactText> = []
    /// Widths needed by the rows seen so far. They only grow, so that columns don't jump.
    private(set) var seen = SeenRows()
    var ticket: Int?
    /// Whether the running request reads a server's metadata for a new list, whose sorted part is shown each second.
    var growsList = false
    /// The request after which the cursor moves to the next victim.
    var victimTicket: Int?
    /// The order and the condition of a server's list of likely victims, and the user's part of the condition.
    var victims: (order: EntryOrder, condition: EntryCondition?, own: EntryCondition?)?
    var showsLikelyVictims: Bool { victims?.order == order }
    /// The condition without the part that lists likely victims.
    var ownCondition: EntryCondition? {
        victims.map { condition == $0.condition ? $0.own : condition } ?? condition
    }
    /// Whether the metadata of all keys may be read from a server without confirmation.
    var allowsMetadata = false
    /// Whether the cursor was moved since the list was opened or sorted.
    var isMoved = false
    /// The request of a filter on a server, after which an old list is read again.
    var filterTicket: Int?
    /// Whether a listing with another filter or condition is being loaded.
    var isReplaced: Bool { ticket != nil && arrangement != nil && !showsRequestedRows }
    /// The archive's figures when the listing was requested. While they are equal, the listing is current.
    var listedFigures: ArchiveSample?
    var shownFigures: ArchiveSample?
    var notBefore: Timestamp?
    var problem: String?
    /// The last deletion on a server, and the list before it, which an undo shows again.
    var deletion: (id: ReversibleAction.ID, before: Arrangement)?

    /// Seconds after which a server's list is read again for a filter, and for its likely victims.
    static let oldList = (filter: 5.0, victims: 10.0, removed: 2.0)

    /// Seconds that the row of a removed entry stays.
    static let vanishedSeconds = 1.0

    var count: Int { arrangement?.count ?? 0 }
    var readsValues: Bool {
        group?.readsValues == true || condition?.readsValues == true || order.property?.isMetadata == false
    }
    /// The selected key or, if no key contains the filter, the filter's text.
    var askedKey: String? {
        if count > 0 || condition != nil || group != nil || filter.isEmpty { return key }
        return showsRequestedRows ? TerminalText.unescaped(filter) ?? filter : nil
    }
    var showsRequestedRows: Bool {
        guard let arrangement else { return false }
        return ExactText(arrangement.filter) == ExactText(filter) && arrangement.condition == condition
            && arrangement.group == group
    }
    var rows: [Int: EntryMetadata] { read.entries }
    var isCursorUnread: Bool { rowsTicket != nil && !read.range.contains(cursor) && cursor < count }

    func isVictim(row: Int) -> Bool {
        guard let arrangement, row < arrangement.count else { return false }
        let index = arrangement.rows.index(atRow: row)
        if let entry = rows[row] {
            if vanished.contains(ExactText(entry.key)) { return false }
            if entry.accessed > arrangement.made {
                // An access since the listing moved the entry to the front or, under S3-FIFO, increased its frequency, and two keep an
                // entry of the small queue.
                let accesses = entry.hits.subtractingReportingOverflow(
                    arrangement.listing.figures(at: index).hits)
                guard let queue = arrangement.listing.evictionOrder?[index], queue.isSmall,
                    !accesses.overflow, accesses.partialValue < 2,
                    UInt32(queue.frequency) + accesses.partialValue < 2
                else { return false }
            }
        }
        return arrangement.victims.rank(of: index) != nil
    }

    /// Updates a removed row whose key was recorded again.
    mutating func restoreRow(_ entry: EntryMetadata) {
        guard vanished.remove(ExactText(entry.key)) != nil,
            let row = rows.first(where: { ExactText($0.value.key) == ExactText(entry.key) })?.key
        else { return }
        read.entries[row] = entry
        preview.sequence = entry.sequence
    }

    mutating func replaceRows(_ rows: ListedRows) {
        read = rows
        for entry in rows.entries.values { seen.add(entry) }
        for cells in rows.cells.values { seen.add(cells, of: rows.properties) }
    }
}

struct SeenRows: Sendable, Hashable {
    private(set) var keyColumns = 0
    private(set) var hasExpiry = false
    private(set) var hasOwner = false
    private(set) var tiers: Set<Tier> = []
    private(set) var values: [QueryProperty: Values] = [:]

    struct Values: Sendable, Hashable {
        var columns = 0
        var isNumeric = true
        /// Width of the widest fraction with its point, and of the widest integer part.
        var fraction = 0
        private var whole = 0

        mutating func add(_ text: String, _ isNumber: Bool) {
            let width = TextWidth.width(of: text)
            isNumeric = isNumeric && isNumber
            if isNumber {
                fraction = max(fraction, Table.fraction(of: text))
                whole = max(whole, width - Table.fraction(of: text))
            }
            columns = min(SeenRows.widest, max(columns, width, whole + fraction))
        }

        mutating func reserve(_ word: String) { columns = max(columns, word.utf8.count) }
    }

    private static let widest = 40
    private static let widestKey = 60

    mutating func add(_ entry: EntryMetadata) {
        if keyColumns < SeenRows.widestKey {
            keyColumns = max(keyColumns, min(SeenRows.widestKey, TextWidth.width(of: entry.key)))
        }
        if entry.expires != nil { hasExpiry = true }
        if entry.owner != nil { hasOwner = true }
        tiers.insert(entry.tier)
    }

    mutating func add(_ cells: [ValueCell], of properties: [QueryProperty]) {
        for (cell, property) in zip(cells, properties) {
            switch cell {
            case .value(let text, let isNumber): values[property, default: Values()].add(text, isNumber)
            case .unreadable, .noAccess, .tooLong: values[property, default: Values()].reserve("unreadable")
            case .absent: break
            }
        }
    }
}

struct Flash: Sendable, Hashable {
    var role: Role
    var until: Timestamp

    static let seconds = 1.5
}

struct Preview: Sendable {
    /// The shown value. Its entry may no longer be selected.
    var load: ValueLoad? {
        didSet {
            if load.map({ ExactText($0.entry.key) }) != oldValue.map({ ExactText($0.entry.key) }) { top = 0 }
        }
    }
    /// The first visible row of the value.
    var top = 0
    var problem: String?
    var key: String?
    /// Nil: the value is read again.
    var sequence: UInt64?
    var isPending = false
    /// When a new value was requested; nil if the shown one is being read again.
    var since: Timestamp?
    /// When the shown value was read.
    var read: Timestamp?
    /// When the last read failed; it is retried.
    var failed: Timestamp?

    /// Seconds that the previous value stays, so that the pane doesn't flicker.
    static let delay = 0.2
}
