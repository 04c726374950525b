/// Which bytes of a segment's file are intact frames, found in time and memory in proportion to the file, whatever is in it.
///
/// Behind damage a frame may begin at every eighth byte, and each of them may claim a length up to the end of the file. To
/// take the checksum of all that each time would be quadratic, and a value of lengths can be made to do just that. So the
/// register of the checksum over everything before every 1,024th byte is kept, and what lies between two places comes from
/// two of them (``Checksum/moved(_:overZeros:)``): a frame costs the same however long it claims to be, and none is missed.
///
/// For one thread at a time, which its owner sees to, and for bytes that don't change meanwhile. Reads the file, and maps
/// nothing.
final class FrameSearch: @unchecked Sendable {
    /// Bytes of the file that are looked at.
    let bytes: Int
    private let segmentSeed: UInt32
    private let file: OpenFile
    /// Of a file that is mostly holes, the stretches that it had bytes for when it was last settled: what is between them isn't
    /// read.
    private var stretches: [Range<Int>]?
    // One window a purpose: places that are read in turn would push each other out of one.
    private var candidates: FileWindow
    private var begins: FileWindow
    private var ends: FileWindow
    private var sums: FileWindow
    /// The register over all bytes before each multiple of ``FrameSearch/block``.
    private var registers: [UInt32] = [0]
    private static let block = 1024

    /// Where the next intact frame behind a place is, for those that were asked for.
    private var known: [Int: Int] = [:]
    private static let mostKnown = 65_536
    /// From where on there is none that ends before a limit.
    private var none: (from: Int, limit: Int)?

    init(_ file: OpenFile, bytes: Int, segmentSeed: UInt32) {
        self.file = file
        self.bytes = max(bytes, 0)
        self.segmentSeed = segmentSeed
        let isSparse = (try? file.status().isSparse) ?? false
        stretches = isSparse ? file.data(from: 0, upTo: self.bytes) : nil
        candidates = FileWindow(file)
        begins = FileWindow(file)
        ends = FileWindow(file)
        sums = FileWindow(file)
    }

    /// Up to where bytes were known not to change when they were read.
    private var settled = 0

    /// What was read from behind a limit may have been written since; nothing that is kept of it may be used.
    private func settle(upTo limit: Int) {
        guard limit > settled else { return }
        if settled > 0 {
            for window in [\FrameSearch.candidates, \.begins, \.ends, \.sums] {
                self[keyPath: window].forget()
            }
            // Holes too, in a file that is no longer than it was.
            if stretches != nil { stretches = file.data(from: 0, upTo: bytes) }
        }
        settled = limit
    }

    /// The header of the intact frame that is at `offset` and ends at `limit` at the latest.
    func frame(at offset: Int, before limit: Int = .max) throws(StorageError) -> FrameHeader? {
        let end = min(limit, bytes)
        settle(upTo: end)
        guard offset >= SegmentHeader.bytes, offset <= end - Frame.headerBytes else { return nil }
        try candidates.show(offset..<offset + Frame.headerBytes)
        guard candidates.byte(offset + 12) != 0, let header = FrameHeader(candidates, at: offset),
            header.bytes <= end - offset
        else { return nil }
        let seed = Frame.seed(segmentSeed: segmentSeed, offset: offset)
        let stretch = offset + 4..<offset + header.bytes
        let register: UInt32
        if stretch.count <= FrameSearch.block {
            try candidates.show(offset..<stretch.upperBound)
            register = candidates.register(~seed, over: stretch)
        } else {
            let before = try self.register(at: stretch.lowerBound, &begins)
            let behind = try self.register(at: stretch.upperBound, &ends)
            register = Checksum.moved(~seed ^ before, overZeros: stretch.count) ^ behind
        }
        return header.checksum == ~register ? header : nil
    }

    /// A copy of bytes of the file, at most ``FileWindow/bytes`` of them.
    func copy(_ range: Range<Int>) throws(StorageError) -> [UInt8] {
        guard !range.isEmpty else { return [] }
        try begins.show(range)
        return begins.array(range)
    }

    /// Whether at most ``FileWindow/bytes`` are all zero, as those behind the end of the file are.
    func isZero(_ range: Range<Int>) throws(StorageError) -> Bool {
        try ends.show(range)
        return ends.isZero(range)
    }

    /// Whether everything from `offset` to the last whole word of the file is zero: never written.
    func isBlank(from offset: Int) throws(StorageError) -> Bool {
        try ends.isZero(from: offset, upTo: bytes & ~7)
    }

    /// The offset of the first intact frame behind `offset` that ends at `limit` at the latest.
    func next(after offset: Int, before limit: Int = .max) throws(StorageError) -> Int? {
        if let known = known[offset], known < limit { return known }
        let limit = min(limit, bytes)
        settle(upTo: limit)
        if let none, none.from <= offset, none.limit == limit { return nil }
        var candidate = offset + 8
        while candidate <= limit - Frame.headerBytes {
            if try frame(at: candidate, before: limit) != nil {
                if known.count >= FrameSearch.mostKnown { known = [:] }
                known[offset] = candidate
                return candidate
            }
            candidate += 8
            if candidate & 0xfff == 0, candidate < limit {
                if let data = data(from: candidate) {
                    // No frame has a header of zeros.
                    candidate = max(candidate, (min(data.lowerBound, limit) - Frame.headerBytes) & ~7)
                    guard data.lowerBound <= candidate else { continue }
                }
                let part = candidate..<min(candidate + FileWindow.bytes, limit)
                try candidates.show(part)
                if candidates.isZero(part) {
                    candidate = max(candidate, (part.upperBound - Frame.headerBytes) & ~7)
                }
            }
        }
        none = (offset, limit)
        return nil
    }

    /// What the file has bytes for from there on, where it is mostly holes; empty and behind its end: nothing.
    private func data(from offset: Int) -> Range<Int>? {
        guard let stretches else { return nil }
        var (low, high) = (0, stretches.count)
        while low < high {
            let middle = (low + high) / 2
            if stretches[middle].upperBound > offset { high = middle } else { low = middle + 1 }
        }
        guard low < stretches.count else { return bytes..<bytes }
        return max(offset, stretches[low].lowerBound)..<stretches[low].upperBound
    }

    /// The register over everything before `offset`, begun at 0.
    private func register(at offset: Int, _ window: inout FileWindow) throws(StorageError) -> UInt32 {
        let block = offset / FrameSearch.block
        while registers.count <= block {
            let start = (registers.count - 1) * FrameSearch.block
            if let data = data(from: start), data.lowerBound >= start + FrameSearch.block {
                registers.append(Checksum.moved(registers[registers.count - 1], overZeros: FrameSearch.block))
                continue
            }
            try sums.show(start..<start + FrameSearch.block)
            registers.append(
                sums.register(registers[registers.count - 1], over: start..<start + FrameSearch.block))
        }
        let start = block * FrameSearch.block
        guard offset > start else { return registers[block] }
        try window.show(start..<offset)
        return window.register(registers[block], over: start..<offset)
    }
}
