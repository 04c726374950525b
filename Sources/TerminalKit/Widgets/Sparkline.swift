/// A small graph of values over time, newest at the right, one column a value.
package struct Sparkline: Widget {
    /// The values, oldest first; nil is a gap. If there are more values than columns, the oldest are left out.
    package var values: [Double?]
    /// The value at the top; nil: the largest shown.
    package var maximum: Double?
    package var role: Role

    package init(_ values: [Double?], maximum: Double? = nil, role: Role = .accent) {
        self.values = values
        self.maximum = maximum
        self.role = role
    }

    /// Draws over all rows of the rectangle.
    package func draw(into frame: inout Frame, in rect: Rect, look: Look) {
        guard !rect.isEmpty else { return }
        let shown = values.suffix(rect.columns)
        let top = maximum ?? shown.reduce(0) { max($0, $1 ?? 0) }
        let steps = look.glyphs.sparkSteps
        frame.fill(rect, style: look[.text])
        for (offset, value) in shown.enumerated() {
            guard let value, value.isFinite else { continue }
            let column = rect.endColumn - shown.count + offset
            let share = top > 0 ? min(1, max(0, value / top)) : 0
            // 0 is drawn as the lowest step, to differ from a gap.
            var height = max(1, Int((share * Double(rect.rows * steps.count)).rounded()))
            var row = rect.endRow - 1
            while height > 0 {
                let step = min(height, steps.count)
                frame.write(
                    String(steps[step - 1]), at: Point(column: column, row: row), style: look[role],
                    within: rect)
                height -= step
                row -= 1
            }
        }
    }
}
