import Synchronization

/// Safe from any thread. Handles SIGINT, SIGTERM and SIGHUP. They end the program at once, unless a command called ``collect()``;
/// then it checks ``received`` between its steps.
enum Interruption {
    private static let first = Atomic<Int32>(0)

    /// The first signal that asked to end, nil as long as none did.
    static var received: Int32? {
        let number = first.load(ordering: .relaxed)
        return number == 0 ? nil : number
    }

    static var isRequested: Bool { received != nil }

    /// The status to end with after a signal.
    static var status: ExitStatus {
        switch received {
        case nil: .done
        case SIGINT?: .interrupted
        case SIGHUP?: .hungUp
        default: .terminated
        }
    }

    /// A file that would become longer than this process may write is an error of the write, not the end of the program.
    static func takeLongFilesAsErrors() { signal(SIGXFSZ, SIG_IGN) }

    /// Crashes end the program as the system does it, without the runtime's backtrace, which asks for commands on a terminal.
    /// `SWIFT_BACKTRACE` in the environment keeps it.
    static func leaveCrashesToTheSystem() {
        guard SystemText.environment("SWIFT_BACKTRACE") == nil else { return }
        for number in [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] where !isIgnored(number) {
            signal(number, SIG_DFL)
        }
    }

    /// SIGINT ends the program at once with status 130. A reader that goes away ends it by SIGPIPE, quietly, even if
    /// the parent process ignores that signal.
    static func endAtOnce() {
        install(SIGINT) { _ in _exit(ExitStatus.interrupted.rawValue) }
        signal(SIGPIPE, SIG_DFL)
    }

    /// From now on SIGINT only ends waits in system calls early, with `EINTR`.
    static func endWaitsOnly() { install(SIGINT) { _ in } }

    /// From now on signals that ask to end are remembered; waits in system calls end early with `EINTR`. A second
    /// signal ends the program at once, in case it is stuck.
    static func collect() {
        // The first use of a global makes it, which a signal handler must not do.
        _ = first.load(ordering: .relaxed)
        for number in [SIGINT, SIGTERM, SIGHUP] where number != SIGHUP || !isIgnored(SIGHUP) {
            install(number) { number in
                let (isFirst, _) = Interruption.first.compareExchange(
                    expected: 0, desired: number, ordering: .relaxed)
                if !isFirst { _exit(128 + number) }
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
        // A parent's threads may have blocked it, and a child starts with what they blocked.
        var numbers = sigset_t()
        sigemptyset(&numbers)
        sigaddset(&numbers, number)
        pthread_sigmask(SIG_UNBLOCK, &numbers, nil)
    }

    /// From now on signals end the program at once again. Those that came meanwhile are still remembered.
    static func release() {
        for number in [SIGTERM, SIGHUP] where !isIgnored(number) { signal(number, SIG_DFL) }
        endAtOnce()
    }

    /// As `nohup` leaves a signal for the programs that it starts.
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
