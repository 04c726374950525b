import ArchiveQuery
import StorageEngine
import TerminalKit

/// Searches streamed UTF-8 as ``SearchText`` does: input is case-folded and composed, then searched for bytes.
struct TextScan {
    /// Maximum bytes of a character; longer ones are cut.
    private static let slice = 64 << 10

    /// The case-folded, composed spellings of the text: as typed, and with decoded escapes.
    private let wanted: [[UInt8]]
    /// Bytes at the end in which an incomplete match may begin.
    private let overlap: Int
    private var forms = CharacterForms()
    /// Bytes of a character that may continue in the next piece, and their offset.
    private var pending: [UInt8] = []
    private var offset = 0
    /// Normalized bytes that weren't searched yet, and their offset.
    private var ready: [UInt8] = []
    private var sources: [Source] = []
    private var end = 0

    /// The source offset of a normalized byte.
    private struct Source {
        var start: Int
        var range: Range<Int>
        /// Whether offsets map one to one; else the whole range maps to the whole.
        var isOneToOne: Bool
    }

    init(_ text: SearchText) {
        // `\n` is searched literally: a line end is shown as a line end, not as this escape.
        let meant = TerminalText.unescaped(text.text)
            .flatMap { $0.unicodeScalars.contains("\n") ? nil : $0 }
        wanted = ([text.text] + [meant].compactMap { $0 })
            .map { Array(MarkOrder.composed($0.foldedCase).utf8) }.filter { !$0.isEmpty }
        overlap = max(1, wanted.map(\.count).max() ?? 1) - 1
    }

    /// The next piece; it may end within a character.
    mutating func take(_ bytes: [UInt8], isLast: Bool, into found: inout SearchMatches) {
        for start in stride(from: 0, to: bytes.count, by: TextScan.slice) {
            let end = min(start + TextScan.slice, bytes.count)
            let isEnd = isLast && end == bytes.count
            var text = pending
            text += bytes[start..<end]
            let done = text.withUnsafeMutableBufferPointer { write($0, isLast: isEnd) }
            pending = Array(text[done...])
            offset += done
            search(isLast: isEnd, &found)
        }
    }

    // MARK: Normalization

    /// Normalizes complete characters, partly in place.
    /// - Returns: the number of consumed bytes.
    private mutating func write(_ text: UnsafeMutableBufferPointer<UInt8>, isLast: Bool) -> Int {
        for place in text.indices {
            let byte = text[place]
            text[place] = byte &- 0x41 < 26 ? byte | 0x20 : byte
        }
        // Adjacent text whose length doesn't change is copied with one call.
        var (place, same) = (0, 0)
        while true {
            place = TextScan.plainEnd(UnsafeRawBufferPointer(text), from: place)
            let isCut = isLast || text.count - place > TextScan.slice
            guard place < text.count,
                let (end, scalar) = forms.character(UnsafeRawBufferPointer(text), at: place, isLast: isCut)
            else { break }
            if let form = forms.write(text, place..<end, scalar) {
                append(
                    UnsafeBufferPointer(rebasing: text[same..<place]), from: same..<place, isOneToOne: true)
                form.withUnsafeBufferPointer { append($0, from: place..<end, isOneToOne: false) }
                same = end
            }
            place = end
        }
        append(UnsafeBufferPointer(rebasing: text[same..<place]), from: same..<place, isOneToOne: true)
        return place
    }

    private mutating func append(
        _ bytes: UnsafeBufferPointer<UInt8>, from range: Range<Int>, isOneToOne: Bool
    ) {
        guard !range.isEmpty else { return }
        let range = offset + range.lowerBound..<offset + range.upperBound
        sources.append(Source(start: ready.count, range: range, isOneToOne: isOneToOne))
        ready.append(contentsOf: bytes)
    }

