import StorageEngine
import StoreInspection
import SystemC
import ValkeyWire

/// A connection to a Valkey or Redis server for one request at a time. Calls wait at most ``seconds`` for a byte, and ten times that
/// for an answer. After a lost connection, reads are repeated on a new one, changes aren't. Safe from any thread.
package final class ServerConnection: Sendable {
    package let address: ServerAddress
    private let seconds: Int
    private let state = Guarded(State())
    let values = Guarded(())

    private struct State {
        var link: Link?
        /// Nil until the first connection.
        var traits: ServerTraits?
        /// Seconds of waiting on closed connections.
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
        var sent: Int
        var isBusy: Bool
    }

    /// Commands a second of other clients above which a server is busy.
    private static let busy = 50.0

    /// Whether other clients send more than ``busy`` commands a second, or that is unknown. Cached for a second.
    func isUsedByOthers() -> Bool {
        let now = ContinuousClock.now
        let (known, sent) = state.withLock { ($0.load, $0.sent) }
        if let known, now - known.moment < .seconds(1) { return known.isBusy }
        // A new connection would lose the watched keys. The server's rate includes the commands of this one.
        let answer = try? exchange(
            [RESPCommand("INFO", "stats")], in: nil, isRepeatable: false, isContinued: true)
        let reported = (answer?.first).flatMap { ServerInfo($0).number("instantaneous_ops_per_sec") }
        let own = known.map { Double(sent - $0.sent) / max(0.5, (now - $0.moment) / .seconds(1)) } ?? 0
        let isBusy = reported.map { Double($0) - own > ServerConnection.busy } ?? true
        state.withLock { $0.load = Load(moment: now, sent: sent, isBusy: isBusy) }
        return isBusy
    }

    /// Total seconds of waiting for answers, about the server's time for them.
    var waited: Double { state.withLock { $0.waited + ($0.link?.waited ?? 0) } }

    package init(_ address: ServerAddress, seconds: Int = 5) {
        (self.address, self.seconds) = (address, seconds)
    }

    /// Updates the traits: a server's policy may have changed.
    func note(_ info: RESPValue) {
        state.withLock { state in
            guard let known = state.traits else { return }
            var traits = ServerTraits(info: info)
            traits.keepsIdleTimes = known.keepsIdleTimes
            state.traits = traits
        }
    }

    /// Connects if necessary.
    package func traits() throws(SourceError) -> ServerTraits {
        try state.withLock { (state) throws(SourceError) in
            if let traits = state.traits { return traits }
            let link = try self.link(&state)
            return link.traits
        }
    }

    var linkNumber: Int { state.withLock { $0.links } }

    /// Identifies the server that answers; without a run ID, the connection.
    func answerer() throws(SourceError) -> String {
        let run = try traits().run
        return run.isEmpty ? "connection \(linkNumber)" : run
    }

    /// - Throws: if two servers at the same address answered parts of it, among others.
    func fromOneServer<Answer>(_ body: () throws(SourceError) -> Answer) throws(SourceError) -> Answer {
        let before = try answerer()
        let answer = try body()
        guard try answerer() == before else {
            throw SourceError(
                "another server answered at \(address) during the read, so the result is incomplete; run it again"
            )
        }
        return answer
    }

    /// Returns the answers to read-only commands, in their order, with the server's errors among them.
    package func ask(
        _ commands: [RESPCommand], in database: Int? = nil
    ) throws(SourceError) -> [RESPValue] {
        try exchange(commands, in: database, isRepeatable: true)
    }

    /// Returns the answer to a read-only command.
    /// - Throws: also an error of the server.
    package func ask(_ command: RESPCommand, in database: Int? = nil) throws(SourceError) -> RESPValue {
        try accepted(ask([command], in: database)[0], to: command)
    }

    /// Returns the answers to commands that change something. A command without an answer may have been executed.
    /// - Parameter isContinued: fails instead of opening a new connection, for commands that depend on earlier ones.
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

    /// Whether the server is proved to run on this machine: it reports this connection's local endpoint, which it doesn't behind a
    /// tunnel or a proxy. False with TLS, and if the user has no rights to `CLIENT`.
    package func isOnThisMachine() throws(SourceError) -> Bool {
        guard address.isLocal else { return false }
        var answer = try ask([RESPCommand("CLIENT", "INFO")])[0]
        // Servers before version 6.2 have no CLIENT INFO.
        if case .error = answer { answer = try ask([RESPCommand("CLIENT", "LIST")])[0] }
        guard let name = state.withLock({ $0.link?.localName }) else { return false }
        // A server that listens on IPv6 may write IPv4 addresses in this form.
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

/// A connection after its login. Only used under the lock of ``ServerConnection``.
private final class Link: @unchecked Sendable {
    private let socket: ServerSocket
    private let seconds: Int
    private var decoder: RESPDecoder
    private var database = 0
    /// Why the latest commands weren't sent; the connection is intact.
    private(set) var refusal: String?
    private(set) var traits = ServerTraits()
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
        // Without permission, the traits stay unknown. A busy server is an error, because its traits would look unknown, too.
        if case .error(let message) = answers[1], !message.hasPrefix("NOPERM") { throw SourceError(message) }
        traits = ServerTraits(info: answers[1])
        if case .status = answers[0] { traits.keepsIdleTimes = true }
    }

    private func logIn(_ address: ServerAddress) throws(SourceError) {
        var hello = RESPCommand("HELLO", "3")
        if address.user != nil || address.password != nil {
            // A user without a password accepts any.
            hello = hello + "AUTH" + (address.user ?? "default") + (address.password ?? "")
        }
        var answer = try exchange([hello + "SETNAME" + "vellum-browser"], in: nil)[0]
        if case .error(let message) = answer, message.contains("unknown command") {
            // Servers before version 6 have no HELLO.
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
            // If SELECT fails, the commands must not run in another database.
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
                throw SourceError("no complete answer within \(10 * seconds) s")
            }
            let value: RESPValue?
            do throws(RESPError) { value = try decoder.next() } catch {
                throw SourceError(error.description)
            }
            if case .push? = value { continue }
            if let value { return value }
            decoder.append(try socket.receive())
        }
    }
}

