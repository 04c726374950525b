import StorageEngine
import TestSupport

/// Bytes that make reading as expensive as possible: frames with valid checksums and misleading values, lengths,
/// locations and counts, some of them damaged afterwards.
struct AdversarialSegment {
    enum Pattern: CaseIterable {
        /// A value of frame headers, each of which claims nearly all remaining bytes.
        case claims
        /// Like `claims`, with lengths that lead from one header to the next, or with the longest extensions.
        case chain
        /// A value of zeros and a length, repeated.
        case zerosAndLengths
        /// Copies of a whole frame as a value.
        case copies
        /// Nested batches that claim to extend to the segment's end.
        case endlessBatches
        /// Frames of batches whose first frame is elsewhere, nowhere, or damaged.
        case headlessBatches
        /// Small batches, some of which lack a frame.
        case brokenBatches
        /// As many evicted locations as an extension holds, all equal, or invalid.
        case evictions
        /// Actions that tombstone and restore the same few entries.
        case actions
        /// One key with thousands of versions; or keys, deletes and deadlines in turn.
        case versions
        case deadlines
        /// Messages, some of which change the log's oldest message.
        case messages
        /// The smallest frames.
        case dust
    }

    let number: UInt32
    private(set) var bytes: [UInt8]
    private var stamp: UInt64 = 1
    private var random: SeededGenerator

    init(_ number: UInt32, seed: UInt64) {
        self.number = number
        bytes = HandmadeArchive.header(number)
        random = SeededGenerator(seed: seed)
    }

    private func place(_ offset: Int) -> UInt64 { UInt64(number) << 32 | UInt64(offset / 8) }

    @discardableResult
    private mutating func add(_ frame: HandmadeFrame) -> Int {
        var frame = frame
        stamp += 1
        (frame.sequence, frame.recency) = (stamp, stamp)
        let offset = bytes.count
        bytes += frame.bytes(segment: number, offset: offset)
        return offset
    }

    private mutating func put(_ value: [UInt8], key: String? = nil) {
        let key = key ?? "key \(Int.random(in: 0..<5_000, using: &random))"
        add(HandmadeFrame(key: Array(key.utf8), value: value))
    }

    private mutating func short() -> Int { Int.random(in: 0..<60, using: &random) }

    /// Appends about `size` bytes.
    mutating func append(_ pattern: Pattern, size: Int) {
        let end = bytes.count + size
        switch pattern {
        case .claims: put(headers(size) { min($0, 1 << 30) })
        case .chain:
            let step = Int.random(in: 8...200, using: &random)
            put(headers(size, extension: step > 100 ? 0xfff8 : 0) { _ in step * 8 })
        case .zerosAndLengths:
            let length = little(UInt32.random(in: 1...UInt32(size), using: &random))
            put((0..<size / 8).flatMap { _ in [0, 0, 0, 0] + length })
        case .copies:
            let copied = HandmadeFrame.put("copied").bytes(segment: number, offset: 64)
            put((0..<size / copied.count).flatMap { _ in copied })
        case .endlessBatches:
            while bytes.count < end {
                let first = begin(claiming: end - bytes.count + short() * 8)
                for _ in 0..<short() / 8 { part(of: first) }
            }
        case .headlessBatches:
            let few = [64, bytes.count, end + 8, bytes.count + 800]
            while bytes.count < end { part(of: few[Int.random(in: 0..<few.count, using: &random)]) }
        case .brokenBatches:
            while bytes.count < end {
                let parts = short() / 4 + 1
                let first = begin(claiming: parts * 80)
                for _ in 0..<parts where Int.random(in: 0..<40, using: &random) > 0 { part(of: first) }
            }
        case .evictions: while bytes.count < end { evict() }
        case .actions: while bytes.count < end { act() }
        case .versions:
            let keys = Int.random(in: 1...30, using: &random)
            while bytes.count < end {
                let key = Array("version \(Int.random(in: 0..<keys, using: &random))".utf8)
                let isDelete = Int.random(in: 0..<3, using: &random) == 0
                add(HandmadeFrame(kind: isDelete ? 2 : 1, key: key, value: isDelete ? [] : [1]))
                if short() == 0 { add(HandmadeFrame(kind: 3)) }
            }
        case .deadlines:
            while bytes.count < end {
                let words = [UInt64.random(in: 0...UInt64.max, using: &random), 0, 1, UInt64(short())]
                let kind: UInt8 = short() < 20 ? 6 : 1
                let key = Array("deadline \(Int.random(in: 0..<300, using: &random))".utf8)
                add(
                    HandmadeFrame(
                        kind: kind, key: key, parts: HandmadeFrame.part(2, words.flatMap { little($0) })))
            }
        case .messages:
            while bytes.count < end {
                let back = UInt64.random(in: 8...UInt64(bytes.count / 8), using: &random)
                let begin = short() == 0 ? 0 : UInt64(number) << 32 | back
                add(HandmadeFrame(kind: 8, value: repeated(1, short()), created: begin))
            }
        case .dust: while bytes.count < end { add(HandmadeFrame(kind: short() < 30 ? 10 : 77)) }
        }
    }

