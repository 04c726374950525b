import Foundation

/// Other programs.
enum ChildProcess {
    /// Redirection of a program's streams.
    enum Streams {
        /// Standard output to a file; the others are this program's.
        case output(String)
        /// All streams to a terminal, which controls the program in a new session.
        case terminal([CChar])
    }

    /// Runs a program to its end, with standard output to the file at `output`.
    static func run(_ words: [String], output: String) throws {
        let child = try start(words, .output(output))
        guard let status = end(of: child) else { throw BenchmarkError("cannot wait for \(words[0])") }
        guard status == 0 else { throw BenchmarkError("\(words[0]) ended with status \(status)") }
    }

    /// Waits until a child has ended; returns its status, or `nil` if there is no such child.
    @discardableResult
    static func end(of child: pid_t) -> Int32? {
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 {
            guard errno == EINTR else { return nil }
        }
        return status
    }

    /// Starts a program found by `PATH`, with this program's environment and `variables`.
    static func start(
        _ words: [String], _ streams: Streams, variables: [String: String] = [:]
    ) throws -> pid_t {
        #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
        let newSession: Int16 = 0x400
        #else
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        let newSession: Int16 = 0x80
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        switch streams {
        case .output(let path):
            posix_spawn_file_actions_addopen(&actions, 1, path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        case .terminal(let name):
            // The first terminal that a new session opens becomes its controlling one.
            posix_spawnattr_setflags(&attributes, newSession)
            posix_spawn_file_actions_addopen(&actions, 0, name, O_RDWR, 0)
            for stream in 1...2 as ClosedRange<Int32> {
                posix_spawn_file_actions_adddup2(&actions, 0, stream)
            }
        }
        let environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
        var arguments = words.map { strdup($0) } + [nil]
        var values = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for pointer in arguments + values { free(pointer) } }
        var child = pid_t()
        let failure = posix_spawnp(&child, words[0], &actions, &attributes, &arguments, &values)
        guard failure == 0 else { throw BenchmarkError("cannot run \(words[0]): error \(failure)") }
        return child
    }
}
