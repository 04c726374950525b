import CPlatform
import SystemC

/// The kind of an archive's lock, and the processes that may take it. OnDiskFormat: fields in "The index", reasons in "Containers".
extension ArchiveOpening {
    /// A robust mutex identifies its holder by a number of its PID namespace: unusable if that namespace is unknown.
    var lockingForNewIndex: LockingMode {
        options.locking == .automatic && Namespaces.processes == 0 ? .fileLock : options.locking.resolved
    }

    /// Changes the lock to one that this process can use, if no other process has the archive open.
    func adaptLock(of memory: IndexMemory, isAlone: Bool) throws(StorageError) {
        let index = IndexView(memory)
        guard index.locking == .robustMutex else { return }
        let namespace = index.lockNamespace
        let own = Namespaces.processes
        if isAlone {
            let index = ChangingIndex(unshared: memory)
            if lockingForNewIndex == .fileLock {
                index.setLocking(.fileLock)
            } else if namespace != own {
                try index.makeMutex()
                index.setLockNamespace(own)
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
        let owner = index.lockOwner
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
