/// Gives the frames of a log on in their order, and those of a batch when it is clear whether the batch counts:
/// OnDiskFormat, "Batches". For one reading of a log, segment by segment, however it is read. It holds the frames of the
/// batch that is just met; what they point to has to stay until ``BatchSieve/isOpen`` is false.
struct BatchSieve<Item> {
    /// A batch that never happened: not all of it came to the medium.
    struct Dropped {
        /// Where what there is of it begins.
        var first: Location
        /// Behind the last frame of it that is there.
        var end: Location
    }

    private enum Hole: Int, Comparable {
        case none
        /// A repair stood there, and left what is beside it to count.
        case mended
        case damaged
        /// Bytes that never came to the medium.
        case lost

        static func < (first: Hole, second: Hole) -> Bool { first.rawValue < second.rawValue }
    }

    private struct Open {
        let first: Location
        /// Where it was met; of one without its first frame that may be another segment than that of ``first``.
        let segment: UInt32
        let begin: Int
        /// Behind its last frame; unknown while its first frame is missing.
        let end: Int?
        var reached: Int
        var hole: Hole
        /// Behind the last of its frames that are there.
        var framesEnd: Int?
        /// Whether what is missing at its end begins with a checksum. That is written last.
        var endsWritten = false
        var items: [(item: Item, location: Location)] = []
    }

    /// Does something with a frame that counts.
    typealias Emit = (Item, Location) throws(StorageError) -> Void
    /// Whether bytes of the segment that is being read are all zero; those behind the end of its file are.
    typealias Zeros = (Range<Int>) throws(StorageError) -> Bool

    private let isLog: Bool
    private var open: Open?
    /// Without a frame but `void`, directly before what comes next.
    private var stretch: (range: Range<Int>, hole: Hole)?
    private(set) var dropped: [Dropped] = []

    init(kind: ArchiveKind) { isLog = kind == .log }

    var isOpen: Bool { open != nil }

    /// Lets those go that it holds and that are of no interest any more.
    mutating func keep(_ isOfInterest: (Item) -> Bool) { open?.items.removeAll { !isOfInterest($0.item) } }

    /// `item`: `nil` for a frame that is of no interest itself; what it says about the batch counts.
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

    /// A batch of which the first frame is not there. It was in the stretch before; else these are the remains of one that
    /// was given up, with the log gone on in its place.
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

    /// Bytes between two frames that hold none.
    mutating func take(damage range: Range<Int>, _ zeros: Zeros) throws(StorageError) {
        let hole: Hole = try looksLost(range, isEnd: false, zeros) ? .lost : .damaged
        var ofOpen = hole
        // What came later stands right behind it where a batch behind it was given up.
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

    /// At the end of a segment, whose bytes `zeros` tells of.
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

    /// Where the batch at the end of the log ends that counts although its last frames are damaged: the log goes on behind it, or
    /// they would be taken for frames that were never written. Known at the end of the last segment.
    var damagedEnd: Int? {
        guard let open, open.hole == .damaged, open.endsWritten else { return nil }
        return open.end
    }

    /// At the end of the log. Gives the batch on, or gives the place where one begins that is not whole and so never
    /// happened.
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
        // All of it had come to the medium, if its writer ever came to its end; that only its first frame tells.
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

    /// Whether a stretch without a valid frame is one that never came to the medium, or not as it was in the end: it has no
    /// checksum, which is written last; all that it has of a sector of 512 bytes, which media write whole, is zero; or the end of a
    /// page of 4,096 is, which systems write whole, perhaps when half of it was filled. What was written and damaged later is not
    /// like that, unless its value is. A sector that it ends in came with the frame that follows; `isEnd`: the batch ends there, and
    /// no frame of it follows.
    private func looksLost(_ range: Range<Int>, isEnd: Bool, _ zeros: Zeros) throws(StorageError) -> Bool {
        var start = range.lowerBound
        guard start < range.upperBound else { return false }
        if try zeros(start..<min(start + 4, range.upperBound)) { return true }
        while start < range.upperBound {
            let end = (start / 512 + 1) * 512
            let stop = min(end, range.upperBound)
            if end <= range.upperBound || isEnd {
                let isPageEnd = stop % 4096 == 0 || isEnd && stop == range.upperBound
                // Of the sector before, which came, nothing is asked.
                if try zeros(max(isPageEnd ? stop - 64 : start, start)..<stop) { return true }
            }
            start = end
        }
        return false
    }
}

extension BatchSieve<Frame> {
    /// What a scan of a mapped segment meets. The segment has to stay pinned as long as the sieve is open.
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

    /// Gives the pin of a segment that has to stay pinned for what is not decided yet.
    mutating func endSegment(_ log: SegmentLog, _ pin: SegmentLog.Pin) throws(StorageError) -> SegmentLog.Pin?
    {
        try endSegment(pin.segment) { log.view(pin).copy($0).allSatisfy { $0 == 0 } }
        return isOpen ? log.pin(pin.segment) : nil
    }
}
