/// A table with a virtual list of rows: reads only visible rows.
package struct Table: Widget {
    package struct Column: Sendable, Hashable {
        package enum Order: Sendable, Hashable { case ascending, descending }

        package var title: String
        /// The column's width. Flexible columns share the remaining width.
        package var width: Part
        package var alignment: Alignment
        /// A narrow table drops columns from the highest priority value to the lowest, but never those with 0. The sort column is
        /// dropped last.
        package var priority: Int
        /// The arrow beside the title; nil: not sorted by this column.
        package var order: Order?
        /// Width after the integer part of a number. Shorter fractions are padded, so that decimal points are aligned.
        package var fraction: Int

        package init(
            _ title: String, width: Part, alignment: Alignment = .leading, priority: Int = 0,
            order: Order? = nil, fraction: Int = 0
        ) {
            self.title = title
            self.width = width
            self.alignment = alignment
            self.priority = priority
            self.order = order
            self.fraction = fraction
        }
    }

    package struct Cell: Sendable, Hashable {
        package var text: String
        /// Shorter forms of the text, longest first. If the text doesn't fit, the first form that fits is shown, else the last is
        /// truncated. If empty, the text is truncated.
        package var shorter: [String]
        /// The cell's role; nil: the row's role.
        package var role: Role?
        package var cut: TextWidth.Cut
        /// Characters of the legible text that stay visible if it is cut.
        package var match: Range<Int>?
        /// The level of a gauge, 0 to 1, drawn instead of the text.
        package var gauge: Double?
        /// The values of a sparkline, 0 to 1, drawn instead of the text; nil is a gap.
        package var spark: [Double?]?

        package init(
            _ text: String, shorter: [String] = [], role: Role? = nil, cut: TextWidth.Cut = .end,
            gauge: Double? = nil, spark: [Double?]? = nil
        ) {
            self.text = text
            self.shorter = shorter
            self.role = role
            self.cut = cut
            self.gauge = gauge
            self.spark = spark
        }

        /// The longest text that fits, else the shortest.
        fileprivate func text(in columns: Int) -> String {
            guard let last = shorter.last else { return text }
            return ([text] + shorter).first { TextWidth.width(of: $0) <= columns } ?? last
        }
    }

    package struct Row: Sendable, Hashable {
        /// One cell for each column, including dropped columns.
        package var cells: [Cell]
        package var role: Role
        package var isMarked: Bool

        package init(_ cells: [Cell], role: Role = .text, isMarked: Bool = false) {
            self.cells = cells
            self.role = role
            self.isMarked = isMarked
        }
    }

    package var columns: [Column]
    package var rowCount: Int
    package var firstRow: Int
    package var selectedRow: Int?
    package var isActive: Bool
    package var showsHeader: Bool
    /// Columns scrolled out at the left. The header's end shows the number of hidden columns, unless this is nil.
    package var columnsBefore: Int?
    /// Shown without rows: a fact and, after a semicolon, the key that changes it. The key is omitted if it doesn't fit.
    package var emptyText: String
    /// Whether the last column's text continues on further lines instead of being cut. The text must be legible
    /// (``Look/legible(_:)``).
    package var wraps = false
    package var row: @Sendable (Int) -> Row

    package init(
        columns: [Column], rowCount: Int, firstRow: Int = 0, selectedRow: Int? = nil, isActive: Bool = true,
        showsHeader: Bool = true, columnsBefore: Int? = nil, emptyText: String = "",
        row: @escaping @Sendable (Int) -> Row
    ) {
        self.columns = columns
        self.rowCount = rowCount
        self.firstRow = firstRow
        self.selectedRow = selectedRow
        self.isActive = isActive
        self.showsHeader = showsHeader
        self.columnsBefore = columnsBefore
        self.emptyText = emptyText
        self.row = row
    }

    package func draw(into frame: inout Frame, in rect: Rect, look: Look) {
        guard !rect.isEmpty else { return }
        let places = layout(in: rect)
        frame.fill(rect, style: look[.text])
        if !places.header.isEmpty { drawHeader(into: &frame, places, look: look) }
        if rowCount == 0 { drawEmptyText(into: &frame, in: places.body, look: look) }
        let rows = places.rows.map(row)
        // Truncates the names of the visible rows so that they stay different, if possible.
        let middles = places.columns.map { place in
            let cells = rows.compactMap {
                $0.cells.indices.contains(place.index) ? $0.cells[place.index] : nil
            }
            let names = cells.lazy.filter { $0.cut == .middle }.map { look.legible($0.text) }
            return TextWidth.Cut.middle(of: names, in: place.columns)
        }
        for (offset, index) in places.rows.enumerated() {
            let line = places.body.line(places.tops[offset])
            drawRow(
                rows[offset], index == selectedRow, middles, into: &frame, line, places, look: look)
        }
        ScrollBar(total: rowCount, first: firstRow, visible: wraps ? places.rows.count : places.body.rows)
            .draw(into: &frame, in: places.scrollBar, look: look)
    }

    private func drawEmptyText(into frame: inout Frame, in body: Rect, look: Look) {
        var lines = TextWrap.lines(emptyText, columns: max(1, body.columns))
        if lines.count > body.rows, let end = emptyText.lastIndex(of: ";") {
            lines = TextWrap.lines(emptyText[..<end] + ".", columns: max(1, body.columns))
        }
        let top = max(0, body.rows - lines.count) / 2
        for (row, text) in lines.prefix(body.rows).enumerated() {
            Label(text, role: .dim, alignment: .center)
                .draw(into: &frame, in: body.line(top + row), look: look)
        }
    }

    private func drawHeader(into frame: inout Frame, _ places: TableLayout, look: Look) {
        frame.fill(places.header, style: look[.header])
        for place in places.columns {
            let column = columns[place.index]
            let line = Rect(
                column: place.column, row: places.header.row, columns: place.columns, rows: 1)
            var arrow = column.arrow(look)
            // A space separates the arrow from the title if both fit.
            if !arrow.isEmpty, TextWidth.width(of: column.title) + 2 <= line.columns { arrow = " " + arrow }
            let available = max(0, line.columns - arrow.count)
            let title = TextWidth.truncate(column.title, to: available, ellipsis: look.glyphs.ellipsis)
            let text = TextWidth.pad(title + arrow, to: line.columns, alignment: column.alignment)
            frame.write(text, at: line.origin, style: look[.header], within: line)
        }
        drawRest(into: &frame, places, look: look)
    }

    /// Shows at the header's end the number of hidden columns, and the sort column if it is hidden.
    private func drawRest(into frame: inout Frame, _ places: TableLayout, look: Look) {
        let behind = columnsBefore == nil ? 0 : places.leftOut
        let short = Table.rest(before: columnsBefore ?? 0, behind: behind)
        let long = Table.rest(before: columnsBefore ?? 0, behind: behind, end: " more >")
        let sorted = columns.enumerated().first { index, column in
            column.order != nil && !places.columns.contains { $0.index == index }
        }
        let order = sorted.map { "by \($1.title) \($1.arrow(look))" }
        let texts = (order.map { ["\($0) \(long)", "\($0) \(short)", $0] } ?? []) + [long, short]
        var titleEnd = places.header.column
        if let last = places.columns.last {
            let column = self.columns[last.index]
            let title = TextWidth.width(of: column.title) + (column.order == nil ? 0 : 2)
            titleEnd = last.column + (column.alignment == .leading ? min(title, last.columns) : last.columns)
        }
        let available = places.header.endColumn - titleEnd - 1
        let text =
            texts.map { String($0.trimmingSpaces()) }.first { TextWidth.width(of: $0) <= available } ?? short
        guard !text.isEmpty else { return }
        let area = places.header.split(right: TextWidth.width(of: text) + 1).right
        frame.write(" " + text, at: area.origin, style: look[.accent].over(look[.header]), within: area)
    }

    private func drawRow(
        _ row: Row, _ isSelected: Bool, _ middles: [TextWidth.Cut], into frame: inout Frame, _ line: Rect,
        _ places: TableLayout, look: Look
    ) {
        let base = look[row.role]
        let selection = look[isActive ? .selected : .selectedInactive]
        // Draws the first line, and the further lines of a wrapped text.
        let lines = wraps ? self.lines(of: row, places.columns, most: places.body.endRow - line.row) : []
        let area = Rect(
            column: line.column, row: line.row, columns: line.columns, rows: max(1, lines.count))
        if isSelected { frame.fill(area, style: selection) }
        for (place, middle) in zip(places.columns, middles) where place.index < row.cells.count {
            let cell = row.cells[place.index]
            let area = Rect(column: place.column, row: line.row, columns: place.columns, rows: 1)
            if cell.gauge != nil || cell.spark != nil {
                drawGraph(cell, into: &frame, in: area, look: look)
                if isSelected {
                    // The color may equal the selection's.
                    let drawn = look[cell.role ?? (cell.gauge == nil ? .accent : .gaugeFill)].foreground
                    frame.restyle(area) { style in
                        if style.foreground == drawn { style.foreground = selection.foreground }
                        style.background = selection.background
                        style.attributes.formUnion(selection.attributes)
                    }
                }
            } else {
                let column = columns[place.index]
                let isWrapped = wraps && place.index == columns.count - 1
                let shown = column.aligningPoint(
                    look.legible(cell.text(in: area.columns)), in: area.columns)
                let text =
                    isWrapped
                    ? lines.first ?? ""
                    : TextWidth.pad(
                        shown, to: area.columns, alignment: column.alignment,
                        cutting: cell.cut == .middle ? middle : cell.cut, keeping: cell.match,
                        ellipsis: look.glyphs.ellipsis)
                var style = cell.role.map { look[$0].over(base) } ?? base
                if row.isMarked { style.attributes.formUnion(look[.marked].attributes) }
                // A role's colors may be unreadable on the selection; keep only its attributes.
                if isSelected { style = selection.adding(style.attributes) }
                frame.write(text, at: area.origin, style: style, within: area)
                guard isWrapped else { continue }
                for (offset, text) in lines.enumerated().dropFirst() {
                    let below = Rect(
                        column: area.column, row: area.row + offset, columns: area.columns, rows: 1)
                    frame.write(text, at: below.origin, style: style, within: below)
                }
            }
        }
    }

    private func drawGraph(_ cell: Cell, into frame: inout Frame, in area: Rect, look: Look) {
        if let fraction = cell.gauge {
            Gauge(fraction, role: cell.role ?? .gaugeFill).draw(into: &frame, in: area, look: look)
        } else if let values = cell.spark {
            Sparkline(values, maximum: 1, role: cell.role ?? .accent).draw(into: &frame, in: area, look: look)
        }
    }
}

extension Table.Column {
    fileprivate func arrow(_ look: Look) -> String {
        order.map { String($0 == .ascending ? look.glyphs.ascending : look.glyphs.descending) } ?? ""
    }

    /// The text with trailing spaces for missing fraction digits, up to `columns`.
    fileprivate func aligningPoint(_ text: String, in columns: Int) -> String {
        guard fraction > 0 else { return text }
        let lacking = min(fraction - Table.fraction(of: text), columns - TextWidth.width(of: text))
        return text + String(repeating: " ", count: max(0, lacking))
    }
}

extension Table {
    /// Width of a number after its integer part: point, decimals and unit.
    package static func fraction(of text: String) -> Int {
        text.drop { $0.isNumber || "-<,".contains($0) }.count
    }
}

extension [Table.Column] {
    /// The columns with a sort arrow at one of them; nil: at no column.
    package func marked(_ place: Int?, isDescending: Bool) -> [Table.Column] {
        var columns = self
        if let place { columns[place].order = isDescending ? .descending : .ascending }
        return columns
    }
}
