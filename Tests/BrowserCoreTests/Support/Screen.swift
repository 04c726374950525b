import BrowserCore
import Foundation
import TerminalKit
import Testing

/// The text of a screen.
extension Frame {
    var lines: [String] {
        plainText.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// The lines in the box over the screen, as words: a dialog, or else the box with the leftmost vertical line.
    var boxLines: [String] {
        for row in 0..<size.rows {
            for column in 0..<size.columns - 1
            where self[column, row].text == "┌" && self[column + 1, row].text == " " {
                return dialogLines(column, row)
            }
        }
        return lines.compactMap { line in
            let parts = line.split(separator: "│", omittingEmptySubsequences: false)
            return parts.count < 3 ? nil : parts[1].split { " █".contains($0) }.joined(separator: " ")
        }
    }

    private func dialogLines(_ column: Int, _ row: Int) -> [String] {
        let end = (column..<size.columns).first { self[$0, row].text == "┐" } ?? size.columns
        return (row + 1..<size.rows).prefix { self[column, $0].text == "│" }.map { row in
            (column + 1..<end).map { self[$0, row].text }.joined().split { " │█".contains($0) }
                .joined(separator: " ")
        }
    }

    /// The words in that box, without line breaks.
    var boxWords: String { boxLines.joined(separator: " ") }

    /// The cells of a text in a row; empty if absent.
    func cells(of text: String, row: Int) -> [Cell] {
        let wanted = text.map(String.init)
        for start in 0..<max(0, size.columns - wanted.count + 1) {
            let cells = wanted.indices.map { self[start + $0, row] }
            if cells.map(\.text) == wanted { return cells }
        }
        return []
    }
}

/// A screen whose text tests expect.
protocol ScreenText {
    var text: String { get }
}

extension ScreenText {
    /// Expects the texts on the screen, and `hidden` ones not.
    func expect(
        shows shown: String..., hides hidden: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) {
        expect(shown, hidden, sourceLocation)
    }

    fileprivate func expect(_ shown: [String], _ hidden: [String], _ sourceLocation: SourceLocation) {
        let text = text
        for expected in shown { #expect(text.contains(expected), "\(text)", sourceLocation: sourceLocation) }
        for absent in hidden { #expect(!text.contains(absent), "\(text)", sourceLocation: sourceLocation) }
    }
}

extension UpdateTest: ScreenText {}

extension HeadlessBrowser: ScreenText {
    var text: String { frame.plainText }
    var lines: [String] { frame.lines }
    var boxLines: [String] { frame.boxLines }
    var boxWords: String { frame.boxWords }

    /// The text that the only sent sequence copies.
    func copied() throws -> String {
        try #require(sent.count == 1)
        let base64 = String(decoding: sent[0], as: UTF8.self).dropFirst("\u{1b}]52;c;".count).dropLast()
        return String(decoding: try #require(Data(base64Encoded: String(base64))), as: UTF8.self)
    }

    /// Presses the keys of a script. Expects texts on the screen, or in one of its rows, and `hidden` ones not; also the key under
    /// the cursor, the message and the kind of screen, where given.
    mutating func press(
        _ script: String, row: Int? = nil, shows shown: String..., hides hidden: String...,
        cursor key: String? = nil, says message: String? = nil, on screen: Screen? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        press(try Key.script(script))
        let text = shown.isEmpty && hidden.isEmpty ? "" : row.map { lines[$0] } ?? text
        for expected in shown {
            #expect(text.contains(expected), "\(self.text)", sourceLocation: sourceLocation)
        }
        for absent in hidden {
            #expect(!text.contains(absent), "\(self.text)", sourceLocation: sourceLocation)
        }
        if let key { #expect(model.cursorKey == key, "\(self.text)", sourceLocation: sourceLocation) }
        if let message { #expect(model.said == message, "\(self.text)", sourceLocation: sourceLocation) }
        if let screen { #expect(model.screen == screen, "\(self.text)", sourceLocation: sourceLocation) }
    }

    /// The key in the title of the pane, cut if long. Nil without a value, or if the title is covered. For the look
    /// ``Fixture/unicode``.
    var paneKey: String? {
        let frame = frame
        // Nothing else above the footer has this style.
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

    /// The difference between the keys of pane and cursor; nil: none, or a key is missing.
    var disagreement: String? {
        guard model.screen == .entries, let shown = paneKey, let key = model.cursorKey else { return nil }
        let whole = TerminalText.sanitized(key)
        let ends = shown.split(separator: "…", maxSplits: 1, omittingEmptySubsequences: false)
        let isCut = ends.count == 2 && whole.hasPrefix(ends[0]) && whole.hasSuffix(ends[1])
        return isCut || whole == shown ? nil : "the pane shows \(shown), the cursor is on \(whole)"
    }
}
