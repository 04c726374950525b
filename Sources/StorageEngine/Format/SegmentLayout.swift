/// Sizes of segments, and the segment numbers that they use. Reasons: OnDiskFormat, "Segment files".
enum SegmentLayout {
    /// Bytes of a segment for each number that it uses. A frame that doesn't fit also uses the following numbers.
    static let strideBytes = 64 << 20
    static let slots = 4096
    static let slotMask: UInt32 = 4095

    static let leastTargetBytes = 64 << 10
    static let commonTargetBytes = 16 << 20

    /// Space after the newest segment's frames that only deletes and evictions may use, for a full disk.
    static let reserveBytes = 4096

    /// Size at which the next segment begins: a 64th of the limit (S3), a 16th of a collection's values, an eighth of a small
    /// log, because each file has a cost, and for large archives enough that `slots` numbers suffice.
    static func targetBytes(of kind: ArchiveKind, forLimit limit: UInt64?, orValues values: UInt64) -> Int {
        let bytes = limit ?? values
        let part =
            switch kind {
            case .cache: bytes / 64
            case .collection: bytes / 16
            case .log: max(bytes / 64, min(values / 8, 256 << 10))
            }
        let share = min(max(Int(clamping: part), leastTargetBytes), commonTargetBytes)
        let enough = min(Int(clamping: bytes / 2048), strideBytes)
        return max(share, enough) & ~4095
    }

    /// Growth step of a segment's file in bytes: a change waits for all of it, some 40 µs.
    static func stepBytes(target: Int) -> Int { min(max(target / 8, 32 << 10), 128 << 10) & ~4095 }

    /// Bytes by which the segments may exceed their allowance between calls: the segment being written, and its growth steps.
    static func slackBytes(target: Int) -> Int { target + 2 * stepBytes(target: target) }

    static func slots(forBytes bytes: Int) -> Int { max(1, (bytes + strideBytes - 1) / strideBytes) }

    /// The count of numbers of a segment whose frames end at `end`, including the reserve after them.
    static func slots(forFramesTo end: Int) -> Int { slots(forBytes: end + reserveBytes + 4095) }

    /// Whether no segment can be missing between numbers ending before `end` and `next`; one that would wrap starts at slot 0.
    static func isNext(_ next: UInt32, afterNumbersTo end: UInt64, bytes: Int) -> Bool {
        guard next > end else { return true }
        let left = slots - Int(end % UInt64(slots))
        return UInt64(next) == end + UInt64(left) && slots(forBytes: bytes) > left
    }

    /// Whether segments with these numbers, given in order, can belong to one log.
    static func isSpan(_ numbers: [UInt32]) -> Bool {
        guard let first = numbers.first, let last = numbers.last else { return true }
        return last - first < slots
    }

    /// The maximum size of a segment's file that begins with these bytes. Later bytes are ignored.
    static func mostBytes(ofSegmentBeginning beginning: [UInt8]) -> Int {
        guard beginning.count >= SegmentHeader.bytes + Frame.headerBytes else { return strideBytes }
        return beginning.withUnsafeBytes { bytes in
            let first = bytes.baseAddress.flatMap { Frame(at: $0 + SegmentHeader.bytes, available: .max) }
            return slots(forFramesTo: SegmentHeader.bytes + (first?.bytes ?? 0)) * strideBytes
        }
    }

    /// Bytes of a file that can be its segment, and so are read: all, unless the file is too long.
    static func usableBytes(_ file: FileDescriptor, _ bytes: Int) throws(StorageError) -> Int {
        guard bytes > strideBytes else { return bytes }
        let beginning = try file.read(atMost: SegmentHeader.bytes + Frame.headerBytes)
        return min(bytes, mostBytes(ofSegmentBeginning: beginning))
    }

    /// A segment's size is a multiple of this. It grows by pages, but on a full disk by the remaining blocks.
    static let blockBytes = 512
}
