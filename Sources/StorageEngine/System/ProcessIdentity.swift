import CPlatform

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// One run of one process: a pid alone is used again by the system.
struct ProcessIdentity: Sendable, Hashable {
    var pid: Int32
    /// When the process started, in the system's own units; never 0 for a living process.
    var start: UInt64

    static func current() -> ProcessIdentity {
        let pid = getpid()
        return ProcessIdentity(pid: pid, start: cp_process_start(pid))
    }

    var isAlive: Bool {
        pid > 0 && start != 0 && cp_process_start(pid) == start
    }

    static var effectiveUser: UInt32 { geteuid() }

    /// The executable's name, as the process table shows it.
    static var executableName: String {
        guard let first = CommandLine.arguments.first, let last = first.split(separator: "/").last else {
            return "?"
        }
        return String(last)
    }
}

enum BootIdentity {
    /// Sixteen bytes that differ between boots; all zero where the system cannot tell, and then no index
    /// is ever trusted (F3).
    static let current: [UInt8] = {
        var identity = [UInt8](repeating: 0, count: 16)
        return cp_boot_identity(&identity) == 0 ? identity : [UInt8](repeating: 0, count: 16)
    }()

    /// Eight bytes of it, for frames; 0 where the system cannot tell.
    static let mark: UInt64 = {
        var reader = ByteReader(current)
        return current.contains { $0 != 0 } ? reader.uint64() | 1 : 0
    }()
}

enum RandomSource {
    static func bytes(_ count: Int) throws(StorageError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let failure = cp_random(&bytes, count)
        guard failure == 0 else { throw .system(operation: "read", path: "the random source", code: failure) }
        return bytes
    }
}
