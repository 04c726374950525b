/// One cell of a frame. A wide character takes two: one with its text and width 2, then a ``continuation(style:)`` of width 0.
package struct Cell: Sendable, Hashable {
    /// One grapheme cluster, harmless to a terminal; empty in a continuation.
    package let text: String
    package let width: Int8
    package var style: Style

    package static func blank(style: Style = .plain) -> Cell { Cell(text: " ", width: 1, style: style) }

    static func continuation(style: Style) -> Cell { Cell(text: "", width: 0, style: style) }

    package var isContinuation: Bool { width == 0 }
}
