#if Valkey
import NIOCore
import StorageEngine
import Synchronization
import ValkeyWire
import VellumRemote

/// Sends each command to the server that has its key: the only one, or one of a cluster's. For one event loop, which is also that of
/// its sessions, unless noted.
///
/// An archive is tracked while each server with slots reports changes, and no server has a newer epoch than the layout. A moved key is
/// deleted at its former server, which reports that. A redirection to an unknown server ends the tracking until that server reports
/// changes, too. A replaced server reports its old epoch; the other servers report a newer one with each heartbeat. The layout is
/// requested after that, at the start, after redirections, lost connections and a cluster that is down, and with each heartbeat of one
/// server, because slots may be moved manually. Only a layout of the newest epoch is adopted.
final class ValkeyRouter: @unchecked Sendable {
    typealias Then = @Sendable (Result<[RESPValue], RemoteError>) -> Void

    let name: String
    private let address: ValkeyAddress
    private let options: ValkeyTier.Options
    private let loop: any EventLoop
    private let figures = HealthCounters()
    /// Pending requests and their bytes. Safe from any thread.
    private let waiting = Atomic(0)
    private let waitingBytes = Atomic(0)

    private var first: ValkeySession?
    private var sessions: [String: ValkeySession] = [:]
    /// Servers by slot; empty until the layout of a cluster is known.
    private var slots: [ValkeySession?] = []
    private var members: [ValkeySession] = []
    /// Targets of redirections without slots in the known layout.
    private var unknown: Set<ObjectIdentifier> = []
    private var isClustered = false
    private var isAsking = false
    private var layoutTrouble: String?
    private var askedAt = NIODeadline.distantPast
    private var epoch: Int64 = 0
    private var spaces: [ObjectIdentifier: ValkeySpace] = [:]
    private var isStopped = false

    init(_ address: ValkeyAddress, _ name: String, _ options: ValkeyTier.Options, on loop: any EventLoop) {
        (self.address, self.name, self.options, self.loop) = (address, name, options, loop)
    }

    // MARK: For any thread

    func start() { loop.execute { self.first = self.session(for: self.address) } }

    func stop() {
        loop.execute { [self] in
            isStopped = true
            for session in sessions.values { session.stop() }
            sessions = [:]
        }
    }

    var health: RemoteHealth {
        var health = figures.withLock { $0 }
        health.waiting = waiting.load(ordering: .relaxed)
        return health
    }

    func add(_ space: ValkeySpace) {
        loop.execute { [self] in
            spaces[ObjectIdentifier(space)] = space
            updateWatches()
        }
    }

    func remove(_ space: ValkeySpace) {
        loop.execute { [self] in
            if spaces.removeValue(forKey: ObjectIdentifier(space)) != nil { updateWatches() }
        }
    }

    private struct Request: Sendable {
        let commands: [RESPCommand]
        /// The key of all commands; `nil`: none.
        var key: [UInt8]?
        var isAtomic = false
        let began = NIODeadline.now()
        var then: Then

        func encoded(asking: Bool = false) -> (bytes: [UInt8], count: Int) {
            let whole = isAtomic ? [RESPCommand("MULTI")] + commands + [RESPCommand("EXEC")] : commands
            let all = whole.enumerated().flatMap { place, command in
                asking && (place == 0 || !isAtomic) ? [RESPCommand("ASKING"), command] : [command]
            }
            return (all.encoded, all.count)
        }

        func replies(_ all: [RESPValue], asking: Bool, _ tier: String) -> Result<[RESPValue], RemoteError> {
            guard isAtomic else {
                return .success(asking ? all.enumerated().filter { $0.offset % 2 == 1 }.map(\.element) : all)
            }
            let begin = all.dropFirst(asking ? 1 : 0).dropLast()
            guard begin.first == .status("OK"), begin.dropFirst().allSatisfy({ $0 == .status("QUEUED") })
            else { return .failure(.refused(tier: tier, message: "invalid answer to MULTI")) }
            guard let replies = all.last?.elements, replies.count == commands.count else {
                return .failure(.refused(tier: tier, message: "invalid answer to EXEC"))
            }
            // The last command is the change. The others may fail for a value of another program.
            if let message = replies.last?.error { return .failure(.refused(tier: tier, message: message)) }
            return .success(replies)
        }
    }

