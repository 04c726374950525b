import Foundation
import ServerInspection
import ServerSupport
import StorageEngine
import StoreInspection
import Testing
import TestSupport
import ValkeyWire

@Suite(.serialized, .enabled(if: ValkeyServer.program != nil, "no server is installed"))
struct ServerChangesTests {
    @Test("undo restores deleted keys unless they were stored again")
    func undoOfADeletion() async throws {
        let served = try await Served()
        try served.fill()
        try served.ask("PEXPIRE", "hash", "500000")
        let keys = ["text", "hash", "list", "set", "scores", "stream"]
        let before = try keys.map { try served.ask("DUMP", $0) }
        let targets = try served.targets(keys)
        let carried = try served.changes().carryOut(.delete, on: targets)
        #expect(carried.outcome.entries == 6)
        #expect(carried.stopped == nil)
        #expect(try served.ask("DBSIZE").number == 1)
        let action = try #require(carried.outcome.action)
        #expect(try served.changes().reversible().map(\.id) == [action.id])
        // A key is stored again after the deletion.
        try served.ask("SET", "text", "another")
        let undone = try #require(try served.changes().undo(action.id)).outcome
        #expect(undone.entries == 5)
        #expect(undone.skipped == ["text"])
        #expect(undone.bytes > 0)
        for (key, dump) in zip(keys.dropFirst(), before.dropFirst()) {
            #expect(try served.ask("DUMP", key) == dump)
        }
        #expect(try served.ask("GET", "text").text == "another")
        #expect((400_000...500_000).contains(try served.ask("PTTL", "hash").number ?? 0))
        #expect(try served.changes().reversible().isEmpty)
        #expect(try served.changes().undo(action.id) == nil)
    }

    @Test("undo restores expiry times unless they were changed again")
    func undoOfExpiryTimes() async throws {
        let served = try await Served()
        try served.fill()
        try served.ask("PEXPIRE", "hash", "500000")
        let targets = try served.targets(["hash", "list", "set"])
        let set = try served.changes().carryOut(.setLifetime(.seconds(100)), on: targets)
        #expect(set.outcome.entries == 3)
        #expect((90_000...100_000).contains(try served.ask("PTTL", "list").number ?? 0))
        // Another client changes the expiry time again.
        try served.ask("PEXPIRE", "set", "900000")
        let undone = try served.undo(set).outcome
        #expect(undone.entries == 2)
        #expect(undone.skipped == ["set"])
        #expect(try served.ask("PTTL", "list").number == -1)
        #expect((400_000...500_000).contains(try served.ask("PTTL", "hash").number ?? 0))
        let never = try served.changes().carryOut(.setLifetime(nil), on: targets)
        #expect(never.outcome.entries == 2)
        #expect(never.outcome.unchanged == 1)
        #expect(try served.ask("PTTL", "hash").number == -1)
    }

    @Test("undo skips an expiry time that has passed, and restores a key that the change made expire")
    func passedExpiryTimes() async throws {
        let served = try await Served()
        try served.fill()
        try served.ask("PEXPIRE", "text", "300")
        let never = try served.changes().carryOut(.setLifetime(nil), on: try served.targets(["text"]))
        let soon = try served.changes().carryOut(
            .setLifetime(.milliseconds(100)), on: try served.targets(["hash"]))
        try await Task.sleep(for: .milliseconds(600))
        #expect(try served.ask("EXISTS", "hash").number == 0)
        let first = try served.undo(never).outcome
        #expect(first.entries == 0)
        #expect(first.skipped == ["text"])
        #expect(try served.ask("GET", "text").text == "hello")
        let second = try served.undo(soon).outcome
        #expect(second.entries == 1)
        #expect(try served.ask("HGET", "hash", "name").text == "Ada")
        #expect(try served.ask("PTTL", "hash").number == -1)
    }

