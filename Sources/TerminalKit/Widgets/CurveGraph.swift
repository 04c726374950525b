/// Curves over positions on an axis, each drawn with its own letter, so that they differ without color.
package struct CurveGraph: Widget {
    package struct Curve: Sendable {
        package let letter: Character
        package let role: Role
        /// 0 (bottom) to 1, one for each position; nil is a gap.
        package let values: [Double?]

        package init(_ letter: Character, role: Role, _ values: [Double?]) {
            (self.letter, self.role, self.values) = (letter, role, values)
        }
    }

    /// Left out if there are fewer than four rows.
    package var title: [Span]
    /// Facts after the title. A fact that doesn't fit completely is omitted.
    package var facts: [Span] = []
    /// Places on the axis, 0 (left) to 1, ascending.
    package var positions: [Double]
    /// The labels of the positions. A label is omitted if it would overlap the label of ``present``, the last label, or the label
    /// at its left.
    package var labels: [String]
    /// Where curves overlap, their letters alternate.
    package var curves: [Curve]
    /// The labels of the values 1 and 0.5.
    package var topLabel: String
    package var middleLabel = ""
    /// The position with a vertical line.
    package var marked: Int?
    /// The position that is marked on the axis.
    package var present: Int?

    package static let scaleColumns = 5

    package init(
        title: [Span], positions: [Double], labels: [String], curves: [Curve], topLabel: String
    ) {
        (self.title, self.positions, self.labels) = (title, positions, labels)
        (self.curves, self.topLabel) = (curves, topLabel)
    }

    /// The column of a position, counted from 0 at the plot's left.
    private func column(_ position: Int, _ plot: Rect) -> Int {
        Int((positions[position] * Double(plot.columns - 1)).rounded())
    }

    package func draw(into frame: inout Frame, in rect: Rect, look: Look) {
        let (head, rest) = rect.split(top: rect.rows < 4 ? 0 : 1)
        let (body, axis) = rest.split(bottom: rest.rows >= 5 ? 2 : rest.rows >= 2 ? 1 : 0)
        let (scale, plot) = body.split(left: CurveGraph.scaleColumns)
        frame.fill(rect, style: look[.text])
        Bar(left: title, facts: facts, role: .text).draw(into: &frame, in: head, look: look)
        let (labels, line) = scale.split(right: 1)
        for row in 0..<plot.rows {
            let isMiddle = plot.rows >= 5 && row == (plot.rows - 1) / 2
            let text = row == 0 ? topLabel : row == plot.rows - 1 ? "0" : isMiddle ? middleLabel : ""
            Label(text, role: .dim, alignment: .trailing).draw(into: &frame, in: labels.line(row), look: look)
        }
        frame.fill(line, style: look[.border], character: look.glyphs.vertical)
        guard !plot.isEmpty else { return }
        let marker = marked.map { plot.split(left: column($0, plot)).rest.split(left: 1).left }
        if let marker { frame.fill(marker, style: look[.dim], character: look.glyphs.vertical) }
        drawCurves(into: &frame, in: plot, look)
        if let marker { frame.restyle(marker) { $0 = look[.selected] } }
        drawAxis(into: &frame, in: axis, plot, look)
    }

    private func drawCurves(into frame: inout Frame, in plot: Rect, _ look: Look) {
        let values = curves.map { interpolated($0.values, plot) }
        for column in 0..<plot.columns {
            let rows = values.map { values in
                values[column].map {
                    plot.rows - 1 - Int((min(1, max(0, $0)) * Double(plot.rows - 1)).rounded())
                }
            }
            for row in Set(rows.compactMap { $0 }) {
                let here = curves.indices.filter { rows[$0] == row }
                let curve = curves[here[column % here.count]]
                frame.write(
                    String(curve.letter), at: Point(column: plot.column + column, row: plot.row + row),
                    style: look[curve.role], within: plot)
            }
        }
    }

    /// The value of each column, on straight lines between the positions.
    private func interpolated(_ values: [Double?], _ plot: Rect) -> [Double?] {
        var columns = [Double?](repeating: nil, count: plot.columns)
        var last: (column: Int, value: Double)?
        for (position, value) in values.enumerated() where position < positions.count {
            let column = column(position, plot)
            if let value, let last, last.column < column {
                for step in last.column...column {
                    let share = Double(step - last.column) / Double(column - last.column)
                    columns[step] = last.value * (1 - share) + value * share
                }
            }
            last = value.map { (column, $0) }
            if let value { columns[column] = value }
        }
        return columns
    }

    private func drawAxis(into frame: inout Frame, in axis: Rect, _ plot: Rect, _ look: Look) {
        let line = axis.line(0).split(left: CurveGraph.scaleColumns - 1).rest
        frame.fill(line, style: look[.border], character: look.glyphs.horizontal)
        frame.fill(line.split(left: 1).left, style: look[.border], character: look.glyphs.bottomLeft)
        var taken: [Range<Int>] = []
        for position in [present, positions.indices.last].compactMap({ $0 }) + positions.indices
        where axis.rows > 0 {
            let place = plot.column + column(position, plot)
            if position == present {
                let mark = String(look.glyphs.ascending)
                frame.write(mark, at: Point(column: place, row: axis.row), style: look[.accent], within: line)
            }
            let width = TextWidth.width(of: labels[position])
            let start = max(axis.column, min(place - width / 2, axis.endColumn - width))
            guard axis.rows > 1, !taken.contains(where: { $0.overlaps(start - 1..<start + width + 1) })
            else { continue }
            taken.append(start..<start + width)
            frame.write(
                labels[position], at: Point(column: start, row: axis.row + 1),
                style: look[position == present ? .accent : .dim], within: axis)
        }
    }
}
