import Foundation
import ServerInspection
import ServerSupport
import StorageEngine
import StoreInspection
import Testing
import TestSupport
import ValkeyWire

/// Another client writes before each single command of a change and of its undo.
@Suite(.serialized, .enabled(if: ValkeyServer.program != nil, "no server is installed"))
struct InterleavedChangesTests {
    /// Runs `change` through a proxy again and again: before its first command, before its second and so on, another client stores
    /// a value at the key `k`.
    private func interleave(
        _ served: Served, prepare: (ServerChanges) throws -> Void, change: (ServerChanges) throws -> Void,
        then check: (_ step: Int, ServerChanges) throws -> Void
    ) throws {
        // All actions use the proxy's address, because undo records are separate for each address.
        let steps = try Interposer.interleave(["SET", "k", "other"], at: served.server.port) {
            try prepare(served.changes(by: $0))
        } change: {
            try change(served.changes(by: $0))
        } then: {
            try check($0, served.changes(by: $1))
        }
        #expect(steps > 8)
    }

    private func expectOther(_ served: Served, _ step: Int) throws {
        #expect(try served.ask("GET", "k").text == "other", "\(step)")
        #expect(try served.ask("PTTL", "k").number == -1, "\(step)")
    }

    private func expectBeside(_ served: Served, _ step: Int) throws {
        #expect(try served.ask("GET", "l").text == "beside", "\(step)")
        #expect(try served.ask("PTTL", "l").number ?? 0 > 900_000, "\(step)")
    }

    private static let actions: [PlannedAction] = [
        .delete, .expireNow, .setLifetime(.seconds(5000)), .setLifetime(.seconds(100)), .setLifetime(nil),
    ]

    @Test("a value stored during a change is kept by its undo", arguments: actions)
    func writesDuringAChange(action: PlannedAction) async throws {
        let served = try await Served()
        var id: UInt32?
        try interleave(served) { _ in
            try served.ask("SET", "k", "former", "PX", "1000000")
            try served.ask("SET", "l", "beside", "PX", "1000000")
        } change: { changes in
            let targets = ["k", "l"].map { Target(key: $0, sequence: 0, size: 60) }
            id = try changes.carryOut(action, on: targets).outcome.action?.id
        } then: { step, changes in
            let number = try #require(id)
            #expect(try changes.undo(number) != nil)
            try expectOther(served, step)
            try expectBeside(served, step)
        }
    }

    @Test("a value stored during an undo stays, and doesn't get the previous expiry time", arguments: actions)
    func writesDuringAnUndo(action: PlannedAction) async throws {
        let served = try await Served()
        var id: UInt32 = 0
        try interleave(served) { changes in
            try served.ask("SET", "k", "former", "PX", "1000000")
            try served.ask("SET", "l", "beside", "PX", "1000000")
            let carried = try changes.carryOut(action, on: try served.targets(["k", "l"]))
            id = try #require(carried.outcome.action).id
        } change: { changes in
            _ = try changes.undo(id)
        } then: { step, _ in
            try expectOther(served, step)
            try expectBeside(served, step)
        }
    }

    @Test(
        "a value that no longer meets the condition that chose it stays unchanged", arguments: actions,
        [false, true])
    func writesBesideACondition(action: PlannedAction, expires: Bool) async throws {
        let served = try await Served()
        let reader = try served.server.client()
        try interleave(served) { _ in
            try served.ask("SET", "k", "former")
            if expires { try served.ask("PEXPIRE", "k", "1000000") }
            try served.ask("SET", "l", "former", "PX", "1000000")
        } change: { changes in
            let targets = ["k", "l"].map { Target(key: $0, sequence: 0, size: 60) }
            func areFormer(_ keys: [String]) throws(SourceError) -> Set<ExactText> {
                do {
                    let former = try keys.filter { try reader.command("GET", $0).text == "former" }
                    return Set(former.map { ExactText($0) })
                } catch {
                    throw SourceError("\(error)")
                }
            }
            _ = try changes.carryOut(action, on: targets, meeting: areFormer)
        } then: { step, _ in
            try expectOther(served, step)
        }
    }

