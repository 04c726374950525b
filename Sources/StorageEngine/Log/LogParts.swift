/// The segments that a log with losses had when its index was built. If a missing one reappears, or a segment changed, the index
/// is incomplete. OnDiskFormat, "Losses of the log".
struct LogParts: Sendable {
    /// The log tail. Segments before its segment always count; the newest counts until something is appended.
    let head: Location
    /// Sum of one number for each of those before the newest.
    private(set) var sum: UInt64
    let newest: UInt64

    init(head: Location, sum: UInt64, newest: UInt64) {
        (self.head, self.sum, self.newest) = (head, sum, newest)
    }

    init(of log: SegmentLog, from first: UInt32, to head: Location) throws(StorageError) {
        var (sum, newest): (UInt64, UInt64) = (0, 0)
        for segment in try log.segmentNumbers() where segment >= first && segment <= head.segment {
            guard let status = try log.status(of: segment) else { continue }
            let number = LogParts.number(of: segment, status)
            if segment == head.segment { newest = number } else { sum &+= number }
        }
        self.init(head: head, sum: sum, newest: newest)
    }

    func differ(in log: SegmentLog, from first: UInt32, to head: Location) throws(StorageError) -> Bool {
        let present = try LogParts(of: log, from: first, to: self.head)
        return present.sum != sum || head == self.head && present.newest != newest
    }

    mutating func remove(_ segment: UInt32, _ status: FileDescriptor.Status) {
        if segment < head.segment { sum &-= LogParts.number(of: segment, status) }
    }

    /// A different number means a change from outside: only the newest segment grows. Times count: a copy may be of equal length.
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
