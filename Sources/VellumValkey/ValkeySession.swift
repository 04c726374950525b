#if Valkey
import NIOCore
import NIOPosix
import StorageEngine
import ValkeyWire
import VellumRemote

/// The connection to a server, which is made again when it is lost. Belongs to the event loop, with all its fields.
final class ValkeySession: @unchecked Sendable {
    enum Event {
        case connected
        case lost
        /// It has said what it is (``ValkeySession/isSound``, ``ValkeySession/epoch``).
        case heard
    }

    let name: String
    let address: ValkeyAddress
    private let options: ValkeyTier.Options
    private let loop: any EventLoop

    private enum State {
        /// Requests wait for it.
        case connecting
        case loggingIn(any Channel)
        case connected(any Channel)
        /// Until the next attempt. Requests are refused, so that nobody waits for a server that is gone.
        case paused
        case stopped

        var channel: (any Channel)? {
            switch self {
            case .loggingIn(let channel), .connected(let channel): channel
            case .connecting, .paused, .stopped: nil
            }
        }
    }

    private struct Request: Sendable {
        /// How many replies belong to it.
        let count: Int
        var replies: [RESPValue] = []
        let bytes: [UInt8]
        var began = NIODeadline.now()
        /// Whether the session asks it by itself, and looks for errors among the replies.
        var isOwn = false
        /// `nil` once it has timed out.
        var then: (@Sendable (Result<[RESPValue], RemoteError>) -> Void)?
    }

    private struct Watch {
        let prefix: [UInt8]
        let listener: any RemoteListener
        var isCovered = false
    }

    private var state = State.connecting
    /// Sent, in the order of their replies.
    private var sent = CircularBuffer<Request>()
    private var queued: [Request] = []
    private var watches: [ObjectIdentifier: Watch] = [:]
    /// Prefixes that the server tracks for this connection. It can't be told to forget one.
    private var tracked: Set<[UInt8]> = []
    private var failedAttempts = 0
    /// The connection's number at the server, and its address: both, because servers count anew when started.
    private var connection: (number: Int64, address: String)?
    /// Lost connections of which the server may get more, now or when the network works again.
    private var lost: [(number: Int64, address: String)] = []
    private var isAnswered = false
    /// Whether the reason of its end says what TLS had to do with it.
    private var isExplained = false
    /// When the last answered request was sent. All changes before it are known, because the server tells of them first.
    private var confirmed = NIODeadline.now()
    /// When the server was last asked what it is.
    private var asked = NIODeadline.now()
    private var isFlushDue = false
    private(set) var isClustered = false
    private var role = ""
    /// Whether what it tells of changes is all there is: it is no replica, and its cluster works as it sees it.
    private(set) var isSound = false
    /// The newest change of the cluster that it knows of: a server that the others have replaced is behind them.
    private(set) var epoch: Int64 = 0
    private var timer: RepeatedTask?

    /// Those of all servers of a tier, for any thread.
    private let figures: ValkeyFigures
    /// Why there is no connection.
    private(set) var trouble: String?
    private let report: (ValkeySession, Event) -> Void

    init(
        _ address: ValkeyAddress, _ name: String, _ options: ValkeyTier.Options, on loop: any EventLoop,
        _ figures: ValkeyFigures, report: @escaping (ValkeySession, Event) -> Void
    ) {
        self.address = address
        self.name = name
        self.options = options
        self.loop = loop
        self.figures = figures
        self.report = report
    }

    func start() {
        let pause = TimeAmount(options.timeout / 20)
        timer = loop.scheduleRepeatedTask(initialDelay: pause, delay: pause) { [weak self] _ in self?.tick() }
        connect()
    }

    func stop() {
        timer?.cancel()
        lose("the tier was released", for: .stopped)
    }

    /// What waits for an answer gets none.
    func startAnew() {
        let unsent = queued
        queued = []
        if state.channel != nil { lose("it has none of its cluster's keys any more", for: .paused) }
        for request in unsent { refuse(request) }
    }

    /// Tells the listener of changes of keys that begin with these bytes.
    func watch(_ prefix: [UInt8], _ listener: any RemoteListener) {
        watches[ObjectIdentifier(listener)] = Watch(prefix: prefix, listener: listener)
        if case .connected(let channel) = state { track([prefix], channel) }
    }

    func unwatch(_ listener: any RemoteListener) {
        watches[ObjectIdentifier(listener)] = nil
        guard watches.isEmpty, case .connected(let channel) = state else { return }
        tracked = []
        ask([RESPCommand("CLIENT", "TRACKING", "OFF")], channel) { _ in }
    }

