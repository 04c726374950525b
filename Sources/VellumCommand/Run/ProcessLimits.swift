enum ProcessLimits {
    #if canImport(Glibc)
    private static let openFiles = Int32(RLIMIT_NOFILE.rawValue)
    private static let addresses = Int32(RLIMIT_AS.rawValue)
    #else
    private static let openFiles = RLIMIT_NOFILE
    private static let addresses = RLIMIT_AS
    #endif

    /// Raises the limit of open files to the hard limit: each archive takes two, and a store may have thousands.
    static func raiseOpenFiles() {
        var limits = rlimit()
        guard getrlimit(openFiles, &limits) == 0, limits.rlim_cur < limits.rlim_max else { return }
        limits.rlim_cur = limits.rlim_max
        _ = setrlimit(openFiles, &limits)
    }

    /// A query's default memory limit in bytes: `usual`, or less where the address space is limited (`ulimit -v`).
    static func memoryForQuery(_ usual: Int) -> Int {
        var limits = rlimit()
        guard getrlimit(addresses, &limits) == 0 else { return usual }
        return min(usual, Int(clamping: limits.rlim_cur / 32))
    }
}
