package struct TreeRow: Widget {
    package enum Fold: Sendable, Hashable { case leaf, folded, unfolded }

    /// Depth in the tree, from 0.
    package var depth: Int
    package var fold: Fold
    package var name: [Span]
    package var value: [Span]
    package var isSelected: Bool

    package init(depth: Int, fold: Fold, name: [Span], value: [Span] = [], isSelected: Bool = false) {
        self.depth = depth
        self.fold = fold
        self.name = name
        self.value = value
        self.isSelected = isSelected
    }

    /// The column of the fold indicator. Limited for deep rows, to leave space for names.
    package func foldColumn(in rect: Rect) -> Int {
        rect.column + min(max(0, depth) * 2, max(0, rect.columns / 2 - 2))
    }

    package func draw(into frame: inout Frame, in rect: Rect, look: Look) {
        let line = rect.line(0)
        let base = isSelected ? look[.selected] : look[.text]
        frame.fill(line, style: base)
        var column = foldColumn(in: line)
        let sign =
            switch fold {
            case .leaf: look.glyphs.leaf
            case .folded: look.glyphs.folded
            case .unfolded: look.glyphs.unfolded
            }
        frame.write(
            String(sign), at: Point(column: column, row: line.row),
            style: isSelected ? base : look[.dim], within: line)
        column += 2
        for span in name + (value.isEmpty ? [] : [Span(" ")] + value) {
            let available = line.endColumn - column
            guard available > 0 else { break }
            let text = TextWidth.truncate(
                look.legible(span.text), to: available, ellipsis: look.glyphs.ellipsis)
            let style = isSelected ? base.adding(span.style.attributes) : span.style.over(base)
            column += frame.write(
                text, at: Point(column: column, row: line.row), style: style, within: line)
        }
    }
}
