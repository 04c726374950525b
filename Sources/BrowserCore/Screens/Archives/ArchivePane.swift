import CacheSimulation
import ServerInspection
import StorageEngine
import StoreInspection
import TerminalKit

struct ArchivePane {
    let archive: ArchiveSample
    /// Set for a server, whose databases share one set of figures.
    let server: ServerFigures?
    let history: ArchiveHistory?
    let warnings: [(name: String, words: String, role: Role)]
    /// A note about missed events.
    let uncertainty: (name: String, value: String)?
    let now: Timestamp

    private static let figuresColumns = 68
    private static let figuresRows = 8
    /// Rows that all figures and the border need.
    static let minimumRows = 9
    static func maximumRows(_ model: Model) -> Int {
        model.isOfServer ? model.size.rows : max(18, model.size.rows / 3)
    }

    func draw(into frame: inout Frame, in rect: Rect, look: Look) {
        let box = rect
        frame.border(box, style: look[.border], glyphs: look.glyphs)
        let policy = archive.evictionPolicy == .lru ? "" : CachePolicy(archive.evictionPolicy).title
        let content = [archive.typeName, archive.latestEncoding?.label ?? "", policy].filter { !$0.isEmpty }
        let kind = (content.isEmpty ? "" : ": ") + content.joined(separator: ", ")
        let available = max(0, box.columns - 4)
        let name = look.cut(
            server?.product ?? archive.name,
            to: max(available / 2, available - TextWidth.width(of: kind) - 2), .middle)
        frame.write(
            look.cut(" \(name)\(kind) ", to: available),
            at: Point(column: box.column + 2, row: box.row), style: look[.accent], within: box)
        let inner = box.inset(top: 1, left: 2, bottom: 1, right: 2)
        if let problem = archive.problem {
            return frame.draw(ProblemText(text: problem), in: inner, look: look)
        }
        if server == nil, inner.columns >= ArchivePane.figuresColumns + 20 {
            let (figures, rest) = inner.split(left: ArchivePane.figuresColumns)
            drawFigures(into: &frame, in: figures, look: look)
            drawGraphs(into: &frame, in: rest.inset(left: 3), look: look)
        } else {
            // A server has three lines of counters, and one of memory if that is limited.
            let most =
                server.map { ($0.memoryLimit == nil ? 3 : 4) + warnings.count } ?? ArchivePane.figuresRows
            let (figures, rest) = inner.split(top: min(inner.rows, most))
            drawFigures(into: &frame, in: figures, look: look)
            if rest.rows >= 3 { drawGraphs(into: &frame, in: rest.inset(top: 1), look: look) }
        }
    }

    private func drawFigures(into frame: inout Frame, in rect: Rect, look: Look) {
        let memoryLine = rect.line(server == nil ? 1 : 0)
        if server == nil {
            drawGauge(
                "disk", archive.diskBytes, archive.diskLimit, archive.diskShare, &frame, rect.line(0), look)
        }
        // Above its databases, a server's memory is stated without a gauge.
        let hasMemory = server == nil || archive.memoryLimit != nil
        if hasMemory {
            drawGauge(
                "memory", archive.memoryBytes, archive.memoryLimit, archive.memoryShare, &frame, memoryLine,
                look)
        }
        var rows = server.map(DatabasesView.facts) ?? archive.facts
        if let uncertainty { rows.insert(uncertainty, at: 0) }
        rows.insert(contentsOf: warnings.map { ($0.name, $0.words) }, at: 0)
        // If there is space, an empty line follows the gauges of an archive.
        let gauges = server == nil ? (rect.rows >= rows.count + 3 ? 3 : 2) : hasMemory ? 1 : 0
        for (index, row) in rows.enumerated() {
            let line = rect.line(gauges + index)
            let role = index < warnings.count ? warnings[index].role : nil
            frame.write(row.name, at: line.origin, style: look[role ?? .dim], within: line)
            let value = line.split(left: 11).rest
            frame.write(
                wholeFacts(row.value, columns: value.columns, look), at: value.origin,
                style: look[role ?? .text], within: value)
        }
    }

    /// The facts separated by commas, without the last ones if they don't fit.
    private func wholeFacts(_ text: String, columns: Int, _ look: Look) -> String {
        var facts = text.split(separator: ", ")
        while facts.count > 1, TextWidth.width(of: facts.joined(separator: ", ")) > columns {
            facts.removeLast()
        }
        return look.cut(facts.joined(separator: ", "), to: columns)
    }

    private func drawGauge(
        _ name: String, _ bytes: UInt64, _ limit: UInt64?, _ share: Double?, _ frame: inout Frame,
        _ line: Rect,
        _ look: Look
    ) {
        frame.write(name, at: line.origin, style: look[.dim], within: line)
        let rest = line.split(left: 11).rest
        var text = Figures.share(bytes, of: limit)
        guard let share else {
            frame.write(text + "  no limit", at: rest.origin, style: look[.text], within: rest)
            return
        }
        text += "  \(Figures.percent(share))"
        let (gauge, words) = rest.split(left: min(24, max(0, rest.columns - TextWidth.width(of: text) - 2)))
        Gauge(share).draw(into: &frame, in: gauge, look: look)
        frame.write(text, at: words.inset(left: 2).origin, style: look[.text], within: words)
    }

    private func drawGraphs(into frame: inout Frame, in rect: Rect, look: Look) {
        let histories = [history].compactMap { $0 }
        // A server's graphs use the whole box.
        let isWide = server != nil && rect.columns >= ArchivePane.figuresColumns
        let across = !isWide ? 1 : rect.rows < 12 ? 3 : 2
        let width = (rect.columns - across + 1) / across
        let times = GraphsView.Times(
            width - TimeGraph.scaleColumns, seconds: 0, until: GraphsView.end(histories, now))
        let columns = times.columns(of: histories)
        let all: [Metric] = [.hitRatio, .operations] + (server == nil ? [] : [.memory]) + [.evictions]
        let metrics = all.prefix(across == 1 ? max(1, rect.rows / 3) : across == 2 ? 4 : 3)
        let down = (metrics.count + across - 1) / across
        let recent = RecentHits(histories)
        for (place, metric) in metrics.enumerated() {
            let value = metric.now(of: [archive], history.map { [ExactText(archive.name): $0] } ?? [:])
            var graph = metric.graph(columns, times, limit: nil, now: value, look)
            let top = rect.rows * (place / across) / down
            let end = rect.rows * (place / across + 1) / down
            let column = place % across * (width + 1)
            let words =
                metric == .hitRatio
                ? "hit, last \(recent.window) \(recent.ratio.map(Figures.percent) ?? "-")"
                : "\(metric.title) \(value.map(metric.text) ?? "-")"
            graph.title = [Span(words)]
            graph.facts = [Span("bars: \(metric.statistic(times.step))", look[.dim])]
            graph.draw(
                into: &frame,
                in: Rect(column: rect.column + column, row: rect.row + top, columns: width, rows: end - top),
                look: look)
        }
    }
}
