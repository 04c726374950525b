/// A typed filter: a text and, if it is one, a regular expression, both regardless of case. After `!`, everything else matches.
package struct FilterPattern: Sendable {
    package let text: String
    package let isInverse: Bool
    /// Whether the text is also a regular expression.
    package let isExpression: Bool
    /// The error in an invalid regular expression, of which only the text itself matches.
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

    /// Whether a longer filter that begins with this one selects a part of its matches. Allows a dot, which matches any character.
    package var isPlain: Bool { !isInverse && !text.contains { "\\^$|?*+()[]{}".contains($0) } }

    private var expression: Regex<AnyRegexOutput>? { isExpression ? try? Regex(text).ignoresCase() : nil }

    /// Returns a function for one thread: the first matches in a text, in characters; none after `!`.
    package func finder(most: Int = .max) -> (String) -> [Range<Int>] {
        if isInverse { return { _ in [] } }
        let expression = expression
        return { [plain] text in
            let matches = expression.map { text.matches(of: $0).filter { !$0.range.isEmpty } } ?? []
            var found = matches.prefix(most).map { match in
                let start = text.distance(from: text.startIndex, to: match.range.lowerBound)
                return start..<start + text.distance(from: match.range.lowerBound, to: match.range.upperBound)
            }
            var start = 0
            while matches.isEmpty, found.count < most,
                let next = plain.range(in: String(text.dropFirst(start))), !next.isEmpty
            {
                found.append(start + next.lowerBound..<start + next.upperBound)
                start += next.upperBound
            }
            return found
        }
    }

    /// Returns a function for one thread: whether any of the forms of a text matches or, after `!`, none does.
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
