package struct Label: Widget {
    package var text: String
    package var role: Role
    package var alignment: Alignment

    package init(_ text: String, role: Role = .text, alignment: Alignment = .leading) {
        self.text = text
        self.role = role
        self.alignment = alignment
    }

    package func draw(into frame: inout Frame, in rect: Rect, look: Look) {
        let text = TextWidth.pad(
            look.legible(text), to: rect.columns, alignment: alignment, ellipsis: look.glyphs.ellipsis)
        frame.write(text, at: rect.origin, style: look[role], within: rect.line(0))
    }
}

/// A bar with text at both ends. If both don't fit, the right text loses its beginning.
package struct Bar: Widget {
    package var left: [Span]
    /// Warnings after `left`, two columns apart; truncated if they don't fit.
    package var warnings: [Span]
    /// Facts after the warnings, two columns apart, the most important first. A fact that doesn't fit completely is omitted.
    package var facts: [Span]
    package var right: [Span]
    package var role: Role

    package init(
        left: [Span], warnings: [Span] = [], facts: [Span] = [], right: [Span] = [], role: Role = .title
    ) {
        self.left = left
        self.warnings = warnings
        self.facts = facts
        self.right = right
        self.role = role
    }

    package func draw(into frame: inout Frame, in rect: Rect, look: Look) {
        let line = rect.line(0)
        let base = look[role]
        frame.fill(line, style: base)
        let left = (left + warnings.map { Span("  " + $0.text, $0.style) })
            .map { Span(look.legible($0.text), $0.style) }
        let right = right.map { Span(look.legible($0.text), $0.style) }
        let leftColumns = left.reduce(0) { $0 + TextWidth.width(of: $1.text) }
        var shown = right
        var rightColumns = shown.reduce(0) { $0 + TextWidth.width(of: $1.text) }
        while leftColumns + rightColumns + 1 > line.columns, !shown.isEmpty {
            rightColumns -= TextWidth.width(of: shown.removeFirst().text)
        }
        var available = line.columns - rightColumns
        var column = line.column
        for span in left where available > 0 {
            let text = TextWidth.truncate(span.text, to: available, ellipsis: look.glyphs.ellipsis)
            let written = frame.write(
                text, at: Point(column: column, row: line.row), style: span.style.over(base), within: line)
            column += written
            available -= written
        }
        for fact in facts {
            let text = "  " + look.legible(fact.text)
            let width = TextWidth.width(of: text)
            guard width + (shown.isEmpty ? 0 : 1) <= available else { continue }
            frame.write(
                text, at: Point(column: column, row: line.row), style: fact.style.over(base), within: line)
            column += width
            available -= width
        }
        frame.write(
            shown, at: Point(column: line.endColumn - rightColumns, row: line.row), base: base, within: line)
    }
}
