import ArchiveQuery
import StoreInspection
import TerminalKit

enum QueryView {
    static func table(_ model: Model) -> Table {
        guard let query = model.query, let answer = query.answer else {
            return Table(columns: [], rowCount: 0, emptyText: emptyText(model)) { _ in Table.Row([]) }
        }
        let view = query.view
        let shown = view.columns(of: answer)
        var columns = columns(of: answer, shown, view, model)
        let total = QueryScreen.countedRows(query)
        if total != nil {
            columns.append(
                Table.Column("share", width: .fixed(6), alignment: .trailing, priority: 3, fraction: 3))
            columns.append(Table.Column("", width: .fixed(10), priority: 6))
        }
        let hasSigns = hasSigns(answer)
        if hasSigns { columns.insert(Table.Column("", width: .fixed(1)), at: 0) }
        let count = view.count(of: answer)
        return Table(
            columns: columns, rowCount: count, firstRow: query.top,
            selectedRow: count == 0 ? nil : query.cursor, isActive: !query.isTyping,
            columnsBefore: view.before(in: answer),
            emptyText: view.filter.isEmpty
                ? "No entry of \(query.archive.name) matches"
                    + (query.isTyping ? "." : "; \(Browser.keyName(model, .edit)) edits the query.")
                : Browser.noMatch("row", view.filter, model)
        ) { place in
            let number = view.row(place)
            guard answer.rows.indices.contains(number) else { return Table.Row([]) }
            let row = answer.rows[number]
            var cells = shown.map { index in
                let form = answer.columns[index].form
                return Table.Cell(
                    form == .key ? row.key ?? row.cells[index] : row.cells[index],
                    cut: form == .key || form == .group ? .middle : .end)
            }
            if let total {
                let share = Double(QueryScreen.count(in: row)) / Double(total)
                cells += [Table.Cell(Figures.percent(share)), Table.Cell("", gauge: share)]
            }
            let change = view.changes[number]
            let isMarked = row.target.map { query.marks.contains($0.key) } ?? false
            if hasSigns {
                let mark = Table.Cell(String(model.look.glyphs.marked), role: .marked)
                cells.insert(isMarked ? mark : Table.Cell(sign(change), role: .warning), at: 0)
            }
            return Table.Row(cells, role: change == nil ? .text : .dim, isMarked: isMarked)
        }
    }

    /// The columns of the result. Columns of texts have the widths of their widest cells if all columns then fit.
    private static func columns(
        of answer: QueryResult, _ shown: [Int], _ view: QueryRows, _ model: Model
    ) -> [Table.Column] {
        let look = model.look
        let widths = shown.map { index in
            let cells = look.isASCII ? answer.rows.prefix(100).map { $0.cells[index] } : []
            return cells.reduce(answer.columns[index].width) {
                max($0, min(QueryResult.widest, TextWidth.width(of: look.legible($1))))
            }
        }
        let wanted = zip(shown, widths).reduce(30) { sum, column in
            sum + max(column.1, TextWidth.width(of: answer.columns[column.0].title)) + 3
        }
        let isPacked = wanted <= model.layout.list.columns
        return shown.enumerated().map { place, index in
            let column = answer.columns[index]
            let order = view.order.flatMap { $0.column == index ? $0.isDescending : nil }
            // Space for the arrow and a blank before it.
            let title = TextWidth.width(of: column.title) + (order == nil ? 0 : 2)
            let width = max(1, widths[place], title)
            return Table.Column(
                column.title,
                width: column.isNumeric || isPacked && width < QueryResult.widest
                    ? .fixed(width) : .minimum(min(width, 24), weight: 1),
                alignment: column.isNumeric ? .trailing : .leading, priority: place,
                order: order.map { $0 ? .descending : .ascending },
                fraction: column.isNumeric ? column.fraction : 0)
        }
    }

    /// Whether there is a column of marks and changes, which rows of several entries don't have.
    static func hasSigns(_ answer: QueryResult) -> Bool { !answer.targets.isEmpty }

    private static func sign(_ change: QueryRows.Change?) -> String {
        switch change {
        case .changed: "~"
        case .removed: "x"
        case nil: ""
        }
    }

    /// The numbers of visible rows whose entries changed or were removed; nil: none.
    static func changes(_ query: QueryState) -> String? {
        let removed = query.view.changes.count { $0.value == .removed }
        let changed = query.view.changes.count - removed
        let parts = [changed > 0 ? "\(changed) changed" : nil, removed > 0 ? "\(removed) removed" : nil]
        let text = parts.compactMap { $0 }.joined(separator: ", ")
        return text.isEmpty ? nil : text
    }

