/// One row of a text that is wrapped to a width. A value; safe to share between threads.
package struct TextRow: Sendable, Hashable {
    /// A piece of the row that stands or falls as a whole: a character as it is shown.
    package struct Piece: Sendable, Hashable {
        /// Harmless by the rule of ``TerminalText``.
        package var text: String
        /// Its first byte in the text.
        package var offset: Int
    }

    /// The bytes of the text that the row stands for, with its line break.
    package internal(set) var range: Range<Int>
    package internal(set) var pieces: [Piece] = []

    package var text: String { pieces.map(\.text).joined() }
}
