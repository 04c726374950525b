import Foundation
import StorageEngine
import TestSupport
import Testing

/// Calls of the engine for objects in memory (S9, S11).
@Suite struct MemoryTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func handles(_ folder: TemporaryFolder) throws -> (Archive, Archive) {
        let configuration = ArchiveConfiguration.cache(1_000)
        return (
            try Store.open(at: folder.store, options: StoreOptions(processName: "one"))
                .archive(named: "M", orCreate: configuration),
            try Store.open(at: folder.store, options: StoreOptions(processName: "two"))
                .archive(named: "M", orCreate: configuration)
        )
    }

    private func hold(_ key: String, _ archive: Archive) throws -> HeldEntry {
        let found = try archive.access(toHold: key)
        let held = try #require(found)
        try archive.hold(held, bytes: 1)
        return held
    }

    @Test("the next call notices changes by another handle") func otherHandle() throws {
        let (one, two) = try handles(folder)
        for change in ["delete", "put", "update", "deleteAll", "expire", "evict", "limits"] {
            try one.put([1], forKey: "k")
            let held = try hold("k", one)
            #expect(try one.access(held))
            switch change {
            case "delete": try two.delete("k")
            case "put": try two.put([2], forKey: "k")
            case "update": try two.update([1], forKey: "k")
            case "deleteAll": try two.deleteAll()
            case "expire": try two.setLifetime(.zero, forKey: "k")
            case "evict": try two.put(repeated(0, 1_000), forKey: "large")
            default: try two.setLimits(disk: 1, memory: nil)
            }
            if change == "limits" {
                try two.put([1], forKey: "other")
                try two.setLimits(disk: 1_000, memory: nil)
            }
            #expect(try one.access(held) == false, "\(change)")
        }
    }

    @Test("an access in memory keeps the disk copy recent") func recentInMemory() throws {
        let (one, _) = try handles(folder)
        for key in ["a", "b", "c"] { try one.put([1], forKey: key) }
        let held = try hold("a", one)
        _ = try one.access("b")
        #expect(try one.access(held))
        #expect(try one.entries().keys == ["a", "b", "c"])
        #expect(try one.metadata("a")?.hits == 2)
    }

    @Test("other processes see the tier of each entry") func tiers() throws {
        let (one, two) = try handles(folder)
        try one.put([1], forKey: "a")
        #expect(try two.metadata("a")?.tier == .disk)
        let held = try hold("a", one)
        try one.setMemoryUse(bytes: 123)
        #expect(try two.metadata("a")?.tier == .both)
        #expect(try two.entries().first?.tier == .both)
        #expect(try two.status().memoryBytes == 123)
        try one.release(held, forKey: "a")
        #expect(try two.metadata("a")?.tier == .disk)
        _ = try hold("a", one)
        try two.put([2], forKey: "a")
        #expect(try two.metadata("a")?.tier == .disk, "no process holds the new value")
    }

    @Test("an entry that is only in memory is removed with its process") func memoryOnly() throws {
        let (one, two) = try handles(folder)
        try one.put([9], forKey: "a")
        let held = try one.withHashed("a") { (key) throws(StorageError) in
            try one.recordInMemoryOnly(key, bytes: 5_000, attributes: EntryAttributes(owner: "o"))
        }
        #expect(try one.access(held))
        #expect(try two.access("a") == nil, "its bytes are not on disk")
        let metadata = try #require(try two.metadata("a"))
        #expect(metadata.tier == .memory)
        #expect(metadata.valueBytes == 5_000)
        #expect(metadata.owner == "o")
        let list = try two.entries()
        #expect(try list.withValue(at: 0) { $0.count } == nil, "it is not an empty value")
        #expect(try list.presentContent(at: 0) == nil)
        let status = try two.status()
        #expect(status.entries == 1)
        #expect(status.diskBytes == 0)
        // It needs no disk space, so no limit evicts it.
        for number in 0..<20 { try two.put(repeated(0, 300), forKey: "k\(number)") }
        #expect(try one.access(held))
        one.close()
        #expect(try two.metadata("a") == nil)
        #expect(try two.status().entries == 3)
        try two.expectValid()
        let again = try folder.reopen(two)
        #expect(try again.peek("a") == nil, "the replaced value stays deleted")
    }

    private func record(_ key: String, _ archive: Archive, bytes: UInt64 = 10) throws -> HeldEntry {
        try archive.withHashed(key) { (key) throws(StorageError) in
            try archive.recordInMemoryOnly(key, bytes: bytes, attributes: EntryAttributes(owner: "o"))
        }
    }

    @Test("each process has its own entries in memory") func ownEntries() throws {
        let (one, two) = try handles(folder)
        let mine = try record("k", one, bytes: 11)
        let theirs = try record("k", two, bytes: 22)
        #expect(try one.access(mine))
        #expect(try two.access(theirs))
        #expect(try one.metadata("k")?.valueBytes == 11)
        #expect(try two.metadata("k")?.valueBytes == 22)
        #expect(try one.access("k") == nil)
        let list = try one.entries()
        #expect(list.map(\.valueBytes).sorted() == [11, 22])
        #expect(list.indices.map { list.holders(at: $0) } == [[getpid()], [getpid()]])
        #expect(try one.keys().keys == ["k"])
        // A new record replaces the process's own entry only.
        let again = try record("k", one, bytes: 12)
        #expect(try one.access(mine) == false)
        #expect(try one.access(again))
        #expect(try two.access(theirs))
        #expect(try one.entries().count == 2)
        // A release affects the own entry only.
        try one.release(again, forKey: "k")
        try one.remove(again, forKey: "k")
        #expect(try two.access(theirs))
        #expect(try two.entries().count == 1)
        try two.expectValid()
    }

    @Test("a change of a key removes its entries from the memory of all processes") func changedKeys() throws
    {
        let (one, two) = try handles(folder)
        for change in ["put", "delete", "deleteAll", "expire", "owner", "plan"] {
            let mine = try record("k", one)
            let theirs = try record("k", two)
            switch change {
            case "put": try two.put([1], forKey: "k")
            case "delete": #expect(try one.delete("k"))
            case "deleteAll": try one.deleteAll()
            case "expire": try two.setLifetime(.zero, forKey: "k")
            case "owner": try one.deleteEntries(ofOwner: "o")
            default:
                for _ in 0..<2 { _ = try two.carryOut(.delete, on: one.planned(["k"])) }
            }
            #expect(try one.access(mine) == false, "\(change)")
            #expect(try two.access(theirs) == false, "\(change)")
            #expect(try one.access("k") == (change == "put" ? [1] : nil), "\(change)")
            try one.removeExpired()
            #expect(try one.entries().count == (change == "put" ? 1 : 0), "\(change)")
            #expect(try one.invariantViolations() == [], "\(change)")
        }
    }

    @Test("a killed process doesn't affect entries of the same key") func killedHolder() async throws {
        let (one, _) = try handles(folder)
        let mine = try record("worker 7", one, bytes: 99)
        let worker = try folder.worker("hold", "M", "7")
        #expect(try await eventually(within: 10) { try one.entries().count >= 3 })
        #expect(try one.access(mine))
        let list = try one.entries()
        let holders = try list.indices.filter { try list.key(at: $0) == "worker 7" }.flatMap {
            list.holders(at: $0)
        }
        #expect(Set(holders) == [getpid(), worker.pid])
        #expect(Set(try one.standing(of: "worker 7")?.holders.map(\.pid) ?? []) == Set(holders))
        try await worker.kill()
        #expect(try one.access(mine))
        #expect(try one.metadata("worker 7")?.valueBytes == 99)
        let third = try folder.archive("M")
        #expect(try third.entries().count == 2)
        #expect(try one.access(mine))
        try third.put([5], forKey: "worker 7")
        #expect(try one.access(mine) == false)
        #expect(try one.access("worker 7") == [5])
        try third.expectValid()
    }

    @Test("reclaiming keeps entries in memory") func movedFrames() throws {
        let (one, two) = try handles(folder)
        let held = try (0..<5).map { ("k\($0)", try record("k\($0)", one), try record("k\($0)", two)) }
        // Each of these is evicted at once, so segments are reclaimed repeatedly.
        for number in 0..<2_000 { try two.put(repeated(1, 900), forKey: "x\(number)") }
        for (key, mine, theirs) in held {
            let (a, b) = try one.withHashed(key) { (key) throws(StorageError) in
                (try one.follow(mine, key: key), try two.follow(theirs, key: key))
            }
            #expect(a != nil && b != nil)
            #expect(a != b)
        }
        try one.expectValid()
    }

    #if DEBUG
    @Test("doesn't count the entries of a crashed process") func crashedHolder() async throws {
        let folder = try TemporaryFolder(inMemory: true)
        let worker = try folder.worker(
            "crash", "A", "run", CrashPoint.residentRecorded.rawValue, "1", "robust")
        #expect(try await worker.finish().status & 0x7f == SIGKILL)
        for mode in [AccessMode.readOnly, .readWrite] {
            let archive = try folder.archive("A cache", mode: mode)
            defer { archive.close() }
            #expect(try archive.metadata("cached 29") == nil)
            #expect(try archive.status().entries == archive.entries().count, "\(mode)")
            if mode == .readWrite { #expect(try archive.invariantViolations() == []) }
        }
    }
    #endif

    @Test("the next process releases the slots of a killed one") func releasedSlots() async throws {
        let (one, _) = try handles(folder)
        let worker = try folder.worker("hold", "M", "7")
        #expect(try await eventually(within: 5) { try one.metadata("worker 7")?.tier == .memory })
        #expect(try one.metadata("on disk 7")?.tier == .both)
        #expect(try one.processes().count { $0.isAlive } == 2)
        try await worker.kill()
        #expect(try one.metadata("worker 7") == nil)
        #expect(try one.metadata("on disk 7")?.tier == .disk)
        // The next process removes its entries and keeps its counters.
        let hits = try one.status().hits
        let third = try folder.archive("M")
        #expect(try third.processes().count == 2)
        #expect(try third.status().hits == hits)
        try third.expectValid()
    }

    @Test("observers see the processes that hold an entry") func holders() throws {
        let (archive, _) = try handles(folder)
        try archive.put([1], forKey: "k")
        let observer = try folder.archive("M", mode: .readOnly)
        #expect(try observer.standing(of: "nothing") == nil)
        #expect(try observer.standing(of: "k")?.holders == [])
        let held = try #require(try archive.access(toHold: "k"))
        try archive.hold(held, bytes: 1)
        let standing = try #require(try observer.standing(of: "k"))
        #expect(standing.holders.map(\.name) == ["one"] && !standing.isExpired && standing.expires == nil)
        try archive.release(held, forKey: "k")
        #expect(try observer.standing(of: "k")?.holders == [])
        #expect(throws: StorageError.self) { try observer.standing(of: "") }
    }

    @Test("an expired entry is reported as expired until its removal") func expiredEntry() throws {
        let (archive, _) = try handles(folder)
        var found: EntryStanding?
        // A background task may have removed it.
        for _ in 0..<1000 where found == nil {
            try archive.put([1], forKey: "k", attributes: .expiring(.zero))
            #expect(try archive.metadata("k") == nil)
            found = try archive.standing(of: "k")
        }
        let standing = try #require(found)
        #expect(standing.isExpired && standing.expires != nil)
        try archive.removeExpired()
        #expect(try archive.standing(of: "k") == nil)
    }
}
