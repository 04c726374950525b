import Foundation
import TerminalKit
import Testing

/// The folder of a file of these tests.
func testFolder(_ name: String) -> URL {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(name)
}

/// Compares a text with a file of the folder Golden. With `VELLUM_RENEW_GOLDEN=1` the file is written instead.
func expectGolden(
    _ text: String, _ name: String, sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let file = testFolder("Golden").appendingPathComponent(name)
    if ProcessInfo.processInfo.environment["VELLUM_RENEW_GOLDEN"] == "1" {
        try text.write(to: file, atomically: true, encoding: .utf8)
        return
    }
    let expected = try String(contentsOf: file, encoding: .utf8)
    #expect(text == expected, "\(name) differs", sourceLocation: sourceLocation)
}

extension Frame {
    /// With trailing spaces.
    func text(ofRow row: Int) -> String { (0..<size.columns).map { self[$0, row].text }.joined() }
}

/// Violations of the frame's invariants C1 to C3.
func invariantBreaks(_ frame: Frame) -> [String] {
    var breaks: [String] = []
    for row in 0..<frame.size.rows {
        for column in 0..<frame.size.columns {
            let cell = frame[column, row]
            let next = column + 1 < frame.size.columns ? frame[column + 1, row] : nil
            if cell.width == 2, next?.isContinuation != true { breaks.append("C2: half at \(column),\(row)") }
            if cell.isContinuation, column == 0 || frame[column - 1, row].width != 2 {
                breaks.append("C2: lone continuation at \(column),\(row)")
            }
            if cell.isContinuation { continue }
            if cell.text.count != 1 || TextWidth.width(of: Character(cell.text)) != Int(cell.width) {
                breaks.append("C3: \(cell.text.debugDescription) at \(column),\(row)")
            }
            if TerminalText.sanitized(cell.text) != cell.text {
                breaks.append("C3: harmful at \(column),\(row)")
            }
        }
    }
    return breaks
}

/// Pieces of text that are hard to draw.
let hardPieces = [
    "a", "z ", "漢", "字", "e\u{301}", "👩‍🚀", "❤️", "🇯🇵", "\u{1b}[31m", "\u{202e}", "\u{9b}2J", "\t", "\r\n",
    "한", "ﾊ", "\u{200d}", "x\u{200d}", "\u{301}", "1️⃣", "क्ष", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "\u{feff}", "\u{10ffff}", "⌚\u{fe0e}", "\0",
]