    /// Headers with invalid checksums, at every eighth byte or fewer.
    private mutating func headers(
        _ size: Int, extension: UInt16 = 0, _ claim: (Int) -> Int
    ) -> [UInt8] {
        var value: [UInt8] = []
        value.reserveCapacity(size)
        let isDense = Bool.random(using: &random)
        let rest: [UInt8] = [1, 0] + little(`extension`) + [1, 0, 0, 0]
        while value.count < size {
            let claimed = little(UInt32(clamping: max(0, claim(size - value.count))))
            value +=
                isDense ? little(UInt32(1)) + claimed : [0, 0, 0, 0] + claimed + rest
        }
        return value
    }

    private mutating func begin(claiming size: Int) -> Int {
        let count = UInt32.random(in: 0...UInt32(size), using: &random)
        return add(
            HandmadeFrame(kind: 12, value: little(count) + little(UInt32(0)) + little(UInt64(size & ~7))))
    }

    /// 80 bytes, or a few more.
    private mutating func part(of first: Int) {
        var put = HandmadeFrame.put("b\(Int.random(in: 0..<3_000, using: &random))", [9])
        put.flags = 1
        put.parts = HandmadeFrame.part(8, little(place(first)) + little(place(short() * 8)))
        add(put)
    }

    private mutating func evict() {
        let one = place(64 + 8 * Int.random(in: 0..<bytes.count / 8, using: &random))
        let isOne = Bool.random(using: &random)
        let count = Int.random(in: 0..<8_000, using: &random)
        let places = (0..<count).flatMap { little(isOne ? one : one &+ UInt64($0)) }
        add(HandmadeFrame(kind: 4, parts: HandmadeFrame.part(1, places)))
        for _ in 0..<short() { put([1, 2]) }
    }

    private mutating func act() {
        let group = UInt32.random(in: 1...70, using: &random)
        let kind = UInt8.random(in: 1...3, using: &random)
        let note = HandmadeFrame.part(
            5, little(group) + [6, kind, UInt8(short() & 1), 0] + little(UInt64(1_700_000_000_000_000)))
        let places = (0..<short()).map { _ in add(HandmadeFrame.put("a\(short())")) }
        let named = HandmadeFrame.part(1, places.flatMap { little(place($0)) })
        add(HandmadeFrame(kind: 4, parts: named + note))
        for _ in 0..<short() {
            let key = Array("a\(short())".utf8)
            let isKept = Bool.random(using: &random)
            add(HandmadeFrame(kind: isKept ? 11 : 7, key: isKept ? key : [], value: [1], parts: note))
        }
    }

    /// Flips bits, clears pages and sectors, or cuts the end off.
    mutating func damage() {
        let flips = [0, 1, 3, 100, 3_000][Int.random(in: 0..<5, using: &random)]
        for _ in 0..<flips { bytes[Int.random(in: 64..<bytes.count, using: &random)] ^= 4 }
        for _ in 0..<short() / 10 {
            let place = Int.random(in: 64..<bytes.count, using: &random) & ~511
            let range = max(64, place)..<min(bytes.count, place + (Bool.random(using: &random) ? 512 : 4096))
            guard !range.isEmpty else { continue }
            bytes.replaceSubrange(range, with: repeated(0, range.count))
        }
        if short() == 0 { bytes.removeLast(bytes.count / 3) }
    }
}
