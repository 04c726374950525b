import Foundation
import Synchronization

/// A regular expression of Foundation's engine, which is fast for short texts and can be stopped.
package final class TextPattern: Sendable {
    package static let timeLimit = Duration.milliseconds(100)

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

    /// Why Swift's parser rejects a pattern; Foundation gives no reason. Nil if the parser accepts it or lacks one of its constructs,
    /// and for more than 50 brackets: the parser recurses for each, and the stack may be small.
    package static func problem(of pattern: String) -> String? {
        guard pattern.utf8.count(where: { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "(") }) <= 50 else {
            return nil
        }
        do {
            _ = try Regex(pattern)
            return nil
        } catch {
            let reason = "\(error)"
            return reason.contains("not currently supported") ? nil : reason
        }
    }

    package func matches(_ text: String) -> Bool {
        let outcome = search(text, within: Self.timeLimit)
        switch outcome {
        case .tooSlow: reportOnce("a text took too long and was skipped")
        case .tooManyWays: reportOnce("a text has too many ways to match and was skipped")
        case .found, .absent: break
        }
        return outcome == .found
    }

    package enum Outcome {
        case found, absent
        /// The search exceeded its time or the engine's memory.
        case tooSlow, tooManyWays

        package var isGivenUp: Bool { self == .tooSlow || self == .tooManyWays }
    }

    package func search(_ text: String, within allowed: Duration) -> Outcome {
        // Composed, so that equivalent texts match equally, as for =.
        search(composed: MarkOrder.composed(text), within: allowed) { _ in false }
    }

    /// The first matches that aren't empty, in characters; nil: the search was given up.
    package func ranges(in text: String, most: Int, within allowed: Duration) -> [Range<Int>]? {
        let text = MarkOrder.composed(text)
        var found: [Range<Int>] = []
        let outcome = search(composed: text, within: allowed) { range in
            if let range = Range(range, in: text), !range.isEmpty {
                let start = text.distance(from: text.startIndex, to: range.lowerBound)
                found.append(start..<start + text[range].count)
            }
            return found.count < most
        }
        return outcome.isGivenUp ? nil : found
    }

    /// - Parameter shouldContinue: gets each match, and returns whether to search for another.
    private func search(
        composed text: String, within allowed: Duration, _ shouldContinue: @escaping (NSRange) -> Bool
    ) -> Outcome {
        guard let expression else { return .absent }
        let whole = NSRange(location: 0, length: text.utf16.count)
        var outcome = Outcome.absent
        var start: Duration?
        // Only the completion reports an internal error.
        expression.enumerateMatches(in: text, options: [.reportProgress, .reportCompletion], range: whole) {
            match, flags, stop in
            if let match {
                outcome = .found
                if !shouldContinue(match.range) { stop.pointee = true }
            } else if flags.contains(.internalError) {
                outcome = .tooManyWays
            } else if flags.contains(.progress) {
                // Most searches end before the first report and so never read the clock.
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