    /// The end of the ASCII characters that don't compose with the next: combining marks begin at U+0300, byte 0xcc.
    private static func plainEnd(_ text: UnsafeRawBufferPointer, from start: Int) -> Int {
        var place = start
        while place + 1 < text.count {
            if place + 8 < text.count, text[place + 8] < 0xcc,
                text.loadUnaligned(fromByteOffset: place, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
            {
                place += 8
                continue
            }
            guard text[place] < 0x80, text[place + 1] < 0xcc else { break }
            place += 1
        }
        return place
    }

    // MARK: Searching

    private mutating func search(isLast: Bool, _ found: inout SearchMatches) {
        let limit = isLast ? ready.count : max(0, ready.count - overlap)
        var next = wanted.map { place(of: $0, from: 0, before: limit) }
        while let number = next.indices.min(by: { next[$0] < next[$1] }), next[number] < limit {
            let place = next[number]
            let range = source(of: place..<place + wanted[number].count)
            // Matches may overlap within a character.
            let isNew = range.lowerBound >= end
            if isNew {
                found.add(range)
                end = range.upperBound
            }
            let after = isNew ? place + wanted[number].count : place + 1
            for number in next.indices where next[number] < after {
                next[number] = self.place(of: wanted[number], from: after, before: limit)
            }
        }
        forget(limit)
    }

    /// The normalized offset of a source offset, or the limit.
    private func place(of wanted: [UInt8], from first: Int, before limit: Int) -> Int {
        ready.withUnsafeBytes { text in
            let end = min(text.count, limit + wanted.count - 1)
            return ByteSearch.place(
                of: wanted, in: UnsafeRawBufferPointer(rebasing: text[..<end]), from: first)
        } ?? limit
    }

    private func source(of range: Range<Int>) -> Range<Int> {
        let first = source(at: range.lowerBound)
        let last = source(at: range.upperBound - 1)
        let lower = first.isOneToOne ? range.lowerBound - first.start : 0
        let upper =
            last.isOneToOne ? last.range.lowerBound + range.upperBound - last.start : last.range.upperBound
        return first.range.lowerBound + lower..<upper
    }

    private func source(at place: Int) -> Source {
        sources[max(1, sources.partitioningIndex { $0.start > place }) - 1]
    }

    /// Drops searched bytes.
    private mutating func forget(_ limit: Int) {
        ready.removeFirst(limit)
        sources.removeFirst(sources.lastIndex { $0.start <= limit } ?? 0)
        for index in sources.indices {
            let gone = limit - sources[index].start
            if gone > 0, sources[index].isOneToOne {
                let range = sources[index].range
                sources[index].range = range.lowerBound + gone..<range.upperBound
            }
            sources[index].start = max(0, -gone)
        }
    }
}

/// A cache of normalized characters.
private struct CharacterForms {
    private enum Kind {
        static let unknown: UInt16 = 0
        static let plain: UInt16 = 1
        /// The character may compose or be reordered with the preceding one.
        static let joining: UInt16 = 2
        /// The character becomes several scalars, or one of another length.
        static let other: UInt16 = 3
        // Larger values: the normalized scalar of the same length.
    }

    private var kinds = [UInt16](repeating: Kind.unknown, count: 0x3_0000)
    /// Short characters of several scalars, by their bytes.
    private var known: [Short: Form] = [:]
    private static let mostKnown = 10_000

    private struct Form {
        var bytes: [UInt8]
        /// Whether offsets map one to one.
        var isOneToOne: Bool
    }

    /// Up to 15 bytes and their count.
    private struct Short: Hashable {
        var low: UInt64
        var high: UInt64 = 0

        init?(_ bytes: UnsafeRawBufferPointer) {
            guard bytes.count < 16 else { return nil }
            low = UInt64(bytes.count)
            for byte in bytes {
                high = high << 8 | low >> 56
                low = low << 8 | UInt64(byte)
            }
        }
    }

