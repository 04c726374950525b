import Foundation
import StorageEngine
import Synchronization
import TestSupport
import Testing

/// A process was killed between creating a segment and writing to it. Others must use that file, since a segment number
/// is never reused (F7).
@Suite struct BegunSegmentTests {
    @Test("uses a segment that a killed process created") func begunSegment() throws {
        let folder = try TemporaryFolder()
        let first = try Store.open(at: folder.store)
        let archive = try first.archive(named: "A", orCreate: .collection)
        // Past the size of a segment, so that the next frame begins a new one.
        try archive.put(repeated(1, 70_000), forKey: "old")
        let second = try folder.archive()
        #expect(try second.peek("old")?.count == 70_000)
        #expect(try folder.files(inArchive: "A").filter { $0.hasSuffix("segment") } == ["00000001.segment"])
        try beginSegment(2, in: folder)
        try markAsInterrupted(folder)
        // The second handle repairs and finds the new segment; the first one stores next.
        #expect(try !second.delete("nothing"))
        try archive.put([2], forKey: "by the first")
        try second.put([3], forKey: "by the second")
        #expect(try archive.peek("by the second") == [3])
        #expect(try second.peek("by the first") == [2])
        #expect(try archive.check().clean && second.check().clean)
        #expect(try archive.invariantViolations() == [])
        for handle in [archive, second] { handle.close() }
        let again = try folder.rebuilt()
        #expect(try again.entries().keys == ["by the second", "by the first", "old"])
    }

    @Test("a check ignores a segment being created") func checkDuringCreation() throws {
        let folder = try TemporaryFolder(inMemory: true)
        let archive = try folder.archive(creating: .collection)
        try archive.put([1], forKey: "a")
        let path = folder.archivePath("A", "00000002.segment")
        let header = try header(of: 2, in: folder)
        let isOver = Atomic(false)
        let writer = Background {
            while !isOver.load(ordering: .relaxed) {
                let file = open(path, O_RDWR | O_CREAT | O_EXCL, 0o600)
                _ = ftruncate(file, 65_536)
                _ = header.withUnsafeBytes { pwrite(file, $0.baseAddress, $0.count, 0) }
                close(file)
                unlink(path)
            }
        }
        var problems: [String] = []
        for _ in 0..<3_000 where problems.isEmpty { problems = try archive.check().problems }
        isOver.store(true, ordering: .relaxed)
        try writer.wait()
        #expect(problems == [])
    }

    private func beginSegment(_ number: UInt8, in folder: TemporaryFolder) throws {
        let path = folder.archivePath("A", "0000000\(number).segment")
        let header = try header(of: number, in: folder)
        try (Data(header) + Data(count: 65_536 - 64)).write(to: URL(fileURLWithPath: path))
    }

    /// Header according to OnDiskFormat, "Segment files".
    private func header(of number: UInt8, in folder: TemporaryFolder) throws -> [UInt8] {
        var header = try [UInt8](contents(of: folder.archivePath("A", "00000001.segment")).prefix(64))
        header[12] = number
        let checksum = Checksum.crc32c(Array(header[..<60]))
        for byte in 0..<4 { header[60 + byte] = UInt8(truncatingIfNeeded: checksum >> (8 * UInt32(byte))) }
        return header
    }

    /// Sets the lock owner, as a process does that dies in the critical section.
    private func markAsInterrupted(_ folder: TemporaryFolder) throws {
        try overwrite(folder.archivePath("A", "index"), at: 192, with: [0xff, 0xff, 0x3f, 0, 0, 0, 0, 0])
    }
}
