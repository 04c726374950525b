import Foundation
import StorageEngine
import Testing

/// During the replay of the oldest segment the index has no log tail, and a cell's 25 bits of a segment number must not
/// be taken for a number near 0.
@Suite(.serialized) struct LateSegmentTests {
    @Test(
        "a key that was tombstoned and stored again has its newer value",
        arguments: [1, 4_096, 4_097, 5_000, 1 << 24, (1 << 25) + 5_000] as [UInt32])
    func tombstonedAndStoredAgain(segment: UInt32) throws {
        let archive = try HandmadeArchive()
        let note = HandmadeFrame.part(
            5, little(UInt32(1)) + [6, 1, 1, 0] + little(Int64(1_700_000_000_000_000)))
        let removed = HandmadeFrame.part(1, little(UInt64(segment) << 32 | 8))
        var evict = HandmadeFrame(kind: 4, sequence: 3, recency: 3)
        evict.parts = removed + note
        try archive.write(
            [.put("k", [1], stamp: 1), .put("other", stamp: 2), evict, .put("k", [2], stamp: 4)],
            segment: segment, oldest: segment)
        for mode in [AccessMode.readOnly, .readWrite] {
            let opened = try archive.open(mode)
            #expect(try opened.peek("k") == [2])
            #expect(try opened.peek("other") == [1, 2, 3])
            #expect(try opened.check().clean)
            opened.close()
        }
    }

    @Test("finds keys of the oldest segment in linear time", arguments: [4_096, 4_097] as [UInt32])
    func oldestSegment(segment: UInt32) throws {
        let archive = try HandmadeArchive()
        var frames: [HandmadeFrame] = []
        for stamp in 1...20_000 { frames.append(.put("k\(stamp % 10_000)", stamp: UInt64(stamp))) }
        try archive.write(frames, segment: segment, oldest: segment)
        let start = Date()
        let opened = try archive.open(.readOnly)
        #expect(try opened.status().entries == 10_000)
        #expect(Date().timeIntervalSince(start) < 5)
    }

    @Test(
        "ignores a stray segment", arguments: [4_097, 5_000, 1 << 31, UInt32.max] as [UInt32], [true, false])
    func straySegment(segment: UInt32, holdsFrame: Bool) throws {
        let archive = try HandmadeArchive()
        try archive.write([.put("a", stamp: 1)])
        try archive.write(holdsFrame ? [.put("b", stamp: 9)] : [], segment: segment, oldest: 1)
        let name = HandmadeArchive.segmentName(segment)
        for mode in [AccessMode.readOnly, .readWrite] {
            let opened = try archive.open(mode)
            #expect(try opened.peek("a") == [1, 2, 3])
            #expect(try opened.entries().count == 1)
            #expect(try opened.check().problems.contains { $0.contains(name) && $0.contains("repair") })
            #expect(try opened.status().damagedPlaces == 1)
            if mode == .readWrite { try opened.put([4], forKey: "c") }
            opened.close()
        }
        try archive.folder.removeIndex(HandmadeArchive.name)
        let report = try archive.repair()
        #expect(report.damaged == 1 && report.entries == 2, "\(report)")
        let files = try archive.folder.files(inArchive: HandmadeArchive.name)
        #expect(!files.contains(name) && files.contains { $0.hasPrefix(name) }, "\(files)")
        let mended = try archive.open()
        #expect(try mended.check().clean)
        #expect(try mended.peek("c") == [4])
    }

    @Test("a repair decides between segments of two logs", arguments: [true, false])
    func ambiguousLog(isKnown: Bool) throws {
        let archive = try HandmadeArchive()
        try archive.write([.put("a", stamp: 1)])
        if isKnown { try archive.open().close() }
        let far: UInt32 = 4_097
        let frames = (1...200).map { HandmadeFrame.put("b\($0)", repeated(1, 100), stamp: $0) }
        var bytes = HandmadeArchive.segment(far, oldest: 1, frames)
        bytes.replaceSubrange(0..<64, with: repeated(0xee, 64))
        try archive.write(bytes, HandmadeArchive.segmentName(far))
        // An observer uses the index, if there is one.
        for mode in isKnown ? [AccessMode.readWrite] : [.readOnly, .readWrite] {
            let error = #expect(throws: StorageError.self) { _ = try archive.open(mode) }
            #expect(error?.description.contains("repair") == true, "\(String(describing: error))")
        }
        try archive.repair()
        let mended = try archive.open()
        #expect(try mended.entries().count == (isKnown ? 1 : 200))
        #expect(try mended.check().clean)
        let aside = HandmadeArchive.segmentName(isKnown ? far : 1)
        #expect(
            try archive.folder.files(inArchive: HandmadeArchive.name).contains {
                $0.hasPrefix(aside) && $0 != aside
            })
    }

    @Test("a repair keeps the log beside large files that are no segments") func foreignFiles() throws {
        let archive = try HandmadeArchive()
        try archive.write([.put("a", stamp: 1)])
        try archive.write(repeated(0xaa, 1 << 20), "ffff0000.segment")
        try archive.write(HandmadeArchive.header(77, oldest: 1) + repeated(0, 1 << 20), "eeee0000.segment")
        try archive.repair()
        let mended = try archive.open()
        #expect(try mended.peek("a") == [1, 2, 3])
        #expect(try mended.check().clean)
    }
}
