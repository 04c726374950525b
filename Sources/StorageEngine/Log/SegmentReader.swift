enum SegmentItem {
    /// An intact frame, valid during the call.
    case frame(Frame, Location)
    /// A range without an intact frame, with intact frames after it.
    case damage(Range<Int>)
}

/// One segment, to be read frame by frame. OnDiskFormat, "Reading the log".
protocol SegmentReader: AnyObject {
    var segment: UInt32 { get }

    /// The frame at `offset`, if it is intact.
    func frame(at offset: Int) throws(StorageError) -> Frame?
    /// The damaged frame at `offset` if its key can be read (``Frame/damaged(by:)``), in a segment with damage.
    func damagedFrame(at offset: Int) throws(StorageError) -> Frame?
    /// The offset of the first intact frame after `offset`.
    func next(after offset: Int) throws(StorageError) -> Int?
    func isBlank(from offset: Int) throws(StorageError) -> Bool
    /// Whether at most 512 bytes are all zero. Bytes beyond the end of the file count as zero.
    func isZero(_ range: Range<Int>) throws(StorageError) -> Bool
    /// Reads the file's size and bytes again, because another process may have appended frames. `false`: not needed, or already
    /// done.
    func rereadOnce() throws(StorageError) -> Bool
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
            } else if try rereadOnce() == false {
                return (offset, isBlank)
            }
        }
        return (offset, true)
    }

    /// Visits the frames of a damaged range. Returns `false`, without a visit, unless they fill it and all their keys can be read.
    /// Reads each frame twice.
    func visitDamaged(
        in range: Range<Int>, _ body: (Frame, Location) throws(StorageError) -> Void
    ) throws(StorageError) -> Bool {
        var offset = range.lowerBound
        var offsets: [Int] = []
        while offset < range.upperBound {
            guard let frame = try damagedFrame(at: offset) else { return false }
            offsets.append(offset)
            offset += frame.bytes
        }
        guard offset == range.upperBound else { return false }
        for offset in offsets {
            guard let frame = try damagedFrame(at: offset) else { return false }
            try body(frame, Location(segment: segment, offset: offset))
        }
        return true
    }

    /// The keys of a damaged range, at most three by name, as the end of a message: ` of the key "a"`.
    func keys(inDamaged range: Range<Int>) throws(StorageError) -> String {
        let most = 3
        var (names, count): ([String], Int) = ([], 0)
        let isReadable = try visitDamaged(in: range) { (frame, _) throws(StorageError) in
            guard frame.keyBytes > 0 else { return }
            count += 1
            if count <= most { names.append("\"" + String(decoding: frame.key, as: UTF8.self) + "\"") }
        }
        guard isReadable else { return " (its keys can't be read)" }
        guard count > 0 else { return "" }
        let rest = count > most ? " and \(count - most) more" : ""
        return (count == 1 ? " of the key " : " of the keys ") + names.joined(separator: ", ") + rest
    }
}

/// Reads a segment through its mapping while it is pinned. After damage, a search checks frames of any claimed length.
final class MappedSegmentReader: SegmentReader {
    private let log: SegmentLog
    private let pin: SegmentLog.Pin
    private var search: FrameSearch?

    init(_ log: SegmentLog, _ pin: SegmentLog.Pin) throws(StorageError) {
        (self.log, self.pin) = (log, pin)
        // Another process may have extended the file; without the new size, its frames would be read as unwritten bytes.
        try log.updateSize(pin)
    }

    var segment: UInt32 { pin.segment }

    @inline(__always) func frame(at offset: Int) throws(StorageError) -> Frame? {
        guard let search, let frame = log.frame(pin, at: offset), frame.bytes > FileWindow.bytes else {
            return log.validFrame(pin, at: offset)
        }
        return try search.frame(at: offset) == nil ? nil : frame
    }

    func damagedFrame(at offset: Int) throws(StorageError) -> Frame? {
        if search == nil { search = try log.search(pin) }
        guard try search?.damagedFrame(at: offset) != nil else { return nil }
        // Checks the fields again, as mapped.
        return log.frame(pin, at: offset)?.damaged(by: 0)
    }

    func next(after offset: Int) throws(StorageError) -> Int? {
        if search == nil { search = try log.search(pin) }
        return try search?.next(after: offset)
    }

    func isBlank(from offset: Int) throws(StorageError) -> Bool { log.view(pin).isBlank(from: offset) }

    func isZero(_ range: Range<Int>) -> Bool { log.view(pin).copy(range).allSatisfy { $0 == 0 } }

    func rereadOnce() -> Bool { false }
}
