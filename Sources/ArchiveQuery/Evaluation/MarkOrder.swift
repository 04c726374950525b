/// Texts with long runs of combining marks, in the order in which canonical equivalence looks at the marks.
///
/// Swift compares strings by their normal form, for which it sorts each run of marks by insertion: the time grows with
/// the square of the run, and a text of megabytes of marks would keep a query for hours. Where the runs are sorted already
/// it is linear. Sorting them by their combining class, marks of one class as they were, changes nothing about what a text
/// is equal to (Unicode Standard, 3.11, canonical ordering).
enum MarkOrder {
    /// Shorter runs cost next to nothing as they are.
    private static let longestLeft = 64
    /// No text below that has marks enough.
    private static let leastBytes = 1024

    /// The text, with its marks in order where runs are so long that it matters.
    static func string(_ bytes: UnsafeRawBufferPointer) -> String {
        let text = String(decoding: bytes, as: UTF8.self)
        return mayHaveLongRun(bytes) ? ordered(text) : text
    }

    static func string(_ text: String) -> String {
        guard text.utf8.count >= leastBytes else { return text }
        var text = text
        let isDoubtful = text.withUTF8 { mayHaveLongRun(UnsafeRawBufferPointer($0)) }
        return isDoubtful ? ordered(text) : text
    }

    /// Whether some of the scalars that are looked at, one in 64 bytes, is a mark: of a run that is too long one is.
    private static func mayHaveLongRun(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count >= leastBytes else { return false }
        for sample in stride(from: 0, to: bytes.count, by: longestLeft) where bytes[sample] >= 0x80 {
            var start = sample
            while start > 0, bytes[start] & 0xc0 == 0x80 { start -= 1 }
            let scalar = bytes[start..<min(start + 4, bytes.count)]
            if String(decoding: scalar, as: UTF8.self).unicodeScalars.first.map(isMark) == true {
                return true
            }
        }
        return false
    }

    private static func ordered(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        var run: [(order: UInt8, place: Int, scalar: Unicode.Scalar)] = []
        func end() {
            // Of marks of one class the first stays the first.
            if run.count > longestLeft { run.sort { ($0.order, $0.place) < ($1.order, $1.place) } }
            result.append(contentsOf: run.map(\.scalar))
            run.removeAll(keepingCapacity: true)
        }
        for scalar in text.unicodeScalars {
            if isMark(scalar) {
                run.append((scalar.properties.canonicalCombiningClass.rawValue, run.count, scalar))
            } else {
                end()
                result.append(scalar)
            }
        }
        end()
        return String(result)
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value >= 0x300 && scalar.properties.canonicalCombiningClass != .notReordered
    }
}