    /// Sends commands of one key; `then` gets their replies on the loop. Any error reply is a failure, of a transaction only the last.
    func send(_ commands: [RESPCommand], of key: [UInt8], atomically: Bool = false, _ then: @escaping Then) {
        send(Request(commands: commands, key: key, isAtomic: atomically, then: then)) {
            $0.session(ofKey: key)
        }
    }

    func send(_ commands: [RESPCommand], to session: ValkeySession, _ then: @escaping Then) {
        send(Request(commands: commands, then: then)) { _ in session }
    }

    private func send(_ request: Request, _ session: @escaping @Sendable (ValkeyRouter) -> ValkeySession?) {
        let encoded = request.encoded()
        let size = encoded.bytes.count
        let before = waiting.add(1, ordering: .relaxed).oldValue
        let bytesBefore = waitingBytes.add(size, ordering: .relaxed).oldValue
        var request = request
        request.then = { [self, then = request.then] result in
            waiting.subtract(1, ordering: .relaxed)
            waitingBytes.subtract(size, ordering: .relaxed)
            then(result)
        }
        let isTooMuch =
            before >= options.mostWaiting || bytesBefore > 0 && bytesBefore + size > options.mostUnsentBytes
        loop.execute { [self, request] in
            if isTooMuch {
                figures.withLock { $0.unsent += 1 }
                return request.then(.failure(.overloaded(tier: name, waiting: before)))
            }
            guard let session = session(self) else {
                figures.withLock { $0.unsent += 1 }
                return request.then(.failure(.unreachable(tier: name, reason: "the tier was released")))
            }
            send(request, encoded, to: session)
        }
    }

    /// Calls `body` on the loop with the servers that have keys, when they are known.
    func withServers(_ body: @escaping @Sendable (Result<[ValkeySession], RemoteError>) -> Void) {
        loop.execute { self.withServers(until: .now() + TimeAmount(self.options.timeout), body) }
    }

    private func withServers(
        until end: NIODeadline, _ body: @escaping @Sendable (Result<[ValkeySession], RemoteError>) -> Void
    ) {
        if first?.isConnected == true && !isClustered || !slots.isEmpty { return body(.success(servers)) }
        guard !isStopped, .now() < end else {
            let reason = first?.trouble ?? "its cluster's servers aren't known yet"
            return body(.failure(.unreachable(tier: name, reason: reason)))
        }
        loop.scheduleTask(in: .milliseconds(20)) { [self] in withServers(until: end, body) }
    }

    /// Notifies other archives of the same name in this process. Call on the loop.
    func notify(allBut own: ValkeySpace, _ body: (any RemoteListener) -> Void) {
        for space in spaces.values where space !== own && space.prefix == own.prefix { body(space.listener) }
    }

    // MARK: Servers

    private static let mostServers = 2000

    private func session(for address: ValkeyAddress) -> ValkeySession? {
        guard !isStopped else { return nil }
        if let known = sessions[address.description] {
            if !slots.isEmpty, !members.contains(where: { $0 === known }) { meet(known) }
            return known
        }
        let session = ValkeySession(address, name, options, on: loop, figures) { [weak self] session, event in
            self?.note(event, of: session)
        }
        sessions[address.description] = session
        meet(session)
        session.start()
        return session
    }

    /// Tracks a server that isn't in the layout, because it may answer requests.
    private func meet(_ session: ValkeySession) {
        guard unknown.insert(ObjectIdentifier(session)).inserted else { return }
        session.watch(prefixes)
        for space in spaces.values { judge(space) }
    }

    private var servers: [ValkeySession] {
        isClustered && !slots.isEmpty ? members : first.map { [$0] } ?? []
    }

    private func session(ofKey key: [UInt8]) -> ValkeySession? {
        guard !slots.isEmpty else { return first }
        return slots[ValkeySlot.of(key)] ?? servers.first
    }

