#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Descriptors 0, 1 and 2, which a starter may have closed.
enum StandardDescriptors {
    /// Takes those that are free: the next file that is opened would get such a number, and what this program says would be
    /// written into it. Reading and writing fail on them as if they were closed.
    static func occupy() {
        for descriptor in STDIN_FILENO...STDERR_FILENO
        where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF {
            // The lowest free number is the one that is given out.
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }
}
