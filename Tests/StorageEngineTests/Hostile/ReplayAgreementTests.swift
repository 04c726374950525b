import Foundation
import StorageEngine
import TestSupport
import Testing

/// A replay and a check agree on forged frames, incomplete batches and tombstoned entries.
@Suite struct ReplayAgreementTests {
    private static func place(_ offset: Int) -> UInt64 { 1 << 32 | UInt64(offset / 8) }

    /// Frames appended one by one, each with its offset.
    private struct Log {
        var bytes = HandmadeArchive.header(1)

        @discardableResult
        mutating func add(_ frame: HandmadeFrame, damagedAt damage: Int? = nil) -> Int {
            let offset = bytes.count
            bytes += frame.bytes(segment: 1, offset: offset)
            if let damage { bytes[offset + damage] ^= 0x10 }
            return offset
        }

        /// A put of a batch that begins at `first`.
        @discardableResult
        mutating func add(_ key: String, of first: Int, value: Int = 8, damagedAt damage: Int? = nil) -> Int {
            var put = HandmadeFrame.put(key, repeated(9, value), stamp: UInt64(bytes.count))
            put.flags = 1
            put.parts = HandmadeFrame.part(8, little(ReplayAgreementTests.place(first)) + little(UInt64(0)))
            return add(put, damagedAt: damage)
        }

        /// Begins a batch with `size` bytes of further frames.
        mutating func begin(_ size: Int) -> Int {
            let value = little(UInt32(2)) + little(UInt32(0)) + little(UInt64(size))
            return add(HandmadeFrame(kind: 12, value: value))
        }
    }

    /// A put of a batch with a key of one byte and eight of value.
    private static let putBytes = 80

