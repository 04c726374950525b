/// A part of a screen that draws itself into a rectangle of a frame. Widgets are values with the data to show.
package protocol Widget: Sendable {
    /// Draws only inside the rectangle, which may have any size.
    func draw(into frame: inout Frame, in rect: Rect, look: Look)
}

package struct Span: Sendable, Hashable {
    package var text: String
    package var style: Style

    package init(_ text: String, _ style: Style = .plain) {
        self.text = text
        self.style = style
    }
}

extension Frame {
    /// Writes spans one after another. `base` provides default colors.
    /// - Returns: the columns from `point` to the end of the spans.
    @discardableResult
    package mutating func write(
        _ spans: [Span], at point: Point, base: Style = .plain, within clip: Rect? = nil
    ) -> Int {
        var column = point.column
        for span in spans {
            column += write(
                span.text, at: Point(column: column, row: point.row), style: span.style.over(base),
                within: clip)
        }
        return column - point.column
    }

    package mutating func draw(_ widget: some Widget, in rect: Rect, look: Look) {
        widget.draw(into: &self, in: rect, look: look)
    }

    /// Draws a border just inside the rectangle.
    package mutating func border(_ rect: Rect, style: Style, glyphs: Glyphs) {
        guard rect.columns >= 2, rect.rows >= 2 else { return }
        let right = rect.endColumn - 1
        let bottom = rect.endRow - 1
        fill(rect.line(0), style: style, character: glyphs.horizontal)
        fill(rect.line(rect.rows - 1), style: style, character: glyphs.horizontal)
        fill(rect.split(left: 1).left, style: style, character: glyphs.vertical)
        fill(rect.split(right: 1).right, style: style, character: glyphs.vertical)
        for (corner, column, row) in [
            (glyphs.topLeft, rect.column, rect.row), (glyphs.topRight, right, rect.row),
            (glyphs.bottomLeft, rect.column, bottom), (glyphs.bottomRight, right, bottom),
        ] {
            write(String(corner), at: Point(column: column, row: row), style: style)
        }
    }
}
