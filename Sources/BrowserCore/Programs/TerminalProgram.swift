import StoreInspection

package struct TerminalProgram: Sendable {
    /// One line, for tests and traces.
    package let description: String
    package let script: String
    /// The script's positional parameters.
    package let arguments: [String]
    private let ended: @Sendable (inout Model, Result<Int32, SourceError>) -> [Effect]

    /// - Parameter ended: called with the exit status as shells report it, or the reason why the program didn't start.
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

    /// The message for a failed program; nil if it succeeded. The command is last because it may be long.
    static func failure(
        _ role: String, _ command: String, _ result: Result<Int32, SourceError>
    ) -> String? {
        let what: String
        switch result {
        case .success(0): return nil
        case .success(126): what = "can't run: permission denied"
        case .success(127): what = "can't run: command not found"
        case .success(let status) where status > 128: what = "was killed by signal \(status - 128)"
        case .success(let status): what = "ended with exit code \(status)"
        case .failure(let error): what = "can't run: \(error)"
        }
        return "\(role) \(what): \(command)"
    }

    // MARK: The scripts

    /// Runs `script`, then removes the folder of the private file `$1`: SIGHUP and SIGTERM may end the browser before the program.
    static func removingFile(_ script: String) -> String {
        // A subshell without the traps, so that `exec` in the script doesn't lose them. SIGINT ends the program only.
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

    static func pagerScript(_ pager: String?) -> String {
        if let pager { return pager + " \"$@\"" }
        return "if command -v less >/dev/null 2>&1; then exec less -- \"$1\"; else exec more -- \"$1\"; fi"
    }

    /// Pipes `$1` to the command `$2` and keeps its output on the screen until Enter.
    static let pipeScript = """
        sh -c "$2" <"$1"
        status=$?
        printf '\\n[exit code %s; enter goes back to vellum] ' "$status"
        read -r line
        exit "$status"
        """
}
