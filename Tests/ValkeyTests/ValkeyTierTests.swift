#if Valkey
import Foundation
import ServerSupport
import StorageEngine
import Testing
import TestSupport
import ValkeyWire
import Vellum
import VellumRemote
import VellumValkey

/// Serialized, since the calls block threads of a pool as large as the number of processors. Each test has its own servers.
@Suite(
    .serialized, .enabled(if: ValkeyServer.program != nil, "there is neither valkey-server nor redis-server"))
struct ValkeyTierTests {
    private let server: ValkeyServer

    init() async throws { server = try await ValkeyServer() }

    @Test("objects recorded by one machine are found by another") func sharedObjects() async throws {
        let (a, b) = (try Machine(server.url), try Machine(server.url))
        try await a.parcels.asynchronous.record(Parcel(number: "1", weight: 5))
        #expect(try await b.isTracked())
        #expect(try await b.parcels.asynchronous.access("1") == Parcel(number: "1", weight: 5))
        #expect(try b.parcels.access("1") == Parcel(number: "1", weight: 5))
        #expect(try b.parcels.access("2") == nil)
        let statistics = try b.parcels.statistics()
        // One request for each key; the second access was a hit in memory.
        #expect(statistics.fetches == 2 && statistics.missing == 1)
        #expect(statistics.near.memoryHits == 1)
    }

    @Test("changes by others invalidate near copies") func invalidation() async throws {
        let (a, b) = (try await Machine.covered(server.url), try await Machine.covered(server.url))
        for round in 0..<20 {
            let key = "\(round % 3)"
            try a.parcels.record(Parcel(number: key, weight: round))
            #expect(try await eventually { try b.parcels.access(key)?.weight == round })
            // From memory.
            #expect(try b.parcels.access(key)?.weight == round)
        }
        #expect(try b.parcels.delete("0"))
        #expect(try b.parcels.access("0") == nil)
        #expect(try await eventually { try a.parcels.access("0") == nil })
        #expect(try a.parcels.delete("0") == false)
        try server.client().command("FLUSHALL")
        #expect(try await eventually { try a.parcels.access("1") == nil && b.parcels.access("2") == nil })
    }

    @Test("expiry times and owners apply to all machines") func lifetimesAndOwners() async throws {
        let (a, b) = (try Machine(server.url), try await Machine.covered(server.url))
        try a.parcels.record(Parcel(number: "short"), options: .init(expiresIn: .milliseconds(400)))
        try a.parcels.record(Parcel(number: "long"), options: .init(expiresIn: .seconds(600)))
        #expect(try b.parcels.access("short") != nil)
        #expect(try b.parcels.access("long") != nil)
        #expect(try await eventually { try b.parcels.access("short") == nil })
        #expect(try a.parcels.access("short") == nil)
        #expect(try a.parcels.expire("long", in: nil))
        let client = try server.client()
        #expect(try client.command("PTTL", "vellum:Parcel:long") == .integer(-1))
        #expect(try a.parcels.expire("long", in: .milliseconds(100)))
        #expect(try await eventually { try b.parcels.access("long") == nil })
        #expect(try a.parcels.expire("long", in: nil) == false)
        #expect(try b.parcels.access("long") == nil)

        for number in 0..<2500 {
            try a.parcels.record(Parcel(number: "o\(number)"), options: .init(owner: "Zoë \(number % 2)"))
        }
        #expect(try b.parcels.access("o0") != nil)
        // It has a new owner.
        try a.parcels.record(Parcel(number: "o2"), options: .init(owner: "another"))
        #expect(try a.parcels.deleteAll(ofOwner: "Zoë 0") == 1249)
        #expect(try await eventually { try b.parcels.access("o0") == nil })
        #expect(try a.parcels.access("o2") != nil)
        #expect(try b.parcels.access("o1") != nil)
        try client.command("SET", "vellum:Parcel2:x", "y")
        #expect(try b.parcels.deleteAll() == 1251)
        #expect(try await eventually { try a.parcels.access("o1") == nil })
        #expect(try client.command("DBSIZE") == .integer(1))
    }

