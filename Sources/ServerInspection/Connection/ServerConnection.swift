import StorageEngine
import StoreInspection
import SystemC
import ValkeyWire

/// A connection to a Valkey or Redis server for one request at a time. Calls wait at most ``seconds`` for a byte, and ten times
/// that for all replies. After a lost connection, reads are repeated on a new one, changes aren't. Safe from any thread.
package final class ServerConnection: Sendable {
    package let address: ServerAddress
    private let seconds: Int
    private let staysWithServer: Bool
    /// Allowed number of successive scan replies without a new element, for a table that the server doesn't shrink
    /// (``ScanProgress``).
    let idleReplies: Int
    private let state = Guarded(State())
    let values = Guarded(())

    private struct State {
        var link: Link?
        /// The server's properties; nil until the first connection.
        var capabilities: ServerCapabilities?
        /// Estimated seconds that the server took for all replies: the time of each minus ``shortest``, the network's time.
        var served = 0.0
        var shortest = Double.infinity
        var links = 0
        /// Number of times that a new connection reached another server.
        var switches = 0
        var load: Load?

        mutating func note(_ seconds: Double) {
            // The server takes at least some 10 microseconds for a reply.
            shortest = min(shortest, seconds)
            served += seconds - shortest + 10e-6
        }
    }

    private struct Load {
        var moment: ContinuousClock.Instant
        /// Commands that the server has processed: all, and those of this process.
        var total: UInt64
        var own: UInt64
        var isBusy: Bool
    }

    /// Commands a second of other clients above which a server is busy.
    private static let busy = 50.0

    /// Whether other clients send more than ``busy`` commands a second, or that is unknown. Cached for a quarter of a second.
    private func isUsedByOthers() -> Bool {
        let now = ContinuousClock.now
        let (known, run) = state.withLock { ($0.load, $0.capabilities?.run ?? "") }
        if let known, now - known.moment < .milliseconds(250) { return known.isBusy }
        let own = OwnLookups.commands(in: run)
        // A new connection would lose the watched keys.
        let reply = try? exchange(
            [RESPCommand("INFO", "stats")], in: nil, isRepeatable: false, isContinued: true)
        let info = reply.map { RESPFields(lines: $0[0]) }
        let total = info?.number("total_commands_processed") ?? 0
        var rate = info?.number("instantaneous_ops_per_sec").map { Double($0) }
        // The server's rate includes own commands of the last seconds; the difference of totals doesn't.
        if let known, now - known.moment < .seconds(10), total >= known.total, rate != nil {
            let others = Double(total - known.total) - (Double(own) - Double(known.own))
            rate = others / ((now - known.moment) / .seconds(1))
        }
        let isBusy = rate.map { $0 > ServerConnection.busy } ?? true
        state.withLock { $0.load = Load(moment: now, total: total, own: own, isBusy: isBusy) }
        return isBusy
    }

    /// Performs one of many requests. While other clients use the server, then waits a hundred times as long as the server took, to
    /// limit its load; at most 20 ms, because longer replies are due to the network or a stopped server. Doesn't wait if the
    /// address has the pace `full`.
    package func paced<Answer>(
        _ request: @autoclosure () throws(SourceError) -> Answer
    ) throws(SourceError) -> Answer {
        let before = state.withLock { $0.served }
        let reply = try request()
        if address.isUnpaced { return reply }
        let seconds = state.withLock { $0.served } - before
        if isUsedByOthers() { usleep(UInt32(min(0.02, seconds * 100) * 1_000_000)) }
        return reply
    }

    /// Factor by which requests are larger than the smallest step: ten, about a millisecond of the server's time, if the pace is
    /// `full` or the last paced request found no other clients. Larger requests need fewer network round trips.
    var stepFactor: Int {
        let isIdle = state.withLock { state in
            state.load.map { !$0.isBusy && ContinuousClock.now - $0.moment < .seconds(2) } ?? false
        }
        return address.isUnpaced || isIdle ? 10 : 1
    }

    /// - Parameter staysWithServer: fails instead of continuing with another server at the same address, such as after a failover.
    package init(
        _ address: ServerAddress, seconds: Int = 5, staysWithServer: Bool = false,
        idleReplies: Int = 100_000
    ) {
        (self.address, self.seconds, self.staysWithServer) = (address, seconds, staysWithServer)
        self.idleReplies = idleReplies
    }

    /// Updates the capabilities: a server's policy may have changed.
    func note(_ info: RESPFields) {
        state.withLock { state in
            // Another request may have connected to another server since.
            guard let known = state.capabilities, known.run == info["run_id"] ?? "" else { return }
            state.capabilities = ServerCapabilities(info: info, keepsIdleTimes: known.keepsIdleTimes)
        }
    }

    /// Connects if necessary.
    package func capabilities() throws(SourceError) -> ServerCapabilities {
        try state.withLock { (state) throws(SourceError) in
            if let capabilities = state.capabilities { return capabilities }
            return try link(&state).capabilities
        }
    }

    var linkNumber: Int { state.withLock { $0.links } }

    /// Identifies the server in use by the number of changes to another one. Connects if necessary.
    package func serverNumber() throws(SourceError) -> Int {
        try state.withLock { (state) throws(SourceError) in
            _ = try link(&state)
            return state.switches
        }
    }

    /// Throws if another server at the same address has answered since ``serverNumber()`` was `number`.
    func requireServer(_ number: Int) throws(SourceError) {
        guard try serverNumber() == number else { throw anotherServer }
    }

    /// Returns the server's capabilities; throws if it isn't this run of the server (nil: any).
    @discardableResult func requireRun(_ run: String?) throws(SourceError) -> ServerCapabilities {
        let capabilities = try capabilities()
        guard run == nil || run == capabilities.run else { throw anotherServer }
        return capabilities
    }

    var anotherServer: SourceError { SourceError("another server answered at \(address); try again") }

    /// Returns the replies to read-only commands, in their order, with the server's errors among them.
    package func ask(_ commands: [RESPCommand], in database: Int? = nil) throws(SourceError) -> [RESPValue] {
        try exchange(commands, in: database, isRepeatable: true)
    }

    /// Returns the reply to a read-only command.
    /// - Throws: also an error of the server.
    package func ask(_ command: RESPCommand, in database: Int? = nil) throws(SourceError) -> RESPValue {
        try accepted(ask([command], in: database)[0], to: command)
    }

    /// Returns the replies to commands that change something. A command without a reply may have been executed.
    /// - Parameter isContinued: fails instead of opening a new connection, for commands that depend on earlier ones.
    package func change(
        _ commands: [RESPCommand], in database: Int, isContinued: Bool = false
    ) throws(SourceError) -> [RESPValue] {
        try exchange(commands, in: database, isRepeatable: false, isContinued: isContinued)
    }

    @discardableResult
    package func accepted(_ reply: RESPValue, to command: RESPCommand) throws(SourceError) -> RESPValue {
        guard let message = reply.error else { return reply }
        throw SourceError("\(address) refuses \(command.name): \(message)", refusal: message)
    }

    /// Throws the first error among the replies.
    func accept(
        _ replies: some Sequence<RESPValue>, to commands: some Sequence<RESPCommand>,
        except isAllowed: (String) -> Bool = { _ in false }
    ) throws(SourceError) {
        for (command, reply) in zip(commands, replies) where !(reply.error.map(isAllowed) ?? false) {
            try accepted(reply, to: command)
        }
    }

    /// Returns the results of commands from the replies to `MULTI`, the commands and `EXEC`. Nil: a watched key was changed, and
    /// nothing was executed. Closes a connection on which the transaction hasn't ended.
    func results(of commands: [RESPCommand], in replies: [RESPValue]) throws(SourceError) -> [RESPValue]? {
        let (isBegun, end) = (replies[0] == .status("OK"), replies[replies.count - 1])
        if let message = end.error {
            // The next commands would be queued.
            if isBegun, !message.hasPrefix("EXECABORT") { close() }
            try accept(replies, to: [RESPCommand("MULTI")] + commands + [RESPCommand("EXEC")])
        }
        guard isBegun, replies.dropFirst().dropLast().allSatisfy({ $0 == .status("QUEUED") }) else {
            throw invalidReply(to: "MULTI")
        }
        if end == .null { return nil }
        guard case .array(let results) = end, results.count == commands.count else {
            throw invalidReply(to: "EXEC")
        }
        return results
    }

    /// Whether a server refused a command because of its keys, and may execute it for other keys: another node has the keys, the
    /// user has no permission for them, or no node serves their slot. The server has executed nothing. For a missing key
    /// permission, `NOPERM` contains one of two phrases, which no name of a user or command contains. Other `NOPERM` errors
    /// concern the command for all keys.
    package static func concernsKeys(_ refusal: String?) -> Bool {
        guard let refusal else { return false }
        return ["MOVED ", "ASK ", "CROSSSLOT ", "TRYAGAIN ", "CLUSTERDOWN Hash slot not served"].contains(
            where: refusal.hasPrefix)
            || refusal.hasPrefix("NOPERM ")
                && [" to access a key", " to access one of the keys"].contains { refusal.contains($0) }
    }

    /// Closes the connection; the next request opens another.
    package func close() { state.withLock { $0.link = nil } }

    /// Closes the connection: its next replies may be wrong, too.
    func invalidReply(to name: String) -> SourceError {
        close()
        return SourceError("\(address) sent an invalid reply to \(name)")
    }

    private func exchange(
        _ commands: [RESPCommand], in database: Int?, isRepeatable: Bool, isContinued: Bool = false
    ) throws(SourceError) -> [RESPValue] {
        if commands.isEmpty { return [] }
        return try state.withLock { (state) throws(SourceError) in
            if isContinued, state.link == nil {
                throw SourceError("\(address) doesn't answer: the connection was lost")
            }
            var mayFail = isRepeatable && state.link != nil
            while true {
                let link = try self.link(&state)
                let start = ContinuousClock.now
                defer { state.note((ContinuousClock.now - start) / .seconds(1)) }
                let refusal: String?
                do throws(RESPError) {
                    refusal = try link.select(database)
                    if refusal == nil { return try link.exchange(commands) }
                } catch {
                    state.link = nil
                    if !mayFail { throw SourceError("\(address) doesn't answer: \(error)") }
                    mayFail = false
                    continue
                }
                throw SourceError("\(address) refuses the database \(database ?? 0): \(refusal ?? "")")
            }
        }
    }

    /// Whether the server is proved to run on this machine: it reports this connection's local endpoint, which it doesn't behind a
    /// tunnel or a proxy. False with TLS, and if the user has no permission for `CLIENT`.
    package func isOnThisMachine() throws(SourceError) -> Bool {
        guard address.isLocal else { return false }
        var reply = try ask([RESPCommand("CLIENT", "INFO")])[0]
        // Servers before version 6.2 have no CLIENT INFO.
        if reply.error != nil { reply = try ask([RESPCommand("CLIENT", "LIST")])[0] }
        guard let name = state.withLock({ $0.link?.localName }) else { return false }
        // A server that listens on IPv6 may write IPv4 addresses in this form.
        func plain(_ name: some StringProtocol) -> String {
            String(name.filter { $0 != "[" && $0 != "]" }).replacing("::ffff:", with: "")
        }
        return RESPFields(reply.shownText, with: "=").all.contains {
            $0.name == "addr" && plain($0.value) == plain(name)
        }
    }

    private func link(_ state: inout sending State) throws(SourceError) -> Link {
        if let link = state.link { return link }
        let link: Link
        do throws(RESPError) {
            link = try Link(address, seconds: seconds)
        } catch {
            throw SourceError("\(address) can't be reached: \(error)")
        }
        // Without a run ID, any new connection may be to another server.
        if let run = state.capabilities?.run, run.isEmpty || run != link.capabilities.run {
            if staysWithServer { throw anotherServer }
            state.switches += 1
        }
        (state.link, state.capabilities) = (link, link.capabilities)
        state.shortest = .infinity
        state.links += 1
        return link
    }
}

