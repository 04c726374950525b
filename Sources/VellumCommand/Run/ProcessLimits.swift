/// Stateless; safe from any thread. What the system lets this process have.
enum ProcessLimits {
    #if canImport(Glibc)
    private static let openFiles = Int32(RLIMIT_NOFILE.rawValue)
    private static let addresses = Int32(RLIMIT_AS.rawValue)
    #else
    private static let openFiles = RLIMIT_NOFILE
    private static let addresses = RLIMIT_AS
    #endif

    /// Raises how many files this program may have open to what the system lets it have: each archive takes two, and a store may
    /// have thousands of them. Where that can't be had, archives that find no descriptor say so.
    static func raiseOpenFiles() {
        var limits = rlimit()
        guard getrlimit(openFiles, &limits) == 0, limits.rlim_cur < limits.rlim_max else { return }
        limits.rlim_cur = limits.rlim_max
        _ = setrlimit(openFiles, &limits)
    }

    /// What a query may keep, in bytes, unless that is said: `usual`, or less where addresses are limited (`ulimit -v`). Most of
    /// these go to mapped files and to what threads set aside, and a program that finds none left is ended.
    static func memoryForQuery(_ usual: Int) -> Int {
        var limits = rlimit()
        guard getrlimit(addresses, &limits) == 0 else { return usual }
        return min(usual, Int(clamping: limits.rlim_cur / 32))
    }
}