    @Test("a user without the right to MULTI changes nothing")
    func withoutTransactions() async throws {
        let served = try await Served()
        try served.fill()
        try served.ask("PEXPIREAT", "hash", "9223372036854775807")
        try served.ask("ACL", "SETUSER", "half", "on", ">word", "~*", "+@all", "-multi")
        let changes = try served.changes(as: "half")
        let carried = try changes.carryOut(.delete, on: try served.targets(["text", "hash"]))
        #expect(carried.outcome.entries == 0)
        #expect(carried.stopped?.contains("refuses MULTI") == true)
        #expect(try served.ask("EXISTS", "text", "hash").number == 2)
        let whole = try served.changes().carryOut(.delete, on: try served.targets(["text", "hash"]))
        #expect(whole.outcome.entries == 2)
    }

    @Test("a refused deletion leaves no action to undo")
    func refusedDeletion() async throws {
        let served = try await Served()
        try served.fill()
        try served.ask("ACL", "SETUSER", "half", "on", ">word", "~*", "+@all", "-unlink")
        let changes = try served.changes(as: "half")
        let carried = try changes.carryOut(.delete, on: try served.targets(["text", "hash"]))
        #expect(carried.outcome.entries == 0 && carried.outcome.action == nil && carried.stopped != nil)
        #expect(try changes.reversible().isEmpty)
        #expect(try served.ask("EXISTS", "text", "hash").number == 2)
    }

    @Test("a running action can't be undone")
    func undoOfARunningAction() async throws {
        let served = try await Served()
        for number in 0..<200 { try served.ask("SET", "key \(number)", "0") }
        var refusal: SourceError?
        let carried = try served.changes().carryOut(
            .delete, on: try served.targets((0..<200).map { "key \($0)" })
        ) { done in
            if done > 100, refusal == nil {
                refusal = #expect(throws: SourceError.self) { try served.changes().undo(1) }
                // The copies that could still be restored if the process were killed now.
                let kept = (try? served.changes().reversible().first).map {
                    ($0?.entries ?? 0, $0?.bytes ?? 0)
                }
                #expect(kept?.0 == done && kept?.1 ?? 0 > 0)
            }
            return true
        }
        #expect(refusal?.description.contains("still running") == true)
        #expect(try served.undo(carried).outcome.entries == 200)
    }

