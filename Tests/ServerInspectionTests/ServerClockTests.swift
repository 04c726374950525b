import Foundation
import ServerInspection
import ServerSupport
import StorageEngine
import StoreInspection
import TestSupport
import Testing
import ValkeyWire

/// The server reports false times, or its clock is set between two commands.
@Suite(.serialized, .enabled(if: ValkeyServer.program != nil, "no server is installed"))
struct ServerClockTests {
    /// Seconds added to the server's replies to `TIME`, except in transactions.
    private final class Offset: Sendable {
        let seconds = Guarded(0)
    }

    private let offset = Offset()

    private func proxy(_ served: Served) throws -> Interposer {
        let offset = offset
        return try Interposer(
            to: served.server.port,
            changing: { command, answer in
                let seconds = offset.seconds.withLock { $0 }
                let lines = String(decoding: answer, as: UTF8.self).split(separator: "\r\n")
                guard command == ["TIME"], seconds != 0, lines.count == 5, let time = Int(lines[2]) else {
                    return answer
                }
                return Array("*2\r\n:\(time + seconds)\r\n:\(lines[4])\r\n".utf8)
            })
    }

    private func set(_ seconds: Int) { offset.seconds.withLock { $0 = seconds } }

    @Test("a TTL is a duration, whatever time the server reports", arguments: [-4200, 4200])
    func lifetimes(seconds: Int) async throws {
        let served = try await Served()
        let proxy = try proxy(served)
        let changes = try served.changes(by: proxy)
        let keys = try served.fill(keys: 3)
        for lifetime in [100, 3600] {
            set(seconds)
            let carried = try changes.carryOut(.setLifetime(.seconds(lifetime)), on: served.targets(keys))
            #expect(carried.stopped == nil && carried.outcome.entries == 3)
            for key in keys {
                let left = try served.ask("PTTL", key).number ?? 0
                #expect((lifetime * 1000 - 20_000...lifetime * 1000).contains(Int(left)), "\(left)")
            }
            set(0)
            #expect(try served.undo(carried, by: changes).outcome.entries == 3)
            for key in keys { #expect(try served.ask("PTTL", key).number == -1) }
        }
    }

    @Test("keys without an expiry time are restored whatever the clocks show", arguments: [true, false])
    func keysWithoutExpiryTimes(isFalseAtDeletion: Bool) async throws {
        let served = try await Served()
        let proxy = try proxy(served)
        let changes = try served.changes(by: proxy)
        let keys = try served.fill(keys: 3)
        set(isFalseAtDeletion ? 200_000 : 0)
        let carried = try changes.carryOut(.delete, on: served.targets(keys))
        #expect(carried.outcome.entries == 3)
        set(isFalseAtDeletion ? 0 : 200_000)
        let undone = try served.undo(carried, by: changes)
        #expect(undone.outcome.entries == 3 && undone.stopped == nil)
    }

    @Test("a key whose expiry time couldn't be restored isn't deleted")
    func keysWithExpiryTimes() async throws {
        let served = try await Served()
        try served.ask("SET", "k", "value", "PX", "1000000")
        let proxy = try proxy(served)
        let changes = try served.changes(by: proxy)
        for seconds in [200_000, -200_000, 7200] {
            set(seconds)
            let carried = try changes.carryOut(.delete, on: served.targets(["k"]))
            #expect(carried.outcome.entries == 0 && carried.stopped != nil, "\(seconds)")
        }
        let false1970 = try served.proxy { ["PEXPIRETIME", "PTTL"].contains($0.first) ? ":1\r\n" : nil }
        if try served.connection.capabilities().reportsExpiryTimes {
            let carried = try served.changes(by: false1970).carryOut(.delete, on: served.targets(["k"]))
            #expect(carried.outcome.entries == 0 && carried.stopped != nil)
        }
        #expect(try served.ask("EXISTS", "k").number == 1)
    }

    @Test("an undo keeps the copies of keys that have expired by the server's time only")
    func keptCopies() async throws {
        let served = try await Served()
        try served.ask("SET", "k", "value", "PX", "1000000")
        let proxy = try proxy(served)
        let changes = try served.changes(by: proxy)
        let carried = try changes.carryOut(.delete, on: served.targets(["k"]))
        set(7200)
        let kept = try served.undo(carried, by: changes)
        #expect(kept.outcome.entries == 0 && kept.outcome.expired == 0 && !kept.outcome.isComplete)
        #expect(kept.stopped != nil)
        #expect(try changes.reversible().first?.entries == 1)
        set(0)
        #expect(try served.undo(carried, by: changes).outcome.entries == 1)
        #expect(try served.ask("PTTL", "k").number ?? 0 > 900_000)
    }

    @Test("an undo doesn't drop or delete keys whose expiry time has passed by this machine's clock only")
    func passedExpiryTimes() async throws {
        let served = try await Served()
        try served.ask("SET", "former", "value", "PX", "500")
        try served.ask("SET", "new", "value")
        let proxy = try proxy(served)
        let changes = try served.changes(by: proxy)
        let never = try changes.carryOut(.setLifetime(nil), on: served.targets(["former"]))
        let soon = try changes.carryOut(.setLifetime(.milliseconds(100)), on: served.targets(["new"]))
        try await Task.sleep(for: .milliseconds(2700))
        #expect(try served.ask("EXISTS", "new").number == 0)
        set(-3600)
        #expect(try served.undo(never, by: changes).outcome.entries == 0)
        #expect(try served.undo(soon, by: changes).outcome.entries == 0)
        #expect(try served.ask("EXISTS", "former").number == 1)
        set(0)
        #expect(try served.undo(soon, by: changes).outcome.entries == 1)
        #expect(try served.ask("PTTL", "new").number == -1)
    }
}
