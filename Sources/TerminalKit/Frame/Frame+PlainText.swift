extension Frame {
    /// The frame's lines without trailing spaces, each with a line feed.
    package var plainText: String {
        var text = ""
        for row in 0..<size.rows {
            var line = cells[row * size.columns..<(row + 1) * size.columns]
            while line.last?.text == " " { line.removeLast() }
            for cell in line { text += cell.text }
            text += "\n"
        }
        return text
    }
}
