import Foundation
import StorageEngine
import Synchronization
import TestSupport
import Testing

/// Followers of events that block no thread.
@Suite(.oneAtATime) struct FollowerTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private final class Counter: Sendable {
        private let count = Atomic<Int>(0)
        var value: Int { count.load(ordering: .relaxed) }
        func add(_ amount: Int) { count.add(amount, ordering: .relaxed) }
    }

    private func archive(_ folder: TemporaryFolder, _ name: String = "F") throws -> Archive {
        try folder.archive(name, creating: .cache())
    }

    /// Threads of this process.
    private var threads: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count) ?? 0
    }

    @Test("a thousand followers share one thread and see each event") func thousandFollowers() async throws {
        let store = try Store.open(at: folder.store)
        let archives = try (0..<4).map {
            try store.archive(named: "F\($0)", orCreate: .cache())
        }
        let reached = Counter()
        try await withThrowingTaskGroup(of: [String].self) { group in
            for number in 0..<1_000 {
                let events = try archives[number % 4].follow()
                group.addTask { [reached] in
                    var keys: [String] = []
                    for try await batch in events {
                        #expect(batch.lost == 0)
                        keys += batch.events.compactMap(\.key)
                        reached.add(batch.events.count)
                        if keys.count == 3 { break }
                    }
                    return keys
                }
            }
            #expect(try await eventually(within: 20) { archives[0].followers.waiting == 1_000 })
            #expect(archives.allSatisfy { $0.followers.isActive })
            for key in ["a", "b", "c"] { for archive in archives { try archive.put([1], forKey: key) } }
            for try await keys in group { #expect(keys == ["a", "b", "c"]) }
        }
        #expect(reached.value == 3_000)
        #expect(archives[0].followers.waiting == 0)
        #expect(
            try await eventually(within: 5) { !archives[0].followers.isActive },
            "the thread ends with the last follower")
    }

    @Test("waiting followers block no thread of the pool") func blockedThreads() async throws {
        let archive = try archive(folder)
        let before = threads
        let tasks = try (0..<200).map { _ in
            let events = try archive.follow()
            return Task {
                for try await _ in events {}
                return true
            }
        }
        #expect(try await eventually(within: 20) { archive.followers.waiting == 200 })
        #expect(threads - before <= 32, "\(threads) threads, \(before) before")
        // An unrelated task runs while all of them wait.
        #expect(await Task.detached(priority: Task.currentPriority) { 7 }.value == 7)
        for task in tasks { task.cancel() }
        for task in tasks { #expect(try await task.value) }
        #expect(archive.followers.waiting == 0)
    }

    @Test("closing an archive ends its followers with an error") func closingEndsFollowers() async throws {
        let archive = try archive(folder)
        let count = 10_000
        try await withThrowingTaskGroup(of: StorageError?.self) { group in
            let events = try archive.follow()
            for _ in 0..<count {
                group.addTask {
                    do throws(StorageError) {
                        var iterator = events.makeAsyncIterator()
                        while try await iterator.next() != nil {}
                        return nil
                    } catch {
                        return error
                    }
                }
            }
            #expect(try await eventually(within: 20) { archive.followers.waiting == count })
            archive.close()
            for try await error in group { #expect(error == .closed(name: "F")) }
        }
        #expect(throws: StorageError.closed(name: "F")) { try archive.follow() }
    }

    @Test("a removed archive ends its followers", arguments: [true, false])
    func removalEndsFollowers(byOther: Bool) async throws {
        let archive = try archive(folder)
        let other = try Store.open(at: folder.store)
        let events = try archive.follow()
        let task = Task { () -> StorageError? in
            do throws(StorageError) {
                var iterator = events.makeAsyncIterator()
                while try await iterator.next() != nil {}
                return nil
            } catch {
                return error
            }
        }
        #expect(try await eventually(within: 20) { archive.followers.waiting == 1 })
        if byOther {
            try other.removeArchive(named: "F")
        } else {
            try removeFolderInUse(folder.store)
        }
        #expect(await task.value == .closed(name: "F"))
    }

    private func interest(key: String? = nil, prefix: String? = nil) -> KeyInterest {
        var interest = KeyInterest()
        if let key { interest.insert(key: key) }
        if let prefix { interest.insert(prefix: prefix) }
        return interest
    }

    @Test("only events that concern a follower wake it") func interests() async throws {
        let archive = try archive(folder)
        let interests = [
            interest(key: "b"), interest(prefix: "ba"), interest(key: "c", prefix: "x"), KeyInterest(),
        ]
        let tasks = try interests.map { interest in
            let events = try archive.follow()
            return Task {
                var iterator = events.makeAsyncIterator()
                return try await iterator.next(concerning: interest)
            }
        }
        #expect(try await eventually(within: 20) { archive.followers.waiting == 4 })
        // One by one, so that followers check each event separately.
        var everything = try archive.follow().makeAsyncIterator()
        for key in ["a", "bb", "b", "az", "ball", "w", "y", "x"] {
            try archive.put([1], forKey: key)
            #expect(try await everything.next()?.events.map(\.key) == [key])
        }
        for (task, key) in zip(tasks, ["b", "ball", "x"]) {
            #expect(try await task.value?.events.map(\.key) == [key])
        }
        #expect(archive.followers.waiting == 1, "no event concerns the last follower")
        tasks[3].cancel()
        #expect(try await tasks[3].value == nil)
    }

    @Test("matches keys and prefixes as plain comparison does") func matching() throws {
        var random = SeededGenerator.announced("interests of followers")
        func text() -> String {
            String(
                (0..<Int.random(in: 0...3, using: &random)).map { _ in "abc".randomElement(using: &random)! })
        }
        let kinds: [EventKind] = [.update, .delete, .promotion]
        for _ in 0..<300 {
            let events = (0..<Int.random(in: 0...4, using: &random)).map { _ in
                ArchiveEvent(
                    kinds.randomElement(using: &random)!, .request, key: text(),
                    time: Timestamp(microseconds: 0))
            }
            let changed = ChangedKeys(EventBatch(events: events, next: 1))
            for _ in 0..<10 {
                let (key, prefix) = (text(), text())
                let keys = events.filter { $0.kind != .promotion }.compactMap(\.key)
                #expect(changed.concern(interest(key: key)) == keys.contains(key))
                #expect(
                    changed.concern(interest(prefix: prefix))
                        == keys.contains { $0.hasPrefix(prefix) || prefix.isEmpty })
            }
        }
        #expect(ChangedKeys(EventBatch(events: [], lost: 1, next: 1)).concern(KeyInterest()))
        var cut = ArchiveEvent(.update, .request, key: "abc", time: Timestamp(microseconds: 0))
        cut.keyIsComplete = false
        let changed = ChangedKeys(EventBatch(events: [cut], next: 1))
        #expect(changed.concern(interest(key: "abcd")) && changed.concern(interest(prefix: "ab")))
        #expect(changed.concern(interest(prefix: "abcd")))
    }

    @Test("a slow follower loses events and delays no other") func slowFollower() async throws {
        let archive = try archive(folder)
        var slow = try archive.follow().makeAsyncIterator()
        let quick = try archive.follow()
        let seen = Counter()
        let task = Task {
            var keys: [String] = []
            for try await batch in quick {
                #expect(batch.lost == 0)
                keys += batch.events.compactMap(\.key)
                seen.add(batch.events.count)
                if keys.count >= 6_000 { break }
            }
            return keys
        }
        for number in 0..<6_000 {
            try archive.put([1], forKey: "\(number)")
            if number % 500 == 499 {
                #expect(try await eventually(within: 20) { seen.value == number + 1 })
            }
        }
        #expect(try await task.value == (0..<6_000).map { "\($0)" })
        let batch = try #require(try await slow.next())
        #expect(batch.lost == 6_000 - 2_048)
        #expect(batch.events.last?.key == "5999")
    }

    #if DEBUG
    @Test("events that are still being written aren't reported as lost") func pendingEvents() async throws {
        let folder = try TemporaryFolder(inMemory: true)
        let archive = try folder.archive("F", creating: .cache(50_000))
        for number in 0..<400 { try archive.put(repeated(1, 100), forKey: "\(number)") }
        let next = try archive.nextEvent()
        let worker = try folder.worker("evict", "F", "1", CrashPoint.evictionRemoved.rawValue, "45000")
        try #require(try await worker.process.isStopped(within: 30), "\(worker.linesSoFar())")
        let first = try archive.events(from: next)
        #expect(first.lost == 0 && first.events.count < 10)
        worker.signal(SIGCONT)
        #expect(try await worker.finish().lines == ["done"])
        let rest = try archive.events(from: first.next)
        let events = first.events + rest.events
        #expect(rest.lost == 0 && events.count { $0.kind == .eviction } > 300)
        #expect(events.map(\.sequence) == Array(next..<next + UInt64(events.count)))
    }
    #endif

    @Test("sees each event of another process or its loss", arguments: [AccessMode.readWrite, .readOnly])
    func otherProcess(mode: AccessMode) async throws {
        let own = try Store.open(at: folder.store)
        try own.archive(named: "Churn", orCreate: .cache(50_000)).close()
        let archive = try folder.archive("Churn", mode: mode)
        var events = try archive.follow().makeAsyncIterator()
        let worker = try folder.worker("churn", "Churn", "3", folder.stopFile)
        var seen = 0
        var next: UInt64?
        while seen < 500, let batch = try await events.next() {
            // Each event was received or reported as lost.
            if let next { #expect(batch.next == next + UInt64(batch.events.count) + batch.lost) }
            let numbers = batch.events.map(\.sequence)
            #expect(zip([next ?? 0] + numbers.map { $0 + 1 }, numbers).allSatisfy { $0 <= $1 })
            next = batch.next
            #expect(batch.events.allSatisfy { $0.pid == worker.pid })
            seen += batch.events.count
        }
        _ = FileManager.default.createFile(atPath: folder.stopFile, contents: nil)
        #expect(seen >= 500)
        #expect(try await worker.finish().status == 0)
        #expect(
            FileManager.default.fileExists(atPath: folder.store + "/vellum-store.doorbell")
                == (mode == .readWrite), "an observer changes nothing")
    }

    @Test("sees events after a writer was killed") func killedWriter() async throws {
        let archive = try archive(folder, "Kill")
        for round in 0..<5 {
            var events = try archive.follow().makeAsyncIterator()
            let worker = try folder.worker("churn", "Kill", "\(round)", folder.stopFile)
            var seen = 0
            while seen < 50, let batch = try await events.next() { seen += batch.events.count }
            try await worker.kill()
            events = try archive.follow().makeAsyncIterator()
            try archive.put([1], forKey: "after \(round)")
            var isHeard = false
            while !isHeard, let batch = try await events.next() {
                isHeard = batch.events.contains { $0.key == "after \(round)" }
            }
            #expect(isHeard)
        }
    }

    @Test("sees events without a doorbell file") func noDoorbell() async throws {
        let archive = try archive(folder)
        let bell = folder.store + "/vellum-store.doorbell"
        try FileManager.default.createDirectory(atPath: bell, withIntermediateDirectories: false)
        var events = try archive.follow().makeAsyncIterator()
        for number in 0..<3 {
            try archive.put([1], forKey: "\(number)")
            #expect(try await events.next()?.events.map(\.key) == ["\(number)"])
            if number == 1 { try FileManager.default.removeItem(atPath: bell) }
        }
    }
}
