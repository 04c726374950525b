import CNcurses
import TerminalKit

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

extension CursesTerminal {
    /// Gives the terminal back while the body runs, for a program that draws itself, and takes it again. The next
    /// frame is drawn whole.
    package func suspendForChild<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        leave()
        cnc_signals_yield_to_child(true)
        defer {
            cnc_signals_yield_to_child(false)
            // The child's stop and continue were this process's too; the screen is drawn anew anyway.
            _ = cnc_take_signals()
            enter()
        }
        return try body()
    }

    /// Runs a command line by `/bin/sh` on the terminal and waits for its end, as an editor or a pager needs it.
    /// - Parameters:
    ///   - command: the command as the user gave it, such as the value of `EDITOR`, which may have options.
    ///   - arguments: appended to the command as they are, without the shell's reading them.
    /// - Returns: the exit status, 128 and the number of the signal that ended it, or 127 when there is no such
    ///   command.
    package func run(_ command: String, arguments: [String]) throws(TerminalError) -> Int32 {
        try suspendForChild { () throws(TerminalError) in
            try CursesTerminal.spawn(command, arguments, terminal: descriptor)
        }
    }

    private static func spawn(
        _ command: String, _ arguments: [String], terminal: Int32
    ) throws(TerminalError) -> Int32 {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var ignored = sigset_t()
        sigemptyset(&ignored)
        for signal in [SIGINT, SIGQUIT, SIGTSTP, SIGXFSZ] { sigaddset(&ignored, signal) }
        posix_spawnattr_setsigdefault(&attributes, &ignored)
        // A thread that blocks signals must not hand that on.
        var unblocked = sigset_t()
        sigemptyset(&unblocked)
        posix_spawnattr_setsigmask(&attributes, &unblocked)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for standard in STDIN_FILENO...STDERR_FILENO where isatty(standard) == 0 {
            posix_spawn_file_actions_adddup2(&actions, terminal, standard)
        }
        let words = ["sh", "-c", command + " \"$@\"", "sh"] + arguments
        var pointers: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        var process = pid_t()
        let code = posix_spawn(&process, "/bin/sh", &actions, &attributes, &pointers, environ)
        guard code == 0 else { throw TerminalError.system(call: "posix_spawn", code: code) }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 {
            guard errno == EINTR else { throw TerminalError.system(call: "waitpid", code: errno) }
        }
        let signal = status & 0x7f
        return signal == 0 ? (status >> 8) & 0xff : 128 + signal
    }
}
