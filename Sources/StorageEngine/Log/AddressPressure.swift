import Synchronization

/// What to do when this process gets no more addresses or mappings: let go of all segments, of every archive, that
/// nobody reads just now (they are mapped again when they are needed), and try once more. Safe from any thread.
enum AddressPressure {
    /// A log as long as it is there, which it says itself when it goes. (A weak reference would make each retain and release
    /// of the log take the runtime's slow way, in every put.)
    private final class Reference: Sendable {
        private let log: Guarded<Unmanaged<SegmentLog>?>

        init(_ log: SegmentLog) { self.log = Guarded(Unmanaged.passUnretained(log)) }

        func releaseUnused() { log.withLock { $0?._withUnsafeGuaranteedRef { $0.releaseUnused() } } }

        /// Returns when nobody is at it any more.
        func end() { log.withLock { $0 = nil } }
    }

    /// Those of this process.
    private static let known = PerProcess { GuardedReference<[ObjectIdentifier: Reference]>([:]) }
    private static var logs: GuardedReference<[ObjectIdentifier: Reference]> { known.value }

    static func register(_ log: SegmentLog) {
        let reference = Reference(log)
        logs.withLock { $0[ObjectIdentifier(log)] = reference }
    }

    /// For a log that goes.
    static func forget(_ log: SegmentLog) {
        let name = ObjectIdentifier(log)
        logs.withLock { $0.removeValue(forKey: name) }?.end()
    }

    /// Must not be called while segments are being mapped or let go.
    static func relieved<Result>(_ map: () throws(StorageError) -> Result) throws(StorageError) -> Result {
        do throws(StorageError) {
            return try map()
        } catch {
            guard case .limitReached(_, _, .addresses) = error else { throw error }
            let references = logs.withLock { Array($0.values) }
            for reference in references { reference.releaseUnused() }
            return try map()
        }
    }
}
