import ArchiveQuery
import Synchronization

/// A typed filter: a text and, if it is one, a regular expression, both regardless of case. After `!`, everything else matches.
package struct FilterPattern: Sendable {
    package let text: String
    package let isInverse: Bool
    /// The error in an invalid regular expression, of which only the text itself matches.
    package let problem: String?
    private let plain: SearchText
    private let expression: TextPattern?
    private let slow = SlowTexts()

    /// The number of texts for which the regular expression took too long.
    private final class SlowTexts: Sendable {
        /// Then no more texts are tested with it, which takes seconds at most.
        static let most = 20
        let count = Atomic(0)
    }

    package init?(_ typed: String) {
        isInverse = typed.hasPrefix("!")
        text = isInverse ? String(typed.dropFirst()) : typed
        guard let plain = SearchText(text) else { return nil }
        self.plain = plain
        let expression = text.contains { "\\^$.|?*+()[]{}".contains($0) } ? TextPattern("(?i)" + text) : nil
        self.expression = expression?.isValid == true ? expression : nil
        guard expression?.isValid == false else {
            problem = nil
            return
        }
        do {
            _ = try Regex(text)
            problem = "no regular expression"
        } catch { problem = "\(error)" }
    }

    /// Whether the text is also a regular expression.
    package var isExpression: Bool { expression != nil }

    /// Whether a longer filter that begins with this one selects a part of its matches. Allows a dot, which matches any character.
    package var isPlain: Bool { !isInverse && !text.contains { "\\^$|?*+()[]{}".contains($0) } }

    /// The first matches in a text, in characters, to be highlighted; none after `!`, or if that takes longer than 5 ms.
    package func ranges(in text: String, most: Int = .max) -> [Range<Int>] {
        if isInverse || isTooSlow { return [] }
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

    /// Whether any of the forms of a text matches or, after `!`, none does; also if the regular expression takes too long for one.
    package func matches(_ texts: [String]) -> Bool {
        var isFound = false
        for text in texts where !isFound {
            guard let matches = plain.matches(text) ? true : search(text) else { return true }
            isFound = matches
        }
        return isFound != isInverse
    }

    /// Whether a key in UTF-8 matches; nil if the regular expression takes too long.
    package func matches(key: UnsafeRawBufferPointer) -> Bool? {
        if plain.matches(key) { return !isInverse }
        guard expression != nil else { return isInverse }
        return search(String(decoding: key, as: UTF8.self)).map { $0 != isInverse }
    }

    private var isTooSlow: Bool { slow.count.load(ordering: .relaxed) >= SlowTexts.most }

    /// Whether the regular expression matches; nil: that takes too long.
    private func search(_ text: String) -> Bool? {
        guard let expression else { return false }
        guard !isTooSlow else { return nil }
        let outcome = expression.search(text, within: TextPattern.patience)
        if outcome.isGivenUp { slow.count.wrappingAdd(1, ordering: .relaxed) }
        return outcome.isGivenUp ? nil : outcome == .found
    }
}
