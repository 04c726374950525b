import CPlatform
import Synchronization
import SystemC

/// Locks on a file or on one byte of it, which the kernel releases when their holder dies.
extension FileDescriptor {
    enum LockKind { case shared, exclusive }

    /// Returns `false` if another open file holds the lock and `wait` is false.
    func lock(_ kind: LockKind, wait: Bool) throws(StorageError) -> Bool {
        let operation = (kind == .shared ? LOCK_SH : LOCK_EX) | (wait ? 0 : LOCK_NB)
        let code = try SystemCall.lock.code("lock", path: path, allowing: EWOULDBLOCK) {
            Int(flock(descriptor, operation))
        }
        guard code == 0 else { return false }
        wasLocked.store(true, ordering: .relaxed)
        return true
    }

    /// Locks a byte, independently of ``lock(_:wait:)``; `false` if another file holds it. Belongs to the open file on Linux;
    /// on other systems it always succeeds, and can't be tested.
    func lockByte(_ offset: Int) throws(StorageError) -> Bool {
        try SystemCall.lock.code("lock", path: path, allowing: EAGAIN) {
            SystemCall.result(ofFailure: cp_lock_byte(descriptor, off_t(offset), true))
        } == 0
    }

    func unlockByte(_ offset: Int) { _ = cp_lock_byte(descriptor, off_t(offset), false) }

    /// Whether another open file has that byte locked; `true` also if unknown.
    func isByteLocked(_ offset: Int) -> Bool { cp_byte_lock_is_held(descriptor, off_t(offset)) != 0 }

    /// Releases the lock. Can't fail on an open descriptor, and never waits.
    func unlock() { _ = flock(descriptor, LOCK_UN) }
}