/// A connection after its login. Only used under the lock of ``ServerConnection``.
private final class Link: @unchecked Sendable {
    private let transport: any RESPTransport
    private let seconds: Int
    private var state = RESPConnection<Void>()
    private var database = 0
    private var lookups = OwnLookups()
    /// Whether the latest `MULTI` has neither an `EXEC` nor a `DISCARD` behind it.
    private var isInTransaction = false
    private(set) var capabilities = ServerCapabilities()
    var localName: String? { transport.localName }

    init(_ address: ServerAddress, seconds: Int) throws(RESPError) {
        self.seconds = seconds
        transport =
            address.isSecure
            ? try SecureConnections.opened(address, seconds: seconds)
            : try ServerSocket(to: address.host, port: address.port, seconds: seconds)
        try logIn(LogIn(user: address.user, password: address.password, name: "vellum-browser"))
        let replies = try exchange([RESPCommand("CLIENT", "NO-TOUCH", "ON"), RESPCommand("INFO")])
        // Without permission, the capabilities stay unknown. A busy server is an error, because its capabilities would look unknown, too.
        if let message = replies[1].error, !message.hasPrefix("NOPERM") { throw RESPError(message) }
        capabilities = ServerCapabilities(
            info: RESPFields(lines: replies[1]), keepsIdleTimes: replies[0] == .status("OK"))
    }

