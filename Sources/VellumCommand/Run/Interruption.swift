import Synchronization

/// Handles SIGINT, SIGTERM and SIGHUP. They end the program at once, unless a command called ``collect()``; then it checks
/// ``received`` between its steps.
enum Interruption {
    private static let first = Atomic<Int32>(0)

    /// The first signal since ``collect()``; nil: none.
    static var received: Int32? {
        let number = first.load(ordering: .relaxed)
        return number == 0 ? nil : number
    }

    static var isRequested: Bool { received != nil }

    static func check() throws(CommandFailure) { if isRequested { throw .interrupted } }

    static var status: ExitStatus {
        switch received {
        case nil: .done
        case SIGINT?: .interrupted
        case SIGHUP?: .hungUp
        default: .terminated
        }
    }

    /// Ignores SIGXFSZ, so that a write beyond the file size limit returns an error.
    static func ignoreFileSizeSignal() { signal(SIGXFSZ, SIG_IGN) }

    /// Disables the runtime's backtrace, which asks for commands on a terminal. `SWIFT_BACKTRACE` in the environment keeps it.
    static func disableBacktraces() {
        guard SystemText.environment("SWIFT_BACKTRACE") == nil else { return }
        for number in [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] where !isIgnored(number) {
            signal(number, SIG_DFL)
        }
    }

    /// SIGINT ends the program at once with status 130. SIGPIPE ends it quietly, even if the parent process ignores it.
    static func endAtOnce() {
        install(SIGINT) { _ in
            WholeFile.removeUnfinished()
            _exit(ExitStatus.interrupted.rawValue)
        }
        endOnBrokenPipe()
    }

    /// Runs `body`, in which writing to a pipe without a reader returns `EPIPE` instead of ending the program.
    static func reportingBrokenPipes<Result>(_ body: () -> Result) -> Result {
        signal(SIGPIPE, SIG_IGN)
        defer { endOnBrokenPipe() }
        return body()
    }

    private static func endOnBrokenPipe() {
        install(SIGPIPE) { number in
            WholeFile.removeUnfinished()
            signal(number, SIG_DFL)
            raise(number)
        }
    }

    /// SIGINT only interrupts waiting system calls with `EINTR`.
    static func endWaitsOnly() { install(SIGINT) { _ in } }

    /// Signals are recorded, and interrupt waiting system calls with `EINTR`. A second signal ends the program at once.
    static func collect() {
        // Initialize the global here; a signal handler must not.
        _ = first.load(ordering: .relaxed)
        for number in [SIGINT, SIGTERM, SIGHUP] where number != SIGHUP || !isIgnored(SIGHUP) {
            install(number) { number in
                let (isFirst, _) = Interruption.first.compareExchange(
                    expected: 0, desired: number, ordering: .relaxed)
                if isFirst { return }
                WholeFile.removeUnfinished()
                _exit(128 + number)
            }
        }
    }

    private static func install(_ number: Int32, _ handler: @escaping @convention(c) (Int32) -> Void) {
        var action = sigaction()
        #if canImport(Darwin)
        action.__sigaction_u.__sa_handler = handler
        #else
        action.__sigaction_handler.sa_handler = handler
        #endif
        sigemptyset(&action.sa_mask)
        sigaction(number, &action, nil)
        // The process may have inherited a mask that blocks them.
        var numbers = sigset_t()
        sigemptyset(&numbers)
        sigaddset(&numbers, number)
        pthread_sigmask(SIG_UNBLOCK, &numbers, nil)
    }

    /// Restores the default: signals end the program at once. ``received`` keeps its value.
    static func release() {
        for number in [SIGTERM, SIGHUP] where !isIgnored(number) { signal(number, SIG_DFL) }
        endAtOnce()
    }

    /// Whether the parent ignores the signal, as `nohup` does.
    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        sigaction(number, nil, &action)
        #if canImport(Darwin)
        let handler = action.__sigaction_u.__sa_handler
        #else
        let handler = action.__sigaction_handler.sa_handler
        #endif
        return unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
