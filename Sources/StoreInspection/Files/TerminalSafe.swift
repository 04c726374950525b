import TerminalKit

/// Text of a store without control characters.
package enum TerminalSafe {
    /// A quoted key or name on one line.
    package static func quoted(_ text: String) -> String { "\"\(TerminalText.sanitized(text))\"" }

    /// A text as a column: characters of ``TerminalText/isControl(_:)`` are escaped as in ``TerminalText``.
    package static func column(_ text: String) -> String { escaping(text, TerminalText.escape) }

    /// JSON with control characters escaped as in JSON.
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

    /// Escapes control characters except line ends.
    package static func write(_ text: [UInt8], to output: OutputWriter) throws(SourceError) {
        try text.withUnsafeBufferPointer { (bytes) throws(SourceError) in
            try write(UnsafeRawBufferPointer(bytes), to: output)
        }
    }

    /// Maximum bytes converted at once.
    private static let longestPart = 1 << 16

    /// Writes a text of any length without copying it.
    package static func write(_ text: UnsafeRawBufferPointer, to output: OutputWriter) throws(SourceError) {
        guard output.isTerminal else { return try output.write(text) }
        var place = 0
        while place < text.count {
            var end = place
            while end < text.count, text[end] != UInt8(ascii: "\n"), end - place < longestPart { end += 1 }
            // Parts end at character boundaries.
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
