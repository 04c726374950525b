import CPlatform
import Synchronization

/// Tells which lines of an archive's process table belong to processes that live; safe from any thread.
///
/// A pid and a start time mean something in their own namespaces only: from a container, those of another one name
/// nobody, or somebody else. So each process also locks the byte of its line in the file `attached`, and whoever is
/// not in its namespaces asks for that lock, which the kernel lets go when the process ends.
struct Liveness: Sendable {
    let folder: OpenFile
    /// The writer's own, whose lock doesn't stand against itself; `nil` for an observer.
    let attachment: OpenFile?
    let ownLine: Int?

    /// Where it can't be told (no descriptor is free to look with), it lives: to take the living for dead does harm.
    func isAlive(_ slot: ProcessSlot) -> Bool {
        guard slot.pid != 0 else { return false }
        if slot.line == ownLine { return true }
        let namespace = slot.namespace
        if namespace != 0, namespace == Namespaces.line { return slot.identity.isAlive }
        if let attachment { return attachment.isByteLocked(slot.line) }
        do throws(StorageError) {
            return try folder.file(named: ArchiveOpening.attachedName, writable: false).isByteLocked(
                slot.line)
        } catch {
            guard case .system(_, _, SystemCode.missing) = error else { return true }
            return false
        }
    }
}

extension ArchiveEngine {
    var liveness: Liveness {
        Liveness(folder: folder, attachment: attachment, ownLine: processSlot?.line)
    }

    /// One bit for each line whose process lives.
    var livingLines: UInt64 {
        let liveness = liveness
        return index.processes.attached.reduce(0) { liveness.isAlive($1) ? $0 | 1 << UInt64($1.line) : $0 }
    }
}

/// Which namespaces this process is in. Stateless but for what it remembers; safe from any thread.
enum Namespaces {
    /// The number of the PID namespace; 0 where it can't be told.
    static var processes: UInt32 { UInt32(truncatingIfNeeded: known >> 32) }

    /// One number for the namespaces of PIDs and of time together (the start time of a process is told by the
    /// reader's own); 0 where they can't be told.
    static var line: UInt32 { UInt32(truncatingIfNeeded: known) }

    /// The first in the high half, the second in the low one. A child that was forked may be in others.
    private static var known: UInt64 {
        let count = cp_fork_count()
        let (remembered, forks) = memory.withLock { $0 }
        if remembered != 0, forks == count { return remembered }
        var processes: UInt32 = 0
        var times: UInt32 = 0
        guard cp_namespaces(&processes, &times) == 0 else { return 0 }
        let line = max(1, processes &* 0x9E37_79B1 &+ times)
        let found = UInt64(processes) << 32 | UInt64(line)
        memory.withLock { $0 = (found, count) }
        return found
    }

    private static let ofProcess = PerProcess { GuardedReference<(numbers: UInt64, forks: UInt32)>((0, 0)) }
    private static var memory: GuardedReference<(numbers: UInt64, forks: UInt32)> { ofProcess.value }
}
