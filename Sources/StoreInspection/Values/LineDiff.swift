/// The difference of two texts by line, with context.
package struct LineDiff: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        case kept, removed, added
        /// Number of omitted equal lines.
        case gap(Int)
    }

    package struct Line: Sendable, Hashable {
        package let kind: Kind
        package let text: String
    }

    package private(set) var lines: [Line] = []
    package private(set) var removed = 0
    package private(set) var added = 0

    /// Maximum comparisons. Beyond that, all lines between the common beginning and end count as replaced.
    private static let mostComparisons = 25_000_000

    /// - Parameter context: equal lines shown around each difference.
    package init(from old: [UInt8], to new: [UInt8], context: Int = 3) {
        let (old, new) = (LineDiff.lines(of: old), LineDiff.lines(of: new))
        let begin = zip(old, new).prefix { $0 == $1 }.count
        let end = zip(old[begin...].reversed(), new[begin...].reversed()).prefix { $0 == $1 }.count
        let middle = LineDiff.middle(Array(old[begin..<old.count - end]), Array(new[begin..<new.count - end]))
        let all =
            old[..<begin].map { LineDiff.line(.kept, $0) } + middle
            + old[(old.count - end)...].map { LineDiff.line(.kept, $0) }
        removed = all.count { $0.kind == .removed }
        added = all.count { $0.kind == .added }
        lines = LineDiff.shortened(all, context: context)
    }

    /// Indices of lines that replace each other, in both directions: the nth line of a removed block and the nth line of the added
    /// block after it. O(lines).
    package var counterparts: [Int: Int] {
        var pairs: [Int: Int] = [:]
        var (removed, paired) = (0..<0, 0)
        for (place, line) in lines.enumerated() {
            if line.kind == .removed {
                removed = (removed.upperBound == place ? removed.lowerBound : place)..<place + 1
                paired = 0
            } else if line.kind == .added, paired < removed.count, removed.upperBound + paired == place {
                (pairs[place], pairs[removed.lowerBound + paired]) = (removed.lowerBound + paired, place)
                paired += 1
            }
        }
        return pairs
    }

    /// The text's lines with their ends, as bytes: texts that are only canonically equivalent differ.
    private static func lines(of text: [UInt8]) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        var rest = text[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            lines.append(rest[...end])
            rest = rest[(end + 1)...]
        }
        return rest.isEmpty ? lines : lines + [rest]
    }

    private static func line(_ kind: Kind, _ bytes: ArraySlice<UInt8>) -> Line {
        let isEnded = bytes.last == UInt8(ascii: "\n")
        let text = String(decoding: isEnded ? bytes.dropLast() : bytes, as: UTF8.self)
        return Line(kind: kind, text: isEnded ? text : text + " (no line end)")
    }

    private static func middle(_ old: [ArraySlice<UInt8>], _ new: [ArraySlice<UInt8>]) -> [Line] {
        guard old.count * new.count <= mostComparisons else {
            return old.map { line(.removed, $0) } + new.map { line(.added, $0) }
        }
        let change = new.difference(from: old)
        var lines = old.map { line(.kept, $0) }
        for case .remove(let place, let bytes, _) in change.removals { lines[place] = line(.removed, bytes) }
        // `other` lines of the new text are before `index`.
        var (index, other) = (0, 0)
        for case .insert(let place, let bytes, _) in change.insertions {
            while other < place || index < lines.count && lines[index].kind == .removed {
                if lines[index].kind != .removed { other += 1 }
                index += 1
            }
            lines.insert(line(.added, bytes), at: index)
        }
        return lines
    }

    private static func shortened(_ all: [Line], context: Int) -> [Line] {
        var isShown = [Bool](repeating: false, count: all.count)
        for (index, line) in all.enumerated() where line.kind != .kept {
            for near in max(0, index - context)...min(all.count - 1, index + context) { isShown[near] = true }
        }
        var lines: [Line] = []
        var hidden = 0
        func gap() -> [Line] { hidden == 0 ? [] : [Line(kind: .gap(hidden), text: "")] }
        for (index, line) in all.enumerated() {
            guard isShown[index] else {
                hidden += 1
                continue
            }
            lines += gap() + [line]
            hidden = 0
        }
        return lines + gap()
    }
}
