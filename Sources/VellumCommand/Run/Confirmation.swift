import TerminalKit

/// Stateless. A question to the person at the terminal.
enum Confirmation {
    /// Whether anybody is there to be asked.
    static var isPossible: Bool { SystemText.isTerminal(STDIN_FILENO) && Narration.isTerminal }

    /// Only `y` and `yes` are a yes.
    static func ask(_ question: String) -> Bool {
        Narration.write(TerminalText.sanitized(question) + " [y/N] ")
        guard let answer = readLine()?.lowercased() else { return false }
        return answer == "y" || answer == "yes"
    }
}
