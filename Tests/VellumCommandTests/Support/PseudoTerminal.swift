import Foundation

/// The built program on a terminal of its own.
enum PseudoTerminal {
    /// Runs the program through a shell, with `arguments` in the shell's syntax. `input` is typed at once. Returns the
    /// exit status and what the terminal was sent.
    static func run(
        _ arguments: String, input: String = "", environment: [String: String] = [:], columns: Int = 100
    ) throws -> (status: Int32, text: String) {
        let command = "'\(Vellum.executable.path)' \(arguments)"
        let process = Process()
        // It gives the program a terminal and passes the exit status on; its two spellings differ.
        process.executableURL = URL(fileURLWithPath: "/usr/bin/script")
        #if os(Linux)
        process.arguments = ["-qec", "stty cols \(columns) rows 30; " + command, "/dev/null"]
        #else
        process.arguments = ["-q", "/dev/null", "/bin/sh", "-c", "stty cols \(columns) rows 30; " + command]
        #endif
        process.environment = ProcessInfo.processInfo.environment
            .merging(["TERM": "xterm-256color", "LC_ALL": "C.UTF-8"]) { $1 }
            .merging(environment) { $1 }
        let folder = try TemporaryFolder()
        process.standardInput = try FileHandle(
            forReadingFrom: URL(fileURLWithPath: folder.file("input", input)))
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: data, as: UTF8.self))
    }
}
