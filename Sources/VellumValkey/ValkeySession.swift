#if Valkey
import NIOCore
import NIOPosix
import StorageEngine
import ValkeyWire
import VellumRemote

/// The connection to a server, reopened after a loss. For one event loop.
final class ValkeySession: @unchecked Sendable {
    enum Event: Equatable {
        case connected
        case lost
        /// ``ValkeySession/isSound``, ``ValkeySession/epoch`` or ``ValkeySession/covered`` may have changed.
        case heard
        /// Others changed a key with a watched prefix.
        case changed([UInt8], key: String)
        case changedAll
    }

    let name: String
    let address: ValkeyAddress
    private let options: ValkeyTier.Options
    private let loop: any EventLoop

    private enum State {
        /// Requests are queued.
        case connecting
        case loggingIn(any Channel)
        case connected(any Channel)
        /// Until the next attempt. Requests are refused.
        case paused
        case stopped

        var channel: (any Channel)? {
            switch self {
            case .loggingIn(let channel), .connected(let channel): channel
            case .connecting, .paused, .stopped: nil
            }
        }
    }

    private final class Request: @unchecked Sendable {
        let count: Int
        let began: NIODeadline
        /// Whether it is an internal request, which handles error replies.
        let isOwn: Bool
        /// Empty once they are sent.
        var bytes: [UInt8]
        /// `nil` once it has timed out.
        var then: (@Sendable (Result<[RESPValue], RemoteError>) -> Void)?

        init(
            _ bytes: [UInt8], count: Int, began: NIODeadline = .now(), isOwn: Bool = false,
            then: @escaping @Sendable (Result<[RESPValue], RemoteError>) -> Void
        ) {
            (self.bytes, self.count, self.began, self.isOwn, self.then) = (bytes, count, began, isOwn, then)
        }
    }

    private var state = State.connecting
    /// The requests of the open channel.
    private var connection = RESPConnection<Request>()
    private var queued: [Request] = []
    /// Prefixes of the keys whose changes are to be reported.
    private var watched: Set<[UInt8]> = []
    /// Watched prefixes all of whose later changes are reported.
    private(set) var covered: Set<[UInt8]> = []
    /// Prefixes that the server tracks for this connection. A single one can't be removed.
    private var tracked: Set<[UInt8]> = []
    private var failedAttempts = 0
    /// The channel's ID and address at the server. A restarted server reuses IDs.
    private var identity: (id: String, address: String)?
    /// Lost connections whose data may still reach the server.
    private var lost: [(id: String, address: String)] = []
    private var isExplained = false
    /// The time of sending of the last answered request. All earlier changes are reported, because the server reports them first.
    private var confirmed = NIODeadline.now()
    private var asked = NIODeadline.now()
    private var isFlushDue = false
    private(set) var isClustered = false
    private var role = ""
    /// Whether it reports all changes: it is no replica, and its view of the cluster is `ok`.
    private(set) var isSound = false
    /// The cluster epoch that it reported. A replaced server has an older one than the others.
    private(set) var epoch: Int64 = 0
    private var timer: RepeatedTask?

    private let figures: HealthCounters
    /// Why there is no connection, or why it isn't sound.
    private(set) var trouble: String?
    private let report: (ValkeySession, Event) -> Void

    init(
        _ address: ValkeyAddress, _ name: String, _ options: ValkeyTier.Options, on loop: any EventLoop,
        _ figures: HealthCounters, report: @escaping (ValkeySession, Event) -> Void
    ) {
        (self.address, self.name, self.options, self.loop) = (address, name, options, loop)
        (self.figures, self.report) = (figures, report)
    }

    func start() {
        let pause = TimeAmount(options.timeout / 20)
        timer = loop.scheduleRepeatedTask(initialDelay: pause, delay: pause) { [weak self] _ in self?.tick() }
        connect()
    }

    func stop() {
        timer?.cancel()
        lose("the tier was released", next: .stopped)
    }

    /// Reconnects; pending requests fail.
    func reconnect() {
        let unsent = queued
        queued = []
        if state.channel != nil { lose("it no longer has keys of its cluster") }
        for request in unsent { refuse(request) }
    }

