import CPlatform
import Synchronization

/// The follower and doorbell of one store in this process.
struct Following: Sendable {
    let doorbell: Doorbell
    let follower: StoreFollower
}

protocol FollowedArchive: AnyObject, Sendable {
    var name: String { get }
    var isClosed: Bool { get }
    func engine() throws(StorageError) -> ArchiveEngine
}

/// Waits for the events of a store's archives for any number of subscribers, with one thread.
///
/// A waiting subscriber is a continuation and the number of its next event; the archive's ring is the buffer. A slow subscriber
/// costs no memory and gets the number of lost events. All subscribers that wait for the same event share one reading, and other
/// keys don't wake those with a ``KeyInterest``. The thread sleeps at the ``Doorbell`` (without one it polls twenty times a
/// second), checks once a second whether the archives exist, and ends a second after the last subscriber.
final class StoreFollower: Sendable {
    typealias Outcome = Result<EventBatch?, StorageError>

    private struct Subscriber {
        let continuation: UnsafeContinuation<Outcome, Never>
        /// The keys of interest; `nil` for all keys.
        let interest: KeyInterest?

        func resume(returning outcome: Outcome) { continuation.resume(returning: outcome) }
    }

    /// The waiting subscribers of one archive, by the event that they wait for and by ticket.
    private struct Followed {
        let archive: any FollowedArchive
        var waiting: [UInt64: [UInt64: Subscriber]] = [:]
    }

    private struct State {
        var followed: [ObjectIdentifier: Followed] = [:]
        var arrivals: UInt64 = 0
        var isRunning = false
        var sleepsAt: Doorbell.Bell?
    }

    private let doorbell: Doorbell
    private let mayWrite: Bool
    private let state = Guarded(State())
    private let tickets = Atomic<UInt64>(0)

    init(doorbell: Doorbell, mayWrite: Bool) {
        self.doorbell = doorbell
        self.mayWrite = mayWrite
    }

    private static let checkInterval: Int64 = 1_000_000_000
    private static let pollNanoseconds: Int64 = 50_000_000
    /// Pause after events were delivered: limits ringing to some hundred times a second.
    private static let pauseNanoseconds: Int64 = 2_000_000

    var isActive: Bool { state.withLock { $0.isRunning } }
    var waiting: Int {
        state.withLock { state in
            state.followed.values.reduce(0) { $0 + $1.waiting.values.reduce(0) { $0 + $1.count } }
        }
    }

    /// The next events of `archive` from `first` on that concern `interest`, or the number of lost ones; `nil` if the task is
    /// cancelled. Throws `closed` if the archive or its store is closed or removed.
    func events(
        of archive: any FollowedArchive, from first: UInt64, concerning interest: KeyInterest? = nil
    ) async throws(StorageError) -> EventBatch? {
        let ticket = tickets.wrappingAdd(1, ordering: .relaxed).newValue
        let outcome = await withTaskCancellationHandler {
            await withUnsafeContinuation {
                enter(ticket, archive, first, Subscriber(continuation: $0, interest: interest))
            }
        } onCancel: {
            let subscriber = take(ticket, archive, first)
            subscriber?.resume(returning: .success(nil))
        }
        return try outcome.get()
    }

    private func enter(
        _ ticket: UInt64, _ archive: any FollowedArchive, _ first: UInt64, _ subscriber: Subscriber
    ) {
        // A forked child lacks this thread, and perhaps the thread that held the lock.
        guard !archive.isClosed else {
            return subscriber.resume(returning: .failure(.closed(name: archive.name)))
        }
        let refusal: Outcome? = state.withLock { state in
            // Checks both under the lock: a later cancellation or close finds the waiting subscriber.
            if Task.isCancelled { return .success(nil) }
            if archive.isClosed { return .failure(.closed(name: archive.name)) }
            if !state.isRunning {
                let code = startThread()
                guard code == 0 else {
                    return .failure(.system(operation: "start", path: "the followers' thread", code: code))
                }
                state.isRunning = true
            }
            state.arrivals += 1
            state.followed[ObjectIdentifier(archive), default: Followed(archive: archive)]
                .waiting[first, default: [:]][ticket] = subscriber
            state.sleepsAt?.ring()
            state.sleepsAt = nil
            return nil
        }
        if let refusal { subscriber.resume(returning: refusal) }
    }

    private func take(_ ticket: UInt64, _ archive: any FollowedArchive, _ first: UInt64) -> Subscriber? {
        state.withLock { state in
            let id = ObjectIdentifier(archive)
            // The subscriber may wait for another event number by now.
            for number in [first] + (state.followed[id]?.waiting.keys.filter { $0 != first } ?? []) {
                guard let taken = state.followed[id]?.waiting[number]?.removeValue(forKey: ticket) else {
                    continue
                }
                if state.followed[id]?.waiting[number]?.isEmpty == true {
                    state.followed[id]?.waiting[number] = nil
                }
                if state.followed[id]?.waiting.isEmpty == true { state.followed[id] = nil }
                return taken
            }
            return nil
        }
    }

    func end(_ archive: any FollowedArchive) { end(ObjectIdentifier(archive), .closed(name: archive.name)) }

