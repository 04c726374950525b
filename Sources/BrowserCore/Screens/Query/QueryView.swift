import ArchiveQuery
import StoreInspection
import TerminalKit

/// A query, and its result as a table.
enum QueryView {
    static func table(_ model: Model) -> Table {
        guard let query = model.query, let answer = query.answer else {
            return Table(columns: [], rowCount: 0, emptyText: emptyText(model)) { _ in Table.Row([]) }
        }
        let columns = answer.columns.enumerated().map { index, column in
            let width = max(1, column.width)
            return Table.Column(
                column.title, width: column.isNumeric ? .fixed(width) : .minimum(min(width, 24), weight: 1),
                alignment: column.isNumeric ? .trailing : .leading, priority: index)
        }
        return Table(
            columns: columns, rowCount: answer.rows.count, firstRow: query.top,
            selectedRow: answer.rows.isEmpty ? nil : query.cursor, isActive: !query.isTyping,
            emptyText: "No entry of \(query.archive.name) matches."
        ) { row in
            Table.Row(answer.rows[row].cells.map { Table.Cell($0) })
        }
    }

    private static func emptyText(_ model: Model) -> String {
        // Where the completions leave room for it.
        model.size.columns < 50 || model.size.rows < 16 ? "" : "Write a query; Tab completes, Enter asks."
    }

    static func draw(_ model: Model, _ layout: ScreenLayout, into frame: inout Frame) {
        let look = model.look
        guard let query = model.query else { return }
        let (line, below) = layout.info.split(top: 1)
        let label = line.columns < 40 ? "" : "query "
        frame.fill(line, style: look[.input])
        let width = frame.write(label, at: line.origin, style: look[.key].over(look[.input]), within: line)
        var field = query.field
        field.isActive = query.isTyping && model.overlay == nil && model.prompt == nil
        // Who doesn't write reads it from its beginning.
        if !query.isTyping { field.moveCursor(to: 0) }
        field.draw(into: &frame, in: line.split(left: width).rest, look: look)
        if !below.isEmpty { drawState(query, into: &frame, in: below, look: look) }
        table(model).draw(into: &frame, in: layout.list, look: look)
        if query.isTyping {
            drawCompletions(query, at: line.column + width, into: &frame, in: layout.list, look)
        }
    }

    /// What is wrong, what could come next, or what the result is of.
    private static func drawState(_ query: QueryState, into frame: inout Frame, in rect: Rect, look: Look) {
        var spans = [Span(" ")]
        if let problem = query.problem {
            spans.append(Span(problem, look[.danger]))
        } else if query.isTyping, let error = query.marked.first {
            spans.append(Span(error.description, look[.warning]))
        } else if query.isTyping, let error = query.errors.first, !query.field.text.isEmpty {
            let names = error.expected.prefix(12).map(\.name).joined(separator: ", ")
            spans.append(Span("to come: \(names)", look[.dim]))
        } else if let answer = query.answer {
            spans.append(Span(answer.summary))
            if query.field.text != query.answered { spans.append(Span("  of another query", look[.warning])) }
            if let warning = answer.report.warnings.first {
                spans.append(Span("  " + warning, look[.warning]))
            }
        }
        Bar(left: spans, right: [], role: .text).draw(into: &frame, in: rect, look: look)
    }

    /// What could stand at the cursor, below it, over the result.
    private static func drawCompletions(
        _ query: QueryState, at left: Int, into frame: inout Frame, in rect: Rect, _ look: Look
    ) {
        let completions = query.cycle?.completions ?? query.completions
        let shown = min(completions.count, QueryState.shownCompletions, rect.rows)
        guard shown > 0, rect.rows >= 3 || query.answer == nil else { return }
        let selected = query.cycle?.index
        let first = max(0, (selected ?? 0) - shown + 1)
        let visible = completions[first..<first + shown]
        let widest = visible.reduce(0) { max($0, TextWidth.width(of: $1.text)) }
        let columns = min(rect.columns, widest + 2)
        let before = String(query.field.textBeforeCursor.utf8.prefix(completions[0].range.lowerBound)) ?? ""
        let column = min(left + TextWidth.width(of: before) - 1, rect.endColumn - columns)
        let box = Rect(column: max(rect.column, column), row: rect.row, columns: columns, rows: shown)
        frame.fill(box, style: look[.dialog])
        for (offset, completion) in visible.enumerated() {
            let line = box.line(offset)
            let isSelected = first + offset == selected
            let role: Role =
                isSelected ? .selected : completion.kind == .placeholder ? .dim : .text
            let style = isSelected ? look[role] : look[role].over(look[.dialog])
            frame.fill(line, style: isSelected ? style : look[.dialog])
            frame.write(
                " " + TextWidth.truncate(completion.text, to: columns - 2, ellipsis: look.glyphs.ellipsis),
                at: line.origin, style: style, within: line)
        }
    }
}
