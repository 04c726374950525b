/// A batch that doesn't count, because some of it never reached the medium.
struct DroppedBatch {
    var first: Location
    var end: Location
}

/// A copy of a frame without its value.
private final class FrameCopy {
    private let bytes: UnsafeMutableRawBufferPointer
    private let isDamaged: Bool

    init(_ frame: Frame) {
        isDamaged = frame.isDamaged
        bytes = .allocate(byteCount: frame.leadingBytes, alignment: 8)
        bytes.copyMemory(from: frame.leading)
    }

    deinit { bytes.deallocate() }

    /// The copied frame, valid as long as the copy.
    var frame: Frame {
        let frame = Frame(beginning: UnsafeRawBufferPointer(bytes)).unsafelyUnwrapped
        return isDamaged ? frame.asDamaged : frame
    }
}

/// Passes on the frames of a log that have an effect, in order: a batch's frames once the batch is known to be valid
/// (OnDiskFormat, "Batches"), and damaged ones whose keys can be read. Used for one reading of the log, segment by segment.
struct BatchFilter {
    private enum Gap: Comparable {
        case none
        /// A repair has filled this range; frames before and after it have an effect.
        case repaired
        case damaged
        case lost
    }

    private struct OpenBatch {
        let first: Location
        /// The segment in which the batch was found; it may differ from that of ``first``.
        let segment: UInt32
        let begin: Int
        /// The end of the batch's last frame; unknown if its first frame is missing.
        let end: Int?
        var reached: Int
        var gap: Gap
        var framesEnd: Int?
        /// Whether the missing part at the batch's end begins with a checksum, which is written last.
        var endsWritten = false
        var frames: [(frame: Frame, location: Location, copy: FrameCopy?)] = []
    }

    typealias Emit = (Frame, Location) throws(StorageError) -> Void

    private let isLog: Bool
    private let copiesFrames: Bool
    private var open: OpenBatch?
    /// The range without frames (other than `void`) directly before the next frame.
    private var precedingGap: (range: Range<Int>, gap: Gap)?
    private(set) var dropped: [DroppedBatch] = []

    /// Without `copiesFrames`, segments must stay pinned until ``BatchFilter/isOpen`` is false.
    init(kind: ArchiveKind, copiesFrames: Bool = false) {
        (isLog, self.copiesFrames) = (kind == .log, copiesFrames)
    }

    var isOpen: Bool { open != nil }

    /// Drops the frames of the undecided batch that aren't needed.
    mutating func keep(_ isNeeded: (Frame, Location) -> Bool) {
        open?.frames.removeAll { !isNeeded($0.frame, $0.location) }
    }

    /// Takes the next item of a segment. A frame that isn't `needed` isn't passed on, but its batch fields count.
    mutating func take(
        _ item: SegmentItem, of segment: some SegmentReader, needed: Bool = true, _ emit: Emit
    ) throws(StorageError) {
        switch item {
        case .frame(let frame, let location): try take(frame, location, needed: needed, emit)
        case .damage(let range): try take(damage: range, of: segment, emit)
        }
    }

    private mutating func take(
        _ frame: Frame, _ location: Location, needed: Bool, _ emit: Emit
    ) throws(StorageError) {
        let end = location.offset + frame.bytes
        if isLog {
            if needed { try emit(frame, location) }
        } else if frame.kind == .void {
            return noteGap(location.offset..<end, .repaired, .repaired)
        } else if let header = BatchHeader(of: frame) {
            try close(atLogEnd: false, emit)
            open = OpenBatch(
                first: location, segment: location.segment, begin: location.offset,
                end: end + Int(header.frameBytes), reached: end, gap: .none)
        } else if frame.kind != .batch, let part = BatchPart(of: frame) {
            if open?.first != part.first {
                try close(atLogEnd: false, emit)
                open = batchWithoutStart(part.first, from: location)
            }
            if needed {
                let copy = copiesFrames ? FrameCopy(frame) : nil
                open?.frames.append((copy?.frame ?? frame, location, copy))
            }
            open?.reached = end
            open?.framesEnd = end
            if open?.gap == Gap.none, open?.end == end { try close(atLogEnd: false, emit) }
        } else {
            try close(atLogEnd: false, emit)
            if needed { try emit(frame, location) }
        }
        precedingGap = nil
    }

    /// A batch without its first frame, which is damaged, or was overwritten after the batch was abandoned.
    private func batchWithoutStart(_ first: Location, from location: Location) -> OpenBatch {
        guard first.segment == location.segment, let precedingGap, precedingGap.range.contains(first.offset)
        else {
            return OpenBatch(
                first: first, segment: location.segment, begin: location.offset, end: nil,
                reached: location.offset, gap: .lost)
        }
        return OpenBatch(
            first: first, segment: location.segment, begin: first.offset, end: nil,
            reached: location.offset, gap: precedingGap.gap)
    }

    private mutating func take(
        damage range: Range<Int>, of segment: some SegmentReader, _ emit: Emit
    ) throws(StorageError) {
        let gap: Gap = try looksLost(range, isEnd: false, in: segment) ? .lost : .damaged
        var ofOpen = gap
        // If a batch after this one was abandoned, newer frames follow this one directly.
        if let end = open?.end, end > range.lowerBound, end <= range.upperBound {
            ofOpen = try looksLost(range.lowerBound..<end, isEnd: true, in: segment) ? .lost : .damaged
        }
        noteGap(range, gap, ofOpen)
        guard !isLog, gap == .damaged else { return }
        _ = try segment.visitDamaged(in: range) { (frame, location) throws(StorageError) in
            // Keeps the order: the frame follows those of an open batch.
            guard open != nil else { return try emit(frame, location) }
            let copy = copiesFrames ? FrameCopy(frame) : nil
            open?.frames.append((copy?.frame ?? frame, location, copy))
        }
    }

    private mutating func noteGap(_ range: Range<Int>, _ gap: Gap, _ ofOpen: Gap) {
        if let before = precedingGap, before.range.upperBound == range.lowerBound {
            precedingGap = (before.range.lowerBound..<range.upperBound, max(before.gap, gap))
        } else {
            precedingGap = (range, gap)
        }
        guard let present = open, range.lowerBound < present.end ?? .max else { return }
        open?.gap = max(present.gap, ofOpen)
        open?.reached = max(present.reached, range.upperBound)
    }

    mutating func end(_ segment: some SegmentReader) throws(StorageError) {
        precedingGap = nil
        guard let present = open, present.first.segment == segment.segment, let end = present.end,
            present.reached < end, present.gap != .repaired
        else { return }
        let isLost = try looksLost(present.reached..<end, isEnd: true, in: segment)
        open?.gap = max(present.gap, isLost ? .lost : .damaged)
        guard !isLost, present.gap == .none || present.reached == present.framesEnd else { return }
        open?.endsWritten = try segment.isZero(present.reached..<min(present.reached + 4, end)) == false
    }

    /// The end of the log's last batch if its last frames are damaged and not unwritten, so that the batch counts. The log
    /// continues after it. Known after the last segment was read.
    var damagedEnd: Int? {
        guard let open, open.gap == .damaged, open.endsWritten else { return nil }
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
        switch present.gap {
        case .none: counts = present.reached == present.end || !atLogEnd
        case .repaired: counts = true
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
        defer { withExtendedLifetime(present.frames) {} }
        for pending in present.frames { try emit(pending.frame, pending.location) }
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
