import CPlatform
import Foundation
import StorageEngine

/// A store in memory-backed files with one archive `A`, whose files are replaced for every input. For one thread.
final class FuzzStore {
    static let archive = "A"
    /// Fixed, so that an input has the same effect in every process.
    static let identity = [UInt8]((1...16).map { UInt8($0) })

    let path: String
    private let root: String
    var folder: String { path + "/" + Self.archive + ".archive" }

    init() throws {
        let parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : NSTemporaryDirectory()
        root = parent + "/vellum-fuzz-" + UUID().uuidString
        path = root + "/store"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try write(Array("Vellum store, format 1\n".utf8), path + "/vellum-store")
    }

    deinit { try? FileManager.default.removeItem(atPath: root) }

    /// Replaces all files of the archive.
    func set(_ files: [String: [UInt8]]) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) where files[name] == nil {
            guard unlink(folder + "/" + name) == 0 else { throw POSIXError(.EIO) }
        }
        for (name, bytes) in files { try write(bytes, folder + "/" + name) }
    }

    func files() throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            files[name] = try Array(Data(contentsOf: URL(fileURLWithPath: folder + "/" + name)))
        }
        return files
    }

    func removeIndex() { unlink(folder + "/index") }

    /// Makes a copied index name its current file, as if it had not been copied. `isMarked`: with a valid clean mark.
    func adoptIndex(isMarked: Bool) throws {
        let index = open(folder + "/index", O_RDWR | O_CLOEXEC)
        guard index >= 0 else { throw POSIXError(.EIO) }
        defer { close(index) }
        var facts = stat()
        guard fstat(index, &facts) == 0 else { throw POSIXError(.EIO) }
        var bytes = [UInt8](repeating: 0, count: Int(facts.st_size))
        guard pread(index, &bytes, bytes.count, 0) == bytes.count, bytes.count > 262_144 else { return }
        Self.store(UInt64(truncatingIfNeeded: facts.st_dev), &bytes, at: 48)
        Self.store(UInt64(truncatingIfNeeded: facts.st_ino), &bytes, at: 56)
        Self.store(cp_birth_time(index), &bytes, at: 72)
        let sum = bytes.withUnsafeBytes { bytes -> UInt32 in
            guard let base = bytes.baseAddress else { return 0 }
            return ~cp_crc32c(cp_crc32c(~0, base, 600), base + 608, bytes.count - 608)
        }
        Self.store(UInt64(sum) | (isMarked ? 1 << 32 : 0), &bytes, at: 600)
        guard pwrite(index, bytes, 1024, 0) == 1024 else { throw POSIXError(.EIO) }
    }

    /// A descriptor of the fixed identity. Layout: OnDiskFormat, "Descriptors".
    static func descriptor(kind: UInt8, limit: UInt64 = 1_000_000) -> [UInt8] {
        var bytes = Array("VLMARCHV".utf8) + [1, 0, 0, 0, kind, 0, 0, 0] + identity
        bytes += [UInt8](repeating: 7, count: 16) + [UInt8](repeating: 0, count: 8)
        bytes += (0..<8).map { kind == 2 ? 0xff : UInt8(truncatingIfNeeded: limit >> (8 * UInt64($0))) }
        bytes += [UInt8](repeating: 0xff, count: 8)
        bytes += [1, 0, 0, 0] + Array(archive.utf8)
        return sealed(bytes)
    }

    /// Appends the checksum.
    static func sealed(_ bytes: [UInt8]) -> [UInt8] {
        bytes + withUnsafeBytes(of: Checksum.crc32c(bytes).littleEndian) { Array($0) }
    }

    /// A segment's header of the fixed identity. Layout: OnDiskFormat, "Segment files".
    static func header(segment: UInt32, oldest: UInt32) -> [UInt8] {
        var bytes = Array("VLMSEGMT".utf8) + [1, 0, 0, 0] + little(segment) + identity + little(oldest)
        bytes += [UInt8](repeating: 0, count: 24)
        return sealed(bytes)
    }

    /// Sets the checksum that is valid at this location.
    static func seal(_ frame: inout [UInt8], segment: UInt32, offset: Int) {
        let start =
            Checksum.crc32c(identity + little(segment))
            &+ UInt32(truncatingIfNeeded: offset >> 3) &* 0x9E37_79B1
        let sum = frame.withUnsafeBytes { ~cp_crc32c(~start, $0.baseAddress! + 4, $0.count - 4) }
        frame.replaceSubrange(0..<4, with: little(sum))
    }

    /// Allocated bytes of the index file.
    var indexBytes: Int {
        var facts = stat()
        return stat(folder + "/index", &facts) == 0 ? Int(facts.st_blocks) * 512 : 0
    }

    static func little(_ word: UInt32) -> [UInt8] { withUnsafeBytes(of: word.littleEndian) { Array($0) } }

    static func store(_ word: UInt64, _ bytes: inout [UInt8], at offset: Int) {
        withUnsafeBytes(of: word.littleEndian) { bytes.replaceSubrange(offset..<offset + 8, with: $0) }
    }

    /// Replaces the file by a new one: a background task of the archive may still map the old one, which must not be
    /// truncated.
    private func write(_ bytes: [UInt8], _ path: String) throws {
        unlink(path)
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw POSIXError(.EIO) }
        defer { close(file) }
        guard pwrite(file, bytes, bytes.count, 0) == bytes.count else { throw POSIXError(.EIO) }
    }
}
