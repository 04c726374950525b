import StoreInspection

/// A case-insensitive regular expression; behind `!` all messages that it doesn't match.
struct LogPattern: Sendable {
    private let text: String
    private let isInverse: Bool
    private let plain: SearchText?

    init?(_ typed: String) throws(SourceError) {
        isInverse = typed.hasPrefix("!")
        text = isInverse ? String(typed.dropFirst()) : typed
        guard !text.isEmpty else { return nil }
        let isPlain = !text.contains { "\\^$.|?*+()[]{}".contains($0) }
        plain = isPlain ? SearchText(text) : nil
        guard !isPlain else { return }
        do { _ = try Regex(text) } catch { throw SourceError("\(error)") }
    }

    /// Returns a function that finds matches in a line, in characters; none behind `!`.
    func finder() -> (String) -> [Range<Int>] {
        if isInverse { return { _ in [] } }
        if let plain {
            return { line in
                var (found, start) = ([Range<Int>](), 0)
                while let next = plain.range(in: String(line.dropFirst(start))), !next.isEmpty {
                    found.append(start + next.lowerBound..<start + next.upperBound)
                    start += next.upperBound
                }
                return found
            }
        }
        guard let expression = try? Regex(text).ignoresCase() else { return { _ in [] } }
        return { line in
            line.matches(of: expression).map { match in
                let start = line.distance(from: line.startIndex, to: match.range.lowerBound)
                return start..<start + line.distance(from: match.range.lowerBound, to: match.range.upperBound)
            }
        }
    }

    /// Returns a function that tests messages.
    func matcher() -> (LogLine) -> Bool {
        if let plain { return { $0.searched.contains(where: plain.matches) != isInverse } }
        guard let expression = try? Regex(text).ignoresCase() else { return { _ in false } }
        return { $0.searched.contains { $0.firstMatch(of: expression) != nil } != isInverse }
    }
}
