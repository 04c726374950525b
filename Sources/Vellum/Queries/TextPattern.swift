import Foundation
import Logging
import Synchronization

/// A regular expression that is looked for in many texts.
///
/// Foundation's engine rather than Swift's `Regex`: it takes half the time or less for short texts, and it can be
/// stopped, which a pattern that came from a user needs.
package final class TextPattern: Sendable {
    /// Longest time that one text may take.
    package static let patience = Duration.milliseconds(100)

    private let expression: NSRegularExpression?
    private let report: @Sendable (String) -> Void
    private let hasReported = Atomic(false)

    /// `report` gets what is wrong with the pattern, at most once.
    package init(_ pattern: String, report: @escaping @Sendable (String) -> Void = TextPattern.log) {
        self.report = report
        do {
            expression = try NSRegularExpression(pattern: pattern)
        } catch {
            expression = nil
            reportOnce("No regular expression, so nothing matches: \(pattern)")
        }
    }

    package static func log(_ message: String) {
        Logger(label: "vellum.queries").warning("\(message)")
    }

    package func matches(_ text: String) -> Bool {
        guard let expression else { return false }
        let whole = NSRange(location: 0, length: text.utf16.count)
        var isFound = false
        var start: ContinuousClock.Instant?
        expression.enumerateMatches(in: text, options: .reportProgress, range: whole) {
            [self] match, flags, stop in
            if match != nil {
                isFound = true
                stop.pointee = true
            } else if flags.contains(.internalError) {
                reportOnce("Too much to go back to in a text for \(expression.pattern)")
            } else if let start {
                guard start.duration(to: .now) > Self.patience else { return }
                reportOnce("A text took too long for \(expression.pattern)")
                stop.pointee = true
            } else {
                // Most texts are done before progress is reported at all, so the clock is looked at only here.
                start = .now
            }
        }
        return isFound
    }

    private func reportOnce(_ message: String) {
        if !hasReported.exchange(true, ordering: .relaxed) { report(message) }
    }
}
