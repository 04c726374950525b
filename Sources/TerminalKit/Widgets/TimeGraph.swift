/// A graph of values over time with a title above it and its scale at the left, newest at the right, one column a value. A value;
/// safe to share between threads.
package struct TimeGraph: Widget {
    package var title: [Span]
    /// Oldest first; nil is a gap.
    package var values: [Double?]
    /// What reaches the top, above 0.
    package var maximum: Double
    /// What stands beside the top of the scale; 0 is beside the bottom.
    package var topLabel: String
    package var role: Role

    /// Columns of the scale; the values have the rest.
    package static let scaleColumns = 9

    package init(
        title: [Span], values: [Double?], maximum: Double, topLabel: String, role: Role = .accent
    ) {
        self.title = title
        self.values = values
        self.maximum = maximum
        self.topLabel = topLabel
        self.role = role
    }

    package func draw(into frame: inout Frame, in rect: Rect, look: Look) {
        let (head, body) = rect.split(top: 1)
        frame.write(title, at: head.origin, within: head)
        let (scale, plot) = body.split(left: TimeGraph.scaleColumns)
        let labels = scale.split(right: 1).rest
        for row in 0..<body.rows {
            let text = row == 0 ? topLabel : row == body.rows - 1 ? "0" : ""
            Label(text, role: .dim, alignment: .trailing).draw(into: &frame, in: labels.line(row), look: look)
        }
        frame.fill(scale.split(right: 1).right, style: look[.border], character: look.glyphs.vertical)
        Sparkline(values, maximum: maximum, role: role).draw(into: &frame, in: plot, look: look)
    }
}

/// Labels below a graph, from its beginning to its end, as many as fit. A value; safe to share between threads.
package struct TimeAxis: Widget {
    package var labels: [String]

    package init(_ labels: [String]) { self.labels = labels }

    package func draw(into frame: inout Frame, in rect: Rect, look: Look) {
        let line = rect.line(0)
        // The last one stays longest: without it nothing says when the graph ends.
        for (index, label) in labels.enumerated().reversed() {
            let width = TextWidth.width(of: label)
            let room = line.columns - width
            let offset = labels.count < 2 ? room : room * index / (labels.count - 1)
            let end = index == labels.count - 1 ? line.columns + 2 : room * (index + 1) / (labels.count - 1)
            guard room >= 0, offset + width + 2 <= end || index == labels.count - 1 else { continue }
            frame.write(
                label, at: Point(column: line.column + offset, row: line.row), style: look[.dim], within: line
            )
        }
    }
}