    /// Sends commands, and calls `then` with their replies; the first error makes a failure, though others were carried out.
    func send(
        _ bytes: [UInt8], count: Int, began: NIODeadline = .now(),
        _ then: @escaping @Sendable (Result<[RESPValue], RemoteError>) -> Void
    ) {
        let request = Request(count: count, bytes: bytes, began: began, then: then)
        switch state {
        case .connected(let channel): write(request, channel)
        // Nobody waits for a server that several attempts in a row didn't reach.
        case .connecting, .loggingIn:
            if failedAttempts < 2 { queued.append(request) } else { refuse(request) }
        case .paused, .stopped: refuse(request)
        }
    }

    var isUnreachable: Bool { failedAttempts > 1 && !isConnected }

    var isConnected: Bool { if case .connected = state { true } else { false } }

    // MARK: Requests

    private func write(_ request: Request, _ channel: any Channel) {
        figures.withLock { $0.requests += 1 }
        channel.write(channel.allocator.buffer(bytes: request.bytes), promise: nil)
        sent.append(
            Request(
                count: request.count, bytes: [], began: request.began, isOwn: request.isOwn,
                then: request.then))
        guard !isFlushDue else { return }
        isFlushDue = true
        // What others send meanwhile goes with it.
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

    fileprivate func received(_ value: RESPValue) {
        isAnswered = true
        if case .push(let parts) = value { return told(parts) }
        guard !sent.isEmpty else { return lose("it sent a reply that nobody asked for", for: .paused) }
        sent[sent.startIndex].replies.append(value)
        guard sent[sent.startIndex].replies.count == sent[sent.startIndex].count else { return }
        let request = sent.removeFirst()
        confirmed = max(confirmed, request.began)
        guard let then = request.then else { return }
        if !request.isOwn, let message = ValkeySession.error(in: request.replies) {
            figures.withLock { $0.refusals += 1 }
            return then(.failure(.refused(tier: name, message: message)))
        }
        then(.success(request.replies))
    }

    private static func error(in replies: some Sequence<RESPValue>) -> String? {
        for case .error(let message) in replies { return message }
        return nil
    }

    /// Twenty times in the time-out.
    private func tick() {
        let now = NIODeadline.now()
        let timeout = TimeAmount(options.timeout)
        var isLate = false
        for place in sent.indices {
            // Not in the order of their beginnings: some were sent elsewhere first.
            guard now - sent[place].began > timeout, let then = sent[place].then else { continue }
            // Its own requests have the connection's limit only. But in a cluster, only another server tells of a replacement.
            guard !sent[place].isOwn else {
                isLate = isLate || isClustered
                continue
            }
            sent[place].then = nil
            figures.withLock { $0.timeouts += 1 }
            then(.failure(.unanswered(tier: name, reason: "no answer within \(options.timeout)")))
        }
        let late = queued.filter { now - $0.began > timeout }
        queued.removeAll { now - $0.began > timeout }
        for request in late { refuse(request) }
        guard let channel = state.channel else { return }
        let longest = options.heartbeat + options.timeout
        if isLate || now - confirmed > TimeAmount(longest) {
            lose("what was sent \(isLate ? options.timeout : longest) ago is not answered", for: .paused)
        } else if case .connected = state, now - asked >= TimeAmount(options.heartbeat) {
            askWhatItIs(channel)
        }
    }

    /// `then` looks for errors itself. It isn't called if the connection is lost.
    private func ask(
        _ commands: [RESPCommand], _ channel: any Channel, _ then: @escaping @Sendable ([RESPValue]) -> Void
    ) {
        var bytes: [UInt8] = []
        for command in commands { command.encode(into: &bytes) }
        let request = Request(count: commands.count, bytes: bytes, isOwn: true) {
            if case .success(let replies) = $0 { then(replies) }
        }
        write(request, channel)
    }

    // MARK: What the server is

    /// The heartbeat. A server that the others of its cluster have replaced would answer a `PING` for ever.
    private func askWhatItIs(_ channel: any Channel) {
        asked = .now()
        var commands = [RESPCommand("HELLO", "3")]
        if isClustered { commands.append(RESPCommand("CLUSTER", "INFO")) }
        ask(commands, channel) { [self] replies in
            let present = ValkeySession.field("role", of: replies[0]) ?? role
            guard present == role else { return lose("it was \(role), and is \(present) now", for: .paused) }
            heard(replies.dropFirst().first)
        }
    }

    private func heard(_ cluster: RESPValue?) {
        if isClustered {
            let facts = ValkeySession.ClusterFacts(cluster)
            epoch = facts.epoch
            trouble = facts.trouble
        }
        if role == "slave" || role == "replica" {
            trouble = "it is a replica, which learns of changes later than others"
        }
        isSound = trouble == nil
        report(self, .heard)
    }

    struct ClusterFacts {
        var epoch: Int64 = 0
        var trouble: String?

        init(_ reply: RESPValue?) {
            if case .error(let message)? = reply {
                trouble = "it doesn't say how its cluster is: \(message)"
                return
            }
            for line in (reply?.text ?? "").split(whereSeparator: \.isNewline) {
                let parts = line.split(separator: ":", maxSplits: 1)
                guard parts.count == 2 else { continue }
                if parts[0] == "cluster_current_epoch" { epoch = Int64(parts[1]) ?? 0 }
                if parts[0] == "cluster_state", parts[1] != "ok" {
                    trouble = "its cluster doesn't work: \(parts[1])"
                }
            }
        }
    }

    // MARK: Changes by others

    private func told(_ parts: [RESPValue]) {
        guard parts.first?.text == "invalidate", parts.count >= 2 else { return }
        guard let keys = parts[1].elements else {
            for watch in watches.values { watch.listener.changedAll() }
            return
        }
        figures.withLock { $0.invalidations += keys.count }
        for case .bytes(let key) in keys {
            for watch in watches.values where key.starts(with: watch.prefix) {
                // A key that isn't UTF-8 is none of this library.
                guard let name = String(validating: key.dropFirst(watch.prefix.count), as: UTF8.self)
                else { continue }
                watch.listener.changed(name)
            }
        }
    }

    /// Asks to be told of changes, and says so to the archives once that is promised.
    private func track(_ prefixes: Set<[UInt8]>, _ channel: any Channel) {
        let new = prefixes.subtracting(tracked)
        tracked.formUnion(new)
        var command = RESPCommand("CLIENT", "TRACKING", "ON", "BCAST", "NOLOOP")
        for prefix in new { command = command + "PREFIX" + prefix }
        // Without a new prefix, the answer to anything says that it is tracked.
        ask([new.isEmpty ? RESPCommand("PING") : command], channel) { [self] replies in
            if let message = ValkeySession.error(in: replies) {
                return lose("it doesn't tell of changes: \(message)", for: .paused)
            }
            for (place, watch) in watches where prefixes.contains(watch.prefix) && !watch.isCovered {
                watches[place]?.isCovered = true
                watch.listener.isCovered()
            }
        }
    }

    // MARK: Connecting

    private func connect() {
        if case .stopped = state { return }
        state = .connecting
        let bootstrap = ClientBootstrap(group: loop)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.maxMessagesPerRead, value: 16)
            .connectTimeout(TimeAmount(options.timeout))
            .channelInitializer { [self] channel in
                channel.eventLoop.makeCompletedFuture {
                    if address.usesTLS { try options.tls.secure(channel, to: address.host) }
                    try channel.pipeline.syncOperations.addHandler(ReplyHandler(self))
                }
            }
        bootstrap.connect(host: address.host, port: address.port).hop(to: loop).whenComplete {
            [self] result in
            switch result {
            case .success(let channel): logIn(channel)
            case .failure(let error): fail("\(ValkeySession.reason(error))")
            }
        }
    }

