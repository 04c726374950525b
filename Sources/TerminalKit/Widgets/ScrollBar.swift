/// The visible part of a long list.
package struct ScrollBar: Widget {
    package var total: Int
    package var first: Int
    package var visible: Int

    package init(total: Int, first: Int, visible: Int) {
        self.total = total
        self.first = first
        self.visible = visible
    }

    package var isNeeded: Bool { total > visible }

    /// The rows of the thumb. If there is space for it, it touches an end of the bar only when the list is at that end.
    package func thumb(in rows: Int) -> Range<Int> {
        guard isNeeded, rows > 0 else { return 0..<0 }
        let length = min(rows, max(1, Int(Double(rows) * Double(visible) / Double(total))))
        let lastFirst = total - visible
        let available = rows - length
        let first = min(max(0, first), lastFirst)
        var start = Int((Double(first) / Double(lastFirst) * Double(available)).rounded())
        if available >= 2 {
            if first > 0, start == 0 { start = 1 }
            if first < lastFirst, start == available { start = available - 1 }
        }
        return start..<start + length
    }

    /// The first row to show when the bar is dragged to a row.
    package func first(forThumbAt row: Int, in rows: Int) -> Int {
        guard isNeeded, rows > 1 else { return 0 }
        let share = Double(min(max(0, row), rows - 1)) / Double(rows - 1)
        return Int((share * Double(total - visible)).rounded())
    }

    package func draw(into frame: inout Frame, in rect: Rect, look: Look) {
        guard isNeeded else { return }
        let bar = rect.split(right: 1).right
        frame.fill(bar, style: look[.scrollTrack], character: look.glyphs.scrollTrack)
        let thumb = thumb(in: bar.rows)
        frame.fill(
            Rect(
                column: bar.column, row: bar.row + thumb.lowerBound, columns: bar.columns, rows: thumb.count),
            style: look[.scrollThumb], character: look.glyphs.scrollThumb)
    }
}
