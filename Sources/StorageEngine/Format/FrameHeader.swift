/// The fixed part of a frame, read from its file, with lengths within the limits. Layout: OnDiskFormat, "Frames".
struct FrameHeader {
    let checksum: UInt32
    let valueBytes: Int
    let keyBytes: Int
    let extensionBytes: Int
    let rawKind: UInt8
    let isInBatch: Bool
    let sequence: UInt64
    let recency: UInt64
    let created: Int64

    var kind: FrameKind? { FrameKind(rawValue: rawKind) }
    var bytes: Int { Frame.bytes(key: keyBytes, extension: extensionBytes, value: valueBytes) }

    /// The header at `offset` of a window that shows it; `nil` if a length exceeds a frame's limits.
    init?(_ window: FileWindow, at offset: Int) {
        valueBytes = Int(window.number(offset + 4, as: UInt32.self))
        keyBytes = Int(window.number(offset + 8, as: UInt16.self))
        extensionBytes = Int(window.number(offset + 10, as: UInt16.self))
        guard keyBytes <= Frame.maximumKeyBytes, valueBytes <= Frame.maximumValueBytes else { return nil }
        checksum = window.number(offset, as: UInt32.self)
        rawKind = window.byte(offset + 12)
        isInBatch = window.byte(offset + Frame.flagsOffset) & Frame.batchFlag != 0
        sequence = window.number(offset + 16, as: UInt64.self)
        recency = window.number(offset + 24, as: UInt64.self)
        created = Int64(bitPattern: window.number(offset + 40, as: UInt64.self))
    }
}
