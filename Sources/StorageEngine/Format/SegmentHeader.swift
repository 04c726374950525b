/// The first bytes of a segment file. Layout: OnDiskFormat, "Segment files".
struct SegmentHeader: Equatable {
    static let bytes = 64
    static let magic: [UInt8] = Array("VLMSEGMT".utf8)
    static let version: UInt32 = 1
    static let archiveOffset = 16
    static let oldestOffset = 32

    var archive: [UInt8]
    var segment: UInt32
    /// The oldest segment of the log when this one was created. Files with lower numbers are leftovers.
    var oldest: UInt32
    var created: Int64

    var isWithinReach: Bool { segment - oldest < SegmentLayout.slots }

    static func seed(archive: [UInt8], segment: UInt32) -> UInt32 {
        var bytes = archive
        withUnsafeBytes(of: segment.littleEndian) { bytes.append(contentsOf: $0) }
        return Checksum.crc32c(bytes)
    }

    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.append(SegmentHeader.magic)
        writer.append(SegmentHeader.version)
        writer.append(segment)
        writer.append(archive)
        writer.append(oldest)
        writer.append(UInt32(0))
        writer.append(UInt64(bitPattern: created))
        writer.pad(to: SegmentHeader.bytes - 4)
        writer.append(Checksum.crc32c(writer.bytes))
        return writer.bytes
    }

    static func decode(_ bytes: [UInt8], path: String) throws(StorageError) -> SegmentHeader {
        func damaged(_ reason: String, at offset: Int = 0) -> StorageError {
            .corrupted(path: path, offset: offset, reason: reason)
        }
        guard bytes.count >= Self.bytes else {
            throw damaged("ends inside the segment header", at: bytes.count)
        }
        var reader = ByteReader(Array(bytes[..<Self.bytes]))
        guard reader.take(8) == magic else { throw damaged("not a segment header") }
        let version = reader.uint32()
        let segment = reader.uint32()
        let archive = reader.take(16)
        let oldest = reader.uint32()
        _ = reader.uint32()
        let created = Int64(bitPattern: reader.uint64())
        var tail = ByteReader(Array(bytes[(Self.bytes - 4)..<Self.bytes]))
        guard tail.uint32() == Checksum.crc32c(Array(bytes[..<(Self.bytes - 4)])) else {
            throw damaged("the segment header fails its checksum")
        }
        guard version == Self.version else {
            throw .unsupportedVersion(path: path, found: version, supported: Self.version)
        }
        guard oldest <= segment else {
            throw damaged("according to the segment's header, the log begins after it", at: oldestOffset)
        }
        return SegmentHeader(archive: archive, segment: segment, oldest: oldest, created: created)
    }

    static func fileName(_ segment: UInt32) -> String { segment.hexadecimal + ".segment" }

    static func number(ofFileName name: String) -> UInt32? {
        var name = name
        return name.withUTF8 { number(ofFileName: UnsafeRawBufferPointer($0)) }
    }

    static func number(ofFileName name: UnsafeRawBufferPointer) -> UInt32? {
        guard name.count == 16, name[8...].elementsEqual(".segment".utf8) else { return nil }
        var number: UInt32 = 0
        for byte in name[..<8] {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                number = number << 4 | UInt32(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"):
                number = number << 4 | UInt32(byte - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        return number > 0 ? number : nil
    }
}
