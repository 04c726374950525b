/// The parts of a frame's extension. Layout: OnDiskFormat, "Frame extensions".
enum FrameExtension {
    enum Tag: UInt8 {
        case evictions = 1
        case deadline = 2
        case memoryInterval = 3
        case owner = 4
        case removal = 5
        case previousDeadline = 6
        case resident = 7
        case batch = 8
        case hits = 9
    }

    static let partHeaderBytes = 4
    static let maximumOwnerBytes = 255

    static func partBytes(_ length: Int) -> Int { length == 0 ? 0 : partHeaderBytes + length }

    static func evictionBytes(_ count: Int) -> Int { partBytes(8 * count) }

    /// Maximum number that fits beside the entry options and a removal note.
    static let maximumEvictions = (Frame.maximumExtensionBytes - 512) / 8
}

extension Frame {
    /// The bytes of the first part with this tag; `nil` if absent or shorter than `least`, or if the extension is malformed.
    @inline(__always) func part(_ tag: FrameExtension.Tag, least: Int = 0) -> UnsafeRawBufferPointer? {
        extensionBytes > 0 ? firstPart(tag, least) : nil
    }

    private func firstPart(_ tag: FrameExtension.Tag, _ least: Int) -> UnsafeRawBufferPointer? {
        let bytes = self.extension
        var offset = 0
        while offset + FrameExtension.partHeaderBytes <= bytes.count {
            let length = Int(bytes.loadUnaligned(fromByteOffset: offset + 2, as: UInt16.self))
            let start = offset + FrameExtension.partHeaderBytes
            guard start + length <= bytes.count else { return nil }
            if bytes[offset] == tag.rawValue {
                return length < least ? nil : UnsafeRawBufferPointer(rebasing: bytes[start..<start + length])
            }
            offset = start + length
        }
        return nil
    }

    func number<Number: FixedWidthInteger>(_ tag: FrameExtension.Tag) -> Number? {
        part(tag, least: MemoryLayout<Number>.size)?.loadUnaligned(as: Number.self)
    }

    /// An expiry time on the boot clock.
    func deadline(_ tag: FrameExtension.Tag) -> Int64 {
        part(tag, least: Deadline.bytes).map { Deadline($0).resolved(now: Clock.read()) } ?? Deadline.never
    }

    var evictions: [Location] {
        guard let bytes = part(.evictions) else { return [] }
        return stride(from: 0, to: bytes.count - 7, by: 8).map {
            Location(raw: bytes.loadUnaligned(fromByteOffset: $0, as: UInt64.self))
        }
    }
}

/// Fills a buffer with consecutive parts. A part that doesn't fit is left out: the caller sizes the buffer.
struct ExtensionWriter {
    private let buffer: UnsafeMutableRawBufferPointer
    private var used = 0

    init(_ buffer: UnsafeMutableRawBufferPointer) { self.buffer = buffer }

    var written: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: buffer[..<used]) }

    mutating func part(_ tag: FrameExtension.Tag, bytes: Int) -> UnsafeMutableRawBufferPointer? {
        let start = used + FrameExtension.partHeaderBytes
        guard bytes > 0, bytes <= Int(UInt16.max), start + bytes <= buffer.count else { return nil }
        buffer[used] = tag.rawValue
        buffer[used + 1] = 0
        buffer.storeBytes(of: UInt16(bytes).littleEndian, toByteOffset: used + 2, as: UInt16.self)
        used = start + bytes
        return UnsafeMutableRawBufferPointer(rebasing: buffer[start..<used])
    }

    mutating func append(evictions locations: some Collection<Location>) {
        guard let bytes = part(.evictions, bytes: 8 * locations.count) else { return }
        for (place, location) in locations.enumerated() {
            bytes.storeBytes(of: location.raw, toByteOffset: 8 * place, as: UInt64.self)
        }
    }

    mutating func append(_ tag: FrameExtension.Tag, _ deadline: Deadline) {
        if let bytes = part(tag, bytes: Deadline.bytes) { deadline.write(to: bytes) }
    }

    mutating func append(_ removal: RemovalNote) {
        if let bytes = part(.removal, bytes: RemovalNote.bytes) { removal.write(to: bytes) }
    }
}

/// Why entries were removed, and by which reversible action. Layout: OnDiskFormat, "Frame extensions".
struct RemovalNote: Equatable {
    static let bytes = 16

    /// Number of the reversible action; 0 if it isn't reversible.
    var group: UInt32
    var cause: EventCause
    var kind: ReversibleAction.Kind?
    /// When the action began, in microseconds since 1970.
    var time: Int64
    /// In a `restore`: whether overwritten entries are never restored. Frames of older versions restored them.
    var keepsOut = true
}

extension RemovalNote {
    init?(of frame: Frame) {
        guard let bytes = frame.part(.removal, least: RemovalNote.bytes) else { return nil }
        group = bytes.loadUnaligned(as: UInt32.self)
        cause = EventCause(rawValue: bytes[4]) ?? .none
        kind = ReversibleAction.Kind(rawValue: UInt32(bytes[5]))
        keepsOut = bytes[6] & 1 != 0
        time = bytes.loadUnaligned(fromByteOffset: 8, as: Int64.self)
    }

    func write(to buffer: UnsafeMutableRawBufferPointer) {
        buffer.storeBytes(of: group, toByteOffset: 0, as: UInt32.self)
        buffer.storeBytes(
            of: UInt32(cause.rawValue) | (kind?.rawValue ?? 0) << 8 | (keepsOut ? 1 << 16 : 0),
            toByteOffset: 4, as: UInt32.self)
        buffer.storeBytes(of: time, toByteOffset: 8, as: Int64.self)
    }
}
