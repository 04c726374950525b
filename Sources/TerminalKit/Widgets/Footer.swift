/// Keys with descriptions, as many as fit completely.
package struct Footer<ID: Hashable & Sendable>: Widget {
    package var hints: [KeyHint<ID>]

    package init(_ hints: [KeyHint<ID>]) { self.hints = hints }

    package func places(in rect: Rect) -> [(hint: KeyHint<ID>, rect: Rect)] {
        let line = rect.line(0)
        var column = line.column
        var places: [(hint: KeyHint<ID>, rect: Rect)] = []
        guard !line.isEmpty else { return [] }
        for hint in hints {
            let width = TextWidth.width(of: hint.key) + 1 + TextWidth.width(of: hint.title)
            guard column + width <= line.endColumn else { break }
            places.append((hint, Rect(column: column, row: line.row, columns: width, rows: 1)))
            column += width + 2
        }
        return places
    }

    package func action(at point: Point, in rect: Rect) -> ID? {
        places(in: rect).first { $0.rect.contains(point) }?.hint.id
    }

    package func draw(into frame: inout Frame, in rect: Rect, look: Look) {
        frame.fill(rect.line(0), style: look[.text])
        for (hint, place) in places(in: rect) {
            frame.write(
                [Span(hint.key, look[.key]), Span(" "), Span(hint.title, look[.hint])], at: place.origin,
                within: place)
        }
    }
}
