/// Looking for frames in the file of a segment that can't be relied on to be one, without mapping it.
enum SegmentSearch {
    /// Segments are never nearly as large; a file that is, is not read to its end.
    private static let mostBytes = 2 << 30

    /// Whether the file holds a frame that passes its checksum as one of segment `number` of the archive
    /// `identity`. Costs reading the file up to the first.
    static func holdsFrame(_ file: OpenFile, _ identity: [UInt8], _ number: UInt32) throws(StorageError)
        -> Bool
    {
        let bytes = try file.read(atMost: min(file.status().bytes, mostBytes))
        return holdsFrame(bytes, identity, number)
    }

    static func holdsFrame(_ bytes: [UInt8], _ identity: [UInt8], _ number: UInt32) -> Bool {
        let seed = SegmentHeader.seed(archive: identity, segment: number)
        return bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return false }
            var offset = SegmentHeader.bytes
            while offset + Frame.headerBytes <= bytes.count {
                if let frame = Frame(at: base + offset, available: bytes.count - offset), frame.rawKind != 0,
                    frame.passesChecksum(seed: Frame.seed(segmentSeed: seed, offset: offset))
                {
                    return true
                }
                offset += 8
            }
            return false
        }
    }
}
