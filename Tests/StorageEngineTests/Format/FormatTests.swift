import TestSupport
import CPlatform
import Foundation
import StorageEngine
import Testing

/// Parts of the format, compared with published values and the format document.
@Suite struct FormatTests {
    @Test("CRC32C has the values of RFC 3720") func crc32cOfRFC() {
        #expect(Checksum.crc32c(Array("123456789".utf8)) == 0xE306_9283)
        // RFC 3720, B.4: 32 bytes of zeros, of ones, ascending.
        #expect(Checksum.crc32c(repeated(0, 32)) == 0x8A91_36AA)
        #expect(Checksum.crc32c(repeated(0xff, 32)) == 0x62A8_AB43)
        #expect(Checksum.crc32c(Array(0..<32)) == 0x46DD_794E)
    }

    @Test("CRC32C is the same by tables and by instruction") func crc32cByTableAndInstruction() {
        var random = SeededGenerator(seed: 5)
        for length in Array(0..<300) + [511, 512, 1000, 3071, 3072, 3073, 6143, 6200, 9999] {
            let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
            let seed = UInt32.random(in: 0...UInt32.max, using: &random)
            #expect(cp_crc32c(seed, bytes, bytes.count) == cp_crc32c_portable(seed, bytes, bytes.count))
        }
    }

    /// The first values for the key 00 01 … 0f and the inputs "", 00, 00 01, …
    @Test("SipHash-1-3 has the published values") func sipHash13() {
        let hash = KeyHash(k0: 0x0706_0504_0302_0100, k1: 0x0f0e_0d0c_0b0a_0908)
        let expected: [UInt64] = [0xabac_0158_050f_c4dc, 0xc9f4_9bf3_7d57_ca93]
        for (length, value) in expected.enumerated() {
            let bytes = [UInt8](0..<UInt8(length))
            #expect(bytes.withUnsafeBytes { hash($0) } == value, "length \(length)")
        }
    }

    /// Compares with a bytewise implementation.
    @Test("SipHash-1-3 equals a bytewise implementation at every length") func sipHashOfEveryLength() {
        let hash = KeyHash(k0: 0x0706_0504_0302_0100, k1: 0x0f0e_0d0c_0b0a_0908)
        for length in 0..<70 {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 157 &+ 131) }
            #expect(
                bytes.withUnsafeBytes { hash($0) } == PlainSipHash.hash(bytes, hash.k0, hash.k1),
                "length \(length)")
        }
    }

    @Test(
        "archive names map to folders and back",
        arguments: [
            "City", "a b", "Array<City>", "日本", "..", "%", "a/b", String(repeating: "é", count: 40),
        ])
    func folderNames(name: String) {
        let folder = ArchiveName.folder(for: name)
        #expect(!folder.contains("/") && folder.utf8.count <= 255)
        #expect(ArchiveName.name(ofFolder: folder) == name)
    }

    @Test(
        "folders with other names are not archives",
        arguments: ["City", ".archive", "%4.archive", "%zz.archive", "%43ity.archive", "a b.archive"])
    func otherFoldersAreNotArchives(folder: String) {
        #expect(ArchiveName.name(ofFolder: folder) == nil)
    }

    /// The worked example at the top of OnDiskFormat.
    @Test("the first frame has the documented bytes") func firstFrameOfAnArchive() throws {
        let folder = try TemporaryFolder()
        let archive = try folder.archive(creating: .cache())
        try archive.put(Array("hi".utf8), forKey: "a")
        archive.close()
        let segment = try contents(of: folder.archivePath("A", "00000001.segment"))
        #expect(Array(segment[0..<8]) == Array("VLMSEGMT".utf8))
        #expect(Array(segment[68..<80]) == [2, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0])
        // The sequence begins with the time.
        let sequence = segment[80..<88].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        #expect(abs(Date().timeIntervalSince1970 - Double(sequence) / 1_000_000) < 600)
        #expect(Array(segment[112..<120]) == Array("ahi".utf8) + [0, 0, 0, 0, 0])
        // Its checksum, computed the way the document says.
        let identity = Array(segment[16..<32])
        let seed = Checksum.crc32c(identity + [1, 0, 0, 0]) &+ UInt32(64 / 8) &* 0x9E37_79B1
        let body = Array(segment[68..<120])
        let sum = ~cp_crc32c_portable(~seed, body, body.count)
        #expect(Array(segment[64..<68]) == withUnsafeBytes(of: sum.littleEndian) { Array($0) })
    }
}
