/// How large segments get, and how many numbers they take up. Reasons: OnDiskFormat, "Segment files".
enum SegmentLayout {
    /// Bytes of a segment that take up one number; a frame that does not fit takes the numbers that follow as well.
    static let strideBytes = 64 << 20
    /// How many numbers an archive's segments take up at most.
    static let slots = 4096
    static let slotMask: UInt32 = 4095

    static let leastTargetBytes = 64 << 10
    static let commonTargetBytes = 16 << 20

    /// Room behind the frames of the newest segment that only deletes and evictions may use, so that a full disk
    /// does not keep anyone from making room.
    static let reserveBytes = 4096

    /// How many bytes a segment is to have before the next one is begun: a 64th of an archive's limit, so that what the
    /// newest and the oldest segment waste stays small (S3); of a collection a 16th of what it holds, since S3 grants it half
    /// as much again, and each file costs; and for archives of many gigabytes so large that `slots` numbers are enough.
    static func targetBytes(forLimit limit: UInt64?, orValues values: UInt64) -> Int {
        let bytes = limit ?? values
        let part = limit == nil ? bytes / 16 : bytes / 64
        let share = min(max(Int(clamping: part), leastTargetBytes), commonTargetBytes)
        let enough = min(Int(clamping: bytes / 2048), strideBytes)
        return max(share, enough) & ~4095
    }

    /// How much a segment's file grows at a time.
    static func stepBytes(target: Int) -> Int { min(max(target / 8, 32 << 10), 1 << 20) & ~4095 }

    /// By how much the segments may exceed what they are allowed, between two calls: the segment being written, and the
    /// steps it grows by.
    static func slackBytes(target: Int) -> Int { target + 2 * stepBytes(target: target) }

    /// Segment numbers that a segment of `bytes` takes up.
    static func slots(forBytes bytes: Int) -> Int { max(1, (bytes + strideBytes - 1) / strideBytes) }

    /// Segment numbers that a segment takes up whose frames end at `end`: as many as its file may, the room behind its
    /// frames included.
    static func slots(forFramesTo end: Int) -> Int { slots(forBytes: end + reserveBytes + 4095) }

    /// Whether segments of these numbers, in order, can be those of one log.
    static func isSpan(_ numbers: [UInt32]) -> Bool {
        guard let first = numbers.first, let last = numbers.last else { return true }
        return last - first < slots
    }

    /// The longest that the file of a segment can be that begins with these bytes, header and first frame's header.
    /// Only a segment that begins with a large frame is longer than 64 MiB. What a file has behind is never looked at.
    static func mostBytes(ofSegmentBeginning beginning: [UInt8]) -> Int {
        guard beginning.count >= SegmentHeader.bytes + Frame.headerBytes else { return strideBytes }
        return beginning.withUnsafeBytes { bytes in
            let first = bytes.baseAddress.flatMap { Frame(at: $0 + SegmentHeader.bytes, available: .max) }
            return slots(forFramesTo: SegmentHeader.bytes + (first?.bytes ?? 0)) * strideBytes
        }
    }

    /// How many bytes of a file can be its segment, and so are looked at: all but for files that are too long.
    static func usableBytes(_ file: OpenFile, _ bytes: Int) throws(StorageError) -> Int {
        guard bytes > strideBytes else { return bytes }
        let beginning = try file.read(atMost: SegmentHeader.bytes + Frame.headerBytes)
        return min(bytes, mostBytes(ofSegmentBeginning: beginning))
    }

    /// What the length of a segment's file is a multiple of: it grows by pages, and on a full disk by as many blocks of the
    /// file system as there were.
    static let blockBytes = 512

    /// What is wrong with the length of a segment's file; `nil`: nothing.
    static func lengthProblem(_ path: String, bytes: Int, usable: Int) -> String? {
        if bytes > usable {
            return "\(path): \(bytes) bytes long, of which the first \(usable) at most can be a segment"
        }
        guard bytes % blockBytes != 0 else { return nil }
        return
            "\(path): \(bytes) bytes long, no multiple of \(blockBytes) as every segment's file is: its end is missing"
    }
}
