import Foundation
import Synchronization

/// A regular expression of Foundation's engine, which is fast for short texts and can be stopped.
package final class TextPattern: Sendable {
    package static let patience = Duration.milliseconds(100)

    private let expression: NSRegularExpression?
    private let pattern: String
    private let report: @Sendable (_ pattern: String, _ reason: String) -> Void
    private let hasReported = Atomic(false)

    /// Calls `report` at most once, with the fault of an invalid pattern.
    package init(
        _ pattern: String,
        report: @escaping @Sendable (_ pattern: String, _ reason: String) -> Void = { _, _ in }
    ) {
        self.pattern = pattern
        self.report = report
        do {
            // Foundation rejects the empty pattern, which matches everywhere.
            expression = try NSRegularExpression(
                pattern: pattern.isEmpty ? "(?:)" : MarkOrder.composed(pattern))
        } catch {
            expression = nil
            reportOnce("not a regular expression, so it matches nothing")
        }
    }

    package var isValid: Bool { expression != nil }

    package func matches(_ text: String) -> Bool {
        let outcome = search(text, within: Self.patience)
        switch outcome {
        case .tooSlow: reportOnce("a text took too long, and was given up")
        case .tooManyWays: reportOnce("a text has too many ways to match, and was given up")
        case .found, .absent: break
        }
        return outcome == .found
    }

    enum Outcome {
        case found, absent
        /// The search exceeded its time or the engine's memory.
        case tooSlow, tooManyWays

        var isGivenUp: Bool { self == .tooSlow || self == .tooManyWays }
    }

    func search(_ text: String, within allowed: Duration) -> Outcome {
        guard let expression else { return .absent }
        // Composed, so that equivalent texts match equally, as for =.
        let text = MarkOrder.composed(text)
        let whole = NSRange(location: 0, length: text.utf16.count)
        var outcome = Outcome.absent
        var start: Duration?
        // Only the completion reports an internal error.
        expression.enumerateMatches(in: text, options: [.reportProgress, .reportCompletion], range: whole) {
            match, flags, stop in
            if match != nil {
                outcome = .found
                stop.pointee = true
            } else if flags.contains(.internalError) {
                outcome = .tooManyWays
            } else if flags.contains(.progress) {
                // Most texts finish before the first report and so never read the clock.
                let now = ThreadTime.now()
                let begun = start ?? now
                start = begun
                if now - begun > allowed {
                    outcome = .tooSlow
                    stop.pointee = true
                }
            }
        }
        return outcome
    }

    private func reportOnce(_ reason: String) {
        if !hasReported.exchange(true, ordering: .relaxed) { report(pattern, reason) }
    }
}
