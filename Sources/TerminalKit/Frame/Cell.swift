/// One cell of a frame. A value; safe to share between threads.
///
/// A wide character takes two cells: the first holds its text and width 2, the second is the
/// ``continuation(style:)``, whose text is empty and whose width is 0.
package struct Cell: Sendable, Hashable {
    /// One grapheme cluster, harmless to a terminal; empty in a continuation.
    package let text: String
    /// 1 or 2 columns, or 0 for the continuation of a wide cell.
    package let width: Int8
    package var style: Style

    package static func blank(style: Style = .plain) -> Cell { Cell(text: " ", width: 1, style: style) }

    static func continuation(style: Style) -> Cell { Cell(text: "", width: 0, style: style) }

    package var isContinuation: Bool { width == 0 }
}
