import CPlatform
import Synchronization

/// What this process knows of one mapped segment. All fields are words of this process alone.
///
/// - `number` and `pins` decide together whether the segment stays mapped: a reader adds its pin before it looks at the
///   number, and whoever lets a segment go takes the number away before it looks at the pins.
/// - `base` and `bytes` change while the segment is pinned, when its file has grown: `base` first, so that whoever reads
///   `bytes` first never sees more bytes than are mapped where it then looks. A base that was once there stays mapped as
///   long as the number does.
struct SegmentSlot: ~Copyable {
    /// 0: none is mapped.
    let number = Atomic<UInt32>(0)
    /// Readers that look at the segment now.
    let pins = Atomic<UInt32>(0)
    /// Bytes from `base` on that may be touched: within the mapping, the file, and what a segment may have (F4).
    let bytes = Atomic<Int>(0)
    /// Where it is mapped.
    let base = Atomic<UInt>(0)
    /// Of its frames' checksums. Written before the number is.
    let seed = Atomic<UInt32>(0)
}

/// The slots of a log, by segment number modulo their number; all of them exist, so no number leads outside.
/// Safe from any thread.
struct SegmentTable: @unchecked Sendable {
    /// Zeros are empty slots. Pages that no segment has used take no memory.
    private let memory: MappedRange
    private let slots: UnsafeMutablePointer<SegmentSlot>

    init(for path: String) throws(StorageError) {
        let bytes = SegmentLayout.slots * MemoryLayout<SegmentSlot>.stride
        memory = try MappedRange(privateBytes: bytes, for: path)
        slots = memory.base.bindMemory(to: SegmentSlot.self, capacity: SegmentLayout.slots)
    }

    @inline(__always)
    subscript(segment: UInt32) -> UnsafeMutablePointer<SegmentSlot> {
        slots + Int(segment & SegmentLayout.slotMask)
    }
}

/// Bytes of a mapped segment, and the only way to them: none outside is touched. Valid as long as the segment is pinned.
struct SegmentView {
    let segment: UInt32
    let bytes: Int
    let seed: UInt32
    fileprivate let base: UnsafeMutableRawPointer

    @inline(__always)
    init(_ pin: SegmentLog.Pin, _ slot: UnsafeMutablePointer<SegmentSlot>) {
        segment = pin.segment
        seed = pin.seed
        // Before the base: see ``SegmentSlot``.
        bytes = slot.pointee.bytes.load(ordering: .acquiring)
        // A segment that is pinned has been mapped.
        base =
            UnsafeMutableRawPointer(bitPattern: slot.pointee.base.load(ordering: .relaxed)).unsafelyUnwrapped
    }

    /// The frame at `offset`, its lengths checked and its checksum not; `nil` when there cannot be one.
    @inline(__always)
    func frame(at offset: Int) -> Frame? {
        guard offset >= SegmentHeader.bytes, bytes - offset >= Frame.headerBytes else { return nil }
        return Frame(at: base + offset, available: bytes - offset)
    }

    /// The frame at `offset`, if it is exactly what its writer put there.
    func validFrame(at offset: Int) -> Frame? {
        guard let frame = frame(at: offset), frame.rawKind != 0,
            frame.passesChecksum(seed: Frame.seed(segmentSeed: seed, offset: offset))
        else { return nil }
        return frame
    }

    /// A copy of the bytes, clamped to those that are there.
    func copy(_ range: Range<Int>) -> [UInt8] {
        let inside = range.clamped(to: 0..<bytes)
        return Array(UnsafeRawBufferPointer(start: base + inside.lowerBound, count: inside.count))
    }

    /// Where what was ever written ends: behind the last word that is not zero.
    var writtenEnd: Int {
        var end = bytes & ~7
        while end > SegmentHeader.bytes, (base + end - 8).load(as: UInt64.self) == 0 { end -= 8 }
        return end
    }

    /// Whether everything from `offset` to the end is zero: never written.
    func isBlank(from offset: Int, upTo end: Int = .max) -> Bool {
        firstWritten(from: offset, upTo: end) == nil
    }

    /// The place of the first word that isn't zero.
    func firstWritten(from offset: Int, upTo end: Int = .max) -> Int? {
        var cursor = (max(offset, 0) + 7) & ~7
        let end = min(end, bytes)
        while cursor + 8 <= end {
            if (base + cursor).load(as: UInt64.self) != 0 { return cursor }
            cursor += 8
        }
        return nil
    }

    /// For a sync that needs to know what is mapped.
    var mapped: UnsafeMutableRawBufferPointer { UnsafeMutableRawBufferPointer(start: base, count: bytes) }

    /// Asks for what is at `offset` to come into the processor's caches; never faults, whatever is there.
    @inline(__always)
    static func prefetch(_ slot: UnsafeMutablePointer<SegmentSlot>, at offset: Int) {
        let address = slot.pointee.base.load(ordering: .relaxed) &+ UInt(bitPattern: offset)
        for line in 0..<4 as Range<UInt> {
            if let place = UnsafeRawPointer(bitPattern: address &+ 64 &* line) { cp_prefetch(place) }
        }
    }
}

/// Bytes of a mapped segment for whoever may change the log, and the only way to write them: none outside is touched.
/// Valid as long as the segment is pinned, or is the one that is appended to.
struct ChangingSegment {
    private let view: SegmentView

    @inline(__always)
    init(_ log: ChangingLog, _ pin: SegmentLog.Pin) { view = log.log.view(pin) }

    /// As far as they are known now.
    @inline(__always) var bytes: Int { view.bytes }

    /// Whether nothing is at `offset`, as where a frame is to come.
    @inline(__always)
    func isFree(at offset: Int) -> Bool {
        guard offset >= SegmentHeader.bytes, offset + 8 <= view.bytes else { return true }
        return (view.base + offset).load(as: UInt64.self) == 0
    }

    /// Writes a frame where there is room for it.
    @inline(__always)
    func write(_ content: FrameContent, at offset: Int) {
        guard offset >= SegmentHeader.bytes, offset + content.frameBytes <= view.bytes else { return }
        Frame.write(content, at: view.base + offset, seed: Frame.seed(segmentSeed: view.seed, offset: offset))
    }

    /// Makes everything from `offset` on read as never written; on the medium: ``ChangingLog/clearRemains(_:from:)``.
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
