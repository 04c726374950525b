/// The content of a batch's first frame: size and number of the following frames. Layout: OnDiskFormat, "Batches".
struct BatchHeader: Equatable {
    static let bytes = 16
    /// Most bytes of a batch's frames together: all of them begin in the first 64 MiB of one segment.
    static let maximumFrameBytes = Batch.maximumBytes

    var count: UInt32
    var frameBytes: UInt64

    init(count: Int, frameBytes: Int) {
        self.count = UInt32(clamping: count)
        self.frameBytes = UInt64(frameBytes)
    }

    init?(of frame: Frame) {
        let value = frame.value
        guard frame.kind == .batch, value.count >= BatchHeader.bytes else { return nil }
        count = value.loadUnaligned(as: UInt32.self)
        frameBytes = value.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
        guard frameBytes > 0, frameBytes <= UInt64(BatchHeader.maximumFrameBytes), frameBytes & 7 == 0 else {
            return nil
        }
    }

    var encoded: [UInt8] {
        withUnsafeBytes(of: (count, UInt32(0), frameBytes)) { Array($0) }
    }
}

/// The part of a batch in every other frame. Layout: OnDiskFormat, "Frame extensions".
struct BatchPart: Equatable {
    static let bytes = 16

    var first: Location
    /// The previous frame of the same key's entry; `none`: no entry.
    var previous: Location
}

extension BatchPart {
    init?(of frame: Frame) {
        guard frame.isInBatch, let bytes = frame.part(.batch, least: BatchPart.bytes) else { return nil }
        first = Location(raw: bytes.loadUnaligned(as: UInt64.self))
        previous = Location(raw: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }

    func write(to writer: inout ExtensionWriter) {
        guard let bytes = writer.part(.batch, bytes: BatchPart.bytes) else { return }
        bytes.storeBytes(of: first.raw, toByteOffset: 0, as: UInt64.self)
        bytes.storeBytes(of: previous.raw, toByteOffset: 8, as: UInt64.self)
    }
}
