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

    /// Reads the next segment; `nil` if it can't be mapped. Emitted frames are valid until the next call.
    mutating func read(
        _ number: UInt32, damage: (Range<Int>) -> Void = { _ in }, _ emit: BatchFilter.Emit
    ) throws(StorageError) -> (end: Int, isBlankBehind: Bool)? {
        if !filter.isOpen { segments.keep(only: []) }
        guard try segments.add(number), let pin = segments.pins[number] else { return nil }
        let reader = try MappedSegmentReader(log, pin)
        let result = try reader.scan { (item) throws(StorageError) in
            if case .damage(let range) = item { damage(range) }
            try filter.take(item, of: reader, emit)
        }
        try filter.end(reader)
        return result
    }
}

extension SegmentLog {
    func problem(_ segment: UInt32, damage range: Range<Int>) -> String {
        "\(path(of: segment)): bytes \(range.lowerBound) to \(range.upperBound) hold no valid entry"
    }

    func problem(_ batch: DroppedBatch) -> String {
        "\(path(of: batch.first.segment)): the batch from byte \(batch.first.offset) on never reached the medium "
            + "completely and is left out"
    }
}
