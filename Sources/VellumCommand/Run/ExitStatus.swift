/// Sendable value type. What the command tells the shell when it ends.
enum ExitStatus: Int32, Sendable {
    case done = 0
    /// Nothing matched, a check failed, or what was asked for was refused.
    case nothing = 1
    case usage = 2
    /// The store, or a file beside it, could not be opened, read or written.
    case storeFailure = 3
    /// 128 + SIGHUP, as shells count: the terminal has gone.
    case hungUp = 129
    /// 128 + SIGINT.
    case interrupted = 130
    /// 128 + SIGTERM.
    case terminated = 143

    func end() -> Never { ExitStatus.end(withCode: rawValue) }

    /// Ends the process with what another program ended with.
    static func end(withCode code: Int32) -> Never { exit(code) }
}
