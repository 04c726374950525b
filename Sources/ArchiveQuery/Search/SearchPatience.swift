/// The time limit for all regular expressions of one query: one second, and one microsecond for each byte of text
/// searched. ``TextPattern/patience`` limits a single text only, and an archive may have any number of them. Once
/// the time is used up, only texts that match or fail at once are still searched, for at most another second. Not
/// thread-safe.
package final class SearchPatience {
    /// The time in addition to that for the bytes, and the further time for quick searches.
    package static let whole = Duration.seconds(1)
    private static let ofByte = Duration.microseconds(1)

    /// The time left; negative after a text that took more than that.
    private var left = SearchPatience.whole
    /// The number of texts whose search was given up. They count as texts without a match.
    package private(set) var givenUp = 0

    package init() {}

    /// Of a part of the entries: its share of the time that is left to `whole`, among so many.
    init(of whole: SearchPatience, shares: Int) { left = whole.left / shares }

    /// Counts the texts that were given up in a part.
    func absorb(_ part: SearchPatience) { givenUp += part.givenUp }

    /// The time limit for a text of this size; `nil` to give it up without searching.
    fileprivate func begin(bytes: Int) -> Duration? {
        left += SearchPatience.ofByte * bytes
        guard left > .zero - SearchPatience.whole else {
            givenUp += 1
            return nil
        }
        return max(.zero, min(TextPattern.patience, left))
    }

    fileprivate func end(after taken: Duration, isGivenUp: Bool) {
        // A process that was stopped in between didn't search for longer than the limit for one text.
        left -= min(taken, TextPattern.patience)
        if isGivenUp { givenUp += 1 }
    }

    /// The warning to show to the user; `nil` if no text was given up.
    var warning: String? {
        guard givenUp > 0 else { return nil }
        return "\(givenUp) text\(givenUp == 1 ? "" : "s") took a regular expression too long, and "
            + (givenUp == 1 ? "was" : "were")
            + " given up, as if nothing matched there; use a simpler expression, or contains"
    }
}

extension TextPattern {
    /// As ``matches(_:)`` for a text of a query, within the query's time limit. A text that takes too long is
    /// counted there instead of reported.
    package func matches(_ text: String, within patience: SearchPatience) -> Bool {
        guard let allowed = patience.begin(bytes: text.utf8.count) else { return false }
        let start = ContinuousClock.now
        let outcome = search(text, within: allowed)
        patience.end(after: start.duration(to: .now), isGivenUp: outcome.isGivenUp)
        return outcome == .found
    }
}
