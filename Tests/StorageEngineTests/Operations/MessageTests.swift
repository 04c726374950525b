import Foundation
import StorageEngine
import TestSupport
import Testing

/// Archives of kind `log`: a bounded ring of messages.
@Suite struct MessageTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(inMemory: true) }

    private func open(limit: UInt64 = 10_000) throws -> Archive {
        try folder.archive("Ring", creating: .log(limit))
    }

    private func texts(_ archive: Archive, after cursor: MessageCursor? = nil) throws -> [String] {
        try archive.messages(after: cursor, most: .max).messages.map {
            String(decoding: $0.bytes, as: UTF8.self)
        }
    }

    /// Random messages against a plain queue, with reopenings and rebuilds.
    @Test("drops the oldest messages first", arguments: [UInt64(1), 2, 3, 4])
    func oldestFirst(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let limit = Int.random(in: 1_000...2_000_000, using: &random)
        var archive = try open(limit: UInt64(limit))
        var model: [[UInt8]] = []
        var appended: [UInt64] = []
        for step in 0..<1_500 {
            let largest = Int.random(in: 0..<50, using: &random) == 0 ? limit : limit / 50
            let size = Int.random(in: 0...largest, using: &random)
            let message = repeated(UInt8(truncatingIfNeeded: step), size)
            appended.append(try archive.append(message))
            model.append(message)
            while model.reduce(0, { $0 + $1.count }) > limit { model.removeFirst() }
            if step % 100 == 99 {
                if step % 300 == 299 { archive = try folder.reopen(archive, rebuilding: step % 600 == 599) }
                let batch = try archive.messages(most: .max)
                #expect(batch.messages.map(\.bytes) == model, "seed \(seed) step \(step)")
                #expect(batch.messages.map(\.sequence).suffix(1) == appended.suffix(1))
                let status = try archive.status()
                #expect(status.entries == model.count)
                #expect(Int(status.diskBytes) == model.reduce(0) { $0 + $1.count })
                #expect(Double(status.footprint) <= 1.25 * Double(limit + 128 * model.count) + 1_048_576)
                #expect(try archive.check().problems == [], "seed \(seed) step \(step)")
                let last = Int.random(in: 0...model.count, using: &random)
                let cursor = try archive.cursor(beforeLast: last)
                #expect(
                    try archive.messages(after: cursor, most: .max).messages.map(\.bytes)
                        == model.suffix(last))
            }
        }
        #expect(zip(appended, appended.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test("followers continue and report lost messages") func follow() throws {
        let archive = try open(limit: 100)
        for number in 0..<10 { try archive.append(Array("message \(number)".utf8)) }
        let batch = try archive.messages(most: 4)
        #expect(batch.messages.count == 4)
        #expect(try texts(archive, after: batch.next) == (4..<10).map { "message \($0)" })
        let end = try archive.messages(after: batch.next, most: .max).next
        #expect(try texts(archive, after: end) == [])
        try archive.append(Array("more".utf8))
        let next = try archive.messages(after: end, most: .max)
        #expect(next.messages.count == 1)
        #expect(!next.someAreLost)
        for number in 0..<100 { try archive.append(Array("flood \(number)".utf8)) }
        let late = try archive.messages(after: next.next, most: .max)
        #expect(late.someAreLost)
        #expect(late.messages.last?.bytes == Array("flood 99".utf8))
    }

    @Test("skips damaged messages and reports them", arguments: [(3, 8), (3, 0), (9, 8), (9, 80)])
    func damage(message: Int, byte: Int) throws {
        let archive = try open()
        for number in 0..<10 { try archive.append(Array("message \(number)".utf8)) }
        let path = folder.archivePath("Ring", "00000001.segment")
        let bytes = try contents(of: path)
        let text = try #require(bytes.range(of: Data("message \(message)".utf8)))
        let frame = try #require(bytes.range(of: Data("message \(message - 1)".utf8))).upperBound
        // In the frame's header, or in the message.
        try flip(path, at: byte < 80 ? (frame + 7) / 8 * 8 + byte : text.lowerBound, 0x55)
        let left = (0..<10).filter { $0 != message }.map { "message \($0)" }
        for last in [20, 9, 8, 2] {
            let cursor = try archive.cursor(beforeLast: last)
            let batch = try archive.messages(after: cursor, most: .max)
            let found = batch.messages.map { String(decoding: $0.bytes, as: UTF8.self) }
            // Damage after a header still counts as one message.
            #expect(found == left.suffix(last) || found == left.suffix(last - 1), "\(last): \(found)")
            #expect(batch.someAreDamaged == batch.someAreLost, "\(last)")
            if last > 7 || message == 9 { #expect(batch.someAreDamaged, "\(last)") }
        }
    }

    @Test("refuses operations of other kinds") func kinds() throws {
        let log = try open()
        let cache = try folder.archive("Cache", creating: .cache())
        #expect(throws: StorageError.self) { try log.put([1], forKey: "a") }
        // These passed as changes of absent entries.
        func isRefused(_ change: () throws -> Void) -> Bool {
            do { try change() } catch StorageError.wrongKind { return true } catch {}
            return false
        }
        #expect(isRefused { _ = try log.setLifetime(.seconds(1), forKey: "a") })
        #expect(isRefused { _ = try log.carryOut(.delete, on: [PlannedEntry(key: "a", sequence: 1)]) })
        #expect(throws: StorageError.self) { try cache.append([1]) }
        #expect(throws: StorageError.self) { try cache.messages() }
        #expect(throws: StorageError.self) { try log.append(repeated(0, 10_001)) }
        #expect(try log.status().rejections == 1)
        #expect(throws: StorageError.self) {
            try folder.archive("Endless", creating: .log(nil))
        }
    }

    @Test("empties and shrinks a ring") func emptiedRing() throws {
        let archive = try open()
        for _ in 0..<50 { try archive.append(repeated(1, 100)) }
        try archive.setLimits(disk: 1_000, memory: nil)
        #expect(try archive.status().entries == 10)
        #expect(try archive.deleteAll().entries == 10)
        #expect(try texts(archive) == [])
        try archive.append(Array("again".utf8))
        #expect(try texts(folder.reopen(archive)) == ["again"])
    }

    @Test("messages dropped by a smaller limit don't reappear", arguments: [UInt64(1), 250, 1_000, 2_999])
    func droppedMessages(limit: UInt64) throws {
        var archive = try open()
        for number in 0..<30 { try archive.append(repeated(UInt8(number), 100)) }
        let cursor = try archive.messages(most: 5).next
        try archive.setLimits(disk: limit, memory: nil)
        let left = (30 - Int(limit) / 100)..<30
        func expectLeft(_ comment: String) throws {
            #expect(
                try archive.messages(most: .max).messages.map { Int($0.bytes[0]) } == Array(left),
                "\(comment)")
            #expect(try archive.status().entries == left.count, "\(comment)")
            let report = try archive.check()
            #expect(report.clean && report.entries == left.count, "\(comment): \(report)")
            #expect(try archive.invariantViolations() == [], "\(comment)")
        }
        try expectLeft("smaller")
        let rest = try archive.messages(after: cursor, most: .max)
        #expect(rest.messages.map { Int($0.bytes[0]) } == Array(left.filter { $0 >= 5 }))
        #expect(rest.someAreLost == (left.lowerBound > 5))
        try archive.setLimits(disk: 100_000, memory: nil)
        try expectLeft("larger")
        archive = try folder.reopen(archive)
        try expectLeft("rebuilt")
        try archive.append([77])
        archive = try folder.reopen(archive)
        #expect(try archive.messages(most: .max).messages.map { Int($0.bytes[0]) } == Array(left) + [77])
        #expect(try archive.check().clean)
    }

    @Test("a deletion of the messages before a cursor keeps later ones", arguments: [3, 2_000], [0, 2])
    func deletionBeforeCursor(count: Int, later: Int) throws {
        var archive = try open()
        for number in 0..<count { try archive.append([UInt8(number & 255)]) }
        let end = try archive.cursor(beforeLast: 0)
        let left = (0..<later).map { [UInt8(100 + $0)] }
        for message in left { try archive.append(message) }
        let removed = try #require(try archive.deleteMessages(before: end))
        #expect(removed.entries == count && removed.bytes == UInt64(count))
        #expect(try archive.deleteMessages(before: end)?.entries == 0)
        #expect(try archive.messages(most: .max).messages.map(\.bytes) == left)
        #expect(try archive.check().problems == [])
        archive.close()
        try folder.removeIndex("Ring")
        archive = try open()
        #expect(try archive.messages(most: .max).messages.map(\.bytes) == left)
        #expect(try archive.deleteMessages(before: end) == nil)
    }

    @Test("lost messages are reported to a reader once", arguments: [false, true], [false, true])
    func lostMessages(hasReadAll: Bool, looksWhileEmpty: Bool) throws {
        let archive = try open()
        for number in 0..<4 { try archive.append([UInt8(number)]) }
        var cursor = try archive.messages(most: .max).next
        if !hasReadAll { try archive.append([4]) }
        try archive.deleteAllMessages()
        var isTold = false
        if looksWhileEmpty {
            let batch = try archive.messages(after: cursor)
            #expect(batch.messages.isEmpty)
            isTold = batch.someAreLost
            cursor = batch.next
        }
        try archive.append([5])
        let batch = try archive.messages(after: cursor)
        #expect(batch.messages.map(\.bytes) == [[5]])
        #expect(isTold == (!hasReadAll && looksWhileEmpty))
        #expect(batch.someAreLost == (!hasReadAll && !looksWhileEmpty))
    }

    @Test("messages that are lost during a read are reported", arguments: [false, true])
    func concurrentReader(isEmptied: Bool) async throws {
        let archive = try open()
        let (isOver, written) = (GuardedReference(false), GuardedReference(0))
        let observer = try folder.archive("Ring", mode: .readOnly)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { isOver.withLock { $0 = true } }
                for round in 0..<600 {
                    for _ in 0..<Int.random(in: 1...30) {
                        let number = written.withLock { number in
                            number += 1
                            return number
                        }
                        try archive.append(Array("\(number)".utf8) + repeated(32, .random(in: 0...1_000)))
                    }
                    if isEmptied {
                        try archive.deleteAllMessages()
                    } else {
                        try archive.setLimits(disk: [6_666, 10_000, 20_000][round % 3], memory: nil)
                    }
                }
            }
            group.addTask {
                var (cursor, latest, isTold): (MessageCursor?, Int, Bool) = (nil, 0, false)
                var shouldContinue = true
                while shouldContinue {
                    // Reads once more after the end.
                    shouldContinue = !isOver.withLock { $0 }
                    let batch = try observer.messages(after: cursor, most: 100)
                    #expect(!batch.someAreDamaged)
                    // The loss may be anywhere in the batch, or after it.
                    isTold = isTold || batch.someAreLost
                    for message in batch.messages {
                        let number = try #require(
                            Int(String(decoding: message.bytes.prefix { $0 != 32 }, as: UTF8.self)))
                        #expect(number > latest)
                        #expect(latest == 0 || isTold || number == latest + 1, "\(latest), \(number)")
                        latest = number
                    }
                    isTold = batch.someAreLost || batch.messages.isEmpty && isTold
                    cursor = batch.next
                }
            }
            try await group.waitForAll()
        }
        #expect(try archive.check().clean)
    }

    @Test(
        "reports no loss to a reader that has read all",
        arguments: [
            (2_000, 3_000, [2_000_000]), (2_000, 3_000, [2_000_000, 1_000_000, 666_666]), (4, 100, [50]),
        ] as [(Int, Int, [UInt64])])
    func noFalseLoss(count: Int, size: Int, limits: [UInt64]) throws {
        let archive = try open(limit: 20_000_000)
        for number in 0..<count { try archive.append(repeated(UInt8(number % 251), size)) }
        let cursor = try archive.messages(most: .max).next
        for limit in limits { try archive.setLimits(disk: limit, memory: nil) }
        try archive.append([9])
        let batch = try archive.messages(after: cursor)
        #expect(batch.messages.map(\.bytes) == [[9]] && !batch.someAreLost)
    }

    @Test("reads a recreated log from its beginning") func otherLog() throws {
        let store = try Store.open(at: folder.store)
        let configuration = ArchiveConfiguration.log(10_000)
        let first = try store.archive(named: "Ring", orCreate: configuration)
        for number in 0..<9 { try first.append([UInt8(number)]) }
        let observing = try Store.open(at: folder.store, mode: .readOnly)
        let observer = try observing.archive(named: "Ring")
        let cursor = try observer.messages(most: .max).next
        try store.removeArchive(named: "Ring")
        let second = try store.archive(named: "Ring", orCreate: configuration)
        for number in 20..<24 { try second.append([UInt8(number)]) }
        #expect { try observer.messages(after: cursor) } throws: { $0.isClosed }
        let other = try observing.archive(named: "Ring")
        #expect(other !== observer)
        let batch = try other.messages(after: cursor)
        #expect(batch.messages.map { $0.bytes[0] } == [20, 21, 22, 23])
        #expect(batch.someAreLost)
        #expect(try other.messages(after: batch.next).someAreLost == false)
        #expect(try other.messages(before: cursor).messages.isEmpty)
    }

    @Test("a read ends at its limit of bytes") func byteLimit() throws {
        let archive = try open(limit: 1_000_000)
        for number in 0..<20 { try archive.append(repeated(UInt8(number), 1_000)) }
        var cursor: MessageCursor?
        var seen: [UInt8] = []
        var rounds = 0
        while true {
            let batch = try archive.messages(after: cursor, mostBytes: 2_500)
            #expect(!batch.someAreLost && batch.messages.count <= 3)
            if batch.messages.isEmpty { break }
            seen += batch.messages.map { $0.bytes[0] }
            cursor = batch.next
            rounds += 1
        }
        #expect(seen == Array(0..<20) && rounds == 7)
    }

    @Test("segments dropped during a read cause no damage and no error") func droppedSegments() async throws {
        let writer = try open(limit: 200_000)
        let reader = try folder.archive("Ring", mode: .readOnly)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                let end = ContinuousClock.now + .seconds(1)
                var number = 0
                while ContinuousClock.now < end {
                    for _ in 0..<200 { try writer.append(repeated(1, 20 + number % 60)) }
                    number += 1
                }
            }
            for most in [1, 50, 1000] {
                group.addTask {
                    var cursor: MessageCursor?
                    while !Task.isCancelled {
                        let batch = try reader.messages(after: cursor, most: most)
                        #expect(!batch.someAreDamaged)
                        cursor = most == 50 ? try reader.cursor(beforeLast: 2000) : batch.next
                        await Task.yield()
                    }
                }
            }
            // The writer ends first.
            try await group.next()
            group.cancelAll()
            try await group.waitForAll()
        }
        #expect(try reader.check().clean)
    }
}
