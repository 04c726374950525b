#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Another program, run to its end.
enum ChildProcess {
    /// Runs `arguments` with its standard output going to the file at `output`.
    static func run(_ arguments: [String], output: String) throws {
        #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        #else
        var actions = posix_spawn_file_actions_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) }
        words.append(nil)
        defer { for word in words { free(word) } }
        var child = pid_t()
        let failure = posix_spawnp(&child, arguments[0], &actions, nil, words, environ)
        guard failure == 0 else { throw BenchmarkError("cannot run \(arguments[0]): error \(failure)") }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 {
            guard errno == EINTR else { throw BenchmarkError("cannot wait for \(arguments[0])") }
        }
        guard status == 0 else { throw BenchmarkError("\(arguments[0]) ended with status \(status)") }
    }
}
