extension Frame {
    /// The frame's lines, each with a line feed; without trailing spaces unless `keepingTrailingSpaces`.
    package func plainText(keepingTrailingSpaces: Bool = false) -> String {
        var text = ""
        for row in 0..<size.rows {
            var line = cells[row * size.columns..<(row + 1) * size.columns]
            if !keepingTrailingSpaces {
                while line.last?.text == " " { line.removeLast() }
            }
            for cell in line { text += cell.text }
            text += "\n"
        }
        return text
    }

    package var plainText: String { plainText() }
}
