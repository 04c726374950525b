import StoreInspection
import TerminalKit

/// Stateless; safe from any thread. What a person reads beside the results: on standard error, harmless to a terminal.
enum Narration {
    static var isTerminal: Bool { SystemText.isTerminal(STDERR_FILENO) }

    static func say(_ text: String) {
        write(harmless(text) + "\n")
    }

    /// What of a complaint is said, in bytes: it may name what was given, which may be megabytes.
    private static let longestComplaint = 4_000

    static func complain(_ text: String) {
        let excess = text.utf8.count - longestComplaint
        guard excess > 0 else { return say("vellum: " + text) }
        let beginning = String(decoding: text.utf8.prefix(longestComplaint), as: UTF8.self)
        say("vellum: \(beginning)… (\(Figures.count(excess, "byte", "bytes")) more)")
    }

    /// Text as it is: for what draws on the terminal itself.
    static func write(_ text: String) {
        var text = text
        text.withUTF8 { content in
            var rest = UnsafeRawBufferPointer(content)
            while !rest.isEmpty {
                let written = Self.write(rest)
                // Nobody is left to be told that standard error can't be written.
                guard written > 0 else { return }
                rest = UnsafeRawBufferPointer(rebasing: rest[written...])
            }
        }
    }

    private static func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        while true {
            #if canImport(Darwin)
            let written = Darwin.write(STDERR_FILENO, bytes.baseAddress, bytes.count)
            #else
            let written = Glibc.write(STDERR_FILENO, bytes.baseAddress, bytes.count)
            #endif
            if written >= 0 || errno != EINTR { return written }
        }
    }

    /// Also in a pipe or a file, which a terminal may show later.
    private static func harmless(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { TerminalText.sanitized(String($0)) }
            .joined(separator: "\n")
    }
}
