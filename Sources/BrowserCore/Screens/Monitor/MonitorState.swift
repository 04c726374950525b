import StorageEngine

struct MonitorState: Sendable {
    enum Part: String, Sendable, Hashable, CaseIterable {
        case events, processes, graphs

        var serverName: String {
            switch self {
            case .events: "slow log"
            case .processes: "clients"
            case .graphs: "graphs"
            }
        }
    }

    var part: Part
    var origin: Screen
    var filter: EventFilter
    /// The numbers of the matching events; nil without a filter.
    private(set) var matching: [Int]?
    var number = 0
    var follows = true
    var top = 0
    var processTop = 0
    var processRow = 0
    var metric = Metric.hitRatio
    var isZoomed = false
    var span = 300.0
    /// The cursor's moment in the graphs; nil: now.
    var moment: Timestamp?
    /// Clients and slow log of a server, when they were read, and why they can't be.
    var activity: ServerActivity?
    var activityRead: Timestamp?
    var activityProblem: String?
    var isActivityPending = false
    /// The column that sorts the slow log or the clients, and whether its order is reversed.
    var sorted = (column: 0, isReversed: false)
    /// Whether connections and commands of this program are hidden in the slow log and the clients.
    var hidesOwn = false

    init(part: Part, origin: Screen, archive: String?) {
        self.part = part
        self.origin = origin
        filter = EventFilter(archive: archive)
    }

    func count(_ log: EventLog) -> Int { matching?.count ?? log.count }

    func number(row: Int, _ log: EventLog) -> Int { matching?[row] ?? log.number(at: row) }

    func row(_ log: EventLog) -> Int {
        let count = count(log)
        if follows { return max(0, count - 1) }
        let row = (0..<count).partitioningIndex { number(row: $0, log) >= number }
        return max(0, min(row, count - 1))
    }

    mutating func match(_ log: EventLog) {
        matching = filter.isEmpty ? nil : log.numbers(from: 0, matching: filter)
    }

    mutating func match(_ log: EventLog, after change: EventLog.Change) {
        guard var numbers = matching else { return }
        while let last = numbers.last, last >= change.start { numbers.removeLast() }
        if change.dropsEvents { numbers = log.kept(numbers) }
        matching = numbers + log.numbers(from: change.start, matching: filter)
    }

    mutating func setFilter(_ filter: EventFilter, _ log: EventLog) {
        self.filter = filter
        match(log)
    }
}
