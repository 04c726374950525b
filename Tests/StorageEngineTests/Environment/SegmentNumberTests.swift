import CPlatform
import Foundation
import StorageEngine
import Testing

/// Segment numbers grow up to the highest number.
@Suite struct SegmentNumberTests {
    private func fill(_ folder: TemporaryFolder, count: Int = 200) throws {
        let archive = try folder.archive(creating: .collection)
        for number in 0..<count { try archive.put(repeated(5, 1000), forKey: "key \(number)") }
        archive.close()
    }

    private func checksum(_ bytes: ArraySlice<UInt8>, seed: UInt32 = 0) -> UInt32 {
        ~bytes.withUnsafeBytes { cp_crc32c(~seed, $0.baseAddress, $0.count) }
    }

    private func word(_ bytes: [UInt8], _ offset: Int, _ width: Int = 4) -> Int {
        (0..<width).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) }
    }

    private func set(_ bytes: inout [UInt8], _ offset: Int, _ value: UInt32) {
        for place in 0..<4 { bytes[offset + place] = UInt8(truncatingIfNeeded: value >> (8 * UInt32(place))) }
    }

    /// Copies a segment file to another number, as the format document says.
    private func renumber(_ folder: TemporaryFolder, _ name: String, to number: UInt32) throws -> String {
        let url = URL(fileURLWithPath: folder.archivePath("A", name))
        var bytes = try [UInt8](Data(contentsOf: url))
        set(&bytes, 12, number)
        set(&bytes, 60, checksum(bytes[0..<60]))
        var numbered = Array(bytes[16..<32]) + [0, 0, 0, 0]
        set(&numbered, 16, number)
        let seed = checksum(numbered[...])
        var offset = 64
        while offset + 48 <= bytes.count, bytes[offset + 12] != 0 {
            let content = word(bytes, offset + 4) + word(bytes, offset + 8, 2) + word(bytes, offset + 10, 2)
            let end = offset + (48 + content + 7) & ~7
            let own = seed &+ UInt32(offset / 8) &* 0x9E37_79B1
            set(&bytes, offset, checksum(bytes[(offset + 4)..<end], seed: own))
            offset = end
        }
        let digits = String(number, radix: 16)
        let renamed = String(repeating: "0", count: 8 - digits.count) + digits + ".segment"
        try Data(bytes).write(to: URL(fileURLWithPath: folder.archivePath("A", renamed)))
        return renamed
    }

    @Test("stops puts at the last number", arguments: [UInt32.max - 1, UInt32.max - 3, UInt32.max - 60])
    func lastNumber(number: UInt32) throws {
        let folder = try TemporaryFolder(inMemory: true)
        try fill(folder, count: 30)
        let old = try folder.segments()
        try #require(old.count == 1)
        _ = try renumber(folder, old[0], to: number)
        try FileManager.default.removeItem(atPath: folder.archivePath("A", old[0]))
        let archive = try folder.rebuilt()
        #expect(try archive.entries().count == 30)
        var stored = 0
        var refusal: StorageError?
        for place in 0..<40_000 {
            do throws(StorageError) {
                try archive.put(repeated(6, 1000), forKey: "more \(place)")
                stored += 1
            } catch {
                refusal = error
                break
            }
        }
        if case .limitReached(_, _, .segmentNumbers)? = refusal {
        } else {
            Issue.record("\(String(describing: refusal))")
        }
        #expect(refusal?.description.contains("export") == true)
        try archive.delete("key 0")
        #expect(try archive.check().clean)
        let rebuilt = try folder.reopen(archive)
        #expect(try rebuilt.entries().count == 29 + stored)
        #expect(try rebuilt.check().clean)
        rebuilt.close()
    }

    @Test("continues after the highest existing segment number") func higherNumber() throws {
        let folder = try TemporaryFolder(inMemory: true)
        try fill(folder)
        let newest = try #require(folder.segments().last)
        let higher = try renumber(folder, newest, to: 1000)
        let archive = try folder.archive()
        for key in ["newer", "new"] { try archive.put(repeated(6, 100_000), forKey: key) }
        let numbers = try folder.segments()
        #expect(numbers.firstIndex(of: higher).map { $0 < numbers.count - 1 } == true, "\(numbers)")
        #expect(try folder.reopen(archive).peek("new")?.count == 100_000)
    }
}