    static func reason(_ error: any Error) -> String {
        if let error = error as? NIOConnectionError {
            let failures = error.connectionErrors.map { reason($0.error) }
            return failures.first ?? "the name of the host isn't known"
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
        (isAnswered, isExplained) = (false, false)
        state = .loggingIn(channel)
        var hello = RESPCommand("HELLO", "3")
        if let password = address.password { hello = hello + "AUTH" + (address.user ?? "default") + password }
        var commands = [hello + "SETNAME" + "vellum"]
        if address.database != 0 { commands.append(RESPCommand("SELECT", "\(address.database)")) }
        ask(commands + [RESPCommand("CLIENT", "INFO")], channel) { [self] replies in
            guard case .loggingIn(let present) = state, present === channel else { return }
            if let message = ValkeySession.error(in: replies.dropLast()) {
                return lose(refusal(message), for: .paused)
            }
            connection = ValkeySession.connection(replies.last?.text)
            forgetLost(channel)
            isClustered = ValkeySession.field("mode", of: replies[0]) == "cluster"
            role = ValkeySession.field("role", of: replies[0]) ?? ""
            state = .connected(channel)
            failedAttempts = 0
            trouble = nil
            figures.withLock { $0.connections += 1 }
            let waiting = queued
            queued = []
            track(Set(watches.values.map(\.prefix)), channel)
            for request in waiting { write(request, channel) }
            report(self, .connected)
            if isClustered { askWhatItIs(channel) } else { heard(nil) }
        }
    }

    /// What a former connection sent must not come behind what is sent now; without this right only the closed socket helps.
    private func forgetLost(_ channel: any Channel) {
        let number = lost.count
        guard number > 0 else { return }
        let commands = lost.map { RESPCommand("CLIENT", "KILL", "ID", "\($0.number)", "ADDR", $0.address) }
        ask(commands, channel) { [self] _ in lost.removeFirst(min(number, lost.count)) }
    }

    private static func connection(_ facts: String?) -> (number: Int64, address: String)? {
        var fields: [Substring: Substring] = [:]
        for fact in (facts ?? "").split(whereSeparator: \.isWhitespace) {
            let parts = fact.split(separator: "=", maxSplits: 1)
            if parts.count == 2 { fields[parts[0]] = parts[1] }
        }
        guard let number = fields["id"].flatMap({ Int64($0) }), let address = fields["addr"] else {
            return nil
        }
        return (number, String(address))
    }

    private func refusal(_ message: String) -> String {
        "\(name) refuses: "
            + (message.contains("unknown command")
                ? "it doesn't know protocol 3, which version 6 or later does"
                : LogIn.reason(message, without: address.password))
    }

    /// Of the reply to `HELLO`.
    private static func field(_ name: String, of hello: RESPValue) -> String? {
        let parts = hello.elements ?? []
        guard let place = parts.firstIndex(where: { $0.text == name }), place + 1 < parts.count else {
            return nil
        }
        return parts[place + 1].text
    }

    private func fail(_ reason: String) {
        if case .stopped = state { return }
        lose(reason, for: .paused)
    }

    /// Ends the connection, or the attempt to make one, and begins another after a pause.
    private func lose(_ reason: String, for next: State) {
        if case .stopped = state { return }
        if case .paused = state, case .paused = next { return }
        let former = state
        let reason = reason + suspicion
        state = next
        trouble = reason
        isSound = false
        epoch = 0
        figures.withLock { $0.failures += 1 }
        for (place, watch) in watches where watch.isCovered {
            watches[place]?.isCovered = false
            watch.listener.isUncovered()
        }
        tracked = []
        let unanswered = sent
        let unsent = queued
        sent.removeAll()
        queued = []
        if let connection { lost = lost.suffix(15) + [connection] }
        connection = nil
        if let channel = former.channel {
            // What the kernel hasn't sent yet must not be sent when the network works again.
            _ = (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
            channel.close(promise: nil)
        }
        for request in unanswered { request.then?(.failure(.unanswered(tier: name, reason: reason))) }
        for request in unsent { refuse(request) }
        report(self, .lost)
        guard case .paused = next else { return }
        loop.scheduleTask(in: pause()) { [weak self] in self?.connect() }
    }

    /// What a connection of the other kind meets: silence, bytes that are no answer, or an end.
    private var suspicion: String {
        guard case .loggingIn = state, !isAnswered, !isExplained else { return "" }
        return address.usesTLS
            ? " (if \(address.host):\(address.port) has no TLS, write valkey://)"
            : " (if \(address.host):\(address.port) expects TLS, write valkeys://)"
    }

    /// A random time, so that those that lost one server don't all come back at the same moment. Up to twice as long each time.
    private func pause() -> TimeAmount {
        failedAttempts += 1
        let longest = min(options.longestPause, .milliseconds(50) * (1 << min(failedAttempts - 1, 16)))
        return .nanoseconds(Int64.random(in: 1_000_000...max(1_000_000, TimeAmount(longest).nanoseconds)))
    }

    fileprivate func isCurrent(_ channel: any Channel) -> Bool { state.channel === channel }

    fileprivate func end(_ channel: any Channel, _ reason: String) {
        if isCurrent(channel) { lose(reason, for: .paused) }
    }

    fileprivate func caught(_ error: any Error, _ context: ChannelHandlerContext) {
        guard isCurrent(context.channel) else { return }
        let reason = address.usesTLS ? options.tls.reason(of: error, context, address) : nil
        isExplained = reason != nil
        end(context.channel, reason ?? ValkeySession.reason(error))
    }
}

/// What all connections of a tier have done. Safe from any thread.
final class ValkeyFigures: Sendable {
    private let health = Guarded(RemoteHealth())

    func withLock<Result: Sendable>(_ body: (inout RemoteHealth) -> Result) -> Result {
        health.withLock { body(&$0) }
    }
}

private final class ReplyHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let session: ValkeySession
    private var decoder = RESPDecoder()

    init(_ session: ValkeySession) { self.session = session }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        decoder.append(unwrapInboundIn(data).readableBytesView)
        do {
            while let value = try decoder.next() {
                guard session.isCurrent(context.channel) else { return }
                session.received(value)
            }
        } catch {
            session.end(context.channel, "\(error)")
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        session.end(context.channel, "the connection was closed")
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        session.caught(error, context)
    }
}
#endif
