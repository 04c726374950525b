/// The content of a frame to be written. Layout: OnDiskFormat, "Frames".
struct FrameContent {
    var kind: FrameKind
    var encoding: ValueEncoding = .unknown
    var sequence: UInt64
    var recency: UInt64
    var time: Int64
    var created: Int64
    var key = UnsafeRawBufferPointer.empty
    var value = UnsafeRawBufferPointer.empty
    var extensionBytes = UnsafeRawBufferPointer.empty
    var deadline: Int64 = Deadline.never
    var ownerTag: UInt32 = 0
    var residentBytes: UInt64 = 0
    var isInBatch = false

    @inline(__always) var frameBytes: Int {
        Frame.bytes(key: key.count, extension: extensionBytes.count, value: value.count)
    }

    mutating func take(_ options: FrameOptions, ownerTag: UInt32) {
        deadline = options.deadline
        residentBytes = options.residentBytes
        self.ownerTag = ownerTag
        if residentBytes != 0 { kind = .resident }
    }
}

/// A frame in a mapped segment, with lengths checked against the available bytes. Valid while the segment is pinned.
struct Frame {
    // Offsets: OnDiskFormat, "Frames".
    static let headerBytes = 48
    static let flagsOffset = 14
    static let batchFlag: UInt8 = 1
    static let maximumKeyBytes = 1024
    static let maximumExtensionBytes = 0xfff8
    static let maximumValueBytes = ArchiveConfiguration.maximumValueBytes
    /// Greater stamps or sequences count as this one, so later ones fit. Among such frames the last in the log counts.
    static let latestStamp: UInt64 = 1 << 61

    private let base: UnsafeRawPointer
    let valueBytes: Int
    let keyBytes: Int
    let extensionBytes: Int
    /// Whether the checksum doesn't match, but the key can be read. ``kind`` is then ``FrameKind/kindIfDamaged``.
    private(set) var isDamaged = false

    @inline(__always) static func bytes(key: Int, extension: Int, value: Int) -> Int {
        (headerBytes + `extension` + key + value + 7) & ~7
    }