    /// Reports changes of keys with these prefixes, and of no others.
    func watch(_ prefixes: Set<[UInt8]>) {
        let new = prefixes.subtracting(watched)
        watched = prefixes
        covered.formIntersection(prefixes)
        guard case .connected(let channel) = state else { return }
        if !new.isEmpty { track(new, channel) }
        guard prefixes.isEmpty, !tracked.isEmpty else { return }
        tracked = []
        ask([RESPCommand("CLIENT", "TRACKING", "OFF")], channel) { [self] _ in
            // A prefix that is watched again is covered by the answer to a later request.
            covered = []
            report(self, .heard)
        }
    }

    /// Sends commands, and calls `then` with their replies, or with the first error among them.
    func send(
        _ bytes: [UInt8], count: Int, began: NIODeadline = .now(),
        _ then: @escaping @Sendable (Result<[RESPValue], RemoteError>) -> Void
    ) {
        let request = Request(bytes, count: count, began: began, then: then)
        switch state {
        case .connected(let channel): write(request, channel)
        // After several failed attempts, requests fail at once.
        case .connecting, .loggingIn:
            if failedAttempts < 2 { queued.append(request) } else { refuse(request) }
        case .paused, .stopped: refuse(request)
        }
    }

    var isUnreachable: Bool { failedAttempts > 1 && !isConnected }

    var isConnected: Bool { if case .connected = state { true } else { false } }

    private func write(_ request: Request, _ channel: any Channel) {
        figures.withLock { $0.requests += 1 }
        channel.write(channel.allocator.buffer(bytes: request.bytes), promise: nil)
        request.bytes = []
        connection.expectReplies(to: request, count: request.count)
        guard !isFlushDue else { return }
        isFlushDue = true
        // One flush for all requests of this iteration of the event loop.
        loop.execute { [self] in
            isFlushDue = false
            channel.flush()
        }
    }

    private func refuse(_ request: Request) {
        figures.withLock { $0.unsent += 1 }
        let reason = trouble ?? "there is no connection" + suspicion
        request.then?(.failure(.unreachable(tier: name, reason: reason)))
    }

    fileprivate func received(_ bytes: ByteBufferView, _ channel: any Channel) {
        guard isCurrent(channel) else { return }
        connection.received(bytes)
        do throws(RESPError) {
            while isCurrent(channel), let event = try connection.next() {
                switch event {
                case .push(let parts): invalidate(parts)
                case .replies(let replies, to: let request): answer(request, replies)
                }
            }
        } catch {
            lose(error.description)
        }
    }

    private func answer(_ request: Request, _ replies: [RESPValue]) {
        confirmed = max(confirmed, request.began)
        guard let then = request.then else { return }
        if !request.isOwn, let message = replies.firstError {
            figures.withLock { $0.refusals += 1 }
            return then(.failure(.refused(tier: name, message: message)))
        }
        then(.success(replies))
    }

    /// Called 20 times per timeout.
    private func tick() {
        let now = NIODeadline.now()
        let timeout = TimeAmount(options.timeout)
        var isLate = false
        // Redirected requests began earlier, so the times aren't in order.
        for request in connection.requests where now - request.began > timeout {
            guard let then = request.then else { continue }
            // Internal requests have the connection's timeout, except in a cluster, where only other servers report a replacement.
            guard !request.isOwn else {
                isLate = isLate || isClustered
                continue
            }
            request.then = nil
            figures.withLock { $0.timeouts += 1 }
            then(.failure(.unanswered(tier: name, reason: "no answer within \(options.timeout)")))
        }
        let late = queued.filter { now - $0.began > timeout }
        queued.removeAll { now - $0.began > timeout }
        for request in late { refuse(request) }
        guard let channel = state.channel else { return }
        let longest = options.heartbeat + options.timeout
        if isLate || now - confirmed > TimeAmount(longest) {
            lose("no answer for \(isLate ? options.timeout : longest)")
        } else if case .connected = state, now - asked >= TimeAmount(options.heartbeat) {
            sendHeartbeat(channel)
        }
    }

    /// Sends an internal request. `then` handles error replies, and isn't called if the connection is lost.
    private func ask(
        _ commands: [RESPCommand], _ channel: any Channel, _ then: @escaping @Sendable ([RESPValue]) -> Void
    ) {
        let request = Request(commands.encoded, count: commands.count, isOwn: true) {
            if case .success(let replies) = $0 { then(replies) }
        }
        write(request, channel)
    }

    // MARK: Heartbeat

