import Dispatch
import StorageEngine
import Synchronization
import Vellum

/// When changes reach the tier.
public enum RemoteWrites: Sendable, Hashable {
    /// Before the call returns, which fails if they don't.
    case through
    /// Later, the oldest first, and again until the tier takes them; of several changes of a key only the latest. At most so many
    /// keys and bytes wait: the call fails if there are more. What waits is lost when the process ends (see
    /// ``RemoteArchives/flush(within:)``), and so is what the tier refuses for good, which is counted and logged. A change whose
    /// answer was lost is made again, and may so replace one that another machine made in between.
    case behind(mostKeys: Int = 10_000, mostBytes: Int = 64 << 20)
}

/// The changes of an archive that the tier hasn't got yet. Safe from any thread.
final class WriteBehind<Object: Archivable>: Sendable {
    /// What a key is to be.
    struct Write: Sendable {
        /// `nil`: deleted.
        var remote: RemoteObject?
        /// What is returned until the tier has it.
        var kept: HeldObject?
        /// The near copy's; `nil`: there is none.
        var sequence: UInt64?
        private let began = ContinuousClock.now
        fileprivate var number: UInt64 = 0
        fileprivate var isReleased = false

        init(remote: RemoteObject? = nil, kept: HeldObject? = nil) {
            self.remote = remote
            self.kept = kept
        }

        /// How much of the object's lifetime is over.
        fileprivate var age: Duration { ContinuousClock.now - began }

        fileprivate var bytes: Int { 200 + (remote?.bytes.count ?? 0) }
    }

    private struct State {
        var writes: [ExactText: Write] = [:]
        /// The keys whose writes are to be sent, each once, and those of which one is under way: so those of a key follow each other.
        var order: [ExactText] = []
        var next = 0
        var queued: Set<ExactText> = []
        var sending: Set<ExactText> = []
        /// The archive, as long as something waits: who asks for it anew gets the same, and its tier stays.
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

    /// So many are sent without waiting for the answers to the former.
    private static var mostUnderWay: Int { 256 }

    private let mostKeys: Int
    private let mostBytes: Int
    private let near: ArchiveHandle<Object>
    private let coverage: Coverage
    private let space: any RemoteSpace
    private let figures: RemoteCounts
    private let tier: String
    private let state = Guarded(State())
    private let isEmpty = Atomic(true)
    private let queue = DispatchQueue(label: "vellum.write-behind")

    init(
        _ near: ArchiveHandle<Object>, _ coverage: Coverage, _ space: any RemoteSpace,
        _ figures: RemoteCounts, tier: String, mostKeys: Int, mostBytes: Int
    ) {
        self.figures = figures
        self.near = near
        self.coverage = coverage
        self.space = space
        self.tier = tier
        self.mostKeys = max(1, mostKeys)
        self.mostBytes = max(1, mostBytes)
    }

    /// What waits for a key. Costs a load if nothing does.
    func write(of key: String) -> Write? {
        if isEmpty.load(ordering: .acquiring) { return nil }
        return state.withLock { $0.writes[ExactText(key)] }
    }

    var counts: (keys: Int, bytes: Int, lost: Int) {
        state.withLock { ($0.writes.count, $0.bytes, $0.lost) }
    }

    // MARK: Waiting

    /// From now on the key's look-ups find it. Returns its number. Throws ``RemoteError/overloaded(tier:waiting:)``.
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

    /// Sends it once the copy here is made, so that this may be trusted when the tier has it.
    func release(_ key: String, _ number: UInt64, keptAs sequence: UInt64?) {
        state.withLock { state in
            // A newer one is released by itself.
            guard state.writes[ExactText(key)]?.number == number else { return }
            state.writes[ExactText(key)]?.sequence = sequence
            state.writes[ExactText(key)]?.isReleased = true
            state.queue(ExactText(key))
        }
        queue.async { self.send() }
    }

    // MARK: Sending. On the queue, or the thread that brings an answer.

    private func send() {
        while let (key, write) = nextToSend() {
            let ticket = coverage.begin(key)
            let then: @Sendable (Result<Void, RemoteError>) -> Void = { [self] answer in
                coverage.answer(ticket)
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
            while !state.isPaused, state.sending.count < Self.mostUnderWay, state.next < state.order.count {
                let key = state.order[state.next]
                state.next += 1
                if state.next > 1000, state.next > state.order.count / 2 {
                    state.order.removeFirst(state.next)
                    state.next = 0
                }
                state.queued.remove(key)
                // One that is released, or whose former one is answered, is queued again.
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
        _ key: String, _ write: Write, _ ticket: Coverage.Ticket, _ answer: Result<Void, RemoteError>
    ) {
        state.withLock { state in
            state.sending.remove(ExactText(key))
            if state.writes[ExactText(key)]?.number != write.number { state.queue(ExactText(key)) }
        }
        if case .failure(let error) = answer {
            _ = coverage.end(ticket, keptAs: nil)
            if error.isLasting { giveUp(key, write, error) } else { pause(key, write) }
            return send()
        }
        if write.remote != nil { figures.records.add(1, ordering: .relaxed) }
        coverage.change(by: ticket)
        let (isLatest, sequence, keeper) = state.withLock { state in
            state.failures = 0
            let present = state.writes[ExactText(key)]
            guard present?.number == write.number else {
                return (false, nil as UInt64?, nil as (any AnyObject & Sendable)?)
            }
            return (true, present?.sequence, remove(key, &state))
        }
        defer { withExtendedLifetime(keeper) {} }
        // What replaced it meanwhile is kept under its own sequence once it is sent.
        let isTrusted = coverage.end(ticket, keptAs: isLatest ? sequence : nil)
        if isLatest, !isTrusted { drop(key) }
        send()
    }

    /// Returns what was kept as long as something waited, to be released without the lock.
    private func remove(_ key: String, _ state: inout State) -> (any AnyObject & Sendable)? {
        guard let write = state.writes.removeValue(forKey: ExactText(key)) else { return nil }
        state.bytes -= write.bytes
        guard state.writes.isEmpty else { return nil }
        isEmpty.store(true, ordering: .releasing)
        defer { state.keeper = nil }
        return state.keeper
    }

    /// The tier refuses it, and would again.
    private func giveUp(_ key: String, _ write: Write, _ error: RemoteError) {
        let (isLatest, keeper) = state.withLock { state in
            guard state.writes[ExactText(key)]?.number == write.number else {
                return (false, nil as (any AnyObject & Sendable)?)
            }
            state.lost += 1
            return (true, remove(key, &state))
        }
        defer { withExtendedLifetime(keeper) {} }
        guard isLatest else { return }
        near.log("store at \(tier) what waited", key, error)
        drop(key)
    }

    /// It waits again, and all others with it.
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
    /// Whether the same request would be refused again.
    fileprivate var isLasting: Bool {
        guard case .refused(_, let message) = self else { return false }
        // What passes: a full or starting server, one that is just a replica, or is moved.
        let passing = [
            "OOM", "LOADING", "BUSY", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "MOVED", "ASK",
            "MISCONF", "NOREPLICAS",
        ]
        return !passing.contains { message.hasPrefix($0) }
    }
}
