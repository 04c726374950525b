import Foundation
import StorageEngine
import TestSupport
import Testing

/// Files with holes. No writer leaves any in a frame; a copy may, where a value is zeros (`cp --sparse=always`).
@Suite struct HoleTests {
    private static let count = 60

    /// Zeros. Every third value has other bytes at both ends.
    private func value(_ number: Int) -> [UInt8] {
        var value = repeated(0, 200_000 + 8 * number)
        if number.isMultiple(of: 3) {
            value[0] = UInt8(number)
            value[value.count - 1] = 255
        }
        return value
    }

    /// Recreates the file without its zero pages. Returns whether most of it is holes.
    private func makeSparse(_ path: String) throws -> Bool {
        let bytes = try [UInt8](contents(of: path))
        try FileManager.default.removeItem(atPath: path)
        let file = open(path, O_RDWR | O_CREAT | O_EXCL, 0o600)
        defer { close(file) }
        try #require(ftruncate(file, off_t(bytes.count)) == 0)
        for start in stride(from: 0, to: bytes.count, by: 4096) {
            let page = bytes[start..<min(start + 4096, bytes.count)]
            guard page.contains(where: { $0 != 0 }) else { continue }
            let written = page.withUnsafeBytes { pwrite(file, $0.baseAddress, $0.count, off_t(start)) }
            try #require(written == page.count)
        }
        var status = stat()
        try #require(fstat(file, &status) == 0)
        return Int(status.st_blocks) * 512 < bytes.count / 4
    }

    private func compare(_ archive: Archive, _ numbers: some Sequence<Int>) throws {
        for number in numbers { #expect(try archive.peek("k\(number)") == value(number), "\(number)") }
    }

    @Test("reads, rebuilds, reclaims and copies values over holes") func valuesOverHoles() async throws {
        let folder = try TemporaryFolder()
        var store = try Store.open(at: folder.store)
        let configuration = ArchiveConfiguration.collection
        var archive = try store.archive(named: "A", orCreate: configuration)
        for number in 0..<HoleTests.count { try archive.put(value(number), forKey: "k\(number)") }
        store.close()
        let segments = try folder.segments()
        let sparse = try segments.filter { try makeSparse(folder.archivePath("A", $0)) }
        #expect(!sparse.isEmpty)
        try folder.removeIndex("A")

        store = try Store.open(at: folder.store)
        archive = try store.archive(named: "A")
        try compare(archive, 0..<HoleTests.count)
        #expect(try archive.check().clean)
        let snapshot = try archive.snapshot()
        #expect(try snapshot.value("k30") == value(30))
        // Deletes most of each segment, so that the rest is reclaimed.
        for number in 0..<HoleTests.count where number % 10 != 0 { try archive.delete("k\(number)") }
        let rest = stride(from: 0, to: HoleTests.count, by: 10)
        #expect(try await eventually { try archive.status().footprint < 10_000_000 })
        try compare(archive, rest)
        // The files of the snapshot have been removed.
        for number in 0..<HoleTests.count {
            #expect(try snapshot.value("k\(number)") == value(number), "\(number) of the snapshot")
        }
        try archive.expectValid()
        store.close()

        try folder.removeIndex("A")
        store = try Store.open(at: folder.store)
        archive = try store.archive(named: "A")
        #expect(try archive.entries().count == 6)
        try compare(archive, rest)
    }

    @Test("reads messages that were written into a hole") func filledHole() throws {
        let folder = try TemporaryFolder()
        var store = try Store.open(at: folder.store)
        let configuration = ArchiveConfiguration.log(100_000_000)
        var log = try store.archive(named: "L", orCreate: configuration)
        for bytes in [800_000, 20_000] { try log.append(repeated(0, bytes)) }
        store.close()
        #expect(try makeSparse(folder.archivePath("L", "00000001.segment")))
        store = try Store.open(at: folder.store)
        log = try store.archive(named: "L")
        let looker = try folder.archive("L", mode: .readOnly)
        for number in 1...6 {
            let sizes = [800_000, 20_000] + [Int](repeating: 70_000, count: number - 1)
            for archive in [log, looker] {
                let found = try archive.messages(most: .max)
                #expect(found.messages.map(\.bytes.count) == sizes)
                #expect(!found.someAreLost && !found.someAreDamaged)
            }
            try log.append(repeated(UInt8(number), 70_000))
        }
        #expect(try log.check().clean)
    }

    @Test("a changed bit beside a hole is damage") func bitBesideHole() throws {
        let folder = try TemporaryFolder()
        let archive = try folder.archive(creating: .collection)
        try archive.put(repeated(0, 900_000), forKey: "damaged")
        try archive.put([1], forKey: "intact")
        archive.close()
        let path = folder.archivePath("A", "00000001.segment")
        #expect(try makeSparse(path))
        let file = open(path, O_RDWR)
        var one: UInt8 = 1
        #expect(pwrite(file, &one, 1, 500_000) == 1)
        close(file)
        let opened = try folder.rebuilt()
        #expect(try opened.peek("intact") == [1])
        #expect(try opened.entries().count == 1)
        #expect(try !opened.check().clean)
    }
}
