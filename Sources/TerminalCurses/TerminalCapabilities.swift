import TerminalKit

/// A terminal's capabilities, from the environment and its terminfo entry.
package struct TerminalCapabilities: Sendable, Hashable {
    /// The depth that the environment requests.
    package var depth: ColorDepth
    package var type: String
    /// Whether it is GNU screen. Mouse reporting would delay an Escape until the next key, so it stays off. The alternate
    /// screen is off unless the user configured it, although terminfo lists it.
    package var isGNUScreen: Bool

    /// Whether the terminal obeys or ignores the private modes of ``TerminalModes``, as xterm-compatible terminals do. Their
    /// terminfo entries have a mouse. So has that of the Linux console (for gpm), but the console may print the modes.
    package func knowsModes(hasMouse: Bool) -> Bool { hasMouse && !type.hasPrefix("linux") }

    /// Reads the environment: non-empty `NO_COLOR` turns colors off (<https://no-color.org>); `COLORTERM` of `truecolor` or
    /// `24bit`, or a type ending in `-direct`, gives 24-bit colors; otherwise terminfo decides.
    package init(environment: [String: String]) {
        type = environment["TERM"] ?? "dumb"
        isGNUScreen =
            environment["STY"]?.isEmpty == false || type.hasPrefix("screen") && environment["TMUX"] == nil
        depth = .indexed256
        if environment["NO_COLOR"]?.isEmpty == false {
            depth = .mono
        } else if type.hasSuffix("-direct")
            || ["truecolor", "24bit"].contains(environment["COLORTERM"] ?? "")
        {
            depth = .trueColor
        }
    }

    /// The color depth that a terminfo entry allows. An entry with 256 colors is enough for 24 bits: see ``DirectPalette``.
    package func depth(colors: Int) -> ColorDepth {
        let possible: ColorDepth =
            switch colors {
            case 256...: .trueColor
            case 8...: .sixteen
            default: .mono
            }
        return min(depth, possible)
    }
}

/// Terminal modes that terminfo has no names for.
package enum TerminalModes {
    /// Mouse buttons (1000), drags (1002), coordinates in decimal (1006), bracketed paste (2004), focus (1004).
    static func enter(mouse: Bool) -> [UInt8] {
        Array("\u{1b}[?\(mouse ? "1000;1002;1006;" : "")2004;1004h".utf8)
    }
    static func mouse(_ isOn: Bool) -> [UInt8] { Array("\u{1b}[?1000;1002;1006\(isOn ? "h" : "l")".utf8) }
    static let leave: [UInt8] = Array("\u{1b}[?2026l\u{1b}[?1000;1002;1006;2004;1004l".utf8)
    /// Begins an atomic update: <https://gist.github.com/christianparpart/d8a62cc1ab659194337d73e399004036>.
    static let beginUpdate: [UInt8] = Array("\u{1b}[?2026h".utf8)
    static let endUpdate: [UInt8] = Array("\u{1b}[?2026l".utf8)

    /// A terminfo string without its padding, `$<5*/>`.
    package static func withoutPadding(_ capability: String) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = Array(capability.utf8)[...]
        while let first = rest.first {
            if rest.starts(with: Array("$<".utf8)), let end = rest.firstIndex(of: UInt8(ascii: ">")) {
                rest = rest[(end + 1)...]
            } else {
                bytes.append(first)
                rest = rest.dropFirst()
            }
        }
        return bytes
    }
}
