/// Finds all intact frames of a segment's file without mapping it, in time and memory proportional to its size. Not thread-safe;
/// the bytes must not change during a search.
///
/// After damage, each eighth byte may begin a frame of any length: checking each completely would be quadratic. So the search keeps
/// the checksum register before every 1,024th byte, and derives each checksum from two of them (``Checksum/moved(_:overZeros:)``).
final class FrameSearch: SegmentReader, @unchecked Sendable {
    let segment: UInt32
    /// Size of the part of the file that can be the segment; the rest isn't read.
    private(set) var bytes: Int
    private let segmentSeed: UInt32
    private let file: FileDescriptor
    // One window for each purpose: alternating reads would evict each other's bytes from a shared one.
    private let candidates: FileWindow
    private let begins: FileWindow
    private let ends: FileWindow
    private let sums: FileWindow
    /// The register over all bytes before each multiple of ``FrameSearch/block``.
    private var registers: [UInt32] = [0]
    private static let block = 1024

    /// The offset of the next intact frame after each searched offset.
    private var known: [Int: Int] = [:]
    private static let mostKnown = 65_536
    /// From this offset on, no frame ends before this limit.
    private var none: (from: Int, limit: Int)?

    private var wasReadAgain = false

    init(_ file: FileDescriptor, segment: UInt32, bytes: Int, segmentSeed: UInt32) {
        (self.file, self.segment) = (file, segment)
        self.bytes = max(bytes, 0)
        self.segmentSeed = segmentSeed
        (candidates, begins) = (FileWindow(file), FileWindow(file))
        (ends, sums) = (FileWindow(file), FileWindow(file))
    }

    /// Searches a file that may not be this segment, up to a segment's greatest size.
    convenience init(_ file: FileDescriptor, archive: [UInt8], segment: UInt32) throws(StorageError) {
        let seed = SegmentHeader.seed(archive: archive, segment: segment)
        let bytes = try SegmentLayout.usableBytes(file, file.status().bytes)
        self.init(file, segment: segment, bytes: bytes, segmentSeed: seed)
    }

    /// Whether the file has an intact frame. Reads up to that frame.
    func findsFrame() throws(StorageError) -> Bool { try next(after: SegmentHeader.bytes - 8) != nil }

    /// Bytes before this offset could no longer change when they were read.
    private var trustedEnd = 0

    /// Bytes beyond the old limit may have changed since they were read.
    private func trust(upTo limit: Int) {
        guard limit > trustedEnd else { return }
        if trustedEnd > 0 { forgetBytes() }
        trustedEnd = limit
    }

    private func forgetBytes() {
        for window in [candidates, begins, ends, sums] { window.forget() }
    }

    func rereadOnce() throws(StorageError) -> Bool {
        guard !wasReadAgain else { return false }
        bytes = try SegmentLayout.usableBytes(file, file.status().bytes)
        forgetBytes()
        (registers, known, none) = ([0], [:], nil)
        wasReadAgain = true
        return true
    }

    func frame(at offset: Int) throws(StorageError) -> Frame? {
        let frame = try frame(at: offset, before: .max)
        if frame != nil { wasReadAgain = false }
        return frame
    }

    func next(after offset: Int) throws(StorageError) -> Int? { try next(after: offset, before: .max) }

    /// The intact frame at an offset that ends by `limit`. Valid until the next call; its value may be missing.
    func frame(at offset: Int, before limit: Int) throws(StorageError) -> Frame? {
        try frame(at: offset, before: limit, isDamaged: false)
    }

    func damagedFrame(at offset: Int) throws(StorageError) -> Frame? {
        try frame(at: offset, before: .max, isDamaged: true)
    }

    /// The intact frame at an offset or, with `isDamaged`, the one whose key can be read.
    private func frame(at offset: Int, before limit: Int, isDamaged: Bool) throws(StorageError) -> Frame? {
        let end = min(limit, bytes)
        trust(upTo: end)
        guard offset >= SegmentHeader.bytes, offset <= end - Frame.headerBytes else { return nil }
        let header = offset..<offset + Frame.headerBytes
        try candidates.show(header)
        guard let frame = Frame(beginning: candidates.view(header)), frame.rawKind != 0,
            frame.bytes <= end - offset
        else { return nil }
        let (seed, checksum) = (Frame.seed(segmentSeed: segmentSeed, offset: offset), frame.checksum)
        let stretch = offset + 4..<offset + frame.bytes
        let register: UInt32
        if stretch.count <= FrameSearch.block {
            try candidates.show(offset..<stretch.upperBound)
            register = Checksum.register(~seed, over: candidates.view(stretch))
        } else {
            let before = try self.register(at: stretch.lowerBound, begins)
            let behind = try self.register(at: stretch.upperBound, ends)
            register = Checksum.moved(~seed ^ before, overZeros: stretch.count) ^ behind
        }
        guard checksum == ~register || isDamaged else { return nil }
        let leading = offset..<offset + frame.leadingBytes
        try candidates.show(leading)
        // The header may have been read twice.
        guard let found = Frame(beginning: candidates.view(leading)), found.leadingBytes == leading.count
        else {
            return nil
        }
        return isDamaged ? found.damaged(by: checksum ^ ~register) : found
    }

    /// Whether at most ``FileWindow/bytes`` bytes are all zero. Bytes beyond the end of the file count as zero.
    func isZero(_ range: Range<Int>) throws(StorageError) -> Bool {
        try ends.show(range)
        return ends.isZero(range)
    }

    /// Whether all bytes from `offset` to the last complete word of the file are zero, so never written.
    func isBlank(from offset: Int) throws(StorageError) -> Bool {
        try ends.isZero(from: offset, upTo: bytes & ~7)
    }

    func next(after offset: Int, before limit: Int) throws(StorageError) -> Int? {
        if let known = known[offset], known < limit { return known }
        let limit = min(limit, bytes)
        trust(upTo: limit)
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
                let part = candidate..<min(candidate + FileWindow.bytes, limit)
                try candidates.show(part)
                // No frame's header is all zeros.
                if candidates.isZero(part) {
                    candidate = max(candidate, (part.upperBound - Frame.headerBytes) & ~7)
                }
            }
        }
        none = (offset, limit)
        return nil
    }

    private func register(at offset: Int, _ window: FileWindow) throws(StorageError) -> UInt32 {
        let block = offset / FrameSearch.block
        while registers.count <= block {
            let start = (registers.count - 1) * FrameSearch.block
            try sums.show(start..<start + FrameSearch.block)
            let content = sums.view(start..<start + FrameSearch.block)
            registers.append(Checksum.register(registers[registers.count - 1], over: content))
        }
        let start = block * FrameSearch.block
        guard offset > start else { return registers[block] }
        try window.show(start..<offset)
        return Checksum.register(registers[block], over: window.view(start..<offset))
    }
}
