import CPlatform
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Locks on a file or one byte of it, which the kernel frees when their holder dies.
extension OpenFile {
    enum LockKind { case shared, exclusive }

    /// `false` when another holds it and `wait` is false.
    func lock(_ kind: LockKind, wait: Bool) throws(StorageError) -> Bool {
        let operation = (kind == .shared ? LOCK_SH : LOCK_EX) | (wait ? 0 : LOCK_NB)
        let result = SystemDoor.perform(.lock, path: path) { Int(flock(descriptor, operation)) }
        if result.code == EWOULDBLOCK { return false }
        guard result.code == 0 else { throw .fromErrno(result.code, operation: "lock", path: path) }
        wasLocked.store(true, ordering: .relaxed)
        return true
    }

    /// Whether the system has locks on bytes that belong to an open file. Elsewhere they are never refused, and whether
    /// they are held can't be told.
    static var hasByteLocks: Bool {
        #if os(Linux)
        true
        #else
        false
        #endif
    }

    /// Locks one byte of the file for this open file, beside what ``lock(_:wait:)`` does; `false` when another has it.
    /// - Parameter kind: shared, also where the file is open for reading alone.
    func lockByte(_ offset: Int, _ kind: LockKind = .exclusive) throws(StorageError) -> Bool {
        let result = SystemDoor.perform(.lock, path: path) {
            let failure =
                kind == .shared
                ? cp_share_byte(descriptor, off_t(offset)) : cp_lock_byte(descriptor, off_t(offset), true)
            errno = failure
            return failure == 0 ? 0 : -1
        }
        if result.code == EAGAIN { return false }
        guard result.code == 0 else { throw .fromErrno(result.code, operation: "lock", path: path) }
        return true
    }

    func unlockByte(_ offset: Int) { _ = cp_lock_byte(descriptor, off_t(offset), false) }

    /// Whether another open file has that byte locked; `true` also where it can't be told.
    func isByteLocked(_ offset: Int) -> Bool { cp_byte_lock_is_held(descriptor, off_t(offset)) != 0 }

    /// Cannot fail on a descriptor that is open, and never waits.
    func unlock() { _ = flock(descriptor, LOCK_UN) }
}
