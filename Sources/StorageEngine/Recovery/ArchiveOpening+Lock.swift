import CPlatform
import SystemC

/// Which lock an archive has, and which processes may take it. Fields: OnDiskFormat, "The index"; reasons: "Containers" there.
extension ArchiveOpening {
    /// A robust mutex names its holder in its PID namespace, and the kernel compares numbers: not usable if that is unknown.
    var lockingForNewIndex: LockingMode {
        options.locking == .automatic && Namespaces.processes == 0 ? .fileLock : options.locking.resolved
    }

    func makeLock(_ index: IndexView) throws(StorageError) -> ArchiveLock {
        if index.locking == .fileLock {
            return ArchiveLock(
                file: try folder.fileMakingIfMissing(named: ArchiveOpening.lockName), index)
        }
        return ArchiveLock(of: index)
    }

    /// The only process that has the archive open makes the lock one that it can use.
    func adaptLock(of memory: IndexMemory, isAlone: Bool) throws(StorageError) {
        let index = IndexView(memory)
        guard index.locking == .robustMutex else { return }
        let namespace = index.lockNamespace
        let own = Namespaces.processes
        if isAlone {
            let index = ChangingIndex(unshared: memory)
            if lockingForNewIndex == .fileLock {
                index.locking = .fileLock
            } else if namespace != own {
                let failure = cp_mutex_init(index.mutex)
                guard failure == 0 else {
                    throw .system(operation: "make the lock of", path: folder.path, code: failure)
                }
                index.lockNamespace = own
            }
            return
        }
        guard own != 0, namespace == own else {
            throw .busy(
                archive: descriptor.name, process: 0,
                reason:
                    "it is open for writing in another container (PID namespace), whose lock can't be shared with "
                    + "this one; work in that container, close it there, or open it with LockingMode.fileLock everywhere"
            )
        }
    }

    func isLeftInterrupted(_ index: IndexView) -> Bool {
        let owner = index.sectionOwner
        guard owner != 0 else { return false }
        let namespace = index.lockNamespace
        if namespace != 0, namespace == Namespaces.processes {
            var start: UInt64 = 0
            return cp_process_look_up(pid_t(truncatingIfNeeded: owner), &start) == ESRCH
        }
        let liveness = Liveness(folder: folder, attachment: nil, ownLine: nil)
        return !index.processes.attached.contains { UInt64($0.pid) == owner && liveness.isAlive($0) }
    }
}
