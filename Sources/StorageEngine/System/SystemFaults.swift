import Synchronization
import SystemC

package enum SystemCall: String, CaseIterable, Sendable {
    case open, makeFolder, status, list, exists, read, write, allocate, sync, rename, unlink, lock, map,
        random
}

/// For tests: from the `number`-th call (from 1) on, calls of a kind under a folder fail or are partial.
package final class FaultPlan: Sendable {
    package enum Effect: Sendable {
        case fails(Int32)
        /// A read or write transfers one byte; other calls are not affected.
        case isShort
    }

    private let call: SystemCall?
    private let folder: String
    private let number: Int
    private let isLasting: Bool
    private let effect: Effect
    private let counts = Guarded<(seen: Int, injected: Int)>((0, 0))

    package init(
        _ effect: Effect, call: SystemCall? = nil, under folder: String, number: Int, isLasting: Bool
    ) {
        self.effect = effect
        self.call = call
        self.folder = folder
        self.number = number
        self.isLasting = isLasting
    }

    package var seen: Int { counts.withLock { $0.seen } }
    package var injected: Int { counts.withLock { $0.injected } }

    fileprivate func effect(on call: SystemCall, path: String, shortens: Bool) -> Effect? {
        guard self.call == nil || self.call == call, path.hasPrefix(folder) else { return nil }
        switch effect {
        case .fails where shortens: return nil
        case .isShort where !shortens: return nil
        default: break
        }
        return counts.withLock { counts in
            counts.seen += 1
            guard isLasting ? counts.seen >= number : counts.seen == number else { return nil }
            counts.injected += 1
            return effect
        }
    }
}

/// A change of a file or a name, for tests that track the medium's content.
package enum SystemEvent: Sendable, Hashable {
    /// Reported before the sync.
    case syncing(path: String)
    /// The bytes of this file, or the names of this folder, are on the medium.
    case synced(path: String)
    case created(path: String)
    case madeFolder(path: String)
    case renamed(from: String, to: String)
    /// Reported before the removal, so that the bytes can still be read.
    case unlinked(path: String)
}

/// The hook for tests in ``SystemCall``, process-wide; one relaxed load in system calls.
package enum SystemFaults {
    private struct Hooks {
        var plans: [FaultPlan] = []
        var observers: [Int: (folder: String, body: @Sendable (SystemEvent) -> Void)] = [:]
        var nextObserver = 0
    }

    private static let hooks = Guarded(Hooks())
    private static let isArmed = Atomic<Bool>(false)

    package static func install(_ plan: FaultPlan) {
        hooks.withLock { hooks in
            hooks.plans.append(plan)
            isArmed.store(true, ordering: .relaxed)
        }
    }

    package static func remove(_ plan: FaultPlan) {
        hooks.withLock { hooks in
            hooks.plans.removeAll { $0 === plan }
            isArmed.store(!hooks.plans.isEmpty || !hooks.observers.isEmpty, ordering: .relaxed)
        }
    }

    /// Calls `body` for each event on a path under `folder`, on the thread that makes the call.
    package static func observe(
        under folder: String, _ body: @escaping @Sendable (SystemEvent) -> Void
    ) -> Int {
        hooks.withLock { hooks in
            hooks.nextObserver += 1
            hooks.observers[hooks.nextObserver] = (folder, body)
            isArmed.store(true, ordering: .relaxed)
            return hooks.nextObserver
        }
    }

    package static func endObserving(_ number: Int) {
        // Releasing the observer may release objects that make system calls, so it happens outside the lock.
        let ended = hooks.withLock { hooks in
            defer {
                isArmed.store(!hooks.plans.isEmpty || !hooks.observers.isEmpty, ordering: .relaxed)
            }
            return hooks.observers.removeValue(forKey: number)?.body
        }
        withExtendedLifetime(ended) {}
    }

    @inline(__always) fileprivate static func effect(
        on call: SystemCall, path: () -> String, shortens: Bool = false
    ) -> FaultPlan.Effect? {
        guard isArmed.load(ordering: .relaxed) else { return nil }
        let path = path()
        // Copies the array: the thread sanitizer doesn't see the release of one that shares its storage.
        let plans = hooks.withLock { $0.plans.map { $0 } }
        for plan in plans {
            if let effect = plan.effect(on: call, path: path, shortens: shortens) { return effect }
        }
        return nil
    }

    @inline(__always) static func tell(_ event: @autoclosure () -> SystemEvent) {
        guard isArmed.load(ordering: .relaxed) else { return }
        let event = event()
        let path =
            switch event {
            case .syncing(let path), .synced(let path), .created(let path), .madeFolder(let path),
                .unlinked(let path),
                .renamed(_, let path):
                path
            }
        let bodies = hooks.withLock { $0.observers.sorted { $0.key < $1.key }.map(\.value) }
        for (folder, body) in bodies where path.hasPrefix(folder) { body(event) }
    }
}

struct SystemResult {
    var value: Int
    var code: Int32
}

extension SystemCall {
    /// Bounds the repetitions, for a timer may fire faster than the call can run.
    private static let mostInterruptions = 1000

    /// The result that ``perform(path:_:)`` expects, of a function that returns 0 or an errno.
    static func result(ofFailure failure: Int32) -> Int {
        errno = failure
        return failure == 0 ? 0 : -1
    }

    /// Makes a call that returns -1 and sets errno if it fails.
    @inline(__always) func perform(path: @autoclosure () -> String, _ body: () -> Int) -> SystemResult {
        var result = once(path: path, body)
        var attempts = 1
        while result.code == EINTR, attempts < SystemCall.mostInterruptions {
            result = once(path: path, body)
            attempts += 1
        }
        return result
    }

    /// Like ``perform(path:_:)``. Returns the call's result; throws an error about `operation` if it fails.
    @inline(__always) @discardableResult
    func run(
        _ operation: String, path: @autoclosure () -> String, _ body: () -> Int
    ) throws(StorageError) -> Int {
        let result = perform(path: path(), body)
        guard result.code == 0 else { throw .fromErrno(result.code, operation: operation, path: path()) }
        return result.value
    }

    /// Like ``run(_:path:_:)``, but returns 0 or, for a failure with one of these errnos, that errno.
    func code(
        _ operation: String, path: @autoclosure () -> String, allowing codes: Int32..., body: () -> Int
    ) throws(StorageError) -> Int32 {
        let result = perform(path: path(), body)
        guard result.code == 0 || codes.contains(result.code) else {
            throw .fromErrno(result.code, operation: operation, path: path())
        }
        return result.code
    }

    /// Reads or writes at most `count` bytes. Transferring fewer is no failure.
    func transfer(count: Int, path: @autoclosure () -> String, _ body: (Int) -> Int) -> SystemResult {
        var allowed = count
        if count > 1, case .isShort? = SystemFaults.effect(on: self, path: path, shortens: true) {
            allowed = 1
        }
        return perform(path: path()) { body(allowed) }
    }

    @inline(__always) private func once(path: () -> String, _ body: () -> Int) -> SystemResult {
        if case .fails(let code)? = SystemFaults.effect(on: self, path: path) {
            return SystemResult(value: -1, code: code)
        }
        let value = body()
        return SystemResult(value: value, code: value < 0 ? errno : 0)
    }
}