    @Test("invalid keys and owners are refused before a request") func invalidKeysAndOwners() async throws {
        let machine = try await Machine.covered(server.url)
        for owner in ["", String(repeating: "o", count: 256)] {
            #expect(throws: StorageError.self) {
                try machine.parcels.record(Parcel(number: "k"), options: .init(owner: owner))
            }
            #expect(throws: StorageError.self) { try machine.parcels.deleteAll(ofOwner: owner) }
        }
        for key in ["", String(repeating: "k", count: 1025)] {
            #expect(throws: StorageError.self) { try machine.parcels.record(Parcel(number: key)) }
            #expect(throws: StorageError.self) { try machine.parcels.access(key) }
        }
        #expect(try server.client().command("DBSIZE") == .integer(0))
        let owner = String(repeating: "o", count: 255)
        try machine.parcels.record(
            Parcel(number: "k", weight: 3), options: .init(inMemory: .seconds(5), owner: owner))
        let other = try await Machine.covered(server.url)
        #expect(try other.parcels.access("k")?.weight == 3)
        #expect(try machine.parcels.deleteAll(ofOwner: owner) == 1)
    }

    @Test("concurrent look-ups of a key share one request") func sharedRequests() async throws {
        let proxy = try Proxy(to: server.port)
        defer { withExtendedLifetime(proxy) {} }
        let a = try Machine(server.url)
        // Long timeouts, so that a busy machine doesn't lose the connection.
        let b = try await Machine.covered(proxy.url) {
            $0.heartbeat = .seconds(60)
            $0.timeout = .seconds(60)
        }
        try a.parcels.record(Parcel(number: "wanted", weight: 1))
        proxy.hold(true)
        let found = await withTaskGroup(of: Parcel?.self) { group in
            for _ in 0..<64 { group.addTask { try? await b.parcels.asynchronous.access("wanted") } }
            try? await Task.sleep(for: .milliseconds(300))
            proxy.hold(false)
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(found == Array(repeating: Parcel(number: "wanted", weight: 1), count: 64))
        let statistics = try b.parcels.statistics()
        #expect(statistics.fetches == 1 && statistics.shared == 63)
    }

    // MARK: Failures

    @Test("a lost connection is detected and reopened") func lostConnection() async throws {
        let proxy = try Proxy(to: server.port)
        defer { withExtendedLifetime(proxy) {} }
        let (a, b) = (try Machine(server.url), try await Machine.covered(proxy.url))
        for round in 0..<5 {
            try a.parcels.record(Parcel(number: "k", weight: round))
            #expect(try await eventually { try b.parcels.access("k")?.weight == round })
            proxy.cut()
            try a.parcels.record(Parcel(number: "k", weight: 100 + round))
            // Results must not have been outdated before the loss.
            #expect(
                try await eventually {
                    guard let found = try? b.parcels.access("k") else { return false }
                    return found.weight == 100 + round
                })
            #expect(try await b.isTracked())
        }
        #expect(try b.parcels.statistics().health.connections == 6)
    }

    @Test("a silent connection counts as lost after the timeout") func silentConnection() async throws {
        let proxy = try Proxy(to: server.port)
        defer { withExtendedLifetime(proxy) {} }
        let a = try Machine(server.url)
        let b = try await Machine.covered(proxy.url) {
            $0.heartbeat = .milliseconds(200)
            $0.timeout = .milliseconds(500)
        }
        try a.parcels.record(Parcel(number: "k", weight: 1))
        #expect(try b.parcels.access("k")?.weight == 1)
        proxy.silence(true)
        try a.parcels.record(Parcel(number: "k", weight: 2))
        let start = ContinuousClock.now
        var latest: ContinuousClock.Instant?
        #expect(
            try await eventually(within: 20) {
                guard let found = try? b.parcels.access("k") else { return true }
                if found.weight == 1 { latest = .now }
                return false
            })
        // Memory answered until then, and not longer than allowed; later look-ups sent requests.
        if let latest { #expect(latest - start < b.tier.staleness + .seconds(5)) }
        #expect(throws: RemoteError.self) { try b.parcels.access("k") }
        proxy.silence(false)
        proxy.cut()
        #expect(try await eventually { (try? b.parcels.access("k")?.weight) == 2 })
    }

    @Test("stale copies are returned on request") func staleCopies() async throws {
        let proxy = try Proxy(to: server.port)
        defer { withExtendedLifetime(proxy) {} }
        let machine = try await Machine.covered(proxy.url, whenUntracked: .serveStale(for: .seconds(600)))
        try machine.parcels.record(Parcel(number: "k", weight: 1))
        server.stop()
        #expect(try await eventually { !machine.parcels.isTracked })
        #expect(try machine.parcels.access("k")?.weight == 1)
        #expect(throws: RemoteError.self) { try machine.parcels.access("unknown") }
        #expect(throws: RemoteError.self) { try machine.parcels.record(Parcel(number: "k", weight: 2)) }
        let statistics = try machine.parcels.statistics()
        #expect(statistics.staleHits >= 1 && statistics.health.trouble != nil && !statistics.isTracked)
        try await server.start()
        // The restarted server is empty.
        #expect(try await eventually { try machine.parcels.access("k") == nil })
    }

    @Test("a server that starts later is found") func lateServer() async throws {
        server.stop()
        let machine = try Machine(server.url)
        #expect(try await eventually { try machine.parcels.statistics().health.trouble != nil })
        let error = #expect(throws: RemoteError.self) { try machine.parcels.access("k") }
        #expect("\(try #require(error))".contains("127.0.0.1:\(server.port) can't be reached"))
        try await server.start()
        #expect(try await machine.isTracked())
        #expect(try machine.parcels.access("k") == nil)
    }

    @Test("a wrong or missing password is refused") func passwords() async throws {
        try server.client().command("CONFIG", "SET", "requirepass", "sesam öffne")
        let right = try await Machine.covered("valkey://:sesam%20%C3%B6ffne@127.0.0.1:\(server.port)")
        try right.parcels.record(Parcel(number: "k"))
        for url in ["valkey://:wrong@127.0.0.1:\(server.port)", server.url] {
            let wrong = try Machine(url)
            #expect(try await eventually { try wrong.parcels.statistics().health.trouble != nil })
            let error = #expect(throws: RemoteError.self) { try wrong.parcels.access("k") }
            #expect("\(try #require(error))".contains("refuses"), "\(url)")
        }
    }

    @Test("a full server refuses objects and keeps the present ones") func fullServer() async throws {
        let server = try await ValkeyServer(["--maxmemory", "3mb", "--maxmemory-policy", "noeviction"])
        defer { withExtendedLifetime(server) {} }
        let machine = try await Machine.covered(server.url)
        try machine.parcels.record(Parcel(number: "first", weight: 1))
        let large = String(repeating: "x", count: 200_000)
        var refused: RemoteError?
        for number in 0..<40 where refused == nil {
            do {
                try machine.parcels.record(Parcel(number: "\(number)", note: large))
            } catch let error as RemoteError {
                refused = error
            }
        }
        #expect("\(try #require(refused))".contains("OOM"))
        #expect(throws: RemoteError.self) {
            try machine.parcels.record(Parcel(number: "first", weight: 2, note: large))
        }
        #expect(try machine.parcels.access("first")?.weight == 1)
        #expect(try machine.parcels.statistics().health.refusals >= 2)
    }

    @Test("values of other programs throw and stay") func foreignValues() async throws {
        let machine = try Machine(server.url)
        let client = try server.client()
        try client.command("SET", "vellum:Parcel:text", "hello")
        try client.command("RPUSH", "vellum:Parcel:list", "a")
        try client.command("SET", "vellum:Parcel:short", "VLM1")
        #expect(try await machine.isTracked())
        for key in ["text", "list", "short"] {
            #expect(throws: RemoteError.self, "\(key)") { try machine.parcels.access(key) }
        }
        #expect(try client.command("DBSIZE") == .integer(3))
        try machine.parcels.record(Parcel(number: "text", weight: 3))
        #expect(try machine.parcels.access("text")?.weight == 3)
        // Change one byte of the value.
        let last = try #require(try client.command("STRLEN", "vellum:Parcel:text").number) - 1
        try client.command("SETRANGE", "vellum:Parcel:text", "\(last)", "?")
        #expect(
            try await eventually {
                do { return try machine.parcels.access("text") == nil } catch {
                    return "\(error)".contains("checksum")
                }
            })
    }

    /// Copies on disk are compared with the server once.
    @Test("copies of former processes are used after a comparison")
    func copiesOfFormerProcesses() async throws {
        let store = Machine.newStore()
        let before = try await Machine.covered(server.url, store: store)
        for number in 0..<10 { try before.parcels.record(Parcel(number: "\(number)", weight: number)) }
        // Another factory of the same store, like another process.
        let after = try await Machine.covered(server.url, store: store)
        try server.client().command("DEL", "vellum:Parcel:3")
        for number in 0..<10 {
            #expect(try after.parcels.access("\(number)")?.weight == (number == 3 ? nil : number))
        }
        let statistics = try after.parcels.statistics()
        #expect(statistics.confirmed == 9 && statistics.missing == 1 && statistics.fetches == 10)
        for number in 4..<10 { #expect(try after.parcels.access("\(number)")?.weight == number) }
        #expect(try after.parcels.statistics().fetches == 10)
    }

    // MARK: Write-behind

    @Test("changes are queued while the server is unreachable") func queuedChanges() async throws {
        let other = try Machine(server.url)
        let machine = try await Machine.covered(server.url, writes: .behind(mostKeys: 100))
        try machine.parcels.record(Parcel(number: "before", weight: 1))
        try machine.parcels.flush()
        server.stop()
        #expect(try await eventually { !machine.parcels.isTracked })
        for round in 0..<3 {
            for number in 0..<99 { try machine.parcels.record(Parcel(number: "\(number)", weight: round)) }
        }
        #expect(try machine.parcels.delete("before"))
        #expect(throws: RemoteError.self) { try machine.parcels.record(Parcel(number: "one more")) }
        try machine.parcels.record(Parcel(number: "7", weight: 77))
        // Own changes are visible, with any content of memory.
        for number in 0..<99 {
            #expect(try machine.parcels.access("\(number)")?.weight == (number == 7 ? 77 : 2))
        }
        #expect(try await machine.parcels.asynchronous.access("before") == nil)
        #expect(try machine.parcels.statistics().waitingKeys == 100)
        #expect(throws: RemoteError.self) { try machine.parcels.flush(within: .milliseconds(50)) }
        #expect(throws: RemoteError.self) { try machine.parcels.access("unknown") }
        try await server.start()
        try machine.parcels.flush(within: .seconds(30))
        #expect(try await other.isTracked())
        #expect(try other.parcels.access("7")?.weight == 77)
        #expect(try other.parcels.access("8")?.weight == 2)
        #expect(try server.client().command("DBSIZE") == .integer(99))
        #expect(try machine.parcels.statistics().lostChanges == 0)
    }

    /// A record with an owner takes two steps.
    @Test("changes of a key keep their order") func orderOfChanges() async throws {
        let machine = try await Machine.covered(server.url, writes: .behind())
        let other = try Machine(server.url)
        #expect(try await other.isTracked())
        for round in 0..<200 {
            try machine.parcels.record(Parcel(number: "k", weight: 2 * round), options: .init(owner: "ada"))
            if round % 2 == 0 {
                try machine.parcels.delete("k")
            } else {
                try machine.parcels.record(Parcel(number: "k", weight: 2 * round + 1))
            }
            try machine.parcels.flush()
            let wanted = round % 2 == 0 ? nil : 2 * round + 1
            #expect(try machine.parcels.access("k")?.weight == wanted)
            #expect(try await eventually(within: 5) { try other.parcels.access("k")?.weight == wanted })
        }
    }

    @Test("refused changes are counted as lost") func refusedChanges() async throws {
        let machine = try await Machine.covered(server.url, writes: .behind())
        try machine.parcels.record(Parcel(number: "k", weight: 1))
        try machine.parcels.flush()
        try server.client().command("ACL", "SETUSER", "default", "-set")
        try machine.parcels.record(Parcel(number: "k", weight: 2))
        try machine.parcels.flush()
        #expect(try machine.parcels.statistics().lostChanges == 1)
        // The server's object is valid.
        #expect(try await eventually { try machine.parcels.access("k")?.weight == 1 })
    }

    @Test("machines that write behind converge to the server's objects") func convergence() async throws {
        let machines = try (0..<2).map { _ in try Machine(server.url, writes: .behind()) }
        for machine in machines { #expect(try await machine.isTracked()) }
        let writers = machines.enumerated().map { place, machine in
            Background {
                var random = SeededGenerator(seed: UInt64(place))
                for round in 0..<3000 {
                    let key = "\(Int.random(in: 0..<20, using: &random))"
                    switch Int.random(in: 0..<8, using: &random) {
                    case 0: try machine.parcels.delete(key)
                    case 1...3: try machine.parcels.record(Parcel(number: key, weight: 10 * round + place))
                    default: _ = try machine.parcels.access(key)
                    }
                }
            }
        }
        for writer in writers { try writer.wait() }
        for machine in machines { try machine.parcels.flush() }
        let truth = try await Machine.covered(server.url)
        for key in 0..<20 {
            let wanted = try truth.parcels.access("\(key)")
            for machine in machines {
                #expect(try await eventually { try machine.parcels.access("\(key)") == wanted })
            }
        }
    }

    @Test("databases are separate") func databases() async throws {
        let (zero, seven) = (try Machine(server.url), try Machine(server.url + "/7"))
        try zero.parcels.record(Parcel(number: "k", weight: 1))
        #expect(try await seven.isTracked())
        #expect(try seven.parcels.access("k") == nil)
        try seven.parcels.record(Parcel(number: "k", weight: 7))
        #expect(try zero.parcels.access("k")?.weight == 1)
        #expect(try server.client().command("DBSIZE") == .integer(1))
        let none = try Machine(server.url + "/99")
        #expect(
            try await eventually {
                try none.parcels.statistics().health.trouble?.contains("DB index") == true
            })
    }
}

