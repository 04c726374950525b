import TerminalKit

/// Text that comes from a store, harmless to a terminal.
package enum TerminalSafe {
    /// A key or name within a sentence, on one line wherever it goes.
    package static func quoted(_ text: String) -> String { "\"\(TerminalText.sanitized(text))\"" }

    /// A text as a column of a line: what ``TerminalText/isControl(_:)`` names is spelled as ``TerminalText`` does.
    package static func column(_ text: String) -> String { escaping(text, TerminalText.escape) }

    /// The same of JSON, as JSON spells them: it stays what it is.
    package static func column(json text: String) -> String {
        escaping(text) { "\\u" + TerminalText.hexadecimal($0.value, digits: 4) }
    }

    private static func escaping(_ text: String, _ escape: (Unicode.Scalar) -> String) -> String {
        guard text.unicodeScalars.contains(where: TerminalText.isControl) else { return text }
        return text.unicodeScalars.reduce(into: "") { result, scalar in
            if TerminalText.isControl(scalar) {
                result += escape(scalar)
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
    }

    /// Lines stay lines; everything else that a terminal would obey becomes visible.
    package static func write(_ text: [UInt8], to output: OutputWriter) throws(SourceError) {
        try text.withUnsafeBufferPointer { (bytes) throws(SourceError) in
            try write(UnsafeRawBufferPointer(bytes), to: output)
        }
    }

    /// Bytes of a line that are made harmless together.
    private static let longestPart = 1 << 16

    /// The same for a text of any length, of which it makes no copy.
    package static func write(_ text: UnsafeRawBufferPointer, to output: OutputWriter) throws(SourceError) {
        guard output.isTerminal else { return try output.write(text) }
        var place = 0
        while place < text.count {
            var end = place
            while end < text.count, text[end] != UInt8(ascii: "\n"), end - place < longestPart { end += 1 }
            // A part ends where a character does.
            while end < text.count, end > place + 1, text[end] & 0xc0 == 0x80 { end -= 1 }
            try output.write(TerminalText.sanitized(bytes: text[place..<end]))
            place = end
            if place < text.count, text[place] == UInt8(ascii: "\n") {
                try output.write("\n")
                place += 1
            }
        }
    }
}