    private func end(_ id: ObjectIdentifier, _ error: StorageError) {
        let followed = state.withLock { $0.followed.removeValue(forKey: id) }
        for group in followed?.waiting.values.map(\.values) ?? [] {
            for subscriber in group { subscriber.resume(returning: .failure(error)) }
        }
    }

    private func startThread() -> Int32 {
        let context = Unmanaged.passRetained(self).toOpaque()
        let code = cp_start_thread(
            { context in
                guard let context else { return nil }
                Unmanaged<StoreFollower>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, context)
        if code != 0 { Unmanaged<StoreFollower>.fromOpaque(context).release() }
        return code
    }

    private func run() {
        var bell = Doorbell.Bell()
        var checked = Int64.min
        var pause: Int64 = 0
        while true {
            let now = cp_monotonic_time()
            let isCheck = checked == .min || now - checked >= StoreFollower.checkInterval
            if isCheck {
                checked = now
                // Without a doorbell the thread polls.
                if mayWrite, !bell.isShared || bell.isRemoved { bell = (try? doorbell.bell()) ?? bell }
            }
            let count = bell.count
            let round = state.withLock { state in
                (
                    arrivals: state.arrivals,
                    archives: state.followed.map {
                        (id: $0, archive: $1.archive, numbers: Array($1.waiting.keys))
                    }
                )
            }
            var isPending = false
            var isBusy = false
            for item in round.archives {
                switch readEvents(item.archive, item.numbers, isCheck: isCheck) {
                case .failure(let error): end(item.id, error)
                case .success(let findings):
                    isPending = isPending || findings.isPending
                    if !findings.batches.isEmpty { isBusy = true }
                    for (number, batch) in findings.batches { deliver(batch, to: number, of: item.id) }
                }
            }
            if isBusy { cp_sleep(StoreFollower.pauseNanoseconds) }
            // A number was claimed but its event isn't published: the writer waits for the processor, or was stopped.
            pause =
                isPending
                ? min(max(2 * pause, StoreFollower.pauseNanoseconds), StoreFollower.pollNanoseconds) : 0
            let next = rest(at: bell, seen: round.arrivals, mayEnd: isCheck)
            if next == .end { return }
            if next == .again { continue }
            let most = bell.isShared ? StoreFollower.checkInterval : StoreFollower.pollNanoseconds
            let isIdle = round.archives.isEmpty
            bell.wait(since: count, atMost: isIdle ? StoreFollower.checkInterval : pause > 0 ? pause : most)
            state.withLock { $0.sleepsAt = nil }
        }
    }

    private enum Rest { case sleep, again, end }

    private func rest(at bell: Doorbell.Bell, seen arrivals: UInt64, mayEnd: Bool) -> Rest {
        state.withLock { state in
            guard state.arrivals == arrivals else { return .again }
            if mayEnd, state.followed.isEmpty {
                state.isRunning = false
                return .end
            }
            state.sleepsAt = bell
            return .sleep
        }
    }

    private struct Findings {
        var batches: [(UInt64, EventBatch)] = []
        var isPending = false
    }

    /// The events for the waiters of these numbers. Marks the archive as awaited first, so that later events ring.
    private func readEvents(
        _ archive: any FollowedArchive, _ numbers: [UInt64], isCheck: Bool
    ) -> Result<Findings, StorageError> {
        do throws(StorageError) {
            let engine = try archive.engine()
            // A removed archive's index is marked; only the file system shows that a folder was removed by other means.
            if engine.index.state == .building || isCheck && engine.isFolderRemoved {
                throw .closed(name: archive.name)
            }
            if engine.processSlot != nil, !numbers.isEmpty { engine.index.events.markAsAwaited() }
            let reader = EventReader(engine)
            let head = reader.nextEvent
            var findings = Findings()
            for number in numbers where number != head {
                let batch = reader.events(from: number)
                if batch.events.isEmpty, batch.lost == 0, batch.next == number {
                    findings.isPending = true
                } else {
                    findings.batches.append((number, batch))
                }
            }
            return .success(findings)
        } catch {
            return .failure(error)
        }
    }

    private func deliver(_ batch: EventBatch, to number: UInt64, of id: ObjectIdentifier) {
        lazy var changed = ChangedKeys(batch)
        // The ring was restarted and is still empty.
        let isNothing = batch.events.isEmpty && batch.lost == 0
        let concerned: [UInt64: Subscriber] = state.withLock { state in
            guard var waiting = state.followed[id]?.waiting.removeValue(forKey: number) else { return [:] }
            let concerned = waiting.filter { !isNothing && $1.interest.map { changed.concern($0) } ?? true }
            for ticket in concerned.keys { waiting[ticket] = nil }
            // The other subscribers continue to wait, for the next event.
            if !waiting.isEmpty {
                state.followed[id]?.waiting[batch.next, default: [:]].merge(waiting) { $1 }
            }
            if state.followed[id]?.waiting.isEmpty == true { state.followed[id] = nil }
            return concerned
        }
        for subscriber in concerned.values { subscriber.resume(returning: .success(batch)) }
    }
}
