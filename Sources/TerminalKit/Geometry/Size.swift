/// A number of columns and rows. A value; safe to share between threads.
package struct Size: Sendable, Hashable {
    /// Columns, never negative.
    package var columns: Int
    /// Rows, never negative.
    package var rows: Int

    /// Makes a size; negative lengths become 0.
    package init(columns: Int, rows: Int) {
        self.columns = max(0, columns)
        self.rows = max(0, rows)
    }

    package var isEmpty: Bool { columns == 0 || rows == 0 }
}

/// A place on the screen, counted from 0 at the top left. A value; safe to share between threads.
package struct Point: Sendable, Hashable {
    package var column: Int
    package var row: Int

    package init(column: Int, row: Int) {
        self.column = column
        self.row = row
    }

    package static let zero = Point(column: 0, row: 0)
}