    /// `nil` if the bytes at `base` can't be a frame within `available` bytes. Doesn't verify the checksum.
    @inline(__always) init?(at base: UnsafeRawPointer, available: Int) {
        guard available >= Frame.headerBytes else { return nil }
        let value = Int(base.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
        let key = Int(base.loadUnaligned(fromByteOffset: 8, as: UInt16.self))
        let ext = Int(base.loadUnaligned(fromByteOffset: 10, as: UInt16.self))
        guard key <= Frame.maximumKeyBytes, value <= Frame.maximumValueBytes,
            Frame.bytes(key: key, extension: ext, value: value) <= available
        else { return nil }
        self.base = base
        valueBytes = value
        keyBytes = key
        extensionBytes = ext
    }

    /// A frame of which only ``Frame/leadingBytes`` may be present, so its value and checksum can't be used.
    init?(beginning bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress, bytes.count >= Frame.headerBytes else { return nil }
        self.init(at: base, available: .max)
    }

    /// Bytes of all parts but the value, and of a batch's header.
    var leadingBytes: Int {
        Frame.headerBytes + extensionBytes + keyBytes + min(valueBytes, BatchHeader.bytes)
    }

    var leading: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: leadingBytes) }

    var bytes: Int { Frame.bytes(key: keyBytes, extension: extensionBytes, value: valueBytes) }
    var isCopy: Bool { kind == .move || kind == .kept }

    var checksum: UInt32 { base.loadUnaligned(as: UInt32.self) }

    /// Whether the frame is part of a batch: then it counts only once the whole batch does.
    @inline(__always) var isInBatch: Bool {
        base.load(fromByteOffset: Frame.flagsOffset, as: UInt8.self) & Frame.batchFlag != 0
    }
    /// The kind's number; 0: not written yet. Read again each time: the writer sets it last. For a kind that this version doesn't
    /// know, ``kind`` is `nil`, and readers skip the frame.
    var rawKind: UInt8 { base.load(fromByteOffset: 12, as: UInt8.self) }
    var kind: FrameKind? { FrameKind(rawValue: rawKind).map { isDamaged ? $0.kindIfDamaged : $0 } }
    var encoding: ValueEncoding {
        ValueEncoding(rawValue: base.load(fromByteOffset: 13, as: UInt8.self)) ?? .unknown
    }
    var sequence: UInt64 { base.loadUnaligned(fromByteOffset: 16, as: UInt64.self) }
    /// At most ``Frame/latestStamp``.
    var recency: UInt64 {
        min(base.loadUnaligned(fromByteOffset: 24, as: UInt64.self), Frame.latestStamp)
    }
    var time: Int64 { base.loadUnaligned(fromByteOffset: 32, as: Int64.self) }
    var created: Int64 { base.loadUnaligned(fromByteOffset: 40, as: Int64.self) }

    var `extension`: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: base + Frame.headerBytes, count: extensionBytes)
    }
    @inline(__always) var key: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: base + Frame.headerBytes + extensionBytes, count: keyBytes)
    }
    @inline(__always) var value: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: base + Frame.headerBytes + extensionBytes + keyBytes, count: valueBytes)
    }

    /// Whether the frame is exactly as its writer wrote it at this location.
    @inline(__always) func passesChecksum(seed: UInt32) -> Bool {
        checksum == Checksum.crc32c(UnsafeRawBufferPointer(start: base + 4, count: bytes - 4), seed: seed)
    }

    /// This frame as a damaged one, if its key can be read: fields are valid, and no single changed bit of kind, sequence or key
    /// explains that its checksum differs by `difference` from that of its bytes. OnDiskFormat, "Damage in a cache". O(key bytes).
    func damaged(by difference: UInt32) -> Frame? {
        let lead = Frame.headerBytes + extensionBytes + keyBytes
        guard let kind = FrameKind(rawValue: rawKind), (keyBytes > 0) == kind.hasKey,
            base.loadUnaligned(fromByteOffset: Frame.flagsOffset, as: UInt16.self) <= Frame.batchFlag,
            sequence < Frame.latestStamp,
            !Checksum.isBitChange(difference, in: 12, before: bytes - 24),
            !Checksum.isBitChange(difference, in: keyBytes, before: bytes - lead)
        else { return nil }
        return asDamaged
    }

    var asDamaged: Frame {
        var frame = self
        frame.isDamaged = true
        return frame
    }

    /// The checksum's seed for a frame at `offset` of a segment, so that bytes copied from elsewhere fail.
    @inline(__always) static func seed(segmentSeed: UInt32, offset: Int) -> UInt32 {
        segmentSeed &+ UInt32(truncatingIfNeeded: offset >> 3) &* 0x9E37_79B1
    }

    /// Writes the frame at `base`, where `content.frameBytes` bytes must be writable.
    @inline(__always)
    static func write(_ content: FrameContent, at base: UnsafeMutableRawPointer, seed: UInt32) {
        let length = content.frameBytes
        base.storeBytes(of: UInt32(content.value.count), toByteOffset: 4, as: UInt32.self)
        base.storeBytes(of: UInt16(content.key.count), toByteOffset: 8, as: UInt16.self)
        base.storeBytes(of: UInt16(content.extensionBytes.count), toByteOffset: 10, as: UInt16.self)
        base.storeBytes(of: content.kind.rawValue, toByteOffset: 12, as: UInt8.self)
        base.storeBytes(of: content.encoding.rawValue, toByteOffset: 13, as: UInt8.self)
        base.storeBytes(
            of: content.isInBatch ? UInt16(batchFlag) : 0, toByteOffset: flagsOffset, as: UInt16.self)
        base.storeBytes(of: content.sequence, toByteOffset: 16, as: UInt64.self)
        base.storeBytes(of: content.recency, toByteOffset: 24, as: UInt64.self)
        base.storeBytes(of: content.time, toByteOffset: 32, as: Int64.self)
        base.storeBytes(of: content.created, toByteOffset: 40, as: Int64.self)
        var cursor = base + headerBytes
        @inline(__always) func copy(_ part: UnsafeRawBufferPointer) {
            guard let source = part.baseAddress else { return }
            cursor.copyMemory(from: source, byteCount: part.count)
            cursor += part.count
        }
        copy(content.extensionBytes)
        copy(content.key)
        copy(content.value)
        let end = base + length
        while cursor < end {
            cursor.storeBytes(of: 0, as: UInt8.self)
            cursor += 1
        }
        seal(base, bytes: length, seed: seed)
    }

    /// Changes the kind of the frame of `bytes` bytes at `base`, and its checksum.
    static func setKind(_ kind: FrameKind, _ base: UnsafeMutableRawPointer, bytes: Int, seed: UInt32) {
        base.storeBytes(of: kind.rawValue, toByteOffset: 12, as: UInt8.self)
        seal(base, bytes: bytes, seed: seed)
    }

    @inline(__always) private static func seal(_ base: UnsafeMutableRawPointer, bytes: Int, seed: UInt32) {
        let sum = Checksum.crc32c(UnsafeRawBufferPointer(start: base + 4, count: bytes - 4), seed: seed)
        base.storeBytes(of: sum, as: UInt32.self)
    }
}

extension Frame {
    var ownerName: String? { owner.isEmpty ? nil : String(decoding: owner, as: UTF8.self) }
}