    @Test(
        "an idle key that is stored before it is copied isn't deleted", arguments: [["k"], ["k", "l"]],
        [false, true])
    func writesToIdleKeys(keys: [String], hasCondition: Bool) async throws {
        let served = try await Served()
        let reader = try served.server.client()
        try served.ask("SET", "k", "former")
        guard case .bytes(let dump) = try served.ask("DUMP", "k") else { throw CocoaError(.fileReadUnknown) }
        for key in keys {
            try served.ask("DEL", key)
            let idle = RESPCommand("RESTORE") + key + "0" + dump + "IDLETIME" + "1000"
            _ = try served.client.command(idle)
        }
        let port = served.server.port
        let isStored = Guarded(false)
        let proxy = try Interposer(
            to: port,
            before: { command in
                guard command == ["DUMP", "k"], !isStored.withLock({ $0 }) else { return }
                isStored.withLock { $0 = true }
                _ = try? PlainClient(port: port).command("SET", "k", "other")
            })
        let changes = try served.changes(by: proxy)
        func areIdle(_ keys: [String]) throws(SourceError) -> Set<ExactText> {
            do {
                let idle = try keys.filter { try reader.command("OBJECT", "IDLETIME", $0).number ?? 0 > 500 }
                return Set(idle.map { ExactText($0) })
            } catch {
                throw SourceError("\(error)")
            }
        }
        let targets = try served.targets(keys)
        let before = Timestamp.now().adding(seconds: -500)
        let carried =
            try hasCondition
            ? changes.carryOut(.delete, on: targets, meeting: areIdle, readsAccesses: true)
            : changes.carryOut(.expireIdle(before: before), on: targets)
        #expect(carried.outcome.entries == keys.count - 1)
        #expect(carried.outcome.skips.map(\.key) == ["k"])
        #expect(carried.outcome.skips.map(\.reason) == [hasCondition ? .changed : .used])
        #expect(isStored.withLock { $0 })
        try expectOther(served, 0)
    }

