import TerminalKit

enum Confirmation {
    static var isPossible: Bool { SystemText.isTerminal(STDIN_FILENO) && Console.isTerminal }

    /// Throws if a confirmation is needed and not possible.
    static func require(unless isConfirmed: Bool) throws {
        guard isConfirmed || isPossible else {
            throw CommandFailure("stdin is not a terminal; pass --yes to confirm", status: .usage)
        }
    }

    /// Accepts only `y` and `yes`.
    static func ask(_ question: String) -> Bool {
        Console.write(TerminalText.sanitized(question) + " [y/N] ")
        guard let answer = readLine()?.lowercased() else { return false }
        return answer == "y" || answer == "yes"
    }

    /// - Throws: `refusal` without a confirmation.
    static func ask(_ question: String, unless isConfirmed: Bool, refusal: String) throws(CommandFailure) {
        guard isConfirmed || ask(question) else { throw CommandFailure(refusal, status: .nothing) }
    }
}