    private static func emptyText(_ model: Model) -> String {
        if model.query?.ticket != nil {
            return "Running the query; \(Browser.keyName(model, .clear)) stops it."
        }
        // On small screens completions need this space.
        return model.size.columns < 50 || model.size.rows < 16
            ? "" : "Type a query; tab completes, enter runs it."
    }

    static func draw(_ model: Model, _ layout: ScreenLayout, into frame: inout Frame) {
        let look = model.look
        guard let query = model.query else { return }
        let (line, below) = layout.info.split(top: QueryScreen.lines(model))
        let label = line.columns < 40 ? "" : "query "
        frame.fill(line, style: look[.input])
        let width = frame.write(label, at: line.origin, style: look[.key].over(look[.input]), within: line)
        var field = query.field
        field.isActive = query.isTyping && model.overlay == nil && model.prompt == nil
        if !query.isTyping { field.moveCursor(to: 0) }
        field.draw(into: &frame, in: line.split(left: width).rest, look: look)
        for (row, spans) in remarks(model).prefix(below.rows).enumerated() {
            Bar(left: spans, role: .text).draw(into: &frame, in: below.line(row), look: look)
        }
        table(model).draw(into: &frame, in: layout.list, look: look)
        if query.isTyping {
            drawCompletions(query, at: line.column + width, into: &frame, in: layout.list, look)
        }
    }

    // MARK: Remarks

    private typealias Remark = (text: String, role: Role)

    /// The lines below the query: its error, the expected words, or the result's figures.
    static func remarks(_ model: Model) -> [[Span]] {
        guard let query = model.query else { return [] }
        let most = model.size.rows >= 20 ? 6 : 3
        let remarks = remarks(of: query, model)
        // While typing, one line, so that the rows don't move.
        let isHint = query.isTyping && query.problem == nil && !query.errors.isEmpty
        var lines = isHint ? [remarks] : wrapped(remarks, columns: model.size.columns - 2)
        if lines.count > most {
            lines.removeLast(lines.count - most + 1)
            let rest =
                query.answer == nil || query.isTyping ? "" : "; \(Browser.keyName(model, .explain)) shows all"
            lines.append([("and more\(rest)", .dim)])
        }
        return (lines.isEmpty ? [[]] : lines).map { line in
            [Span(" ")] + line.map { Span($0.text, model.look[$0.role]) }
        }
    }

    private static func remarks(of query: QueryState, _ model: Model) -> [Remark] {
        if let problem = query.problem { return [(problem, .danger)] }
        if query.isTyping, var error = query.marked.first {
            if error.advice != nil { error.expected = [] }
            return [(error.description(in: query.field.text), .warning)]
        }
        // A result has its own remarks.
        if query.isTyping, query.answer == nil || query.field.text != query.answered,
            let remark = unknownNames(query.field.text, query.pipeline, query.sample)
        {
            return [(remark, .warning)]
        }
        if query.isTyping, let error = query.errors.first, !query.field.text.isEmpty {
            // A condition without `find` is also a stage.
            let property = error.expected.contains(.word("find")) ? [QueryExpectation.property] : []
            let names = (property + error.expected.prefix(12)).map(\.name).joined(separator: ", ")
            return [("Expected next: \(names)", .dim)]
        }
        guard let answer = query.answer else { return [] }
        var remarks: [Remark] = [(answer.amount, .text)]
        remarks += answer.report.warnings.map { ($0, .warning) }
        remarks.append((answer.explanation.summary, .text))
        if !query.view.filter.isEmpty {
            let count = Figures.count(query.view.count(of: answer))
            let part = answer.count > answer.rows.count ? " of the rows shown" : ""
            remarks.append(("filter \"\(query.view.filter)\": \(count)\(part)", .accent))
        }
        if let order = query.view.order, !query.view.columns(of: answer).contains(order.column) {
            let glyphs = model.look.glyphs
            let arrow = order.isDescending ? glyphs.descending : glyphs.ascending
            remarks.append(("sorted by \(answer.columns[order.column].title) \(arrow)", .text))
        }
        if let every = query.every {
            remarks.append(("refreshing every \(Figures.interval(every))", .accent))
        }
        if query.field.text != query.answered { remarks.append(("(result of the previous query)", .warning)) }
        if !query.marks.isEmpty {
            let hidden = query.hiddenMarks
            let rest = hidden == 0 ? "" : ", \(Figures.count(hidden)) hidden"
            remarks.append(
                ("\(model.look.glyphs.marked) \(Figures.count(query.marks.count)) marked\(rest)", .marked))
        }
        return remarks
    }

