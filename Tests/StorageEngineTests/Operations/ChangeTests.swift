import Foundation
import StorageEngine
import TestSupport
import Testing

/// Conditional changes, and accesses without the value.
@Suite struct ChangeTests {
    private let folder: TemporaryFolder
    private let archive: Archive

    init() throws {
        folder = try TemporaryFolder(inMemory: true)
        archive = try folder.archive(creating: .cache(100_000))
    }

    @Test("a conditional put requires the expected sequence") func conditionalPut() throws {
        let first = try archive.put([1], forKey: "a", ifSequence: nil)
        guard case .stored(let sequence) = first else {
            Issue.record("not stored, although absent")
            return
        }
        #expect(try archive.current("a")?.sequence == sequence)
        #expect(try archive.put([2], forKey: "a", ifSequence: nil) == .changed)
        #expect(try archive.put([2], forKey: "a", ifSequence: sequence + 1) == .changed)
        #expect(try archive.peek("a") == [1])
        #expect(try archive.put([2], forKey: "a", ifSequence: sequence) != .changed)
        #expect(try archive.put([3], forKey: "a", ifSequence: sequence) == .changed)
        #expect(try archive.peek("a") == [2])
        try archive.delete("a")
        #expect(try archive.put([3], forKey: "a", ifSequence: sequence) == .changed)
        #expect(try archive.put([4], forKey: "a", ifSequence: nil) != .changed)
        try archive.setLifetime(.zero, forKey: "a")
        #expect(try archive.put([5], forKey: "a", ifSequence: nil) != .changed)
        #expect(try archive.peek("a") == [5])
    }

    @Test("a key that is only in memory counts as absent") func inMemoryOnly() throws {
        for key in ["a", "b"] {
            _ = try archive.withHashed(key) { (key) throws(StorageError) in
                try archive.recordInMemoryOnly(key, bytes: 100)
            }
        }
        #expect(try archive.current("a") == nil)
        try archive.change("a") { $0 == nil ? .put([1]) : .keep }
        #expect(try archive.peek("a") == [1])
        #expect(try archive.put([2], forKey: "b", ifSequence: nil) != .changed)
        #expect(try archive.peek("b") == [2])
    }

    @Test("a change keeps the fields that it doesn't name") func keptFields() throws {
        try archive.put(
            [1], forKey: "a", encoding: .cbor,
            attributes: EntryAttributes(lifetime: .seconds(1000), owner: "me"))
        let before = try #require(try archive.metadata("a"))
        try archive.change("a") { .replaceValue(($0?.value ?? []) + [2]) }
        let after = try #require(try archive.metadata("a"))
        #expect(try archive.peek("a") == [1, 2])
        #expect(after.expires == before.expires && after.owner == "me" && after.encoding == .cbor)
        #expect(after.created == before.created && after.sequence != before.sequence)
        try archive.change("a") { _ in .put([3], encoding: .text) }
        #expect(try archive.metadata("a")?.expires == nil)
        try archive.change("a") { _ in .keep }
        #expect(try archive.peek("a") == [3])
        try archive.change("a") { _ in .delete }
        #expect(try archive.peek("a") == nil)
        try archive.change("a") { $0 == nil ? .delete : .put([9]) }
        #expect(try archive.peek("a") == nil)
    }

    @Test("a body may change the entry, and is then called again") func reentrantBody() throws {
        try archive.put([1], forKey: "a")
        var calls = 0
        let archive = archive
        try archive.change("a") { current in
            calls += 1
            if calls == 1 { try? archive.put([10], forKey: "a") }
            return .put([(current?.value.first ?? 0) + 1])
        }
        #expect(calls == 2)
        #expect(try archive.peek("a") == [11])
    }

    @Test("counters changed by many threads add up") func countersOfManyThreads() throws {
        let archive = archive
        let threads = (0..<4).map { _ in
            Background {
                for _ in 0..<500 {
                    try archive.change("counter") { current in
                        let count = current?.value.reduce(0) { $0 << 8 | Int($1) } ?? 0
                        return .put([UInt8((count + 1) >> 8), UInt8((count + 1) & 255)])
                    }
                }
            }
        }
        for thread in threads { try thread.wait() }
        #expect(try archive.peek("counter") == [UInt8(2000 >> 8), UInt8(2000 & 255)])
    }

    @Test("a touch is an access without the value") func touch() throws {
        for key in ["a", "b", "c"] { try archive.put([1], forKey: key) }
        #expect(try archive.touch("a"))
        #expect(try archive.touch("never") == false)
        #expect(try archive.entries().keys == ["a", "c", "b"])
        #expect(try archive.metadata("a")?.hits == 1)
        let status = try archive.status()
        #expect(status.hits == 1 && status.misses == 1)
        #expect(try archive.touch("b", lifetime: .seconds(50)))
        #expect(try archive.metadata("b")?.expires != nil)
        #expect(try archive.entries().keys.first == "b")
        #expect(try archive.touch("b", lifetime: .zero) == false)
        #expect(try archive.peek("b") == nil)
        let observing = try folder.archive(mode: .readOnly)
        #expect(throws: StorageError.self) { try observing.touch("a") }
    }
}
