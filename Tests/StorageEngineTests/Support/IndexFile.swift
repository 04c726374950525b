import Foundation
import StorageEngine

/// Changes to the file of a closed index. Offsets: OnDiskFormat, "The index".
extension TemporaryFolder {
    /// Makes the index of a copied archive name its own file, as if it had not been copied, with the clean mark that
    /// it had.
    func adoptIndex(_ archive: String) throws {
        let path = archivePath(archive, "index")
        var facts = stat()
        guard stat(path, &facts) == 0 else { return }
        let isClean = try isMarkedClean(archive)
        try write(UInt64(truncatingIfNeeded: facts.st_dev), at: 48, path)
        try write(UInt64(truncatingIfNeeded: facts.st_ino), at: 56, path)
        try remark(archive, clean: isClean)
    }

    func isMarkedClean(_ archive: String) throws -> Bool {
        let data = try Data(contentsOf: URL(fileURLWithPath: archivePath(archive, "index")))
        return data.count > 608 && data[604] != 0
    }

    /// Sets the clean mark as the last writer would have, or takes it away.
    func remark(_ archive: String, clean: Bool) throws {
        let path = archivePath(archive, "index")
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        let end = data.count <= 4 << 20 ? data.count : 262_144
        let sum = Checksum.crc32c(Array(data[..<600]) + Array(data[608..<end]))
        try write(UInt64(sum) | (clean ? 1 << 32 : 0), at: 600, path)
    }

    private func write(_ word: UInt64, at offset: UInt64, _ path: String) throws {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        defer { try? file.close() }
        try file.seek(toOffset: offset)
        try file.write(contentsOf: withUnsafeBytes(of: word.littleEndian) { Data($0) })
    }
}
