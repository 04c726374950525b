import StoreInspection
import TerminalKit

enum MessagesView {
    static func table(_ model: Model) -> Table {
        guard let log = model.log, let available = log.available else {
            return Table(columns: [], rowCount: 0) { _ in Table.Row([]) }
        }
        let look = model.look
        let showsDate = model.size.columns >= 60
        let isWrapped = model.wrapsMessages
        let title = log.firstColumn > 0 ? "message from column \(log.firstColumn + 1)" : "message"
        var table = Table(
            columns: [
                Table.Column("time", width: .fixed(showsDate ? 19 : 8), priority: 2),
                Table.Column("size", width: .fixed(8), alignment: .trailing, priority: 1),
                Table.Column(title, width: .minimum(8, weight: 1)),
            ], rowCount: log.count, firstRow: log.row(of: log.top),
            selectedRow: log.count == 0 ? nil : log.row,
            emptyText: emptyText(log, available, clear: Browser.keyName(model, .clear))
        ) { row in
            let number = log.number(at: row)
            guard let line = log.line(number) else {
                let text = log.loaded.contains(number) ? log.absence(of: number) : look.glyphs.ellipsis
                return Table.Row(
                    [Table.Cell(""), Table.Cell(""), Table.Cell(text)],
                    role: .dim)
            }
            let text = isWrapped ? whole(line, look) : MessagesView.row(of: line, look)
            return Table.Row([
                Table.Cell(
                    line.time.map { showsDate ? Figures.date($0) : Figures.time($0) } ?? "-", role: .dim),
                Table.Cell(Figures.bytes(UInt64(line.size)), role: .dim),
                Table.Cell(
                    log.firstColumn > 0 ? TextWidth.suffix(of: text, from: log.firstColumn) : text,
                    role: line.text == nil ? .dim : nil),
            ])
        }
        table.wraps = isWrapped
        return table
    }

    /// The text that wraps: all lines of the message.
    private static func whole(_ line: LogLine, _ look: Look) -> String {
        look.legible(line.shown.last?.isNewline == true ? String(line.shown.dropLast()) : line.shown)
    }

    /// The text of one row: the first line of the message.
    static func row(of line: LogLine, _ look: Look) -> String {
        look.legible(line.text.map(firstLine) ?? line.shown)
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
            if log.filter.untested > 0 {
                warnings.append(Span(Browser.untestedText(log.filter.untested), look[.warning]))
            }
            if log.filter.dropped > 0 {
                warnings.append(
                    Span("\(Figures.count(log.filter.dropped)) earlier matches dropped", look[.warning]))
            }
        }
        let removed = log.removed > 0 ? ["\(Figures.count(log.removed)) removed since"] : []
        warnings += removed.map { Span($0, look[.warning]) }
        if !log.damaged.isEmpty {
            warnings.append(Span("\(Figures.count(log.damaged.count)) damaged", look[.danger]))
        }
        if let summary = model.sample(log.archive) {
            if let damage = summary.damage { warnings.append(Span(damage, look[.danger])) }
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
        highlight(log, table, in: layout.list, into: &frame, look: look)
    }

    private static func highlight(
        _ log: LogState, _ table: Table, in rect: Rect, into frame: inout Frame, look: Look
    ) {
        let finders = [log.filter, log.find].compactMap(\.pattern).map { pattern in
            { (text: String) in pattern.ranges(in: text) }
        }
        let places = table.layout(in: rect)
        guard !finders.isEmpty, let place = places.columns.first(where: { $0.index == 2 }) else { return }
        let area = Rect(
            column: place.column, row: places.body.row, columns: place.columns, rows: places.body.rows)
        for (offset, row) in places.rows.enumerated() {
            guard let line = log.line(log.number(at: row)), line.text != nil else { continue }
            var start = Point(
                column: place.column - log.firstColumn, row: places.body.row + places.tops[offset])
            // Searches only the visible part of long messages.
            guard table.wraps else {
                let shown = look.cut(MessagesView.row(of: line, look), to: log.firstColumn + place.columns)
                highlight(finders, [shown], at: start, within: area, into: &frame, look)
                continue
            }
            for text in whole(line, look).split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            where start.row < area.endRow {
                let pieces = TextWrap.pieces(text, columns: place.columns, most: area.endRow - start.row)
                highlight(finders, pieces, at: start, within: area, into: &frame, look)
                start.row += pieces.count
            }
        }
    }

    /// Highlights the matches of a text that is shown in pieces below each other.
    private static func highlight(
        _ finders: [(String) -> [Range<Int>]], _ pieces: [String], at start: Point, within area: Rect,
        into frame: inout Frame, _ look: Look
    ) {
        let matches = finders.flatMap { $0(pieces.joined()) }
        var (first, point) = (0, start)
        for piece in pieces {
            for match in matches.map({ $0.clamped(to: first..<first + piece.count) }) where !match.isEmpty {
                let range = match.lowerBound - first..<match.upperBound - first
                frame.highlight(range, of: piece, at: point, within: area, look: look)
            }
            first += piece.count
            point.row += 1
        }
    }
}
