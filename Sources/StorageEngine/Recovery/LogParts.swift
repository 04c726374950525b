/// Which segments a log with losses had when an index was built from it. If one is there later that was missing, or has been
/// written to, somebody has completed a copy or put a sound part in the place of a damaged one, and the index doesn't know all
/// of it. A value; safe to share between threads.
/// OnDiskFormat, "Losses of the log".
struct LogParts: Sendable, Hashable {
    /// The segment that was the newest: those before it count.
    let end: UInt32
    /// Of one number for each of them.
    private(set) var sum: UInt64

    init(end: UInt32, sum: UInt64) { (self.end, self.sum) = (end, sum) }

    /// Those of `log` from a segment on.
    init(of log: SegmentLog, from first: UInt32, to end: UInt32) throws(StorageError) {
        (self.end, sum) = (end, 0)
        for segment in try log.segmentNumbers() where segment >= first && segment < end {
            if let status = try log.status(of: segment) { sum &+= LogParts.number(of: segment, status) }
        }
    }

    /// A segment is no longer part of the log. `status`: of its file until now.
    mutating func remove(_ segment: UInt32, _ status: FileDescriptor.Status) {
        if segment < end { sum &-= LogParts.number(of: segment, status) }
    }

    /// Nobody writes to a segment that isn't the newest, so only a change from outside gives another number. The time counts
    /// because a copy may be as long as it will be from its beginning.
    private static func number(of segment: UInt32, _ status: FileDescriptor.Status) -> UInt64 {
        let part = mixed(UInt64(segment) << 32 ^ UInt64(truncatingIfNeeded: status.bytes))
        return mixed(part ^ UInt64(truncatingIfNeeded: status.changed))
    }

    /// SplitMix64's finalizer.
    private static func mixed(_ number: UInt64) -> UInt64 {
        var bits = number
        bits = (bits ^ bits >> 30) &* 0xbf58_476d_1ce4_e5b9
        bits = (bits ^ bits >> 27) &* 0x94d0_49bb_1331_11eb
        return bits ^ bits >> 31
    }
}
