import CPlatform
import Foundation
import StorageEngine

/// Frames with valid checksums and extreme fields, some of them damaged afterwards, as the log of an archive.
///
/// Each frame is made of a few bytes of the input, so every input is an archive. The results of readers and writers are
/// compared with ``PlainReader``, and their time and space with the input's size (R14).
package struct FramesTarget: FuzzTarget {
    package static let name = "frames"
    private let store: FuzzStore

    package init() throws { store = try FuzzStore() }

    package mutating func run(_ input: [UInt8]) throws -> String? {
        let log = HandmadeLog(input)
        try store.set(log.files)
        let start = Self.processorTime()
        let visit = Visit(store)
        let observed = visit.look(mode: .readOnly)
        let rebuilt = visit.look(mode: .readWrite)
        if let observed, let rebuilt, observed != rebuilt {
            // Writers evict entries above the limit; observers don't.
            guard visit.evictions > 0, rebuilt.allSatisfy({ observed[$0.key] == $0.value }) else {
                return "an observer lists other entries than a writer"
            }
        }
        if let rebuilt, let expected = log.reader.comparable {
            let found = rebuilt.filter { expected.unsure.contains($0.key) == false }
            if found != expected.entries {
                let keys = Set(found.keys).union(expected.entries.keys)
                let wrong = keys.filter { found[$0] != expected.entries[$0] }.sorted().prefix(5)
                return "other entries than the format page says; keys \(Array(wrong))"
            }
        }
        visit.use()
        visit.look(mode: .readOnly)
        visit.repair()
        // The bound is 100 ms and 1 µs a byte, in a release build, for each operation.
        let seconds = Self.processorTime() - start
        if seconds > 5 + 20e-6 * Double(log.bytes) { return "\(log.bytes) bytes took \(seconds) s" }
        if store.indexBytes > 4 * log.bytes + (4 << 20) {
            return "\(log.bytes) bytes made an index of \(store.indexBytes)"
        }
        return visit.failure
    }

    /// Of this thread, since others may run other tests.
    private static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    package static func seeds() throws -> [[UInt8]] {
        (0..<8).map { seed in
            var state = UInt64(seed) &* 0x9e37_79b9_7f4a_7c15 | 1
            return (0..<240).map { _ in
                state ^= state << 13
                state ^= state >> 7
                state ^= state << 17
                return UInt8(truncatingIfNeeded: state >> 24)
            }
        }
    }
}

/// Files of an archive, made of an input's bytes.
struct HandmadeLog {
    private(set) var files: [String: [UInt8]] = [:]
    private(set) var bytes = 0
    private(set) var reader: PlainReader
    private var places: [UInt64] = []
    private var sequence: UInt64 = 0

    private static let absurd: [UInt64] = [
        0, 1, .max, .max - 1, 1 << 63, (1 << 63) - 1, 1 << 62, 1 << 61, 1 << 32, .max - 2048,
    ]

    init(_ input: [UInt8]) {
        var cursor = InputCursor(input)
        let flags = cursor.byte()
        let kind: UInt8 = flags & 7 == 0 ? 1 : flags & 7 == 1 ? 3 : 2
        reader = PlainReader(isLog: kind == 3, isLimited: kind != 2)
        files["descriptor"] = FuzzStore.descriptor(kind: kind, limit: 2_000)
        var number: UInt32 = 0
        var segments: [UInt32: [UInt8]] = [:]
        while !cursor.isAtEnd, number < 200 {
            number += 1 + UInt32(cursor.byte() & 15 == 0 ? 3 : 0)
            var segment = FuzzStore.header(segment: number, oldest: 1)
            for _ in 0..<(cursor.byte() & 63) where !cursor.isAtEnd {
                if cursor.byte() & 7 == 0 {
                    appendBatch(&cursor, to: &segment, number)
                } else {
                    append(&cursor, to: &segment, number)
                }
            }
            segments[number] = segment
            bytes += segment.count
            files[String(format: "%08x.segment", number)] = segment + [UInt8](repeating: 0, count: 4096)
        }
        reader.finish(segments)
    }

    /// Appends puts and deletes as one change. Some first frames have a wrong size; some batches are damaged or
    /// incomplete.
    private mutating func appendBatch(
        _ cursor: inout InputCursor, to segment: inout [UInt8], _ number: UInt32
    ) {
        let place = UInt64(number) << 32 | UInt64(segment.count / 8)
        let shape = cursor.byte()
        var parts: [PlainBatches.Frame] = []
        for _ in 0..<(shape & 7) {
            let choice = cursor.byte()
            let named = choice & 0x30 == 0x30 ? place &+ 8 : place
            parts.append(
                PlainBatches.Frame(
                    kind: choice & 3 == 0 ? 2 : 1, flags: choice & 0xe0 == 0xe0 ? 0 : 1,
                    key: Array("key \(choice & 15)".utf8),
                    value: choice & 3 == 0 ? [] : [UInt8](repeating: choice, count: Int(choice) * 20),
                    parts: [8, 0, 16, 0] + Self.little(named) + Self.little(0)))
        }
        let size = parts.reduce(0) { $0 + Self.bytes(of: $1) }
        let claimed = shape & 0x18 == 0x18 ? Int(shape) * 8 : size
        if shape & 0xe0 == 0xe0 { parts = parts.dropLast() }
        let value =
            FuzzStore.little(UInt32(parts.count)) + FuzzStore.little(0) + Self.little(UInt64(claimed))
        for frame in [PlainBatches.Frame(kind: 12, value: value)] + parts {
            sequence += 1
            let damage = cursor.byte()
            add(
                frame, [sequence, sequence, 1 << 50, 1 << 50],
                damagedAt: damage & 31 == 31 ? Int(damage) : nil,
                to: &segment, number)
        }
    }

