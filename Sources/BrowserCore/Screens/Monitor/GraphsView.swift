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
        let archives = samples(model, monitor)
        let histories = archives.compactMap { model.archives.shownHistories[$0.name] }
        let values = GraphColumn.columns(
            columns, seconds: monitor.span, until: model.shownNow, of: histories
        ).map { $0.flatMap(metric.value) }
        // Limits of several archives have no sum where one has none.
        let limits = archives.map(metric.limit)
        let limit = limits.contains(nil) ? nil : limits.reduce(0) { $0 + ($1 ?? 0) }
        let top = metric.top(values, limit: metric.isBytes ? limit : nil)
        let alarm = model.archives.alarms.first {
            $0.metric == metric && $0.archive == monitor.filter.archive
        }
        let isSelected = metric == monitor.metric
        var title = [
            Span(
                isSelected ? "\(look.glyphs.pointer) " : "  ", look[.accent]),
            Span(metric.title + " ", look[isSelected ? .accent : .text]),
            Span(values.last { $0 != nil }.flatMap { $0 }.map(metric.text) ?? "-", look[.text]),
        ]
        if metric.isBytes, let limit { title.append(Span(" of \(Figures.bytes(limit))", look[.dim])) }
        if let alarm {
            title += [Span(" "), Span(" alarm \(alarm.condition) ", look[alarm.isRinging ? .badge : .dim])]
        }
        return TimeGraph(
            title: title, values: values, maximum: top, topLabel: metric.text(top),
            role: alarm?.isRinging == true ? .danger : metric.role)
    }

    /// The archives that are shown.
    private static func samples(_ model: Model, _ monitor: MonitorState) -> [ArchiveSample] {
        model.archives.archives.filter {
            $0.problem == nil && (monitor.filter.archive ?? $0.name) == $0.name
                // What a log holds is no cache's.
                && (monitor.filter.archive != nil || $0.kind != .log)
        }
    }
}
