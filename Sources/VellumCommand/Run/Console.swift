import TerminalKit

/// Messages to the user on standard error, without control characters.
enum Console {
    static var isTerminal: Bool { SystemText.isTerminal(STDERR_FILENO) }

    static func say(_ text: String) { write(harmless(text) + "\n") }

    /// Maximum bytes of a warning, which may quote megabytes of input.
    private static let longestWarning = 4_000

    static func warn(_ text: String) {
        let excess = text.utf8.count - longestWarning
        guard excess > 0 else { return say("vellum: " + text) }
        let beginning = String(decoding: text.utf8.prefix(longestWarning), as: UTF8.self)
        say("vellum: \(beginning)… (\(Figures.count(excess, "byte", "bytes")) more)")
    }

    /// Writes the text unchanged, for output with terminal sequences.
    static func write(_ text: String) {
        var text = text
        text.withUTF8 { content in
            var rest = UnsafeRawBufferPointer(content)
            while !rest.isEmpty {
                let written = SystemC.write(STDERR_FILENO, rest.baseAddress, rest.count)
                if written < 0, errno == EINTR { continue }
                // An error of standard error can't be reported.
                guard written > 0 else { return }
                rest = UnsafeRawBufferPointer(rebasing: rest[written...])
            }
        }
    }

    /// Removes control characters, also for a pipe or a file, which may be shown on a terminal later.
    private static func harmless(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { TerminalText.sanitized(String($0)) }
            .joined(separator: "\n")
    }
}
