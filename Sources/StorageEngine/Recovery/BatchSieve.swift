/// Filters the batches of a log: passes its frames on in order, and those of a batch once it is known to count (OnDiskFormat,
/// "Batches"). For one reading, segment by segment. The frames of the batch being read must stay valid until
/// ``BatchSieve/isOpen`` is false.
struct BatchSieve<Item> {
    /// A batch that doesn't count, because some of it never reached the medium.
    struct Dropped {
        var first: Location
        var end: Location
    }

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
        var items: [(item: Item, location: Location)] = []
    }

    typealias Emit = (Item, Location) throws(StorageError) -> Void
    /// Whether bytes of the current segment are all zero; bytes beyond the end of its file count as zero.
    typealias Zeros = (Range<Int>) throws(StorageError) -> Bool

    private let isLog: Bool
    private var open: Open?
    /// The range without frames (other than `void`) directly before the next frame.
    private var stretch: (range: Range<Int>, hole: Hole)?
    private(set) var dropped: [Dropped] = []

    init(kind: ArchiveKind) { isLog = kind == .log }

    var isOpen: Bool { open != nil }

    mutating func keep(_ isOfInterest: (Item) -> Bool) { open?.items.removeAll { !isOfInterest($0.item) } }

    /// `item` is `nil` for a frame that the caller doesn't need; its batch fields still count.
    mutating func take(
        _ item: Item?, _ role: BatchRole, _ location: Location, bytes: Int, _ emit: Emit
    ) throws(StorageError) {
        let end = location.offset + bytes
        switch isLog ? .none : role {
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
            if let item { open?.items.append((item, location)) }
            open?.reached = end
            open?.framesEnd = end
            if open?.hole == Hole.none, open?.end == end { try close(atLogEnd: false, emit) }
        case .none:
            try close(atLogEnd: false, emit)
            if let item { try emit(item, location) }
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

    mutating func take(damage range: Range<Int>, _ zeros: Zeros) throws(StorageError) {
        let hole: Hole = try looksLost(range, isEnd: false, zeros) ? .lost : .damaged
        var ofOpen = hole
        // If a batch after this one was abandoned, newer frames follow this one directly.
        if let end = open?.end, end > range.lowerBound, end <= range.upperBound {
            ofOpen = try looksLost(range.lowerBound..<end, isEnd: true, zeros) ? .lost : .damaged
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

    /// Called at the end of a segment; `zeros` reads that segment.
    mutating func endSegment(_ segment: UInt32, _ zeros: Zeros) throws(StorageError) {
        stretch = nil
        guard let present = open, present.first.segment == segment, let end = present.end,
            present.reached < end, present.hole != .mended
        else { return }
        let isLost = try looksLost(present.reached..<end, isEnd: true, zeros)
        open?.hole = max(present.hole, isLost ? .lost : .damaged)
        guard !isLost, present.hole == .none || present.reached == present.framesEnd else { return }
        open?.endsWritten = try zeros(present.reached..<min(present.reached + 4, end)) == false
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
                Dropped(
                    first: Location(segment: present.segment, offset: present.begin),
                    end: Location(segment: present.segment, offset: present.reached)))
        }
        for (item, location) in present.items { try emit(item, location) }
    }

    /// Whether a range without a valid frame never completely reached the medium: zeros are in its checksum, which is written
    /// last, or in its part of a sector (512 bytes, a medium's unit), or at the end of a page (4,096 bytes, a system's unit,
    /// which may be half filled). Later damage leaves other bytes, unless the value has zeros there. The sector in which the
    /// range ends was written with the next frame; `isEnd`: the batch ends there.
    private func looksLost(_ range: Range<Int>, isEnd: Bool, _ zeros: Zeros) throws(StorageError) -> Bool {
        var start = range.lowerBound
        guard start < range.upperBound else { return false }
        if try zeros(start..<min(start + 4, range.upperBound)) { return true }
        while start < range.upperBound {
            let end = (start / 512 + 1) * 512
            let stop = min(end, range.upperBound)
            if end <= range.upperBound || isEnd {
                let isPageEnd = stop % 4096 == 0 || isEnd && stop == range.upperBound
                // Ignores the part of the sector before the range, which did reach the medium.
                if try zeros(max(isPageEnd ? stop - 64 : start, start)..<stop) { return true }
            }
            start = end
        }
        return false
    }
}

extension BatchSieve<Frame> {
    /// Takes an item from the scan of a mapped segment. The segment must stay pinned while a batch is open.
    mutating func take(
        _ item: SegmentLog.ScanItem, _ log: SegmentLog, _ pin: SegmentLog.Pin, _ emit: Emit
    ) throws(StorageError) {
        switch item {
        case .damage(let from, let to):
            try take(damage: from..<to) { log.view(pin).copy($0).allSatisfy { $0 == 0 } }
        case .frame(let frame, let location):
            try take(frame, BatchRole(of: frame), location, bytes: frame.bytes, emit)
        }
    }

    /// Returns the pin of a segment that must stay pinned for a batch that isn't decided yet.
    mutating func endSegment(_ log: SegmentLog, _ pin: SegmentLog.Pin) throws(StorageError) -> SegmentLog.Pin?
    {
        try endSegment(pin.segment) { log.view(pin).copy($0).allSatisfy { $0 == 0 } }
        return isOpen ? log.pin(pin.segment) : nil
    }
}
