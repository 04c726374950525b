import Foundation
import StorageEngine
import TestSupport
import Testing

/// R14: time and space are linear in the number of bytes. Budgets are about ten times the expected cost.
@Suite(.serialized) struct WorkBudgetTests {
    /// Processor time of this thread.
    private func seconds(_ body: () throws -> Void) rethrows -> Double {
        let start = processorSeconds()
        try body()
        return processorSeconds() - start
    }

    @Test("skips a damaged value full of headers in linear time") func valueOfLengths() throws {
        let archive = try HandmadeArchive()
        let size = 3 << 20
        // A header at every eighth byte that claims nearly all remaining bytes.
        var value: [UInt8] = []
        value.reserveCapacity(size)
        while value.count < size {
            value += little(UInt32(1)) + little(UInt32(max(0, size - value.count - 200) / 2))
        }
        let frames = [
            HandmadeFrame.put("before"), .put("long", value, stamp: 2), .put("behind", stamp: 3),
        ]
        var bytes = HandmadeArchive.segment(1, frames)
        bytes[64 + 56 + 100] ^= 1
        try archive.write(bytes, HandmadeArchive.segmentName(1))
        let time = try seconds {
            let opened = try archive.open()
            #expect(Set(try opened.entries().keys) == ["before", "behind"])
            #expect(try opened.check().damaged == 1)
        }
        #expect(time < 8, "\(time) s")
    }

    @Test("skips damaged frames with large claims in linear time") func largeClaims() throws {
        let archive = try HandmadeArchive()
        var bytes = HandmadeArchive.header(1)
        let count = 6_000
        for number in 0..<count {
            bytes += HandmadeFrame.put("k\(number)", stamp: UInt64(number + 1)).bytes(
                segment: 1, offset: bytes.count)
            // A header with an invalid checksum and a long value.
            var bogus = HandmadeFrame(key: [65]).bytes(segment: 1, offset: 8)
            bogus.replaceSubrange(4..<8, with: little(UInt32((count - number) * 56)))
            bytes += bogus
        }
        bytes += repeated(0, 8192)
        try archive.write(bytes, HandmadeArchive.segmentName(1))
        let time = try seconds {
            let opened = try archive.open()
            #expect(try opened.entries().count == count)
        }
        #expect(time < 5, "\(time) s")
    }

    @Test("replays messages after a long one in linear time") func manyMessages() throws {
        let archive = try HandmadeArchive(kind: 3)
        var frames = [HandmadeFrame(kind: 8, value: repeated(9, 4 << 20), created: 0)]
        for number in 0..<8_000 {
            frames.append(
                HandmadeFrame(kind: 8, value: [1], sequence: UInt64(number + 2), created: 1 << 32 | 8))
        }
        try archive.write(frames)
        let time = try seconds {
            let entries = try archive.open().status().entries
            #expect(entries == 8_001)
        }
        #expect(time < 5, "\(time) s")
    }

    @Test("the index grows with entries, not with claims") func indexSize() throws {
        let archive = try HandmadeArchive()
        var bytes = HandmadeArchive.header(1, oldest: 1)
        while bytes.count < 1 << 20 { bytes += HandmadeFrame(key: [65]).bytes(segment: 9, offset: 8) }
        try archive.write(bytes, HandmadeArchive.segmentName(1))
        for number in UInt32(2)...60 { try archive.write([.put("k\(number)")], segment: number) }
        let opened = try archive.open()
        #expect(try opened.entries().count == 59)
        #expect(archive.indexBytes < 4 << 20)
    }

    @Test("a rebuilt index grows with keys, not with puts") func rebuiltIndexSize() throws {
        let folder = try TemporaryFolder(inMemory: true)
        var archive = try folder.archive(creating: .cache(2_000_000))
        for round in 0..<30_000 { try archive.put([UInt8(round & 255)], forKey: "k\(round % 900)") }
        archive = try folder.reopen(archive)
        let status = try archive.status()
        let bound = 1.25 * (2_000_000 + 128 * Double(status.entries)) + 1_048_576
        #expect(status.entries == 900)
        let footprint = Double(status.footprint - status.requestBytes)
        #expect(footprint <= bound, "\(footprint) of \(bound)")
    }

    @Test("doesn't read giant sparse files") func sparseFiles() throws {
        let archive = try HandmadeArchive()
        try archive.write([.put("a")])
        for name in ["00000002.segment", "00000003.segment"] {
            let bytes =
                name == "00000003.segment" ? repeated(1, 100) : HandmadeArchive.header(7)
            try archive.write(bytes, name)
            try #require(truncate(archive.folder.archivePath(HandmadeArchive.name, name), 1 << 40) == 0)
        }
        let time = try seconds {
            let opened = try archive.open(.readOnly)
            #expect(try opened.peek("a") == [1, 2, 3])
        }
        #expect(time < 30, "\(time) s")
    }

    @Test("finds messages that were appended after damage") func appendedAfterDamage() throws {
        let archive = try HandmadeArchive(kind: 3)
        var bytes = HandmadeArchive.header(1)
        for number in 0..<4 {
            let message = HandmadeFrame(
                kind: 8, value: [UInt8(number)], sequence: UInt64(number + 1),
                created: number == 0 ? 0 : 1 << 32 | 8)
            bytes += message.bytes(segment: 1, offset: bytes.count)
        }
        bytes[64 + 56 + 50] ^= 1
        try archive.write(bytes + repeated(0, 60_000), HandmadeArchive.segmentName(1))
        let log = try archive.open()
        for number in 4..<300 {
            _ = try log.append([UInt8(number & 255)])
            let batch = try log.messages(after: nil, most: 1_000)
            try #require(batch.messages.count == number, "\(number)")
        }
    }
}