    private static func little(_ word: UInt64) -> [UInt8] {
        withUnsafeBytes(of: word.littleEndian) { Array($0) }
    }

    private static func bytes(of frame: PlainBatches.Frame) -> Int {
        (48 + frame.parts.count + frame.key.count + frame.value.count + 7) & ~7
    }

    /// Writes a frame, with the words from offset 16 on, and passes it to the reader.
    private mutating func add(
        _ frame: PlainBatches.Frame, _ words: [UInt64], damagedAt damage: Int?, to segment: inout [UInt8],
        _ number: UInt32
    ) {
        let start = segment.count
        var frame = frame
        frame.sequence = words[0]
        var bytes: [UInt8] = [0, 0, 0, 0] + FuzzStore.little(UInt32(frame.value.count))
        bytes += [UInt8(frame.key.count), 0, UInt8(frame.parts.count & 0xff), UInt8(frame.parts.count >> 8)]
        bytes +=
            [frame.kind, 0, frame.flags, 0] + words.flatMap(Self.little) + frame.parts + frame.key
            + frame.value
        bytes += [UInt8](repeating: 0, count: (8 - bytes.count % 8) % 8)
        FuzzStore.seal(&bytes, segment: number, offset: start)
        if let damage { bytes[damage % bytes.count] ^= 0x10 }
        segment += bytes
        let isValid = damage == nil && frame.kind != 0
        reader.note(
            PlainBatches.Piece(
                segment: number, range: start..<start + bytes.count, frame: isValid ? frame : nil))
        if isValid { places.append(UInt64(number) << 32 | UInt64(start / 8)) }
    }

    private mutating func append(_ cursor: inout InputCursor, to segment: inout [UInt8], _ number: UInt32) {
        let choice = cursor.byte()
        let fields = cursor.byte()
        let kinds: [UInt8] = [1, 1, 1, 1, 1, 2, 3, 4, 4, 5, 6, 7, 8, 8, 9, 10, 11, 0, 77, 255]
        let kind = kinds[Int(choice) % kinds.count]
        sequence += 1
        func absurd(_ bit: UInt8, _ usual: UInt64) -> UInt64 {
            guard fields & bit != 0 else { return usual }
            return Self.absurd[Int(fields &+ choice) % Self.absurd.count]
        }
        // Sometimes no key, which most frames need.
        let hasKey = ![3, 4, 7, 8, 10].contains(kind) && fields != 9
        let key = hasKey ? Array("key \(cursor.byte() & 15)".utf8) : []
        let size = Int(cursor.byte())
        let value = [2, 3, 4, 7, 6].contains(kind) ? [] : [UInt8](repeating: choice, count: size * size / 64)
        let parts = [1, 5].contains(kind) && fields & 3 != 3 ? [] : parts(&cursor, kind)
        let words = [
            absurd(4, sequence), absurd(8, sequence), absurd(16, 1 << 50),
            kind == 8 ? absurd(32, 0) : absurd(32, 1 << 50),
        ]
        let isDamaged = fields & 0xc1 == 0xc1
        add(
            PlainBatches.Frame(kind: kind, key: key, value: value, parts: parts), words,
            damagedAt: isDamaged ? Int(choice) : nil, to: &segment, number)
    }

    /// Parts of an extension: those of that kind, or any.
    private func parts(_ cursor: inout InputCursor, _ kind: UInt8) -> [UInt8] {
        var parts: [UInt8] = []
        for _ in 0..<(cursor.byte() & 3) {
            let choice = cursor.byte()
            let tag =
                kind == 4 && choice & 1 == 0
                ? 1 : [4, 7, 11].contains(kind) && choice & 3 == 1 ? 5 : choice % 9
            var content: [UInt8] = []
            switch tag {
            case 1:
                for _ in 0..<(choice & 3) + 1 {
                    let some = places.isEmpty ? 0 : places[cursor.number(bytes: 2) % places.count]
                    let place = choice & 0x40 == 0 ? some : Self.absurd[Int(choice) % Self.absurd.count]
                    content += withUnsafeBytes(of: place.littleEndian) { Array($0) }
                }
            case 5: content = [choice >> 6, 0, 0, 0, 6, choice >> 4 & 3, 0, 0] + cursor.take(8)
            default: content = cursor.take(Int(choice & 63))
            }
            // One in sixteen claims to be longer than it is.
            let claimed = content.count + (choice & 0xf0 == 0xf0 ? 5 : 0)
            parts += [tag, 0, UInt8(claimed & 0xff), UInt8(claimed >> 8)] + content
        }
        return parts
    }
}