    /// Asks for role and epoch: a server that its cluster has replaced would still answer a `PING`.
    private func sendHeartbeat(_ channel: any Channel) {
        asked = .now()
        var commands = [RESPCommand("HELLO", "3")]
        if isClustered { commands.append(RESPCommand("CLUSTER", "INFO")) }
        ask(commands, channel) { [self] replies in
            let present = replies[0]["role"]?.text ?? role
            guard present == role else { return lose("its role changed from \(role) to \(present)") }
            heard(replies.dropFirst().first)
        }
    }

    private func heard(_ cluster: RESPValue?) {
        if isClustered {
            let facts = ValkeySession.ClusterFacts(cluster)
            epoch = facts.epoch
            trouble = facts.trouble
        }
        if role == "slave" || role == "replica" { trouble = "it is a replica, which gets changes late" }
        isSound = trouble == nil
        report(self, .heard)
    }

    struct ClusterFacts {
        var epoch: Int64 = 0
        var trouble: String?

        init(_ reply: RESPValue?) {
            if let message = reply?.error { trouble = "it doesn't report its cluster's state: \(message)" }
            let fields = RESPFields(lines: reply ?? .null)
            epoch = fields["cluster_current_epoch"].flatMap { Int64($0) } ?? 0
            if let state = fields["cluster_state"], state != "ok" {
                trouble = "its cluster's state is \(state)"
            }
        }
    }

    // MARK: Changes by others

    private func invalidate(_ parts: [RESPValue]) {
        guard parts.first?.text == "invalidate", parts.count >= 2 else { return }
        guard let keys = parts[1].elements else {
            if !watched.isEmpty { report(self, .changedAll) }
            return
        }
        figures.withLock { $0.invalidations += keys.count }
        for case .bytes(let key) in keys {
            for prefix in watched where key.starts(with: prefix) {
                // Keys of this library are UTF-8.
                guard let name = String(validating: key.dropFirst(prefix.count), as: UTF8.self)
                else { continue }
                report(self, .changed(prefix, key: name))
            }
        }
    }

    private func track(_ prefixes: Set<[UInt8]>, _ channel: any Channel) {
        let new = prefixes.subtracting(tracked)
        tracked.formUnion(new)
        var command = RESPCommand("CLIENT", "TRACKING", "ON", "BCAST", "NOLOOP")
        for prefix in new { command = command + "PREFIX" + prefix }
        // Without a new prefix, any answer confirms the tracking.
        ask([new.isEmpty ? RESPCommand("PING") : command], channel) { [self] replies in
            if let message = replies.firstError { return lose("it doesn't report changes: \(message)") }
            covered.formUnion(prefixes.intersection(watched))
            report(self, .heard)
        }
    }

    // MARK: Connections

    private func connect() {
        if case .stopped = state { return }
        state = .connecting
        let timeout = TimeAmount(options.timeout)
        ValkeySession.open(address, options.tls, on: loop, within: timeout) { [self] in ReplyHandler(self) }
            .hop(to: loop).whenComplete { [self] result in
                switch result {
                case .success(let channel): logIn(channel)
                case .failure(let error): lose(ValkeySession.reason(error))
                }
            }
    }

