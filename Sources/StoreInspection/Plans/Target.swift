import StorageEngine

package struct Target: Sendable, Hashable {
    package var key: String
    package var sequence: UInt64
    package var size: Int
    package var hasDeadline: Bool

    package init(key: String, sequence: UInt64, size: Int, hasDeadline: Bool = true) {
        self.key = key
        self.sequence = sequence
        self.size = size
        self.hasDeadline = hasDeadline
    }
}

extension EntryMetadata {
    package var target: Target {
        Target(key: key, sequence: sequence, size: valueBytes, hasDeadline: expires != nil)
    }
}

package struct Carried<Outcome: Sendable & Hashable>: Sendable, Hashable {
    package var outcome: Outcome
    /// Seconds of the longest step, an upper bound of the time a lock was held.
    package var longestCall = 0.0
    package var stopped: String?

    package init(_ outcome: Outcome, longestCall: Double = 0, stopped: String? = nil) {
        self.outcome = outcome
        self.longestCall = longestCall
        self.stopped = stopped
    }
}

/// Measures the steps of a change that holds locks.
package struct StepClock {
    private let clock = ContinuousClock()
    private var start: ContinuousClock.Instant
    private var longest = 0.0

    package init() { start = clock.now }

    /// Ends the current step; the next one begins after `body`.
    package mutating func step(_ body: () -> Bool = { true }) -> Bool {
        longest = max(longest, (clock.now - start) / .seconds(1))
        defer { start = clock.now }
        return body()
    }

    package mutating func longestStep() -> Double {
        _ = step()
        return longest
    }
}

extension [Target] {
    /// Changes the targets that are unchanged. `checkpoint` gets the number of finished ones and returns whether to continue.
    package func carryOut(
        _ action: PlannedAction, in archive: Archive, checkpoint: (Int) -> Bool = { _ in true }
    ) throws(StorageError) -> Carried<PlanOutcome> {
        var clock = StepClock()
        var stoppedAt: Int?
        var outcome = PlanOutcome()
        do throws(StorageError) {
            outcome = try archive.carryOut(
                action, on: map { PlannedEntry(key: $0.key, sequence: $0.sequence) }
            ) { done in
                let shouldContinue = clock.step { checkpoint(done) }
                if !shouldContinue { stoppedAt = done }
                return shouldContinue
            }
        } catch {
            // The hint for a full disk follows below.
            guard case .noSpace = error else { throw error }
            outcome.failure = error
        }
        var carried = Carried(outcome, longestCall: clock.longestStep())
        if let failure = outcome.failure {
            // Finished steps are reported together with the error.
            var reason = failure.description
            if case .noSpace = failure {
                reason += "; or delete all entries (vellum rm --all), which needs no space"
            }
            carried.stopped = stopped(after: outcome.entries) + ": \(reason)"
        } else if let stoppedAt {
            carried.stopped = stopped(after: stoppedAt) + "."
        }
        return carried
    }

    private func stopped(after done: Int) -> String {
        let rest = Figures.count(count - Swift.min(count, done), "one is unchanged", "are unchanged")
        return "Stopped after \(Figures.count(done)) of \(Figures.count(count)); \(rest)"
    }
}
