extension SegmentLog {
    func validFrame(_ pin: Pin, at offset: Int) -> Frame? {
        guard let frame = frame(pin, at: offset), frame.rawKind != 0,
            frame.passesChecksum(seed: Frame.seed(segmentSeed: pin.seed, offset: offset))
        else { return nil }
        return frame
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

    /// The first valid frame after `offset` that ends by `limit`; bytes before `limit` must no longer change. A frame copied from
    /// another offset is invalid, because checksums include the offset.
    func nextValidFrame(_ pin: Pin, after offset: Int, before limit: Int) throws(StorageError) -> Int? {
        try withSearch(of: pin, atLeast: limit) { (search) throws(StorageError) in
            try search.next(after: offset, before: limit)
        }
    }

    /// Like ``SegmentLog/validFrame(_:at:)`` for a frame that ends by `limit`. The cost after damage is constant.
    func validFrame(_ pin: Pin, at offset: Int, before limit: Int) throws(StorageError) -> Frame? {
        guard let frame = try frameIfPresent(pin, at: offset), frame.rawKind != 0,
            offset + frame.bytes <= limit
        else { return nil }
        if frame.bytes > FileWindow.bytes, isSearched(pin) {
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
        for number in numbers { bytes += min(try fileBytes(of: number), Frame.maximumValueBytes) }
        return bytes / Frame.bytes(key: 1, extension: 0, value: 0)
    }

    /// Visits the intact frames and damaged ranges of a mapped segment between two locations (``SegmentReader/scan(from:before:_:)``).
    @discardableResult func scan(
        _ pin: Pin, from begin: Location = .none, before end: Location = .last,
        _ body: (SegmentItem) throws(StorageError) -> Void
    ) throws(StorageError) -> (end: Int, isBlankBehind: Bool) {
        try MappedSegmentReader(self, pin).scan(
            from: pin.segment == begin.segment ? begin.offset : SegmentHeader.bytes,
            before: pin.segment == end.segment ? end.offset : .max, body)
    }
}
