import Foundation
import StorageEngine
import TestSupport
import Testing

/// Random damage in batches, compared with a model of the log.
@Suite struct BatchRepairTests {
    /// A frame of the log, as it was written.
    private struct Written {
        var range: Range<Int>
        var kind: UInt8
        var key: String
        var keyRange: Range<Int>
        var isInBatch: Bool
        /// Offsets of the frames whose entries it evicts.
        var evicted: [Int]
    }

    /// A closed archive with batches of 1 to 6 frames.
    private struct Sample {
        let folder: TemporaryFolder
        let files: [String: Data]
        let frames: [Written]
        let values: [String: [UInt8]]
        /// All values that a key ever had.
        var history: [String: Set<[UInt8]>] = [:]

        static let segment = "00000001.segment"

        init(_ kind: ArchiveKind, _ random: inout SeededGenerator) throws {
            folder = try TemporaryFolder(inMemory: true)
            let archive = try folder.archive(creating: kind == .cache ? .cache(4_000) : .collection)
            var history: [String: Set<[UInt8]>] = [:]
            func value(_ key: String) -> [UInt8] {
                let value = (0..<Int.random(in: 1...300, using: &random)).map { _ in
                    UInt8.random(in: 1...255, using: &random)
                }
                history[key, default: []].insert(value)
                return value
            }
            let keys = (0..<10).map { "\($0) " + String(repeating: "\($0)", count: 4 * $0 + 3) }
            for key in keys { try archive.put(value(key), forKey: key) }
            for _ in 0..<6 {
                var batch = Batch()
                for key in keys.shuffled(using: &random).prefix(Int.random(in: 1...6, using: &random)) {
                    if Int.random(in: 0..<4, using: &random) == 0 {
                        batch.delete(key)
                    } else {
                        batch.put(value(key), forKey: key)
                    }
                }
                try archive.apply(batch)
                guard Bool.random(using: &random), let key = keys.randomElement(using: &random) else {
                    continue
                }
                try archive.put(value(key), forKey: key)
            }
            // Entries that reappear must evict nothing.
            if kind == .cache { try archive.setLimits(disk: 1_000_000, memory: nil) }
            try archive.put([1], forKey: "last")
            history["last"] = [[1]]
            values = try Self.values(of: archive)
            archive.close()
            self.history = history
            var files: [String: Data] = [:]
            for name in try folder.files(inArchive: "A") {
                files[name] = try StorageEngineTests.contents(of: folder.archivePath("A", name))
            }
            self.files = files
            frames = Self.frames(of: Array(try #require(files[Self.segment])))
        }

        static func values(of archive: Archive) throws -> [String: [UInt8]] {
            var values: [String: [UInt8]] = [:]
            for key in try archive.entries().keys { values[key] = try archive.peek(key) }
            return values
        }

        private static func frames(of bytes: [UInt8]) -> [Written] {
            func number(_ offset: Int, _ count: Int) -> Int {
                bytes[offset..<offset + count].reversed().reduce(0) { $0 << 8 | Int($1) }
            }
            var (frames, offset): ([Written], Int) = ([], 64)
            while offset + 48 <= bytes.count, bytes[offset + 12] != 0 {
                let (value, key) = (number(offset + 4, 4), number(offset + 8, 2))
                let begin = offset + 48 + number(offset + 10, 2)
                var (part, evicted): (Int, [Int]) = (offset + 48, [])
                while part + 4 <= begin {
                    let end = part + 4 + number(part + 2, 2)
                    if bytes[part] == 1 {
                        evicted = stride(from: part + 4, to: end, by: 8).map { number($0, 4) * 8 }
                    }
                    part = end
                }
                let end = (begin + key + value + 7) & ~7
                frames.append(
                    Written(
                        range: offset..<end, kind: bytes[offset + 12],
                        key: String(decoding: bytes[begin..<begin + key], as: UTF8.self),
                        keyRange: begin..<begin + key, isInBatch: bytes[offset + 14] == 1, evicted: evicted))
                offset = end
            }
            return frames
        }

        /// Index of the frame that decides the state of each key.
        var deciding: [String: Int] {
            var (deciding, keyAt): ([String: Int], [Int: String]) = ([:], [:])
            for (place, frame) in frames.enumerated() {
                for offset in frame.evicted { if let key = keyAt[offset] { deciding[key] = place } }
                guard !frame.key.isEmpty else { continue }
                deciding[frame.key] = place
                keyAt[frame.range.lowerBound] = frame.key
            }
            return deciding
        }

        func restore(_ segment: [UInt8], keepsIndex: Bool) throws {
            let path = folder.store + "/A.archive"
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            for (name, data) in files where name != "index" || keepsIndex {
                let bytes = name == Self.segment ? Data(segment) : data
                try bytes.write(to: URL(fileURLWithPath: folder.archivePath("A", name)))
            }
            if keepsIndex { try folder.adoptIndex("A") }
        }
    }

    /// Changed bytes of frames of one batch.
    private struct Damage: CustomStringConvertible {
        var bytes: [UInt8]
        /// For each damaged frame, whether its key can be read (OnDiskFormat, "Damage in a cache").
        var isReadable: [Int: Bool] = [:]
        var description = ""

        init(_ sample: Sample, _ random: inout SeededGenerator) throws {
            bytes = Array(try #require(sample.files[Sample.segment]))
            let begins = sample.frames.indices.filter { sample.frames[$0].kind == 12 }
            let begin = try #require(begins.randomElement(using: &random))
            let end = sample.frames[(begin + 1)...].firstIndex { !$0.isInBatch } ?? sample.frames.endIndex
            for place in (begin..<end).shuffled(using: &random).prefix(Int.random(in: 1...3, using: &random))
            {
                hit(place, sample.frames[place], &random)
            }
        }

        private mutating func hit(_ place: Int, _ frame: Written, _ random: inout SeededGenerator) {
            let start = frame.range.lowerBound
            let parts = [0..<4, 4..<12, 12..<14, 14..<16, 16..<24, 24..<48].map {
                start + $0.lowerBound..<start + $0.upperBound
            }
            let all =
                parts
                + [
                    start + 14..<start + 15, start + 48..<frame.keyRange.lowerBound, frame.keyRange,
                    frame.keyRange.upperBound..<frame.range.upperBound,
                ].filter { !$0.isEmpty }
            var hits: [Int] = []
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                guard let byte = all.randomElement(using: &random)?.randomElement(using: &random),
                    !hits.contains(byte)
                else { continue }
                let other =
                    byte == start + 14
                    ? UInt8.random(in: 0...2, using: &random) : .random(in: 0...255, using: &random)
                // Any frame of this kind removes all entries.
                guard other != bytes[byte], byte != start + 12 || other != 3 else { continue }
                description += " \(byte - start) of \(place): \(bytes[byte]) -> \(other);"
                bytes[byte] = other
                hits.append(byte)
            }
            guard !hits.isEmpty else { return }
            let trusted = [start..<start + 4, start + 14..<start + 15, start + 24..<frame.range.upperBound]
            isReadable[place] =
                hits.allSatisfy { byte in
                    trusted.contains { $0.contains(byte) } && !frame.keyRange.contains(byte)
                }
                && bytes[start + 14] <= 1 && hits != [start + 14]
                && (frame.evicted.isEmpty
                    || !hits.contains { (start + 48..<frame.keyRange.lowerBound).contains($0) })
        }

        /// Whether the keys of the damaged range with this frame are known.
        func isKnown(_ place: Int) -> Bool {
            var (first, last) = (place, place)
            while isReadable[first - 1] != nil { first -= 1 }
            while isReadable[last + 1] != nil { last += 1 }
            return (first...last).allSatisfy { isReadable[$0] == true }
        }
    }

    private func expectRepaired(
        _ kind: ArchiveKind, _ sample: Sample, _ damage: Damage, keepsIndex: Bool
    ) throws {
        let what = "\(kind), index \(keepsIndex),\(damage)"
        let folder = sample.folder
        try sample.restore(damage.bytes, keepsIndex: false)
        let read = try folder.withArchive(mode: .readOnly) { archive in
            #expect(try !archive.check().clean, "\(what)")
            return try Sample.values(of: archive)
        }
        try sample.restore(damage.bytes, keepsIndex: keepsIndex)
        let report = try folder.repair()
        #expect(report.damaged > 0, "\(what)")
        #expect(try folder.check().problems == [], "\(what)")
        let repaired = try folder.withArchive(mode: .readOnly) { try Sample.values(of: $0) }
        for (key, place) in sample.deciding {
            let found = repaired[key]
            if damage.isReadable[place] == nil {
                #expect(found == sample.values[key], "\(key), \(what)")
            } else if kind == .cache, keepsIndex || damage.isKnown(place) {
                #expect(found == nil, "\(key), \(what)")
            } else if let found {
                #expect(sample.history[key]?.contains(found) == true, "\(key), \(what)")
                #expect(found != sample.values[key], "\(key), \(what)")
            }
        }
        if !keepsIndex { #expect(repaired == read, "\(what)") }
        let path = folder.archivePath("A", Sample.segment)
        for rebuilds in [true, false] {
            if rebuilds { try folder.removeIndex("A") }
            let before = try StorageEngineTests.contents(of: path)
            let again = try folder.repair()
            #expect(again.damaged == 0, "\(what)")
            #expect(try StorageEngineTests.contents(of: path) == before, "\(what)")
            let later = try folder.withArchive(mode: .readOnly) { try Sample.values(of: $0) }
            #expect(later == repaired, "\(what)")
        }
    }

    @Test(
        "a repair of random damage in a batch keeps intact entries, and no older value of a known key",
        arguments: [ArchiveKind.cache, .collection])
    func randomDamage(kind: ArchiveKind) throws {
        var random = SeededGenerator.announced("batch repair")
        let end = Soak.end(share: 0.02)
        var round = 0
        while round < 10 || Date() < end {
            round += 1
            let sample = try Sample(kind, &random)
            for _ in 0..<8 {
                let damage = try Damage(sample, &random)
                guard !damage.isReadable.isEmpty else { continue }
                for keepsIndex in [false, true] {
                    try expectRepaired(kind, sample, damage, keepsIndex: keepsIndex)
                }
            }
        }
    }
}
