import TerminalKit

/// Stateless; safe from any thread. Writes text that comes from a store: harmless to a terminal, as it is elsewhere.
enum TerminalSafe {
    /// Lines stay lines; everything else that a terminal would obey becomes visible.
    static func write(_ text: [UInt8], to output: OutputWriter) throws(CommandFailure) {
        guard output.isTerminal else { return try output.write(text) }
        let newline = UInt8(ascii: "\n")
        var isFirst = true
        for line in text.split(separator: newline, omittingEmptySubsequences: false) {
            if !isFirst { try output.write([newline]) }
            isFirst = false
            try output.write(TerminalText.sanitized(bytes: line))
        }
    }
}
