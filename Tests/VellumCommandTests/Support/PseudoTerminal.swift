import Foundation
import TestSupport
import Testing

/// The built program on a separate pseudo-terminal. Arguments are in the shell's syntax.
enum PseudoTerminal {
    /// The arguments of `script`, which creates the terminal and returns the exit status; Linux and macOS differ.
    private static func words(_ arguments: String, columns: Int, pidFile: String? = nil) -> [String] {
        let note = pidFile.map { "echo $$ >'\($0)'; " } ?? ""
        // `exec` replaces the shell: a waiting shell would handle interrupts itself.
        let command = "stty cols \(columns) rows 30; \(note)exec '\(Vellum.executable.path)' \(arguments)"
        #if os(Linux)
        return ["-qec", command, "/dev/null"]
        #else
        return ["-q", "/dev/null", "/bin/sh", "-c", command]
        #endif
    }

    private static func variables(_ own: [String: String]) -> [String: String] {
        ["TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "SHELL": "/bin/sh"].merging(own) { $1 }
    }

    /// Starts the program without waiting. All its output is standard output. `pidFile` gets the program's process number; that
    /// of the result is the terminal's.
    static func start(
        _ arguments: String, environment: [String: String] = [:], columns: Int = 100, pidFile: String? = nil
    ) throws -> Spawned {
        try Spawned(
            words(arguments, columns: columns, pidFile: pidFile), executable: "/usr/bin/script",
            holdsInput: true,
            environment: variables(environment))
    }

    /// The process number in the file of ``start(_:environment:columns:pidFile:)``.
    static func pid(in file: String) throws -> pid_t {
        let text = try String(contentsOfFile: file, encoding: .utf8)
        return try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
    }

    /// Types the keys of each step after its text is shown, and waits for the end. Returns the exit status and the output.
    static func run(
        _ arguments: String, typing steps: [(shown: String, keys: String)],
        environment: [String: String] = [:], columns: Int = 100,
        location: SourceLocation = #_sourceLocation
    ) async throws -> (status: Int32, text: String) {
        let program = try start(arguments, environment: environment, columns: columns)
        var seen = 0
        for step in steps {
            // Spaces at the end of a line aren't sent.
            let shown = String(step.shown.reversed().drop { $0 == " " }.reversed())
            try await program.until(shown, location: location) {
                String(decoding: program.text.utf8.dropFirst(seen), as: UTF8.self).contains(shown)
            }
            guard !step.keys.isEmpty else { continue }
            seen = program.text.utf8.count
            // The browser treats keys faster than typing as pasted text.
            let isShort = step.keys.utf8.count <= 3 && !step.keys.utf8.contains(0x1b)
            for keys in isShort ? step.keys.map(String.init(_:)) : [step.keys] {
                try await Task.sleep(for: .milliseconds(40))
                program.type(keys)
            }
        }
        return (try await program.finish(location: location), program.text)
    }

    /// Runs the program to its end; `input` is typed at once. Returns the exit status and the output.
    static func run(
        _ arguments: String, input: String = "", environment: [String: String] = [:], columns: Int = 100
    ) throws -> (status: Int32, text: String) {
        let outcome = try ChildProcess.run(
            "/usr/bin/script", words(arguments, columns: columns),
            environment: Vellum.environment(variables(environment)), input: Data(input.utf8))
        return (outcome.status, outcome.text)
    }
}
