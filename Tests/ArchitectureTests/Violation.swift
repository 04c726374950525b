/// A rule that is broken, and where. A value type, safe from any thread.
struct Violation: Equatable, CustomStringConvertible {
    let path: String
    /// Counted from 1; nil when the file as a whole is meant.
    let line: Int?
    let rule: String

    var description: String {
        line.map { "\(path):\($0): \(rule)" } ?? "\(path): \(rule)"
    }
}

extension String {
    /// Its lines with their numbers, counted from 1.
    var numberedLines: [(number: Int, line: Substring)] {
        split(separator: "\n", omittingEmptySubsequences: false).enumerated().map {
            ($0.offset + 1, $0.element)
        }
    }

    /// The number of the line that an index lies in, counted from 1.
    func lineNumber(at index: Index) -> Int {
        1 + utf8[..<index].count { $0 == UInt8(ascii: "\n") }
    }
}

extension Substring {
    /// Whether `text` is in it, byte by byte: a regular expression need look only at what has its words.
    func has(_ text: String) -> Bool {
        let found = utf8.withContiguousStorageIfAvailable { line in
            guard let first = text.utf8.first else { return true }
            var rest = line[...]
            while let place = rest.firstIndex(of: first) {
                if rest[place...].starts(with: text.utf8) { return true }
                rest = rest[(place + 1)...]
            }
            return false
        }
        return found ?? (utf8.firstRange(of: text.utf8) != nil)
    }
}
