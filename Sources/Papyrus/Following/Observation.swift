import Foundation
import StorageEngine

/// A value with the versions of the entries that it was read from.
struct Reading<Value>: @unchecked Sendable {
    var value: Value
    var versions: [SeenEntry]
    var interest: KeyInterest

    func withoutValue() -> Reading<Void> { Reading<Void>(value: (), versions: versions, interest: interest) }
}

/// A query's values: the first, and one after each change, for one task at a time; no task, thread or timer besides.
final class Observation<Value>: @unchecked Sendable {
    private struct Following {
        var archive: Archive
        var events: EventSequence.Iterator
        /// The next reading includes all events before this number.
        var position: UInt64
        /// The last reading includes all events before this number.
        var seen: UInt64
        /// The last reading that was returned, without its value; `nil` before the first.
        var latest: Reading<Void>?
        /// The earliest time of the next reading.
        var pause = ContinuousClock.now
    }

    private enum Stage {
        /// Nothing has been read yet, or a task is waiting for the next value.
        case none
        /// The closure returns the first value. The `Following` is `nil` if no archive exists.
        case begun(Following?, @Sendable () throws -> Reading<Value>)
        /// The archive is absent, and the first value, an empty one, has been returned.
        case empty(Reading<Void>)
        case following(Following)
    }

    private let core: StoreCore
    private let read: TwoStepReading<Value>
    private let lock = NSLock()
    // Guarded by `lock`.
    private var stage = Stage.none
    /// The state between a change of this process and the next one, to be returned once.
    private var held: Held?
    /// The interest of the last reading; `nil` before the first.
    private var interest: KeyInterest?
    private var isAwaited = false

    private struct Held {
        var position: UInt64
        var value: @Sendable () throws -> Reading<Value>
    }

    init(core: StoreCore, read: @escaping TwoStepReading<Value>) {
        self.core = core
        self.read = read
    }

    deinit { core.lane.remove(self) }

    func another() -> Observation { Observation(core: core, read: read) }

    private func take() -> Stage {
        lock.withLock {
            defer { stage = .none }
            return stage
        }
    }

    private func put(_ new: Stage) { lock.withLock { stage = new } }

    /// Fixes the state of the first value; later changes cause another. Waits for no process. On failure, `next()` repeats it.
    func begin() {
        do {
            let begun = try core.withArchive(creates: false, waits: false) { archive in
                let following = try follow(archive)
                let view = core.lane.viewToBegin(archive, at: following.position)
                return Stage.begun(following, try read(view))
            }
            put(try begun ?? .begun(nil, read(nil)))
            core.lane.add(self)
        } catch {
            // `next()` tries again, and throws the error if it persists.
        }
    }

    private func follow(_ archive: Archive) throws -> Following {
        let position = try ObservationLane.position(in: archive)
        return Following(
            archive: archive, events: try archive.follow(from: position).makeAsyncIterator(),
            position: position, seen: position)
    }

    func next() async throws -> Carried<Value>? {
        lock.withLock { isAwaited = true }
        defer { lock.withLock { isAwaited = false } }
        while !Task.isCancelled {
            do {
                var following: Following
                switch take() {
                case .begun(let archive, let first): return try await value(first, archive)
                case .none:
                    following = try await open()
                    core.lane.add(self)
                    _ = takeHeld(after: .max)
                case .empty(let latest):
                    following = try await open()
                    (following.latest, following.seen) = (latest, 0)
                case .following(let present):
                    following = present
                    let isBehind = lock.withLock { held != nil } || following.seen < following.position
                    if !isBehind, try await !waitForChange(&following) { return nil }
                }
                let value = try await changedValue(&following)
                put(.following(following))
                if let value { return value }
            } catch let error as StorageError {
                // The archive was removed. Reads the state from the one that is created in its place.
                guard case .closed = error else { throw error }
                try? await Task.sleep(for: .milliseconds(5))
            } catch is CancellationError {
                return nil
            }
        }
        return nil
    }

    private func open() async throws -> Following {
        try await core.blocking { core in
            try core.withArchive { Carried(value: try self.follow($0)) }
        }.value
    }

    /// The first value, from the state that `begin()` fixed.
    private func value(
        _ first: @escaping @Sendable () throws -> Reading<Value>, _ following: Following?
    ) async throws -> Carried<Value> {
        let reading = try await core.lane.serially(first).value
        lock.withLock { interest = reading.interest }
        if var following {
            following.latest = reading.withoutValue()
            put(.following(following))
        } else {
            put(.empty(reading.withoutValue()))
        }
        return Carried(value: reading.value)
    }

    /// Waits for changes since the last reading. `false` when the task is cancelled.
    private func waitForChange(_ following: inout Following) async throws -> Bool {
        let interest = following.latest?.interest
        repeat {
            guard let batch = try await following.events.next(concerning: interest) else { return false }
            following.position = batch.next
        } while following.position <= following.seen
        return true
    }

    /// The current value; `nil` if it equals the last one.
    private func changedValue(_ following: inout Following) async throws -> Carried<Value>? {
        if following.pause > .now { try await Task.sleep(until: following.pause) }
        let start = ContinuousClock.now
        let reading: Reading<Value>
        if let held = takeHeld(after: following.seen) {
            reading = try await core.lane.serially(held.value).value
            following.seen = held.position
        } else {
            let position = following.position
            reading = try await core.lane.read(following.archive, after: position) { [read] in
                try read($0)()
            }.value
            following.seen = max(position, following.seen)
        }
        lock.withLock { interest = reading.interest }
        // Pauses in proportion to the time of the reading: if several changes follow each other, only the last one matters.
        let end = ContinuousClock.now
        following.pause = end + min(.milliseconds(40), (end - start) * 2)
        if let latest = following.latest, latest.versions == reading.versions,
            latest.interest == reading.interest
        {
            return nil
        }
        following.latest = reading.withoutValue()
        return Carried(value: reading.value)
    }

    private func takeHeld(after seen: UInt64) -> Held? {
        lock.withLock {
            defer { held = nil }
            return held.flatMap { $0.position > seen ? $0 : nil }
        }
    }

    /// Begins the observation, and returns its values as they are requested.
    func stream() -> AsyncThrowingStream<Value, any Error> {
        begin()
        return AsyncThrowingStream { try await self.next()?.value }
    }
}

extension Observation: StateHolder {
    func wants(_ changes: ChangedKeys) -> Bool {
        lock.withLock {
            guard held == nil, let interest else { return held == nil }
            return isAwaited && changes.concern(interest)
        }
    }

    func hold(_ view: ArchiveView, at position: UInt64) throws {
        let held = Held(position: position, value: try read(view))
        lock.withLock { self.held = held }
    }
}
