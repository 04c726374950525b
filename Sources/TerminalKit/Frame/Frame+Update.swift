extension Frame {
    /// Text with control sequences (CUP, ED, SGR, DECTCEM) that changes `old` into this frame: the changed cells, or all cells
    /// if `old` is nil or of another size. Empty without changes. ``FrameReader`` reads it. O(cells).
    package func update(from old: Frame?) -> String {
        let diff = FrameDiff(from: old, to: self)
        guard !diff.isEmpty else { return "" }
        var text = old?.size == size ? "" : "\u{1b}[0m\u{1b}[2J"
        for run in diff.runs { append(run, to: &text) }
        guard let cursor else { return text + "\u{1b}[?25l" }
        return text + Self.move(to: cursor) + "\u{1b}[?25h"
    }

    private func append(_ run: FrameDiff.Run, to text: inout String) {
        var style: Style?
        var before: String?
        for column in run.columns {
            let cell = self[column, run.row]
            if cell.isContinuation { continue }
            // Separate positions keep the texts of two cells from joining into one character.
            if before.map({ Self.join($0, cell.text) }) ?? true {
                text += Self.move(to: Point(column: column, row: run.row))
            }
            if cell.style != style {
                text += cell.style.selectGraphicRendition
                style = cell.style
            }
            text += cell.text
            before = cell.text
        }
    }

    private static func join(_ left: String, _ right: String) -> Bool {
        if left.utf8.count == 1, right.utf8.count == 1 { return false }
        return (left + right).count < 2
    }

    private static func move(to place: Point) -> String { "\u{1b}[\(place.row + 1);\(place.column + 1)H" }
}