    private func logIn(_ logIn: LogIn) throws(RESPError) {
        var reply = try exchange([logIn.hello])[0]
        if let message = reply.error, LogIn.isUnknown(message) {
            let commands = (logIn.hasCredentials ? [logIn.auth] : []) + [logIn.setName]
            // If the name is refused, only the list of clients lacks it.
            reply = try exchange(commands).dropLast().first ?? .status("OK")
        }
        guard let message = reply.error else { return }
        throw RESPError(
            !logIn.hasCredentials && message.hasPrefix("NOAUTH")
                ? "it requires a password: set VALKEYCLI_AUTH, or put user:password@ before the host"
                : "it refuses: \(logIn.reason(message))")
    }

    /// Selects the database of the next commands. Returns the server's refusal; nil: selected.
    func select(_ database: Int?) throws(RESPError) -> String? {
        guard let database, database != self.database else { return nil }
        let reply = try exchange([RESPCommand("SELECT", "\(database)")])[0]
        if let message = reply.error { return message }
        guard reply == .status("OK") else { throw RESPError("it sent an invalid reply to SELECT") }
        self.database = database
        return nil
    }

    func exchange(_ commands: [RESPCommand]) throws(RESPError) -> [RESPValue] {
        guard !commands.isEmpty else { return [] }
        // A reply that arrived before is an error, not the reply to these commands. The server pushes no messages on this
        // connection, so a part of one is an error, too.
        state.received(try transport.available())
        while try state.next() != nil {}
        if state.isWithinValue { throw RESPError("it sent a reply without a request") }
        state.expectReplies(to: (), count: commands.count)
        try transport.send(commands.encoded)
        let replies = try receive()
        for (command, reply) in zip(commands, replies) {
            try checkQueued(command, reply)
            lookups.note(command, reply)
        }
        if !capabilities.run.isEmpty {
            OwnLookups.add(lookups, in: capabilities.run)
            lookups = OwnLookups()
        }
        return replies
    }

