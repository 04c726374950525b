import CPlatform
import Foundation
import StorageEngine

/// Changes to the file of a closed index. Offsets: OnDiskFormat, "The index".
extension TemporaryFolder {
    /// Makes a copied index name its current file, as if it had not been copied, and keeps its clean mark.
    func adoptIndex(_ archive: String) throws {
        let path = archivePath(archive, "index")
        var facts = stat()
        guard stat(path, &facts) == 0 else { return }
        try changeIndex(path) { data in
            let isClean = data[604] != 0
            TemporaryFolder.write(UInt64(truncatingIfNeeded: facts.st_dev), at: 48, &data)
            TemporaryFolder.write(UInt64(truncatingIfNeeded: facts.st_ino), at: 56, &data)
            TemporaryFolder.mark(&data, clean: isClean)
        }
    }

    /// Sets or clears the clean mark, as the last writer would.
    func remark(_ archive: String, clean: Bool) throws {
        try changeIndex(archivePath(archive, "index")) { TemporaryFolder.mark(&$0, clean: clean) }
    }

    /// Changes the identity of the boot in the index of a closed archive `A`, as if the machine was restarted since.
    func makeIndexOfAnotherBoot() throws {
        try flip(archivePath("A", "index"), at: 32)
        try remark("A", clean: true)
    }

    private static func mark(_ data: inout Data, clean: Bool) {
        let end = data.count <= 4 << 20 ? data.count : 262_144
        let sum = data.withUnsafeBytes { bytes -> UInt32 in
            guard let base = bytes.baseAddress else { return 0 }
            return ~cp_crc32c(cp_crc32c(~0, base, 600), base + 608, end - 608)
        }
        write(UInt64(sum) | (clean ? 1 << 32 : 0), at: 600, &data)
    }

    /// Writes the header of the index in place, so that the file keeps its inode.
    private func changeIndex(_ path: String, _ body: (inout Data) -> Void) throws {
        var data = try contents(of: path)
        guard data.count > 262_144 else { return }
        body(&data)
        try overwrite(path, at: 0, with: data.prefix(1024))
    }

    private static func write(_ word: UInt64, at offset: Int, _ data: inout Data) {
        withUnsafeBytes(of: word.littleEndian) { data.replaceSubrange(offset..<offset + 8, with: $0) }
    }

    /// The secret hash from descriptor and index (OnDiskFormat, "Buckets"), unknown to attackers.
    func hash(of name: String) throws -> KeyHash {
        let bytes = try contents(of: archivePath(name, "descriptor"))
        func word(_ offset: Int) -> UInt64 {
            bytes[offset..<offset + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
        let index = try contents(of: archivePath(name, "index"))
        let salt = index[888..<896].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return KeyHash(secret: (word(32), word(40)), salt: salt)
    }
}
