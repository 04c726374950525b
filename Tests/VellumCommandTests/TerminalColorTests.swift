import Foundation
import Testing

/// The colors that the program sends to a terminal.
struct TerminalColorTests {
    private let store: TestStore

    init() throws {
        store = TestStore()
        try store.done("put", "City", "oslo", input: "{\"name\":\"Oslo\",\"size\":709037}")
        try store.done("put", "City", "bergen", input: "{\"name\":\"Bergen\",\"size\":291189}")
    }

    /// The output of some screens, without the user's own variables.
    private func walk(_ environment: [String: String]) async throws -> String {
        let variables = ["COLORTERM": "", "NO_COLOR": "", "TMUX": "", "STY": ""].merging(environment) { $1 }
        let (status, text) = try await PseudoTerminal.run(
            "--store '\(store.path)'",
            typing: [
                ("City", "\r"), ("bergen", "\r"), ("291189", "h"), ("oslo", "Q"), ("for example", "\u{1b}"),
                ("oslo", "?"), ("type to search", "\u{1b}"), ("oslo", "E"), ("recorded", "\u{3}"),
            ], environment: variables)
        #expect(status == 0, "\(text.suffix(1000))")
        return text
    }

    /// Regression: gray was sent as bold black, which is unreadable on black.
    @Test(arguments: ["xterm", "screen", "linux"])
    func eightColorsAvoidBoldBlack(_ type: String) async throws {
        let text = try await walk(["TERM": type])
        let styles = Set(ShownStyle.styles(of: text))
        #expect(styles.contains { $0.foreground != nil }, "no color was sent")
        #expect(styles.contains { $0.isBold }, "nothing was bold")
        // Only eight colors, so gray would be bold black.
        #expect(!text.contains("38;5;") && !text.contains("38;2;"))
        for style in styles {
            #expect(style.foreground.map { (0..<8).contains($0) } ?? true, "\(style)")
            #expect(!(style.isBold && style.foreground == 0), "\(style)")
            #expect(!(style.foreground == 0 && style.background == nil), "\(style)")
            // Bright white and yellow are unreadable on white.
            let isOnItsOwnGround = style.background == nil && style.isBold
            #expect(!(isOnItsOwnGround && [3, 7].contains(style.foreground)), "\(style)")
        }
    }

    @Test func sends24BitColors() async throws {
        let direct = /\u{1b}\[[0-9;]*[34]8[;:]2[;:]/
        let full = try await walk(["COLORTERM": "truecolor"])
        #expect(full.contains(direct))
        #expect(!full.contains("38;5;"), "a color of 256 beside those of 24 bits")
        let without = try await walk([:])
        #expect(!without.contains(direct))
        #expect(without.contains("38;5;"))
    }
}

/// The style of a character on a terminal of eight colors; nil is the terminal's default color.
private struct ShownStyle: Hashable {
    var isBold = false
    var foreground: Int?
    var background: Int?

    /// The styles of all visible characters in terminal output.
    static func styles(of text: String) -> [ShownStyle] {
        var style = ShownStyle()
        var styles: [ShownStyle] = []
        // Sequences that set styles, other sequences, and text.
        let pattern = /\u{1b}\[([0-9;]*)m|\u{1b}(?:\[[0-9;?]*[A-Za-z]|[()].|\][^\u{7}]*\u{7}|.)|[^\u{1b}]+/
        for match in text.matches(of: pattern) {
            if let codes = match.1 {
                style.obey(codes.split(separator: ";", omittingEmptySubsequences: false).map { Int($0) ?? 0 })
            } else if !match.0.hasPrefix("\u{1b}"), match.0.contains(where: { !$0.isWhitespace }) {
                styles.append(style)
            }
        }
        return styles
    }

    private mutating func obey(_ codes: [Int]) {
        for code in codes {
            switch code {
            case 0: self = ShownStyle()
            case 1: isBold = true
            case 22: isBold = false
            case 30...37: foreground = code - 30
            case 39: foreground = nil
            case 40...47: background = code - 40
            case 49: background = nil
            case 90...97: foreground = code - 82
            default: break
            }
        }
    }
}