/// The objects of the example in Assets/manual/Library.md.
struct User: ArchiveCodable, Sendable {
    var primaryKey: String { userName }
    var userName: String
    var fullName = ""
    var age: Int
}

@Suite struct ManualExampleTests {
    @Test("the manual has the compiled example") func exampleIsCompiled() throws {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let page = try String(
            contentsOf: root.appending(path: "Assets/manual/Library.md"), encoding: .utf8)
        let source = try String(
            contentsOf: root.appending(path: "Tests/ValkeyTests/ManualExample.swift"), encoding: .utf8)
        let code = source.split(separator: "\n", omittingEmptySubsequences: false).dropFirst().dropLast(2)
            .joined(separator: "\n")
        #expect(code.hasPrefix("import Vellum\n"))
        #expect(page.contains("```swift\n\(code)\n```\n"))
    }
}

@Suite struct ValkeyAddressTests {
    @Test(arguments: [
        ("valkey://h", "valkey://h:6379/0"), ("redis://h:1/2", "valkey://h:1/2"),
        ("valkey://ada:pass@h/", "valkey://ada@h:6379/0"), ("valkey://[::1]:7/1", "valkey://[::1]:7/1"),
        ("valkey://:a%40b%3A@h:2", "valkey://h:2/0"), ("valkey://u:p@q@h", "valkey://u@h:6379/0"),
        ("valkeys://h", "valkeys://h:6379/0"), ("rediss://u:p@h:1/2", "valkeys://u@h:1/2"),
    ])
    func validAddresses(url: String, description: String) throws {
        #expect("\(try ValkeyAddress(url))" == description)
        #expect(try ValkeyAddress("valkey://:a%40b%3A@h:2").password == "a@b:")
    }

    @Test(arguments: [
        "h:6379", "valkey://", "valkey://h:0", "valkey://h:x", "valkey://h/x", "valkey://h/-1",
        "valkey://u@h",
        "valkey://:%4@h", "valkey://:%zz@h", "valkey://[::1", "http://u:secret@h", "valkeys://h?roots=a",
    ])
    func invalidAddresses(url: String) {
        let error = #expect(throws: ValkeyAddressError.self) { try ValkeyAddress(url) }
        #expect(error?.description.contains("secret") == false)
    }
}
#endif
