import Dispatch
import StorageEngine
import Synchronization
import Vellum

/// When changes are sent to the tier.
public enum RemoteWrites: Sendable, Hashable {
    /// Before the call returns.
    case through
    /// After the call, oldest first, repeated until the tier accepts them; of several changes of a key only the latest. A call fails if
    /// the queue has this many keys or bytes. Queued changes are lost when the process ends (see ``RemoteArchives/flush(within:)``).
    /// Changes that the tier refuses permanently are lost, too; they are counted and logged. A change without an answer is sent again,
    /// and may replace a later change by another machine.
    case behind(mostKeys: Int = 10_000, mostBytes: Int = 64 << 20)
}

/// The queued changes of an archive.
final class WriteBehind<Object: Archivable>: Sendable {
    struct Write: Sendable {
        var remote: RemoteObject?
        /// The object for accesses while the change is queued.
        var kept: HeldObject?
        /// The near copy's sequence; `nil`: no copy.
        var sequence: UInt64?
        private let began = ContinuousClock.now
        fileprivate var number: UInt64 = 0
        fileprivate var isReleased = false

        init(remote: RemoteObject? = nil, kept: HeldObject? = nil) {
            self.remote = remote
            self.kept = kept
        }

        fileprivate var age: Duration { ContinuousClock.now - began }

        fileprivate var bytes: Int { 200 + (remote?.bytes.count ?? 0) }
    }

    private struct State {
        var writes: [ExactText: Write] = [:]
        /// Keys to send in order, each once. The keys in `sending` wait for their answers, so that writes of a key stay in order.
        var order: [ExactText] = []
        var next = 0
        var queued: Set<ExactText> = []
        var sending: Set<ExactText> = []
        /// Retains the archive and its tier while writes are queued.
        var keeper: (any AnyObject & Sendable)?
        var numbers: UInt64 = 0
        var bytes = 0
        var failures = 0
        var isPaused = false
        var lost = 0

        mutating func queue(_ key: ExactText) {
            if queued.insert(key).inserted { order.append(key) }
        }
    }

    /// Maximum number of writes in flight.
    private static var mostInFlight: Int { 256 }

    private let mostKeys: Int
    private let mostBytes: Int
    private let near: ArchiveHandle<Object>
    private let tracking: CopyTracking
    private let space: any RemoteSpace
    private let figures: RemoteCounts
    private let tier: String
    private let state = Guarded(State())
    private let isEmpty = Atomic(true)
    private let queue = DispatchQueue(label: "vellum.write-behind")

    init(
        _ near: ArchiveHandle<Object>, _ tracking: CopyTracking, _ space: any RemoteSpace,
        _ figures: RemoteCounts, tier: String, mostKeys: Int, mostBytes: Int
    ) {
        self.figures = figures
        self.near = near
        self.tracking = tracking
        self.space = space
        self.tier = tier
        self.mostKeys = max(1, mostKeys)
        self.mostBytes = max(1, mostBytes)
    }

    /// Returns the queued write of a key. One atomic load if the queue is empty.
    func write(of key: String) -> Write? {
        if isEmpty.load(ordering: .acquiring) { return nil }
        return state.withLock { $0.writes[ExactText(key)] }
    }

    var counts: (keys: Int, bytes: Int, lost: Int) { state.withLock { ($0.writes.count, $0.bytes, $0.lost) } }

    // MARK: Queueing

    /// Queues a write, which accesses find from then on, and returns its number. Throws ``RemoteError/overloaded(tier:waiting:)``.
    func add(
        _ key: String, _ write: Write, of archives: any AnyObject & Sendable
    ) throws(RemoteError) -> UInt64 {
        let name = ExactText(key)
        let result = state.withLock { state -> Result<UInt64, RemoteError> in
            let former = state.writes[name]
            let bytes = state.bytes - (former?.bytes ?? 0) + write.bytes
            let others = state.writes.count - (former == nil ? 0 : 1)
            if others >= mostKeys || (bytes > mostBytes && others > 0) {
                return .failure(.overloaded(tier: tier, waiting: state.writes.count))
            }
            state.numbers += 1
            var write = write
            write.number = state.numbers
            state.writes[name] = write
            state.bytes = bytes
            state.keeper = archives
            isEmpty.store(false, ordering: .releasing)
            return .success(write.number)
        }
        return try result.get()
    }

    /// Sends a write after its near copy is stored, so that the copy can be trusted when the tier has the object.
    func release(_ key: String, _ number: UInt64, keptAs sequence: UInt64?) {
        state.withLock { state in
            // A newer write is released separately.
            guard state.writes[ExactText(key)]?.number == number else { return }
            state.writes[ExactText(key)]?.sequence = sequence
            state.writes[ExactText(key)]?.isReleased = true
            state.queue(ExactText(key))
        }
        queue.async { self.send() }
    }

