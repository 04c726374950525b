/// Gives the frames of a log on in their order, and those of a batch when it is clear whether the batch counts:
/// OnDiskFormat, "Batches". For one reading of the log, segment by segment. It holds two words for each frame of the
/// batch that is just met.
struct BatchSieve {
    /// A batch that never happened: not all of it came to the medium.
    struct Dropped {
        var first: Location
        /// Behind the last frame of it that is there.
        var end: Location
    }

    private enum Hole: Int {
        case none
        /// A repair stood there, and left what is beside it to count.
        case mended
        case damaged
        /// Bytes that were never written, up to the end of a page.
        case lost
    }

    private struct Open {
        var first: Location
        /// Behind its last frame; unknown while its first frame is missing.
        var end: Int?
        var reached: Int
        var hole: Hole
        var offsets: [Int] = []

        var isWhole: Bool { hole == .none && reached == end }
    }

    private let log: SegmentLog
    private var open: Open?
    private var openPin: SegmentLog.Pin?
    /// Pins of segments whose frames were given on after the segment itself.
    private var pins: [SegmentLog.Pin] = []
    /// Where the last stretch without a frame of the segment ends, and what it is.
    private var gap: (range: Range<Int>, hole: Hole)?
    private(set) var dropped: [Dropped] = []

    init(_ log: SegmentLog) { self.log = log }

    /// To be called when the frames that were given on are no longer used.
    mutating func close() {
        for pin in pins { log.unpin(pin) }
        pins = []
    }

    typealias Emit = (Frame, Location) throws(StorageError) -> Void

    mutating func take(
        _ item: SegmentLog.ScanItem, _ pin: SegmentLog.Pin, _ emit: Emit
    ) throws(StorageError) {
        switch item {
        case .damage(let from, let to):
            meet(from..<to, looksLost(pin, from..<to) ? .lost : .damaged)
        case .frame(let frame, let location):
            if frame.kind == .batch, let header = BatchHeader(of: frame) {
                try end(atLogEnd: false, pin, emit)
                let reached = location.offset + frame.bytes
                open = Open(
                    first: location, end: reached + Int(header.frameBytes), reached: reached, hole: .none)
            } else if let part = BatchPart(of: frame) {
                if open?.first != part.first {
                    try end(atLogEnd: false, pin, emit)
                    let before = gap.flatMap { $0.range.contains(part.first.offset) ? $0.hole : nil }
                    open = Open(first: part.first, reached: location.offset, hole: before ?? .damaged)
                }
                open?.offsets.append(location.offset)
                open?.reached = location.offset + frame.bytes
                if open?.isWhole == true { try end(atLogEnd: false, pin, emit) }
            } else if frame.kind == .void {
                meet(location.offset..<location.offset + frame.bytes, .mended)
            } else {
                try end(atLogEnd: false, pin, emit)
                try emit(frame, location)
            }
        }
    }

    private mutating func meet(_ range: Range<Int>, _ hole: Hole) {
        gap = (range, hole)
        guard let present = open, range.lowerBound < present.end ?? .max else { return }
        open?.hole = hole.rawValue > present.hole.rawValue ? hole : present.hole
        open?.reached = max(present.reached, range.upperBound)
    }

    /// At the end of a segment.
    mutating func endSegment(_ pin: SegmentLog.Pin) {
        gap = nil
        guard let present = open, openPin == nil else { return }
        if let last = present.end, present.reached < last {
            let bytes = log.view(pin).bytes
            let rest = min(present.reached, bytes)..<bytes
            let hole: Hole = looksLost(pin, rest) ? .lost : .damaged
            if hole.rawValue > present.hole.rawValue { open?.hole = hole }
        }
        // Kept for when something follows in a later segment. It stays mapped: it is pinned now.
        openPin = log.pin(pin.segment)
    }

    /// At the end of the log. Gives the batch on, or gives the place where one begins that is not whole and so never
    /// happened.
    mutating func endLog(_ emit: Emit) throws(StorageError) -> Location? {
        guard let present = open, let pin = openPin else { return nil }
        let known = dropped.count
        try end(atLogEnd: true, pin, emit)
        return dropped.count > known ? present.first : nil
    }

    private mutating func end(
        atLogEnd: Bool, _ pin: SegmentLog.Pin, _ emit: Emit
    ) throws(StorageError) {
        guard let present = open else { return }
        open = nil
        let pin = openPin ?? pin
        if let openPin { pins.append(openPin) }
        openPin = nil
        let counts: Bool
        switch present.hole {
        case .none: counts = present.reached == present.end
        case .mended: counts = true
        case .damaged: counts = !atLogEnd
        case .lost: counts = false
        }
        guard counts else {
            let end = Location(segment: present.first.segment, offset: present.reached)
            return dropped.append(Dropped(first: present.first, end: end))
        }
        for offset in present.offsets {
            guard let frame = log.frame(pin, at: offset) else { continue }
            try emit(frame, Location(segment: pin.segment, offset: offset))
        }
    }

    /// Whether a stretch without a valid frame is one that never came to the medium: a page of it is zero to its end.
    /// What was written and damaged later is not, unless its value is.
    private func looksLost(_ pin: SegmentLog.Pin, _ range: Range<Int>) -> Bool {
        let page = 4096
        var end = (range.lowerBound / page + 1) * page
        while end <= range.upperBound {
            let start = max(range.lowerBound, end - 64)
            if log.view(pin).copy(start..<end).allSatisfy({ $0 == 0 }) { return true }
            end += page
        }
        return false
    }
}
