import StorageEngine
import StoreInspection
import ValkeyWire

/// A server's state at one moment, from `INFO`.
package struct ServerFigures: Sendable, Hashable {
    /// `Valkey 8.0.1`
    package var product: String
    /// `primary` or `replica`, with `of a cluster` for a cluster's node.
    package var role: String
    /// Seconds since the server's start.
    package var uptime: Double
    /// Bytes of memory in use.
    package var memory: UInt64
    /// Bytes; nil: no limit.
    package var memoryLimit: UInt64?
    /// The eviction policy: `noeviction`, `allkeys-lru` …
    package var policy: String
    package var clients: Int
    /// Counters since the server's start, without this program's lookups (``own``).
    package var hits: UInt64
    package var misses: UInt64
    package var evictions: UInt64
    package var expirations: UInt64
    package var commands: UInt64
    package var databases: [Database]
    package var own = OwnLookups()
    /// A limitation of the figures, in one line.
    package var remark: String?

    package struct Database: Sendable, Hashable {
        package var number: Int
        package var keys: Int
        package var expiring: Int

        package var name: String { "db\(number)" }
    }

    /// The order in which the policy prefers keys for eviction, and a description of the first ones; nil: the server evicts no
    /// keys, or evicts at random. The server samples some keys (`maxmemory-samples`), so the first ones are only the most likely.
    package var evictionOrder: (keys: EntryOrder, first: String)? {
        guard memoryLimit != nil else { return nil }
        return switch policy {
        case "allkeys-lru", "volatile-lru": (EntryOrder(.idle, descending: true), "longest idle")
        case "allkeys-lfu", "volatile-lfu": (EntryOrder(.hits, descending: false), "least frequently used")
        case "volatile-ttl": (EntryOrder(.expires), "soonest to expire")
        default: nil
        }
    }

    /// The number of keys with an expiry time in a database, by its name.
    package func expiring(in name: String) -> Int { databases.first { $0.name == name }?.expiring ?? 0 }

    /// Whether only keys with an expiry time are evicted.
    package var evictsOnlyExpiring: Bool { policy.hasPrefix("volatile-") }

    /// Whether the policy can evict a key, apart from the memory limit.
    package var hasEvictableKeys: Bool { !evictsOnlyExpiring || databases.contains { $0.expiring > 0 } }

    package static func number(ofDatabase name: String) -> Int? {
        name.hasPrefix("db") ? Int(name.dropFirst(2)).flatMap { $0 >= 0 ? $0 : nil } : nil
    }
}

package struct ServerClient: Sendable, Hashable {
    package var id: UInt64
    package var address: String
    package var name: String
    package var database: Int
    /// Seconds since the client connected.
    package var age: Double
    package var idle: Double
    package var command: String
    /// Bytes of server memory that the client uses.
    package var memory: UInt64

    /// Whether the name is one of this program's connections.
    package var isOwn: Bool { name.hasPrefix(ServerClient.ownNamePrefix) }
    fileprivate static let ownNamePrefix = "vellum-"
}

package struct SlowCommand: Sendable, Hashable {
    package var id: Int64
    package var time: Timestamp
    package var microseconds: Int64
    /// The command and its arguments; the server may have shortened them.
    package var words: [String]
    package var client: String
    /// Whether a browser or command of this program sent it, by the client's name.
    package var isOwn = false
}

extension ServerConnection {
    package func figures() throws(SourceError) -> ServerFigures {
        let info = RESPFields(lines: try ask(RESPCommand("INFO")))
        note(info)
        let capabilities = try capabilities()
        let limit = info.number("maxmemory") ?? 0
        var figures = ServerFigures(
            product: capabilities.product,
            role: (info["role"] == "slave" ? "replica" : "primary")
                + (capabilities.isClustered ? " of a cluster" : ""),
            uptime: Double(info.number("uptime_in_seconds") ?? 0), memory: info.number("used_memory") ?? 0,
            memoryLimit: limit == 0 ? nil : limit, policy: info["maxmemory_policy"] ?? "",
            clients: Int(clamping: info.number("connected_clients") ?? 0),
            hits: info.number("keyspace_hits") ?? 0, misses: info.number("keyspace_misses") ?? 0,
            evictions: info.number("evicted_keys") ?? 0, expirations: info.number("expired_keys") ?? 0,
            commands: info.number("total_commands_processed") ?? 0, databases: [])
        figures.own = OwnLookups.subtract(from: &figures, in: capabilities.run)
        for (name, value) in info.all {
            guard let number = ServerFigures.number(ofDatabase: String(name)) else { continue }
            let counts = RESPFields(value, with: "=", separatedBy: { $0 == "," })
            figures.databases.append(
                .init(
                    number: number, keys: Int(clamping: counts.number("keys") ?? 0),
                    expiring: Int(clamping: counts.number("expires") ?? 0)))
        }
        if let only = address.database {
            figures.databases.removeAll { $0.number != only }
            if figures.databases.isEmpty {
                // INFO names neither empty nor missing databases; DBSIZE fails for a missing one.
                _ = try ask(RESPCommand("DBSIZE"), in: only)
                figures.databases = [.init(number: only, keys: 0, expiring: 0)]
            }
        } else if figures.databases.isEmpty {
            figures.databases = [.init(number: 0, keys: 0, expiring: 0)]
        }
        if capabilities.isClustered {
            figures.remark = "a node of a cluster: only the keys of this node are shown"
        }
        return figures
    }

    package func clients() throws(SourceError) -> [ServerClient] {
        let text = try ask(RESPCommand("CLIENT", "LIST")).shownText
        return text.split(whereSeparator: \.isNewline).map { line in
            let fields = RESPFields(line, with: "=")
            func number(_ name: String) -> UInt64 { fields.number(name) ?? 0 }
            return ServerClient(
                id: number("id"), address: fields["addr"] ?? "", name: fields["name"] ?? "",
                database: Int(clamping: number("db")), age: Double(number("age")),
                idle: Double(number("idle")), command: fields["cmd"] ?? "", memory: number("tot-mem"))
        }
    }

    /// Returns the slow log's entries, latest first.
    package func slowCommands(most: Int = 128) throws(SourceError) -> [SlowCommand] {
        let commands = [RESPCommand("SLOWLOG", "GET", "\(most)"), RESPCommand("TIME")]
        let replies = try ask(commands)
        // Times are converted to this machine's clock.
        let offset = replies[1].milliseconds.map { Timestamp.now().microseconds / 1000 - $0 } ?? 0
        return try accepted(replies[0], to: commands[0]).elements?.compactMap { entry in
            guard let parts = entry.elements, parts.count >= 4, let id = parts[0].number,
                let seconds = parts[1].number, let microseconds = parts[2].number
            else { return nil }
            let words = (parts[3].elements ?? []).map { $0.blob.map { KeyName.text($0) } ?? $0.shownText }
            return SlowCommand(
                id: id,
                time: Timestamp(microseconds: 0).adding(
                    milliseconds: min(max(0, seconds), 1 << 40) * 1000 + offset),
                microseconds: microseconds, words: words,
                client: parts.count > 4 ? parts[4].shownText : "",
                isOwn: parts.count > 5 && parts[5].shownText.hasPrefix(ServerClient.ownNamePrefix))
        } ?? []
    }
}
