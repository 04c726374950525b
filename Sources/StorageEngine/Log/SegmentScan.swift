/// Reading a segment from end to end, past damage.
extension SegmentLog {
    /// The frame at `offset` of a pinned segment, if it is exactly what its writer put there.
    func validFrame(_ pin: Pin, at offset: Int) -> Frame? {
        guard let frame = frame(pin, at: offset), frame.rawKind != 0,
            frame.passesChecksum(seed: Frame.seed(segmentSeed: pin.seed, offset: offset))
        else { return nil }
        return frame
    }

    /// Whether everything from `offset` to the end of a pinned segment is zero: never written.
    func isBlank(_ pin: Pin, from offset: Int) -> Bool { view(pin).isBlank(from: offset) }

    /// The offset of the first valid frame behind `offset`. The checksum's seed contains the offset, so
    /// bytes that only look like a frame do not pass.
    func nextValidFrame(_ pin: Pin, after offset: Int) -> Int? {
        let view = view(pin)
        var candidate = offset + 8
        while candidate + Frame.headerBytes <= view.bytes {
            if view.validFrame(at: candidate) != nil { return candidate }
            candidate += 8
        }
        return nil
    }

    /// About how many entries a segment stores, by hopping from frame to frame without checking them.
    func countPuts(in segment: UInt32) throws(StorageError) -> Int {
        guard let pin = try pinIfPresent(segment) else { return 0 }
        defer { unpin(pin) }
        let view = view(pin)
        var count = 0
        var offset = SegmentHeader.bytes
        while let frame = view.frame(at: offset), frame.rawKind != 0 {
            if frame.kind == .put || frame.kind == .move { count += 1 }
            offset += frame.bytes
        }
        return count
    }

    /// No log of these segments has more entries than that, by the room that the smallest frame takes.
    func mostEntries(in numbers: [UInt32]) throws(StorageError) -> Int {
        var bytes = 0
        for number in numbers {
            bytes += min(try fileBytes(of: number), Frame.maximumValueBytes)
        }
        return bytes / Frame.bytes(key: 1, extension: 0, value: 0)
    }

    enum ScanItem {
        case frame(Frame, Location)
        /// Bytes that hold no valid frame, from an offset to another, with valid frames behind.
        case damage(from: Int, to: Int)
    }

    /// Calls `body` for each valid frame from `offset` on, in order, and for each damaged stretch between
    /// frames. Returns the offset behind the last valid frame, and whether only blank bytes follow it.
    func scan(_ pin: Pin, from offset: Int, _ body: (ScanItem) throws(StorageError) -> Void)
        throws(StorageError) -> (end: Int, isBlankBehind: Bool)
    {
        try learnSize(pin)
        let view = view(pin)
        var offset = max(offset, SegmentHeader.bytes)
        while true {
            if let frame = view.validFrame(at: offset) {
                try body(.frame(frame, Location(segment: pin.segment, offset: offset)))
                offset += frame.bytes
            } else if view.isBlank(from: offset) {
                return (offset, true)
            } else if let next = nextValidFrame(pin, after: offset) {
                try body(.damage(from: offset, to: next))
                offset = next
            } else {
                return (offset, false)
            }
        }
    }
}