    /// The end of a character with its combining marks, and its scalar if it is a single one. Invalid bytes are characters.
    /// Nil if that depends on the next piece.
    mutating func character(
        _ text: UnsafeRawBufferPointer, at place: Int, isLast: Bool
    ) -> (end: Int, scalar: UInt32?)? {
        func isWhole(_ place: Int) -> Bool { isLast || text.count - place >= 4 }
        guard let first = UTF8Text.scalar(text, at: place) else {
            return isWhole(place) ? (place + 1, nil) : nil
        }
        var end = first.end
        while end < text.count, CharacterForms.mayJoin(beginningWith: text[end]) {
            guard let next = UTF8Text.scalar(text, at: end) else {
                guard isWhole(end) else { return nil }
                break
            }
            guard kind(next.scalar) == Kind.joining else { break }
            end = next.end
        }
        guard end < text.count || isLast else { return nil }
        return (end, end == first.end ? first.scalar : nil)
    }

    /// Normalizes a character in place if its length is unchanged.
    /// - Returns: otherwise the normalized character.
    mutating func write(
        _ text: UnsafeMutableBufferPointer<UInt8>, _ range: Range<Int>, _ scalar: UInt32?
    ) -> [UInt8]? {
        let kind = scalar.map { self.kind($0) } ?? (range.count == 1 ? Kind.plain : Kind.other)
        switch kind {
        case Kind.plain: return nil
        case Kind.joining, Kind.other: break
        default:
            let last = range.upperBound - 1
            text[last] = 0x80 | UInt8(kind & 0x3f)
            if range.count == 2 {
                text[last - 1] = 0xc0 | UInt8(kind >> 6)
            } else {
                text[last - 1] = 0x80 | UInt8(kind >> 6 & 0x3f)
                text[last - 2] = 0xe0 | UInt8(kind >> 12)
            }
            return nil
        }
        let form = form(of: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(text)[range]))
        guard form.isOneToOne else { return form.bytes }
        for (place, byte) in form.bytes.enumerated() { text[range.lowerBound + place] = byte }
        return nil
    }

    private mutating func form(of bytes: UnsafeRawBufferPointer) -> Form {
        let short = Short(bytes)
        if let short, let known = known[short] { return known }
        let written = Array(CharacterForms.written(String(decoding: bytes, as: UTF8.self)).utf8)
        let isOneToOne =
            written.count == bytes.count
            && zip(written, bytes).allSatisfy { ($0 & 0xc0 == 0x80) == ($1 & 0xc0 == 0x80) }
        let form = Form(bytes: written, isOneToOne: isOneToOne)
        if known.count >= CharacterForms.mostKnown { known = [:] }
        if let short { known[short] = form }
        return form
    }

    private static func written(_ text: String) -> String { MarkOrder.composed(text.foldedCase) }

    private mutating func kind(_ scalar: UInt32) -> UInt16 {
        guard scalar < kinds.count else { return CharacterForms.kind(scalar) }
        if kinds[Int(scalar)] == Kind.unknown { kinds[Int(scalar)] = CharacterForms.kind(scalar) }
        return kinds[Int(scalar)]
    }

    private static func kind(_ value: UInt32) -> UInt16 {
        guard let scalar = Unicode.Scalar(value) else { return Kind.plain }
        if MarkOrder.mayJoin(scalar) { return Kind.joining }
        let text = String(Character(scalar))
        let written = written(text).unicodeScalars
        guard let form = written.first, written.count == 1 else { return Kind.other }
        if form == scalar { return Kind.plain }
        let isAsLong = String(Character(form)).utf8.count == text.utf8.count && !form.isASCII
        return isAsLong ? UInt16(exactly: form.value) ?? Kind.other : Kind.other
    }

    /// Whether a combining scalar can have this first byte: not below U+0300, nor in most of Greek, Cyrillic, ideographs
    /// and Hangul syllables.
    private static func mayJoin(beginningWith byte: UInt8) -> Bool {
        switch byte {
        case ..<0xcc, 0xce...0xd1, 0xe4...0xe9, 0xeb...0xec: false
        default: true
        }
    }
}
