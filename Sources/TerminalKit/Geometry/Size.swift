/// A number of columns and rows. A value; safe to share between threads.
public struct Size: Sendable, Hashable {
    /// Columns, never negative.
    public var columns: Int
    /// Rows, never negative.
    public var rows: Int

    /// Makes a size; negative lengths become 0.
    public init(columns: Int, rows: Int) {
        self.columns = max(0, columns)
        self.rows = max(0, rows)
    }

    public var isEmpty: Bool { columns == 0 || rows == 0 }
}

/// A place on the screen, counted from 0 at the top left. A value; safe to share between threads.
public struct Point: Sendable, Hashable {
    public var column: Int
    public var row: Int

    public init(column: Int, row: Int) {
        self.column = column
        self.row = row
    }

    public static let zero = Point(column: 0, row: 0)
}
