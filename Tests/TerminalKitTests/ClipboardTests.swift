import Foundation
import TerminalKit
import Testing

struct ClipboardTests {
    private static let start = "\u{1b}]52;c;"

    @Test(arguments: [
        (["TERM": "xterm-256color"], Clipboard.direct), (["TERM": "foot"], .direct),
        (["TERM": "tmux-256color"], .tmux),
        (["TERM": "screen-256color", "TMUX": "/tmp/tmux-0/default,1,0"], .tmux),
        (["TERM": "xterm-256color", "TMUX": "/tmp/tmux-0/default,1,0"], .tmux),
        (["TERM": "screen.xterm-256color", "STY": "1.pts"], .screen), (["TERM": "screen"], .screen),
        (["TERM": "xterm", "STY": "1.pts"], .screen), (["TERM": "xterm", "TMUX": "", "STY": ""], .direct),
        (["TERM": "linux"], .none(type: "linux")), (["TERM": "vt100"], .none(type: "vt100")),
        (["TERM": "dumb"], .none(type: "dumb")), ([:], .none(type: "")),
    ])
    func clipboardFollowsEnvironment(environment: [String: String], clipboard: Clipboard) {
        #expect(Clipboard(environment: environment) == clipboard)
    }

    @Test(
        "sends any bytes as base64 that Foundation decodes",
        arguments: [0, 1, 2, 3, 4, 57, 1_000, Clipboard.maximumBytes])
    func sendsBase64(count: Int) throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 151 &+ 27) }
        let text = String(decoding: try #require(Clipboard.direct.sequence(for: bytes)), as: UTF8.self)
        #expect(text.hasPrefix(Self.start) && text.hasSuffix("\u{7}"))
        let base64 = text.dropFirst(Self.start.count).dropLast()
        #expect(Data(base64Encoded: String(base64)) == Data(bytes))
        #expect(base64.utf8.count <= Clipboard.maximumBase64)
    }

    @Test func refusesLongTextAndMissingClipboard() {
        let long = [UInt8](repeating: 65, count: Clipboard.maximumBytes + 1)
        #expect(Clipboard.direct.sequence(for: long) == nil)
        #expect(Clipboard.none(type: "linux").sequence(for: [65]) == nil)
    }

    @Test func sendsPlainAndWrappedToTmux() throws {
        let text = String(
            decoding: try #require(Clipboard.tmux.sequence(for: Array("key".utf8))), as: UTF8.self)
        #expect(text == "\u{1b}]52;c;a2V5\u{7}\u{1b}Ptmux;\u{1b}\u{1b}]52;c;a2V5\u{7}\u{1b}\\")
    }

    /// GNU screen accepts strings of at most 256 bytes, and joins those that it passes on.
    @Test func sendsPiecesToScreen() throws {
        let bytes = [UInt8](repeating: 0x1b, count: 1_000)
        let sent = try #require(Clipboard.screen.sequence(for: bytes))
        let pieces = String(decoding: sent, as: UTF8.self).components(separatedBy: "\u{1b}\\")
        #expect(pieces.last == "")
        #expect(pieces.dropLast().allSatisfy { $0.hasPrefix("\u{1b}P") && $0.utf8.count <= 254 })
        let joined = pieces.dropLast().map { $0.dropFirst(2) }.joined()
        #expect(Array(joined.utf8) == Clipboard.direct.sequence(for: bytes))
    }
}
