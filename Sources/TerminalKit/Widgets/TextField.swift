/// An editable line: text, cursor and visible part.
package struct TextField: Widget {
    /// Grapheme clusters, so the cursor is never inside one.
    private var characters: [Character]
    /// Clusters before the cursor.
    package private(set) var cursor: Int
    package var placeholder: String
    package var isActive: Bool
    package var role = Role.input
    /// Whether the text is a suggestion: typing or pasting replaces it, other keys keep it.
    package var isSuggestion = false
    /// Whether line breaks stay; otherwise they become spaces.
    package var keepsLines = false
    /// Ranges of clusters drawn in another role.
    package var highlights: [(range: Range<Int>, role: Role)] = []
    private var killed: [Character] = []

    package init(_ text: String = "", placeholder: String = "", isActive: Bool = true) {
        characters = Array(text)
        cursor = characters.count
        self.placeholder = placeholder
        self.isActive = isActive
    }

    /// The text. Setting it moves the cursor to the end.
    package var text: String {
        get { String(characters) }
        set {
            characters = Array(newValue)
            cursor = characters.count
        }
    }

    package var textBeforeCursor: String { String(characters[..<cursor]) }

    /// Clusters before a byte of the text's UTF-8.
    package func place(ofByte offset: Int) -> Int {
        var bytes = 0
        for (place, character) in characters.enumerated() {
            if bytes >= offset { return place }
            bytes += character.utf8.count
        }
        return characters.count
    }

    package mutating func moveCursor(to position: Int) { cursor = min(max(0, position), characters.count) }

    package mutating func insert(_ text: String) {
        if isSuggestion { (characters, cursor, isSuggestion) = ([], 0, false) }
        let lineBreak: Character = keepsLines ? "\n" : " "
        let before = String(characters[..<cursor]) + String(text.map { $0.isNewline ? lineBreak : $0 })
        let after = String(characters[cursor...])
        // Counts again, because clusters may join at both ends.
        cursor = before.count
        characters = Array(before + after)
        cursor = min(cursor, characters.count)
    }

    /// Replaces a range of clusters and moves the cursor after it.
    package mutating func replace(_ range: Range<Int>, with text: String) {
        let range = range.clamped(to: 0..<characters.count)
        characters.removeSubrange(range)
        cursor = range.lowerBound
        insert(text)
    }

    /// Handles a key.
    ///
    /// Characters are inserted. Left, Right, Home, End, Control-B, -F, -A and -E move; with Control or Alt, as with Alt-B and -F,
    /// by words. Backspace, Delete, Control-H and -D remove a character; Control-W and Alt-Backspace the previous word, Alt-D the
    /// next; Control-U and -K all before and after the cursor. Control-Y inserts the last removed words or lines.
    /// - Returns: whether the field handles the key.
    package mutating func handle(_ key: Key) -> Bool {
        if let character = key.text {
            insert(String(character))
            return true
        }
        let wasSuggestion = isSuggestion
        isSuggestion = false
        let byWord = !key.modifiers.isDisjoint(with: [.control, .alt])
        switch (key.code, key.modifiers) {
        case (.left, _): cursor = byWord ? wordStart : max(0, cursor - 1)
        case (.right, _): cursor = byWord ? wordEnd : min(characters.count, cursor + 1)
        case (.character("b"), .alt): cursor = wordStart
        case (.character("f"), .alt): cursor = wordEnd
        case (.character("b"), .control): cursor = max(0, cursor - 1)
        case (.character("f"), .control): cursor = min(characters.count, cursor + 1)
        case (.home, _), (.character("a"), .control): cursor = line.lowerBound
        case (.end, _), (.character("e"), .control): cursor = line.upperBound
        case (.backspace, .alt), (.backspace, .control), (.character("w"), .control): kill(wordStart..<cursor)
        case (.character("d"), .alt): kill(cursor..<wordEnd)
        case (.character("u"), .control): kill(line.lowerBound..<cursor)
        case (.character("k"), .control): kill(cursor..<line.upperBound)
        case (.character("y"), .control): yank()
        case (.backspace, _), (.character("h"), .control):
            if cursor > 0 { remove(cursor - 1..<cursor) }
        case (.delete, _), (.character("d"), .control):
            if cursor < characters.count { remove(cursor..<cursor + 1) }
        default:
            isSuggestion = wasSuggestion
            return false
        }
        return true
    }

    package mutating func yank() { insert(String(killed)) }

    private mutating func kill(_ range: Range<Int>) {
        guard !range.isEmpty else { return }
        killed = Array(characters[range])
        remove(range)
    }

    private mutating func remove(_ range: Range<Int>) {
        let before = String(characters[..<range.lowerBound])
        characters = Array(before + String(characters[range.upperBound...]))
        cursor = min(before.count, characters.count)
    }

    // MARK: Lines

    /// The clusters of each line, without line breaks; at least one line.
    private var lines: [Range<Int>] {
        var lines: [Range<Int>] = []
        var start = 0
        for (place, character) in characters.enumerated() where character.isNewline {
            lines.append(start..<place)
            start = place + 1
        }
        return lines + [start..<characters.count]
    }

    package var lineCount: Int { characters.count(where: \.isNewline) + 1 }

    private var cursorLine: Int { characters[..<cursor].count(where: \.isNewline) }

    private var line: Range<Int> { lines[cursorLine] }

    package var lineBeforeCursor: String { String(characters[line.lowerBound..<cursor]) }

    /// Moves the cursor up, or down for a positive `step`; `false` without such a line.
    package mutating func moveLine(by step: Int) -> Bool {
        let (lines, present) = (lines, cursorLine)
        guard lines.indices.contains(present + step) else { return false }
        let (from, to) = (lines[present], lines[present + step])
        cursor = min(to.lowerBound + cursor - from.lowerBound, to.upperBound)
        return true
    }

    private var wordStart: Int {
        var position = cursor
        while position > 0, !isWord(characters[position - 1]) { position -= 1 }
        while position > 0, isWord(characters[position - 1]) { position -= 1 }
        return position
    }

    private var wordEnd: Int {
        var position = cursor
        while position < characters.count, !isWord(characters[position]) { position += 1 }
        while position < characters.count, isWord(characters[position]) { position += 1 }
        return position
    }

    private func isWord(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || character == "_"
    }

    package func draw(into frame: inout Frame, in rect: Rect, look: Look) {
        guard !rect.isEmpty else { return }
        let lines = lines
        // Shows the lines that fit, including the cursor's.
        let first = max(0, min(cursorLine - rect.rows + 1, lines.count - 1))
        for (row, line) in lines[first...].prefix(rect.rows).enumerated() {
            draw(line, into: &frame, in: rect.line(row), look: look)
        }
    }

    private func draw(_ clusters: Range<Int>, into frame: inout Frame, in line: Rect, look: Look) {
        frame.fill(line, style: look[role])
        if characters.isEmpty {
            let text = TextWidth.truncate(placeholder, to: line.columns, ellipsis: look.glyphs.ellipsis)
            frame.write(text, at: line.origin, style: look[.placeholder], within: line)
        }
        let hasCursor = clusters.contains(cursor) || cursor == clusters.upperBound
        let hidden = hasCursor ? scroll(clusters, columns: line.columns, look) : 0
        var column = line.column - hidden
        for index in clusters {
            if index == cursor, isActive { frame.cursor = Point(column: column, row: line.row) }
            let special = isSuggestion ? .selected : highlights.last { $0.range.contains(index) }?.role
            let style = special.map { look[$0].over(look[role]) } ?? look[role]
            let shown = look.legible(String(characters[index]))
            frame.write(shown, at: Point(column: column, row: line.row), style: style, within: line)
            column += TextWidth.width(of: shown)
        }
        if cursor == clusters.upperBound, isActive { frame.cursor = Point(column: column, row: line.row) }
        guard line.columns >= TextField.minimumMarked else { return }
        // Marks the sides at which hidden text follows.
        for (isCut, place) in [(hidden > 0, line.column), (column > line.endColumn, line.endColumn - 1)]
        where isCut {
            let point = Point(column: place, row: line.row)
            frame.write(
                look.glyphs.ellipsis, at: point, style: look[.placeholder].over(look[role]), within: line)
        }
    }

    /// Columns of the narrowest field that marks its hidden text, so that the cursor is not under a mark.
    private static let minimumMarked = 4

    /// Columns hidden at the left so that the cursor, its character and, if text follows, a mark are visible.
    private func scroll(_ clusters: Range<Int>, columns: Int, _ look: Look) -> Int {
        let before = TextWidth.width(of: look.legible(String(characters[clusters.lowerBound..<cursor])))
        let under =
            cursor < clusters.upperBound ? TextWidth.width(of: look.legible(String(characters[cursor]))) : 1
        let mark = columns >= TextField.minimumMarked && cursor + 1 < clusters.upperBound ? 1 : 0
        return max(0, before + min(under, columns) + mark - columns)
    }
}
