import Foundation
import StorageEngine
import Testing

/// R14: frames with valid checksums and extreme fields. Readers continue and don't overflow.
@Suite(.serialized) struct AbsurdFieldTests {
    static let stamps: [UInt64] = [
        .max, .max - 1, .max - 2, .max - 63, .max - 2048, 1 << 63, 1 << 62, 1 << 61, (1 << 61) - 1, 0,
    ]

    @Test("an archive with extreme stamps stays usable", arguments: stamps)
    func extremeStamps(stamp: UInt64) throws {
        let archive = try HandmadeArchive(kind: 1, limit: 3_000)
        try archive.write([
            .put("a", stamp: 1), .put("b", stamp: stamp), .put("c", stamp: stamp), .put("d", stamp: 2),
        ])
        for round in 0..<2 {
            let opened = try archive.open()
            try opened.expectValid()
            for _ in 0..<700 { #expect(try opened.access("a") != nil) }
            for number in 0..<600 { try opened.put(repeated(1, 2), forKey: "n\(number % 5)") }
            #expect(try opened.access("b") != nil)
            // The least recent is evicted first; recently accessed entries stay.
            try opened.put(repeated(1, 2_985), forKey: "large \(round)")
            #expect(try opened.peek("b") == [1, 2, 3] || opened.peek("n4") != nil)
            try opened.delete("large \(round)")
            try opened.put([1, 2, 3], forKey: "a")
            try opened.put([1, 2, 3], forKey: "b")
            try opened.expectValid()
            opened.close()
            if round == 0 { try archive.folder.removeIndex(HandmadeArchive.name) }
        }
    }

    /// Times at both ends of the range: no operation traps.
    @Test(
        "an archive with extreme times stays usable",
        arguments: [Int64.min, Int64.min + 1, -1, 0, Int64.max - 1, Int64.max])
    func extremeTimes(time: Int64) throws {
        let bits = UInt64(bitPattern: time)
        let archive = try HandmadeArchive(kind: 1)
        let owner = HandmadeFrame.part(4, Array("someone".utf8))
        var frames: [HandmadeFrame] = []
        for (number, deadline) in [[bits, bits, bits, 0], [bits, 0, bits, 1], [0, bits, 0, .max]].enumerated()
        {
            let part = HandmadeFrame.part(2, deadline.flatMap { little($0) })
            let interval = HandmadeFrame.part(3, little(bits))
            frames.append(
                HandmadeFrame(
                    key: Array("k\(number)".utf8), value: [1], parts: part + interval + owner,
                    time: bits, created: bits))
        }
        frames.append(HandmadeFrame(key: [65], value: [1], time: bits, created: bits))
        let note = little(UInt32(5)) + [6, 1, 0, 0] + little(bits)
        let place = little(UInt64(1) << 32 | 8)
        frames.append(
            HandmadeFrame(
                kind: 4, parts: HandmadeFrame.part(1, place) + HandmadeFrame.part(5, note), time: bits,
                created: bits))
        try archive.write(frames)
        let opened = try archive.open()
        let list = try opened.entries()
        for place in list.indices { _ = try list.metadata(at: place) }
        #expect(try opened.metadata("A")?.created.microseconds == time)
        #expect(try opened.access("A") == [1])
        _ = try opened.reversibleActions()
        _ = try opened.undo()
        _ = try opened.standing(of: "k1")
        _ = try opened.removeExpired()
        _ = try opened.deleteIdle(longerThan: .seconds(1))
        _ = try opened.events()
        try opened.put([1], forKey: "new")
        _ = try opened.setLifetime(.seconds(100), forKey: "new")
        try opened.expectValid()
    }

    @Test("an archive with extreme sequences stays usable") func extremeSequences() throws {
        let archive = try HandmadeArchive()
        try archive.write([
            HandmadeFrame(key: [65], value: [1], sequence: .max),
            HandmadeFrame(key: [66], value: [1], sequence: .max - 1),
        ])
        let opened = try archive.open()
        try opened.put([2], forKey: "C")
        let one = try #require(try opened.metadata("C")).sequence
        try opened.put([3], forKey: "C")
        #expect(try #require(try opened.metadata("C")).sequence > one && one > 1)
        #expect(try opened.check().clean)
    }

    @Test("ignores put frames in a log") func putsInLog() throws {
        let archive = try HandmadeArchive(kind: 3, limit: 1_000)
        var frames = (0..<20_000).map { HandmadeFrame.put("k\($0)", [], stamp: UInt64($0 + 1)) }
        for number in 0..<3 {
            frames.append(
                HandmadeFrame(
                    kind: 8, value: [UInt8(number)], sequence: UInt64(30_000 + number),
                    created: number == 0 ? 0 : 1 << 32 | UInt64(64 + 20_000 * 56) / 8))
        }
        try archive.write(frames)
        let opened = try archive.open()
        #expect(try opened.messages(most: 10).messages.count == 3)
        #expect(try opened.invariantViolations() == [])
        opened.close()
        #expect(archive.indexBytes < 1 << 20)
    }

    @Test("ignores a false oldest message", arguments: [0x1_0000_1000, 0x4d_0000_0008, UInt64.max])
    func falseOldest(claimed: UInt64) throws {
        let archive = try HandmadeArchive(kind: 3, limit: 1_000_000)
        var frames: [HandmadeFrame] = []
        for (number, oldest) in [0, 0x1_0000_0008, claimed].enumerated() {
            var frame = HandmadeFrame(kind: 8, value: [UInt8(number)])
            frame.sequence = UInt64(number + 1)
            frame.created = oldest
            frames.append(frame)
        }
        try archive.write(frames)
        let opened = try archive.open()
        let there = try opened.messages().messages.map(\.bytes)
        #expect(there == [[2]])
        #expect(try opened.snapshot().count == there.count)
        #expect(try opened.status().entries == there.count)
        #expect(try opened.check().clean)
    }

    @Test("ignores a header that names a later segment as the oldest", arguments: [UInt8(1), 3])
    func falseBeginning(kind: UInt8) throws {
        let archive = try HandmadeArchive(kind: kind, limit: 1_000_000)
        for number in UInt32(1)...3 {
            let message = HandmadeFrame(
                kind: 8, value: [1], sequence: UInt64(number), created: number == 1 ? 0 : 1 << 32 | 8)
            let put = HandmadeFrame.put("k\(number)", stamp: UInt64(number))
            try archive.write([kind == 3 ? message : put], segment: number, oldest: number == 1 ? 1 : 9)
        }
        let opened = try archive.open()
        #expect(try opened.status().entries == 3)
        #expect(try !opened.check().clean)
        opened.close()
        try archive.repair()
        let repaired = try archive.open()
        #expect(try repaired.status().entries == 3)
        #expect(try repaired.check().clean)
    }
}
