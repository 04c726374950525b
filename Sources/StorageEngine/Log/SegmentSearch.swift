/// Searches for frames in a file that may not be a segment, without mapping it.
enum SegmentSearch {
    /// Whether the file has an intact frame of segment `number` of `identity`. Reads up to it, or to a segment's greatest size.
    static func holdsFrame(_ file: FileDescriptor, _ identity: [UInt8], _ number: UInt32) throws(StorageError)
        -> Bool
    {
        let seed = SegmentHeader.seed(archive: identity, segment: number)
        let bytes = try SegmentLayout.usableBytes(file, file.status().bytes)
        let search = FrameSearch(file, bytes: bytes, segmentSeed: seed)
        return try search.next(after: SegmentHeader.bytes - 8) != nil
    }
}
