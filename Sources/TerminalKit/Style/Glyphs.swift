/// The signs that widgets draw with, in Unicode or in ASCII for terminals that can't show it. Each is one
/// column wide. A value; safe to share between threads.
public struct Glyphs: Sendable, Equatable {
    public var horizontal: Character, vertical: Character
    public var topLeft: Character, topRight: Character, bottomLeft: Character, bottomRight: Character
    /// A horizontal line that meets the left and the right border.
    public var teeRight: Character, teeLeft: Character
    public var ascending: Character, descending: Character
    public var folded: Character, unfolded: Character, leaf: Character
    public var marked: Character, bullet: Character, pointer: Character
    public var ellipsis: String
    public var scrollTrack: Character, scrollThumb: Character
    public var gaugeEmpty: Character
    /// A cell filled from the left, from an eighth to all of it; ASCII knows only all of it.
    public var gaugeSteps: [Character]
    /// A cell filled from the bottom, from least to all.
    public var sparkSteps: [Character]
    /// The phases of a sign for work whose end isn't known.
    public var spinner: [Character]

    public static let unicode = Glyphs(
        horizontal: "─", vertical: "│", topLeft: "┌", topRight: "┐", bottomLeft: "└", bottomRight: "┘",
        teeRight: "├", teeLeft: "┤", ascending: "▲", descending: "▼", folded: "▸", unfolded: "▾", leaf: "·",
        marked: "●", bullet: "•", pointer: "▶", ellipsis: "…", scrollTrack: "│", scrollThumb: "█",
        gaugeEmpty: "░", gaugeSteps: Array("▏▎▍▌▋▊▉█"), sparkSteps: Array("▁▂▃▄▅▆▇█"),
        spinner: Array("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"))

    public static let ascii = Glyphs(
        horizontal: "-", vertical: "|", topLeft: "+", topRight: "+", bottomLeft: "+", bottomRight: "+",
        teeRight: "+", teeLeft: "+", ascending: "^", descending: "v", folded: "+", unfolded: "-", leaf: ".",
        marked: "*", bullet: "*", pointer: ">", ellipsis: "~", scrollTrack: "|", scrollThumb: "#",
        gaugeEmpty: ".", gaugeSteps: ["#"], sparkSteps: Array("_.-=+*%#"), spinner: Array("|/-\\"))
}

/// What a widget needs to know to draw: the theme and the signs. A value; safe to share between threads.
public struct Look: Sendable, Equatable {
    public var theme: Theme
    public var glyphs: Glyphs

    public init(theme: Theme, glyphs: Glyphs = .unicode) {
        self.theme = theme
        self.glyphs = glyphs
    }

    public subscript(role: Role) -> Style { theme[role] }
}
