/// Searches for frames in a file that may not be a segment, without mapping it.
enum SegmentSearch {
    /// Whether the file contains a frame that passes its checksum as one of segment `number` of the archive `identity`.
    /// Costs reading the file up to the first such frame, and at most as far as a segment can reach.
    static func holdsFrame(_ file: FileDescriptor, _ identity: [UInt8], _ number: UInt32) throws(StorageError)
        -> Bool
    {
        let seed = SegmentHeader.seed(archive: identity, segment: number)
        let bytes = try SegmentLayout.usableBytes(file, file.status().bytes)
        let search = FrameSearch(file, bytes: bytes, segmentSeed: seed)
        return try search.next(after: SegmentHeader.bytes - 8) != nil
    }
}
