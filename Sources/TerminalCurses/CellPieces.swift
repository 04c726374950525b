import TerminalKit

/// Splits a cell's text into pieces that all terminals show with the same width: emoji without skin tones, and with a blank in
/// place of the selector. Characters outside the locale become a replacement character.
package enum CellPieces {
    /// A spacing character with its combining characters, at a column of the cell.
    package struct Piece: Equatable {
        package var column: Int
        package var scalars: [UInt32]
    }

    /// `maximum`: limit of scalars in a piece. `columns`: a scalar's width on this system, or -1 if it can't be shown.
    package static func pieces(
        of text: String, width: Int, isUTF8: Bool, maximum: Int, columns: (UInt32) -> Int
    ) -> [Piece] {
        var pieces: [Piece] = []
        var used = 0
        for scalar in text.unicodeScalars {
            let value = scalar.value
            let own = isUTF8 || scalar.isASCII ? columns(value) : -1
            if own > 0, used + own <= width {
                pieces.append(Piece(column: used, scalars: [value]))
                used += own
            } else if own == 0, let last = pieces.indices.last {
                let isSelector = (0xfe0e...0xfe0f).contains(value) || (0xe0020...0xe007f).contains(value)
                if !isSelector, pieces[last].scalars.count < maximum { pieces[last].scalars.append(value) }
            } else {
                break
            }
        }
        if let last = pieces.indices.last, pieces[last].scalars.last == 0x200d {
            pieces[last].scalars.removeLast()
        }
        if pieces.isEmpty {
            pieces = [Piece(column: 0, scalars: [isUTF8 ? 0xfffd : 0x3f])]
            used = 1
        }
        while used < width {
            pieces.append(Piece(column: used, scalars: [0x20]))
            used += 1
        }
        return pieces
    }
}
