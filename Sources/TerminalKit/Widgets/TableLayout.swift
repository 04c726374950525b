package struct TableLayout: Sendable, Hashable {
    package struct Place: Sendable, Hashable {
        package let index: Int
        package let column: Int
        package let columns: Int
    }

    package let header: Rect
    package let body: Rect
    package let scrollBar: Rect
    package let columns: [Place]
    /// Number of columns that don't fit.
    package let leftOut: Int
    package let rows: Range<Int>
    /// The first line in ``body`` of each of these rows.
    package let tops: [Int]
    /// Number of lines of the visible rows.
    private let lines: Int

    fileprivate init(
        header: Rect, body: Rect, scrollBar: Rect, columns: [Place], leftOut: Int, first: Int, heights: [Int]
    ) {
        (self.header, self.body, self.scrollBar) = (header, body, scrollBar)
        (self.columns, self.leftOut) = (columns, leftOut)
        rows = first..<first + heights.count
        var lines = 0
        tops = heights.map { height in
            defer { lines += height }
            return lines
        }
        self.lines = lines
    }

    package func row(at point: Point) -> Int? {
        let line = point.row - body.row
        guard body.contains(point), line < lines else { return nil }
        return tops.lastIndex { $0 <= line }.map { rows.lowerBound + $0 }
    }

    package func headerColumn(at point: Point) -> Int? {
        guard header.contains(point) else { return nil }
        return columns.last { point.column >= $0.column }?.index
    }
}

extension Table {
    /// The first visible row that shows the selected one with the least scrolling.
    package static func firstRow(showing selected: Int?, of count: Int, in rows: Int, from first: Int) -> Int
    {
        var first = first
        if let selected, rows > 0 {
            first = min(first, selected)
            first = max(first, selected - rows + 1)
        }
        return max(0, min(first, count - rows))
    }

    /// Like ``firstRow(showing:of:in:from:)`` for wrapped rows in the table's rectangle. Reads the rows of about two screens.
    package func firstRow(showing selected: Int, in rect: Rect, from old: Int) -> Int {
        let places = layout(in: rect)
        let available = places.body.rows
        func height(_ row: Int) -> Int {
            max(1, lines(of: self.row(row), places.columns, most: available).count)
        }
        var first = max(0, selected - available + 1, min(old, selected))
        guard selected < rowCount, first <= selected else { return 0 }
        var used = (first...selected).reduce(0) { $0 + height($1) }
        while used > available, first < selected {
            used -= height(first)
            first += 1
        }
        var end = selected + 1
        while end < rowCount, used < available {
            used += height(end)
            end += 1
        }
        // Avoids empty lines below the last row.
        while first > 0, used < available, used + height(first - 1) <= available {
            first -= 1
            used += height(first)
        }
        return first
    }

    /// The first `most` lines of the wrapped text of a row's last column, which keeps its line breaks.
    func lines(of row: Row, _ places: [TableLayout.Place], most: Int) -> [String] {
        guard let text = row.cells.last?.text, let place = places.last, place.index == columns.count - 1
        else { return [] }
        var lines: [String] = []
        for line in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
            guard lines.count < most else { break }
            lines += TextWrap.pieces(line, columns: place.columns, most: most - lines.count)
        }
        return lines
    }

    /// The number of lines of each visible row.
    private func heights(from first: Int, in lines: Int, _ places: [TableLayout.Place]) -> [Int] {
        let count = min(rowCount - first, lines)
        guard wraps else { return [Int](repeating: 1, count: max(0, count)) }
        var (heights, used): ([Int], Int) = ([], 0)
        while heights.count < count, used < lines {
            let row = row(first + heights.count)
            heights.append(max(1, self.lines(of: row, places, most: lines - used).count))
            used += heights[heights.count - 1]
        }
        return heights
    }

    package func layout(in rect: Rect) -> TableLayout {
        let (header, body) = rect.split(top: showsHeader && rect.rows > 1 ? 1 : 0)
        let hasScrollBar = (wraps || rowCount > body.rows) && rect.columns > 2
        let scrollBar = hasScrollBar ? body.split(right: 1).right : body.split(right: 0).right
        // Keeps a column free before the scroll bar.
        var content = body.inset(right: hasScrollBar ? 2 : 0)
        var shown = shownColumns(in: content.columns)
        if let columnsBefore {
            // The indicator at the header's end may hide one more column, which it then counts.
            let whole = content
            var said = 0
            while case let rest = Table.rest(before: columnsBefore, behind: columns.count - shown.count).count,
                rest > said
            {
                said = rest
                content = whole.inset(right: max(0, 1 + rest - (hasScrollBar ? 2 : 0)))
                shown = shownColumns(in: content.columns)
            }
        }
        let lengths = Layout.lengths(of: shown.map { columns[$0].width }, in: content.columns, gap: 1)
        var column = content.column
        var places: [TableLayout.Place] = []
        for (index, length) in zip(shown, lengths) {
            let available = min(length, content.endColumn - column)
            if available > 0 {
                places.append(TableLayout.Place(index: index, column: column, columns: available))
            }
            column += length + 1
        }
        let first = min(max(0, firstRow), max(0, rowCount))
        let visible = hasScrollBar ? body.split(right: 2).rest : body
        return TableLayout(
            header: header, body: visible, scrollBar: scrollBar, columns: places,
            leftOut: columns.count - places.count, first: first,
            heights: heights(from: first, in: body.rows, places))
    }

    /// The indicator of hidden columns: `<2 +3>`.
    static func rest(before: Int, behind: Int, end: String = ">") -> String {
        ((before > 0 ? ["<\(before)"] : []) + (behind > 0 ? ["+\(behind)\(end)"] : [])).joined(separator: " ")
    }

    /// The columns that fit, at least those of priority 0, in the table's order.
    private func shownColumns(in available: Int) -> [Int] {
        var shown = Array(columns.indices)
        func needed() -> Int {
            shown.reduce(0) { sum, index in
                switch columns[index].width {
                case .fixed(let length), .minimum(let length, _): sum + length + 1
                case .flexible: sum + 2
                }
            } - 1
        }
        while needed() > available {
            // Among equal priorities the rightmost is dropped first; the sort column is dropped last.
            guard let victim = shown.max(by: { rank($0) < rank($1) }), columns[victim].priority > 0
            else { break }
            shown.removeAll { $0 == victim }
        }
        return shown
    }

    private func rank(_ index: Int) -> (priority: Int, place: Int) {
        let column = columns[index]
        return column.order != nil && column.priority > 0 ? (1, -1) : (column.priority, index)
    }
}