    /// Keys that readers, writers and a repaired archive find. The check finds no difference between index and log.
    private func found(_ bytes: [UInt8], behind: [UInt8]? = nil, kind: UInt8 = 2) throws -> Set<String> {
        let archive = try HandmadeArchive(kind: kind)
        try archive.write(bytes + repeated(0, 8192), HandmadeArchive.segmentName(1))
        if let behind { try archive.write(behind, HandmadeArchive.segmentName(2)) }
        var keys: Set<String>?
        for mode in [AccessMode.readOnly, .readWrite] {
            let opened = try archive.open(mode)
            defer { opened.close() }
            let here = Set(try opened.entries().keys)
            #expect(keys == nil || here == keys)
            keys = here
            let problems = try opened.check().problems
            #expect(problems.allSatisfy { !$0.contains("the index") && !$0.contains("the log does") })
            if mode == .readWrite { #expect(try opened.invariantViolations() == []) }
        }
        try archive.repair()
        let opened = try archive.open()
        defer { opened.close() }
        #expect(Set(try opened.entries().keys) == keys)
        #expect(try opened.check().problems == [])
        return keys ?? []
    }

    @Test("frames inside a message's value aren't read") func framesInMessage() throws {
        let archive = try HandmadeArchive(kind: 3)
        let inner = HandmadeFrame(kind: 8, value: [5, 5], created: 0)
        var value = repeated(0, 400)
        // The value begins behind 48 bytes of header.
        value.replaceSubrange(16..<16 + 56, with: inner.bytes(segment: 1, offset: 128))
        try archive.write([
            HandmadeFrame(kind: 8, value: value, created: 0),
            HandmadeFrame(kind: 8, value: [1], created: Self.place(184)),
            HandmadeFrame(kind: 8, value: [2], created: Self.place(184)),
        ])
        for mode in [AccessMode.readOnly, .readWrite] {
            let log = try archive.open(mode)
            defer { log.close() }
            #expect(try log.messages(after: nil, most: 10).messages.map(\.bytes) == [[1], [2]])
            #expect(try log.status().entries == 2)
            #expect(try log.check().clean)
        }
    }

    @Test("drops an incomplete batch at the end") func incompleteBatch() throws {
        var log = Log()
        log.add(.put("a"))
        let first = log.begin(2 * Self.putBytes)
        log.add("c", of: first)
        #expect(try found(log.bytes) == ["a"])
    }

    @Test("damage in a complete batch loses one entry", arguments: [60, 2])
    func damagedBatch(byte: Int) throws {
        for place in 0..<3 {
            var log = Log()
            log.add(.put("a"))
            let first = log.begin(3 * Self.putBytes)
            for (number, key) in ["b", "c", "d"].enumerated() {
                if number == place {
                    log.add(key, of: first, damagedAt: byte)
                } else {
                    log.add(key, of: first)
                }
            }
            let rest = [["c", "d"], ["b", "d"], ["b", "c"]][place]
            #expect(try found(log.bytes) == Set(["a"] + rest), "\(place)")
        }
    }

    @Test("damage at the end of a segment loses one entry") func damagedSegmentEnd() throws {
        var log = Log()
        let first = log.begin(2 * Self.putBytes)
        log.add("b", of: first)
        log.add("c", of: first, damagedAt: 60)
        let behind = HandmadeArchive.segment(2, [.put("d", stamp: 900)])
        #expect(try found(log.bytes, behind: behind) == ["b", "d"])
    }

    @Test("drops a batch whose end was lost with its page") func lostSegmentEnd() throws {
        var log = Log()
        log.add(.put("a"))
        let first = log.begin(2 * Self.putBytes)
        log.add("b", of: first)
        let behind = HandmadeArchive.segment(2, [.put("d", stamp: 900)])
        #expect(try found(log.bytes, behind: behind) == ["a", "d"])
    }

    @Test("drops a batch with a missing page") func missingPage() throws {
        var log = Log()
        log.add(.put("a"))
        let size = 48 + 20 + 1 + 6000 + 3
        let first = log.begin(size + Self.putBytes)
        log.add("b", of: first, value: 6000)
        log.bytes.replaceSubrange(2000..<4096, with: repeated(0, 2096))
        log.add("c", of: first)
        log.add(.put("d", stamp: 90_000))
        #expect(try found(log.bytes) == ["a", "d"])
    }

    @Test("ignores frames of a batch without its first frame") func orphanFrames() throws {
        var log = Log()
        log.add(.put("a"))
        log.add("b", of: 64)
        log.add(.put("c", stamp: 500))
        log.add("d", of: 64)
        #expect(try found(log.bytes) == ["a", "c"])
    }

    private static func note(
        _ group: UInt32, keepsOut: Bool = true, time: UInt64 = 1_700_000_000_000_000
    ) -> [UInt8] {
        HandmadeFrame.part(5, little(group) + [0, 1, keepsOut ? 1 : 0, 0] + little(time))
    }

    private static func removal(
        of offset: Int, _ group: UInt32, time: UInt64 = 1_700_000_000_000_000
    ) -> HandmadeFrame {
        HandmadeFrame(
            kind: 4,
            parts: HandmadeFrame.part(1, little(place(offset)))
                + (group == 0 ? [] : note(group, time: time)))
    }

    @Test("counts copied entries once with their action") func copiesCountOnce() throws {
        let archive = try HandmadeArchive(kind: 2)
        var log = Log()
        let now = UInt64(Date().timeIntervalSince1970 * 1_000_000)
        for number in 0..<3 {
            let place = log.add(.put("k\(number)", stamp: UInt64(number + 1)))
            log.add(Self.removal(of: place, 4, time: now))
        }
        for number in 0..<2 {
            var kept = HandmadeFrame.put("k\(number)", stamp: UInt64(number + 1))
            (kept.kind, kept.parts) = (11, Self.note(4, time: now))
            log.add(kept)
        }
        try archive.write(log.bytes + repeated(0, 8192), HandmadeArchive.segmentName(1))
        let opened = try archive.open()
        defer { opened.close() }
        let action = try #require(try opened.reversibleActions().first)
        #expect(action.id == 4 && action.entries == 3 && action.bytes == 9)
        let outcome = try #require(try opened.undo())
        #expect(outcome.entries == 3 && outcome.skippedCount == 0)
        #expect(try opened.check().clean)
    }

    /// Reused action numbers, numbers 64 apart, copies beside a present entry, and evicted entries.
    @Test("invalid undo records in a log restore the documented entries") func invalidUndoRecords() throws {
        var log = Log()
        let restore = { HandmadeFrame(kind: 7, parts: Self.note($0, keepsOut: $1)) }
        var kept = HandmadeFrame.put("k", stamp: 2)
        (kept.kind, kept.parts) = (11, Self.note(9))
        let again = log.add(.put("again"))
        log.add(Self.removal(of: again, 5))
        log.add(restore(5, true))
        log.add(Self.removal(of: again, 5))
        let lost = log.add(.put("lost"))
        log.add(Self.removal(of: lost, 6))
        let other = log.add(.put("other"))
        log.add(Self.removal(of: other, 70))
        log.add(restore(6, true))
        log.add(.put("k", stamp: 3))
        log.add(kept)
        log.add(HandmadeFrame(kind: 2, key: Array("k".utf8)))
        log.add(restore(9, true))
        let gone = log.add(.put("gone"))
        log.add(Self.removal(of: gone, 12))
        log.add(Self.removal(of: gone, 0))
        log.add(restore(12, false))
        let back = log.add(.put("back"))
        log.add(Self.removal(of: back, 13))
        log.add(.put("back", stamp: 9))
        log.add(HandmadeFrame(kind: 2, key: Array("back".utf8)))
        log.add(restore(13, false))
        #expect(try found(log.bytes) == ["back"])
    }

    @Test("restores among many copies take linear time", arguments: [false, true])
    func manyCopies(isOneKey: Bool) throws {
        let archive = try HandmadeArchive(kind: 2)
        var log = Log()
        for number in 0..<20_000 {
            var kept = HandmadeFrame.put(isOneKey ? "key" : "key \(number)", [1], stamp: UInt64(number))
            (kept.kind, kept.parts) = (11, Self.note(1))
            log.add(kept)
        }
        for number in 0..<5_000 {
            var kept = HandmadeFrame.put("other", [1], stamp: UInt64(number + 30_000))
            (kept.kind, kept.parts) = (11, Self.note(2))
            log.add(kept)
            log.add(HandmadeFrame(kind: 7, parts: Self.note(2, keepsOut: number % 2 == 0)))
        }
        try archive.write(log.bytes + repeated(0, 8192), HandmadeArchive.segmentName(1))
        let start = clock()
        let opened = try archive.open()
        #expect(try opened.entries().keys == ["other"])
        // Some tenths of a second in a debug build.
        #expect(Double(clock() - start) / Double(CLOCKS_PER_SEC) < 20)
        #expect(try opened.check().clean)
    }
}