    /// A hint for up to three unknown names if one of them is metadata without its sign or similar to a known name.
    static func unknownNames(
        _ text: String, _ pipeline: QueryPipeline?, _ sample: PropertySample
    ) -> String? {
        guard sample.values > 0 else { return nil }
        func unknown(_ stages: some Sequence<PipelineStage>) -> [String] {
            stages.flatMap(\.properties).map(\.columnName).filter { name in
                !name.contains { "@.[".contains($0) } && !sample.names.contains(name)
            }
        }
        let stages = pipeline?.stages ?? []
        let unsigned = unsignedMetadata(text, sample)
        var names: [String]
        let meant: [String]
        if unsigned.isEmpty {
            // Later stages also have the names of calculated columns.
            names = unknown(stages.prefix { if case .find = $0 { true } else { false } })
            meant = names.compactMap { NameGuess.nearest(to: $0, among: sample.names) }
        } else {
            names = unknown(stages)
            for name in unsigned where !names.contains(name) { names.append(name) }
            meant = unsigned.map { "@\($0)" }
        }
        guard !meant.isEmpty else { return nil }
        return "no value has \(names.prefix(3).joined(separator: ", ")); did you mean "
            + "\(meant.prefix(3).joined(separator: ", "))?"
    }

    /// The names of metadata that the text compares without their sign `@`, and that no value of the sample has.
    private static func unsignedMetadata(_ text: String, _ sample: PropertySample) -> [String] {
        QueryMetadata.allCases.map(\.rawValue).filter { name in
            guard !sample.names.contains(name), let range = text.range(of: name) else { return false }
            let before = text[..<range.lowerBound].last
            let isSigned = before.map { $0.isLetter || $0.isNumber || "@.\"_".contains($0) } ?? false
            let rest = text[range.upperBound...].drop { $0 == " " }
            return !isSigned && (rest.first.map { "=<>!".contains($0) } ?? false)
        }
    }

    private static func warnings(_ answer: QueryResult) -> String? {
        let warnings = answer.report.warnings.prefix(3)
        return warnings.isEmpty ? nil : warnings.joined(separator: "; ")
    }

    /// The query's error or warnings, in one line.
    static func trouble(_ query: QueryState) -> String? {
        query.problem
            ?? (query.isTyping
                ? query.marked.first?.description(in: query.field.text) : query.answer.flatMap(warnings))
    }

    private static func wrapped(_ remarks: [Remark], columns: Int) -> [[Remark]] {
        var lines: [[Remark]] = []
        var available = 0
        for remark in remarks {
            var gap = "  "
            for word in TextWrap.lines(remark.text, columns: max(1, columns)).joined(separator: " ").split(
                separator: " ")
            {
                let width = TextWidth.width(of: word) + gap.count
                if width <= available {
                    lines[lines.count - 1].append((gap + word, remark.role))
                    available -= width
                } else {
                    lines.append([(String(word), remark.role)])
                    available = columns - TextWidth.width(of: word)
                }
                gap = " "
            }
        }
        return lines
    }

    private static func drawCompletions(
        _ query: QueryState, at left: Int, into frame: inout Frame, in rect: Rect, _ look: Look
    ) {
        let completions = query.cycle?.completions ?? query.completions
        // Over rows the list needs a frame.
        let border = query.answer == nil ? 0 : 1
        let shown = min(completions.count, QueryState.shownCompletions, rect.rows - 2 * border)
        guard shown > 0 else { return }
        let selected = query.cycle?.index
        let first = max(0, (selected ?? 0) - shown + 1)
        let visible = completions[first..<first + shown]
        let widest = visible.reduce(0) { max($0, TextWidth.width(of: $1.text)) }
        let columns = min(rect.columns - 2 * border, widest + 2)
        guard columns > 2 else { return }
        let start = query.field.textBeforeCursor.utf8.count - query.field.lineBeforeCursor.utf8.count
        let before =
            String(query.field.lineBeforeCursor.utf8.prefix(max(0, completions[0].range.lowerBound - start)))
            ?? ""
        let column = min(
            left + TextWidth.width(of: before) - 1 - border, rect.endColumn - columns - 2 * border)
        let outline = Rect(
            column: max(rect.column, column), row: rect.row, columns: columns + 2 * border,
            rows: shown + 2 * border)
        frame.fill(outline, style: look[.dialog])
        if border > 0 {
            frame.border(outline, style: look[.dialogBorder].over(look[.dialog]), glyphs: look.glyphs)
        }
        let box = outline.inset(top: border, left: border, bottom: border, right: border)
        for (offset, completion) in visible.enumerated() {
            let line = box.line(offset)
            let isSelected = first + offset == selected
            let role: Role = isSelected ? .selected : completion.kind == .placeholder ? .dim : .text
            let style = isSelected ? look[role] : look[role].over(look[.dialog])
            frame.fill(line, style: isSelected ? style : look[.dialog])
            frame.write(
                " "
                    + look.cut(completion.text, to: columns - 2, .middle),
                at: line.origin, style: style, within: line)
        }
    }
}
