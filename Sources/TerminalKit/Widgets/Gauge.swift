/// A fill level, drawn in eighths of a cell, or in whole cells in ASCII.
package struct Gauge: Widget {
    /// The fill level, 0 to 1; other values are clamped.
    package var fraction: Double
    package var role: Role

    package init(_ fraction: Double, role: Role = .gaugeFill) {
        self.fraction = fraction.isNaN ? 0 : min(1, max(0, fraction))
        self.role = role
    }

    package func draw(into frame: inout Frame, in rect: Rect, look: Look) {
        let line = rect.line(0)
        guard !line.isEmpty else { return }
        let steps = look.glyphs.gaugeSteps
        // Every fraction above 0 is visible, and only a full gauge looks full.
        let total = line.columns * steps.count
        var filled = Int((fraction * Double(total)).rounded())
        if fraction > 0, filled == 0 { filled = 1 }
        if fraction < 1, filled == total { filled = total - 1 }
        frame.fill(line, style: look[.gaugeEmpty], character: look.glyphs.gaugeEmpty)
        let (whole, partial) = filled.quotientAndRemainder(dividingBy: steps.count)
        frame.fill(line.split(left: whole).left, style: look[role], character: steps[steps.count - 1])
        if partial > 0 {
            frame.write(
                String(steps[partial - 1]), at: Point(column: line.column + whole, row: line.row),
                style: look[role], within: line)
        }
    }
}

/// A gauge with a text over it; without a fraction a spinner at `phase`.
package struct ProgressBar: Widget {
    package var fraction: Double?
    package var text: String
    package var phase: Int

    package init(fraction: Double?, text: String, phase: Int = 0) {
        self.fraction = fraction
        self.text = text
        self.phase = phase
    }

    package func draw(into frame: inout Frame, in rect: Rect, look: Look) {
        let line = rect.line(0)
        let figure: String
        if let fraction {
            figure = "\(Int(Gauge(fraction).fraction * 100))%"
        } else {
            let spinner = look.glyphs.spinner
            figure = String(spinner[(phase % spinner.count + spinner.count) % spinner.count])
        }
        let words = TextWidth.truncate(
            text.isEmpty ? figure : "\(figure) \(text)", to: line.columns, ellipsis: look.glyphs.ellipsis)
        let textColumns = TextWidth.width(of: words)
        frame.fill(line, style: look[.text])
        frame.write(words, at: line.origin, style: look[.text], within: line)
        let rest = line.split(left: textColumns + 1).rest
        if let fraction, rest.columns >= 4 { Gauge(fraction).draw(into: &frame, in: rest, look: look) }
    }
}
