import Foundation
import StorageEngine

/// System events of a folder, in order. Safe from any thread.
final class EventLog: @unchecked Sendable {
    private let lock = NSLock()
    private var events: [SystemEvent] = []
    private var observer = 0

    init(under folder: String) {
        observer = SystemFaults.observe(under: folder) { [weak self] event in
            guard let self else { return }
            lock.withLock { events.append(event) }
        }
    }

    deinit { SystemFaults.endObserving(observer) }

    /// A separate array, since the thread sanitizer doesn't see the release of shared storage.
    var all: [SystemEvent] { lock.withLock { events.map { $0 } } }

    var syncedSegments: Int {
        all.count { if case .synced(let path) = $0 { path.hasSuffix(".segment") } else { false } }
    }

    func clear() { lock.withLock { events.removeAll() } }
}

/// Runs `body` while system calls fail by the plans.
@discardableResult
func withFaults<Result>(_ plans: FaultPlan..., body: () throws -> Result) rethrows -> Result {
    for plan in plans { SystemFaults.install(plan) }
    defer { for plan in plans { SystemFaults.remove(plan) } }
    return try body()
}

/// Runs `body` on `count` threads and waits for all without blocking a task's thread.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) async throws {
    let done = DispatchGroup()
    for number in 0..<count {
        done.enter()
        Thread.detachNewThread {
            body(number)
            done.leave()
        }
    }
    while done.wait(timeout: .now()) == .timedOut { try await Task.sleep(for: .milliseconds(2)) }
}
