package struct HexDump: Widget {
    package var count: Int
    /// The first visible row, of ``bytesPerRow(columns:)`` bytes each.
    package var firstRow: Int
    package var highlights: [Range<Int>]
    /// Reads a range within `0..<count`; called only for the visible range.
    package var bytes: @Sendable (Range<Int>) -> [UInt8]

    package init(
        count: Int, firstRow: Int = 0, highlights: [Range<Int>] = [],
        bytes: @escaping @Sendable (Range<Int>) -> [UInt8]
    ) {
        self.count = count
        self.firstRow = firstRow
        self.highlights = highlights
        self.bytes = bytes
    }

    /// The largest of 32, 16, 8, 4, 2 and 1 bytes that fits. A row has the offset and two spaces; three columns a byte, with a
    /// space before each further group of eight; then a space and one column a byte.
    package func bytesPerRow(columns: Int) -> Int {
        [32, 16, 8, 4, 2].first { offsetDigits + 2 + 4 * $0 + max(0, $0 / 8 - 1) + 1 <= columns } ?? 1
    }

    package static func lines(_ bytes: [UInt8], each: Int) -> [String] {
        stride(from: 0, to: bytes.count, by: each).map { start in
            let row = bytes[start..<min(start + each, bytes.count)]
            let digits = row.map { TerminalText.hexadecimal(UInt32($0), digits: 2) }.joined(separator: " ")
            let text = row.map { $0 >= 0x20 && $0 < 0x7f ? String(UnicodeScalar($0)) : "." }.joined()
            let gap = String(repeating: " ", count: 3 * (each - row.count) + 2)
            return "\(TerminalText.hexadecimal(UInt32(start), digits: 6))  \(digits)\(gap)\(text)"
        }
    }

    package func rowCount(columns: Int) -> Int {
        let each = bytesPerRow(columns: columns)
        return (count + each - 1) / each
    }

    package func draw(into frame: inout Frame, in rect: Rect, look: Look) {
        guard !rect.isEmpty else { return }
        frame.fill(rect, style: look[.text])
        let content = rect.inset(right: 1)
        let each = bytesPerRow(columns: content.columns)
        let total = rowCount(columns: content.columns)
        let first = max(0, min(firstRow, total))
        for offset in 0..<min(rect.rows, total - first) {
            let start = (first + offset) * each
            let line = content.line(offset)
            drawRow(bytes(start..<min(start + each, count)), start, each, into: &frame, line, look)
        }
        ScrollBar(total: total, first: first, visible: rect.rows).draw(into: &frame, in: rect, look: look)
    }

    private func drawRow(
        _ row: [UInt8], _ start: Int, _ each: Int, into frame: inout Frame, _ line: Rect, _ look: Look
    ) {
        let offset = TerminalText.hexadecimal(UInt32(truncatingIfNeeded: start), digits: offsetDigits)
        frame.write(offset, at: line.origin, style: look[.dim], within: line)
        let hexColumn = line.column + offsetDigits + 2
        let textColumn = hexColumn + 3 * each + max(0, each / 8 - 1) + 1
        for (index, byte) in row.enumerated() {
            let isMatch = highlights.contains { $0.contains(start + index) }
            let isText = byte >= 0x20 && byte < 0x7f
            let style = look[isMatch ? .match : byte == 0 ? .dim : isText ? .text : .accent]
            frame.write(
                TerminalText.hexadecimal(UInt32(byte), digits: 2),
                at: Point(column: hexColumn + 3 * index + index / 8, row: line.row), style: style,
                within: line)
            frame.write(
                isText ? String(UnicodeScalar(byte)) : ".",
                at: Point(column: textColumn + index, row: line.row), style: style, within: line)
        }
    }

    private var offsetDigits: Int { count > 0x100_0000 ? 8 : 6 }
}
