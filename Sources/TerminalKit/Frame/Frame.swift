/// A screen's content: a grid of cells.
///
/// Invariants after every operation:
/// - C1: `cells.count` is `size.columns * size.rows`.
/// - C2: a cell of width 2 is followed in its row by its continuation, and a continuation follows such a cell.
/// - C3: every cell's text is harmless by the rule of ``TerminalText``.
package struct Frame: Sendable, Equatable {
    package let size: Size
    package var cursor: Point?
    /// Whether characters beyond ASCII are written as escapes.
    private let isASCII: Bool
    private(set) var cells: [Cell]

    package init(size: Size, style: Style = .plain, isASCII: Bool = false) {
        self.size = size
        self.isASCII = isASCII
        cells = Array(repeating: .blank(style: style), count: size.columns * size.rows)
    }

    package var bounds: Rect { Rect(size) }

    /// A blank outside the frame.
    package subscript(column: Int, row: Int) -> Cell {
        guard bounds.contains(Point(column: column, row: row)) else { return .blank() }
        return cells[row * size.columns + column]
    }

    /// Writes text at `point`, made harmless and clipped (to the frame if `clip` is nil). Blanks a half-clipped wide character.
    /// - Returns: the columns from `point` to the end of the text, 0 if the row is outside the clip.
    @discardableResult
    package mutating func write(
        _ text: String, at point: Point, style: Style = .plain, within clip: Rect? = nil
    ) -> Int {
        let clip = clip.map(bounds.intersection) ?? bounds
        guard point.row >= clip.row, point.row < clip.endRow, !clip.isEmpty else { return 0 }
        if let columns = writeASCII(text, at: point, style: style, clip: clip) { return columns }
        var column = point.column
        for character in isASCII ? TerminalText.ascii(text) : text {
            if column >= clip.endColumn { break }
            guard TerminalText.isHarmless(character) else {
                for visible in TerminalText.sanitized(character) where column < clip.endColumn {
                    put(visible, column: &column, row: point.row, style: style, clip: clip)
                }
                continue
            }
            put(character, column: &column, row: point.row, style: style, clip: clip)
        }
        return max(0, min(column, clip.endColumn) - point.column)
    }

    /// A fast path for printable ASCII; `nil` for other text.
    private mutating func writeASCII(_ text: String, at point: Point, style: Style, clip: Rect) -> Int? {
        let columns = text.utf8.withContiguousStorageIfAvailable { bytes -> Int? in
            guard bytes.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) else { return nil }
            let visible =
                max(
                    point.column, clip.column)..<max(
                    point.column, clip.column, min(point.column + bytes.count, clip.endColumn))
            if !visible.isEmpty {
                detach(column: visible.lowerBound, row: point.row)
                detach(column: visible.upperBound, row: point.row)
            }
            let start = point.row * size.columns
            for column in visible {
                let letter = Frame.letters[Int(bytes[column - point.column])]
                cells[start + column] = Cell(text: letter, width: 1, style: style)
            }
            return max(0, min(point.column + bytes.count, clip.endColumn) - point.column)
        }
        return columns ?? nil
    }

    private static let letters = (UInt8(0)..<0x80).map { String(UnicodeScalar($0)) }

    /// Fills a rectangle. A wide or harmful character counts as a space.
    package mutating func fill(_ rect: Rect, style: Style = .plain, character: Character = " ") {
        let rect = bounds.intersection(rect)
        guard !rect.isEmpty else { return }
        let usable = TerminalText.isHarmless(character) && TextWidth.width(of: character) == 1
        let cell = Cell(text: usable ? String(character) : " ", width: 1, style: style)
        for row in rect.row..<rect.endRow {
            detach(column: rect.column, row: row)
            detach(column: rect.endColumn, row: row)
            let start = row * size.columns
            for column in rect.column..<rect.endColumn { cells[start + column] = cell }
        }
    }

    /// Changes the style of a rectangle's cells. A wide character changes if its first half is inside.
    package mutating func restyle(_ rect: Rect, _ change: (inout Style) -> Void) {
        let rect = bounds.intersection(rect)
        guard !rect.isEmpty else { return }
        for row in rect.row..<rect.endRow {
            let start = row * size.columns
            for column in rect.column..<rect.endColumn where !cells[start + column].isContinuation {
                change(&cells[start + column].style)
                if cells[start + column].width == 2 {
                    cells[start + column + 1].style = cells[start + column].style
                }
            }
        }
    }

    /// Puts one harmless character at `column` and advances by its width.
    private mutating func put(_ character: Character, column: inout Int, row: Int, style: Style, clip: Rect) {
        let width = TextWidth.width(of: character)
        if width > 2, column >= clip.column, column + width <= clip.endColumn {
            return putParts(character, column: &column, row: row, style: style, clip: clip)
        }
        defer { column += width }
        let first = max(column, clip.column)
        let end = min(column + width, clip.endColumn)
        guard first < end else { return }
        let visible = first..<end
        detach(column: visible.lowerBound, row: row)
        detach(column: visible.upperBound, row: row)
        let start = row * size.columns
        guard visible.count == width else {
            for column in visible { cells[start + column] = .blank(style: style) }
            return
        }
        cells[start + column] = Cell(text: String(character), width: Int8(width), style: style)
        if width == 2 { cells[start + column + 1] = .continuation(style: style) }
    }

    /// Puts a cluster wider than a cell, such as joined emoji: each spacing scalar with its marks in cells of its own.
    private mutating func putParts(
        _ character: Character, column: inout Int, row: Int, style: Style, clip: Rect
    ) {
        var parts: [String.UnicodeScalarView] = []
        for scalar in character.unicodeScalars where !(0x200c...0x200d).contains(scalar.value) {
            if TextWidth.isTag(scalar) {
                if let letter = TextWidth.letter(ofTag: scalar) { parts.append(.init([letter])) }
                continue
            }
            let hasRoom = TextWidth.width(of: scalar) > 0 && !TextWidth.isSkinTone(scalar)
            if hasRoom || parts.isEmpty { parts.append(.init()) }
            parts[parts.count - 1].append(scalar)
        }
        for part in parts {
            put(Character(String(part)), column: &column, row: row, style: style, clip: clip)
        }
    }

    /// Blanks a wide character that extends over `column` from its left (C2).
    private mutating func detach(column: Int, row: Int) {
        guard column > 0, column < size.columns else { return }
        let index = row * size.columns + column
        guard cells[index].isContinuation else { return }
        cells[index - 1] = .blank(style: cells[index - 1].style)
        cells[index] = .blank(style: cells[index].style)
    }
}
