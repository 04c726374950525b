import Foundation
import StorageEngine
import Testing

/// The ring of events (S13) and the history of a key.
@Suite(.oneAtATime) struct EventTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(inMemory: true) }

    @Test("each operation publishes its event") func eventOfEachOperation() throws {
        let hand = ClockHand()
        try Clock.$hand.withValue(hand) {
            let archive = try folder.archive("E", creating: .cache(100))
            let long = "a key of more than twenty-four bytes"
            try archive.put([1, 2], forKey: "a")
            try archive.update([1], forKey: "a")
            try archive.put(repeated(0, 60), forKey: long)
            try archive.put(repeated(0, 60), forKey: "big")
            try archive.delete("big")
            #expect(throws: StorageError.self) { try archive.put(repeated(0, 101), forKey: "huge") }
            try archive.put([9], forKey: "brief", attributes: .expiring(.seconds(1)))
            try archive.setLifetime(.seconds(2), forKey: "brief")
            hand.pass(.seconds(3))
            #expect(try archive.access("brief") == nil)
            let batch = try archive.events()
            let said = batch.events.map { "\($0.kind) \($0.key ?? "-") \($0.bytes) \($0.cause)" }
            #expect(
                said == [
                    "record a 2 request", "update a 1 request", "record \(long) 60 request",
                    "eviction a 1 limit", "eviction \(long) 60 limit", "record big 60 request",
                    "delete big 60 request", "rejection huge 101 tooLarge", "record brief 1 request",
                    "deadline brief 1 request", "expiry brief 1 deadline",
                ])
            #expect(batch.events.allSatisfy { $0.pid == getpid() && $0.keyIsComplete })
            #expect(batch.events.map(\.sequence) == (0..<11).map { UInt64($0) })
            #expect(batch.next == 11)
            #expect(batch.lost == 0)
            #expect(try archive.events(from: batch.next).events == [])
            let history = try archive.history(of: long)
            #expect(history.events.map(\.kind) == [.record, .eviction])
            #expect(!history.isCutOff)
            #expect(try archive.history(of: "unknown").events == [])
        }
    }

    @Test("an evicted entry is named after the removal of its segment") func evictedEntryIsNamed() throws {
        let archive = try folder.archive("E", creating: .cache(400_000))
        let value = repeated(1, 100_000)
        for number in 0..<200 { try archive.put(value, forKey: "k\(number)") }
        let events = try archive.namedEvents(from: nil).events
        let evicted = events.filter { $0.kind == .eviction }
        #expect(evicted.count >= 196 && evicted.map(\.key) == evicted.indices.map { "k\($0)" })
        let hashes = Set(events.filter { $0.key == "k0" }.map(\.keyHash))
        #expect(hashes.count == 1 && hashes.first != 0)
        archive.close()
    }

    @Test("a slow follower gets the number of lost events") func slowFollower() throws {
        let archive = try folder.archive("E", creating: .cache())
        for number in 0..<3_000 { try archive.put([1], forKey: "k\(number)") }
        let batch = try archive.events(from: 0)
        #expect(batch.lost == 3_000 - 2_048)
        #expect(batch.events.count == 2_048)
        #expect(batch.events.last?.key == "k2999")
        #expect(try archive.events().lost == 0, "a new follower has lost nothing")
        #expect(try archive.history(of: "k0").isCutOff)
    }

    @Test("followers see the events of another process", arguments: [AccessMode.readWrite, .readOnly])
    func otherProcess(mode: AccessMode) async throws {
        try folder.archive("Churn", creating: .cache(50_000)).close()
        let worker = try folder.worker("churn", "Churn", "3", folder.stopFile)
        let follower = try folder.archive("Churn", mode: mode)
        var seen = 0
        var last: UInt64?
        var next = try follower.nextEvent()
        for _ in 0..<200 where seen < 500 {
            let batch = try follower.waitForEvents(from: next, atMost: .milliseconds(100))
            for event in batch.events {
                if let last { #expect(event.sequence > last) }
                last = event.sequence
                #expect(event.pid == worker.pid)
            }
            seen += batch.events.count
            #expect(batch.next == next + UInt64(batch.events.count) + batch.lost)
            next = batch.next
        }
        _ = FileManager.default.createFile(atPath: folder.stopFile, contents: nil)
        #expect(seen >= 500)
        #expect(try await worker.finish().status == 0)
    }

    @Test("waiting ends at its timeout") func timeout() throws {
        let archive = try folder.archive("E", creating: .cache())
        let batch = try archive.waitForEvents(from: 0, atMost: .milliseconds(20))
        #expect(batch.events == [])
        #expect(batch.next == 0)
    }

    @Test("concurrent events are all recorded") func concurrentEvents() async throws {
        let archive = try folder.archive("E", creating: .cache())
        for key in 0..<4 { try archive.put([1], forKey: "\(key)") }
        let first = try archive.nextEvent()
        await withTaskGroup(of: Void.self) { group in
            for key in 0..<4 {
                group.addTask {
                    let held = try? archive.access(toHold: "\(key)")
                    for _ in 0..<500 { if let held = held ?? nil { try? archive.hold(held, bytes: key) } }
                }
            }
        }
        let events = try archive.events(from: first).events
        #expect(events.count == 2_000)
        for key in 0..<4 {
            #expect(
                events.filter { $0.key == "\(key)" && $0.bytes == key && $0.kind == .promotion }.count == 500)
        }
    }

    @Test("a key truncated within a character concerns its followers") func truncatedKey() throws {
        let archive = try folder.archive("E", creating: .collection)
        let key = String(repeating: "a", count: 23) + "é and the rest"
        let first = try archive.nextEvent()
        try archive.put([7], forKey: key)
        for round in 0..<30 { try archive.put(repeated(1, 20_000), forKey: "big \(round % 3)") }
        let batch = try archive.events(from: first)
        #expect(batch.events.count == 31 && batch.lost == 0)
        var interest = KeyInterest()
        interest.insert(key: key)
        #expect(ChangedKeys(batch).concern(interest))
    }

    @Test("an observer notices a rebuilt index", arguments: [(1, 1), (5, 5), (10, 20)])
    func rebuiltIndex(before: Int, after: Int) throws {
        func write(_ count: Int, _ name: String) throws {
            let archive = try folder.archive("E", creating: .cache())
            defer { archive.close() }
            for number in 0..<count { try archive.put([1], forKey: "\(name) \(number)") }
        }
        try write(before, "old")
        let observer = try folder.archive("E", mode: .readOnly)
        let next = try observer.nextEvent()
        try folder.removeIndex("E")
        try write(after, "new")
        let batch = try observer.events(from: next)
        #expect(batch.lost == 1)
        #expect(batch.events.compactMap(\.key) == (0..<after).map { "new \($0)" })
        #expect(batch.events.first?.sequence == next + 1)
        #expect(try observer.nextEvent() == batch.next)
    }

    @Test("an observer without an index misses no event") func noIndexYet() throws {
        let archive = try folder.archive("E", creating: .cache())
        try archive.put([1], forKey: "lost with the index")
        archive.close()
        try folder.removeIndex("E")
        let observer = try folder.archive("E", mode: .readOnly)
        #expect(try observer.nextEvent() == 0)
        let again = try folder.archive("E")
        try again.put([2], forKey: "new")
        let batch = try observer.events(from: 0)
        #expect(batch.lost == 0)
        #expect(batch.events.map(\.key) == ["new"])
    }

    /// Puts 100 entries, opens an observer, rebuilds the index and puts 5 more.
    private func observerOfANewIndex(_ folder: TemporaryFolder) throws -> (observer: Archive, writer: Store) {
        func write(_ count: Int) throws -> Store {
            let store = try Store.open(at: folder.store)
            let archive = try store.archive(named: "E", orCreate: .cache())
            for number in 0..<count { try archive.put([1], forKey: "\(number)") }
            return store
        }
        try write(100).close()
        let observer = try folder.archive("E", mode: .readOnly)
        #expect(try observer.nextEvent() == 100)
        try folder.removeIndex("E")
        return (observer, try write(5))
    }

    @Test(
        "a damaged event number harms no reader",
        arguments: [UInt64.max, UInt64.max - 1, UInt64.max - 101, UInt64(1) << 63])
    func damagedEventNumber(number: UInt64) throws {
        let (observer, writer) = try observerOfANewIndex(folder)
        #expect(try observer.nextEvent() == 106)
        try overwrite(folder.archivePath("E", "index"), at: 704, with: little(number))
        for first in [nil, 0, 100, 106, .max] as [UInt64?] {
            #expect(try observer.events(from: first).events.count <= 2_048)
        }
        #expect(try observer.nextEvent() == number &+ 101)
        writer.close()
    }

    @Test("a check keeps the observer's event numbers") func numbersAfterCheck() throws {
        let (observer, writer) = try observerOfANewIndex(folder)
        let next = try observer.nextEvent()
        let segment = try #require(try folder.segments("E").first)
        try overwrite(folder.archivePath("E", segment), at: 200, with: [0xff, 0xff, 0xff, 0xff])
        #expect(try !observer.check().clean)
        #expect(try observer.nextEvent() == next)
        #expect(try observer.events(from: next).events.isEmpty)
        writer.close()
    }
}
