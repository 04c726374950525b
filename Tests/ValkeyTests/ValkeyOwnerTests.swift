#if Valkey
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

/// Owners' objects, and the sets in which the server keeps their keys.
@Suite(
    .serialized, .enabled(if: ValkeyServer.program != nil, "there is neither valkey-server nor redis-server"))
struct ValkeyOwnerTests {
    private let server: ValkeyServer

    init() async throws { server = try await ValkeyServer() }

    private let set = "vellum:Parcel;owner:o"

    @Test("an object whose TTL is extended stays in its owner's set") func extendedTTL() async throws {
        let machine = try await Machine.covered(server.url)
        let client = try server.client()
        try machine.parcels.record(Parcel(number: "k"), options: .init(expiresIn: .seconds(10), owner: "o"))
        let score = { try client.command("ZSCORE", set, "k") }
        let before = try score()
        #expect(try machine.parcels.expire("k", in: .seconds(5000)))
        guard case .bytes = before, case .bytes(let after) = try score() else {
            Issue.record("no number")
            return
        }
        let now = Date().timeIntervalSince1970 * 1000
        let end = try #require(Double(String(decoding: after, as: UTF8.self)))
        #expect(end > now + 4_000_000)
        #expect(try machine.parcels.expire("k", in: nil))
        #expect(try score() == .bytes(Array("inf".utf8)))
        #expect(try machine.parcels.deleteAll(ofOwner: "o") == 1)
        #expect(try client.command("DBSIZE") == .integer(0))
    }

    @Test("an owner's set expires with the last of its objects") func expiryOfSets() async throws {
        let machine = try await Machine.covered(server.url)
        let client = try server.client()
        let left = { try #require(try client.command("PTTL", set).number) }
        try machine.parcels.record(Parcel(number: "k"), options: .init(expiresIn: .seconds(100), owner: "o"))
        #expect((100_000...160_000).contains(try left()))
        try machine.parcels.record(Parcel(number: "l"), options: .init(expiresIn: .seconds(1000), owner: "o"))
        #expect((1_000_000...1_060_000).contains(try left()))
        try machine.parcels.record(Parcel(number: "m"), options: .init(owner: "o"))
        #expect(try left() == -1)
        // Deleted objects and those of a new owner leave the set.
        try machine.parcels.delete("m")
        try machine.parcels.record(Parcel(number: "l"), options: .init(owner: "p"))
        #expect(try await eventually { try client.command("ZCARD", set) == .integer(1) })
        #expect(try client.command("ZCARD", "vellum:Parcel;owner:p") == .integer(1))
        try machine.parcels.delete("l")
        try machine.parcels.delete("k")
        #expect(try await eventually { try client.command("DBSIZE") == .integer(0) })
    }

    @Test("an owner's set doesn't grow with keys that the server evicts or others delete")
    func evictedNames() async throws {
        let machine = try await Machine.covered(server.url)
        let client = try server.client()
        for number in 0..<100 {
            try machine.parcels.record(Parcel(number: "here \(number)"), options: .init(owner: "o"))
        }
        for number in 0..<1500 {
            try machine.parcels.record(Parcel(number: "\(number)"), options: .init(owner: "o"))
            try client.command("DEL", "vellum:Parcel:\(number)")
        }
        let names = try #require(try client.command("ZCARD", set).number)
        #expect(names < 600, "\(names)")
        // No present object is lost.
        #expect(try machine.parcels.deleteAll(ofOwner: "o") == 100)
    }

    @Test("another program's value among an owner's keys is left unchanged") func otherValues() async throws {
        let machine = try await Machine.covered(server.url)
        let client = try server.client()
        for key in ["a", "b", "c"] {
            try machine.parcels.record(Parcel(number: key), options: .init(owner: "o"))
        }
        try client.command("DEL", "vellum:Parcel:b")
        try client.command("RPUSH", "vellum:Parcel:b", "x")
        #expect(try machine.parcels.deleteAll(ofOwner: "o") == 2)
        #expect(try client.command("LLEN", "vellum:Parcel:b") == .integer(1))
        #expect(try machine.parcels.delete("b"))
    }

    @Test("deleting an owner's objects ends while others record for the owner")
    func deletingDuringRecords() async throws {
        let proxy = try Proxy(to: server.port)
        defer { withExtendedLifetime(proxy) {} }
        let (machine, other) = (try await Machine.covered(proxy.url), try Machine(server.url))
        for number in 0..<1000 {
            try machine.parcels.record(Parcel(number: "\(number)"), options: .init(owner: "o"))
        }
        let isOver = Atomic(false)
        let ranOut = Atomic(0)
        proxy.slow(10)
        let writers = (0..<4).map { lane in
            Background {
                var number = 0
                while !isOver.load(ordering: .relaxed), number < 20_000 {
                    try other.parcels.record(
                        Parcel(number: "new \(lane) \(number % 500)"), options: .init(owner: "o"))
                    number += 1
                }
                if number == 20_000 { ranOut.add(1, ordering: .relaxed) }
            }
        }
        let deletion = Background { _ = try machine.parcels.deleteAll(ofOwner: "o") }
        try deletion.wait()
        isOver.store(true, ordering: .relaxed)
        for writer in writers { try writer.wait() }
        #expect(ranOut.load(ordering: .relaxed) == 0)
        proxy.slow(0)
        for number in 0..<1000 { #expect(try machine.parcels.access("\(number)") == nil) }
        // All remaining objects are the owner's.
        try machine.parcels.deleteAll(ofOwner: "o")
        #expect(try await eventually { try server.client().command("DBSIZE") == .integer(0) })
    }

    @Test("a deletion that the server refuses halfway has an uncertain outcome")
    func interruptedDeletion() async throws {
        let machine = try await Machine.covered(server.url)
        for number in 0..<10 {
            try machine.parcels.record(Parcel(number: "\(number)"), options: .init(owner: "o"))
        }
        let client = try server.client()
        for (rule, owner) in [("-zrem", "o"), ("-unlink", nil)] {
            try client.command("ACL", "SETUSER", "default", rule)
            let error = #expect(throws: RemoteError.self) { try machine.parcels.deleteAll(ofOwner: owner) }
            guard case .unanswered? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            try client.command("ACL", "SETUSER", "default", "+@all")
        }
        // Refused before any change was sent.
        try client.command("ACL", "SETUSER", "default", "-scan")
        let error = #expect(throws: RemoteError.self) { try machine.parcels.deleteAll() }
        guard case .refused? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
#endif