    @Test("undo doesn't restore the expiry time of a value that was stored since")
    func valuesStoredSince() async throws {
        let served = try await Served()
        let keys = (0..<70).map { "key \($0)" }
        for key in keys { try served.ask("SET", key, "former", "PX", "1000000") }
        let never = try served.changes().carryOut(.setLifetime(nil), on: try served.targets(keys))
        for key in keys.prefix(40) { try served.ask("SET", key, "new") }
        let undone = try served.undo(never).outcome
        #expect(undone.entries == 30 && undone.skippedCount == 40)
        for key in keys.prefix(40) { #expect(try served.ask("PTTL", key).number == -1) }
        // The same for a value that keeps the expiry time set by the change.
        let soon = try served.changes().carryOut(.setLifetime(.seconds(5000)), on: try served.targets(keys))
        try served.ask("SET", "key 7", "newest", "KEEPTTL")
        let second = try served.undo(soon).outcome
        #expect(second.entries == 69 && second.skipped == ["key 7"])
        #expect(try served.ask("PTTL", "key 7").number ?? 0 > 4_000_000)
    }

    @Test("a change of a skipped key doesn't fail the transaction of the next keys")
    func changesOfSkippedKeys() async throws {
        let served = try await Served()
        let keys = try served.fill(keys: 65, with: "former")
        let port = served.server.port
        let transactions = Guarded(0)
        let proxy = try Interposer(
            to: port,
            before: { command in
                if command == ["EXEC"] { transactions.withLock { $0 += 1 } }
                guard command == ["DUMP", "key 64"] else { return }
                _ = try? PlainClient(port: port).command("SET", "key 0", "other")
            })
        let changes = try served.changes(by: proxy)
        func isLast(_ keys: [String]) throws(SourceError) -> Set<ExactText> {
            Set(keys.filter { $0 == "key 64" }.map { ExactText($0) })
        }
        let carried = try changes.carryOut(.delete, on: try served.targets(keys), meeting: isLast)
        #expect(carried.outcome.entries == 1 && carried.outcome.skips.count == 64)
        #expect(transactions.withLock { $0 } == 1)
        #expect(try served.ask("GET", "key 0").text == "other")
    }

    @Test(
        "after an invalid reply to a transaction, the changed keys are counted and can be restored",
        arguments: [
            ("MULTI", "+QUEUED\r\n", 0), ("MULTI", ":1\r\n", 0), ("UNLINK", ":2\r\n", 2),
            ("UNLINK", "+OK\r\n", 2),
            ("EXEC", "+OK\r\n", 2), ("EXEC", "*0\r\n", 2), ("EXEC", "*2\r\n:1\r\n:1\r\n", 2),
            ("EXEC", "*-1\r\n", 2), ("EXEC", "_\r\n", 2),
            ("EXEC", "*1\r\n+2\r\n", 2), ("EXEC", "*1\r\n:3\r\n", 2), ("EXEC", "*1\r\n-ERR no\r\n", 2),
        ])
    func invalidReplies(command: String, answer: String, entries: Int) async throws {
        let served = try await Served()
        let isLying = Guarded(true)
        let proxy = try served.proxy { words in
            words.first == command && isLying.withLock { $0 } ? answer : nil
        }
        let changes = try served.changes(by: proxy)
        for key in ["k", "l"] { try served.ask("SET", key, "former") }
        let carried = try changes.carryOut(.delete, on: try served.targets(["k", "l"]))
        #expect(carried.stopped != nil && carried.outcome.entries == entries)
        #expect(carried.outcome.skips.isEmpty && carried.stopped?.contains("after \(2 - entries) of") != true)
        #expect(try served.ask("DBSIZE").number == Int64(2 - entries))
        isLying.withLock { $0 = false }
        let undone = try served.undo(carried, by: changes)
        #expect(undone.stopped == nil && undone.outcome.entries == entries)
        #expect(try served.ask("DBSIZE").number == 2)
    }

    @Test(
        "a key whose copy isn't a sound dump isn't deleted",
        arguments: ["$3\r\nabc\r\n", "$13\r\n\0\u{1}a\n\0........\r\n"])
    func damagedDumps(answer: String) async throws {
        let served = try await Served()
        let proxy = try served.proxy { $0 == ["DUMP", "k"] ? answer : nil }
        for key in ["k", "l"] { try served.ask("SET", key, "former") }
        let changes = try served.changes(by: proxy)
        let carried = try changes.carryOut(.delete, on: try served.targets(["k", "l"]))
        #expect(carried.outcome.entries == 1 && carried.stopped != nil)
        #expect(try served.ask("EXISTS", "k").number == 1)
        #expect(throws: SourceError.self) { try served.connection(by: proxy).dumped(Array("k".utf8), in: 0) }
    }

    @Test("a wrong time of the server deletes no key", arguments: [1, .max], [0, 4_000_000_000])
    func falseTimes(replies: Int, seconds: Int) async throws {
        let served = try await Served()
        let falseReplies = Guarded(0)
        let proxy = try served.proxy { command in
            let isFalse =
                command == ["TIME"]
                && falseReplies.withLock { left in
                    left -= 1
                    return left >= 0
                }
            return isFalse ? "*2\r\n:\(seconds)\r\n:0\r\n" : nil
        }
        let changes = try served.changes(by: proxy)
        try served.ask("SET", "k", "former", "PX", "1000000")
        falseReplies.withLock { $0 = replies }
        let failed = try changes.carryOut(.setLifetime(.seconds(5000)), on: try served.targets(["k"]))
        #expect(failed.stopped != nil && failed.outcome.entries == 0)
        falseReplies.withLock { $0 = 0 }
        let carried = try changes.carryOut(.setLifetime(.seconds(5000)), on: try served.targets(["k"]))
        #expect(carried.outcome.entries == 1)
        falseReplies.withLock { $0 = replies }
        // Another attempt, on a new connection, may have the right time.
        let undone = try served.undo(carried, by: changes).outcome.entries
        #expect(undone == 0 || replies == 1)
        let left = try #require(try served.ask("PTTL", "k").number)
        #expect(left > (undone == 0 ? 4_900_000 : 900_000) && left <= (undone == 0 ? 5_000_000 : 1_000_000))
        let dump = try served.connection.dumped(Array("k".utf8), in: 0)
        falseReplies.withLock { $0 = replies }
        #expect(throws: SourceError.self) {
            try served.connection(by: proxy).restore(#require(dump), replaces: true, in: 0)
        }
        #expect(try served.ask("EXISTS", "k").number == 1)
    }

    @Test("a new expiry time with an invalid reply is counted")
    func invalidRepliesToExpiry() async throws {
        let served = try await Served()
        let proxy = try served.proxy { $0 == ["EXEC"] ? "*1\r\n+OK\r\n" : nil }
        try served.ask("SET", "k", "former")
        let changes = try served.changes(by: proxy)
        let carried = try changes.carryOut(.setLifetime(.seconds(5000)), on: try served.targets(["k"]))
        #expect(carried.stopped != nil && carried.outcome.entries == 1)
        #expect(try served.ask("PTTL", "k").number ?? 0 > 4_000_000)
    }

    @Test("a key that another client deleted before its new expiry time stays deleted")
    func keysDeletedSince() async throws {
        let served = try await Served()
        try served.ask("SET", "k", "former")
        let soon = try served.changes().carryOut(.setLifetime(.seconds(100)), on: try served.targets(["k"]))
        try served.ask("DEL", "k")
        let undone = try served.undo(soon).outcome
        #expect(undone.entries == 0 && undone.skipped == ["k"])
        #expect(try served.ask("EXISTS", "k").number == 0)
    }

    @Test("undo recognizes a hash table whose order was changed by reading", arguments: ["HSET", "SADD"])
    func tablesInAnotherOrder(command: String) async throws {
        let served = try await Served()
        for number in 0..<1025 {
            let words = ["k", "element \(number)"] + (command == "HSET" ? ["\(number)"] : [])
            _ = try served.client.command(RESPCommand(words: ([command] + words).map { Array($0.utf8) }))
        }
        try served.ask("PEXPIRE", "k", "1000000")
        let never = try served.changes().carryOut(.setLifetime(nil), on: try served.targets(["k"]))
        // Each command moves a part of the hash table to the larger table.
        for number in 0..<3000 {
            try served.ask(command == "HSET" ? "HGET" : "SISMEMBER", "k", "element \(number)")
        }
        let undone = try served.undo(never).outcome
        #expect(undone.entries == 1)
        #expect(try served.ask("PTTL", "k").number ?? 0 > 900_000)
    }

    @Test("a key without permission doesn't block others")
    func keysWithoutRights() async throws {
        let served = try await Served()
        for key in ["a1", "b1", "a2"] { try served.ask("SET", key, "0") }
        try served.ask("ACL", "SETUSER", "user", "on", ">word", "~a*", "+@all")
        let limited = try served.changes(as: "user")
        let targets = try served.targets(["a1", "b1", "a2"])
        let deleted = try limited.carryOut(.delete, on: targets)
        #expect(deleted.outcome.entries == 2 && deleted.stopped?.contains("b1") == true)
        #expect(try served.ask("EXISTS", "a1", "b1", "a2").number == 1)
        let back = try served.undo(deleted, by: limited).outcome
        #expect(back.entries == 2)
        let all = try served.changes().carryOut(.delete, on: targets)
        let part = try served.undo(all, by: limited)
        #expect(part.outcome.entries == 2 && !part.outcome.isComplete && part.stopped?.contains("b1") == true)
        #expect(try served.undo(all).outcome.entries == 1)
        #expect(try served.ask("EXISTS", "a1", "b1", "a2").number == 3)
    }

    @Test("idle times are restored by the server's clock only")
    func clocksThatDiffer() async throws {
        let served = try await Served()
        let proxy = try Interposer(
            to: served.server.port,
            changing: { command, answer in
                guard command == ["TIME"],
                    let seconds = String(decoding: answer, as: UTF8.self)
                        .split(separator: "\r\n").dropFirst(2).first.flatMap({ Int($0) })
                else { return answer }
                return Array("*2\r\n$10\r\n\(seconds + 86_400)\r\n$1\r\n0\r\n".utf8)
            })
        try served.ask("SET", "k", "value")
        for _ in 0..<2 {
            let changes = try served.changes(by: proxy)
            let carried = try changes.carryOut(.delete, on: try served.targets(["k"]))
            _ = try served.undo(carried, by: changes)
        }
        #expect(try served.ask("OBJECT", "IDLETIME", "k").number ?? 0 < 1000)
        try served.ask("CONFIG", "SET", "slowlog-log-slower-than", "0")
        try served.ask("GET", "k")
        let slow = try #require(try served.connection(by: proxy).slowCommands().first)
        #expect(abs(slow.time.seconds(since: .now()) + 86_400) < 1000)
    }

    @Test("only a server that reports this connection's endpoint is on this machine")
    func tunnels() async throws {
        let served = try await Served()
        let proxy = try Interposer(to: served.server.port)
        let behind = ServerConnection(try ServerAddress("valkey://localhost:\(proxy.port)"))
        #expect(try served.connection.isOnThisMachine())
        #expect(try !behind.isOnThisMachine())
    }

    @Test("counts of other clients' commands never decrease after a change, as after a restart of the server")
    func countsAfterChanges() async throws {
        let served = try await Served()
        for number in 0..<20 { try served.ask("SET", "key \(number)", "0") }
        var last = try served.connection.figures().commands
        for number in 0..<20 {
            let carried = try served.changes().carryOut(.delete, on: try served.targets(["key \(number)"]))
            if number % 2 == 0 { _ = try served.undo(carried) }
            let commands = try served.connection.figures().commands
            #expect(commands >= last)
            last = commands
        }
    }

    @Test("figures exclude all lookups and commands of this program")
    func ownLookups() async throws {
        let served = try await Served()
        try served.fill()
        try served.ask("SET", "empty", "")
        try served.ask("CONFIG", "RESETSTAT")
        _ = try served.connection.figures()
        let keys = ["text", "hash", "list", "set", "scores", "stream", "empty", "none"]
        let facts = try served.connection.facts(of: keys.map { Array($0.utf8) }, in: 0)
        for (key, facts) in zip(keys, facts) {
            _ = try served.connection.value(of: Array(key.utf8), type: facts?.type ?? "hash", in: 0)
        }
        let carried = try served.changes().carryOut(.delete, on: try served.targets(["text", "hash"]))
        _ = try served.undo(carried)
        for _ in 0..<3 { try served.ask("GET", "number") }
        try served.ask("GET", "none")
        let figures = try served.connection.figures()
        #expect(figures.own.hits > 30 && figures.own.misses > 3)
        #expect(figures.hits == 3 && figures.misses == 1)
        try served.ask("CONFIG", "RESETSTAT")
        try served.ask("GET", "number")
        #expect(try served.connection.figures().hits == 1)
    }
}
