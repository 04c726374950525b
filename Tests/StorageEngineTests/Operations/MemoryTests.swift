import StorageEngine
import Testing

/// What a tier of objects in memory asks of the engine (S9, S11).
@Suite struct MemoryTests {
    private func handles(_ folder: TemporaryFolder) throws -> (Archive, Archive) {
        let configuration = ArchiveConfiguration(diskLimit: 1_000)
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

    @Test func whatAnotherHandleDoesIsSeenAtTheNextCall() throws {
        let folder = try TemporaryFolder()
        let (one, two) = try handles(folder)
        for change in ["delete", "put", "update", "deleteAll", "expire", "evict", "limits"] {
            try one.put([1], forKey: "k")
            let held = try hold("k", one)
            #expect(try one.access(held) == .current)
            switch change {
            case "delete": try two.delete("k")
            case "put": try two.put([2], forKey: "k")
            case "update": try two.update([1], forKey: "k")
            case "deleteAll": try two.deleteAll()
            case "expire": try two.setLifetime(.zero, forKey: "k")
            case "evict": try two.put([UInt8](repeating: 0, count: 1_000), forKey: "large")
            default: try two.setLimits(disk: 1, memory: nil)
            }
            if change == "limits" {
                try two.put([1], forKey: "other")
                try two.setLimits(disk: 1_000, memory: nil)
            }
            #expect(try one.access(held) == .gone, "\(change)")
        }
    }

    @Test func anObjectInMemoryKeepsItsDiskCopyRecent() throws {
        let folder = try TemporaryFolder()
        let (one, _) = try handles(folder)
        for key in ["a", "b", "c"] { try one.put([1], forKey: key) }
        let held = try hold("a", one)
        _ = try one.access("b")
        #expect(try one.access(held) == .current)
        #expect(try one.entries().keys == ["a", "b", "c"])
        #expect(try one.metadata("a")?.hits == 2)
    }

    @Test func othersSeeWhereObjectsAre() throws {
        let folder = try TemporaryFolder()
        let (one, two) = try handles(folder)
        try one.put([1], forKey: "a")
        #expect(try two.metadata("a")?.tier == .disk)
        let held = try hold("a", one)
        try one.setMemoryUse(bytes: 123)
        #expect(try two.metadata("a")?.tier == .both)
        #expect(try two.entries().first?.tier == .both)
        #expect(try two.status().memoryBytes == 123)
        try one.letGo(held, forKey: "a")
        #expect(try two.metadata("a")?.tier == .disk)
        _ = try hold("a", one)
        try two.put([2], forKey: "a")
        #expect(try two.metadata("a")?.tier == .disk, "nobody holds the new value")
    }

    @Test func whatOnlyOneProcessHoldsVanishesWithIt() throws {
        let folder = try TemporaryFolder()
        let (one, two) = try handles(folder)
        try one.put([9], forKey: "a")
        let held = try one.withHashed("a") { (key) throws(StorageError) in
            try one.recordInMemoryOnly(key, bytes: 5_000, attributes: EntryAttributes(owner: "o"))
        }
        #expect(try one.access(held) == .current)
        #expect(try two.access("a") == nil, "its bytes are nowhere else")
        let metadata = try #require(try two.metadata("a"))
        #expect(metadata.tier == .memory)
        #expect(metadata.valueBytes == 5_000)
        #expect(metadata.owner == "o")
        let status = try two.status()
        #expect(status.entries == 1)
        #expect(status.diskBytes == 0)
        // It takes no room on disk, so no limit evicts it.
        for number in 0..<20 { try two.put([UInt8](repeating: 0, count: 300), forKey: "k\(number)") }
        #expect(try one.access(held) == .current)
        one.close()
        #expect(try two.metadata("a") == nil)
        #expect(try two.status().entries == 3)
        #expect(try two.invariantViolations() == [])
        #expect(try two.check().clean)
        two.close()
        try folder.removeIndex("M")
        let again = try Store.open(at: folder.store).archive(named: "M")
        #expect(try again.peek("a") == nil, "neither does the value that it replaced come back")
    }

    @Test func theDeadAreCleanedUpAfter() async throws {
        let folder = try TemporaryFolder()
        let (one, _) = try handles(folder)
        let worker = try Worker(["hold", folder.store, "M", "7"], in: folder)
        for _ in 0..<500 where try one.metadata("worker 7")?.tier != .memory {
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(try one.metadata("worker 7")?.tier == .memory)
        #expect(try one.metadata("on disk 7")?.tier == .both)
        #expect(try one.processes().count { $0.isAlive } == 2)
        worker.signal(9)
        _ = try await worker.finish()
        #expect(try one.metadata("worker 7") == nil)
        #expect(try one.metadata("on disk 7")?.tier == .disk)
        // The next that attaches takes what is left of it away, and keeps its counts.
        let hits = try one.status().hits
        let third = try Store.open(at: folder.store).archive(named: "M")
        #expect(try third.processes().count == 2)
        #expect(try third.status().hits == hits)
        #expect(try third.invariantViolations() == [])
        #expect(try third.check().clean)
    }
}
