import Foundation
import StorageEngine
import Testing

/// Errors of index or mapping that a check finds, although the engine relies on both.
@Suite(.serialized) struct IndependentCheckTests {
    @Test("a check reports an entry that no look-up finds") func lostCell() throws {
        let folder = try TemporaryFolder(inMemory: true)
        let archive = try folder.archive(creating: .cache())
        for number in 0..<40 { try archive.put([1], forKey: "k\(number)") }
        #expect(try archive.check().clean)
        archive.close()
        let path = folder.archivePath("A", "index")
        var index = try contents(of: path)
        let cell = try #require(
            stride(from: 262_144 + 65_536, to: index.count, by: 64).first { place in
                index[place..<place + 8].contains { $0 != 0 }
            })
        index.replaceSubrange(cell..<cell + 8, with: repeated(0, 8))
        try overwrite(path, at: 0, with: index)
        try folder.remark("A", clean: true)
        let observer = try folder.archive(mode: .readOnly)
        let report = try observer.check()
        #expect(report.problems.contains { $0.contains("no look-up finds it") })
        #expect(!report.clean)
    }

    @Test("readers and checks skip frames without meaning") func meaninglessFrames() throws {
        let archive = try HandmadeArchive(kind: 2)
        let place = HandmadeFrame.part(1, little(UInt64(1) << 32 | 8))
        try archive.write([
            .put("a"), HandmadeFrame(kind: 1), HandmadeFrame(kind: 8, value: [1]),
            HandmadeFrame(kind: 200, key: [65]),
            // A truncated part, and the bytes after it.
            HandmadeFrame(kind: 4, parts: [1, 0, 200, 0] + little(UInt64(1) << 32 | 8)),
            // The first of a tag counts, and an empty first names nothing.
            HandmadeFrame(kind: 4, parts: HandmadeFrame.part(1, []) + place),
        ])
        for mode in [AccessMode.readOnly, .readWrite] {
            let opened = try archive.open(mode)
            #expect(try opened.entries().keys == ["a"])
            #expect(try opened.check().clean)
        }
    }

    @Test("a check reads the longest extension and key", arguments: [false, true])
    func longestFrame(isInBatch: Bool) throws {
        let archive = try HandmadeArchive(kind: 2)
        let key = String(repeating: "k", count: 1024)
        var put = HandmadeFrame.put(key, repeated(9, 100_000), stamp: 2)
        let batch = isInBatch ? HandmadeFrame.part(8, little(UInt64(1) << 32 | 8) + little(UInt64(0))) : []
        put.flags = isInBatch ? 1 : 0
        put.parts = batch + HandmadeFrame.part(99, repeated(1, 0xfff8 - 4 - batch.count))
        let size = put.bytes(segment: 1, offset: 128).count
        let header = little(UInt32(1)) + little(UInt32(0)) + little(UInt64(size))
        let first = HandmadeFrame(kind: 12, value: header)
        try archive.write(isInBatch ? [first, put] : [put])
        let opened = try archive.open()
        #expect(try opened.entries().keys == [key])
        #expect(try opened.check().problems == [])
        #expect(try opened.check().valueBytes == 100_000)
    }

    @Test("a frame of kind 0 is damage") func kindZero() throws {
        let archive = try HandmadeArchive(kind: 2)
        try archive.write([.put("a"), HandmadeFrame(kind: 0, key: [65], value: [1]), .put("b", stamp: 2)])
        let opened = try archive.open()
        #expect(Set(try opened.entries().keys) == ["a", "b"])
        #expect(try opened.check().damaged == 1)
        opened.close()
        let report = try archive.repair()
        #expect(report.entries == 2 && report.damaged == 1)
        #expect(try archive.open().check().clean)
    }

    @Test("compares index and log", arguments: [(262_144 + 60, "another owner"), (512, "ends inside")])
    func indexAgainstLog(offset: Int, words: String) throws {
        let folder = try TemporaryFolder(inMemory: true)
        let archive = try folder.archive(creating: .cache())
        try archive.put([1], forKey: "k", attributes: EntryAttributes(owner: "someone"))
        #expect(try archive.check().clean)
        let index = folder.archivePath("A", "index")
        let before = try contents(of: index)[offset]
        try overwrite(index, at: offset, with: [before &- 1])
        let report = try archive.check()
        #expect(report.problems.contains { $0.contains(words) }, "\(report)")
        try overwrite(index, at: offset, with: [before])
        #expect(try archive.check().clean)
    }
}
