/// How long the regular expressions of one query may take together: a second, and a microsecond for each byte of the texts
/// that they are looked for in. ``TextPattern/patience`` alone bounds one text, and an archive has as many as somebody cares
/// to store. Once that is used up, only texts of which the answer is known at once are still asked, for another second at
/// most. For one thread.
package final class SearchPatience {
    /// What texts may take beyond the time in proportion to them, and again for short looks.
    package static let whole = Duration.seconds(1)
    private static let ofByte = Duration.microseconds(1)

    /// What is left; negative once the last text took more than that.
    private var left = SearchPatience.whole
    /// Texts that were given up. They count as texts without a match.
    package private(set) var givenUp = 0

    package init() {}

    /// What a text of that many bytes may take; `nil`: it is given up without a look.
    fileprivate func begin(bytes: Int) -> Duration? {
        left += SearchPatience.ofByte * bytes
        guard left > .zero - SearchPatience.whole else {
            givenUp += 1
            return nil
        }
        return max(.zero, min(TextPattern.patience, left))
    }

    fileprivate func end(after taken: Duration, isGivenUp: Bool) {
        // A process that was stopped meanwhile has not searched for longer than one text may take.
        left -= min(taken, TextPattern.patience)
        if isGivenUp { givenUp += 1 }
    }

    /// What a person should know of it.
    var warning: String? {
        guard givenUp > 0 else { return nil }
        return "\(givenUp) text\(givenUp == 1 ? "" : "s") took a regular expression too long, and "
            + (givenUp == 1 ? "was" : "were")
            + " given up, as if nothing matched there; use a simpler expression, or contains"
    }
}

extension TextPattern {
    /// As ``matches(_:)`` for one of the texts of a query; one that takes too long is counted there, and not reported.
    package func matches(_ text: String, within patience: SearchPatience) -> Bool {
        guard let allowed = patience.begin(bytes: text.utf8.count) else { return false }
        let start = ContinuousClock.now
        let outcome = search(text, within: allowed)
        patience.end(after: start.duration(to: .now), isGivenUp: outcome.isGivenUp)
        return outcome == .found
    }
}
