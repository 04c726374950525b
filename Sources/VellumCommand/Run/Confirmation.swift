import TerminalKit

enum Confirmation {
    static var isPossible: Bool { SystemText.isTerminal(STDIN_FILENO) && Narration.isTerminal }

    /// Only `y` and `yes` confirm.
    static func ask(_ question: String) -> Bool {
        Narration.write(TerminalText.sanitized(question) + " [y/N] ")
        guard let answer = readLine()?.lowercased() else { return false }
        return answer == "y" || answer == "yes"
    }
}
