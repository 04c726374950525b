import Foundation

/// A program in a window of tmux, which shows what a real terminal emulator makes of its bytes. For one thread.
package final class Emulator {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    package static let isInstalled = (try? run(["-V"], [:]))?.status == 0
    private let socket: String
    private let environment: [String: String]

    /// - Parameters:
    ///   - command: A shell command, run between a line `before` and one with `ended` and the exit status.
    ///   - type: The terminal's type.
    package init(
        _ command: String, columns: Int, rows: Int, type: String = "tmux-256color",
        environment: [String: String] = [:]
    ) throws {
        socket = "terminal-tests-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        self.environment = environment
        let command = "echo before; \(command); echo ended $?; read line"
        try tmux(
            "-u", "-f", "/dev/null", "new-session", "-d", "-x", "\(columns)", "-y", "\(rows)", "sh", "-c",
            "LC_ALL=C.UTF-8; TERM=\(type); export LC_ALL TERM; " + command)
    }

    deinit { _ = try? Emulator.run(["-L", socket, "kill-server"], environment) }

    @discardableResult
    package func tmux(_ arguments: String...) throws -> String {
        let result = try Emulator.run(["-L", socket] + arguments, environment)
        guard result.status == 0 else { throw Failure(description: "tmux \(arguments): \(result.output)") }
        return result.output
    }

    /// Presses keys by tmux' names, such as `Enter`, and types other text.
    package func press(_ keys: String...) throws {
        for key in keys {
            // The browser takes faster keys for pasted text.
            usleep(40_000)
            try tmux("send-keys", "-t", "0", key)
        }
    }

    /// The screen's lines, without trailing spaces.
    package func lines() throws -> [String] {
        try tmux("capture-pane", "-p", "-t", "0").split(separator: "\n", omittingEmptySubsequences: false)
            .dropLast()
            .map { line in
                var line = line
                while line.last == " " { line.removeLast() }
                return String(line)
            }
    }

    /// The first and the last row of the region that scrolls.
    package func scrollRegion() throws -> String {
        let format = "#{scroll_region_upper} #{scroll_region_lower}"
        return String(try tmux("display", "-p", "-t", "0", format).prefix { $0 != "\n" })
    }

    /// Waits until all of these texts are on the screen at once.
    package func shows(_ texts: String...) throws {
        try wait("\(texts)") {
            let screen = try lines()
            return texts.allSatisfy { text in screen.contains { $0.contains(text) } }
        }
    }

    /// Whether the cursor is shown.
    package func showsCursor() throws -> Bool {
        try tmux("display", "-p", "-t", "0", "#{cursor_flag}").hasPrefix("1")
    }

    package func wait(_ wanted: String, until isDone: () throws -> Bool) throws {
        let deadline = Date().addingTimeInterval(60)
        while try !isDone() {
            let lines = try lines()
            guard Date() < deadline else {
                throw Failure(description: "the screen never showed \(wanted): \(lines)")
            }
            usleep(20_000)
        }
    }

    /// Runs tmux to its end. Foundation's Process would wait for the server too, which a client leaves behind.
    private static func run(
        _ arguments: [String], _ environment: [String: String]
    ) throws -> (status: Int32, output: String) {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("tmux-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, file.path, O_WRONLY | O_CREAT, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        // The threads of the tests block all signals, and a server that inherited that could never be ended.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var variables = ProcessInfo.processInfo.environment
        variables["TMUX"] = nil
        variables["LC_ALL"] = "C.UTF-8"
        variables.merge(environment) { $1 }
        var words = (["tmux"] + arguments).map { strdup($0) } + [nil]
        var values = variables.map { strdup("\($0)=\($1)") } + [nil]
        defer { for pointer in words + values { free(pointer) } }
        var process = pid_t()
        let code = posix_spawnp(&process, "tmux", &actions, &attributes, &words, &values)
        guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) }
        let deadline = Date().addingTimeInterval(20)
        var status: Int32 = 0
        while waitpid(process, &status, WNOHANG) == 0 {
            if Date() > deadline { kill(process, SIGKILL) }
            usleep(5_000)
        }
        return (status, String(decoding: try Data(contentsOf: file), as: UTF8.self))
    }
}
