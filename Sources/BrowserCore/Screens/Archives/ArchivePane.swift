import ServerInspection
import StoreInspection
import TerminalKit

/// The archive under the cursor in full: gauges and counters, and graphs of the last minutes where there is room.
struct ArchivePane {
    let archive: ArchiveSample
    /// Of a server, whose figures as a whole these are.
    let server: ServerFigures?
    let history: ArchiveHistory?

    private static let figuresColumns = 56
    private static let figuresRows = 8
    /// Rows with the border: all figures without an empty line, and as many as are of use.
    static let leastRows = 9
    static let mostRows = 18

    func draw(into frame: inout Frame, in rect: Rect, look: Look) {
        let box = rect.split(top: min(rect.rows, ArchivePane.mostRows)).top
        frame.border(box, style: look[.border], glyphs: look.glyphs)
        let content = [archive.typeName, archive.latestEncoding?.label ?? ""].filter { !$0.isEmpty }
        let title =
            (server?.product ?? archive.name) + (content.isEmpty ? "" : ": ")
            + content.joined(separator: ", ")
        frame.write(
            TextWidth.truncate(" \(title) ", to: max(0, box.columns - 4), ellipsis: look.glyphs.ellipsis),
            at: Point(column: box.column + 2, row: box.row), style: look[.accent], within: box)
        let inner = box.inset(top: 1, left: 2, bottom: 1, right: 2)
        if let problem = archive.problem {
            return frame.draw(ProblemText(text: problem), in: inner, look: look)
        }
        // The graphs stand beside the figures, or else below them.
        if inner.columns >= ArchivePane.figuresColumns + 24 {
            let (figures, rest) = inner.split(left: ArchivePane.figuresColumns)
            drawFigures(into: &frame, in: figures, look: look)
            drawGraphs(into: &frame, in: rest.inset(left: 3), look: look)
        } else {
            let (figures, rest) = inner.split(top: min(inner.rows, ArchivePane.figuresRows))
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
        drawGauge(
            "memory", archive.memoryBytes, archive.memoryLimit, archive.memoryShare, &frame, memoryLine, look)
        var rows = server.map(DatabasesView.facts) ?? archive.facts
        // Entries may be missing: more worth knowing than all of these, which a small pane cuts off.
        let isDamaged = archive.damagedPlaces > 0
        if isDamaged {
            let places = Figures.count(archive.damagedPlaces, "place", "places")
            rows.insert(("damaged", "\(places): vellum check tells where"), at: 0)
        }
        for (index, row) in rows.enumerated() {
            let line = rect.line(index + (rect.rows >= rows.count + 3 ? 3 : 2))
            let isWarning = isDamaged && index == 0
            frame.write(row.name, at: line.origin, style: look[isWarning ? .danger : .dim], within: line)
            let value = line.split(left: 11).rest
            frame.write(
                TextWidth.truncate(row.value, to: value.columns, ellipsis: look.glyphs.ellipsis),
                at: value.origin, style: look[isWarning ? .danger : .text], within: value)
        }
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
        let (gauge, words) = rest.split(left: min(20, max(0, rest.columns - TextWidth.width(of: text) - 2)))
        Gauge(share).draw(into: &frame, in: gauge, look: look)
        frame.write(text, at: words.inset(left: 2).origin, style: look[.text], within: words)
    }

    private func drawGraphs(into frame: inout Frame, in rect: Rect, look: Look) {
        let points = history?.points ?? []
        let now = history?.now
        let graphs: [(title: String, values: [Double?], maximum: Double?, role: Role)] = [
            (
                "hit ratio \(now?.hitRatio.map(Figures.percent) ?? "-")", points.map(\.hitRatio), 1, .good
            ),
            (
                "operations \(now.map { Figures.rate($0.operations) } ?? "-")/s", points.map(\.operations),
                nil,
                .accent
            ),
            (
                "evictions \(now.map { Figures.rate($0.evictions) } ?? "-")/s", points.map(\.evictions), nil,
                .warning
            ),
        ]
        let shown = graphs.prefix(max(1, rect.rows / 2))
        let each = rect.rows / shown.count
        var rest = rect
        for graph in shown {
            let area: Rect
            (area, rest) = rest.split(top: each)
            frame.write(graph.title, at: area.origin, style: look[.dim], within: area.line(0))
            let plot = area.split(top: 1).rest
            Sparkline(graph.values, maximum: graph.maximum, role: graph.role).draw(
                into: &frame, in: plot.rows > 1 ? plot.split(bottom: plot.rows).bottom : plot, look: look)
        }
    }
}
