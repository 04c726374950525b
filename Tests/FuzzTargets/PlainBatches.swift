/// Frames of a log that count in the presence of batches, by OnDiskFormat ("Batches") alone.
struct PlainBatches {
    struct Frame {
        var kind: UInt8
        var flags: UInt8 = 0
        var key: [UInt8] = []
        var value: [UInt8] = []
        var parts: [UInt8] = []
        var sequence: UInt64 = 0
    }

    /// A valid frame, or other bytes.
    struct Piece {
        var segment: UInt32
        var range: Range<Int>
        var frame: Frame?

        var place: UInt64 { UInt64(segment) << 32 | UInt64(range.lowerBound / 8) }
        var isVoid: Bool { frame?.kind == 10 }

        /// Location of the first frame of its batch.
        var first: UInt64? {
            guard let frame, frame.flags & 1 != 0, let part = PlainReader.first(8, in: frame.parts),
                part.count >= 16
            else { return nil }
            return part.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }

        /// Bytes of the following frames, if it begins a batch.
        var batchBytes: Int? {
            guard let frame, frame.kind == 12, frame.value.count >= 16 else { return nil }
            let bytes = frame.value[8..<16].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            return bytes > 0 && bytes <= 48 << 20 && bytes % 8 == 0 ? Int(bytes) : nil
        }
    }

    /// A batch being read. If its first frame is damaged, its end is unknown.
    private struct Batch {
        var first: UInt64
        var end: Int?
        var pieces: [Piece] = []
        var isLost = false
        var isDamaged = false
        var isMended = false
        /// Whether the missing end begins with a checksum.
        var endsWritten = false

        mutating func note(_ piece: Piece, _ bytes: [UInt8]) {
            if let end, piece.range.lowerBound >= end { return }
            isMended = isMended || piece.frame != nil
            guard piece.frame == nil else { return }
            isDamaged = true
            isLost = isLost || Self.neverCame(piece.range, end: end, bytes)
        }

        /// Whether damage begins without a checksum, or has zeros in a whole sector or at the end of a page or of the
        /// batch.
        static func neverCame(_ range: Range<Int>, end: Int?, _ bytes: [UInt8]) -> Bool {
            func isZero(_ range: Range<Int>) -> Bool {
                range.allSatisfy { $0 >= bytes.count || bytes[$0] == 0 }
            }
            let upper = min(range.upperBound, end ?? .max)
            if isZero(range.lowerBound..<range.lowerBound + 4) { return true }
            let starts =
                [range.lowerBound] + stride(from: range.lowerBound / 512 * 512 + 512, to: upper, by: 512)
            return starts.contains { start in
                var stop = start / 512 * 512 + 512
                if stop > upper {
                    // A following frame of the batch in this sector was written with it.
                    guard upper == end else { return false }
                    stop = upper
                }
                guard stop % 4096 == 0 || stop == end else { return isZero(start..<stop) }
                return isZero(max(start, stop - 64)..<stop)
            }
        }

        func counts(upTo reached: Int, isAtEnd: Bool) -> Bool {
            if isLost { return false }
            return isMended || reached == end || endsWritten || end == nil || !isAtEnd
        }

        func isWhole(upTo reached: Int) -> Bool { !isDamaged && !isMended && reached == end }
    }

    /// Counted frames in order.
    /// - Parameters:
    ///   - pieces: of all segments, without the blank rest of each.
    ///   - bytes: those of each segment.
    static func frames(of pieces: [Piece], bytes: [UInt32: [UInt8]]) -> [Piece] {
        let last = pieces.lastIndex { $0.frame != nil && !$0.isVoid } ?? -1
        var counted: [Piece] = []
        var before: [Piece] = []
        var next = 0
        while next <= last {
            let piece = pieces[next]
            guard piece.frame != nil, !piece.isVoid else {
                if before.last?.segment != piece.segment { before = [] }
                before.append(piece)
                next += 1
                continue
            }
            guard var batch = begin(piece, before, bytes[piece.segment] ?? []) else {
                counted.append(piece)
                before = []
                next += 1
                continue
            }
            var reached = piece.range.lowerBound
            if piece.batchBytes != nil, piece.first == nil {
                reached = piece.range.upperBound
                next += 1
            }
            before = take(&batch, pieces, &next, &reached, bytes[piece.segment] ?? [])
            if batch.counts(upTo: reached, isAtEnd: next > last) { counted += batch.pieces }
        }
        return counted
    }

    private static func begin(_ piece: Piece, _ before: [Piece], _ bytes: [UInt8]) -> Batch? {
        if let first = piece.first {
            var batch = Batch(first: first)
            let offset = Int(first & 0xffff_ffff) * 8
            // Otherwise these are the remains of a dropped batch.
            batch.isLost = !before.contains {
                UInt64($0.segment) == first >> 32 && $0.segment == piece.segment && $0.range.contains(offset)
            }
            for piece in before { batch.note(piece, bytes) }
            return batch
        }
        return piece.batchBytes.map {
            Batch(first: piece.place, end: piece.range.upperBound + $0)
        }
    }

    /// Reads the rest of a batch. Returns the damage and `void` frames after its last frame.
    private static func take(
        _ batch: inout Batch, _ pieces: [Piece], _ next: inout Int, _ reached: inout Int, _ bytes: [UInt8]
    ) -> [Piece] {
        var pending: [Piece] = []
        let segment = pieces[max(0, next - 1)].segment
        let own = next < pieces.count && pieces[next].first == batch.first ? pieces[next].segment : segment
        while next < pieces.count, pieces[next].segment == own {
            let piece = pieces[next]
            if piece.frame == nil || piece.isVoid {
                pending.append(piece)
            } else if piece.first == batch.first, !batch.isWhole(upTo: reached) {
                for piece in pending { batch.note(piece, bytes) }
                pending = []
                batch.pieces.append(piece)
                reached = piece.range.upperBound
            } else {
                break
            }
            next += 1
        }
        if let end = batch.end, reached < end {
            var tail = pending
            var behind = tail.last?.range.upperBound ?? reached
            // The rest of the segment is blank, and part of the damage before it.
            if behind < end, next >= pieces.count || pieces[next].segment != own {
                if let last = tail.last, last.frame == nil {
                    behind = last.range.lowerBound
                    tail.removeLast()
                }
                tail.append(Piece(segment: own, range: behind..<end))
            }
            for piece in tail { batch.note(piece, bytes) }
            if tail.count == 1, tail[0].frame == nil, tail[0].range.lowerBound == reached {
                batch.endsWritten = bytes[min(reached, bytes.count)..<min(reached + 4, bytes.count)].contains
                { $0 != 0 }
            }
        }
        return pending
    }
}
