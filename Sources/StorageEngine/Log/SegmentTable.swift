import CPlatform
import Synchronization

/// State of one mapped segment in this process. `number` and `pins` decide whether it stays mapped: a reader adds its pin before
/// it reads the number; a releasing thread clears the number before it reads the pins. `base` and `bytes` change while the
/// segment is pinned, when its file has grown. `base` is stored first, so a reader that loads `bytes` first never exceeds the
/// mapping. An earlier base stays mapped as long as the number does.
struct SegmentSlot: ~Copyable {
    /// Number of the mapped segment; 0 if none is mapped.
    let number = Atomic<UInt32>(0)
    let pins = Atomic<UInt32>(0)
    /// Bytes from `base` on that may be accessed: within the mapping, the file, and the size of a segment (F4).
    let bytes = Atomic<Int>(0)
    let base = Atomic<UInt>(0)
    /// Seed of the frames' checksums. Written before the number.
    let seed = Atomic<UInt32>(0)
}

/// The slots of a log: segment number modulo their count, so every number has one.
struct SegmentTable: @unchecked Sendable {
    /// Zeroed memory means empty slots. Pages that no segment has used take no memory.
    private let memory: MappedRange
    private let slots: UnsafeMutablePointer<SegmentSlot>

    init(for path: String) throws(StorageError) {
        let bytes = SegmentLayout.slots * MemoryLayout<SegmentSlot>.stride
        memory = try MappedRange(privateBytes: bytes, for: path)
        slots = memory.base.bindMemory(to: SegmentSlot.self, capacity: SegmentLayout.slots)
    }

    @inline(__always) subscript(segment: UInt32) -> UnsafeMutablePointer<SegmentSlot> {
        slots + Int(segment & SegmentLayout.slotMask)
    }
}

/// The bytes of a mapped segment, with bounds checks. Valid as long as the segment is pinned.
struct SegmentView {
    let segment: UInt32
    let bytes: Int
    let seed: UInt32
    fileprivate let base: UnsafeMutableRawPointer

    @inline(__always) init(_ pin: SegmentLog.Pin, _ slot: UnsafeMutablePointer<SegmentSlot>) {
        segment = pin.segment
        seed = pin.seed
        // Loaded before the base: see ``SegmentSlot``.
        bytes = slot.pointee.bytes.load(ordering: .acquiring)
        base =
            UnsafeMutableRawPointer(bitPattern: slot.pointee.base.load(ordering: .relaxed)).unsafelyUnwrapped
    }

    /// The frame at `offset`, with lengths checked but not its checksum. `nil` if there can't be one.
    @inline(__always) func frame(at offset: Int) -> Frame? {
        guard offset >= SegmentHeader.bytes, bytes - offset >= Frame.headerBytes else { return nil }
        return Frame(at: base + offset, available: bytes - offset)
    }

    func copy(_ range: Range<Int>) -> [UInt8] {
        let inside = range.clamped(to: 0..<bytes)
        return Array(UnsafeRawBufferPointer(start: base + inside.lowerBound, count: inside.count))
    }

    var writtenEnd: Int {
        var end = bytes & ~7
        while end > SegmentHeader.bytes, (base + end - 8).load(as: UInt64.self) == 0 { end -= 8 }
        return end
    }

    func isBlank(from offset: Int) -> Bool { firstWritten(from: offset) == nil }

    func firstWritten(from offset: Int) -> Int? {
        var cursor = (max(offset, 0) + 7) & ~7
        while cursor + 8 <= bytes {
            if (base + cursor).load(as: UInt64.self) != 0 { return cursor }
            cursor += 8
        }
        return nil
    }

    var mapped: UnsafeMutableRawBufferPointer { UnsafeMutableRawBufferPointer(start: base, count: bytes) }

    /// Prefetches the cache lines from `offset` on. Never faults.
    @inline(__always)
    static func prefetch(_ slot: UnsafeMutablePointer<SegmentSlot>, at offset: Int, lines: UInt) {
        let address = slot.pointee.base.load(ordering: .relaxed) &+ UInt(bitPattern: offset)
        for line in 0..<lines {
            if let place = UnsafeRawPointer(bitPattern: address &+ 64 &* line) { cp_prefetch(place) }
        }
    }
}

/// The bytes of a mapped segment, to be changed, with bounds checks. Valid while it is pinned or appended to.
struct ChangingSegment {
    private let view: SegmentView

    @inline(__always) init(_ log: ChangingLog, _ pin: SegmentLog.Pin) { view = log.log.view(pin) }

    @inline(__always) var bytes: Int { view.bytes }

    @inline(__always) func isFree(at offset: Int) -> Bool {
        guard offset >= SegmentHeader.bytes else { return false }
        guard offset + 8 <= view.bytes else { return true }
        return (view.base + offset).load(as: UInt64.self) == 0
    }

    @inline(__always) func write(_ content: FrameContent, at offset: Int) {
        guard offset >= SegmentHeader.bytes, offset + content.frameBytes <= view.bytes else { return }
        Frame.write(content, at: view.base + offset, seed: Frame.seed(segmentSeed: view.seed, offset: offset))
    }

    /// Changes a frame's kind and checksum. A crash in between leaves a damaged frame. Returns the frame's size; 0: no frame.
    @discardableResult func setKind(_ kind: FrameKind, at offset: Int) -> Int {
        guard let frame = view.frame(at: offset) else { return 0 }
        let seed = Frame.seed(segmentSeed: view.seed, offset: offset)
        Frame.setKind(kind, view.base + offset, bytes: frame.bytes, seed: seed)
        return frame.bytes
    }

    /// Makes a frame part of a batch or, with `nil`, of none; its checksum is wrong until its kind is set. Returns `false` if its
    /// extension is too short.
    func setBatch(_ first: Location?, at offset: Int) -> Bool {
        guard let frame = view.frame(at: offset) else { return false }
        let base = view.base + offset
        base.storeBytes(
            of: first == nil ? 0 : Frame.batchFlag, toByteOffset: Frame.flagsOffset, as: UInt8.self)
        guard let first else { return true }
        guard frame.extensionBytes >= FrameExtension.partBytes(BatchPart.bytes) else { return false }
        let bytes = UnsafeMutableRawBufferPointer(
            start: base + Frame.headerBytes, count: frame.extensionBytes)
        var writer = ExtensionWriter(bytes)
        BatchPart(first: first, previous: .none).write(to: &writer)
        return true
    }

    /// Zeroes all bytes from `offset` on in the mapping. ``ChangingLog/clearRemains(_:from:)`` also syncs them.
    func blank(from offset: Int) {
        guard offset >= SegmentHeader.bytes else { return }
        var cursor = offset
        while cursor + 8 <= view.bytes {
            let word = view.base + cursor
            if word.load(as: UInt64.self) != 0 { word.storeBytes(of: 0, as: UInt64.self) }
            cursor += 8
        }
    }
}
