import StoreInspection

/// A program that gets the terminal until it ends, and what its end does to the model. A value; safe to share between threads.
package struct TerminalProgram: Sendable {
    /// One line, for tests and for traces.
    package let description: String
    /// A script for `/bin/sh`.
    package let script: String
    /// The script's `$1` and so on, which no shell interprets.
    package let arguments: [String]
    private let ended: @Sendable (inout Model, Result<Int32, SourceError>) -> [Effect]

    /// `ended` gets the exit status, as a shell gives it, or why the program could not be started.
    init(
        _ description: String, script: String, arguments: [String],
        ended: @escaping @Sendable (inout Model, Result<Int32, SourceError>) -> [Effect]
    ) {
        self.description = description
        self.script = script
        self.arguments = arguments
        self.ended = ended
    }

    func message(_ result: Result<Int32, SourceError>) -> Message {
        .answer(Answer { model in ended(&model, result) })
    }

    /// What is said of a program that did not end as it should; nil of one that did. `role` says what it was for. The command
    /// comes last, for it may be too long to be seen whole.
    static func complaint(
        _ role: String, _ command: String, _ result: Result<Int32, SourceError>
    ) -> String? {
        let what: String
        switch result {
        case .success(0): return nil
        case .success(126): what = "can't be run, this user may not or it is no program"
        case .success(127): what = "can't be run, there is no such command"
        case .success(let status) where status > 128: what = "was ended by signal \(status - 128)"
        case .success(let status): what = "ended with exit code \(status)"
        case .failure(let error): what = "can't be run, \(error)"
        }
        return "\(role) \(what): \(command)"
    }

    // MARK: The scripts

    /// Does what `script` says, and then removes the folder of the private file `$1`. The browser does so too, but SIGHUP and
    /// SIGTERM end it at once, and the program may go on then.
    static func removingFile(_ script: String) -> String {
        // The script has a shell of its own without the traps, whose place the program may take. They wait until that has
        // ended. What interrupts the program doesn't end this shell.
        """
        trap 'rm -rf -- "${1%/*}"' EXIT
        trap 'exit 129' HUP
        trap 'exit 143' TERM
        trap : INT QUIT
        (
        \(script)
        )
        exit $?
        """
    }

    /// Opens `$1`.
    static func pagerScript(_ pager: String?) -> String {
        if let pager { return pager + " \"$@\"" }
        return "if command -v less >/dev/null 2>&1; then exec less -- \"$1\"; else exec more -- \"$1\"; fi"
    }

    /// Edits `$1`.
    static func editorScript(_ editor: String) -> String { editor + " \"$@\"" }

    /// Gives `$1` to the command line `$2`, and leaves what that says on the screen until Enter is pressed.
    static let pipeScript = """
        sh -c "$2" <"$1"
        status=$?
        printf '\\n[exit code %s; Enter goes back to vellum] ' "$status"
        read -r line
        exit "$status"
        """
}
