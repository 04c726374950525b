import Foundation
import StorageEngine

/// What was read, and of which versions of which entries.
struct Reading<Value>: @unchecked Sendable {
    var value: Value
    var versions: [SeenEntry]
    /// What the keys begin with that the value depends on.
    var prefixes: Set<String>
}

/// How things stand, now and after each change. Whoever asks for the next value waits for it as a suspended task, and for
/// nothing else: there is no task, thread or timer of its own. For one task at a time; others that ask begin anew.
final class Observation<Value>: @unchecked Sendable {
    private struct State {
        var archive: Archive
        var events: EventSequence.Iterator
        /// All events before this one had happened when was read what comes next.
        var position: UInt64
        /// Of what was returned last; `nil`: nothing was yet.
        var latest: Reading<Void>?
        /// When the next reading may begin.
        var pause = ContinuousClock.now
    }

    private let core: StoreCore
    private let read: @Sendable (ArchiveView) throws -> Reading<Value>
    private let lock = NSLock()
    /// Guarded by `lock`; nobody's while a task waits with it.
    private var state: State?

    init(core: StoreCore, read: @escaping @Sendable (ArchiveView) throws -> Reading<Value>) {
        self.core = core
        self.read = read
    }

    private func take() -> State? {
        lock.withLock {
            defer { state = nil }
            return state
        }
    }

    private func put(_ new: State) { lock.withLock { state = new } }

    /// The next value; `nil` when the task is cancelled.
    func next() async throws -> Carried<Value>? {
        while !Task.isCancelled {
            do {
                var state: State
                if let present = take() {
                    state = present
                    guard try await waitForNews(&state) else { return nil }
                } else {
                    state = try await begin()
                }
                if let reading = try await news(&state) {
                    put(state)
                    return reading
                }
                put(state)
            } catch let error as StorageError {
                // The archive was removed: how things stand is to be found out in the one that is made in its place.
                guard case .closed = error else { throw error }
                try? await Task.sleep(for: .milliseconds(5))
            } catch is CancellationError {
                return nil
            }
        }
        return nil
    }

    private func begin() async throws -> State {
        try await core.elsewhere { core in
            try core.withArchive { archive in
                // Of what has begun and is not done yet, its event is still to come, and is waited for.
                let first = try archive.nextEvent()
                let position = try archive.events(from: first - min(first, 64)).next
                return Carried(
                    value: State(
                        archive: archive, events: try archive.follow(from: position).makeAsyncIterator(),
                        position: position))
            }
        }.value
    }

    /// `false` when the task is cancelled.
    private func waitForNews(_ state: inout State) async throws -> Bool {
        while true {
            guard let batch = try await state.events.next() else { return false }
            state.position = batch.next
            guard let latest = state.latest, batch.lost == 0 else { return true }
            if batch.events.contains(where: { $0.mayChange(latest.prefixes) }) { return true }
        }
    }

    /// What is read now, unless it is what was returned last.
    private func news(_ state: inout State) async throws -> Carried<Value>? {
        if state.pause > .now { try await Task.sleep(until: state.pause) }
        let start = ContinuousClock.now
        let reading = try await core.lane.read(state.archive, after: state.position, read).value
        // Of a change after another only the last matters: who reads much reads less often.
        let end = ContinuousClock.now
        state.pause = end + min(.milliseconds(40), (end - start) * 2)
        if let latest = state.latest, latest.versions == reading.versions, latest.prefixes == reading.prefixes
        {
            return nil
        }
        state.latest = Reading(value: (), versions: reading.versions, prefixes: reading.prefixes)
        return Carried(value: reading.value)
    }

    /// The same, for somebody else.
    func another() -> Observation { Observation(core: core, read: read) }

    /// Each value as soon as it is asked for and there is one.
    func stream() -> AsyncThrowingStream<Value, any Error> {
        AsyncThrowingStream { try await self.next()?.value }
    }
}

extension ArchiveEvent {
    /// Whether what is under keys that begin so may be another after it.
    fileprivate func mayChange(_ prefixes: Set<String>) -> Bool {
        switch kind {
        case .promotion, .rejection, .deadline, .append, .resize: return false
        case .record, .update, .eviction, .expiry, .delete, .restore: break
        }
        guard let key else { return true }
        return prefixes.contains { prefix in
            key.utf8.starts(with: prefix.utf8) || !keyIsComplete && prefix.utf8.starts(with: key.utf8)
        }
    }
}
