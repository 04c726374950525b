/// What the first frame of a batch says: how much is behind it. Layout: OnDiskFormat, "Batches".
struct BatchHeader: Equatable {
    static let bytes = 16
    /// Most bytes that the frames of a batch have together: all of them begin in the first 64 MiB of one segment.
    static let maximumFrameBytes = 48 << 20

    /// Frames behind it.
    var count: UInt32
    /// Bytes of these frames.
    var frameBytes: UInt64

    init(count: Int, frameBytes: Int) {
        self.count = UInt32(clamping: count)
        self.frameBytes = UInt64(frameBytes)
    }

    init?(of frame: Frame) {
        guard frame.kind == .batch, frame.valueBytes >= BatchHeader.bytes else { return nil }
        count = frame.value.loadUnaligned(as: UInt32.self)
        frameBytes = frame.value.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
        guard frameBytes > 0, frameBytes <= UInt64(BatchHeader.maximumFrameBytes), frameBytes & 7 == 0 else {
            return nil
        }
    }

    var encoded: [UInt8] {
        withUnsafeBytes(of: (count, UInt32(0), frameBytes)) { Array($0) }
    }
}

/// What every other frame of a batch says. Layout: OnDiskFormat, "Frame extensions".
struct BatchPart: Equatable {
    static let bytes = 16

    /// Where the batch's first frame is.
    var first: Location
    /// The frame that was the entry of the same key before; none where there was no entry.
    var previous: Location

    init(first: Location, previous: Location) {
        self.first = first
        self.previous = previous
    }

    /// `nil` for a frame that is none of a batch.
    init?(of frame: Frame) {
        guard frame.isInBatch, let bytes = FrameExtension.part(.batch, of: frame),
            bytes.count >= BatchPart.bytes
        else { return nil }
        first = Location(raw: bytes.loadUnaligned(as: UInt64.self))
        previous = Location(raw: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }

    func write(to writer: inout ExtensionWriter) {
        guard let bytes = writer.part(.batch, bytes: BatchPart.bytes) else { return }
        bytes.storeBytes(of: first.raw, toByteOffset: 0, as: UInt64.self)
        bytes.storeBytes(of: previous.raw, toByteOffset: 8, as: UInt64.self)
    }
}
