import StorageEngine
import StoreInspection
import SystemC
import ValkeyWire

/// A connection to a Valkey or Redis server for one request at a time. Calls wait at most ``seconds`` for a byte, ten times that
/// for an answer. A lost connection is opened again; reads are repeated, changes aren't. Safe from any thread.
package final class ServerConnection: Sendable {
    package let address: ServerAddress
    /// That an answer may take.
    private let seconds: Int
    private let state = Guarded(State())
    /// Held while a value is read.
    let values = Guarded(())

    private struct State {
        /// Guarded by the lock, as all of this.
        var link: Link?
        /// What is known of the server once there was a connection.
        var traits: ServerTraits?
        /// What ended connections have waited.
        var waited = 0.0
        var sent = 0
        var links = 0
        var load: Load?

        mutating func drop() {
            waited += link?.waited ?? 0
            link = nil
        }
    }

    private struct Load {
        var moment: ContinuousClock.Instant
        /// Commands that this connection had sent by then.
        var sent: Int
        var isBusy: Bool
    }

    /// Commands a second of others from which on a server counts as busy.
    private static let busy = 50.0

    /// Whether others use the server, as it said within the last second; if it doesn't say, they do.
    func isUsedByOthers() -> Bool {
        let now = ContinuousClock.now
        let (known, sent) = state.withLock { ($0.load, $0.sent) }
        if let known, now - known.moment < .seconds(1) { return known.isBusy }
        // Over the last one or two seconds, own commands among them.
        // By no other connection than the present one: it may watch keys, which a new one in its place wouldn't.
        let answer = try? exchange(
            [RESPCommand("INFO", "stats")], in: nil, isRepeatable: false, isContinued: true)
        let told = (answer?.first).flatMap { ServerInfo($0).number("instantaneous_ops_per_sec") }
        let own = known.map { Double(sent - $0.sent) / max(0.5, (now - $0.moment) / .seconds(1)) } ?? 0
        let isBusy = told.map { Double($0) - own > ServerConnection.busy } ?? true
        state.withLock { $0.load = Load(moment: now, sent: sent, isBusy: isBusy) }
        return isBusy
    }

    /// Seconds that were waited for the server so far: about what this program has it work.
    var waited: Double { state.withLock { $0.waited + ($0.link?.waited ?? 0) } }

    package init(_ address: ServerAddress, seconds: Int = 5) {
        (self.address, self.seconds) = (address, seconds)
    }

    /// What `INFO` says of it now: a person may have changed its policy.
    func note(_ info: RESPValue) {
        state.withLock { state in
            guard let known = state.traits else { return }
            var traits = ServerTraits(info: info)
            traits.keepsIdleTimes = known.keepsIdleTimes
            state.traits = traits
        }
    }

    /// What the server is; makes the connection if there is none.
    package func traits() throws(SourceError) -> ServerTraits {
        try state.withLock { (state) throws(SourceError) in
            if let traits = state.traits { return traits }
            let link = try self.link(&state)
            return link.traits
        }
    }

    /// Which of the connections that were made it has.
    var linkNumber: Int { state.withLock { $0.links } }

    /// What answers: another value once another server does behind the same address, or if that can't be known.
    func answerer() throws(SourceError) -> String {
        let run = try traits().run
        return run.isEmpty ? "connection \(linkNumber)" : run
    }

    /// - Throws: also if what answers at the end isn't what answered at first: a half of each is no answer.
    func fromOneServer<Answer>(_ body: () throws(SourceError) -> Answer) throws(SourceError) -> Answer {
        let before = try answerer()
        let answer = try body()
        guard try answerer() == before else {
            throw SourceError(
                "\(address) was answered by another server meanwhile, so what was read isn't all; begin again"
            )
        }
        return answer
    }

    /// The answers to commands that change nothing, in their order. Errors of the server are among them.
    package func ask(
        _ commands: [RESPCommand], in database: Int? = nil
    ) throws(SourceError) -> [RESPValue] {
        try exchange(commands, in: database, isRepeatable: true)
    }

    /// The answer to a command that changes nothing. Throws also where the server refuses it.
    package func ask(_ command: RESPCommand, in database: Int? = nil) throws(SourceError) -> RESPValue {
        try accepted(ask([command], in: database)[0], to: command)
    }

    /// The answers to commands that change something. Of one that isn't answered nobody knows whether it was carried out.
    /// - Parameter isContinued: whether they rely on what was sent before, so that another connection won't do.
    package func change(
        _ commands: [RESPCommand], in database: Int, isContinued: Bool = false
    ) throws(SourceError) -> [RESPValue] {
        try exchange(commands, in: database, isRepeatable: false, isContinued: isContinued)
    }

    package func accepted(_ answer: RESPValue, to command: RESPCommand) throws(SourceError) -> RESPValue {
        guard case .error(let message) = answer else { return answer }
        throw SourceError("\(address) refuses \(command.name): \(message)")
    }

    private func exchange(
        _ commands: [RESPCommand], in database: Int?, isRepeatable: Bool, isContinued: Bool = false
    ) throws(SourceError) -> [RESPValue] {
        try state.withLock { (state) throws(SourceError) in
            let wasThere = state.link != nil
            state.sent += commands.count
            if isContinued, !wasThere { throw lost(SourceError("the connection was lost")) }
            var mayFail = isRepeatable && wasThere
            while true {
                let link = try self.link(&state)
                do throws(SourceError) {
                    let answers = try link.exchange(commands, in: database)
                    OwnLookups.add(link.takeLookups(), in: link.traits.run)
                    return answers
                } catch {
                    if let refusal = link.refusal { throw SourceError("\(address) \(refusal)") }
                    state.drop()
                    if !mayFail { throw lost(error) }
                    mayFail = false
                }
            }
        }
    }

    /// Whether the server certainly runs on this machine: it sees this connection's own end, which it doesn't behind a tunnel or
    /// a proxy. False also where that can't be known: with TLS, or if the user may not ask.
    package func isOnThisMachine() throws(SourceError) -> Bool {
        guard address.isLocal else { return false }
        var answer = try ask([RESPCommand("CLIENT", "INFO")])[0]
        // Before version 6.2.
        if case .error = answer { answer = try ask([RESPCommand("CLIENT", "LIST")])[0] }
        guard let name = state.withLock({ $0.link?.localName }) else { return false }
        // A server that listens by IPv6 may write an address of IPv4 that way.
        func plain(_ name: some StringProtocol) -> String {
            String(name.filter { $0 != "[" && $0 != "]" }).replacing("::ffff:", with: "")
        }
        return answer.shownText.split { $0 == " " || $0.isNewline }.contains {
            plain($0) == "addr=" + plain(name)
        }
    }

    private func link(_ state: inout sending State) throws(SourceError) -> Link {
        if let link = state.link { return link }
        do throws(SourceError) {
            let link = try Link(address, seconds: seconds)
            state.link = link
            state.links += 1
            state.traits = link.traits
            return link
        } catch {
            throw SourceError("\(address) can't be reached: \(error)")
        }
    }

    private func lost(_ error: SourceError) -> SourceError {
        SourceError("\(address) doesn't answer: \(error)")
    }
}

