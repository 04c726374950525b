package struct Size: Sendable, Hashable {
    package var columns: Int
    package var rows: Int

    /// Negative lengths become 0.
    package init(columns: Int, rows: Int) {
        self.columns = max(0, columns)
        self.rows = max(0, rows)
    }

    package var isEmpty: Bool { columns == 0 || rows == 0 }

    /// Reads `COLUMNSxROWS`, 1 to 1,000 each.
    package init?(spelled text: String) {
        let parts = text.lowercased().split(separator: "x", omittingEmptySubsequences: false)
        guard parts.count == 2, let columns = Int(parts[0]), let rows = Int(parts[1]),
            (1...1000).contains(columns), (1...1000).contains(rows)
        else { return nil }
        self.init(columns: columns, rows: rows)
    }

    package var spelling: String { "\(columns)x\(rows)" }
}

/// A position on the screen, from 0 at the top left.
package struct Point: Sendable, Hashable {
    package var column: Int
    package var row: Int

    package init(column: Int, row: Int) {
        self.column = column
        self.row = row
    }

    package static let zero = Point(column: 0, row: 0)
}
