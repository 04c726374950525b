import Foundation
import Synchronization

/// A regular expression that is looked for in many texts.
///
/// Foundation's engine rather than Swift's `Regex`: it takes half the time or less for short texts, and it can be
/// stopped, which a pattern that came from a user needs.
package final class TextPattern: Sendable {
    /// Longest time that one text may take.
    package static let patience = Duration.milliseconds(100)

    private let expression: NSRegularExpression?
    private let pattern: String
    private let report: @Sendable (_ pattern: String, _ reason: String) -> Void
    private let hasReported = Atomic(false)

    /// `report` gets what is wrong with the pattern, at most once.
    package init(
        _ pattern: String,
        report: @escaping @Sendable (_ pattern: String, _ reason: String) -> Void = { _, _ in }
    ) {
        self.pattern = pattern
        self.report = report
        do {
            // Foundation takes the empty pattern, which is found everywhere, for none.
            expression = try NSRegularExpression(
                pattern: pattern.isEmpty ? "(?:)" : UTF8Text.normalized(pattern))
        } catch {
            expression = nil
            reportOnce("no regular expression, so it matches nothing")
        }
    }

    /// Whether the pattern is one.
    package var isValid: Bool { expression != nil }

    package func matches(_ text: String) -> Bool {
        guard let expression else { return false }
        // Texts are the same in any normal form, as for =.
        let text = UTF8Text.normalized(text)
        let whole = NSRange(location: 0, length: text.utf16.count)
        var isFound = false
        var start: ContinuousClock.Instant?
        // The completion is what tells of an internal error.
        expression.enumerateMatches(in: text, options: [.reportProgress, .reportCompletion], range: whole) {
            [self] match, flags, stop in
            if match != nil {
                isFound = true
                stop.pointee = true
            } else if flags.contains(.internalError) {
                reportOnce("a text has too many ways to match, and was given up")
            } else if flags.contains(.progress) {
                // Most texts are done before the first report, so the clock is not looked at for them.
                let begun = start ?? .now
                start = begun
                if begun.duration(to: .now) > Self.patience {
                    reportOnce("a text took too long, and was given up")
                    stop.pointee = true
                }
            }
        }
        return isFound
    }

    private func reportOnce(_ reason: String) {
        if !hasReported.exchange(true, ordering: .relaxed) { report(pattern, reason) }
    }
}
