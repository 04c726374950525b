/// How segments lie in the address space and how large they get. Reasons: OnDiskFormat, "Segment files".
enum SegmentLayout {
    /// Addresses between the starts of two consecutive segments; a frame that does not fit takes the
    /// numbers that follow as well.
    static let strideBytes = 64 << 20
    static let slots = 4096
    static let slotMask: UInt32 = 4095
    static let windowBytes = slots * strideBytes
    static let leastWindowBytes = 16 * strideBytes

    static let leastTargetBytes = 64 << 10
    static let commonTargetBytes = 16 << 20

    /// Room behind the frames of the newest segment that only deletes and evictions may use, so that a full disk
    /// does not keep anyone from making room.
    static let reserveBytes = 4096

    /// How many bytes a segment is to have before the next one is begun: a 64th of what the archive
    /// is to hold, so that what the newest and the oldest segment waste stays small (S3); and for archives
    /// of many gigabytes so large that `slots` numbers are enough.
    static func targetBytes(forArchiveOf bytes: UInt64) -> Int {
        let share = min(max(Int(clamping: bytes / 64), leastTargetBytes), commonTargetBytes)
        let enough = min(Int(clamping: bytes / 2048), strideBytes)
        return max(share, enough) & ~4095
    }

    /// How much a segment's file grows at a time.
    static func stepBytes(target: Int) -> Int { min(max(target / 8, 32 << 10), 1 << 20) & ~4095 }

    /// No segment is longer: its last frame begins in the first stride. What a file has behind that is never looked at.
    static let mostBytes =
        strideBytes + Frame.headerBytes + Frame.maximumExtensionBytes + Frame.maximumKeyBytes
        + Frame.maximumValueBytes + reserveBytes + 65_536

    /// Segment numbers that a segment of `bytes` takes up.
    static func slots(forBytes bytes: Int) -> Int { max(1, (bytes + strideBytes - 1) / strideBytes) }
}
