package enum TextWrap {
    /// Wraps text to at most `columns`, at spaces if possible and at its line breaks. The lines are harmless. O(length).
    package static func lines(_ text: String, columns: Int) -> [String] {
        guard columns > 0 else { return [] }
        return text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            .flatMap { paragraph($0, columns: columns) }
    }

    /// Cuts a line into pieces of at most `columns`, keeping all spaces; a tab becomes four. The pieces are harmless.
    /// - Parameter most: maximum number of pieces; the rest of a long line is not read.
    package static func pieces(_ line: some StringProtocol, columns: Int, most: Int = .max) -> [String] {
        var (pieces, piece, used): ([String], String, Int) = ([], "", 0)
        for character in line {
            let shown =
                character == "\t"
                ? "    "
                : TerminalText.isHarmless(character) ? String(character) : TerminalText.sanitized(character)
            for visible in shown {
                let width = TextWidth.width(of: visible)
                if used + width > columns, used > 0 {
                    pieces.append(piece)
                    guard pieces.count < most else { return pieces }
                    (piece, used) = ("", 0)
                }
                piece.append(visible)
                used += width
            }
        }
        return pieces + [piece]
    }

    private static func paragraph(_ text: Substring, columns: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        var used = 0
        for word in TerminalText.sanitized(String(text)).split(
            separator: " ", omittingEmptySubsequences: false)
        {
            let width = TextWidth.width(of: word)
            if used > 0, used + 1 + width > columns {
                lines.append(line)
                line = ""
                used = 0
            } else if used > 0 || !line.isEmpty {
                line += " "
                used += 1
            }
            if width <= columns {
                line += word
                used += width
                continue
            }
            // Cuts a word that is longer than a line.
            for character in word {
                let width = TextWidth.width(of: character)
                if used + width > columns, used > 0 {
                    lines.append(line)
                    line = ""
                    used = 0
                }
                guard width <= columns else { continue }
                line.append(character)
                used += width
            }
        }
        lines.append(line)
        return lines
    }
}
