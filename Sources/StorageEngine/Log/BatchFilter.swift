/// A batch that doesn't count, because some of it never reached the medium.
struct DroppedBatch {
    var first: Location
    var end: Location
}

/// A frame of a batch that isn't decided yet.
protocol PendingFrame {
    init(_ frame: Frame)
    func withFrame<Result, Failure>(_ body: (Frame) throws(Failure) -> Result) throws(Failure) -> Result
}

/// A frame of a mapped segment, which must stay pinned until the batch is decided.
extension Frame: PendingFrame {
    init(_ frame: Frame) { self = frame }

    func withFrame<Result, Failure>(_ body: (Frame) throws(Failure) -> Result) throws(Failure) -> Result {
        try body(self)
    }
}

/// A copy of a frame without its value.
struct FrameCopy: PendingFrame {
    private let bytes: [UInt8]

    init(_ frame: Frame) { bytes = Array(frame.leading) }

    func withFrame<Result, Failure>(_ body: (Frame) throws(Failure) -> Result) throws(Failure) -> Result {
        let result = bytes.withUnsafeBytes { bytes in
            Swift.Result { () throws(Failure) in try body(Frame(beginning: bytes).unsafelyUnwrapped) }
        }
        return try result.get()
    }
}

/// Passes on the frames of a log that count, in order: those of a batch once it is known to count (OnDiskFormat, "Batches").
/// For one reading, segment by segment.
struct BatchFilter<Pending: PendingFrame> {
    private enum Hole: Comparable {
        case none
        /// A repair has covered this range; frames beside it count.
        case mended
        case damaged
        case lost
    }

    private struct Open {
        let first: Location
        /// The segment in which the batch was found; it may differ from that of ``first``.
        let segment: UInt32
        let begin: Int
        /// The end of the batch's last frame; unknown if its first frame is missing.
        let end: Int?
        var reached: Int
        var hole: Hole
        var framesEnd: Int?
        /// Whether the missing part at the batch's end begins with a checksum, which is written last.
        var endsWritten = false
        var frames: [(frame: Pending, location: Location)] = []
    }

    typealias Emit = (Frame, Location) throws(StorageError) -> Void

    private let isLog: Bool
    private var open: Open?
    /// The range without frames (other than `void`) directly before the next frame.
    private var stretch: (range: Range<Int>, hole: Hole)?
    private(set) var dropped: [DroppedBatch] = []

    init(kind: ArchiveKind) { isLog = kind == .log }

    var isOpen: Bool { open != nil }

    /// Forgets frames of the undecided batch.
    mutating func keep(_ isNeeded: (Frame, Location) -> Bool) {
        open?.frames.removeAll { (frame, location) in !frame.withFrame { isNeeded($0, location) } }
    }

    /// Takes the next item of a segment. A frame that isn't `needed` isn't passed on, but its batch fields count.
    mutating func take(
        _ item: SegmentItem, of segment: some SegmentReader, needed: Bool = true, _ emit: Emit
    ) throws(StorageError) {
        switch item {
        case .frame(let frame, let location): try take(frame, location, needed: needed, emit)
        case .damage(let range): try take(damage: range, of: segment)
        }
    }

    private mutating func take(
        _ frame: Frame, _ location: Location, needed: Bool, _ emit: Emit
    ) throws(StorageError) {
        let end = location.offset + frame.bytes
        switch isLog ? .none : BatchRole(of: frame) {
        case .void:
            return meet(location.offset..<end, .mended, .mended)
        case .first(let frameBytes):
            try close(atLogEnd: false, emit)
            open = Open(
                first: location, segment: location.segment, begin: location.offset, end: end + frameBytes,
                reached: end, hole: .none)
        case .part(let first):
            if open?.first != first {
                try close(atLogEnd: false, emit)
                open = headless(first, from: location)
            }
            if needed { open?.frames.append((Pending(frame), location)) }
            open?.reached = end
            open?.framesEnd = end
            if open?.hole == Hole.none, open?.end == end { try close(atLogEnd: false, emit) }
        case .none:
            try close(atLogEnd: false, emit)
            if needed { try emit(frame, location) }
        }
        stretch = nil
    }

    /// A batch without its first frame, which is damaged, or was overwritten after the batch was abandoned.
    private func headless(_ first: Location, from location: Location) -> Open {
        guard first.segment == location.segment, let stretch, stretch.range.contains(first.offset) else {
            return Open(
                first: first, segment: location.segment, begin: location.offset, end: nil,
                reached: location.offset, hole: .lost)
        }
        return Open(
            first: first, segment: location.segment, begin: first.offset, end: nil,
            reached: location.offset, hole: stretch.hole)
    }