    /// Opens a connection whose data a handler gets, with TLS if the address requires it.
    static func open(
        _ address: ValkeyAddress, _ tls: ValkeyTier.TLS, on loop: any EventLoop, within timeout: TimeAmount,
        _ handler: @escaping @Sendable () -> any ChannelHandler
    ) -> EventLoopFuture<any Channel> {
        ClientBootstrap(group: loop)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.maxMessagesPerRead, value: 16)
            .connectTimeout(timeout)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if address.usesTLS { try tls.secure(channel, to: address.host) }
                    try channel.pipeline.syncOperations.addHandler(handler())
                }
            }
            .connect(host: address.host, port: address.port)
    }

    static func reason(_ error: any Error) -> String {
        if let error = error as? NIOConnectionError {
            let failures = error.connectionErrors.map { reason($0.error) }
            return failures.first ?? "the host's name can't be resolved"
        }
        if case .connectTimeout(let time)? = error as? ChannelError {
            return "no connection within \(time.nanoseconds / 1_000_000) ms"
        }
        if let error = error as? IOError { return String(cString: strerror(error.errnoCode)) }
        return "\(error)"
    }

    private func logIn(_ channel: any Channel) {
        if case .stopped = state { return channel.close(promise: nil) }
        confirmed = .now()
        isExplained = false
        connection = RESPConnection()
        state = .loggingIn(channel)
        let password = address.password
        let logIn = LogIn(user: password == nil ? nil : address.user, password: password, name: "vellum")
        var commands = [logIn.hello]
        if address.database != 0 { commands.append(RESPCommand("SELECT", "\(address.database)")) }
        ask(commands + [RESPCommand("CLIENT", "INFO")], channel) { [self] replies in
            guard case .loggingIn(let present) = state, present === channel else { return }
            if let message = replies.dropLast().firstError {
                return lose(
                    "\(name) refuses: "
                        + (LogIn.isUnknown(message)
                            ? "it doesn't support protocol 3 (version 6 or later)" : logIn.reason(message)))
            }
            let fields = RESPFields(replies.last?.text ?? "", with: "=")
            if let id = fields["id"], let address = fields["addr"] { identity = (id, address) }
            killLost(channel)
            isClustered = replies[0]["mode"]?.text == "cluster"
            role = replies[0]["role"]?.text ?? ""
            state = .connected(channel)
            failedAttempts = 0
            trouble = nil
            figures.withLock { $0.connections += 1 }
            let waiting = queued
            queued = []
            track(watched, channel)
            for request in waiting { write(request, channel) }
            report(self, .connected)
            if isClustered { sendHeartbeat(channel) } else { heard(nil) }
        }
    }

    /// Closes lost connections at the server, so that their data isn't executed after new requests. Without the right to `CLIENT KILL`
    /// only the reset of the socket prevents that.
    private func killLost(_ channel: any Channel) {
        let number = lost.count
        guard number > 0 else { return }
        let commands = lost.map { RESPCommand("CLIENT", "KILL", "ID", $0.id, "ADDR", $0.address) }
        ask(commands, channel) { [self] _ in lost.removeFirst(min(number, lost.count)) }
    }

    /// Closes the connection, or ends the attempt to open it, and reconnects after a pause.
    private func lose(_ reason: String, next: State = .paused) {
        if case .stopped = state { return }
        if case .paused = state, case .paused = next { return }
        let former = state
        let reason = reason + suspicion
        state = next
        trouble = reason
        isSound = false
        epoch = 0
        figures.withLock { $0.failures += 1 }
        covered = []
        tracked = []
        let (unanswered, unsent) = (connection.requests, queued)
        connection = RESPConnection()
        queued = []
        if let identity { lost = lost.suffix(15) + [identity] }
        identity = nil
        if let channel = former.channel {
            // A reset discards unsent data, which must not be sent later.
            _ = (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
            channel.close(promise: nil)
        }
        // Listeners are notified of the loss before the requests fail.
        report(self, .lost)
        for request in unanswered { request.then?(.failure(.unanswered(tier: name, reason: reason))) }
        for request in unsent { refuse(request) }
        guard case .paused = next else { return }
        loop.scheduleTask(in: pause()) { [weak self] in self?.connect() }
    }

    /// A hint for a server that doesn't answer the first request: it may expect TLS, or not.
    private var suspicion: String {
        guard case .loggingIn = state, !connection.hasAnswered, !isExplained else { return "" }
        return address.usesTLS
            ? " (if \(address.host):\(address.port) has no TLS, write valkey://)"
            : " (if \(address.host):\(address.port) expects TLS, write valkeys://)"
    }

    /// Randomized exponential backoff.
    private func pause() -> TimeAmount {
        failedAttempts += 1
        let longest = min(options.longestPause, .milliseconds(50) * (1 << min(failedAttempts - 1, 16)))
        return .nanoseconds(Int64.random(in: 1_000_000...max(1_000_000, TimeAmount(longest).nanoseconds)))
    }

    fileprivate func isCurrent(_ channel: any Channel) -> Bool { state.channel === channel }

    fileprivate func end(_ channel: any Channel, _ reason: String) {
        if isCurrent(channel) { lose(reason) }
    }

    fileprivate func caught(_ error: any Error, _ context: ChannelHandlerContext) {
        guard isCurrent(context.channel) else { return }
        let reason = address.usesTLS ? options.tls.reason(of: error, context, address) : nil
        isExplained = reason != nil
        end(context.channel, reason ?? ValkeySession.reason(error))
    }
}

extension Sequence<RESPValue> {
    fileprivate var firstError: String? { lazy.compactMap(\.error).first { _ in true } }
}

private final class ReplyHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let session: ValkeySession

    init(_ session: ValkeySession) { self.session = session }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        session.received(unwrapInboundIn(data).readableBytesView, context.channel)
    }

    func channelInactive(context: ChannelHandlerContext) {
        session.end(context.channel, "the connection was closed")
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { session.caught(error, context) }
}
#endif
