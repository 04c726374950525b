#if Valkey
import Foundation
import Nest
import NestRemote
import ServerSupport
import TestSupport
import Testing
import VellumRemote
import VellumValkey

struct NestReport: Codable, Equatable {
    var title: String
    var pages = 1
}

final class NestVisit: Codable {
    var count = 0
}

/// Nests of several machines that share a server.
@Suite(
    .serialized, .enabled(if: ValkeyServer.program != nil, "there is neither valkey-server nor redis-server"))
struct RemoteNestTests {
    private let server: ValkeyServer

    init() async throws { server = try await ValkeyServer() }

    private func nest(writes: RemoteWrites = .through) throws -> RemoteNest {
        try RemoteNest(
            store: URL(fileURLWithPath: Machine.newStore()), remote: try ValkeyTier(server.url),
            writes: writes)
    }

    private func isTracked(_ nests: RemoteNest...) async throws -> Bool {
        try await eventually(within: 20) { nests.allSatisfy(\.isTracked) }
    }

    @Test("items added by one machine are found by others") func sharedItems() async throws {
        let (a, b) = (try nest(), try nest())
        #expect(try await isTracked(a, b))
        try a.add(item: NestReport(title: "one"), withKey: "r", expirationPolicy: .medium)
        #expect(try b["r"] as? NestReport == NestReport(title: "one"))
        // From memory.
        #expect(try b["r"] as? NestReport == NestReport(title: "one"))
        #expect(try b.statistics().fetches == 1)
        #expect(try b["other"] == nil)
        for round in 2..<8 {
            try await a.asynchronous.add(
                item: NestReport(title: "one", pages: round), withKey: "r", expirationPolicy: .medium)
            #expect(try await eventually { try (b["r"] as? NestReport)?.pages == round })
        }
        // Items of any type.
        try b.add(item: ["a": [1, 2]], withKey: "r", expirationPolicy: .never)
        #expect(try await eventually { try a["r"] as? [String: [Int]] == ["a": [1, 2]] })
        #expect(try await b.asynchronous.item(withKey: "r") as? [String: [Int]] == ["a": [1, 2]])
        try a.removeItem(with: "r")
        #expect(try await eventually { try b["r"] == nil })
    }

    @Test("expiry times are stored on the server") func expiryTimes() async throws {
        let (a, b) = (try nest(), try nest())
        #expect(try await isTracked(a, b))
        let client = try server.client()
        let left = { try client.command("PTTL", "vellum:Nest:k").number ?? 0 }
        func add(_ policy: ExpirationPolicy, _ persistance: PersistancePolicy) throws {
            try a.add(
                item: "text", withKey: "k", expirationPolicy: policy, andPersistancePolicy: persistance)
        }
        try add(.short, .disabled)
        #expect((1...60_000).contains(try left()))
        try add(.max, .mirror)
        #expect((800_000...900_000).contains(try left()))
        try add(.short, .medium)
        #expect((2 * 86_400_000...3 * 86_400_000).contains(try left()))
        try add(.never, .disabled)
        #expect(try left() == -1)
        a.expirationIntervals.short = 0.3
        try add(.short, .disabled)
        #expect(try await eventually { try b["k"] == nil })
        #expect(try await eventually { try a["k"] == nil })
        // Expires at once, and replaces the previous item.
        try add(.never, .disabled)
        try add(.custom(0), .disabled)
        #expect(try a["k"] == nil && left() == -2)
        // Expires in memory before it expires on disk; then it is read from disk, without a request.
        try a.add(
            item: NestVisit(), withKey: "k", expirationPolicy: .custom(0.2), andPersistancePolicy: .long)
        let found = try b["k"] as? NestVisit
        let fetches = try b.statistics().fetches
        #expect(found != nil)
        #expect(try await eventually { try b["k"] as? NestVisit !== found })
        #expect(try b.statistics().fetches == fetches)
    }

    @Test("clearing an owner removes only its items, for all machines") func ownersAndClearing() async throws
    {
        let (a, b) = (try nest(), try nest())
        #expect(try await isTracked(a, b))
        for owner in ["Zoë", "b-c"] {
            for number in 0..<20 {
                try a.add(
                    item: number, withKey: Nest.key(with: owner, parameters: ["\(number)"]),
                    expirationPolicy: .long)
            }
        }
        let (first, second) = (
            Nest.key(with: "Zoë", parameters: ["3"]), Nest.key(with: "b-c", parameters: ["3"])
        )
        #expect(try b[first] as? Int == 3 && b[second] as? Int == 3)
        try await b.asynchronous.clear(ItemsOf: "b-c")
        #expect(try b[second] == nil && b[first] as? Int == 3)
        #expect(try await eventually { try a[second] == nil })
        try a.clear()
        #expect(try await eventually { try b[first] == nil })
        #expect(try server.client().command("DBSIZE") == .integer(0))
    }

    /// Callers share the instance in memory; other machines have their own.
    @Test("callers of one machine share the instance in memory") func instancesAreShared() async throws {
        let (a, b) = (try nest(), try nest())
        #expect(try await isTracked(a, b))
        let visit = NestVisit()
        try a.add(item: visit, withKey: "v", expirationPolicy: .long)
        #expect(try a["v"] as? NestVisit === visit)
        let found = try #require(try b["v"] as? NestVisit)
        #expect(found !== visit && found.count == 0)
        #expect(try b["v"] as? NestVisit === found)
        #expect(throws: (any Error).self) {
            try a.add(item: { 1 } as () -> Int, withKey: "f", expirationPolicy: .long)
        }
        #expect(try b["f"] == nil)
    }

    @Test("queued items are sent when the server is reachable again") func writeBehind() async throws {
        let (a, b) = (try nest(writes: .behind()), try nest())
        #expect(try await isTracked(a, b))
        server.stop()
        #expect(try await eventually { !a.isTracked })
        try a.add(item: 7, withKey: "k", expirationPolicy: .long)
        #expect(try a["k"] as? Int == 7)
        #expect(try await a.asynchronous.item(withKey: "k") as? Int == 7)
        #expect(throws: RemoteError.self) { try b["k"] }
        try await server.start()
        try await a.asynchronous.flush(within: .seconds(30))
        #expect(try await isTracked(a, b))
        #expect(try b["k"] as? Int == 7)
        #expect(try a.statistics().records == 1)
    }
}
#endif