    @Test("undo stops before the server evicts keys for restored ones")
    func undoOnAFullServer() async throws {
        let served = try await Served(["--maxmemory-policy", "allkeys-random"])
        let keys = try served.fill(keys: 300, with: String(repeating: "x", count: 20_000))
        let carried = try served.changes().carryOut(.delete, on: try served.targets(keys))
        for number in 0..<50 { try served.ask("SET", "other \(number)", "0") }
        let used = try served.connection.figures().memory
        try served.ask("CONFIG", "SET", "maxmemory", "\(used + 4_000_000)")
        let part = try served.undo(carried)
        #expect(part.outcome.entries > 0 && part.outcome.entries < 300 && !part.outcome.isComplete)
        #expect(part.stopped?.contains("no free memory") == true)
        #expect(
            try served.ask("DBSIZE").number == Int64(50 + part.outcome.entries), "the others are all there")
        #expect(try served.changes().reversible().first?.entries == 300 - part.outcome.entries)
        try served.ask("CONFIG", "SET", "maxmemory", "0")
        let rest = try served.undo(carried)
        #expect(rest.outcome.entries == 300 - part.outcome.entries && rest.outcome.skippedCount == 0)
        #expect(try served.ask("DBSIZE").number == 350 && rest.stopped == nil)
    }

    @Test("a copy that a full server refuses can be restored later")
    func refusedCopies() async throws {
        let served = try await Served()
        let keys = try served.fill(keys: 100, with: String(repeating: "x", count: 50_000))
        let carried = try served.changes().carryOut(.delete, on: try served.targets(keys))
        let used = try served.connection.figures().memory
        try served.ask("CONFIG", "SET", "maxmemory", "\(used + 2_000_000)")
        let part = try served.undo(carried)
        #expect(part.stopped?.contains("OOM") == true && part.outcome.entries > 0)
        try served.ask("CONFIG", "SET", "maxmemory", "0")
        let rest = try served.undo(carried).outcome
        #expect(rest.entries == 100 - part.outcome.entries && rest.skippedCount == 0 && rest.isComplete)
    }

    @Test("undo restores expiry times to the millisecond")
    func exactExpiryTimes() async throws {
        let served = try await Served()
        let keys = (0..<60).map { "key \($0)" }
        for (place, key) in keys.enumerated() {
            try served.ask("SET", key, String(repeating: "x", count: 100_000), "PX", "\(600_000 + place)")
        }
        let before = try keys.map { try served.ask("PEXPIRETIME", $0).number }
        let carried = try served.changes().carryOut(.delete, on: try served.targets(keys))
        let undone = try served.undo(carried).outcome
        #expect(undone.entries == 60)
        if try served.connection.capabilities().reportsExpiryTimes {
            #expect(try keys.map { try served.ask("PEXPIRETIME", $0).number } == before)
        }
    }

    @Test("an action at 127.0.0.1 can be undone at localhost")
    func namesOfThisMachine() async throws {
        let served = try await Served()
        try served.fill()
        let action = try #require(
            try served.changes().carryOut(.delete, on: try served.targets(["text"])).outcome.action)
        let address = try ServerAddress("valkey://localhost:\(served.server.port)")
        let changes = ServerChanges(address, database: 0, undoFolder: served.folder)
        #expect(try changes.undo(action.id)?.outcome.entries == 1)
        #expect(try served.ask("GET", "text").text == "hello")
    }

    @Test(
        "a repeated undo counts the keys that a killed one restored, and skips others",
        arguments: [true, false])
    func killedUndo(isDeletion: Bool) async throws {
        let served = try await Served()
        let keys = (0..<100).map { "key \($0)" }
        for key in keys { try served.ask("SET", key, "value", "PX", "5000000") }
        let times = try keys.map { try served.ask("PEXPIRETIME", $0).number ?? 0 }
        guard times[0] > 0 else { return }
        let carried = try served.changes().carryOut(
            isDeletion ? .delete : .setLifetime(nil), on: try served.targets(keys))
        #expect(carried.outcome.entries == 100)
        // A killed undo has restored keys without removing their copies.
        for (key, time) in zip(keys, times).prefix(70) {
            try served.ask("SET", key, "value", "PXAT", "\(time)")
        }
        try served.ask("SET", "key 1", "value", "PXAT", "\(times[1] + 1)")
        try served.ask("SET", "key 2", "other", "PXAT", "\(times[2])")
        let undone = try served.undo(carried)
        #expect(undone.outcome.entries == 98 && undone.outcome.isComplete && undone.stopped == nil)
        #expect(undone.outcome.skipped == ["key 1", "key 2"])
        let restored = try keys.map { try served.ask("PEXPIRETIME", $0).number ?? 0 }
        #expect(restored == times.enumerated().map { $0.offset == 1 ? $0.element + 1 : $0.element })
        #expect(try served.ask("GET", "key 2").text == "other")
        #expect(try served.changes().reversible().isEmpty)
    }

    @Test("a later action with the same number isn't undone in place of an earlier one")
    func reusedNumbers() async throws {
        let served = try await Served()
        try served.fill()
        let targets = try served.targets(["text"])
        var actions: [ReversibleAction] = []
        for _ in 0..<5 {
            let action = try #require(try served.changes().carryOut(.delete, on: targets).outcome.action)
            for earlier in actions {
                #expect(try served.changes().undo(earlier.id, begun: earlier.time) == nil)
            }
            #expect(try served.changes().undo(action.id, begun: action.time)?.outcome.entries == 1)
            actions.append(action)
        }
        #expect(Set(actions.map(\.id)).count == 1 && Set(actions.map(\.time)).count == 5)
    }

    @Test("lock files of killed actions are removed")
    func leftLockFiles() async throws {
        let served = try await Served()
        try served.fill()
        let files = ["7", "9223372036854775807"].map { "\(served.folder)-\($0)" }
        let other = "\(served.folder)-another"
        defer { for file in files + [other] { try? FileManager.default.removeItem(atPath: file) } }
        for file in files + [other] { #expect(FileManager.default.createFile(atPath: file, contents: nil)) }
        let first = try served.changes().carryOut(.delete, on: try served.targets(["text"]))
        #expect(first.outcome.entries == 1)
        let left = try StoresFolder.contents(of: NSTemporaryDirectory()).map(\.path).filter {
            $0.hasPrefix(served.folder + "-")
        }
        #expect(left == [other])
    }

    @Test("absent and recently used keys are skipped")
    func absentAndUsedKeys() async throws {
        let served = try await Served()
        try served.fill()
        var targets = try served.targets(["text", "hash"])
        targets.append(Target(key: "none", sequence: 0, size: 10))
        let idle = try served.changes().carryOut(
            .expireIdle(before: Timestamp.now().adding(seconds: -1000)), on: targets)
        #expect(idle.outcome.entries == 0)
        #expect(idle.outcome.skips.map(\.reason) == [.used, .used, .absent])
        #expect(idle.outcome.action == nil)
        #expect(try served.ask("EXISTS", "text", "hash").number == 2)
        #expect(try served.changes().reversible().isEmpty)
    }

    @Test("a key that another client changes continuously is skipped, or restored with its latest value")
    func changingKeys() async throws {
        let served = try await Served()
        let writer = try served.server.client()
        let targets = try served.targets(served.fill(keys: 200))
        let port = served.server.port
        let isOver = Guarded(false)
        let writing = Background {
            let client = try PlainClient(port: port)
            var count = 0
            while !isOver.withLock({ $0 }) {
                count += 1
                // XX: a deleted key isn't stored again.
                _ = try client.command("SET", "key 7", "\(count)", "XX")
            }
        }
        let carried = try served.changes().carryOut(.delete, on: targets)
        isOver.withLock { $0 = true }
        try writing.wait()
        withExtendedLifetime(writer) {}
        #expect(carried.outcome.entries + carried.outcome.skips.count == 200)
        #expect(try served.ask("DBSIZE").number == Int64(carried.outcome.skips.count))
        let undone = try served.undo(carried).outcome
        #expect(undone.entries == carried.outcome.entries)
        #expect(try served.ask("DBSIZE").number == 200)
    }

    @Test("a stopped deletion keeps the other keys")
    func stopping() async throws {
        let served = try await Served()
        let targets = try served.targets(served.fill(keys: 300))
        let carried = try served.changes().carryOut(.delete, on: targets) { $0 < 100 }
        #expect((100..<300).contains(carried.outcome.entries))
        #expect(carried.stopped != nil)
        #expect(try served.ask("DBSIZE").number == Int64(300 - carried.outcome.entries))
        let undone = try served.undo(carried).outcome
        #expect(undone.entries == carried.outcome.entries)
        #expect(try served.ask("DBSIZE").number == 300)
    }

    @Test("all keys deleted before the server was lost can be restored")
    func lostServer() async throws {
        let served = try await Served()
        let targets = try served.targets(served.fill(keys: 300))
        let carried = try served.changes().carryOut(.delete, on: targets) { done in
            if done > 100 { served.server.stop() }
            return true
        }
        #expect(
            carried.stopped?.contains("doesn't answer") == true
                || carried.stopped?.contains("can't be reached") == true)
        try await served.server.start()
        // The server started empty, so an undo restores all keys that were or may have been deleted.
        let action = try #require(carried.outcome.action)
        // The restarted server may be a different one.
        #expect(throws: SourceError.self) { try served.changes().undo(action.id) }
        let undone = try #require(try served.changes().undo(action.id, evenIfRestarted: true)).outcome
        #expect(undone.entries >= carried.outcome.entries)
        let left = try served.server.client().command("DBSIZE").number
        #expect(left == Int64(undone.entries))
    }

    // MARK: Beside what a server allows

    @Test("copies don't make a full server evict keys")
    func copiesOnAFullServer() async throws {
        let served = try await Served(["--maxmemory-policy", "allkeys-random"])
        let keys = (0..<64).map { "large \($0)" }
        for key in keys { try served.ask("SET", key, String(repeating: "x", count: 100_000)) }
        for number in 0..<500 { try served.ask("SET", "other \(number)", "0") }
        let targets = try served.targets(keys)
        let used = try served.connection.figures().memory
        try served.ask("CONFIG", "SET", "maxmemory", "\(used + 1_000_000)")
        let carried = try served.changes().carryOut(.delete, on: targets)
        #expect(carried.outcome.entries == 64 && carried.stopped == nil)
        #expect(try served.connection.figures().evictions == 0)
        #expect(try served.ask("DBSIZE").number == 500)
    }

    @Test("a cluster's key without a node stays unchanged, and the others are changed")
    func unservedSlot() async throws {
        let served = try await Served(["--cluster-enabled", "yes", "--cluster-require-full-coverage", "no"])
        try await served.beginCluster()
        for key in ["a", "b", "c"] { try served.ask("SET", key, "1") }
        let slot = try #require(try served.ask("CLUSTER", "KEYSLOT", "b").number)
        try served.ask("CLUSTER", "DELSLOTS", "\(slot)")
        #expect(
            try await eventually(within: 20) {
                try served.ask("GET", "b").error?.contains("not served") == true
            })
        let carried = try served.changes().carryOut(.delete, on: try served.targets(["a", "b", "c"]))
        #expect(carried.outcome.entries == 2 && carried.stopped?.contains("\"b\"") == true)
        #expect(try served.ask("EXISTS", "a").number == 0)
        let action = try #require(carried.outcome.action)
        #expect(try #require(try served.changes().undo(action.id)).outcome.entries == 2)
    }

    @Test("a cluster's keys are changed in separate transactions")
    func clusters() async throws {
        let served = try await Served(["--cluster-enabled", "yes"])
        try await served.beginCluster()
        let keys = try served.fill(keys: 20)
        let carried = try served.changes().carryOut(.delete, on: try served.targets(keys))
        #expect(carried.outcome.entries == 20 && carried.stopped == nil)
        #expect(try served.undo(carried).outcome.entries == 20)
        #expect(try served.ask("DBSIZE").number == 20)
    }

    @Test("a refused copy doesn't stop the others")
    func oneRefusedCopy() async throws {
        let served = try await Served()
        var generator = SeededGenerator.announced("elements")
        for _ in 0..<30 {
            let element = String(
                (0..<50_000).map { _ in "0123456789abcdef".randomElement(using: &generator) ?? "0" })
            try served.ask("RPUSH", "list", element)
        }
        let keys = ["key 0", "list"] + (1..<100).map { "key \($0)" }
        for key in keys where key != "list" { try served.ask("SET", key, "0") }
        try served.ask("CONFIG", "SET", "proto-max-bulk-len", "1mb")
        let before = try served.ask("DUMP", "list")
        let carried = try served.changes().carryOut(.delete, on: try served.targets(keys))
        let part = try served.undo(carried)
        #expect(part.outcome.entries == 100 && !part.outcome.isComplete)
        #expect(
            part.stopped?.contains("1 copy was refused by the server and kept for a retry, such as \"list\"")
                == true)
        #expect(try served.ask("DBSIZE").number == 100)
        try served.ask("CONFIG", "SET", "proto-max-bulk-len", "512mb")
        let rest = try served.undo(carried)
        #expect(rest.outcome.entries == 1 && rest.outcome.isComplete && rest.stopped == nil)
        #expect(rest.outcome.skippedCount == 0)
        #expect(try served.ask("DUMP", "list") == before)
        #expect(try served.changes().reversible().isEmpty)
    }

    @Test("an undo with lost replies restores and counts all keys", arguments: ["RESTORE", "EXEC"])
    func lostRepliesOfUndo(command: String) async throws {
        let served = try await Served()
        let keys = try served.fill(keys: 100)
        for key in keys { try served.ask("PEXPIRE", key, "5000000") }
        // Counts the replies of the undo.
        let count = Guarded<Int?>(nil)
        // An invalid reply ends the connection.
        let proxy = try Interposer(
            to: served.server.port,
            changing: { words, answer in
                let number = count.withLock { count in
                    if words.first == command { count = count.map { $0 + 1 } }
                    return words.first == command ? count : nil
                }
                return number.map { $0 % 30 == 1 } == true ? Array("?\r\n".utf8) : answer
            })
        let changes = try served.changes(by: proxy)
        let carried = try changes.carryOut(
            command == "EXEC" ? .setLifetime(nil) : .delete, on: try served.targets(keys))
        count.withLock { $0 = 0 }
        let undone = try served.undo(carried, by: changes)
        #expect(undone.outcome.entries == 100 && undone.outcome.isComplete && undone.stopped == nil)
        for key in keys { #expect(try served.ask("PTTL", key).number ?? 0 > 4_000_000) }
    }

    @Test("a user without the right to RESTORE deletes nothing")
    func withoutUndoRights() async throws {
        let served = try await Served()
        try served.fill()
        try served.ask("ACL", "SETUSER", "one", "on", ">word", "~*", "+@all", "-restore")
        try served.ask("ACL", "SETUSER", "two", "on", ">word", "~*", "&*", "+@all", "-@dangerous", "+restore")
        let targets = try served.targets(["text", "hash"])
        let refused = try served.changes(as: "one").carryOut(.delete, on: targets)
        #expect(refused.stopped?.contains("NOPERM") == true && refused.outcome.action == nil)
        #expect(try served.ask("EXISTS", "text", "hash").number == 2)
        try served.ask("ACL", "SETUSER", "three", "on", ">word", "~text", "+@all")
        let own = try served.changes(as: "three").carryOut(.delete, on: try served.targets(["text"]))
        #expect(own.outcome.entries == 1)
        let single = try #require(own.outcome.action)
        #expect(try served.changes(as: "three").undo(single.id)?.outcome.entries == 1)
        // A user without INFO can undo actions of such users.
        let carried = try served.changes(as: "two").carryOut(.delete, on: targets)
        #expect(carried.outcome.entries == 2)
        let action = try #require(carried.outcome.action)
        let doubt = #expect(throws: SourceError.self) { try served.changes().undo(action.id) }
        #expect(doubt?.description.contains("--restarted") == true)
        #expect(try #require(try served.changes(as: "two").undo(action.id)).outcome.entries == 2)
    }

    @Test("a key that the user may delete but not restore stays, the others are deleted")
    func undoRightsOfEachKey() async throws {
        let served = try await Served()
        for key in ["a", "other:1", "other:2", "z"] { try served.ask("SET", key, "0") }
        let rule = ["+@all", "-restore", "(+restore ~other:*)"]
        let words = ["ACL", "SETUSER", "some", "on", ">word", "~*"] + rule
        let set = try served.client.command(RESPCommand(words: words.map { Array($0.utf8) }))
        // Servers before version 7 have no selectors.
        guard set == .status("OK") else { return }
        let changes = try served.changes(as: "some")
        let targets = try served.targets(["a", "other:1", "z", "other:2"])
        let carried = try changes.carryOut(.delete, on: targets)
        #expect(carried.outcome.entries == 2 && carried.stopped?.contains("2 keys are unchanged") == true)
        #expect(try served.ask("EXISTS", "a", "z").number == 2)
        #expect(try served.ask("DBSIZE").number == 2)
        let action = try #require(carried.outcome.action)
        #expect(try changes.undo(action.id)?.outcome.entries == 2)
        #expect(try served.ask("DBSIZE").number == 4)
    }

    @Test(
        "a server that refuses the undo for another reason deletes nothing",
        arguments: [
            "NOAUTH Authentication required.", "OOM command not allowed", "LOADING Redis is loading",
            "BUSY a script", "MASTERDOWN x",
            "ERR unknown command",
        ])
    func otherRefusals(message: String) async throws {
        let served = try await Served()
        try served.ask("SET", "key", "0")
        let proxy = try served.proxy { $0.first == "RESTORE" ? "-\(message)\r\n" : nil }
        let changes = try served.changes(by: proxy)
        let carried = try changes.carryOut(.delete, on: try served.targets(["key"]))
        #expect(carried.outcome.entries == 0 && carried.stopped?.contains(message) == true)
        #expect(try served.ask("EXISTS", "key").number == 1)
        #expect(try changes.reversible().isEmpty)
    }

    @Test(
        "a refusal because of keys differs from one of the command",
        arguments: [
            ("NOPERM this user has no permissions to access one of the keys used as arguments", true),
            ("NOPERM No permissions to access a key", true),
            ("MOVED 3999 127.0.0.1:6381", true),
            ("CROSSSLOT Keys in request don't hash to the same slot", true),
            ("NOPERM User key has no permissions to run the 'restore' command", false),
            ("NOPERM this user has no permissions to run the 'restore' command", false),
            ("NOPERM No permissions to access a channel", false), ("NOAUTH Authentication required.", false),
            ("LOADING the keys to access a key", false), ("ASKED", false),
        ])
    func refusalsOfKeys(message: String, isOfKeys: Bool) {
        #expect(ServerConnection.concernsKeys(message) == isOfKeys)
    }

    @Test("only one process at a time undoes an action, and none reports false losses")
    func undoneTwice() async throws {
        let served = try await Served()
        let keys = try served.fill(keys: 200)
        let carried = try served.changes().carryOut(.delete, on: try served.targets(keys))
        let id = try #require(carried.outcome.action).id
        var refusals = 0
        let undone = try #require(
            try served.changes().undo(id) { _ in
                do { _ = try served.changes().undo(id) } catch { refusals += 1 }
                return true
            })
        #expect(undone.outcome.entries == 200 && undone.outcome.isComplete && undone.stopped == nil)
        #expect(refusals > 1)
        #expect(try served.changes().undo(id) == nil)
    }

    @Test("idle keys are expired although another key of the block changes")
    func idleKeys() async throws {
        let served = try await Served()
        let keys = (0..<64).map { "key \($0)" }
        // Small numbers are one object of the server, with one time.
        for key in keys { try served.ask("SET", key, "value") }
        try await Task.sleep(for: .seconds(5))
        let targets = try served.targets(keys)
        let port = served.server.port
        let isOver = Guarded(false)
        let writing = Background {
            let client = try PlainClient(port: port)
            while !isOver.withLock({ $0 }) { _ = try client.command("APPEND", "key 7", "1") }
        }
        let before = Timestamp.now().adding(seconds: -2)
        let carried = try served.changes().carryOut(.expireIdle(before: before), on: targets)
        isOver.withLock { $0 = true }
        try writing.wait()
        #expect(carried.outcome.entries == 63)
        #expect(carried.outcome.skips.map(\.key) == ["key 7"])
    }

    @Test("undo restores access frequencies")
    func frequencies() async throws {
        let served = try await Served(["--maxmemory-policy", "allkeys-lfu", "--lfu-log-factor", "0"])
        try served.ask("SET", "key", "0")
        for _ in 0..<50 { try served.ask("GET", "key") }
        let before = try #require(try served.ask("OBJECT", "FREQ", "key").number)
        #expect(before > 40)
        let carried = try served.changes().carryOut(.delete, on: try served.targets(["key"]))
        #expect(try served.undo(carried).outcome.entries == 1)
        #expect(try #require(try served.ask("OBJECT", "FREQ", "key").number) >= before - 2)
    }
}
