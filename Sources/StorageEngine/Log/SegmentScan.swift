extension SegmentLog {
    /// The frame at `offset`, if it is intact. Costs time for the file's data only: a frame may claim a gigabyte of holes.
    func validFrame(_ pin: Pin, at offset: Int) -> Frame? {
        guard let frame = frame(pin, at: offset), frame.rawKind != 0 else { return nil }
        let seed = Frame.seed(segmentSeed: pin.seed, offset: offset)
        let isValid =
            if frame.bytes > FileWindow.bytes, isSparse(pin), let file = try? openedFile(of: pin) {
                frame.passesChecksum(
                    seed: seed, of: file.data(from: offset, upTo: offset + frame.bytes), offset)
            } else {
                frame.passesChecksum(seed: seed)
            }
        return isValid ? frame : nil
    }

    /// Whether a pinned segment is zero from `offset` on. Skips holes, because reading them takes time and memory for pages.
    func isBlank(_ pin: Pin, from offset: Int) throws(StorageError) -> Bool {
        let view = view(pin)
        guard isSparse(pin) else { return view.isBlank(from: offset) }
        return try openedFile(of: pin).data(from: offset, upTo: view.bytes).allSatisfy {
            view.isBlank(from: $0.lowerBound, upTo: $0.upperBound)
        }
    }

    fileprivate func isSparse(_ pin: Pin) -> Bool {
        mapped.withLock { $0[pin.segment]?.status.isSparse } ?? false
    }

    func endOfBatch(_ pin: Pin, at offset: Int) -> Int? {
        guard let frame = validFrame(pin, at: offset), let header = BatchHeader(of: frame) else { return nil }
        let end = offset + frame.bytes + Int(header.frameBytes)
        var next = offset + frame.bytes
        while next < end {
            guard let frame = validFrame(pin, at: next), frame.isInBatch else { return nil }
            next += frame.bytes
        }
        return next == end ? end : nil
    }

    /// The first valid frame after `offset` that ends by `limit`, before which bytes no longer change. Copied frames aren't valid.
    func nextValidFrame(_ pin: Pin, after offset: Int, before limit: Int) throws(StorageError) -> Int? {
        try withSearch(of: pin, atLeast: limit) { (search) throws(StorageError) in
            try search.next(after: offset, before: limit)
        }
    }

    /// Like ``SegmentLog/validFrame(_:at:)`` for a frame that ends at `limit` at the latest, at a constant cost after damage.
    func validFrame(_ pin: Pin, at offset: Int, before limit: Int) throws(StorageError) -> Frame? {
        guard let frame = try frameIfPresent(pin, at: offset), frame.rawKind != 0,
            offset + frame.bytes <= limit
        else { return nil }
        if frame.bytes > FileWindow.bytes, isSearched(pin) || isSparse(pin) {
            let isValid = try withSearch(of: pin, atLeast: limit) { (search) throws(StorageError) in
                try search.frame(at: offset, before: limit) != nil
            }
            return isValid ? frame : nil
        }
        return frame.passesChecksum(seed: Frame.seed(segmentSeed: pin.seed, offset: offset)) ? frame : nil
    }

    /// Upper bound for the entries in a log with these segments, given the size of the smallest frame.
    func mostEntries(in numbers: [UInt32]) throws(StorageError) -> Int {
        var bytes = 0
        for number in numbers {
            bytes += min(try fileBytes(of: number), Frame.maximumValueBytes)
        }
        return bytes / Frame.bytes(key: 1, extension: 0, value: 0)
    }

    /// Visits the intact frames and damaged ranges of a mapped segment between two locations (``SegmentReader/scan(from:before:_:)``).
    @discardableResult
    func scan(
        _ pin: Pin, from begin: Location = .none, before end: Location = .last,
        _ body: (SegmentItem) throws(StorageError) -> Void
    ) throws(StorageError) -> (end: Int, isBlankBehind: Bool) {
        try MappedSegmentReader(self, pin).scan(
            from: pin.segment == begin.segment ? begin.offset : SegmentHeader.bytes,
            before: pin.segment == end.segment ? end.offset : .max, body)
    }
}

enum SegmentItem {
    /// Valid during the call.
    case frame(Frame, Location)
    /// A range without an intact frame, with intact frames after it.
    case damage(Range<Int>)
}

/// One segment, to be read frame by frame. OnDiskFormat, "Reading the log".
protocol SegmentReader: AnyObject {
    var segment: UInt32 { get }

    /// The frame at `offset`, if it is intact.
    func frame(at offset: Int) throws(StorageError) -> Frame?
    /// The offset of the first intact frame after `offset`.
    func next(after offset: Int) throws(StorageError) -> Int?
    func isBlank(from offset: Int) throws(StorageError) -> Bool
    /// Whether at most 512 bytes are all zero. Bytes beyond the end of the file count as zero.
    func isZero(_ range: Range<Int>) throws(StorageError) -> Bool
    /// Whether the segment was read again after its last frame, because another process may have appended frames.
    func readAgain() throws(StorageError) -> Bool
}

extension SegmentReader {
    /// Returns the last frame's end, and whether only zeros follow. Linear.
    func scan(
        from offset: Int = SegmentHeader.bytes, before limit: Int = .max,
        _ body: (SegmentItem) throws(StorageError) -> Void
    ) throws(StorageError) -> (end: Int, isBlankBehind: Bool) {
        var offset = max(offset, SegmentHeader.bytes)
        while offset < limit {
            if let frame = try frame(at: offset) {
                try body(.frame(frame, Location(segment: segment, offset: offset)))
                offset += frame.bytes
                continue
            }
            let isBlank = try isBlank(from: offset)
            if !isBlank, let next = try next(after: offset) {
                try body(.damage(offset..<next))
                offset = next
            } else if try !readAgain() {
                return (offset, isBlank)
            }
        }
        return (offset, true)
    }
}

/// Reads a segment through its mapping while it is pinned. After damage, a search checks frames of any claimed length.
final class MappedSegmentReader: SegmentReader {
    private let log: SegmentLog
    private let pin: SegmentLog.Pin
    private var search: FrameSearch?

    init(_ log: SegmentLog, _ pin: SegmentLog.Pin) throws(StorageError) {
        (self.log, self.pin) = (log, pin)
        search = log.isSparse(pin) ? try log.search(pin) : nil
        // Another process may have extended the file; its frames must not be taken for a blank rest.
        try log.learnSize(pin)
    }

    var segment: UInt32 { pin.segment }

    @inline(__always)
    func frame(at offset: Int) throws(StorageError) -> Frame? {
        guard let search, let frame = log.frame(pin, at: offset), frame.bytes > FileWindow.bytes else {
            return log.validFrame(pin, at: offset)
        }
        return try search.frame(at: offset) == nil ? nil : frame
    }

    func next(after offset: Int) throws(StorageError) -> Int? {
        if search == nil { search = try log.search(pin) }
        return try search?.next(after: offset)
    }

    func isBlank(from offset: Int) throws(StorageError) -> Bool { try log.isBlank(pin, from: offset) }

    func isZero(_ range: Range<Int>) -> Bool { log.view(pin).copy(range).allSatisfy { $0 == 0 } }

    func readAgain() -> Bool { false }
}
