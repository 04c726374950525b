import TerminalCurses
import TerminalKit
import Testing

@Suite struct TraitsTests {
    @Test(arguments: [
        (["TERM": "xterm-256color"], ColorDepth.indexed256, "xterm-256color"),
        (["TERM": "xterm-256color", "COLORTERM": "truecolor"], .trueColor, "xterm-256color"),
        (["TERM": "tmux-256color", "COLORTERM": "24bit"], .trueColor, "tmux-256color"),
        (["TERM": "kitty-direct"], .trueColor, "kitty-direct"),
        (["TERM": "xterm", "NO_COLOR": "1", "COLORTERM": "truecolor"], .mono, "xterm"),
        (["TERM": "xterm", "NO_COLOR": ""], .indexed256, "xterm"),
        ([:], .indexed256, "dumb"),
    ])
    func readsEnvironment(_ environment: [String: String], _ depth: ColorDepth, _ type: String) {
        let capabilities = TerminalCapabilities(environment: environment)
        #expect(capabilities.depth == depth)
        #expect(capabilities.type == type)
    }

    /// GNU screen holds Escape back until the next key if a program uses the mouse.
    @Test func noMouseInGNUScreen() {
        func usesMouse(_ environment: [String: String]) -> Bool {
            !TerminalCapabilities(environment: environment).isGNUScreen
        }
        #expect(usesMouse(["TERM": "xterm"]) && usesMouse(["TERM": "xterm", "STY": ""]))
        #expect(usesMouse(["TERM": "screen-256color", "TMUX": "/tmp/tmux-0/default,1,0"]))
        #expect(!usesMouse(["TERM": "xterm", "STY": "1.pts-0.host"]) && !usesMouse(["TERM": "screen"]))
    }

    @Test func terminfoLimitsTheDepth() {
        let wanted = TerminalCapabilities(environment: ["TERM": "xterm", "COLORTERM": "truecolor"])
        #expect(wanted.depth(colors: 1 << 24) == .trueColor)
        #expect(wanted.depth(colors: 256) == .trueColor)
        #expect(wanted.depth(colors: 88) == .sixteen)
        #expect(wanted.depth(colors: 8) == .sixteen)
        #expect(wanted.depth(colors: 0) == .mono)
        #expect(TerminalCapabilities(environment: ["TERM": "xterm"]).depth(colors: 256) == .indexed256)
        let none = TerminalCapabilities(environment: ["NO_COLOR": "1"])
        #expect(none.depth(colors: 256) == .mono)
    }

    @Test func removesPadding() {
        #expect(TerminalModes.withoutPadding("\u{1b}[H$<50/>x$<2*>") == Array("\u{1b}[Hx".utf8))
        #expect(TerminalModes.withoutPadding("a$<b") == Array("a$<b".utf8))
        #expect(TerminalModes.withoutPadding("") == [])
    }
}

@Suite struct CellPiecesTests {
    private func pieces(_ text: String, _ width: Int, isUTF8: Bool = true) -> [String] {
        CellPieces.pieces(of: text, width: width, isUTF8: isUTF8, maximum: 5) { scalar in
            scalar == 0x378 ? -1 : Unicode.Scalar(scalar).map { TextWidth.width(of: $0) } ?? -1
        }.map { piece in
            String(String.UnicodeScalarView(piece.scalars.compactMap(Unicode.Scalar.init)))
                + "@\(piece.column)"
        }
    }

    @Test func piecesFillTheCell() {
        #expect(pieces("a", 1) == ["a@0"])
        #expect(pieces("漢", 2) == ["漢@0"])
        #expect(pieces("e\u{301}", 1) == ["e\u{301}@0"])
        #expect(pieces("🇯🇵", 2) == ["🇯@0", "🇵@1"])
        #expect(pieces("👩‍🚀", 2) == ["👩@0"])
        #expect(pieces("👍🏽", 2) == ["👍@0"])
        #expect(pieces("❤\u{fe0f}", 2) == ["❤@0", " @1"])
        #expect(pieces("❤\u{fe0f}\u{200d}🔥", 2) == ["❤@0", " @1"])
        #expect(pieces("1\u{fe0f}\u{20e3}", 2) == ["1\u{20e3}@0", " @1"])
        #expect(pieces("🏴󠁧󠁢󠁥󠁮󠁧󠁿", 2) == ["🏴@0"])
        #expect(pieces("⌚\u{fe0e}", 1) == ["\u{fffd}@0"])
        #expect(pieces("\u{378}", 1) == ["\u{fffd}@0"])
        #expect(pieces("漢", 1) == ["\u{fffd}@0"])
        #expect(pieces("漢", 2, isUTF8: false) == ["?@0", " @1"])
        #expect(pieces("e\u{301}", 1, isUTF8: false) == ["e@0"])
        let pile = "a" + String(repeating: "\u{301}", count: 9)
        #expect(pieces(pile, 1) == ["a" + String(repeating: "\u{301}", count: 4) + "@0"])
    }

    @Test func indicConjunctsKeepBothLetters() {
        #expect(pieces("क\u{94d}ष", 2) == ["क\u{94d}@0", "ष@1"])
    }
}
