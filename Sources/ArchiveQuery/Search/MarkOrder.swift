import Foundation

/// Brings texts with long runs of combining marks into canonical order and normal form C, in linear time. Swift and Foundation
/// sort each run by insertion: megabytes of marks would take hours. A stable sort by class keeps equivalence (Unicode, 3.11).
package enum MarkOrder {
    private static let longestLeft = 64
    /// A shorter text can't have enough marks to matter.
    private static let leastBytes = 1024
    /// Only the first mark of a class can compose; others block all following ones (D115). No character has this many.
    private static let mostComposed = 8

    /// Sorts long runs of marks.
    static func string(_ bytes: UnsafeRawBufferPointer) -> String {
        let text = String(decoding: bytes, as: UTF8.self)
        return mayHaveLongRun(bytes) ? ordered(text) : text
    }

    static func string(_ text: String) -> String { mayHaveLongRun(text) ? ordered(text) : text }

    /// One form of all canonically equivalent texts: normal form C, except for old letters of Hangul, which stay unchanged.
    /// Foundation changes these and characters beyond U+FFFF; it composes the rest, in parts, because each composition moves
    /// all later text.
    package static func composed(_ text: String) -> String {
        // All texts below U+0300, whose first byte is 0xcc, are composed.
        guard text.utf8.contains(where: { $0 >= 0xcc }) else { return text }
        var composing = Composing()
        forEachRun(of: decomposedBeyondFFFF(text)) {
            composing.append($0)
        } marks: {
            composing.append(run: $0)
        }
        composing.endPart()
        return composedBeyondFFFF(composing.result)
    }

    private struct Composing {
        var result = ""
        private var part = ""
        private var count = 0

        mutating func append(_ scalar: Unicode.Scalar) {
            if MarkOrder.isLeft(scalar) {
                endPart()
                return result.unicodeScalars.append(scalar)
            }
            if count >= MarkOrder.leastPart, count >= MarkOrder.mostPart || !MarkOrder.mayJoin(scalar) {
                endPart()
            }
            part.unicodeScalars.append(scalar)
            count += 1
        }

        mutating func append(run: [Mark]) {
            guard run.count > longestLeft else {
                for mark in run { part.unicodeScalars.append(mark.scalar) }
                count += run.count
                return
            }
            // Text after such a run can't be composed with anything before it.
            var counts = [UInt8](repeating: 0, count: 256)
            var rest: [Mark] = []
            for mark in run {
                if counts[Int(mark.order)] == mostComposed {
                    rest.append(mark)
                } else {
                    counts[Int(mark.order)] += 1
                    part.unicodeScalars.append(mark.scalar)
                }
            }
            let scalars = Array(normalFormC(part).unicodeScalars)
            let place = (scalars.lastIndex { !isMark($0) } ?? -1) + 1
            for scalar in scalars[..<place] { result.unicodeScalars.append(scalar) }
            for mark in sorted(scalars[place...].map(Mark.init) + rest) {
                result.unicodeScalars.append(mark.scalar)
            }
            (part, count) = ("", 0)
        }

        mutating func endPart() {
            result += normalFormC(part)
            (part, count) = ("", 0)
        }
    }

    /// Foundation decomposes single characters correctly.
    private static func decomposedBeyondFFFF(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 >= 0xf0 }), text.unicodeScalars.contains(where: mayDecompose)
        else { return text }
        return text.unicodeScalars.reduce(into: "") { result, scalar in
            if mayDecompose(scalar) {
                result += String(Character(scalar)).decomposedStringWithCanonicalMapping
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
    }

    private static func composedBeyondFFFF(_ text: String) -> String {
        let seconds: ClosedRange<UInt32> = 0x110ba...0x11930
        guard text.utf8.contains(where: { $0 >= 0xf0 }),
            text.unicodeScalars.contains(where: { seconds.contains($0.value) })
        else { return text }
        var result: [Unicode.Scalar] = []
        for scalar in text.unicodeScalars {
            if let last = result.last, let whole = whole(last, scalar) {
                result[result.count - 1] = whole
            } else {
                result.append(scalar)
            }
        }
        return result.reduce(into: "") { $0.unicodeScalars.append($1) }
    }

    /// The composition of two scalars beyond U+FFFF (UnicodeData.txt, field 5); musical symbols have none.
    private static func whole(_ first: Unicode.Scalar, _ second: Unicode.Scalar) -> Unicode.Scalar? {
        switch (first, second) {
        case ("\u{11099}", "\u{110ba}"): "\u{1109a}"
        case ("\u{1109b}", "\u{110ba}"): "\u{1109c}"
        case ("\u{110a5}", "\u{110ba}"): "\u{110ab}"
        case ("\u{11131}", "\u{11127}"): "\u{1112e}"
        case ("\u{11132}", "\u{11127}"): "\u{1112f}"
        case ("\u{11347}", "\u{1133e}"): "\u{1134b}"
        case ("\u{11347}", "\u{11357}"): "\u{1134c}"
        case ("\u{114b9}", "\u{114ba}"): "\u{114bb}"
        case ("\u{114b9}", "\u{114b0}"): "\u{114bc}"
        case ("\u{114b9}", "\u{114bd}"): "\u{114be}"
        case ("\u{115b8}", "\u{115af}"): "\u{115ba}"
        case ("\u{115b9}", "\u{115af}"): "\u{115bb}"
        case ("\u{11935}", "\u{11930}"): "\u{11938}"
        default: nil
        }
    }

    /// Whether a scalar is in a block beyond U+FFFF with decompositions (UnicodeData.txt, field 5).
    private static func mayDecompose(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x11080...0x1193f, 0x1d15e...0x1d1c0, 0x2f800...0x2fa1d: true
        default: false
        }
    }

    /// Whether Foundation changes a scalar that must stay: it composes old letters of Hangul.
    private static func isLeft(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x1113...0x1160, 0x1176...0x11a7, 0x11c3...0x11ff, 0x10000...: true
        default: false
        }
    }

    /// Scalars after which a part may end.
    private static let leastPart = 128
    /// Scalars after which a part ends before any scalar except a mark: no language composes that many.
    private static let mostPart = 512

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

    /// Foundation's form, which doesn't compose a Hangul syllable with a following final consonant (Unicode Standard, 3.12).
    private static func normalFormC(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 >= 0xcc }) else { return text }
        let composed = text.precomposedStringWithCanonicalMapping
        let finals: ClosedRange<UInt32> = 0x11a8...0x11c2
        guard composed.unicodeScalars.contains(where: { finals.contains($0.value) }) else { return composed }
        var result: [Unicode.Scalar] = []
        for scalar in composed.unicodeScalars {
            if finals.contains(scalar.value), let last = result.last?.value, 0xac00...0xd7a3 ~= last,
                (last - 0xac00) % 28 == 0, let syllable = Unicode.Scalar(last + scalar.value - 0x11a7)
            {
                result[result.count - 1] = syllable
            } else {
                result.append(scalar)
            }
        }
        return result.reduce(into: "") { $0.unicodeScalars.append($1) }
    }

    private static func ordered(_ text: String) -> String {
        var result = ""
        forEachRun(of: text) { scalar in
            result.unicodeScalars.append(scalar)
        } marks: { run in
            for mark in run { result.unicodeScalars.append(mark.scalar) }
        }
        return result
    }

    private static func mayHaveLongRun(_ text: String) -> Bool {
        guard text.utf8.count >= leastBytes else { return false }
        var text = text
        return text.withUTF8 { mayHaveLongRun(UnsafeRawBufferPointer($0)) }
    }

    /// Samples one scalar every 64 bytes, which a long run always contains, and returns whether one is a mark.
    private static func mayHaveLongRun(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count >= leastBytes else { return false }
        for sample in stride(from: 0, to: bytes.count, by: longestLeft) where bytes[sample] >= 0x80 {
            var start = sample
            while start > 0, bytes[start] & 0xc0 == 0x80 { start -= 1 }
            let scalar = bytes[start..<min(start + 4, bytes.count)]
            if String(decoding: scalar, as: UTF8.self).unicodeScalars.first.map(isMarks) == true {
                return true
            }
        }
        return false
    }

    /// Calls `other` with each scalar that isn't a mark, and `marks` with each run of marks between, sorted if it is long.
    private static func forEachRun(
        of text: String, other: (Unicode.Scalar) -> Void, marks: ([Mark]) -> Void
    ) {
        var run: [Mark] = []
        func end() {
            guard !run.isEmpty else { return }
            marks(run.count > longestLeft ? sorted(run) : run)
            run.removeAll(keepingCapacity: true)
        }
        for scalar in text.unicodeScalars {
            if isMarks(scalar) {
                // Sort the decomposition of composed marks.
                if let parts = otherMarks(scalar) {
                    run += parts.map(Mark.init)
                } else {
                    run.append(Mark(scalar))
                }
            } else {
                end()
                other(scalar)
            }
        }
        end()
    }

    private struct Mark {
        let order: UInt8
        let scalar: Unicode.Scalar

        init(_ scalar: Unicode.Scalar) {
            (order, self.scalar) = (scalar.properties.canonicalCombiningClass.rawValue, scalar)
        }
    }

    /// Stable.
    private static func sorted(_ run: [Mark]) -> [Mark] {
        var classes = [[Mark]](repeating: [], count: 256)
        for mark in run { classes[Int(mark.order)].append(mark) }
        return classes.flatMap { $0 }
    }

    private static func isMarks(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value >= 0x300 && (isMark(scalar) || otherMarks(scalar) != nil)
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value >= 0x300 && !(0x4e00...0x9fff ~= scalar.value)
            && scalar.properties.canonicalCombiningClass != .notReordered
    }

    /// The decomposition of a scalar that consists only of marks (UnicodeData.txt, field 5).
    private static func otherMarks(_ scalar: Unicode.Scalar) -> [Unicode.Scalar]? {
        switch scalar {
        case "\u{340}": ["\u{300}"]
        case "\u{341}": ["\u{301}"]
        case "\u{343}": ["\u{313}"]
        case "\u{344}": ["\u{308}", "\u{301}"]
        case "\u{f73}": ["\u{f71}", "\u{f72}"]
        case "\u{f75}": ["\u{f71}", "\u{f74}"]
        case "\u{f81}": ["\u{f71}", "\u{f80}"]
        default: nil
        }
    }
}
