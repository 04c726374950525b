import ArchiveQuery
import StorageEngine
import StoreInspection
import TerminalKit

struct EntriesState: Sendable {
    let archive: ArchiveAddress
    var order = EntryOrder.recency
    var filter = ""
    /// What the entries have to meet; `nil`: nothing.
    var condition: EntryCondition?
    var mistake: EntryCondition.Mistake?
    /// The completions of it that Tab goes through, while it does.
    var cycle: QueryState.Cycle?
    /// The group that is listed; `nil`: all entries.
    var group: GroupMembership?
    /// Properties of the values that are columns, in their order; nil until it is known what was chosen in an earlier session.
    var properties: [QueryProperty]?
    /// What the latest values have, once it was asked for.
    var sample: PropertySample?
    /// What the rows show; nil until the archive was read.
    var arrangement: Arrangement?
    var read = ListedRows()
    /// A request for rows that is under way.
    var rowsTicket: Int?
    /// The row under the cursor, and the key that it holds to.
    var cursor = 0
    var key: String?
    var top = 0
    /// Whether the next listing leaves the first row in view where it is, instead of moving it with the entry under the
    /// cursor: what an undo brought back above that is to be seen.
    var keepsTop = false
    /// Whether the cursor stays at the top row instead of at a key: until it moves or its row is acted upon.
    var follows = true
    var marks = Marks() {
        didSet { if marks.isEmpty { hiddenMarks = 0 } }
    }
    /// How many of them the rows don't show.
    var hiddenMarks = 0
    /// The work that marks all rows, while it is under way.
    var marking: Int?
    /// Columns that are scrolled out at the left, the key excepted.
    var firstColumn = 0
    var hiddenColumns: Set<String> = []
    var flashes: [String: Flash] = [:]
    var preview = Preview()
    var showsPreview = true
    var showsEvents = false
    /// Keys in view that went since the listing that is shown: their rows stay, dimmed, until the next one.
    var ghosts: Set<String> = []
    /// What the rows seen so far needed, for the widths of columns; only grows, or columns would jump.
    private(set) var seen = SeenRows()
    var ticket: Int?
    /// Whether the rows are those of another filter or condition than what is asked for.
    var isReplaced: Bool {
        guard ticket != nil, let arrangement else { return false }
        return arrangement.filter != filter || arrangement.condition != condition
    }
    /// The archive's figures when the listing was asked for: while they are the same, so is the listing.
    var listedFigures: ArchiveSample?
    /// Those of the listing that is shown.
    var shownFigures: ArchiveSample?
    var notBefore: Timestamp?
    var problem: String?

    /// Seconds that a row stays after its entry went.
    static let ghostSeconds = 1.0

    init(archive: ArchiveAddress) { self.archive = archive }

    var count: Int { arrangement?.count ?? 0 }
    /// Whether the rows are those of the filter, the condition and the group that a person wants to see.
    var showsWhatIsAsked: Bool {
        guard let arrangement else { return false }
        return ExactText(arrangement.filter) == ExactText(filter) && arrangement.condition == condition
            && arrangement.group == group
    }
    var rows: [Int: EntryMetadata] { read.entries }
    var isCursorUnread: Bool { rowsTicket != nil && !read.range.contains(cursor) && cursor < count }

    func isVictim(row: Int) -> Bool {
        guard let arrangement, row < arrangement.count else { return false }
        return arrangement.victims.contains(arrangement.rows.index(atRow: row))
    }

    mutating func replaceRows(_ rows: ListedRows) {
        read = rows
        for entry in rows.entries.values { seen.add(entry) }
        for cells in rows.cells.values { seen.add(cells, of: rows.properties) }
    }

    /// What can be sorted by, in the order in which the columns stand: facts of the entries, then properties of the values.
    var bases: [EntryOrder.Basis] {
        EntryColumn.allCases.map(EntryOrder.Basis.column)
            + (properties ?? []).map(EntryOrder.Basis.property)
    }
}

/// What columns have shown since the archive was opened.
struct SeenRows: Sendable, Hashable {
    /// Width of the widest key in columns, among the requested ones.
    private(set) var keyColumns = 0
    private(set) var hasExpiry = false
    private(set) var hasOwner = false
    private(set) var tiers: Set<Tier> = []
    /// Of each property the width of the widest value in columns, and whether all were numbers.
    private(set) var values: [QueryProperty: Values] = [:]

    struct Values: Sendable, Hashable {
        var columns = 0
        var isNumeric = true
    }

    private static let widest = 40

    mutating func add(_ entry: EntryMetadata) {
        if keyColumns < SeenRows.widest {
            keyColumns = max(keyColumns, min(SeenRows.widest, TextWidth.width(of: entry.key)))
        }
        if entry.expires != nil { hasExpiry = true }
        if entry.owner != nil { hasOwner = true }
        tiers.insert(entry.tier)
    }

    mutating func add(_ cells: [ValueCell], of properties: [QueryProperty]) {
        for (cell, property) in zip(cells, properties) {
            guard case .value(let text, let isNumber) = cell else { continue }
            var seen = values[property] ?? Values()
            seen.columns = max(seen.columns, min(SeenRows.widest, TextWidth.width(of: text)))
            seen.isNumeric = seen.isNumeric && isNumber
            values[property] = seen
        }
    }
}

struct Flash: Sendable, Hashable {
    var role: Role
    var until: Timestamp

    static let seconds = 1.5
}

struct Preview: Sendable {
    /// What is shown, of an entry that may not be under the cursor any more.
    var load: ValueLoad?
    var problem: String?
    /// The key and sequence that were asked for last.
    var key: String?
    var sequence: UInt64?
    var isPending = false
    var since: Timestamp?
    /// When it could not be read, which is tried again after a while.
    var failed: Timestamp?

    /// Seconds that the value before it stays: an empty pane after each key would only flicker.
    static let patience = 0.2
}
