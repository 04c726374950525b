import TerminalKit

/// How a cell is sent so that every terminal gives it the columns that the frame does. Stateless.
///
/// Terminals disagree about the width of emoji that are joined or chosen by a selector, so such a cluster is sent in
/// a form on which they agree: the first emoji of a joined sequence, an emoji without its selector followed by a
/// blank, and a black flag without the tags that name a region. What the locale can't show is a replacement sign.
package enum CellPieces {
    /// One spacing character with combining ones, at a column within the cell.
    package struct Piece: Equatable {
        package var column: Int
        package var scalars: [UInt32]

        package init(column: Int, scalars: [UInt32]) {
            self.column = column
            self.scalars = scalars
        }
    }

    /// The pieces of a cell, which fill its width.
    /// - Parameters:
    ///   - maximum: scalars that fit in one piece.
    ///   - columns: the columns of a scalar on this system, -1 when it can't be shown.
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
            // What follows a joiner after a wide emoji would be a second emoji.
            if value == 0x200d, used == width { break }
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
