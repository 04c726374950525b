import ArchiveQuery
import Synchronization

/// A typed filter: a text and, if it is one, a regular expression, both regardless of case. After `!`, everything else matches.
package struct FilterPattern: Sendable {
    package let text: String
    package let isInverse: Bool
    /// Why the text is an invalid regular expression and matches only literally; nil: it is valid, or not an expression.
    package let problem: String?
    private let plain: SearchText
    private let expression: TextPattern?
    /// Texts of which highlighting took too long.
    private let slow = SlowTexts()

    private final class SlowTexts: Sendable {
        static let most = 5
        let count = Atomic(0)
    }

    package init?(_ typed: String) {
        isInverse = typed.hasPrefix("!")
        text = isInverse ? String(typed.dropFirst()) : typed
        guard let plain = SearchText(text) else { return nil }
        self.plain = plain
        let expression = text.contains { "\\^$.|?*+()[]{}".contains($0) } ? TextPattern("(?i)" + text) : nil
        self.expression = expression?.isValid == true ? expression : nil
        problem =
            expression?.isValid == false ? TextPattern.problem(of: text) ?? "invalid syntax" : nil
    }

    /// Whether the text is also a regular expression.
    package var isExpression: Bool { expression != nil }

    /// Whether a longer filter that begins with this one selects a part of its matches. Allows a dot, which matches any character.
    package var isPlain: Bool { !isInverse && !text.contains { "\\^$|?*+()[]{}".contains($0) } }

    /// The first matches in a text to highlight, in characters. None for an inverse pattern, after a search of more than 5 ms, and
    /// after five such searches.
    package func ranges(in text: String, most: Int = .max) -> [Range<Int>] {
        if isInverse || slow.count.load(ordering: .relaxed) >= SlowTexts.most { return [] }
        var found: [Range<Int>] = []
        if let expression {
            guard let ranges = expression.ranges(in: text, most: most, within: .milliseconds(5)) else {
                slow.count.wrappingAdd(1, ordering: .relaxed)
                return []
            }
            found = ranges
        }
        let isOfExpression = !found.isEmpty
        var start = 0
        while !isOfExpression, found.count < most,
            let next = plain.range(in: String(text.dropFirst(start))), !next.isEmpty
        {
            found.append(start + next.lowerBound..<start + next.upperBound)
            start += next.upperBound
        }
        return found
    }

    /// Whether any of the forms of a text matches or, after `!`, none does; nil if the regular expression takes too long.
    package func matches(_ texts: [String], within timeLimit: SearchTimeLimit) -> Bool? {
        var isUnknown = false
        for text in texts {
            switch plain.matches(text) ? true : search(text, timeLimit) {
            case true?: return !isInverse
            case false?: break
            case nil: isUnknown = true
            }
        }
        return isUnknown ? nil : isInverse
    }

    /// Whether a key in UTF-8 matches; nil if the regular expression takes too long.
    package func matches(key: UnsafeRawBufferPointer, within timeLimit: SearchTimeLimit) -> Bool? {
        if plain.matches(key) { return !isInverse }
        guard expression != nil else { return isInverse }
        return search(String(decoding: key, as: UTF8.self), timeLimit).map { $0 != isInverse }
    }

    private func search(_ text: String, _ timeLimit: SearchTimeLimit) -> Bool? {
        guard let expression else { return false }
        return expression.matches(text, within: timeLimit)
    }
}
