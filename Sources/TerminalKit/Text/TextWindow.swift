/// A part of a long text, as bytes, and its rows at a width, without a list of all lines. A row begins at a line's start or
/// where the previous row is full; layout restarts at a multiple of ``block`` if the block before it has no line break.
/// Lines end with LF, CR LF or CR; invalid UTF-8 is shown as `\xNN`.
package struct TextWindow: Sendable {
    /// Bytes of a block.
    package static let block = 64 << 10
    /// Maximum bytes of a character; longer ones are split. Sixteen scalars, the most that are shown, fit.
    private static let longestCharacter = 64
    /// Columns between two tab stops.
    private static let tab = 4

    /// The offset of the part: 0, or a multiple of ``block``.
    package let start: Int
    package let bytes: [UInt8]
    /// Bytes of the whole text.
    package let total: Int
    /// Whether characters beyond ASCII are escaped.
    private let isASCII: Bool

    package init(start: Int, bytes: [UInt8], total: Int, isASCII: Bool = false) {
        self.isASCII = isASCII
        self.start = start
        self.bytes = bytes
        self.total = total
    }

    package var end: Int { start + bytes.count }
    /// End of the part whose characters are complete in the window.
    private var safeEnd: Int { end == total ? end : max(start, end - TextWindow.longestCharacter) }

    private subscript(offset: Int) -> UInt8 { bytes[offset - start] }

    private static func isBreak(_ byte: UInt8) -> Bool { byte == 0x0a || byte == 0x0d }

    // MARK: Row starts

    /// The first byte of the row that contains a byte; nil if outside the window.
    package func rowStart(holding offset: Int, columns: Int) -> Int? {
        guard let first = lineStart(at: offset) else { return nil }
        var row = first
        while let next = layout(from: row, columns: columns)?.end, next <= offset, next < total { row = next }
        return row
    }

    /// The first byte of the row `count` rows before the one that begins at `offset`, or of the window's first row.
    package func rowStart(_ count: Int, before offset: Int, columns: Int) -> Int {
        var row = offset
        var missing = count
        while missing > 0, row > 0, let first = lineStart(at: row - 1) {
            var starts = [first]
            while let last = starts.last, let next = layout(from: last, columns: columns)?.end, next < row {
                starts.append(next)
            }
            if starts.count >= missing { return starts[starts.count - missing] }
            missing -= starts.count
            row = first
        }
        return row
    }

    /// The last layout start at or before a byte.
    private func lineStart(at offset: Int) -> Int? {
        guard offset >= start, offset <= end else { return nil }
        var place = offset
        while place > start {
            if isLineStart(place) || isRestart(place) { return place }
            place -= 1
        }
        return start == 0 ? 0 : nil
    }

    private func isLineStart(_ place: Int) -> Bool {
        let before = self[place - 1]
        return before == 0x0a || before == 0x0d && (place == end || self[place] != 0x0a)
    }

    /// Whether layout restarts here within a long line.
    private func isRestart(_ place: Int) -> Bool {
        // Layout restarts at the block's first character, at most three bytes after the block's start.
        guard place % TextWindow.block < 4, place >= TextWindow.block else { return false }
        return restart(in: place / TextWindow.block) == place
    }

    /// The first byte of the block at which a character begins; nil if layout doesn't restart in this block.
    private func restart(in block: Int) -> Int? {
        let begin = block * TextWindow.block
        guard begin - TextWindow.block >= start, begin < end,
            !bytes[begin - TextWindow.block - start..<begin - start].contains(where: TextWindow.isBreak)
        else { return nil }
        return (begin..<min(end, begin + 4)).first { self[$0] & 0xc0 != 0x80 } ?? begin
    }

    // MARK: Layout

    /// Rows from the one that begins at `offset`; fewer than `count` at the end of the text or window.
    package func rows(from offset: Int, count: Int, columns: Int) -> [TextRow] {
        var rows: [TextRow] = []
        var place = offset
        while rows.count < count, place < total, let row = row(at: place, columns: columns) {
            rows.append(row)
            place = row.range.upperBound
        }
        return rows
    }

    /// The row that begins at `offset`; nil at the text's end, and if the window lacks a part of the row.
    package func row(at offset: Int, columns: Int) -> TextRow? {
        layout(from: offset, columns: columns).map {
            TextRow(range: offset..<$0.end, pieces: $0.pieces)
        }
    }

    private func layout(from offset: Int, columns: Int) -> (end: Int, pieces: [TextRow.Piece])? {
        guard offset >= start, offset < safeEnd else { return nil }
        var pieces: [TextRow.Piece] = []
        var place = offset
        var used = 0
        // The position after the last space that follows something else, where a full row is broken.
        var fold: (place: Int, pieces: Int)?
        var isIndent = true
        var stop = safeEnd
        // Evaluated only near the restart, because it reads a block of bytes.
        var next: Int? = offset / TextWindow.block + 1
        while place < stop {
            if let block = next, place + TextWindow.longestCharacter >= block * TextWindow.block {
                next = nil
                stop = min(stop, restart(in: block) ?? stop)
            }
            let byte = self[place]
            if TextWindow.isBreak(byte) { return (lineEnd(place), pieces) }
            let isSpace = byte == 0x20 || byte == 0x09
            let (text, length, width) = character(at: place, until: stop, column: used)
            if used > 0, used + width > columns {
                // A space that doesn't fit ends its row.
                if isSpace { return (place + length, pieces) }
                guard let fold else { return (place, pieces) }
                return (fold.place, Array(pieces.prefix(fold.pieces)))
            }
            pieces.append(TextRow.Piece(text: text, offset: place))
            place += length
            used += width
            if !isSpace { isIndent = false } else if !isIndent { fold = (place, pieces.count) }
        }
        return place < total && place >= safeEnd && !isRestart(place) ? nil : (place, pieces)
    }

    private func lineEnd(_ place: Int) -> Int {
        let isPair = self[place] == 0x0d && place + 1 < end && self[place + 1] == 0x0a
        return place + (isPair ? 2 : 1)
    }

    /// One displayed character: its text, bytes and columns.
    private func character(at place: Int, until stop: Int, column: Int) -> (String, Int, Int) {
        let byte = self[place]
        if byte == 0x09 {
            let columns = TextWindow.tab - column % TextWindow.tab
            return (String(repeating: " ", count: columns), 1, columns)
        }
        if byte < 0x80, place + 1 >= end || self[place + 1] < 0x80 {
            guard byte >= 0x20, byte != 0x7f else {
                let text = TerminalText.escape(Unicode.Scalar(byte))
                return (text, 1, text.utf8.count)
            }
            return (String(Unicode.Scalar(byte)), 1, 1)
        }
        return cluster(at: place, until: stop)
    }

    private func cluster(at place: Int, until stop: Int) -> (String, Int, Int) {
        var scalars = String.UnicodeScalarView()
        var next = place
        let limit = min(stop, place + TextWindow.longestCharacter)
        while next < limit, let (scalar, length) = UTF8Scalar.decode(bytes[(next - start)...]),
            next + length <= limit
        {
            scalars.append(scalar)
            next += length
        }
        guard let first = String(scalars).first else {
            let text = "\\x" + TerminalText.hexadecimal(UInt32(self[place]), digits: 2)
            return (text, 1, text.utf8.count)
        }
        let safe = TerminalText.sanitized(String(first))
        let text = isASCII ? TerminalText.ascii(safe) : safe
        return (text, first.utf8.count, TextWidth.width(of: text))
    }
}
