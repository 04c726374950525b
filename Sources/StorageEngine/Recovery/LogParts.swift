/// Which segments a log with losses had when an index was built from it. If one is there later that was missing, or has become
/// longer, somebody has completed a copy, and the index doesn't know all of it. A value; safe to share between threads.
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
            sum &+= LogParts.number(of: segment, bytes: try log.fileBytes(of: segment))
        }
    }

    /// A segment is no longer part of the log.
    mutating func remove(_ segment: UInt32, bytes: Int) {
        if segment < end { sum &-= LogParts.number(of: segment, bytes: bytes) }
    }

    /// SplitMix64's finalizer.
    private static func number(of segment: UInt32, bytes: Int) -> UInt64 {
        var bits = UInt64(segment) << 32 ^ UInt64(bytes)
        bits = (bits ^ bits >> 30) &* 0xbf58_476d_1ce4_e5b9
        bits = (bits ^ bits >> 27) &* 0x94d0_49bb_1331_11eb
        return bits ^ bits >> 31
    }
}
