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
            ], rowCount: log.count, firstRow: log.row(of: log.top),
            selectedRow: log.count == 0 ? nil : log.row,
            emptyText: emptyText(log, available, clear: Browser.keyName(model, .clear))
        ) { row in
            let number = log.number(at: row)
            guard let line = log.line(number) else {
                let text = log.loaded.contains(number) ? "removed" : look.glyphs.ellipsis
                return Table.Row(
                    [Table.Cell(""), Table.Cell(""), Table.Cell(text)],
                    role: .dim)
            }
            let text = line.text.map(MessagesView.firstLine)
            return Table.Row([
                Table.Cell(
                    line.time.map { showsDate ? Figures.date($0) : Figures.time($0) } ?? "-", role: .dim),
                Table.Cell(Figures.bytes(UInt64(line.size)), role: .dim),
                Table.Cell(text ?? line.shown, role: text == nil ? .dim : nil),
            ])
        }
    }

    private static func emptyText(_ log: LogState, _ available: Range<Int>, clear: String) -> String {
        guard log.filter.isActive, !available.isEmpty else { return "No messages yet." }
        if log.filter.end == nil { return log.filter.isStopped ? "The search was stopped." : "Searching" }
        return "No message matches \"\(log.filter.text)\"; \(clear) clears the filter."
    }

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
        let all = Figures.count(log.available?.count ?? 0, "message", "messages")
        let isFiltered = log.filter.isActive
        var left = [Span(" "), Span(isFiltered ? "\(Figures.count(log.count)) of \(all)" : all)]
        var (warnings, facts): ([Span], [Span]) = ([], [])
        if isFiltered {
            left.append(Span("  filter \"\(log.filter.text)\"", look[.accent]))
            if log.filter.dropped > 0 {
                warnings.append(
                    Span("\(Figures.count(log.filter.dropped)) earlier matches dropped", look[.warning]))
            }
        }
        if let summary = model.sample(log.archive) {
            if let damage = summary.status.damage { warnings.append(Span(damage, look[.danger])) }
            facts.append(Span(Figures.share(summary.diskBytes, of: summary.diskLimit)))
            if summary.evictions > 0 {
                facts.append(Span("\(Figures.count(summary.evictions)) older messages dropped", look[.dim]))
            }
        }
        let newer = log.count - 1 - log.row
        let right = newer > 0 ? [Span(" \(Figures.count(newer)) newer below ", look[.dim])] : []
        Bar(left: left, warnings: warnings, facts: facts, right: right, role: .text)
            .draw(into: &frame, in: layout.info, look: look)
        let table = table(model)
        table.draw(into: &frame, in: layout.list, look: look)
        highlight(log, table.layout(in: layout.list), into: &frame, look: look)
    }

    private static func highlight(
        _ log: LogState, _ places: TableLayout, into frame: inout Frame, look: Look
    ) {
        let finders = [log.filter, log.find].compactMap { $0.pattern?.finder() }
        guard !finders.isEmpty, let place = places.columns.first(where: { $0.index == 2 }) else { return }
        for (offset, row) in places.rows.enumerated() {
            guard let text = log.line(log.number(at: row))?.text.map(firstLine) else { continue }
            // Only the visible part is searched, so that a long message costs no more.
            let shown = TextWidth.truncate(
                look.legible(text), to: place.columns, ellipsis: look.glyphs.ellipsis)
            let start = Point(column: place.column, row: places.body.row + offset)
            for range in finders.flatMap({ $0(shown) }) {
                frame.highlight(range, of: shown, at: start, look: look)
            }
        }
    }
}
