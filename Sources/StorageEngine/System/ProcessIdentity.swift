import CPlatform
import Synchronization
import SystemC

/// One run of a process. A process number alone isn't enough, because the system reuses it.
struct ProcessIdentity: Sendable, Hashable {
    var pid: Int32
    /// When the process started, in the system's units; never 0 for a live process.
    var start: UInt64

    /// The first call in a process asks the system, which takes some ten microseconds.
    static func current() -> ProcessIdentity {
        known.value.withLock { known in
            if let known { return known }
            let pid = getpid()
            let found = ProcessIdentity(pid: pid, start: cp_process_start(pid))
            // A temporary failure (no descriptor was free) must not last for the life of the process.
            if found.start != 0 { known = found }
            return found
        }
    }

    private static let known = PerProcess { GuardedReference<ProcessIdentity?>(nil) }

    /// Whether this run continues or that is unknown: treating a live process as ended would release its slots.
    var isAlive: Bool {
        guard pid > 0 else { return false }
        var found: UInt64 = 0
        switch cp_process_look_up(pid, &found) {
        case 0: return start == 0 || found == start
        case ESRCH: return false
        default: return true
        }
    }

    static var effectiveUser: UInt32 { geteuid() }

    static var executableName: String {
        CommandLine.arguments.first.flatMap(FileDescriptor.lastName) ?? "?"
    }
}

enum BootIdentity {
    /// Sixteen bytes that differ between boots. All zero if unknown; then no index is ever trusted (F3).
    static var current: [UInt8] {
        known.value.withLock { known in
            if let known { return known }
            var identity = [UInt8](repeating: 0, count: 16)
            // A temporary failure (no descriptor was free) must not last for the life of the process.
            guard cp_boot_identity(&identity) == 0 else { return [UInt8](repeating: 0, count: 16) }
            known = identity
            return identity
        }
    }

    /// Eight bytes of ``current``, for frames; 0 if unknown.
    static var mark: UInt64 {
        let known = knownMark.load(ordering: .relaxed)
        guard known == 0 else { return known }
        let identity = current
        var reader = ByteReader(identity)
        let mark = identity.contains { $0 != 0 } ? reader.uint64() | 1 : 0
        knownMark.store(mark, ordering: .relaxed)
        return mark
    }

    private static let knownMark = Atomic<UInt64>(0)

    private static let known = PerProcess { GuardedReference<[UInt8]?>(nil) }
}

enum RandomSource {
    static func bytes(_ count: Int, for path: String) throws(StorageError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let result = SystemCall.random.perform(path: path) {
            SystemCall.result(ofFailure: cp_random(&bytes, count))
        }
        guard result.code == 0 else {
            throw .system(operation: "get random bytes for", path: path, code: result.code)
        }
        return bytes
    }
}

enum Namespaces {
    static var processes: UInt32 { UInt32(truncatingIfNeeded: known >> 32) }

    /// One number for the PID and time namespaces together (start times are in the reader's time namespace); 0 if unknown.
    static var line: UInt32 { UInt32(truncatingIfNeeded: known) }

    /// `processes` in the high half, `line` in the low half. A forked child may be in other namespaces.
    private static var known: UInt64 {
        let remembered = memory.value.withLock { $0 }
        if remembered != 0 { return remembered }
        var processes: UInt32 = 0
        var times: UInt32 = 0
        guard cp_namespaces(&processes, &times) == 0 else { return 0 }
        let line = max(1, processes &* 0x9E37_79B1 &+ times)
        let found = UInt64(processes) << 32 | UInt64(line)
        memory.value.withLock { $0 = found }
        return found
    }

    private static let memory = PerProcess { GuardedReference<UInt64>(0) }
}
