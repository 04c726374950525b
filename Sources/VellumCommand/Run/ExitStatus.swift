enum ExitStatus: Int32, Sendable {
    case done = 0
    /// Nothing matched, a check failed, or a value was refused.
    case nothing = 1
    case usage = 2
    /// The store or another file could not be opened, read or written.
    case storeFailure = 3
    /// 128 + SIGHUP.
    case hungUp = 129
    /// 128 + SIGINT.
    case interrupted = 130
    /// 128 + SIGTERM.
    case terminated = 143

    func end() -> Never { ExitStatus.end(withCode: rawValue) }

    /// Ends the process with another program's exit status.
    static func end(withCode code: Int32) -> Never { exit(code) }
}
