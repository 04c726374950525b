import Testing

/// Suites that start processes or fill the processors run one test at a time, beside all others: what they wait for
/// then comes within their bounds also on a small machine.
///
/// They have a priority, and so threads, of their own. All tests begin at once, and whoever has to wait for its turn would be
/// behind all of them in the queue for the common threads, and left over when the others are through.
struct OneAtATime: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }

    /// Of suites as well, whose tests begin within.
    func scopeProvider(for test: Test, testCase: Test.Case?) -> OneAtATime? { self }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        guard Task.currentPriority >= .high else {
            // From the suite on, so that its tests begin with it.
            return try await withoutActuallyEscaping(function) { function in
                try await Task(priority: .high) {
                    try await provideScope(for: test, testCase: testCase, performing: function)
                }.value
            }
        }
        guard testCase != nil else { return try await function() }
        await Turns.shared.wait()
        do {
            try await function()
        } catch {
            await Turns.shared.pass()
            throw error
        }
        await Turns.shared.pass()
    }

    /// Whoever comes first is first.
    private actor Turns {
        static let shared = Turns()

        private var isTaken = false
        private var waiting: [CheckedContinuation<Void, Never>] = []

        func wait() async {
            guard isTaken else {
                isTaken = true
                return
            }
            await withCheckedContinuation { waiting.append($0) }
        }

        func pass() {
            if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() }
        }
    }
}

extension Trait where Self == OneAtATime {
    static var oneAtATime: OneAtATime { OneAtATime() }
}
