import CNcurses

extension CursesTerminal {
    /// Releases the terminal while `body` runs. The next frame is drawn completely.
    package func suspendForChild<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        leave()
        cnc_signals_yield_to_child(true)
        defer {
            cnc_signals_yield_to_child(false)
            // Discard signals from stopping and continuing together with the child; the screen is redrawn anyway.
            _ = cnc_take_signals()
            enter()
        }
        return try body()
    }

    /// Runs a command, such as an editor or a pager, through `/bin/sh` on the terminal, and waits until it ends.
    /// - Parameters:
    ///   - command: the user's command, such as the value of `EDITOR`; may contain options.
    ///   - arguments: passed to the command unchanged; the shell doesn't interpret them.
    /// - Returns: the exit status; 128 plus the signal's number if a signal ended it; 127 if there is no such command.
    package func run(_ command: String, arguments: [String]) throws(TerminalError) -> Int32 {
        try run(script: command + " \"$@\"", arguments: arguments)
    }

    /// Like ``run(_:arguments:)`` for a script that refers to its arguments as `$1`, `$2` and so on.
    package func run(script: String, arguments: [String]) throws(TerminalError) -> Int32 {
        try suspendForChild { () throws(TerminalError) in
            try CursesTerminal.spawn(script, arguments, terminal: descriptor)
        }
    }

    private static func spawn(
        _ script: String, _ arguments: [String], terminal: Int32
    ) throws(TerminalError) -> Int32 {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var ignored = sigset_t()
        sigemptyset(&ignored)
        for signal in [SIGINT, SIGQUIT, SIGTSTP, SIGXFSZ, SIGPIPE] { sigaddset(&ignored, signal) }
        posix_spawnattr_setsigdefault(&attributes, &ignored)
        // The child must not inherit this thread's blocked signals.
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
        let words = ["sh", "-c", script, "sh"] + arguments
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
