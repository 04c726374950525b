package struct Dialog: Widget {
    package var title: String
    /// Paragraphs, wrapped to the dialog's width.
    package var body: [String]
    package var buttons: [String]
    package var selectedButton: Int
    package var firstLine: Int
    /// Rows between body and buttons, for a text field or a list that the caller draws.
    package var contentRows: Int
    package var maximumColumns: Int

    package static let defaultColumns = 72

    package init(
        title: String, body: [String] = [], buttons: [String] = [], selectedButton: Int = 0,
        firstLine: Int = 0, contentRows: Int = 0, maximumColumns: Int = Self.defaultColumns
    ) {
        self.title = title
        self.body = body
        self.buttons = buttons
        self.selectedButton = selectedButton
        self.firstLine = firstLine
        self.contentRows = contentRows
        self.maximumColumns = maximumColumns
    }

    package struct Places: Sendable, Hashable {
        package let box: Rect
        package let body: Rect
        package let content: Rect
        /// The position of each button; empty if there is no space for it.
        package let buttons: [Rect]
        package let lines: [String]

        /// The position of a part's scroll bar, in the margin if there is one.
        package func bar(of part: Rect) -> Rect {
            Rect(column: min(part.endColumn, box.endColumn - 1), row: part.row, columns: 1, rows: part.rows)
        }
    }

    /// The layout in a screen. A small screen omits first the border, then the body; the buttons stay, with shorter labels.
    package func places(in rect: Rect) -> Places {
        let columns = min(rect.columns, maximumColumns)
        // Without a border, buttons have four more columns.
        let hasRoom = columns - 4 >= Self.width(of: labels(in: columns))
        let hasBorder = rect.rows >= 5 && columns >= 12 && hasRoom
        let margin = hasBorder ? 2 : 0
        let labels = labels(in: columns - 2 * margin)
        var lines = body.flatMap { TextWrap.lines($0, columns: columns - 2 * margin) }
        let buttonRows = buttons.isEmpty ? 0 : 1
        let wanted = lines.count + contentRows + buttonRows
        let spaced = buttonRows > 0 && wanted + 1 + 2 <= rect.rows && wanted > buttonRows
        let rows = wanted + (spaced ? 1 : 0) + (hasBorder ? 2 : 1)
        let widest = max(
            lines.map { TextWidth.width(of: $0) }.max() ?? 0, TextWidth.width(of: title) + 2,
            Self.width(of: labels), contentRows > 0 ? columns : 0, 24)
        let box = rect.centered(Size(columns: min(columns, widest + 2 * margin), rows: rows))
        var inner =
            hasBorder ? box.inset(top: 1, left: margin, bottom: 1, right: margin) : box.split(top: 1).rest
        let buttonLine: Rect
        (inner, buttonLine) = inner.split(bottom: buttonRows)
        if spaced { inner = inner.split(bottom: 1).rest }
        let content: Rect
        (inner, content) = inner.split(bottom: min(contentRows, inner.rows))
        if !hasBorder, lines.count > inner.rows {
            lines = body.flatMap { TextWrap.lines($0, columns: max(1, columns - 1)) }
        }
        var column = buttonLine.column
        let buttonPlaces = labels.map { label -> Rect in
            let place = Rect(
                column: column, row: buttonLine.row, columns: TextWidth.width(of: label), rows: 1)
            column = place.endColumn + 1
            return place.intersection(buttonLine)
        }
        return Places(box: box, body: inner, content: content, buttons: buttonPlaces, lines: lines)
    }

    package func draw(into frame: inout Frame, in rect: Rect, look: Look) {
        let places = places(in: rect)
        frame.fill(places.box, style: look[.dialog])
        if places.body.column > places.box.column {
            frame.border(places.box, style: look[.dialogBorder].over(look[.dialog]), glyphs: look.glyphs)
        }
        let titleLine = places.box.line(0).inset(left: places.body.column > places.box.column ? 1 : 0)
        let titleText = TextWidth.truncate(
            " \(title) ", to: max(0, places.box.columns - 2), cutting: .middle,
            ellipsis: look.glyphs.ellipsis)
        frame.write(
            titleText, at: titleLine.origin, style: look[.title].over(look[.dialog]), within: titleLine)
        let first = min(max(0, firstLine), max(0, places.lines.count - places.body.rows))
        for (offset, text) in places.lines.dropFirst(first).prefix(places.body.rows).enumerated() {
            let line = places.body.line(offset)
            // Leading no-break spaces are an indent that wrapping keeps.
            let indent = text.prefix { $0 == "\u{a0}" }
            let shown = String(repeating: " ", count: indent.count) + text.dropFirst(indent.count)
            frame.write(shown, at: line.origin, style: look[.dialog], within: line)
        }
        ScrollBar(total: places.lines.count, first: first, visible: places.body.rows)
            .draw(into: &frame, in: places.bar(of: places.body), look: look)
        let inside = places.body.column > places.box.column ? 4 : 0
        let labels = labels(in: places.box.columns - inside, ellipsis: look.glyphs.ellipsis)
        for (index, place) in places.buttons.enumerated() {
            let style = look[index == selectedButton ? .buttonDefault : .button]
            frame.write(labels[index], at: place.origin, style: style, within: place)
        }
    }

    /// The buttons' labels: with spaces, without, or with truncated titles. Brackets mark buttons without colors too.
    private func labels(in columns: Int, ellipsis: String = "~") -> [String] {
        let spaced = buttons.map { "[ \($0) ]" }
        if Self.width(of: spaced) <= columns { return spaced }
        let short = buttons.map { "[\($0)]" }
        if Self.width(of: short) <= columns { return short }
        let share = (columns + 1) / max(1, buttons.count) - 1
        return buttons.map { "[\(TextWidth.truncate($0, to: max(1, share - 2), ellipsis: ellipsis))]" }
    }

    /// The width of a row of labels, with a column between them.
    private static func width(of labels: [String]) -> Int {
        labels.reduce(-1) { $0 + TextWidth.width(of: $1) + 1 }
    }
}
