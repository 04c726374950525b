/// Reading a segment from end to end, past damage.
extension SegmentLog {
    /// The frame at `offset` of a pinned segment, if it is exactly what its writer put there.
    func validFrame(_ pin: Pin, at offset: Int) -> Frame? {
        guard let frame = frame(pin, at: offset), frame.rawKind != 0,
            frame.passesChecksum(seed: Frame.seed(segmentSeed: pin.seed, offset: offset))
        else { return nil }
        return frame
    }

    /// The offset of the first valid frame behind `offset`. The checksum's seed contains the offset, so
    /// bytes that only look like a frame do not pass.
    func nextValidFrame(_ pin: Pin, after offset: Int) -> Int? {
        let end = fileBytes(pin)
        var candidate = offset + 8
        while candidate + Frame.headerBytes <= end {
            if validFrame(pin, at: candidate) != nil { return candidate }
            candidate += 8
        }
        return nil
    }

    /// About how many entries a segment stores, by hopping from frame to frame without checking them.
    func countPuts(in segment: UInt32) -> Int {
        guard let pin = pin(segment) else { return 0 }
        defer { unpin(pin) }
        var count = 0
        var offset = SegmentHeader.bytes
        while let frame = frame(pin, at: offset), frame.rawKind != 0 {
            if frame.kind == .put || frame.kind == .move { count += 1 }
            offset += frame.bytes
        }
        return count
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
        var offset = max(offset, SegmentHeader.bytes)
        while true {
            if let frame = validFrame(pin, at: offset) {
                try body(.frame(frame, Location(segment: pin.segment, offset: offset)))
                offset += frame.bytes
            } else if isBlank(pin, from: offset) {
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