/// One connection from log-in to its end. Used below the lock of ``ServerConnection`` alone, so by one thread at a time.
private final class Link: @unchecked Sendable {
    private let socket: ServerSocket
    private let seconds: Int
    private var decoder: RESPDecoder
    private var database = 0
    /// Why the latest commands couldn't be meant, although the connection is all right.
    private(set) var refusal: String?
    private(set) var traits = ServerTraits()
    /// What the server has counted for it, and isn't noted elsewhere.
    private var lookups = OwnLookups()
    var waited: Double { socket.waited }
    var localName: String? { socket.localName }

    func takeLookups() -> OwnLookups {
        defer { lookups = OwnLookups() }
        return lookups
    }

    init(_ address: ServerAddress, seconds: Int) throws(SourceError) {
        socket = try ServerSocket(address, seconds: seconds)
        self.seconds = seconds
        decoder = RESPDecoder()
        try logIn(address)
        let commands = [RESPCommand("CLIENT", "NO-TOUCH", "ON"), RESPCommand("INFO")]
        let answers = try exchange(commands, in: nil)
        // Who may not ask it knows less. One that is busy would be taken for one that knows nothing.
        if case .error(let message) = answers[1], !message.hasPrefix("NOPERM") { throw SourceError(message) }
        traits = ServerTraits(info: answers[1])
        if case .status = answers[0] { traits.keepsIdleTimes = true }
    }

    private func logIn(_ address: ServerAddress) throws(SourceError) {
        var hello = RESPCommand("HELLO", "3")
        if address.user != nil || address.password != nil {
            // One who needs no password takes any.
            hello = hello + "AUTH" + (address.user ?? "default") + (address.password ?? "")
        }
        var answer = try exchange([hello + "SETNAME" + "vellum-browser"], in: nil)[0]
        if case .error(let message) = answer, message.contains("unknown command") {
            // Before version 6.
            guard address.user != nil || address.password != nil else { return }
            let words = [address.user, address.password ?? ""].compactMap { $0 }
            answer = try exchange([RESPCommand(words: (["AUTH"] + words).map { Array($0.utf8) })], in: nil)[0]
        }
        guard case .error(let message) = answer else { return }
        let isOpen = address.password == nil && address.user == nil
        throw SourceError(
            isOpen && message.hasPrefix("NOAUTH")
                ? "it wants a password: put it into VALKEYCLI_AUTH, or user:password@ before the host"
                : "it refuses: \(LogIn.reason(message, without: address.password))")
    }

