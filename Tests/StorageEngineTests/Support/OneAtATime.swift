import Testing

/// Runs the tests of suites that start processes or fill the processors one at a time, beside all other tests, so that
/// waits end within their bounds on small machines.
///
/// They have a separate priority, and so separate threads. Otherwise a waiting test would queue behind all others.
struct OneAtATime: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }

    /// Also of suites, whose tests begin within.
    func scopeProvider(for test: Test, testCase: Test.Case?) -> OneAtATime? { self }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        guard Task.currentPriority >= .high else {
            // From the suite on, so that its tests begin with this priority.
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

    /// First come, first served.
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
