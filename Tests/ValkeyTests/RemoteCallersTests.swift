#if Valkey
import Dispatch
import Foundation
import ServerSupport
import StorageEngine
import Synchronization
import Testing
import TestSupport
import ValkeyWire
import Vellum
import VellumRemote
import VellumValkey

/// An object that records which thread released it.
struct Tenant: ArchiveCodable, Sendable {
    enum CodingKeys: CodingKey { case name }

    var primaryKey: String { name }
    let name: String
    let guest = Guest()
}

final class Guest: Sendable {
    /// Names of threads.
    static let released = Mutex<[String: Int]>([:])

    deinit {
        #if canImport(Darwin)
        var name = [CChar](repeating: 0, count: 64)
        pthread_getname_np(pthread_self(), &name, name.count)
        let thread = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        #else
        let thread = (try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)) ?? "?"
        #endif
        Guest.released.withLock { $0[thread, default: 0] += 1 }
    }
}

/// Results and statistics of callers.
@Suite(
    .serialized, .enabled(if: ValkeyServer.program != nil, "there is neither valkey-server nor redis-server"))
struct RemoteCallersTests {
    private let server: ValkeyServer

    init() async throws { server = try await ValkeyServer() }

    /// Callers waiting for one request may block all threads of the pool, so the response must not need one.
    @Test("callers that block the whole thread pool get their response")
    func blockedThreadPool() async throws {
        let proxy = try Proxy(to: server.port)
        defer { withExtendedLifetime(proxy) {} }
        let machine = try await Machine.covered(proxy.url) {
            $0.heartbeat = .seconds(60)
            $0.timeout = .seconds(60)
        }
        try Machine(server.url).parcels.record(Parcel(number: "wanted", weight: 1))
        proxy.hold(true)
        let asked = Task { try await machine.parcels.asynchronous.access("wanted") }
        #expect(try await eventually { try machine.parcels.statistics().fetches == 1 })
        let (begun, found) = (Counter(), Counter())
        for _ in 0..<400 {
            DispatchQueue.global(qos: .userInitiated).async {
                begun.add()
                if (try? machine.parcels.access("wanted"))?.weight == 1 { found.add() }
            }
        }
        // Until the pool starts no more threads.
        var before = -1
        while begun.count < 400, begun.count != before {
            before = begun.count
            try await Task.sleep(for: .milliseconds(300))
        }
        #expect(before > 1)
        proxy.hold(false)
        try #require(try await eventually(within: 60) { found.count == 400 })
        #expect(try await asked.value?.weight == 1)
        #expect(try machine.parcels.statistics().fetches == 1)
    }

    @Test("an object and its TTL are read in one transaction") func valueWithTTL() async throws {
        let machine = try await Machine.covered(server.url)
        #expect(try machine.parcels.access("k") == nil)
        let statistics = try server.client().command("INFO", "commandstats").text
        #expect(statistics?.contains("cmdstat_exec:calls=1,") == true)
        #expect(statistics?.contains("cmdstat_pttl:calls=1,") == true)
    }

    @Test("stale copies are not older than allowed") func stalenessLimit() async throws {
        let store = Machine.newStore()
        let before = try await Machine.covered(server.url, store: store)
        try before.parcels.record(Parcel(number: "k", weight: 1))
        server.stop()
        #expect(try await eventually { !before.parcels.isTracked })
        let lenient = try Machine(server.url, store: store, whenUntracked: .serveStale(for: .seconds(600)))
        #expect(try lenient.parcels.access("k")?.weight == 1)
        // Like another process, later.
        try await Task.sleep(for: .milliseconds(1100))
        let strict = try Machine(
            server.url, store: store, whenUntracked: .serveStale(for: .milliseconds(1000)))
        #expect(throws: RemoteError.self) { try strict.parcels.access("k") }
        #expect(try strict.parcels.statistics().staleHits == 0)
    }

    @Test("trusted copies are returned as stale, at any age") func staleTrustedCopies() async throws {
        let machine = try await Machine.covered(server.url, whenUntracked: .serveStale(for: .seconds(600)))
        for key in ["k", "l"] { try machine.parcels.record(Parcel(number: key, weight: 1)) }
        server.stop()
        #expect(try await eventually { !machine.parcels.isTracked })
        for _ in 0..<3 { #expect(try machine.parcels.access("k")?.weight == 1) }
        #expect(try machine.parcels.statistics().staleHits == 3)
    }

    @Test("the connection's thread releases no objects") func releasingThread() async throws {
        let tier = try ValkeyTier(server.url)
        let tenants: RemoteArchives<Tenant> = try ArchivesFactory(storePath: Machine.newStore())
            .archives(remote: tier)
        #expect(try await eventually(within: 20) { tenants.isTracked })
        for number in 0..<500 { try tenants.record(Tenant(name: "\(number)")) }
        #expect(try tenants.statistics().near.memoryObjects == 500)
        let before = Guest.released.withLock { $0.values.reduce(0, +) }
        try server.client().command("FLUSHALL")
        #expect(
            try await eventually { Guest.released.withLock { $0.values.reduce(0, +) } >= before + 500 })
        #expect(Guest.released.withLock { $0.keys.filter { $0.hasPrefix("NIO") } } == [])
        let statistics = try tenants.statistics().near
        #expect(statistics.memoryObjects == 0 && statistics.memoryBytes == 0)
        #expect(try await eventually { try tenants.statistics().near.objects == 0 })
    }

    /// Time-outs, shared requests, and changes that are queued and repeated.
    @Test("timeouts, shared requests and repeated changes are counted") func statistics() async throws {
        let proxy = try Proxy(to: server.port)
        defer { withExtendedLifetime(proxy) {} }
        let machine = try Machine(proxy.url) {
            $0.heartbeat = .seconds(60)
            $0.timeout = .milliseconds(300)
        }
        let behind = try await Machine.covered(server.url, writes: .behind()) {
            $0.longestPause = .milliseconds(50)
        }
        #expect(try await machine.isTracked())
        proxy.hold(true)
        let callers = (0..<3).map { _ in Background { _ = try machine.parcels.access("k") } }
        for caller in callers { #expect(throws: RemoteError.self) { try caller.wait() } }
        proxy.hold(false)
        var statistics = try machine.parcels.statistics()
        #expect(statistics.fetches + statistics.shared == 3)
        #expect(statistics.health.timeouts == statistics.fetches && statistics.health.waiting == 0)
        #expect(statistics.failures == statistics.fetches)

        server.stop()
        #expect(try await eventually { !behind.parcels.isTracked })
        try behind.parcels.record(Parcel(number: "k", weight: 1))
        #expect(try await eventually { try behind.parcels.statistics().resent > 0 })
        statistics = try behind.parcels.statistics()
        #expect(statistics.records == 0 && statistics.waitingKeys == 1 && statistics.waitingBytes > 0)
        #expect(statistics.health.unsent > 0 && statistics.health.trouble != nil)
        try await server.start()
        try behind.parcels.flush(within: .seconds(30))
        #expect(try behind.parcels.statistics().records == 1)
    }
}

/// Counted by several threads.
private final class Counter: Sendable {
    private let value = Atomic(0)
    var count: Int { value.load(ordering: .relaxed) }
    func add() { value.add(1, ordering: .relaxed) }
}
#endif
