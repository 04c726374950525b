import TerminalKit

/// The text view: loading bytes around the visible rows, and moving by rows.
extension ValueState {
    /// Blocks loaded before and after the visible row.
    private static let blocksBefore = 2
    private static let blocksBehind = 6

    func window(around offset: Int) -> TextWindow {
        let total = size
        let block = max(0, min(offset, total - 1)) / TextWindow.block
        let last = (total + TextWindow.block - 1) / TextWindow.block
        let blocks = max(0, block - ValueState.blocksBefore)..<min(last, block + ValueState.blocksBehind)
        func range(_ blocks: Range<Int>) -> Range<Int> {
            blocks.lowerBound * TextWindow.block..<min(total, blocks.upperBound * TextWindow.block)
        }
        if let heldBytes {
            let range = range(blocks)
            return TextWindow(
                start: range.lowerBound, bytes: Array(heldBytes[range]), total: total, isASCII: text.isASCII)
        }
        let first = blocks.last { $0 < block && stored.chunks[$0] == nil }.map { $0 + 1 } ?? blocks.lowerBound
        let known = range(first..<max(first, blocks.upperBound))
        return TextWindow(
            start: known.lowerBound, bytes: stored.bytes(known), total: total, isASCII: text.isASCII)
    }

    func textRows(_ count: Int) -> [TextRow] {
        window(around: text.top).rows(from: text.top, count: count, columns: text.columns)
    }

    mutating func moveText(by rows: Int) {
        let window = window(around: text.top)
        if rows < 0 {
            text.top = window.rowStart(-rows, before: text.top, columns: text.columns)
        } else if let last = window.rows(from: text.top, count: rows, columns: text.columns).last,
            last.range.upperBound < size
        {
            text.top = last.range.upperBound
        }
    }

    /// Keeps the visible rows within the text.
    /// - Returns: the missing chunks.
    mutating func settleText(page: Int, columns: Int) -> Range<Int>? {
        if columns != text.columns {
            text.columns = columns
            text.goal = text.goal ?? .init(offset: text.top)
        }
        guard size > 0 else {
            text.top = 0
            text.goal = nil
            return nil
        }
        if let goal = text.goal {
            let offset = min(goal.offset, size - 1)
            if let missing = missing(around: offset) { return missing }
            let window = window(around: offset)
            guard let row = window.rowStart(holding: offset, columns: columns) else { return nil }
            text.top = window.rowStart(goal.rowsAbove, before: row, columns: columns)
            text.goal = nil
        }
        text.top = min(text.top, size - 1)
        if let missing = missing(around: text.top) { return missing }
        let rows = textRows(page)
        guard rows.count < page else { return nil }
        let end = rows.last?.range.upperBound ?? text.top
        guard end == size else { return missing(around: text.top, behind: ValueState.blocksBehind) }
        text.top = window(around: text.top).rowStart(page, before: size, columns: columns)
        return nil
    }

    private func missing(around offset: Int, behind: Int = 2) -> Range<Int>? {
        guard heldBytes == nil else { return nil }
        let block = offset / StoredBytes.chunk
        let last = (size + StoredBytes.chunk - 1) / StoredBytes.chunk
        return stored.missing(of: max(0, block - ValueState.blocksBefore)..<min(last, block + behind))
    }
}