    func exchange(_ commands: [RESPCommand], in database: Int?) throws(SourceError) -> [RESPValue] {
        refusal = nil
        if let database, database != self.database {
            // Answered before anything else is sent, or that would be done in another database.
            if case .error(let message) = try exchange([RESPCommand("SELECT", "\(database)")])[0] {
                refusal = "refuses the database \(database): \(message)"
                throw SourceError(message)
            }
            self.database = database
        }
        return try exchange(commands)
    }

    private func exchange(_ commands: [RESPCommand]) throws(SourceError) -> [RESPValue] {
        var bytes: [UInt8] = []
        for command in commands { command.encode(into: &bytes) }
        try socket.send(bytes)
        var answers: [RESPValue] = []
        answers.reserveCapacity(commands.count)
        for command in commands {
            let answer = try receive()
            lookups.note(command, answer)
            answers.append(answer)
        }
        return answers
    }

    private func receive() throws(SourceError) -> RESPValue {
        let start = ContinuousClock.now
        while true {
            guard ContinuousClock.now - start < .seconds(10 * seconds) else {
                throw SourceError("it sends without coming to an end for \(10 * seconds) s")
            }
            let value: RESPValue?
            do throws(RESPError) { value = try decoder.next() } catch {
                throw SourceError(error.description)
            }
            // What is told unasked is no answer.
            if case .push? = value { continue }
            if let value { return value }
            decoder.append(try socket.receive())
        }
    }
}

/// What a server is, as far as looking depends on it. A value; safe to share between threads.
package struct ServerTraits: Sendable, Hashable {
    /// `Valkey 8.0.1`, `Redis 7.0.15`.
    package fileprivate(set) var product = "server"
    /// Whether reading a value here leaves its key's idle time alone (`CLIENT NO-TOUCH`, from Redis 7.2 and Valkey 7.2 on).
    package fileprivate(set) var keepsIdleTimes = false
    /// Whether it is one of a cluster, and has only a part of the keys.
    package fileprivate(set) var isClustered = false

    /// What names this run of the server; another one after a restart.
    package fileprivate(set) var run = ""
    /// Whether it tells deadlines as such (`PEXPIRETIME`, from version 7 on).
    package fileprivate(set) var tellsDeadlines = false
    /// Whether it evicts keys when it is full, as far as is known.
    package fileprivate(set) var evicts = true
    /// Whether it counts uses of keys (a policy with LFU) instead of keeping times.
    package fileprivate(set) var countsUses = false

    fileprivate init() {}

    fileprivate init(info: RESPValue) {
        let info = ServerInfo(info)
        product =
            info["valkey_version"].map { "Valkey \($0)" } ?? info["redis_version"].map { "Redis \($0)" }
            ?? product
        run = info["run_id"] ?? ""
        let version = info["redis_version"]?.split(separator: ".").first.flatMap { Int($0) }
        tellsDeadlines = version.map { $0 >= 7 } ?? false
        countsUses = info["maxmemory_policy"]?.contains("lfu") ?? false
        evicts = info["maxmemory"] != "0" && info["maxmemory_policy"] != "noeviction"
        isClustered = (info["redis_mode"] ?? info["server_mode"]) == "cluster"
    }
}

/// What `INFO` answers. A value; safe to share between threads.
struct ServerInfo: Sendable {
    private(set) var fields: [(name: Substring, value: Substring)] = []

    init(_ answer: RESPValue) {
        for line in answer.shownText.split(whereSeparator: \.isNewline) where !line.hasPrefix("#") {
            guard let colon = line.firstIndex(of: ":") else { continue }
            fields.append((line[..<colon], line[line.index(after: colon)...]))
        }
    }

    subscript(_ name: String) -> String? { fields.first { $0.name == name }.map { String($0.value) } }

    /// Figures that no server reaches are cut, so that sums of them are none that can't be had.
    func number(_ name: String) -> UInt64? {
        self[name].flatMap { UInt64($0) }.map { min($0, 1 << 50) }
    }
}

extension RESPValue {
    /// A text to be shown, whatever bytes it has: what isn't UTF-8 in it is repaired.
    var shownText: String {
        if case .bytes(let bytes) = self { String(decoding: bytes, as: UTF8.self) } else { text ?? "" }
    }
}
