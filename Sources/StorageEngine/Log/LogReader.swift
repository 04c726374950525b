/// Reads the mapped segments of a log one after the other, and passes on the frames that count.
struct LogReader {
    private let log: SegmentLog
    private let segments: PinnedSegments
    var filter: BatchFilter

    init(_ log: SegmentLog, kind: ArchiveKind) {
        self.log = log
        segments = PinnedSegments(log)
        filter = BatchFilter(kind: kind)
    }

    /// Reads the next segment, which is pinned; `damage` gets the starts of damaged ranges. Frames are valid until the next call.
    mutating func read(
        _ pin: SegmentLog.Pin, damage: (Location) -> Void = { _ in }, _ emit: BatchFilter.Emit
    ) throws(StorageError) -> (end: Int, isBlankBehind: Bool) {
        if !filter.isOpen { segments.keep(only: []) }
        _ = try segments.add(pin.segment)
        let reader = try MappedSegmentReader(log, pin)
        let result = try reader.scan { (item) throws(StorageError) in
            if case .damage(let range) = item {
                damage(Location(segment: pin.segment, offset: range.lowerBound))
            }
            try filter.take(item, of: reader, emit)
        }
        try filter.end(reader)
        return result
    }
}
