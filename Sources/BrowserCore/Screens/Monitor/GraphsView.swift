import StorageEngine
import StoreInspection
import TerminalKit

enum GraphsView {
    static let spans: [Double] = [60, 300, 900, 3600, 4 * 3600, 12 * 3600]

    /// Rows and columns that a graph needs, title and times included.
    private static let minimumRows = 4
    private static let minimumColumns = 30

    struct Times: Sendable {
        let count: Int
        let step: Int64
        let last: Int64

        init(_ count: Int, seconds: Double, until end: Timestamp) {
            self.count = max(0, count)
            step = GraphColumn.step(count, covering: seconds)
            last = GraphColumn.index(of: end, step: step)
        }

        var first: Int64 { last - Int64(count) + 1 }

        func start(_ index: Int64) -> Timestamp { Timestamp(seconds: Double(index * step)) }

        func columns(of histories: [ArchiveHistory]) -> [GraphColumn?] {
            GraphColumn.columns(count, step: step, until: start(last + 1), of: histories)
        }

        /// Labels at round times, such as whole minutes or hours, with space for their texts.
        var ticks: [TimeGraph.Tick] {
            let widths: [Int64] = [10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21_600, 43_200]
            let width = widths.first { $0 % step == 0 && $0 >= (10 * step) } ?? 86_400
            func tick(_ column: Int) -> TimeGraph.Tick {
                let time = Figures.time(start(first + Int64(column)))
                return TimeGraph.Tick(column, width < 60 ? time : String(time.dropLast(3)))
            }
            let ticks = (0..<count).filter { (first + Int64($0)) * step % width == 0 }.map(tick)
            let fits = ticks.contains { $0.column + $0.label.count < count }
            return fits ? ticks : [tick(0)]
        }
    }

    /// Graphs side by side and the columns of each.
    private static func columns(_ monitor: MonitorState, in rect: Rect) -> (across: Int, width: Int) {
        let across = monitor.isZoomed || rect.columns < 2 * minimumColumns + 2 ? 1 : 2
        return (across, (rect.columns - 2 * (across - 1)) / across)
    }

    static func times(_ model: Model, _ monitor: MonitorState) -> Times {
        let width = columns(monitor, in: model.layout.list).width
        let end = end(Metric.subjects(model, monitor).histories, model.shownNow)
        return Times(width - TimeGraph.scaleColumns, seconds: monitor.span, until: end)
    }

    /// The end of all graphs: the last refresh or, if refreshes failed for seconds, now.
    static func end(_ histories: [ArchiveHistory], _ now: Timestamp) -> Timestamp {
        let latest = histories.compactMap(\.latest).max() ?? now
        return now.seconds(since: latest) < 5 ? latest : now
    }

    /// The visible column closest to the cursor.
    static func cursor(_ monitor: MonitorState, _ times: Times) -> Int64? {
        guard times.count > 0, let moment = monitor.moment else { return nil }
        return min(times.last, max(times.first, GraphColumn.index(of: moment, step: times.step)))
    }

    static func draw(_ model: Model, _ monitor: MonitorState, into frame: inout Frame, in rect: Rect) {
        guard rect.rows >= 2 else { return }
        let metrics = Metric.shown(model)
        let (across, width) = columns(monitor, in: rect)
        let lines = (metrics.count + across - 1) / across
        let down = min(max(1, rect.rows / minimumRows), monitor.isZoomed ? 1 : lines)
        let selected = metrics.firstIndex(of: monitor.metric) ?? 0
        let firstRow = max(0, min(selected / across, lines - down))
        let shown =
            monitor.isZoomed ? [monitor.metric] : Array(metrics[(firstRow * across)...].prefix(down * across))
        let times = times(model, monitor)
        let columns = times.columns(of: Metric.subjects(model, monitor).histories)
        for (index, metric) in shown.enumerated() {
            let (row, column) = (index / across, index % across)
            let top = rect.row + rect.rows * row / down
            let place = Rect(
                column: rect.column + column * (width + 2), row: top, columns: width,
                rows: rect.row + rect.rows * (row + 1) / down - top)
            graph(metric, model, monitor, columns, times).draw(into: &frame, in: place, look: model.look)
        }
    }

