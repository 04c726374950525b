/// Sorts long runs of combining marks into canonical order.
///
/// To compare strings, Swift normalises them, and sorts each run of marks by insertion. That takes quadratic time:
/// a text with megabytes of marks would block a query for hours. Runs that are already sorted take linear time. A
/// stable sort by combining class doesn't change what a text is equivalent to (Unicode Standard, 3.11, canonical
/// ordering).
enum MarkOrder {
    /// Runs up to this length are fast enough unsorted.
    private static let longestLeft = 64
    /// A shorter text can't have enough marks to matter.
    private static let leastBytes = 1024

    /// The text, with its long runs of marks sorted.
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

    /// Samples one scalar every 64 bytes and returns whether one is a mark. A run that is too long always contains
    /// a sample.
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
        // To append to a string's scalars takes time in proportion to the string.
        var result: [UInt8] = []
        result.reserveCapacity(text.utf8.count)
        func append(_ scalar: Unicode.Scalar) {
            if let bytes = UTF8.encode(scalar) { result.append(contentsOf: bytes) }
        }
        var run: [(order: UInt8, place: Int, scalar: Unicode.Scalar)] = []
        func end() {
            // Stable: marks of one class keep their order.
            if run.count > longestLeft { run.sort { ($0.order, $0.place) < ($1.order, $1.place) } }
            for mark in run { append(mark.scalar) }
            run.removeAll(keepingCapacity: true)
        }
        for scalar in text.unicodeScalars {
            if isMark(scalar) {
                run.append((scalar.properties.canonicalCombiningClass.rawValue, run.count, scalar))
            } else {
                end()
                append(scalar)
            }
        }
        end()
        return String(decoding: result, as: UTF8.self)
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value >= 0x300 && scalar.properties.canonicalCombiningClass != .notReordered
    }
}
