import Foundation

/// Normal form C (UAX 15) in linear time. Foundation composes some letters wrongly and moves all later text at each composition;
/// Swift and Foundation sort each run of combining marks by insertion: megabytes of marks would take hours.
package enum MarkOrder {
    private static let longestLeft = 64
    /// A shorter text can't have enough marks to matter.
    private static let leastBytes = 1024

    /// An equivalent text that Swift compares in linear time.
    static func string(_ bytes: UnsafeRawBufferPointer) -> String {
        let text = String(decoding: bytes, as: UTF8.self)
        return isComparedWrongly(text, bytes) ? composed(text) : text
    }

    static func string(_ text: String) -> String {
        var native = text
        return native.withUTF8 { isComparedWrongly(text, UnsafeRawBufferPointer($0)) } ? composed(text) : text
    }

    /// Whether Swift compares a text with these bytes wrongly, or in quadratic time.
    private static func isComparedWrongly(_ text: String, _ bytes: UnsafeRawBufferPointer) -> Bool {
        hasComposedMark(bytes) || mayHaveLongRun(bytes) && hasLongRun(text)
    }

    /// Whether a text has U+0F73, U+0F75 or U+0F81, which consist of marks but aren't ordered among marks by Swift.
    private static func hasComposedMark(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.indices.dropLast(2).contains { place in
            guard bytes[place] == 0xe0 else { return false }
            let rest = (bytes[place + 1], bytes[place + 2])
            return rest == (0xbd, 0xb3) || rest == (0xbd, 0xb5) || rest == (0xbe, 0x81)
        }
    }

    /// One form of all canonically equivalent texts: normal form C.
    package static func composed(_ text: String) -> String {
        // All texts below U+0300, whose first byte is 0xcc, are composed.
        text.utf8.contains { $0 >= 0xcc } ? form(of: text, composes: true) : text
    }

    /// An equivalent text whose characters are decomposed, except syllables of Hangul.
    static func decomposed(_ text: String) -> String { form(of: text, composes: false) }

    private static func form(of text: String, composes: Bool) -> String {
        var composing = Composing(composes: composes)
        for scalar in text.unicodeScalars {
            if scalar.value >= 0xc0, let parts = Composites.parts[scalar] {
                parts.forEach { composing.append($0) }
            } else {
                composing.append(scalar)
            }
        }
        composing.endRun()
        return String(String.UnicodeScalarView(composing.result))
    }

    /// Whether a scalar other than a mark may be composed with the previous one: vowel signs, and letters of Hangul.
    package static func mayJoin(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case ..<0x300: return false
        case 0x1160...0x11ff: return true
        default: break
        }
        switch scalar.properties.generalCategory {
        case .spacingMark, .nonspacingMark, .enclosingMark: return true
        default: return false
        }
    }

    /// Samples one scalar every 64 bytes, which a long run always contains, and returns whether one is a mark.
    private static func mayHaveLongRun(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count >= leastBytes else { return false }
        for sample in stride(from: 0, to: bytes.count, by: longestLeft) where bytes[sample] >= 0x80 {
            var start = sample
            while start > 0, bytes[start] & 0xc0 == 0x80 { start -= 1 }
            let text = String(decoding: bytes[start..<min(start + 4, bytes.count)], as: UTF8.self)
            if text.unicodeScalars.first.map(isMark) == true { return true }
        }
        return false
    }

    private static func hasLongRun(_ text: String) -> Bool {
        var length = 0
        return text.unicodeScalars.contains { scalar in
            length = isMark(scalar) ? length + 1 : 0
            return length > longestLeft
        }
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar.value >= 0x300, !(0x4e00...0x9fff ~= scalar.value) else { return false }
        // Three vowel signs of Tibetan consist of marks.
        return scalar.properties.canonicalCombiningClass != .notReordered
            || [0xf73, 0xf75, 0xf81].contains(scalar.value)
    }
}

