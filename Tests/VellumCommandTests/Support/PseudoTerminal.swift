import Foundation
import TestSupport

/// The built program on a terminal of its own.
enum PseudoTerminal {
    /// Starts the program and doesn't wait for it; what it says is all standard output.
    static func start(_ arguments: String) throws -> Spawned {
        let command = "'\(Vellum.executable.path)' \(arguments)"
        #if os(Linux)
        let words = ["-qec", command, "/dev/null"]
        #else
        let words = ["-q", "/dev/null", "/bin/sh", "-c", command]
        #endif
        return try Spawned(words, executable: "/usr/bin/script", holdsInput: true)
    }

    /// Runs the program through a shell, with `arguments` in the shell's syntax. `input` is typed at once. Returns the
    /// exit status and what the terminal was sent.
    static func run(
        _ arguments: String, input: String = "", environment: [String: String] = [:], columns: Int = 100
    ) throws -> (status: Int32, text: String) {
        let command = "'\(Vellum.executable.path)' \(arguments)"
        // It gives the program a terminal and passes the exit status on; its two spellings differ.
        #if os(Linux)
        let words = ["-qec", "stty cols \(columns) rows 30; " + command, "/dev/null"]
        #else
        let words = ["-q", "/dev/null", "/bin/sh", "-c", "stty cols \(columns) rows 30; " + command]
        #endif
        let variables = ProcessInfo.processInfo.environment
            .merging(["TERM": "xterm-256color", "LC_ALL": "C.UTF-8"]) { $1 }
            .merging(environment) { $1 }
        let outcome = try ChildProcess.run(
            "/usr/bin/script", words, environment: variables, input: Data(input.utf8))
        return (outcome.status, outcome.text)
    }
}
