import Foundation
import StorageEngine
import Synchronization
import TestSupport
import Testing

/// Overwrites change the order only when pending accesses are applied. Results must not show that.
@Suite struct AccessOrderTests {
    private struct Plain {
        var order: [String] = []
        var hits: [String: UInt32] = [:]
        /// Least recently stored first: the order of the log.
        var stored: [String] = []

        mutating func use(_ key: String) {
            order.removeAll { $0 == key }
            order.append(key)
        }
        mutating func put(_ key: String) {
            use(key)
            hits[key] = 0
            stored.removeAll { $0 == key }
            stored.append(key)
        }
        mutating func access(_ key: String) {
            guard hits[key] != nil else { return }
            use(key)
            hits[key, default: 0] += 1
        }
        mutating func delete(_ key: String) {
            order.removeAll { $0 == key }
            stored.removeAll { $0 == key }
            hits[key] = nil
        }
    }

    /// Runs `steps` operations without a read between them, so that accesses stay pending or must be applied.
    @Test(
        "pending accesses count in the order in which they were made", arguments: [UInt64(1), 2, 3, 4, 5],
        [1, 7, 300, 1_500])
    func pendingAccesses(seed: UInt64, steps: Int) throws {
        let folder = try TemporaryFolder(inMemory: true)
        var random = SeededGenerator(seed: seed)
        let configuration = ArchiveConfiguration.collection
        let archive = try folder.archive(creating: configuration)
        let observer = try folder.archive(mode: .readOnly)
        let keys = (0..<60).map { "key \($0)" }
        var plain = Plain()
        for round in 0..<max(2, 6_000 / max(steps, 60)) {
            for _ in 0..<steps {
                let key = try #require(keys.randomElement(using: &random))
                switch Int.random(in: 0..<100, using: &random) {
                case 0..<60:
                    let size = Int.random(in: 0..<600, using: &random)
                    try archive.put(repeated(7, size), forKey: key)
                    plain.put(key)
                case 60..<97:
                    _ = try archive.access(key)
                    plain.access(key)
                default:
                    try archive.delete(key)
                    plain.delete(key)
                }
            }
            let comment = "seed \(seed), round \(round)"
            for archive in [archive, observer] {
                let list = try archive.entries(order: .leastRecentFirst)
                #expect(try list.keys == plain.order, "\(comment)")
                #expect(list.map(\.hits) == plain.order.map { plain.hits[$0] }, "\(comment)")
                guard let key = plain.order.randomElement(using: &random) else { continue }
                let metadata = try #require(try archive.metadata(key))
                #expect(metadata.hits == plain.hits[key], "\(comment): \(key)")
            }
            if steps > 1 || round % 50 == 0 { #expect(try archive.invariantViolations() == [], "\(comment)") }
        }
        let rebuilt = try folder.reopen(archive)
        #expect(try rebuilt.entries(order: .leastRecentFirst).keys == plain.stored)
    }

    @Test("accesses that are applied during a list count once") func appliedDuringList() throws {
        let folder = try TemporaryFolder(inMemory: true)
        let archive = try folder.archive(creating: .cache(100_000))
        let observer = try folder.archive(mode: .readOnly)
        try archive.put([1], forKey: "a")
        let begun = Atomic<UInt32>(0)
        let done = Atomic<UInt32>(0)
        let user = Background {
            while begun.load(ordering: .relaxed) < 300_000 {
                begun.add(1, ordering: .sequentiallyConsistent)
                _ = try archive.access("a")
                done.add(1, ordering: .sequentiallyConsistent)
            }
        }
        var looks = 0
        while done.load(ordering: .relaxed) < 300_000 {
            let least = done.load(ordering: .sequentiallyConsistent)
            let list = try observer.entries(order: .mostRecentFirst)
            let metadata = try #require(try observer.metadata("a"))
            let most = begun.load(ordering: .sequentiallyConsistent)
            looks += 1
            #expect(
                list[0].hits >= least && list[0].hits <= metadata.hits && metadata.hits <= most,
                "\(least) \(list[0].hits) \(metadata.hits) \(most)")
        }
        try user.wait()
        #expect(looks > 10)
        #expect(try observer.metadata("a")?.hits == 300_000)
    }

    #if DEBUG
    @Test(
        "an interrupted put is later than pending accesses",
        arguments: [
            CrashPoint.putFrameWritten, .putIndexChanged, .putCommitted, .entryAllocated,
        ], ["new", "d"])
    func orderAfterCrash(point: CrashPoint, key: String) async throws {
        guard point != .entryAllocated || key == "new" else { return }
        let folder = try TemporaryFolder(inMemory: true)
        let worker = try folder.worker("reorder", "A", point.rawValue, key)
        let (status, lines) = try await worker.finish()
        #expect(status & 0x7f == SIGKILL, "\(lines)")
        let archive = try folder.archive()
        let order = key == "new" ? ["d", "e", "a", "b", "c", "new"] : ["e", "a", "b", "c", "d"]
        #expect(try archive.entries(order: .leastRecentFirst).keys == order)
        #expect(try archive.invariantViolations() == [])
        #expect(try archive.peek(key) == [4, 5, 6])
    }
    #endif
}
