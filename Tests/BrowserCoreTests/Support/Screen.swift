import BrowserCore
import TerminalKit

/// What a person reads on a screen, as tests ask for it.
extension Frame {
    var lines: [String] {
        plainText.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// The lines within the box that stands over the screen, each as its words. Left of the box is no other vertical line.
    var boxLines: [String] {
        lines.compactMap { line in
            let parts = line.split(separator: "│", omittingEmptySubsequences: false)
            return parts.count < 3 ? nil : parts[1].split { " █".contains($0) }.joined(separator: " ")
        }
    }

    /// The words in that box, as if none of its lines were wrapped.
    var boxWords: String { boxLines.joined(separator: " ") }

    /// The cells of a text in a row; none if it isn't there.
    func cells(of text: String, row: Int) -> [Cell] {
        let wanted = text.map(String.init)
        for start in 0..<max(0, size.columns - wanted.count + 1) {
            let cells = wanted.indices.map { self[start + $0, row] }
            if cells.map(\.text) == wanted { return cells }
        }
        return []
    }
}

extension HeadlessBrowser {
    /// The key that the pane says its value is of, as it stands there: cut where it is long. Nil where the pane shows no
    /// value, or something stands over its head. For screens in the look ``Fixture/unicode``.
    var paneKey: String? {
        let frame = frame
        // Above the footer nothing else is drawn so.
        let style = Fixture.unicode[.accent].adding(.bold)
        for row in 0..<frame.size.rows {
            guard let start = (0..<frame.size.columns).first(where: { frame[$0, row].style == style }) else {
                continue
            }
            let cells = (start..<frame.size.columns).map { frame[$0, row] }.prefix { $0.style == style }
            let text = cells.map(\.text).joined()
            guard start >= 2, text.hasSuffix("  ") else { return nil }
            switch (frame[start - 2, row].text, frame[start - 1, row].text) {
            case ("─", "─") where text.hasPrefix(" "): return String(text.dropFirst().dropLast(2))
            case ("│", " "): return String(text.dropLast(2))
            default: return nil
            }
        }
        return nil
    }

    /// What the pane and the cursor say where they disagree; nil: they don't, or one of them has no key.
    var disagreement: String? {
        guard model.screen == .entries, let shown = paneKey, let key = model.cursorKey else { return nil }
        let whole = TerminalText.sanitized(key)
        let isSame =
            shown.hasSuffix("…") ? whole.hasPrefix(shown.dropLast()) || whole == shown : whole == shown
        return isSame ? nil : "the pane shows \(shown), the cursor is on \(whole)"
    }
}
