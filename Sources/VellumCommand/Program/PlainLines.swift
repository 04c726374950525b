import TerminalKit

/// Reads lines from a terminal without cursor control, which provides its own line editing. For one thread.
final class PlainLines {
    private let history: ShellHistory?

    init(history: ShellHistory?) { self.history = history }

    /// The next complete input; nil at the end.
    func next(_ shell: Shell) throws(CommandFailure) -> String? {
        // Ctrl-C discards the input so far.
        Interruption.endWaitsOnly()
        defer { Interruption.endAtOnce() }
        var text: String?
        while true {
            let prompt = String(shell.prompt.dropLast(text == nil ? 0 : 2)) + (text == nil ? "" : "| ")
            Console.write(TerminalText.sanitized(prompt))
            switch try receive() {
            case .end:
                Console.write("\n")
                return nil
            case .dropped:
                Console.write("\n")
                text = nil
            case .unreadable: Console.warn("the line isn't UTF-8 text")
            case .line(let line):
                let whole = text.map { Shell.join($0, line) } ?? line
                guard shell.isUnfinished(whole) else {
                    history?.remember(whole)
                    return whole
                }
                text = whole
            }
        }
    }

    private enum Outcome {
        case line(String)
        case dropped, unreadable, end
    }

    /// Reads a line, or a part of a long one.
    private func receive() throws(CommandFailure) -> Outcome {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while bytes.last != UInt8(ascii: "\n") {
            let count = buffer.withUnsafeMutableBytes { read(STDIN_FILENO, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { return .dropped }
            guard count >= 0 || errno == EIO else {
                throw CommandFailure("standard input", errno: errno, status: .usage)
            }
            guard count > 0 else { return bytes.isEmpty ? .end : line(bytes) }
            bytes += buffer[..<count]
        }
        return line(bytes.dropLast())
    }

    private func line(_ bytes: some Collection<UInt8>) -> Outcome {
        String(validating: Array(bytes), as: UTF8.self).map { .line($0) } ?? .unreadable
    }
}
