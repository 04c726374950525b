import ArchiveQuery
import ServerInspection

/// A database of a server, in place of an archive. For one thread.
struct ServerDatabase {
    let server: ServerAddress
    let connection: ServerConnection
    let number: Int

    /// - Parameter name: `db0`, or `0`.
    init(_ server: ServerAddress, named name: String) throws(CommandFailure) {
        guard let number = ServerFigures.number(ofDatabase: name) ?? Int(name), number >= 0 else {
            throw CommandFailure(
                "\(TerminalSafe.quoted(name)) is not a database of a server: use db0, db1 …", status: .usage)
        }
        (self.server, self.number) = (server, number)
        connection = ServerConnection(server, staysWithServer: true)
        if let only = server.database, only != number {
            throw CommandFailure("the address names the database \(only), not \(number)", status: .usage)
        }
    }

    static var noOwners: CommandFailure {
        CommandFailure("keys of a server have no owners", status: .usage)
    }

    static func lackOfRights(to keys: Int) -> String {
        "the metadata of \(Figures.count(keys, "key", "keys")) is incomplete: no permission"
    }

    // MARK: Keys

    static let columns = [
        Column("key", title: "KEY"), Column("type", title: "TYPE"),
        Column("encoding", title: "ENCODING", dropped: 1), Column("size", title: "SIZE"),
        Column("accessed", title: "ACCESSED", dropped: 2), Column("expires", title: "EXPIRES"),
        Column("frequency", title: "FREQUENCY", dropped: 0),
    ]

    static func cells(_ key: String, _ facts: KeyMetadata) -> [Cell] {
        func known(_ metadata: QueryMetadata, _ cell: Cell) -> Cell {
            facts.unknown.contains(metadata) ? .text("?") : cell
        }
        return [
            .text(key), .text(facts.type), known(.encoding, Cell(facts.layout)),
            known(.size, .bytes(UInt64(clamping: facts.memory))), known(.accessed, Cell(facts.used)),
            known(.expires, facts.expires.map { .deadline($0, now: .now()) } ?? .absent),
            known(.hits, facts.frequency.map { .count(UInt64($0)) } ?? .absent),
        ]
    }

    private static let block = 16

    /// Calls `body` with keys and facts until it returns false. Sorting by metadata reads all facts first.
    func visitKeys(
        matching pattern: String?, by order: EntryColumn?, reverse: Bool,
        _ body: (String, KeyMetadata) throws -> Bool
    ) throws {
        let pattern = pattern.map { Array($0.utf8) }
        func visitPresent(_ keys: some RandomAccessCollection<[UInt8]>) throws -> Bool {
            try visit(keys) { key, facts in try facts.map { try body(key, $0) } ?? true }
        }
        guard let order else {
            if reverse { throw CommandFailure("on a server, --reverse requires --order", status: .usage) }
            var seen = KeyTable()
            var scan = ServerScan(connection, database: number, matching: pattern)
            while !Interruption.isRequested, let new = try connection.paced(try scan.next(&seen)) {
                guard try visitPresent(new) else { return }
            }
            return
        }
        guard let listing = try list(matching: pattern) else { return }
        if order != .key {
            guard try listing.loadMetadata({ _ in !Interruption.isRequested }) else { return }
        }
        let wanted = EntryOrder(order)
        let places = (reverse ? wanted.reversed : wanted).positions(in: listing, now: .now())
        let keys = (0..<places.count).lazy.map { row in
            KeyName.bytes((try? listing.key(at: places.index(atRow: row))) ?? "")
        }
        _ = try visitPresent(keys)
    }

    /// All keys; nil after an interruption.
    private func list(matching pattern: [UInt8]?) throws -> ServerListing? {
        let scan = ListingScan(connection, database: number, matching: pattern)
        let listing = try ServerListing(scan) { _ in !Interruption.isRequested }
        if listing?.isCut == true {
            throw CommandFailure(
                "more than \(Figures.count(ServerListing.most)) keys can't be sorted; use keys without --order, or query",
                status: .usage)
        }
        return listing
    }

    func listing() throws -> ServerListing {
        guard let listing = try list(matching: nil),
            try listing.loadMetadata({ _ in !Interruption.isRequested })
        else { throw CommandFailure.interrupted }
        return listing
    }

    /// Calls `body` with keys and their facts, nil for an absent key, until it returns false. Returns whether it visited all.
    func visit(
        _ keys: some RandomAccessCollection<[UInt8]>, _ body: (String, KeyMetadata?) throws -> Bool
    ) throws -> Bool {
        var rest = keys.dropFirst(0)
        while !rest.isEmpty {
            let block = Array(rest.prefix(Self.block))
            rest = rest.dropFirst(Self.block)
            for (key, facts) in zip(block, try connection.facts(of: block, in: number)) {
                guard try body(KeyName.text(key), facts) else { return false }
            }
        }
        return true
    }

    // MARK: Values

    func value(of key: String) throws -> (facts: KeyMetadata, value: ServerValue)? {
        let name = KeyName.bytes(key)
        guard let facts = try connection.facts(of: [name], in: number)[0],
            let value = try connection.value(
                of: name, type: facts.type, in: number, most: ServerValue.mostForCommands)
        else { return nil }
        return (facts, value)
    }

    /// Why values aren't read without `--touch`; nil: reading them doesn't change idle times.
    func unreadableReason() throws -> String? { try connection.capabilities().unreadableReason }

    /// The plan or, if reading values would count as accesses, the plan with type and size in place of values.
    func withoutAccesses(_ plan: QueryPlan) throws -> QueryPlan {
        let columns = [QueryColumn(.metadata(.type)), QueryColumn(.metadata(.size))]
        guard let rows = try connection.capabilities().withoutAccesses(plan, showing: columns) else {
            return plan
        }
        if rows.readsValues != plan.readsValues, let reason = try unreadableReason() {
            Console.warn("values are left out: \(reason); --touch shows them")
        }
        return rows
    }

    /// - Parameter touches: whether values are read even if that counts as an access to each key.
    func query(_ plan: QueryPlan, touches: Bool) throws -> ServerQuery {
        if plan.readsValues, !touches, let reason = try unreadableReason() {
            throw CommandFailure(
                "\(reason); --touch reads the values, and metadata such as @key, @type and @size need none",
                status: .usage)
        }
        return try ServerQuery(connection, database: number, for: plan.pipeline) { !Interruption.isRequested }
    }

    func changes() throws -> ServerChanges {
        guard let folder = ServerAddress.undoFolder else {
            throw CommandFailure(
                "there is no folder for undo records: neither XDG_STATE_HOME nor HOME is set", status: .usage)
        }
        return ServerChanges(server, database: number, undoFolder: folder)
    }
}
