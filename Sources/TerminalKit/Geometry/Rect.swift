/// A rectangle of cells. Operations clamp: lengths are never negative, and a part never extends outside its rectangle.
package struct Rect: Sendable, Hashable {
    package var column: Int
    package var row: Int
    package var columns: Int
    package var rows: Int

    /// Negative lengths become 0.
    package init(column: Int = 0, row: Int = 0, columns: Int, rows: Int) {
        self.column = column
        self.row = row
        self.columns = max(0, columns)
        self.rows = max(0, rows)
    }

    package init(origin: Point, size: Size) {
        self.init(column: origin.column, row: origin.row, columns: size.columns, rows: size.rows)
    }

    package init(_ size: Size) { self.init(columns: size.columns, rows: size.rows) }

    package var origin: Point { Point(column: column, row: row) }
    package var size: Size { Size(columns: columns, rows: rows) }
    package var endColumn: Int { column + columns }
    package var endRow: Int { row + rows }
    package var isEmpty: Bool { columns == 0 || rows == 0 }

    package func contains(_ point: Point) -> Bool {
        point.column >= column && point.column < endColumn && point.row >= row && point.row < endRow
    }

    package func intersection(_ other: Rect) -> Rect {
        let left = max(column, other.column)
        let top = max(row, other.row)
        return Rect(
            column: left, row: top, columns: min(endColumn, other.endColumn) - left,
            rows: min(endRow, other.endRow) - top)
    }

    /// Removes a margin on each side; too large ones leave an empty rectangle.
    package func inset(top: Int = 0, left: Int = 0, bottom: Int = 0, right: Int = 0) -> Rect {
        let left = min(max(0, left), columns)
        let top = min(max(0, top), rows)
        return Rect(
            column: column + left, row: row + top, columns: columns - left - max(0, right),
            rows: rows - top - max(0, bottom))
    }

    package func inset(_ margin: Int) -> Rect {
        inset(top: margin, left: margin, bottom: margin, right: margin)
    }

    package func split(top count: Int) -> (top: Rect, rest: Rect) {
        let count = min(max(0, count), rows)
        return (
            Rect(column: column, row: row, columns: columns, rows: count),
            Rect(column: column, row: row + count, columns: columns, rows: rows - count)
        )
    }

    package func split(bottom count: Int) -> (rest: Rect, bottom: Rect) {
        let parts = split(top: rows - min(max(0, count), rows))
        return (parts.top, parts.rest)
    }

    package func split(left count: Int) -> (left: Rect, rest: Rect) {
        let count = min(max(0, count), columns)
        return (
            Rect(column: column, row: row, columns: count, rows: rows),
            Rect(column: column + count, row: row, columns: columns - count, rows: rows)
        )
    }

    package func split(right count: Int) -> (rest: Rect, right: Rect) {
        let parts = split(left: columns - min(max(0, count), columns))
        return (parts.left, parts.rest)
    }

    /// One row, from the top; empty if out of range.
    package func line(_ index: Int) -> Rect {
        guard index >= 0, index < rows else {
            return Rect(column: column, row: row, columns: columns, rows: 0)
        }
        return Rect(column: column, row: row + index, columns: columns, rows: 1)
    }

    /// A centered rectangle, cut to fit.
    package func centered(_ wanted: Size) -> Rect {
        let columns = min(wanted.columns, self.columns)
        let rows = min(wanted.rows, self.rows)
        return Rect(
            column: column + (self.columns - columns) / 2, row: row + (self.rows - rows) / 2,
            columns: columns, rows: rows)
    }
}
