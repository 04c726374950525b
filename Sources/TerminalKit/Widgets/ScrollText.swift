/// Lines of text that scroll, such as help or an event log. A value; safe to share between threads as far as the
/// closure that gives the lines is.
package struct ScrollText: Widget {
    package var lineCount: Int
    package var firstLine: Int
    package var line: @Sendable (Int) -> [Span]

    package init(lineCount: Int, firstLine: Int = 0, line: @escaping @Sendable (Int) -> [Span]) {
        self.lineCount = lineCount
        self.firstLine = firstLine
        self.line = line
    }

    package init(_ lines: [String], firstLine: Int = 0) {
        self.init(lineCount: lines.count, firstLine: firstLine) { [Span(lines[$0])] }
    }

    package func draw(into frame: inout Frame, in rect: Rect, look: Look) {
        frame.fill(rect, style: look[.text])
        let bar = ScrollBar(total: lineCount, first: firstLine, visible: rect.rows)
        let body = bar.isNeeded ? rect.inset(right: 2) : rect
        let first = max(0, min(firstLine, lineCount))
        for offset in 0..<min(body.rows, lineCount - first) {
            let place = body.line(offset)
            frame.write(line(first + offset), at: place.origin, base: look[.text], within: place)
        }
        bar.draw(into: &frame, in: rect, look: look)
    }
}
