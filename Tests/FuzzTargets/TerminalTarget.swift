import TerminalKit

/// Arbitrary bytes as terminal input: the same events in any pieces, and no pending input after a flush.
package struct TerminalTarget: FuzzTarget {
    package static let name = "terminal"
    package init() {}

    package mutating func run(_ input: [UInt8]) -> String? {
        let piece = Int(input.first ?? 0) % 7 + 1
        let bytes = Array(input.dropFirst())
        var whole = InputDecoder()
        let events = whole.feed(bytes) + whole.flush()
        var pieces = InputDecoder()
        var other: [InputEvent] = []
        for start in stride(from: 0, to: bytes.count, by: piece) {
            other += pieces.feed(bytes[start..<min(bytes.count, start + piece)])
        }
        other += pieces.flush()
        if events != other { return "in pieces of \(piece) events differ" }
        if whole.deadline != nil || pieces.deadline != nil { return "something waits after a flush" }
        var clicks = ClickRecognizer()
        for (time, event) in events.enumerated() {
            if case .mouse(let mouse) = event { _ = clicks.events(for: mouse, at: UInt64(time) * 50) }
            guard case .key(let key) = event else { continue }
            if (try? Key(parsing: key.description)) == nil { return "no spelling: \(key)" }
        }
        let text = String(decoding: bytes, as: UTF8.self)
        _ = try? Key.script(text)
        if TerminalText.sanitized(text).unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7f }
        ) {
            return "a control character got through"
        }
        return nil
    }

    package static func seeds() -> [[UInt8]] {
        [
            "a\u{1b}[1;5C漢\u{1b}[<0;3;4Mz\u{1b}[200~p\u{1b}[A漢\u{1b}[201~\u{1b}OA",
            "\u{1b}[M %*\u{1b}[<64;5;10M\u{1b}[I",
            "\u{1b}\u{1b}[A\u{1b}[27;5;13~\u{1b}[97;5u", "jj<enter>/f<lt><ctrl+w><esc>>",
            "e\u{301}\u{200d}👩‍🚀\u{9b}A",
        ].map { [1] + Array($0.utf8) }
    }
}