    private func note(_ event: ValkeySession.Event, of session: ValkeySession) {
        switch event {
        case .changed(let prefix, let key):
            for space in spaces.values where space.prefix == prefix { space.listener.changed(key) }
            return
        case .changedAll:
            for space in spaces.values { space.listener.changedAll() }
            return
        case .connected, .lost, .heard: break
        }
        if session.isClustered { isClustered = true }
        if isClustered,
            event != .heard || newestEpoch > epoch || .now() - askedAt > TimeAmount(options.heartbeat)
        {
            askForLayout()
        }
        for space in spaces.values { judge(space) }
        updateTrouble()
    }

    private func updateTrouble() {
        let trouble = servers.lazy.compactMap(\.trouble).first ?? layoutTrouble
        figures.withLock { $0.trouble = trouble }
    }

    /// Follows redirections, at most eight, because servers may disagree.
    private func answered(
        _ request: Request, _ result: Result<[RESPValue], RemoteError>, asking: Bool, hops: Int
    ) {
        let result = result.flatMap { request.replies($0, asking: asking, name) }
        guard let key = request.key, case .failure(.refused(_, let message)) = result, hops < 8 else {
            return request.then(result)
        }
        let words = message.split(separator: " ")
        guard words.count == 3, words[0] == "MOVED" || words[0] == "ASK",
            let target = session(named: String(words[2]))
        else {
            let pause = TimeAmount.milliseconds(50 << Int64(hops))
            guard words.first == "TRYAGAIN" || words.first == "CLUSTERDOWN",
                .now() + pause < request.began + TimeAmount(options.timeout)
            else { return request.then(result) }
            askForLayout()
            figures.withLock { $0.retries += 1 }
            loop.scheduleTask(in: pause) { [self] in
                guard let session = session(ofKey: key) else { return request.then(result) }
                send(request, to: session, hops: hops + 1)
            }
            return
        }
        figures.withLock { $0.redirections += 1 }
        if words[0] == "MOVED" { askForLayout() }
        send(request, to: target, asking: words[0] == "ASK", hops: hops + 1)
    }

    private func send(
        _ request: Request, _ encoded: (bytes: [UInt8], count: Int)? = nil, to session: ValkeySession,
        asking: Bool = false, hops: Int = 0
    ) {
        let (bytes, count) = encoded ?? request.encoded(asking: asking)
        session.send(bytes, count: count, began: request.began) { [self] result in
            answered(request, result, asking: asking, hops: hops)
        }
    }

    /// - Parameter place: `host:port`; without a host, the configured one.
    private func session(named place: String) -> ValkeySession? {
        guard let colon = place.lastIndex(of: ":"), let port = Int(place[place.index(after: colon)...]) else {
            return nil
        }
        return session(host: String(place[..<colon]), port: port)
    }

    private func session(host: String, port: Int) -> ValkeySession? {
        guard (1...65_535).contains(port), sessions.count < ValkeyRouter.mostServers else { return nil }
        var place = address
        if !host.isEmpty { place.host = host }
        place.port = port
        return session(for: place)
    }

    /// The newest epoch of the sound servers. A server that is cut off may have increased its epoch alone.
    private var newestEpoch: Int64 { sessions.values.filter(\.isSound).map(\.epoch).max() ?? 0 }

    private func askForLayout() {
        let connected = sessions.values.filter(\.isConnected)
        let newest = newestEpoch
        guard !isAsking, let session = connected.filter({ $0.epoch >= newest }).randomElement() else {
            return
        }
        let pause = NIODeadline.now() - askedAt
        isAsking = true
        // Limits the rate: a cluster that is being reconfigured redirects often.
        loop.scheduleTask(in: pause > .milliseconds(200) ? .zero : .milliseconds(200)) { [self] in
            askedAt = .now()
            // The layout is at least as new as the epoch before it.
            let questions = [RESPCommand("CLUSTER", "INFO"), RESPCommand("CLUSTER", "SLOTS")]
            let request = Request(commands: questions) { [self] result in
                isAsking = false
                switch result {
                case .failure(let error): layoutTrouble = "its cluster's layout is unknown: \(error)"
                case .success(let replies):
                    layoutTrouble = nil
                    let epoch = ValkeySession.ClusterFacts(replies[0]).epoch
                    if epoch >= newestEpoch { adopt(replies[1], epoch) }
                }
                updateTrouble()
            }
            send(request, to: session)
        }
    }

