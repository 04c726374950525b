import Foundation
import StorageEngine
import Testing

/// While the oldest segment is replayed the index has no head yet, and a cell's 25 bits of the segment's number are taken for
/// a number near 0: of a log whose oldest segment is above 4,096 the cells lead to segments that don't exist.
@Suite(.serialized) struct LateSegmentTests {
    /// What someone deletes so that it can be undone, and stores anew.
    @Test(arguments: [1, 4_096, 4_097, 5_000, 1 << 24, (1 << 25) + 5_000] as [UInt32])
    func aKeyThatWasSetAsideAndStoredAnewIsReplayed(segment: UInt32) throws {
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

    /// Two keys whose cells look alike, and time: each look-up of a key that is there went round fifty times first.
    @Test(arguments: [4_096, 4_097] as [UInt32])
    func keysOfTheOldestSegmentAreFound(segment: UInt32) throws {
        let archive = try HandmadeArchive()
        var frames: [HandmadeFrame] = []
        for stamp in 1...20_000 { frames.append(.put("k\(stamp % 10_000)", stamp: UInt64(stamp))) }
        try archive.write(frames, segment: segment, oldest: segment)
        let start = Date()
        let opened = try archive.open(.readOnly)
        #expect(try opened.status().entries == 10_000)
        #expect(Date().timeIntervalSince(start) < 5)
    }

    /// What broke: two segments of one slot kept each other out, and every command said that a reader had one of them.
    @Test func segmentsOfNoOneLogAreTold() throws {
        let archive = try HandmadeArchive()
        try archive.write([.put("a", stamp: 1)], segment: 1, oldest: 1)
        try archive.write([.put("b", stamp: 2)], segment: 4_097, oldest: 1)
        for mode in [AccessMode.readOnly, .readWrite] {
            let error = #expect(throws: StorageError.self) { _ = try archive.open(mode) }
            #expect(error?.description.contains("another log's") == true, "\(String(describing: error))")
        }
    }
}