    private mutating func take(
        damage range: Range<Int>, of segment: some SegmentReader
    ) throws(StorageError) {
        let hole: Hole = try looksLost(range, isEnd: false, in: segment) ? .lost : .damaged
        var ofOpen = hole
        // If a batch after this one was abandoned, newer frames follow this one directly.
        if let end = open?.end, end > range.lowerBound, end <= range.upperBound {
            ofOpen = try looksLost(range.lowerBound..<end, isEnd: true, in: segment) ? .lost : .damaged
        }
        meet(range, hole, ofOpen)
    }

    private mutating func meet(_ range: Range<Int>, _ hole: Hole, _ ofOpen: Hole) {
        if let before = stretch, before.range.upperBound == range.lowerBound {
            stretch = (before.range.lowerBound..<range.upperBound, max(before.hole, hole))
        } else {
            stretch = (range, hole)
        }
        guard let present = open, range.lowerBound < present.end ?? .max else { return }
        open?.hole = max(present.hole, ofOpen)
        open?.reached = max(present.reached, range.upperBound)
    }

    mutating func end(_ segment: some SegmentReader) throws(StorageError) {
        stretch = nil
        guard let present = open, present.first.segment == segment.segment, let end = present.end,
            present.reached < end, present.hole != .mended
        else { return }
        let isLost = try looksLost(present.reached..<end, isEnd: true, in: segment)
        open?.hole = max(present.hole, isLost ? .lost : .damaged)
        guard !isLost, present.hole == .none || present.reached == present.framesEnd else { return }
        open?.endsWritten = try segment.isZero(present.reached..<min(present.reached + 4, end)) == false
    }

    /// The end of a batch at the end of the log that counts although its last frames are damaged; otherwise they would count as
    /// never written. The log continues after it. Known at the end of the last segment.
    var damagedEnd: Int? {
        guard let open, open.hole == .damaged, open.endsWritten else { return nil }
        return open.end
    }

    /// Ends the log: passes on the last batch, or returns the beginning of an incomplete one.
    mutating func endLog(_ emit: Emit) throws(StorageError) -> Location? {
        let known = dropped.count
        try close(atLogEnd: true, emit)
        return dropped.count > known ? dropped.last?.first : nil
    }

    private mutating func close(atLogEnd: Bool, _ emit: Emit) throws(StorageError) {
        guard let present = open else { return }
        open = nil
        let counts: Bool
        switch present.hole {
        case .none: counts = present.reached == present.end || !atLogEnd
        case .mended: counts = true
        // If its writer finished the batch, all of it had reached the medium, but only its first frame can show that.
        case .damaged:
            counts =
                !atLogEnd || present.endsWritten || present.end == nil
                || present.framesEnd != nil && present.framesEnd == present.end
        case .lost: counts = false
        }
        guard counts else {
            return dropped.append(
                DroppedBatch(
                    first: Location(segment: present.segment, offset: present.begin),
                    end: Location(segment: present.segment, offset: present.reached)))
        }
        for (frame, location) in present.frames {
            try frame.withFrame { (frame) throws(StorageError) in try emit(frame, location) }
        }
    }

    /// Whether a range without a valid frame never completely reached the medium: zeros are in its checksum, which is written
    /// last, or in its part of a sector (512 bytes, a medium's unit), or at the end of a page (4,096 bytes, a system's unit,
    /// which may be half filled). Later damage leaves other bytes, unless the value has zeros there. The sector in which the
    /// range ends was written with the next frame; `isEnd`: the batch ends there.
    private func looksLost(
        _ range: Range<Int>, isEnd: Bool, in segment: some SegmentReader
    ) throws(StorageError) -> Bool {
        var start = range.lowerBound
        guard start < range.upperBound else { return false }
        if try segment.isZero(start..<min(start + 4, range.upperBound)) { return true }
        while start < range.upperBound {
            let end = (start / 512 + 1) * 512
            let stop = min(end, range.upperBound)
            if end <= range.upperBound || isEnd {
                let isPageEnd = stop % 4096 == 0 || isEnd && stop == range.upperBound
                // Ignores the part of the sector before the range, which did reach the medium.
                if try segment.isZero(max(isPageEnd ? stop - 64 : start, start)..<stop) { return true }
            }
            start = end
        }
        return false
    }
}

/// Reads the mapped segments of a log one after the other, and passes on the frames that count.
struct LogReader {
    private let log: SegmentLog
    private let segments: PinnedSegments
    var filter: BatchFilter<Frame>

    init(_ log: SegmentLog, kind: ArchiveKind) {
        self.log = log
        segments = PinnedSegments(log)
        filter = BatchFilter(kind: kind)
    }

    /// Reads the next segment; `nil` if it can't be mapped. Emitted frames are valid until the next call.
    mutating func read(
        _ number: UInt32, damage: (Range<Int>) -> Void = { _ in }, _ emit: BatchFilter<Frame>.Emit
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
