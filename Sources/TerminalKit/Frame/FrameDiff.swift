/// The changes between two frames, as runs of cells that contain whole wide characters.
package struct FrameDiff: Sendable, Equatable {
    package struct Run: Sendable, Equatable {
        package let row: Int
        package let columns: Range<Int>

        package init(row: Int, columns: Range<Int>) {
            self.row = row
            self.columns = columns
        }
    }

    /// The runs in reading order; runs of one row don't touch.
    package let runs: [Run]
    package let cursorChanged: Bool

    package var isEmpty: Bool { runs.isEmpty && !cursorChanged }

    /// Compares the frames. Without an old frame of the same size, every row is a run. O(cells).
    package init(from old: Frame?, to new: Frame) {
        let columns = new.size.columns
        guard let old, old.size == new.size else {
            runs = columns == 0 ? [] : (0..<new.size.rows).map { Run(row: $0, columns: 0..<columns) }
            cursorChanged = true
            return
        }
        var runs: [Run] = []
        for row in 0..<new.size.rows {
            let base = row * columns
            var column = 0
            while column < columns {
                guard old.cells[base + column] != new.cells[base + column] else {
                    column += 1
                    continue
                }
                let start = new.cells[base + column].isContinuation ? column - 1 : column
                while column < columns,
                    new.cells[base + column].isContinuation
                        || old.cells[base + column] != new.cells[base + column]
                {
                    column += 1
                }
                runs.append(Run(row: row, columns: start..<column))
            }
        }
        self.runs = runs
        cursorChanged = old.cursor != new.cursor
    }
}
