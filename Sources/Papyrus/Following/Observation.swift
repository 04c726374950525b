import Foundation
import StorageEngine

/// What was read, and of which versions of which entries.
struct Reading<Value>: @unchecked Sendable {
    var value: Value
    var versions: [SeenEntry]
    /// The keys that the value depends on.
    var interest: KeyInterest

    func withoutValue() -> Reading<Void> { Reading<Void>(value: (), versions: versions, interest: interest) }
}

/// How things stand, when it begins and after each change. Whoever asks for the next value waits for it as a suspended task, and
/// for nothing else: there is no task, thread or timer of its own. For one task at a time; others that ask begin anew.
final class Observation<Value>: @unchecked Sendable {
    private struct Following {
        var archive: Archive
        var events: EventSequence.Iterator
        /// All events before this one had happened when was read what comes next.
        var position: UInt64
        /// Of what was returned last; `nil`: nothing was yet.
        var latest: Reading<Void>?
        /// When the next reading may begin.
        var pause = ContinuousClock.now
    }

    private enum Stage {
        /// Nothing has been read, or somebody is just waiting for what comes next.
        case none
        /// The first value can be made of what was taken when the observation began; `nil`: there was no archive to follow.
        case begun(Following?, @Sendable () throws -> Reading<Value>)
        /// There was no archive, and that was the first value.
        case empty(Reading<Void>)
        case following(Following)
    }

    private let core: StoreCore
    private let read: TwoStepReading<Value>
    private let lock = NSLock()
    /// Guarded by `lock`.
    private var stage = Stage.none

    init(core: StoreCore, read: @escaping TwoStepReading<Value>) {
        self.core = core
        self.read = read
    }

    /// The same, for somebody else.
    func another() -> Observation { Observation(core: core, read: read) }

    private func take() -> Stage {
        lock.withLock {
            defer { stage = .none }
            return stage
        }
    }

    private func put(_ new: Stage) { lock.withLock { stage = new } }

    /// Takes what the first value is made of: whatever is saved after this call comes as a change. It makes no store, and waits
    /// for nobody. What can't be had now is asked for again with the first value.
    func begin() {
        do {
            let begun = try core.withArchive(makes: false, waits: false) { archive in
                let following = try follow(archive)
                let view = core.lane.viewToBegin(archive, at: following.position)
                return Stage.begun(following, try read(view))
            }
            put(try begun ?? .begun(nil, read(nil)))
        } catch {
            // Then it begins with the first value, which throws that if it is still so.
        }
    }

    private func follow(_ archive: Archive) throws -> Following {
        let position = try ObservationLane.position(in: archive)
        return Following(
            archive: archive, events: try archive.follow(from: position).makeAsyncIterator(),
            position: position)
    }

    /// The next value; `nil` when the task is cancelled.
    func next() async throws -> Carried<Value>? {
        while !Task.isCancelled {
            do {
                var following: Following
                switch take() {
                case .begun(let archive, let first): return try await value(first, archive)
                case .none: following = try await open()
                case .empty(let latest):
                    following = try await open()
                    following.latest = latest
                case .following(let present):
                    following = present
                    guard try await waitForNews(&following) else { return nil }
                }
                let news = try await news(&following)
                put(.following(following))
                if let news { return news }
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

    private func open() async throws -> Following {
        try await core.elsewhere { core in
            try core.withArchive { Carried(value: try self.follow($0)) }
        }.value
    }

    /// The value with which it began.
    private func value(
        _ first: @escaping @Sendable () throws -> Reading<Value>, _ following: Following?
    ) async throws -> Carried<Value> {
        let reading = try await core.lane.inTurn(first).value
        if var following {
            following.latest = reading.withoutValue()
            put(.following(following))
        } else {
            put(.empty(reading.withoutValue()))
        }
        return Carried(value: reading.value)
    }

    /// `false` when the task is cancelled. It isn't woken by changes that concern nothing of what was read last.
    private func waitForNews(_ following: inout Following) async throws -> Bool {
        let interest = following.latest?.interest
        guard let batch = try await following.events.next(concerning: interest) else { return false }
        following.position = batch.next
        return true
    }

    /// What is read now, unless it is what was returned last.
    private func news(_ following: inout Following) async throws -> Carried<Value>? {
        if following.pause > .now { try await Task.sleep(until: following.pause) }
        let start = ContinuousClock.now
        let reading = try await core.lane.read(following.archive, after: following.position) { [read] in
            try read($0)()
        }.value
        // Of a change after another only the last matters: who reads much reads less often.
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

    /// Begins, and gives each value as soon as it is asked for and there is one.
    func stream() -> AsyncThrowingStream<Value, any Error> {
        begin()
        return AsyncThrowingStream { try await self.next()?.value }
    }
}
