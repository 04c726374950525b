import Synchronization

/// Releases all segments that no thread reads when addresses or mappings run out, and retries.
package enum AddressPressure {
    /// Unowned; the log's `deinit` clears it. (A weak reference makes retains and releases slow, in every put.)
    private typealias Reference = GuardedReference<Unmanaged<SegmentLog>?>
    private typealias Logs = GuardedReference<OrderedTable<UInt, Reference>>
    private static let known = PerProcess { Logs(OrderedTable(by: <)) }
    private static var logs: Logs { known.value }

    private static func address(of log: SegmentLog) -> UInt {
        UInt(bitPattern: Unmanaged.passUnretained(log).toOpaque())
    }

    static func register(_ log: SegmentLog) {
        let reference = Reference(Unmanaged.passUnretained(log))
        let address = address(of: log)
        logs.withLock { $0[address] = reference }
    }

    static func forget(_ log: SegmentLog) {
        let address = address(of: log)
        logs.withLock { $0.removeValue(forKey: address) }?.withLock { $0 = nil }
    }

    /// Ensures memory for listing `entries` (at most 2³²) of `all`, `bytesEach` each: without memory, Swift's arrays end the
    /// process. Costs two system calls under a limit. Must not be called while segments are being mapped or
    /// released.
    static func requireFree(
        for entries: Int, of all: Int? = nil, bytesEach: Int, in path: String
    ) throws(StorageError) {
        let bytes = entries * bytesEach
        if MappedRange.leavesFree(bytes) { return }
        releaseUnused()
        guard MappedRange.leavesFree(bytes) else { throw lack("list the \(all ?? entries) entries of", path) }
    }

    package static func lack(_ operation: String, _ path: String) -> StorageError {
        .limitReached(operation: operation, path: path, limit: .addresses(ProcessLimit.addresses))
    }

    package static var isLimited: Bool { ProcessLimit.addresses != nil }

    /// Halves `most` until a limit of addresses leaves `bytesEach` for each, and `besides`; returns at least `least`. Costs two
    /// system calls a step under a limit. Must not be called while segments are being mapped or released.
    package static func countWithinLimit(_ most: Int, least: Int, bytesEach: Int, besides: Int = 0) -> Int {
        guard isLimited else { return most }
        func isBearable(_ count: Int) -> Bool {
            let (bytes, isTooMuch) = count.multipliedReportingOverflow(by: bytesEach)
            return !isTooMuch && bytes < Int.max / 2 && MappedRange.leavesFree(bytes + besides)
        }
        if isBearable(most) { return most }
        releaseUnused()
        var count = most
        while count > least, !isBearable(count) { count = max(least, count / 2) }
        return count
    }

    /// Must not be called while segments are being mapped or released.
    static func relieved<Result>(
        _ map: @autoclosure () throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        do throws(StorageError) {
            return try map()
        } catch {
            guard case .limitReached(_, _, .addresses) = error else { throw error }
            releaseUnused()
            return try map()
        }
    }

    /// Like ``relieved(_:)`` for segments, which leave an eighth of a limited address space to others if they can.
    static func relievedEarly<Result>(
        _ map: @autoclosure () throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        if let limit = ProcessLimit.addresses, !MappedRange.leavesFree(Int(clamping: limit / 8)) {
            releaseUnused()
        }
        return try relieved(map())
    }

    private static func releaseUnused() {
        let references = logs.withLock { $0.values }
        for reference in references {
            reference.withLock { $0?._withUnsafeGuaranteedRef { $0.releaseUnused() } }
        }
    }
}
