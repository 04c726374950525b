import Foundation
import TestSupport
import Testing

import StorageEngine

/// Rewriting values in another encoding doesn't change the order of eviction.
@Suite struct RewriteTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(inMemory: true) }

    private func open(_ limit: UInt64 = 100_000) throws -> (Store, Archive) {
        let store = try Store.open(at: folder.store)
        return (store, try store.archive(named: "A", orCreate: .cache(limit)))
    }

    private func rewrite(_ archive: Archive, _ key: String, _ value: [UInt8]) throws -> Bool {
        let sequence = try #require(try archive.current(key)).sequence
        return try archive.rewrite(value, forKey: key, ifSequence: sequence, encoding: .cbor)
    }

    @Test("a rewrite doesn't count as an access") func noAccess() throws {
        let (store, archive) = try open()
        let attributes = EntryAttributes(lifetime: .seconds(5_000), memoryLifetime: .seconds(50), owner: "me")
        for key in ["a", "b", "c", "d"] { try archive.put([1], forKey: key, attributes: attributes) }
        for key in ["b", "a", "b"] { _ = try archive.access(key) }
        let order = ["b", "a", "d", "c"]
        let before = try order.map { try #require(try archive.metadata($0)) }
        for key in ["c", "b", "a"] { #expect(try rewrite(archive, key, [2, 2])) }
        #expect(try archive.rewrite([3], forKey: "c", ifSequence: 1, encoding: .cbor) == false)
        #expect(try archive.rewrite([3], forKey: "never", ifSequence: 1, encoding: .cbor) == false)

        func expectSame(_ archive: Archive, hits: Bool) throws {
            #expect(try archive.entries().keys == order)
            for (key, before) in zip(order, before) {
                var after = try #require(try archive.metadata(key))
                #expect(try archive.peek(key) == (key == "d" ? [1] : [2, 2]))
                #expect(key == "d" || after.sequence > before.sequence && after.encoding == .cbor)
                (after.sequence, after.encoding, after.valueBytes) = (
                    before.sequence, before.encoding, before.valueBytes
                )
                if !hits { (after.hits, after.recency) = (before.hits, before.recency) }
                #expect(after == before, "\(key)")
            }
            #expect(try archive.check().clean)
        }
        try expectSame(archive, hits: true)
        store.close()
        // From the log alone, which has no hits.
        unlink(folder.store + "/A.archive/index")
        let (again, rebuilt) = try open()
        #expect(try rebuilt.entries().keys == order)
        #expect(try rebuilt.peek("c") == [2, 2] && rebuilt.metadata("c")?.owner == "me")
        #expect(try rebuilt.metadata("b")?.accessed == before[0].accessed)
        again.close()
    }

    @Test("a larger form evicts others, not itself") func largerForm() throws {
        let (_, archive) = try open(100)
        for key in ["a", "b", "c"] { try archive.put(repeated(1, 30), forKey: key) }
        #expect(try rewrite(archive, "a", repeated(2, 60)))
        #expect(try archive.entries().keys == ["c", "a"])
        #expect(throws: StorageError.self) { try rewrite(archive, "a", repeated(2, 101)) }
        #expect(try archive.peek("a")?.count == 60)
    }

    @Test("a rewrite on a full disk evicts nothing") func fullDisk() throws {
        let (_, archive) = try open(1_000_000)
        for number in 0..<2_000 { try archive.put(repeated(1, 300), forKey: "\(number)") }
        let disk = FullDisk(folder, freedBy: nil)
        defer { disk.empty() }
        var refused = 0
        for number in 0..<2_000 {
            do {
                _ = try rewrite(archive, "\(number)", repeated(2, 300))
            } catch StorageError.noSpace {
                refused += 1
            }
        }
        #expect(refused > 1_000)
        #expect(try archive.status().entries == 2_000 && archive.status().evictions == 0)
        for number in 0..<2_000 { #expect(try archive.peek("\(number)")?.count == 300) }
    }

    #if DEBUG
    @Test(
        "a crash during a rewrite leaves the old or the new form",
        arguments: [
            CrashPoint.putFrameWritten, .entryNamed, .evictionRemoved, .putIndexChanged, .putCommitted,
        ])
    func crashDuringRewrite(point: CrashPoint) async throws {
        let (store, archive) = try open(400)
        for number in 0..<10 { try archive.put(repeated(1, 30), forKey: "\(number)") }
        for number in [3, 8, 1] { _ = try archive.access("\(number)") }
        let order = try archive.entries().keys
        store.close()
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [path = folder.store as String, name = point.rawValue as String] in
            let archive = try Store.open(at: path).archive(named: "A")
            CrashPoint.arm(try #require(CrashPoint(rawValue: name)), passing: 3)
            for key in try archive.entries().keys {
                let sequence = try #require(try archive.current(key)).sequence
                _ = try archive.rewrite(repeated(2, 60), forKey: key, ifSequence: sequence, encoding: .cbor)
            }
        }
        for _ in 0..<2 {
            let (store, archive) = try open(400)
            let keys = try archive.entries().keys
            #expect(keys == order.filter(keys.contains), "\(point)")
            let values = try keys.map { try #require(try archive.peek($0)) }
            #expect(values.allSatisfy { $0.count == ($0.first == 1 ? 30 : 60) && Set($0).count == 1 })
            #expect(try values.contains { $0.first == 2 } && archive.check().clean)
            #expect(values.reduce(0) { $0 + $1.count } <= 400 && keys.count >= 6)
            store.close()
            unlink(folder.store + "/A.archive/index")
        }
    }
    #endif
}
