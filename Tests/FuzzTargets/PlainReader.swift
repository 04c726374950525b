/// Contents of a log by OnDiskFormat alone: a map from keys to values. For one thread.
struct PlainReader {
    private struct Entry {
        var value: [UInt8]
        var place: UInt64
        var sequence: UInt64
    }

    private let isLog: Bool
    private let isLimited: Bool
    private var entries: [[UInt8]: Entry] = [:]
    /// Keys that this model doesn't decide: in memory only, with expiry times, or undoable.
    private var unsure: Set<[UInt8]> = []
    /// Sequences of the latest removals by key, and of all keys.
    private var removals: [[UInt8]: UInt64] = [:]
    private var allRemoved: UInt64 = 0

    init(isLog: Bool, isLimited: Bool) {
        self.isLog = isLog
        self.isLimited = isLimited
    }

    private var pieces: [PlainBatches.Piece] = []

    /// Adds the next piece of the log. Adjacent damage is merged.
    mutating func note(_ piece: PlainBatches.Piece) {
        if let last = pieces.last, last.frame == nil, piece.frame == nil, last.segment == piece.segment,
            last.range.upperBound == piece.range.lowerBound
        {
            pieces[pieces.count - 1].range = last.range.lowerBound..<piece.range.upperBound
        } else {
            pieces.append(piece)
        }
    }

    /// Evaluates the log, of which `bytes` are the segments.
    mutating func finish(_ bytes: [UInt32: [UInt8]]) {
        let counted =
            isLog ? pieces.filter { $0.frame != nil } : PlainBatches.frames(of: pieces, bytes: bytes)
        for piece in counted {
            guard let frame = piece.frame else { continue }
            apply(frame, place: piece.place)
        }
    }

    private mutating func apply(_ frame: PlainBatches.Frame, place: UInt64) {
        let (kind, key, parts) = (frame.kind, frame.key, frame.parts)
        guard !isLog, [3, 4, 7].contains(kind) || !key.isEmpty else { return }
        let isReversible =
            (Self.first(5, in: parts).map { $0.count >= 16 && $0.prefix(4) != [0, 0, 0, 0] }) ?? false
        if [1, 2, 4, 5, 9].contains(kind), let removed = Self.first(1, in: parts) {
            for start in stride(from: removed.startIndex, to: removed.endIndex - 7, by: 8) {
                let named = removed[start..<start + 8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
                guard let found = entries.first(where: { $0.value.place == named }) else { continue }
                (entries[found.key], removals[found.key]) = (nil, frame.sequence)
                if kind == 4, isReversible { unsure.insert(found.key) }
            }
        }
        switch kind {
        case 5 where isOutdated(frame): break
        case 1, 5:
            entries[key] = Entry(value: frame.value, place: place, sequence: frame.sequence)
            if Self.first(2, in: parts) != nil || Self.first(7, in: parts) != nil { unsure.insert(key) }
        case 2: (entries[key], removals[key]) = (nil, frame.sequence)
        case 3: (entries, removals, allRemoved) = ([:], [:], max(allRemoved, frame.sequence))
        case 6, 9, 11: unsure.insert(key)
        case 7: (removals, allRemoved) = ([:], 0)
        default: break
        }
    }

    /// Whether a later state of the copy's key exists.
    private func isOutdated(_ copy: PlainBatches.Frame) -> Bool {
        if let present = entries[copy.key] { return present.sequence > copy.sequence }
        return copy.sequence < max(allRemoved, removals[copy.key] ?? 0)
    }

    /// The first part with this tag; a truncated part ends the extension.
    static func first(_ tag: UInt8, in parts: [UInt8]) -> ArraySlice<UInt8>? {
        var offset = 0
        while offset + 4 <= parts.count {
            let end = offset + 4 + Int(parts[offset + 2]) + Int(parts[offset + 3]) << 8
            guard end <= parts.count else { return nil }
            if parts[offset] == tag { return parts[offset + 4..<end] }
            offset = end
        }
        return nil
    }

    /// Certain entries and uncertain keys; `nil` if a limit decides.
    var comparable: (entries: [String: [UInt8]], unsure: Set<String>)? {
        guard !isLog, !isLimited else { return nil }
        var sure: [String: [UInt8]] = [:]
        for (key, entry) in entries where !unsure.contains(key) {
            sure[String(decoding: key, as: UTF8.self)] = entry.value
        }
        return (sure, Set(unsure.map { String(decoding: $0, as: UTF8.self) }))
    }
}
