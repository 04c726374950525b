/// A graph of values over time with title, scale and times, newest at the right, one column a value.
package struct TimeGraph: Widget {
    /// A label whose first character marks a column.
    package struct Tick: Sendable, Hashable {
        /// The marked column, counted from 0 at the plot's left.
        package let column: Int
        package let label: String

        package init(_ column: Int, _ label: String) { (self.column, self.label) = (column, label) }
    }

    package var title: [Span]
    /// Facts after the title. A fact that doesn't fit completely is omitted.
    package var facts: [Span] = []
    /// The values, oldest first; nil is a gap.
    package var values: [Double?]
    /// The value at the top, above 0.
    package var maximum: Double
    /// The label of the maximum; the minimum is 0.
    package var topLabel: String
    /// The label of half the maximum, shown in high graphs.
    package var middleLabel = ""
    /// A value that is drawn as a line.
    package var bound: Double?
    package var role: Role
    /// Labels in a row below the plot, from the left. The label of the last column ends at that column.
    package var ticks: [Tick] = []
    package var cursor: Int?

    package static let scaleColumns = 9

    package init(title: [Span], values: [Double?], maximum: Double, topLabel: String, role: Role = .accent) {
        self.title = title
        self.values = values
        self.maximum = maximum
        self.topLabel = topLabel
        self.role = role
    }

    package func draw(into frame: inout Frame, in rect: Rect, look: Look) {
        let (head, rest) = rect.split(top: 1)
        Bar(left: title, facts: facts, role: .text).draw(into: &frame, in: head, look: look)
        let (body, axis) = rest.split(bottom: rest.rows > 1 && !ticks.isEmpty ? 1 : 0)
        let (scale, plot) = body.split(left: TimeGraph.scaleColumns)
        let labels = scale.split(right: 1).rest
        for row in 0..<body.rows {
            let isMiddle = body.rows >= 9 && row == (body.rows - 1) / 2
            let text = row == 0 ? topLabel : row == body.rows - 1 ? "0" : isMiddle ? middleLabel : ""
            Label(text, role: .dim, alignment: .trailing).draw(into: &frame, in: labels.line(row), look: look)
        }
        frame.fill(scale.split(right: 1).right, style: look[.border], character: look.glyphs.vertical)
        Sparkline(values, maximum: maximum, role: role).draw(into: &frame, in: plot, look: look)
        if let bound { drawLine(at: bound, into: &frame, in: plot, look) }
        if let cursor, (0..<plot.columns).contains(cursor) {
            let selection = look[.selected]
            let line = Rect(column: plot.column + cursor, row: plot.row, columns: 1, rows: plot.rows)
            frame.restyle(line) { $0 = selection }
        }
        var end = axis.column
        for tick in ticks where axis.rows > 0 {
            let isLast = tick.column == plot.columns - 1
            let text =
                isLast ? "\(tick.label)\(look.glyphs.bottomRight)" : "\(look.glyphs.bottomLeft)\(tick.label)"
            let column = plot.column + tick.column - (isLast ? TextWidth.width(of: tick.label) : 0)
            guard column >= end, column + TextWidth.width(of: text) <= axis.endColumn else { continue }
            end = column + TextWidth.width(of: text) + 1
            frame.write(text, at: Point(column: column, row: axis.row), style: look[.dim], within: axis)
        }
    }
    /// Draws a line in the row of a value, where no bar is.
    private func drawLine(at value: Double, into frame: inout Frame, in plot: Rect, _ look: Look) {
        guard plot.rows > 1, value >= 0, value <= maximum else { return }
        let row = plot.endRow - 1 - min(plot.rows - 1, Int(value / maximum * Double(plot.rows)))
        for column in plot.column..<plot.endColumn where frame[column, row].text == " " {
            let cell = Rect(column: column, row: row, columns: 1, rows: 1)
            frame.fill(cell, style: look[.dim], character: look.glyphs.horizontal)
        }
    }
}