    private func adopt(_ layout: RESPValue, _ epoch: Int64) {
        var found: [ValkeySession?] = Array(repeating: nil, count: ValkeySlot.count)
        for range in layout.elements ?? [] {
            guard let parts = range.elements, parts.count >= 3, let from = parts[0].number,
                let to = parts[1].number,
                let server = parts[2].elements, server.count >= 2, let port = server[1].number,
                from >= 0, from <= to, to < ValkeySlot.count,
                let session = session(host: server[0].text ?? "", port: Int(clamping: port))
            else { continue }
            for slot in Int(from)...Int(to) { found[slot] = session }
        }
        guard found.contains(where: { $0 != nil }) else { return }
        let former = slots.isEmpty ? [] : servers
        slots = found
        self.epoch = epoch
        unknown = []
        var used: Set<ObjectIdentifier> = []
        members = found.compactMap { $0 }.filter { used.insert(ObjectIdentifier($0)).inserted }
        // Keeps servers that can be reached: they may have a newer layout.
        for (place, session) in sessions
        where !used.contains(ObjectIdentifier(session)) && session !== first && session.isUnreachable {
            sessions[place] = nil
            session.stop()
        }
        // A server without slots may have been replaced; then changes of its keys were not reported.
        let isGone = former.contains { !used.contains(ObjectIdentifier($0)) }
        if isGone { for space in spaces.values { say(space, isTracked: false) } }
        updateWatches()
        // Pending answers may be outdated without a report.
        for session in former where !used.contains(ObjectIdentifier(session)) { session.reconnect() }
    }

    // MARK: Tracking

    private var prefixes: Set<[UInt8]> { Set(spaces.values.map(\.prefix)) }

    private func updateWatches() {
        let (prefixes, used) = (prefixes, unknown.union(members.map { ObjectIdentifier($0) }))
        for session in sessions.values {
            // A server without slots may be another name of a tracked one, and would report this process's own changes.
            let isUsed = slots.isEmpty || used.contains(ObjectIdentifier(session))
            session.watch(isUsed ? prefixes : [])
        }
        for space in spaces.values { judge(space) }
    }

    /// Determines whether an archive is tracked, and notifies its listener of a change.
    private func judge(_ space: ValkeySpace) {
        let needed = servers + sessions.values.filter { unknown.contains(ObjectIdentifier($0)) }
        let isTracked =
            !servers.isEmpty && !(isClustered && (slots.isEmpty || newestEpoch > epoch))
            && needed.allSatisfy { $0.isSound && $0.covered.contains(space.prefix) }
        say(space, isTracked: isTracked)
    }

    private func say(_ space: ValkeySpace, isTracked: Bool) {
        guard isTracked != space.isTracked else { return }
        space.isTracked = isTracked
        if isTracked { space.listener.isTracked() } else { space.listener.isUntracked() }
    }
}

/// Hash slots of a cluster (<https://valkey.io/topics/cluster-spec/>).
enum ValkeySlot {
    static let count = 16_384

    /// CRC-16/XMODEM of the key, or of its hash tag: the text in the first braces, unless it is empty.
    static func of(_ key: [UInt8]) -> Int {
        var part = key[...]
        if let open = key.firstIndex(of: UInt8(ascii: "{")),
            let close = key[(open + 1)...].firstIndex(of: UInt8(ascii: "}")), close > open + 1
        {
            part = key[(open + 1)..<close]
        }
        var sum: UInt16 = 0
        for byte in part {
            sum ^= UInt16(byte) << 8
            for _ in 0..<8 { sum = sum & 0x8000 == 0 ? sum << 1 : sum << 1 ^ 0x1021 }
        }
        return Int(sum) % count
    }
}
#endif

/// Counters that a router shares with its sessions.
final class HealthCounters: Sendable {
    private let health = Guarded(RemoteHealth())

    func withLock<Result: Sendable>(_ body: (inout RemoteHealth) -> Result) -> Result {
        health.withLock { body(&$0) }
    }
}
