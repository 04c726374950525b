/// Lines with a selection, such as a palette or a completion.
package struct List: Widget {
    package struct Item: Sendable, Hashable {
        package var spans: [Span]
        /// Text at the right end. A narrow list drops it first.
        package var trailing: String

        package init(_ spans: [Span], trailing: String = "") {
            self.spans = spans
            self.trailing = trailing
        }

        package init(_ text: String, trailing: String = "") { self.init([Span(text)], trailing: trailing) }
    }

    package var items: [Item]
    package var selected: Int?
    package var first: Int
    /// The background's style, such as ``Role/dialog``.
    package var role: Role

    package init(_ items: [Item], selected: Int? = nil, first: Int = 0, role: Role = .text) {
        self.items = items
        self.selected = selected
        self.first = first
        self.role = role
    }

    package func draw(into frame: inout Frame, in rect: Rect, look: Look) {
        frame.fill(rect, style: look[role])
        let bar = ScrollBar(total: items.count, first: first, visible: rect.rows)
        let body = bar.isNeeded ? rect.split(right: 1).rest : rect
        let start = min(max(0, first), items.count)
        for (offset, item) in items[start...].prefix(rect.rows).enumerated() {
            let line = body.line(offset)
            let isSelected = start + offset == selected
            let base = isSelected ? look[.selected] : look[role]
            frame.fill(line, style: base)
            let spans = item.spans.map {
                Span($0.text, isSelected ? base.adding($0.style.attributes) : $0.style)
            }
            let used = frame.write(spans, at: line.origin, base: base, within: line)
            let width = TextWidth.width(of: item.trailing)
            if width > 0, used + 1 + width <= line.columns {
                frame.write(
                    item.trailing, at: Point(column: line.endColumn - width, row: line.row),
                    style: isSelected ? base : look[.dim].over(base), within: line)
            }
        }
        bar.draw(into: &frame, in: rect, look: look)
    }
}