private struct Composing {
    private let composes: Bool
    private(set) var result: [Unicode.Scalar] = []
    /// The place of the last scalar that isn't a mark.
    private var base: Int?
    private var run: [(scalar: Unicode.Scalar, order: UInt8)] = []

    init(composes: Bool) { self.composes = composes }

    mutating func append(_ scalar: Unicode.Scalar) {
        let order = scalar.value < 0x300 ? 0 : scalar.properties.canonicalCombiningClass.rawValue
        guard order == 0 else { return run.append((scalar, order)) }
        endRun()
        if let base, base == result.count - 1, compose(scalar) { return }
        base = result.count
        result.append(scalar)
    }

    /// Sorts the marks, and composes them with the base. One that isn't composed blocks later ones of its class (D115).
    mutating func endRun() {
        run.sort { $0.order < $1.order }
        var last: UInt8 = 0
        for (scalar, order) in run where last == order || !compose(scalar) {
            result.append(scalar)
            last = order
        }
        run.removeAll(keepingCapacity: true)
    }

    private mutating func compose(_ scalar: Unicode.Scalar) -> Bool {
        guard composes, let base, let whole = Composites.whole(result[base], scalar) else { return false }
        result[base] = whole
        return true
    }
}

/// Characters that consist of others. Syllables of Hangul are computed, and needn't be decomposed (Unicode Standard, 3.12).
private enum Composites {
    /// Blocks that contain all characters with canonical decompositions (UnicodeData.txt, field 5).
    private static let blocks: [ClosedRange<UInt32>] = [
        0xc0...0x4f9, 0x622...0x6d3, 0x929...0xdde, 0xf43...0x1026, 0x1b06...0x1b43, 0x1e00...0x2001,
        0x2126...0x232a, 0x2adc...0x2adc, 0x304c...0x30fe, 0xf900...0xfb4e, 0x1109a...0x1134c,
        0x114bb...0x115bb, 0x11938...0x11938, 0x1d15e...0x1d1c0, 0x2f800...0x2fa1d,
    ]

    static let parts: [Unicode.Scalar: [Unicode.Scalar]] = {
        let all = blocks.joined().compactMap(Unicode.Scalar.init)
        let lines = String(String.UnicodeScalarView(all.flatMap { [$0, "\n"] }))
            .decomposedStringWithCanonicalMapping.unicodeScalars.split(separator: "\n")
        var parts: [Unicode.Scalar: [Unicode.Scalar]] = [:]
        for (scalar, line) in zip(all, lines) where line.first != scalar { parts[scalar] = Array(line) }
        return parts
    }()

    private static let pairs: [UInt64: Unicode.Scalar] = {
        var pairs: [UInt64: Unicode.Scalar] = [:]
        // The first of the pair may be composed itself.
        for (scalar, parts) in parts.sorted(by: { $0.value.count < $1.value.count })
        where parts.count > 1 && !scalar.properties.isFullCompositionExclusion {
            let first = parts[1..<(parts.count - 1)].reduce(parts[0]) { pairs[key($0, $1)] ?? $0 }
            pairs[key(first, parts[parts.count - 1])] = scalar
        }
        return pairs
    }()

    private static func key(_ first: Unicode.Scalar, _ second: Unicode.Scalar) -> UInt64 {
        UInt64(first.value) << 32 | UInt64(second.value)
    }

    static func whole(_ first: Unicode.Scalar, _ second: Unicode.Scalar) -> Unicode.Scalar? {
        switch (first.value, second.value) {
        case (0x1100...0x1112, 0x1161...0x1175):
            Unicode.Scalar(0xac00 + ((first.value - 0x1100) * 21 + second.value - 0x1161) * 28)
        case (0xac00...0xd7a3, 0x11a8...0x11c2) where (first.value - 0xac00) % 28 == 0:
            Unicode.Scalar(first.value + second.value - 0x11a7)
        default: pairs[key(first, second)]
        }
    }
}
