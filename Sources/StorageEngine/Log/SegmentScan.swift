/// Reading a segment from end to end, past damage.
extension SegmentLog {
    /// The frame at `offset` of a pinned segment, if it is exactly what its writer put there. Costs what the file has bytes
    /// for: a frame may claim a gigabyte of hole. Of a file that can't be opened (any more) the holes are gone through as well.
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

    /// Whether everything from `offset` to the end of a pinned segment is zero: never written. Of a file that has blocks for
    /// a small part of its length only, which no writer leaves, the holes are passed over: going through gigabytes of
    /// nothing takes time, and page after page of memory.
    func isBlank(_ pin: Pin, from offset: Int) throws(StorageError) -> Bool {
        let view = view(pin)
        guard isSparse(pin) else { return view.isBlank(from: offset) }
        return try openedFile(of: pin).data(from: offset, upTo: view.bytes).allSatisfy {
            view.isBlank(from: $0.lowerBound, upTo: $0.upperBound)
        }
    }

    /// Whether a segment's file was mostly holes when it was mapped.
    private func isSparse(_ pin: Pin) -> Bool {
        mapped.withLock { $0[pin.segment]?.status.isSparse } ?? false
    }

    /// Where the batch that begins at `offset` ends; `nil` unless all its frames are there and valid.
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

    /// The offset of the first valid frame behind `offset` that ends at `limit` at the latest, for bytes before `limit`
    /// that no longer change. The checksum's seed contains the offset, so bytes that only look like a frame do not pass.
    func nextValidFrame(_ pin: Pin, after offset: Int, before limit: Int) throws(StorageError) -> Int? {
        try withSearch(of: pin, atLeast: limit) { (search) throws(StorageError) in
            try search.next(after: offset, before: limit)
        }
    }

    /// As ``SegmentLog/validFrame(_:at:)`` for a frame that ends at `limit` at the latest; where the segment is known to be
    /// damaged the cost does not depend on the length that is claimed.
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
    /// frames. Returns the offset behind the last valid frame, and whether only blank bytes follow it. Costs time in
    /// proportion to the segment, however it is damaged. Looks at nothing from `limit` on.
    @discardableResult
    func scan(
        _ pin: Pin, from offset: Int, before limit: Int = .max,
        _ body: (ScanItem) throws(StorageError) -> Void
    ) throws(StorageError) -> (end: Int, isBlankBehind: Bool) {
        var offset = max(offset, SegmentHeader.bytes)
        var search = isSparse(pin) ? try search(pin) : nil
        // Another process may have made the file longer; what it put there must not be taken for a blank rest.
        try learnSize(pin)
        while offset < limit {
            if let frame = try validFrame(pin, at: offset, search) {
                try body(.frame(frame, Location(segment: pin.segment, offset: offset)))
                offset += frame.bytes
                continue
            }
            if try isBlank(pin, from: offset) { return (offset, true) }
            if search == nil { search = try self.search(pin) }
            guard let next = try search?.next(after: offset) else { return (offset, false) }
            try body(.damage(from: offset, to: next))
            offset = next
        }
        return (offset, true)
    }

    /// Once a segment is known to be damaged, long frames are not gone through: a length that is only claimed could make
    /// that cost the whole file each time.
    @inline(__always)
    private func validFrame(_ pin: Pin, at offset: Int, _ search: FrameSearch?) throws(StorageError) -> Frame?
    {
        guard let search, let frame = frame(pin, at: offset), frame.bytes > FileWindow.bytes else {
            return validFrame(pin, at: offset)
        }
        return try search.frame(at: offset) == nil ? nil : frame
    }
}
