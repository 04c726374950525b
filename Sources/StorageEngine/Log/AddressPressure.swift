import Synchronization

/// What to do when this process gets no more addresses or mappings: let go of all segments, of every archive, that
/// nobody reads just now (they are mapped again when they are needed), and try once more. Safe from any thread.
enum AddressPressure {
    private struct Weak {
        weak var log: SegmentLog?
    }

    private static let logs = Mutex<[ObjectIdentifier: Weak]>([:])

    static func register(_ log: SegmentLog) {
        let reference = Weak(log: log)
        logs.withLock { $0[ObjectIdentifier(log)] = reference }
    }

    static func forget(_ log: SegmentLog) {
        let name = ObjectIdentifier(log)
        logs.withLock { $0[name] = nil }
    }

    /// Must not be called while segments are being mapped or let go.
    static func relieved<Result>(_ map: () throws(StorageError) -> Result) throws(StorageError) -> Result {
        do throws(StorageError) {
            return try map()
        } catch {
            guard case .limitReached(_, _, .addresses) = error else { throw error }
            // References are let go outside of the mutex: the last of them ends in ``forget(_:)``.
            let known = logs.withLock { Array($0.values) }
            for reference in known { reference.log?.releaseUnused() }
            return try map()
        }
    }
}
