package struct TextRow: Sendable, Hashable {
    package struct Piece: Sendable, Hashable {
        /// The displayed text, harmless by the rule of ``TerminalText``.
        package var text: String
        /// Offset of the piece's first byte in the text.
        package var offset: Int
    }

    /// The row's bytes in the text, with its line break.
    package internal(set) var range: Range<Int>
    package internal(set) var pieces: [Piece] = []

    package var text: String { pieces.map(\.text).joined() }
}
