import CPlatform
import Foundation
import StorageEngine

/// A frame written by hand. Layout: OnDiskFormat, "Frames".
struct HandmadeFrame {
    var kind: UInt8 = 1
    var key: [UInt8] = []
    var value: [UInt8] = []
    var parts: [UInt8] = []
    var sequence: UInt64 = 1
    var recency: UInt64 = 1
    var time: UInt64 = 1_700_000_000_000_000
    var created: UInt64 = 1_700_000_000_000_000
    var flags: UInt8 = 0

    static func put(_ key: String, _ value: [UInt8] = [1, 2, 3], stamp: UInt64 = 1) -> HandmadeFrame {
        HandmadeFrame(key: Array(key.utf8), value: value, sequence: stamp, recency: stamp)
    }

    /// A part of an extension.
    static func part(_ tag: UInt8, _ bytes: [UInt8]) -> [UInt8] {
        [tag, 0, UInt8(truncatingIfNeeded: bytes.count), UInt8(truncatingIfNeeded: bytes.count >> 8)] + bytes
    }

    /// Bytes of the frame at a location, with the checksum that is valid there.
    func bytes(segment: UInt32, offset: Int) -> [UInt8] {
        var bytes: [UInt8] = [0, 0, 0, 0] + little(UInt32(value.count)) + little(UInt16(key.count))
        bytes += little(UInt16(parts.count)) + [kind, 0, flags, 0]
        bytes += little(sequence) + little(recency) + little(time) + little(created) + parts + key + value
        bytes += repeated(0, (8 - bytes.count % 8) % 8)
        let seed =
            Checksum.crc32c(HandmadeArchive.identity + little(segment))
            &+ UInt32(truncatingIfNeeded: offset >> 3) &* 0x9E37_79B1
        let sum = bytes.withUnsafeBytes { ~cp_crc32c(~seed, $0.baseAddress! + 4, bytes.count - 4) }
        bytes.replaceSubrange(0..<4, with: little(sum))
        return bytes
    }
}

/// Bytes of a number, lowest first.
func little(_ number: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: number.littleEndian) { Array($0) }
}

/// An archive written byte by byte according to OnDiskFormat, with valid checksums and any other content.
struct HandmadeArchive {
    static let name = "H"
    static let identity = [UInt8](1...16)

    let folder: TemporaryFolder

    /// - Parameter kind: 1 cache, 2 collection, 3 log.
    init(kind: UInt8 = 2, limit: UInt64 = 1_000_000_000) throws {
        folder = try TemporaryFolder(inMemory: true)
        try FileManager.default.createDirectory(
            atPath: folder.store + "/\(Self.name).archive", withIntermediateDirectories: true)
        try Data("Vellum store, format 1\n".utf8).write(
            to: URL(fileURLWithPath: folder.store + "/vellum-store"))
        var bytes = Array("VLMARCHV".utf8) + [1, 0, 0, 0, kind, 0, 0, 0] + Self.identity
        bytes += repeated(7, 16) + little(UInt64(0)) + little(kind == 2 ? UInt64.max : limit)
        bytes += little(UInt64.max) + little(UInt16(Self.name.utf8.count)) + [0, 0] + Array(Self.name.utf8)
        try write(Self.sealed(bytes), "descriptor")
    }

    static func sealed(_ bytes: [UInt8]) -> [UInt8] { bytes + little(Checksum.crc32c(bytes)) }

    static func segmentName(_ number: UInt32) -> String { String(format: "%08x.segment", number) }

    static func header(_ number: UInt32, oldest: UInt32 = 1) -> [UInt8] {
        let bytes = Array("VLMSEGMT".utf8) + [1, 0, 0, 0] + little(number) + identity + little(oldest)
        return sealed(bytes + repeated(0, 24))
    }

    /// Bytes of a segment, followed by zeros.
    static func segment(_ number: UInt32, oldest: UInt32 = 1, _ frames: [HandmadeFrame]) -> [UInt8] {
        var bytes = header(number, oldest: oldest)
        for frame in frames { bytes += frame.bytes(segment: number, offset: bytes.count) }
        return bytes + repeated(0, 8192)
    }

    func write(_ frames: [HandmadeFrame], segment: UInt32 = 1, oldest: UInt32 = 1) throws {
        try write(Self.segment(segment, oldest: oldest, frames), Self.segmentName(segment))
    }

    /// Pads a segment's file to whole pages.
    func write(_ bytes: [UInt8], _ file: String) throws {
        let rest = file.hasSuffix(".segment") ? (4096 - bytes.count % 4096) % 4096 : 0
        try Data(bytes + repeated(0, rest)).write(
            to: URL(fileURLWithPath: folder.archivePath(Self.name, file)))
    }

    func open(_ mode: AccessMode = .readWrite) throws -> Archive {
        try folder.archive(Self.name, mode: mode)
    }

    @discardableResult
    func repair() throws -> RepairReport { try Store.open(at: folder.store).repair(archiveNamed: Self.name) }

    /// Allocated bytes of the index file.
    var indexBytes: Int {
        var facts = stat()
        return stat(folder.archivePath(Self.name, "index"), &facts) == 0 ? Int(facts.st_blocks) * 512 : 0
    }
}
