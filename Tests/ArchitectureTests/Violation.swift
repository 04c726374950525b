/// A violated rule, and where.
struct Violation: Equatable, CustomStringConvertible {
    let path: String
    /// Counted from 1; nil for the file as a whole.
    let line: Int?
    let rule: String

    var description: String {
        line.map { "\(path):\($0): \(rule)" } ?? "\(path): \(rule)"
    }
}

extension String {
    /// Lines with their numbers, counted from 1.
    var numberedLines: [(number: Int, line: Substring)] {
        split(separator: "\n", omittingEmptySubsequences: false).enumerated().map {
            ($0.offset + 1, $0.element)
        }
    }

    /// The number of the line of an index, counted from 1.
    func lineNumber(at index: Index) -> Int {
        1 + utf8[..<index].count { $0 == UInt8(ascii: "\n") }
    }
}

extension Substring {
    /// Whether `text` occurs, compared by bytes: a fast test before a regular expression.
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