/// The properties of a server that reads and changes depend on.
package struct ServerTraits: Sendable, Hashable {
    /// `Valkey 8.0.1`, `Redis 7.0.15`.
    package fileprivate(set) var product = "server"
    /// Whether reading a value leaves its key's idle time unchanged (`CLIENT NO-TOUCH`, since version 7.2).
    package fileprivate(set) var keepsIdleTimes = false
    /// Whether it is a cluster's node, with only a part of the keys.
    package fileprivate(set) var isClustered = false

    /// The run ID, which changes at a restart; empty: unknown.
    package fileprivate(set) var run = ""
    /// Whether it has `PEXPIRETIME` (since version 7).
    package fileprivate(set) var reportsExpiryTimes = false
    /// Whether it evicts keys when it is full; true if unknown.
    package fileprivate(set) var evicts = true
    /// Whether it counts accesses to keys (an LFU policy) instead of recording their times.
    package fileprivate(set) var countsUses = false

    fileprivate init() {}

    fileprivate init(info: RESPValue) {
        let info = ServerInfo(info)
        product =
            info["valkey_version"].map { "Valkey \($0)" } ?? info["redis_version"].map { "Redis \($0)" }
            ?? product
        run = info["run_id"] ?? ""
        let version = info["redis_version"]?.split(separator: ".").first.flatMap { Int($0) }
        reportsExpiryTimes = version.map { $0 >= 7 } ?? false
        countsUses = info["maxmemory_policy"]?.contains("lfu") ?? false
        evicts = info["maxmemory"] != "0" && info["maxmemory_policy"] != "noeviction"
        isClustered = (info["redis_mode"] ?? info["server_mode"]) == "cluster"
    }
}

struct ServerInfo: Sendable {
    private(set) var fields: [(name: Substring, value: Substring)] = []

    init(_ answer: RESPValue) {
        for line in answer.shownText.split(whereSeparator: \.isNewline) where !line.hasPrefix("#") {
            guard let colon = line.firstIndex(of: ":") else { continue }
            fields.append((line[..<colon], line[line.index(after: colon)...]))
        }
    }

    subscript(_ name: String) -> String? { fields.first { $0.name == name }.map { String($0.value) } }

    /// At most 2^50, so that sums don't overflow.
    func number(_ name: String) -> UInt64? {
        self[name].flatMap { UInt64($0) }.map { min($0, 1 << 50) }
    }
}

extension RESPValue {
    /// The text, with invalid UTF-8 repaired.
    var shownText: String {
        if case .bytes(let bytes) = self { String(decoding: bytes, as: UTF8.self) } else { text ?? "" }
    }
}
