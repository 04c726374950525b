import StorageEngine

struct MonitorState: Sendable {
    enum Part: String, Sendable, Hashable, CaseIterable {
        case events, processes, graphs

        var name: String { rawValue }

        /// What it is at a server.
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
    /// The numbers of the events that the filter lets through; nil: all.
    private(set) var matching: [Int]?
    var number = 0
    /// Whether the cursor stays at the newest event.
    var follows = true
    var top = 0
    var processTop = 0
    var processRow = 0
    /// The graph under the cursor, and whether it has all the room.
    var metric = Metric.hitRatio
    var isZoomed = false
    /// Seconds that graphs show at least.
    var span = 300.0
    /// The moment that is read from the graphs; nil: now.
    var moment: Timestamp?
    /// What happens at a server, once it was asked, and when; why it can't be told.
    var activity: ServerActivity?
    var activityRead: Timestamp?
    var activityProblem: String?
    var isActivityPending = false

    init(part: Part, origin: Screen, archive: String?) {
        self.part = part
        self.origin = origin
        filter = EventFilter(archive: archive)
    }

    func count(_ log: EventLog) -> Int { matching?.count ?? log.numbers.count }

    /// The event in a row, which must exist.
    func number(row: Int, _ log: EventLog) -> Int { matching?[row] ?? log.numbers.lowerBound + row }

    /// The row of the cursor: that of its event or of the next one that is shown.
    func row(_ log: EventLog) -> Int {
        let count = count(log)
        if follows { return max(0, count - 1) }
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if number(row: middle, log) < number { low = middle + 1 } else { high = middle }
        }
        return max(0, min(low, count - 1))
    }

    /// Brings the rows in line with the events from that number on.
    mutating func match(_ log: EventLog, from start: Int) {
        guard !filter.isEmpty else {
            matching = nil
            return
        }
        var numbers = matching ?? []
        let begin = matching == nil ? log.numbers.lowerBound : max(start, log.numbers.lowerBound)
        while let last = numbers.last, last >= begin { numbers.removeLast() }
        if let first = numbers.first, first < log.numbers.lowerBound {
            numbers.removeAll { $0 < log.numbers.lowerBound }
        }
        for number in begin..<max(begin, log.numbers.upperBound) where filter.lets(log[number]) {
            numbers.append(number)
        }
        matching = numbers
    }

    /// With another filter, all events are filtered again.
    mutating func setFilter(_ filter: EventFilter, _ log: EventLog) {
        self.filter = filter
        matching = nil
        match(log, from: log.numbers.lowerBound)
    }
}
