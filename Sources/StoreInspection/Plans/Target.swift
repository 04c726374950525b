import StorageEngine

/// An entry as a plan froze it. A value; safe to share between threads.
package struct Target: Sendable, Hashable {
    package var key: String
    package var sequence: UInt64
    /// Of the value, in bytes.
    package var size: Int
    /// Whether it had a deadline: one without any has none to lose.
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

/// What came of something that changed a store. A value; safe to share between threads.
package struct Carried<Outcome: Sendable & Hashable>: Sendable, Hashable {
    package var outcome: Outcome
    /// The longest that one step took, in seconds: no lock was held longer.
    package var longestCall = 0.0
    /// Why it ended before all was done; one line.
    package var stopped: String?

    package init(_ outcome: Outcome, longestCall: Double = 0, stopped: String? = nil) {
        self.outcome = outcome
        self.longestCall = longestCall
        self.stopped = stopped
    }
}

/// Measures the steps of something that holds a lock now and then. For one thread.
package struct StepClock {
    private let clock = ContinuousClock()
    private var start: ContinuousClock.Instant
    private var longest = 0.0

    package init() { start = clock.now }

    /// A step is over; the next begins behind `body`, which isn't measured.
    package mutating func step(_ body: () -> Bool = { true }) -> Bool {
        longest = max(longest, (clock.now - start) / .seconds(1))
        defer { start = clock.now }
        return body()
    }

    /// In seconds, the step that ends now included.
    package mutating func longestStep() -> Double {
        _ = step()
        return longest
    }
}

extension [Target] {
    /// Does it to those that are still what the plan saw. `checkpoint` is told how many are done and says whether to go on.
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
                let goesOn = clock.step { checkpoint(done) }
                if !goesOn { stoppedAt = done }
                return goesOn
            }
        } catch {
            // The way out of a full disk is told below, also where not even the first step had room.
            guard case .noSpace = error else { throw error }
            outcome.failure = error
        }
        var carried = Carried(outcome, longestCall: clock.longestStep())
        if let failure = outcome.failure {
            // What was done before stays done, so it is told together with the error.
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
        let rest = Figures.count(count - Swift.min(count, done), "one is as it was", "are as they were")
        return "Stopped after \(Figures.count(done)) of \(Figures.count(count)); \(rest)"
    }
}
