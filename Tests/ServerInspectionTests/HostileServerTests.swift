import Foundation
import ServerInspection
import ServerSupport
import StorageEngine
import StoreInspection
import Testing
import TestSupport
import ValkeyWire

/// Servers that send invalid or malicious replies.
@Suite(.serialized) struct HostileServerTests {
    /// Replies to each command with the entry of `answers` for its name, by default a status. Pauses at each `~`.
    private final class FakeServer: Sendable {
        let port: Int
        private let listener: Int32

        init(_ answers: @escaping @Sendable (String) -> String?) throws {
            (listener, port) = try Loopback.listen()
            let listener = listener
            Thread.detachNewThread {
                while case let connection = accept(listener, nil, nil), connection >= 0 {
                    Thread.detachNewThread { FakeServer.serve(connection, answers) }
                }
            }
        }

        deinit { shutdown(listener, Int32(SHUT_RDWR)) }

        private static func serve(_ connection: Int32, _ answers: (String) -> String?) {
            defer { close(connection) }
            var decoder = RESPDecoder()
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = recv(connection, &buffer, buffer.count, 0)
                guard count > 0 else { return }
                decoder.append(buffer[..<count])
                while let command = try? decoder.next() {
                    let name = command.elements?.first?.text ?? ""
                    let standard = name == "INFO" ? "$0\r\n\r\n" : "+OK\r\n"
                    for (place, part) in (answers(name) ?? standard).split(separator: "~").enumerated() {
                        if place > 0 { usleep(50_000) }
                        let sent = Array(part.utf8).withUnsafeBytes {
                            send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                        }
                        guard sent > 0 else { return }
                    }
                }
            }
        }
    }

    /// The servers of a test, up to its end.
    private final class FakeServers {
        var all: [FakeServer] = []
    }

    private let servers = FakeServers()

    private func connect(
        idleReplies: Int = 100_000, _ answers: @escaping @Sendable (String) -> String?
    ) throws -> ServerConnection {
        let liar = try FakeServer(answers)
        servers.all.append(liar)
        return ServerConnection(
            try ServerAddress("valkey://127.0.0.1:\(liar.port)"), seconds: 1, idleReplies: idleReplies)
    }

    private static func bulk(_ text: String) -> String { "$\(text.utf8.count)\r\n\(text)\r\n" }

    @Test("figures beyond all limits don't overflow")
    func hugeFigures() throws {
        let most = "18446744073709551615"
        let info = """
            redis_version:7.0.0\r
            keyspace_hits:\(most)\r
            keyspace_misses:\(most)\r
            total_commands_processed:\(most)\r
            used_memory:\(most)\r
            db0:keys=9223372036854775807,expires=9223372036854775807\r
            db1:keys=9223372036854775807,expires=-5\r

            """
        let connection = try connect { name in
            switch name {
            case "INFO": Self.bulk(info)
            case "SLOWLOG":
                "*1\r\n*4\r\n:1\r\n:9223372036854775807\r\n:9223372036854775807\r\n*1\r\n\(Self.bulk("GET"))"
            case "TYPE": "+string\r\n"
            case "OBJECT", "MEMORY", "PTTL": ":9223372036854775807\r\n"
            case "DBSIZE": ":-7\r\n"
            case "CLIENT": Self.bulk("id=x addr= age=-1 idle=99999999999999999999 name=\u{1b}[2J\n")
            default: nil
            }
        }
        let figures = try connection.figures()
        #expect(figures.databases.count == 2)
        #expect(figures.databases.reduce(0) { $0 + $1.keys } > 0)
        #expect(figures.hits + figures.misses > 0)
        #expect(try connection.slowCommands().count == 1)
        #expect(try connection.clients().count == 1)
        let facts = try connection.facts(of: [[1], [2]], in: 0).compactMap { $0 }
        #expect(facts.reduce(0) { $0 + $1.memory } > 0)
        for fact in facts { #expect(fact.metadata(of: [1], at: .now()).valueBytes > 0) }
    }

    @Test("groups add up sizes of more than 4 GiB")
    func hugeKeys() throws {
        let size = 5 << 30
        let connection = try connect { name in
            switch name {
            case "SCAN": "*2\r\n$1\r\n0\r\n*2\r\n\(Self.bulk("a:1"))\(Self.bulk("a:2"))"
            case "TYPE": "+string\r\n"
            case "MEMORY": ":\(size)\r\n"
            case "OBJECT", "PTTL": ":1\r\n"
            default: nil
            }
        }
        let listing = try #require(try ServerListing(ListingScan(connection, database: 0), isPaced: false))
        #expect(try listing.loadMetadata(of: .all(listing.count)) { _ in true })
        #expect(listing.figures(at: 0).size == UInt64(size))
        let groups = EntryGroups(listing, keys: nil, by: .owner, now: .now()) { (_) throws(Never) in }
        #expect(groups.groups.map(\.bytes) == [UInt64(2 * size)])
    }

    @Test(arguments: [
        ":1\r\n", "*2\r\n:0\r\n:0\r\n", "*1\r\n$1\r\n0\r\n", "*2\r\n$1\r\n0\r\n$1\r\nx\r\n", "*-1\r\n",
        "-ERR no\r\n", "!",
        "*2\r\n*0\r\n*0\r\n",
    ])
    func refusesInvalidScanReplies(answer: String) throws {
        let connection = try connect { $0 == "SCAN" ? answer : nil }
        #expect(throws: SourceError.self) {
            try ServerListing(ListingScan(connection, database: 0), isPaced: false)
        }
    }

    @Test(
        "an export ends at an invalid reply to its transaction",
        arguments: [
            "+OK\r\n", "*0\r\n", "*4\r\n:1\r\n+string\r\n:-1\r\n$1\r\nx\r\n",
            "*4\r\n*2\r\n:1\r\n:1\r\n:1\r\n:-1\r\n$1\r\nx\r\n",
            "*4\r\n*2\r\n:1\r\n:1\r\n+string\r\n:-1\r\n:1\r\n",
        ])
    func invalidTransactions(answer: String) throws {
        let connection = try connect { name in
            switch name {
            case "MEMORY": ":10\r\n"
            case "TIME", "TYPE", "PTTL", "DUMP": "+QUEUED\r\n"
            case "EXEC": answer
            default: nil
            }
        }
        #expect(throws: SourceError.self) { try connection.dumped([1], in: 0) }
    }

    /// Answers `SCAN` and `HSCAN` with these elements and a cursor, which ends the scan after some replies.
    private static func scanned(
        _ elements: [String], replies: Int = .max
    ) -> @Sendable (String) -> String? {
        let count = Guarded(0)
        return { name in
            switch name {
            case "SCAN", "HSCAN":
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                let cursor = bulk("\(number < replies ? number : 0)")
                return "*2\r\n\(cursor)*\(elements.count)\r\n\(elements.map(bulk).joined())"
            case "DBSIZE": return ":500\r\n"
            case "HLEN": return ":10\r\n"
            default: return nil
            }
        }
    }

    @Test("an endless scan is stopped", arguments: [[], ["a", "b"]])
    func endlessScans(elements: [String]) throws {
        let connection = try connect(idleReplies: 100, Self.scanned(elements))
        #expect(throws: SourceError.self) {
            try ServerListing(ListingScan(connection, database: 0), isPaced: false)
        }
        #expect(throws: SourceError.self) { try connection.value(of: [1], type: "hash", in: 0) }
    }

    @Test("a scan that repeats its reply is stopped at once", arguments: ["SCAN", "HSCAN"])
    func repeatedReplies(command: String) throws {
        let count = Guarded(0)
        let connection = try connect { name in
            if name == command { count.withLock { $0 += 1 } }
            return switch name {
            case "SCAN", "HSCAN": "*2\r\n\(Self.bulk("7"))*2\r\n\(Self.bulk("a"))\(Self.bulk("b"))"
            case "HLEN": ":10\r\n"
            default: nil
            }
        }
        #expect(throws: SourceError.self) {
            if command == "SCAN" {
                _ = try ServerListing(ListingScan(connection, database: 0))
            } else {
                _ = try connection.value(of: [1], type: "hash", in: 0)
            }
        }
        #expect(count.withLock { $0 } == 2)
    }

    @Test("a scan of an almost empty table reaches its end")
    func longScans() throws {
        let connection = try connect(idleReplies: 100, Self.scanned([], replies: 300))
        let listing = try ServerListing(ListingScan(connection, database: 0), isPaced: false)
        #expect(listing?.count == 0 && listing?.isCut == false)
    }

    @Test(
        "a read ends when replies have no complete elements",
        arguments: [
            ("zset", "ZCARD", "ZRANGE", 1), ("stream", "XLEN", "XRANGE", 8), ("list", "LLEN", "LRANGE", 0),
        ])
    func answersWithoutElements(type: String, length: String, read: String, count: Int) throws {
        let answer = "*\(count)\r\n" + String(repeating: Self.bulk("a"), count: count)
        let connection = try connect { name in
            switch name {
            case length: ":8\r\n"
            case read: answer
            default: nil
            }
        }
        let value = try #require(try connection.value(of: [1], type: type, in: 0))
        #expect(value.shown == 0 && value.total == 8 && value.shortage != nil)
    }

    @Test(
        "a connection with an unexpected reply isn't used any further",
        arguments: ["+PONG\r\n", "~+PONG\r\n", "+PON", "$4\r\n", "*1\r\n"])
    func unexpectedReplies(reply: String) throws {
        let connection = try connect { $0 == "PING" ? "+PONG\r\n" + reply : nil }
        func ping() throws {
            #expect(try connection.ask(RESPCommand("PING")) == .status("PONG"))
            Thread.sleep(forTimeInterval: 0.2)
        }
        // A surplus reply must not be matched to the next command. Reads are repeated on a new connection, changes aren't.
        try ping()
        #expect(try connection.ask(RESPCommand("ECHO", "a")) == .status("OK"))
        try ping()
        #expect(throws: SourceError.self) { try connection.change([RESPCommand("SET", "a", "b")], in: 0) }
        #expect(try connection.ask(RESPCommand("ECHO", "a")) == .status("OK"))
    }
}