    private static func graph(
        _ metric: Metric, _ model: Model, _ monitor: MonitorState, _ columns: [GraphColumn?], _ times: Times
    ) -> TimeGraph {
        let look = model.look
        let archives = Metric.subjects(model, monitor).archives
        let limit = metric.limit(of: archives)
        let alarm = model.archives.alarms.first { $0.watches(metric, of: monitor.filter.archive) }
        let isSelected = metric == monitor.metric
        let cursor = cursor(monitor, times).map { Int($0 - times.first) }
        let now = metric.now(of: archives, model.archives.shownHistories)
        var graph = metric.graph(columns, times, limit: limit, now: now, look)
        graph.cursor = cursor
        if alarm?.isRinging == true { graph.role = .danger }
        let value = cursor.map { graph.values[$0] } ?? now
        let rest = words(ofLimit: limit, isPast: cursor != nil)
        graph.title = [
            Span(isSelected ? "\(look.glyphs.pointer) " : "  ", look[.accent]),
            Span(metric.title + " ", look[isSelected ? .accent : .text]),
            Span((value.map(metric.text) ?? "-") + rest, look[.text]),
        ]
        let facts = ["bars: \(metric.statistic(times.step))"] + (cursor == nil ? ["now\(metric.window)"] : [])
        graph.facts = facts.map { Span($0, look[.dim]) }
        if let alarm {
            graph.bound = alarm.bound
            let words = Span(" alarm \(alarm.condition) ", look[alarm.isRinging ? .badge : .dim])
            graph.facts.insert(words, at: 0)
        }
        return graph
    }

    /// The limit of a past moment is unknown.
    private static func words(ofLimit limit: UInt64?, isPast: Bool) -> String {
        limit.map { (isPast ? ", limit now " : " of ") + Figures.bytes($0) } ?? ""
    }

    static func words(_ times: Times, _ monitor: MonitorState) -> (extent: String, cursor: String?) {
        let cursor = cursor(monitor, times).map { index in
            let (start, end) = (Figures.time(times.start(index)), Figures.time(times.start(index + 1)))
            return times.step == 1 ? "at \(start)" : "\(start) to \(end)"
        }
        // Rounded to minutes: the seconds depend only on the width of the screen.
        let seconds = times.step * Int64(times.count)
        let extent = Double(seconds < 120 ? seconds : seconds / 60 * 60)
        return ("last \(Figures.duration(extent))", cursor)
    }

    // MARK: In words

    /// The selected graph in words, and an identity without its changing figures; nil if no graph is shown.
    static func words(_ model: Model) -> (identity: String, words: String)? {
        guard let monitor = model.monitor, monitor.part == .graphs else { return nil }
        let (archives, histories) = Metric.subjects(model, monitor)
        let times = times(model, monitor)
        var value = monitor.metric.now(of: archives, model.archives.shownHistories)
        let moment = words(times, monitor).cursor
        if let cursor = cursor(monitor, times) {
            let columns = GraphColumn.columns(
                1, step: times.step, until: times.start(cursor + 1), of: histories)
            value = columns[0].flatMap(monitor.metric.value)
        }
        let limit = words(ofLimit: monitor.metric.limit(of: archives), isPast: moment != nil)
        let alarm = model.archives.alarms.first { $0.watches(monitor.metric, of: monitor.filter.archive) }
        let place = Metric.shown(model).firstIndex(of: monitor.metric).map { $0 + 1 } ?? 0
        return (
            "\(monitor.metric) \(monitor.filter.archive ?? "") \(alarm?.condition ?? "") \(moment ?? "")",
            "\(monitor.metric.title) \(value.map(monitor.metric.text) ?? "unknown")\(limit)"
                + (moment.map { ", \($0), \(monitor.metric.statistic(times.step))" } ?? " now")
                + (alarm.map { ", alarm \($0.condition)" } ?? "")
                + "; \(place) of \(Metric.shown(model).count)"
        )
    }
}
