import StorageEngine
import StoreInspection

struct ArchivesState: Sendable {
    var figures: StoreFigures?
    var read: Timestamp?
    var problem: String?
    var selected: String?
    var top = 0
    /// When the figures were requested; nil: answered.
    var pendingSince: Timestamp?
    /// Whether single values are read although the server counts that as an access.
    var allowsUse = false
    /// Whether queries, conditions, groups and sorts may read many values; includes ``allowsUse``.
    var allowsReadingAll = false { didSet { allowsUse = allowsUse || allowsReadingAll } }
    var histories: [ExactText: ArchiveHistory] = [:]
    /// Copies from the moment when the screen was paused.
    var pausedHistories: [ExactText: ArchiveHistory]?
    var pausedEvents: EventLog?
    var shownHistories: [ExactText: ArchiveHistory] { pausedHistories ?? histories }
    var alarms: [Alarm] = []
    var span = 300.0
    var showsEvents = true
    var ringing: [String] {
        alarms.filter(\.isRinging).map { Alarm.owner($0.archive, figures?.server != nil) }
    }
    var filter = ""
    var column = ArchiveColumn.name
    /// Names are ascending and figures descending, unless reversed.
    var isReversed = false
    /// Positions in that order, and when they were computed.
    private var places: [ExactText: Int] = [:]
    private(set) var arranged: Timestamp?

    var archives: [ArchiveSample] { figures?.archives ?? [] }
    /// The archives that graphs show; a server has one set of counters for all databases.
    var counted: [ArchiveSample] { figures?.counted ?? [] }

    var rows: [ArchiveSample] {
        let pattern = SearchText(filter)
        let found = archives.filter { pattern?.matches($0.name) ?? true }
        guard arranged != nil else { return found }
        return found.map { (places[ExactText($0.name)] ?? .max, $0) }.sorted { $0.0 < $1.0 }.map(\.1)
    }

    mutating func arrange(at now: Timestamp) {
        arranged = column == .name && !isReversed ? nil : now
        var order = archives.enumerated().map { place, archive -> (Double, Int) in
            let value =
                column == .expiring
                ? Double(figures?.server?.expiring(in: archive.name) ?? 0)
                : column.value(archive, histories[ExactText(archive.name)])
            return (value ?? -Double(place), place)
        }
        order.sort { ($0.0, $1.1) > ($1.0, $0.1) }
        if isReversed { order.reverse() }
        places = [:]
        for (place, item) in order.enumerated() { places[ExactText(archives[item.1].name)] = place }
    }

    var cursor: Int { rows.firstIndex { ExactText($0.name) == selected.map(ExactText.init) } ?? 0 }

    /// Archives before their last resize by this browser, and its time.
    var resized: [ArchiveAddress: (former: ArchiveSample, at: Timestamp)] = [:]

    /// A rename by this browser, until the store's figures show it.
    var renaming: (old: ExactText, new: ExactText)?

    /// Keeps a renamed archive selected until the store is read again.
    mutating func renamed(_ old: String, to new: String) {
        renaming = (ExactText(old), ExactText(new))
        let place = archives.firstIndex { ExactText($0.name) == ExactText(old) }
        if let place { figures?.archives[place].name = new }
        if place == nil || selected.map(ExactText.init) == ExactText(old) { selected = new }
    }

    func summary(_ name: String) -> ArchiveSample? {
        archives.first { ExactText($0.name) == ExactText(name) }
    }
}

enum ArchiveColumn: Sendable, Hashable, CaseIterable {
    case name, entries, expiring, disk, footprint, memory, hits, operations, evictions

    /// Nil for names, which keep the store's order. Without accesses the hit ratio sorts last.
    func value(_ archive: ArchiveSample, _ history: ArchiveHistory?) -> Double? {
        switch self {
        // The number of expiring keys is a figure of the server.
        case .name, .expiring: nil
        case .entries: Double(archive.entries)
        case .disk: Double(archive.diskBytes)
        case .footprint: Double(archive.footprint)
        case .memory: Double(archive.memoryBytes)
        case .hits: RecentHits([history].compactMap { $0 }).ratio ?? -1
        case .operations: history?.now?.operations ?? 0
        case .evictions: history?.now?.evictions ?? 0
        }
    }
}
