import StoreInspection
import TerminalKit

/// The messages of a log, the newest at the bottom.
enum MessagesView {
    static func table(_ model: Model) -> Table {
        guard let log = model.log, let available = log.available else {
            return Table(columns: [], rowCount: 0) { _ in Table.Row([]) }
        }
        let look = model.look
        let showsDate = model.size.columns >= 60
        return Table(
            columns: [
                Table.Column("time", width: .fixed(showsDate ? 19 : 8), priority: 2),
                Table.Column("size", width: .fixed(8), alignment: .trailing, priority: 1),
                Table.Column("message", width: .minimum(8, weight: 1)),
            ], rowCount: available.count, firstRow: max(0, log.top - available.lowerBound),
            selectedRow: available.isEmpty ? nil : log.row, emptyText: "No messages."
        ) { row in
            let number = available.lowerBound + row
            guard let line = log.lines[number] else {
                let isGone = log.loaded.contains(number)
                return Table.Row(
                    [Table.Cell(""), Table.Cell(""), Table.Cell(isGone ? "gone" : look.glyphs.ellipsis)],
                    role: .dim)
            }
            let text = line.text.map(MessagesView.firstLine)
            return Table.Row([
                Table.Cell(
                    line.time.map { showsDate ? Figures.date($0) : Figures.time($0) } ?? "-", role: .dim),
                Table.Cell(Figures.bytes(UInt64(line.size)), role: .dim),
                Table.Cell(text ?? "(not text)", role: text == nil ? .dim : nil),
            ])
        }
    }

    /// A row holds one line; that there are more is said.
    private static func firstLine(_ text: String) -> String {
        guard let end = text.firstIndex(where: \.isNewline) else { return text }
        let rest = text[text.index(after: end)...].contains { !$0.isWhitespace }
        return text[..<end] + (rest ? " ..." : "")
    }

    static func draw(_ model: Model, _ layout: ScreenLayout, into frame: inout Frame) {
        let look = model.look
        guard let log = model.log else { return }
        if let problem = log.problem, log.lines.isEmpty {
            return frame.draw(ProblemText(text: problem, isCentered: true), in: layout.list, look: look)
        }
        var left = [Span(" "), Span(Figures.count(log.count, "message", "messages"))]
        if let summary = model.sample(log.archive) {
            left.append(Span("  " + Figures.share(summary.diskBytes, of: summary.diskLimit)))
            if summary.evictions > 0 {
                left.append(
                    Span("  \(Figures.count(summary.evictions)) older ones dropped", look[.dim]))
            }
        }
        Bar(left: left, right: log.follows ? [Span(" newest ", look[.good])] : [], role: .text)
            .draw(into: &frame, in: layout.info, look: look)
        table(model).draw(into: &frame, in: layout.list, look: look)
    }
}