    /// Throws if the server queues a command outside of a transaction: it didn't end the latest one.
    private func checkQueued(_ command: RESPCommand, _ reply: RESPValue) throws(RESPError) {
        if ["MULTI", "EXEC", "DISCARD"].contains(command.name) {
            isInTransaction = command.name == "MULTI" && reply.error == nil
        } else if reply == .status("QUEUED"), !isInTransaction {
            throw RESPError("it queued \(command.name) outside of a transaction")
        }
    }

    private func receive() throws(RESPError) -> [RESPValue] {
        let start = ContinuousClock.now
        while ContinuousClock.now - start < .seconds(10 * seconds) {
            switch try state.next() {
            case .replies(let replies, _)?: return replies
            case .push?: continue
            case nil: state.received(try transport.receive())
            }
        }
        throw RESPError("no complete reply within \(10 * seconds) s")
    }
}

/// The properties of a server that reads and changes depend on.
package struct ServerCapabilities: Sendable, Hashable {
    /// `Valkey 8.0.1`, `Redis 7.0.15`.
    package private(set) var product = "server"
    /// Whether reading a value leaves its key's idle time unchanged (`CLIENT NO-TOUCH`, since version 7.2).
    package private(set) var keepsIdleTimes = false
    /// Whether it is a node of a cluster, with only a part of the keys.
    package private(set) var isClustered = false

    /// The run ID, which changes at a restart; empty: unknown.
    package private(set) var run = ""
    /// Whether it has `PEXPIRETIME` (since version 7).
    package private(set) var reportsExpiryTimes = false
    /// Whether `SET` has `KEEPTTL` (since version 6).
    private(set) var keepsExpiryTimes = false
    /// Whether it evicts keys when it is full; true if unknown.
    package private(set) var evicts = true
    /// Whether it counts accesses to keys (an LFU policy) instead of recording their times.
    package private(set) var countsUses = false

    fileprivate init() {}

    fileprivate init(info: RESPFields, keepsIdleTimes: Bool) {
        self.keepsIdleTimes = keepsIdleTimes
        product =
            info["valkey_version"].map { "Valkey \($0)" } ?? info["redis_version"].map { "Redis \($0)" }
            ?? product
        run = info["run_id"] ?? ""
        let version = info["redis_version"]?.split(separator: ".").first.flatMap { Int($0) }
        reportsExpiryTimes = version.map { $0 >= 7 } ?? false
        keepsExpiryTimes = version.map { $0 >= 6 } ?? false
        countsUses = info["maxmemory_policy"]?.contains("lfu") ?? false
        evicts = info["maxmemory"] != "0" && info["maxmemory_policy"] != "noeviction"
        isClustered = (info["redis_mode"] ?? info["server_mode"]) == "cluster"
    }
}

extension Collection {
    /// The first elements up to a number and a sum of bytes; at least one.
    func prefix(_ most: Int, bytes limit: Int, _ size: (Element) -> Int) -> SubSequence {
        var (count, bytes) = (0, 0)
        return prefix {
            (count, bytes) = (count + 1, bytes + size($0))
            return count == 1 || count <= most && bytes <= limit
        }
    }
}

extension RESPValue {
    /// The reply to `TIME` in milliseconds since 1970.
    var milliseconds: Int64? {
        guard let parts = elements, parts.count == 2, let seconds = parts[0].number,
            let microseconds = parts[1].number, (0..<1 << 40).contains(seconds)
        else { return nil }
        return seconds * 1000 + microseconds / 1000
    }
}

extension Timestamp {
    func adding(milliseconds: Int64) -> Timestamp {
        let (microseconds, isTooFar) = milliseconds.multipliedReportingOverflow(by: 1000)
        let (sum, overflows) = self.microseconds.addingReportingOverflow(microseconds)
        return Timestamp(microseconds: isTooFar || overflows ? (milliseconds < 0 ? .min : .max) : sum)
    }
}
