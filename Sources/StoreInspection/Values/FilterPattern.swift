/// A typed filter: a text regardless of case, which may also be a case-insensitive regular expression; behind `!` all that doesn't match.
package struct FilterPattern: Sendable {
    package let text: String
    package let isInverse: Bool
    /// Whether the text is also a regular expression.
    package let isExpression: Bool
    /// Why a text with characters of regular expressions is no regular expression; only the text itself matches then.
    package let problem: String?
    private let plain: SearchText

    package init?(_ typed: String) {
        isInverse = typed.hasPrefix("!")
        text = isInverse ? String(typed.dropFirst()) : typed
        guard let plain = SearchText(text) else { return nil }
        self.plain = plain
        let isSpecial = text.contains { "\\^$.|?*+()[]{}".contains($0) }
        var problem: String?
        do { if isSpecial { _ = try Regex(text) } } catch { problem = "\(error)" }
        (isExpression, self.problem) = (isSpecial && problem == nil, problem)
    }

    /// Whether each longer text matches less, and texts with this one match. A dot also matches other characters.
    package var isPlain: Bool { !isInverse && !text.contains { "\\^$|?*+()[]{}".contains($0) } }

    private var expression: Regex<AnyRegexOutput>? { isExpression ? try? Regex(text).ignoresCase() : nil }

    /// The first match, in characters; nil behind `!`.
    package func range(in text: String) -> Range<Int>? {
        if isInverse { return nil }
        let match = expression.flatMap { text.firstMatch(of: $0)?.range }
        return match.map { characters($0, in: text) } ?? plain.range(in: text)
    }

    private func characters(_ range: Range<String.Index>, in text: String) -> Range<Int> {
        let start = text.distance(from: text.startIndex, to: range.lowerBound)
        return start..<start + text.distance(from: range.lowerBound, to: range.upperBound)
    }

    /// Returns a function for one thread that finds matches in a line, in characters; none behind `!`.
    package func finder() -> (String) -> [Range<Int>] {
        if isInverse { return { _ in [] } }
        guard let expression else {
            return { [plain] line in
                var (found, start) = ([Range<Int>](), 0)
                while let next = plain.range(in: String(line.dropFirst(start))), !next.isEmpty {
                    found.append(start + next.lowerBound..<start + next.upperBound)
                    start += next.upperBound
                }
                return found
            }
        }
        return { line in line.matches(of: expression).map { characters($0.range, in: line) } }
    }

    /// Returns a function for one thread: whether any of the forms of a text matches or, behind `!`, none does.
    package func matcher() -> ([String]) -> Bool {
        let expression = expression
        return { [plain, isInverse] texts in
            texts.contains { text in
                plain.matches(text) || expression.map { text.firstMatch(of: $0) != nil } == true
            } != isInverse
        }
    }

    /// The same for keys in UTF-8.
    package func keyMatcher() -> (UnsafeRawBufferPointer) -> Bool {
        let expression = expression
        return { [plain, isInverse] key in
            let isFound =
                plain.matches(key)
                || expression.map { String(decoding: key, as: UTF8.self).firstMatch(of: $0) != nil } == true
            return isFound != isInverse
        }
    }
}
