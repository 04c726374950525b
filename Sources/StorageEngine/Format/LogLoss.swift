/// A range of locations in the log in which some or all frames are lost.
struct LogLoss: Equatable {
    private(set) var from: Location
    private(set) var to: Location

    init?(from: Location, to: Location) {
        guard from.segment > 0, from < to else { return nil }
        self.from = from
        self.to = to
    }

    /// The loss of whole segments. It ends where the next segment number begins, because the end of the last segment is unknown.
    init?(segments: ClosedRange<UInt32>) {
        self.init(
            from: Location(segment: segments.lowerBound, offset: SegmentHeader.bytes),
            to: Location(segment: segments.upperBound &+ 1, offset: SegmentHeader.bytes))
    }

    /// The shortest range that covers both.
    static func joining(_ one: LogLoss?, _ other: LogLoss?) -> LogLoss? {
        guard let one, let other else { return one ?? other }
        return LogLoss(from: min(one.from, other.from), to: max(one.to, other.to))
    }

    /// Whether all of these segments lie in the lost range.
    func covers(_ segments: ClosedRange<UInt32>) -> Bool {
        from.segment <= segments.lowerBound && segments.upperBound <= to.segment
    }

    func description(in folder: FileDescriptor) -> String {
        "\(folder.path): the log is missing from \(from) to \(to) or in parts of this range; its entries are lost"
    }
}
