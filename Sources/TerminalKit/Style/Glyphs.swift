/// The characters that widgets draw with, in Unicode or ASCII. Each is one column wide.
package struct Glyphs: Sendable, Equatable {
    package var horizontal: Character, vertical: Character
    package var topLeft: Character, topRight: Character, bottomLeft: Character, bottomRight: Character
    /// Horizontal lines that meet the left and the right border.
    package var teeRight: Character, teeLeft: Character
    package var ascending: Character, descending: Character
    package var folded: Character, unfolded: Character, leaf: Character
    package var favorite: Character, marked: Character, bullet: Character, pointer: Character
    package var ellipsis: String
    package var scrollTrack: Character, scrollThumb: Character
    package var gaugeEmpty: Character
    /// A cell filled from the left, from an eighth to full; in ASCII only full.
    package var gaugeSteps: [Character]
    /// A cell filled from the bottom, from least to full.
    package var sparkSteps: [Character]
    package var spinner: [Character]

    package static let unicode = Glyphs(
        horizontal: "─", vertical: "│", topLeft: "┌", topRight: "┐", bottomLeft: "└", bottomRight: "┘",
        teeRight: "├", teeLeft: "┤", ascending: "▲", descending: "▼", folded: "▸", unfolded: "▾", leaf: "·",
        favorite: "★", marked: "●", bullet: "•", pointer: "▶", ellipsis: "…", scrollTrack: "│",
        scrollThumb: "█",
        gaugeEmpty: "░", gaugeSteps: Array("▏▎▍▌▋▊▉█"), sparkSteps: Array("▁▂▃▄▅▆▇█"),
        spinner: Array("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"))

    package static let ascii = Glyphs(
        horizontal: "-", vertical: "|", topLeft: "+", topRight: "+", bottomLeft: "+", bottomRight: "+",
        teeRight: "+", teeLeft: "+", ascending: "^", descending: "v", folded: "+", unfolded: "-", leaf: ".",
        favorite: "*", marked: "*", bullet: "*", pointer: ">", ellipsis: "~", scrollTrack: "|",
        scrollThumb: "#",
        gaugeEmpty: ".", gaugeSteps: ["#"], sparkSteps: Array("_.-=+*%#"), spinner: Array("|/-\\"))
}

/// The theme and glyphs for widgets.
package struct Look: Sendable, Equatable {
    package var theme: Theme
    package var glyphs: Glyphs

    package init(theme: Theme, glyphs: Glyphs = .unicode) {
        self.theme = theme
        self.glyphs = glyphs
    }

    package subscript(role: Role) -> Style { theme[role] }

    package var isASCII: Bool { glyphs == .ascii }

    /// Escapes characters beyond ASCII if only ASCII can be shown, so that no two texts look alike.
    package func legible(_ text: String) -> String { isASCII ? TerminalText.ascii(text) : text }
}
