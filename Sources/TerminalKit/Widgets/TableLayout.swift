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
    /// Columns without space.
    package let leftOut: Int
    package let rows: Range<Int>

    package func row(at point: Point) -> Int? {
        guard body.contains(point) else { return nil }
        let row = rows.lowerBound + point.row - body.row
        return rows.contains(row) ? row : nil
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

    package func layout(in rect: Rect) -> TableLayout {
        let (header, body) = rect.split(top: showsHeader && rect.rows > 1 ? 1 : 0)
        let hasScrollBar = rowCount > body.rows && rect.columns > 2
        let scrollBar = hasScrollBar ? body.split(right: 1).right : body.split(right: 0).right
        // Keep a column free before the scroll bar.
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
            let room = min(length, content.endColumn - column)
            if room > 0 { places.append(TableLayout.Place(index: index, column: column, columns: room)) }
            column += length + 1
        }
        let first = min(max(0, firstRow), max(0, rowCount))
        let visible = hasScrollBar ? body.split(right: 2).rest : body
        return TableLayout(
            header: header, body: visible, scrollBar: scrollBar, columns: places,
            leftOut: columns.count - places.count, rows: first..<min(rowCount, first + body.rows))
    }

    /// The indicator of hidden columns: `<2 +3>`.
    static func rest(before: Int, behind: Int, end: String = ">") -> String {
        ((before > 0 ? ["<\(before)"] : []) + (behind > 0 ? ["+\(behind)\(end)"] : [])).joined(separator: " ")
    }

    /// The columns that fit, at least those of priority 0, in the table's order.
    private func shownColumns(in room: Int) -> [Int] {
        var shown = Array(columns.indices)
        func needed() -> Int {
            shown.reduce(0) { sum, index in
                switch columns[index].width {
                case .fixed(let length), .minimum(let length, _): sum + length + 1
                case .flexible: sum + 2
                }
            } - 1
        }
        while needed() > room {
            // Of equal priorities the rightmost is dropped first; the column that rows are sorted by is dropped last.
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