    // MARK: Sending

    private func send() {
        while let (key, write) = nextToSend() {
            let ticket = tracking.begin(key)
            let then: @Sendable (Result<Void, RemoteError>) -> Void = { [self] answer in
                tracking.answer(ticket)
                queue.async { self.finish(key, write, ticket, answer) }
            }
            if var remote = write.remote {
                remote.lifetime = remote.lifetime.map { $0 - write.age }
                space.store(remote, forKey: key, then)
            } else {
                space.delete(key) { then($0.map { _ in }) }
            }
        }
    }

    private func nextToSend() -> (String, Write)? {
        state.withLock { state in
            while !state.isPaused, state.sending.count < Self.mostInFlight, state.next < state.order.count {
                let key = state.order[state.next]
                state.next += 1
                if state.next > 1000, state.next > state.order.count / 2 {
                    state.order.removeFirst(state.next)
                    state.next = 0
                }
                state.queued.remove(key)
                // The release of the write, or the answer to the previous one, queues it again.
                guard let write = state.writes[key], write.isReleased, !state.sending.contains(key) else {
                    continue
                }
                state.sending.insert(key)
                return (key.text, write)
            }
            return nil
        }
    }

    private func finish(
        _ key: String, _ write: Write, _ ticket: CopyTracking.Ticket, _ answer: Result<Void, RemoteError>
    ) {
        state.withLock { state in
            state.sending.remove(ExactText(key))
            if state.writes[ExactText(key)]?.number != write.number { state.queue(ExactText(key)) }
        }
        if case .failure(let error) = answer {
            _ = tracking.end(ticket, keptAs: nil)
            if error.isLasting { discard(key, write, error) } else { pause(key, write) }
            return send()
        }
        if write.remote != nil { figures.records.add(1, ordering: .relaxed) }
        tracking.change(by: ticket)
        let removed = remove(key, write, isLost: false)
        defer { withExtendedLifetime(removed) {} }
        // A newer write ends with the sequence of a newer copy.
        let isTrusted = tracking.end(ticket, keptAs: removed?.sequence)
        if removed != nil, !isTrusted { drop(key) }
        send()
    }

    /// Removes a write, unless there is a newer one (nil). Returns its near copy's sequence and, if the queue is empty now, the
    /// keeper, which must be released without the lock.
    private func remove(
        _ key: String, _ write: Write, isLost: Bool
    ) -> (sequence: UInt64?, keeper: (any AnyObject & Sendable)?)? {
        state.withLock { state in
            if !isLost { state.failures = 0 }
            guard let latest = state.writes[ExactText(key)], latest.number == write.number else { return nil }
            state.writes[ExactText(key)] = nil
            state.bytes -= latest.bytes
            if isLost { state.lost += 1 }
            guard state.writes.isEmpty else { return (latest.sequence, nil) }
            isEmpty.store(true, ordering: .releasing)
            defer { state.keeper = nil }
            return (latest.sequence, state.keeper)
        }
    }

    /// Discards a write that the tier refuses permanently.
    private func discard(_ key: String, _ write: Write, _ error: RemoteError) {
        let removed = remove(key, write, isLost: true)
        defer { withExtendedLifetime(removed) {} }
        guard removed != nil else { return }
        near.log("store a queued change at \(tier)", key, error)
        drop(key)
    }

    /// Queues a write again, and pauses all for a time that grows with the failures.
    private func pause(_ key: String, _ write: Write) {
        figures.resent.add(1, ordering: .relaxed)
        let pause = state.withLock { state -> Int? in
            state.queue(ExactText(key))
            guard !state.isPaused else { return nil }
            state.isPaused = true
            state.failures += 1
            return Int.random(in: 1...min(2000, 50 << min(state.failures, 8)))
        }
        guard let pause else { return }
        queue.asyncAfter(deadline: .now() + .milliseconds(pause)) { [self] in
            state.withLock { $0.isPaused = false }
            send()
        }
    }

    private func drop(_ key: String) {
        do {
            try near.core.leaveMemory(key)
            try near.perform { try $0.delete(key) }
        } catch {
            near.log("drop", key, error)
        }
    }
}

extension RemoteError {
    fileprivate var isLasting: Bool {
        guard case .refused(_, let message) = self else { return false }
        // Errors of a full or starting server, of a replica, and of a cluster that is being reconfigured.
        let passing = [
            "OOM", "LOADING", "BUSY", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "MOVED", "ASK",
            "MISCONF", "NOREPLICAS",
        ]
        return !passing.contains { message.hasPrefix($0) }
    }
}
