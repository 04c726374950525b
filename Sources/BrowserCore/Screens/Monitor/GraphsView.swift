import StorageEngine
import StoreInspection
import TerminalKit

/// Graphs over minutes to hours, of one archive or of all together.
enum GraphsView {
    /// Seconds that graphs can show.
    static let spans: [Double] = [60, 300, 900, 3600, 4 * 3600, 12 * 3600]

    /// Rows and columns that a graph needs to tell anything.
    private static let leastRows = 3
    private static let leastColumns = 30

    static func draw(_ model: Model, _ monitor: MonitorState, into frame: inout Frame, in rect: Rect) {
        guard rect.rows >= 2 else { return }
        let metrics = Metric.allCases
        let (body, axis) = rect.split(bottom: 1)
        let across = monitor.isZoomed || rect.columns < 2 * leastColumns + 2 ? 1 : 2
        let down = min(max(1, body.rows / leastRows), monitor.isZoomed ? 1 : metrics.count / across)
        let selected = metrics.firstIndex(of: monitor.metric) ?? 0
        // As many rows of graphs as fit, with the one that the cursor is on.
        let firstRow = max(0, min(selected / across, metrics.count / across - down))
        let shown =
            monitor.isZoomed ? [monitor.metric] : Array(metrics[(firstRow * across)...].prefix(down * across))
        let width = rect.columns / across
        for (index, metric) in shown.enumerated() {
            let (row, column) = (index / across, index % across)
            let top = body.row + body.rows * row / down
            let place = Rect(
                column: rect.column + column * width, row: top,
                columns: width - (column < across - 1 ? 2 : 0),
                rows: body.row + body.rows * (row + 1) / down - top)
            graph(metric, model, monitor, columns: place.columns - TimeGraph.scaleColumns)
                .draw(into: &frame, in: place, look: model.look)
        }
        for column in 0..<across {
            let place = Rect(
                column: rect.column + column * width + TimeGraph.scaleColumns, row: axis.row,
                columns: width - TimeGraph.scaleColumns - (column < across - 1 ? 2 : 0), rows: axis.rows)
            let times = [monitor.span, monitor.span / 2, 0].map { model.shownNow.adding(seconds: -$0) }
            TimeAxis(times.map(Figures.time)).draw(into: &frame, in: place, look: model.look)
        }
    }

    private static func graph(
        _ metric: Metric, _ model: Model, _ monitor: MonitorState, columns: Int
    ) -> TimeGraph {
        let look = model.look
        let archives = Metric.archives(of: monitor.filter.archive, in: model.archives.counted)
        let histories = archives.compactMap { model.archives.shownHistories[ExactText($0.name)] }
        let values = GraphColumn.columns(
            columns, seconds: monitor.span, until: model.shownNow, of: histories
        ).map { $0.flatMap(metric.value) }
        let limit = metric.limit(of: archives)
        let top = metric.top(values, limit: limit)
        let alarm = model.archives.alarms.first { $0.watches(metric, of: monitor.filter.archive) }
        let isSelected = metric == monitor.metric
        var title = [
            Span(
                isSelected ? "\(look.glyphs.pointer) " : "  ", look[.accent]),
            Span(metric.title + " ", look[isSelected ? .accent : .text]),
            // A column stands for minutes, and what was before isn't now.
            Span(
                metric.now(of: archives, model.archives.shownHistories).map(metric.text) ?? "-", look[.text]),
        ]
        if let limit { title.append(Span(" of \(Figures.bytes(limit))", look[.dim])) }
        if let alarm {
            title += [Span(" "), Span(" alarm \(alarm.condition) ", look[alarm.isRinging ? .badge : .dim])]
        }
        return TimeGraph(
            title: title, values: values, maximum: top, topLabel: metric.text(top),
            role: alarm?.isRinging == true ? .danger : metric.role)
    }

    // MARK: In words

    /// The graph under the cursor, and what makes it another one: its figures tick. Nil where none is shown.
    static func words(_ model: Model) -> (identity: String, words: String)? {
        guard let monitor = model.monitor, monitor.part == .graphs else { return nil }
        let archives = Metric.archives(of: monitor.filter.archive, in: model.archives.counted)
        let now = monitor.metric.now(of: archives, model.archives.shownHistories).map(monitor.metric.text)
        let limit = monitor.metric.limit(of: archives).map { " of \(Figures.bytes($0))" } ?? ""
        let alarm = model.archives.alarms.first { $0.watches(monitor.metric, of: monitor.filter.archive) }
        let place = Metric.allCases.firstIndex(of: monitor.metric).map { $0 + 1 } ?? 0
        return (
            "\(monitor.metric) \(monitor.filter.archive ?? "") \(alarm?.condition ?? "")",
            "\(monitor.metric.title) \(now ?? "unknown")\(limit)\(alarm.map { ", alarm \($0.condition)" } ?? ""); "
                + "\(place) of \(Metric.allCases.count)"
        )
    }
}
