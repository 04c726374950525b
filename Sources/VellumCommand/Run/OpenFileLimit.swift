#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// How many files this program may have open: each archive takes two, and a store may have thousands of them.
enum OpenFileLimit {
    /// Raises its own limit to what the system lets it have. Where that can't be had, archives that find no descriptor
    /// say so.
    static func raise() {
        #if canImport(Glibc)
        let resource = Int32(RLIMIT_NOFILE.rawValue)
        #else
        let resource = RLIMIT_NOFILE
        #endif
        var limits = rlimit()
        guard getrlimit(resource, &limits) == 0, limits.rlim_cur < limits.rlim_max else { return }
        limits.rlim_cur = limits.rlim_max
        _ = setrlimit(resource, &limits)
    }
}
