import Foundation
import StorageEngine
import TestSupport
import Testing
import Vellum

/// S10: threads run all operations on one archive. Each thread alone stores and deletes certain keys, so it knows which
/// versions are valid; all threads read all keys.
@Suite struct StressTests {
    private struct Numbered: ArchiveCodable {
        var primaryKey: String
        var version: Int
        var text: String

        init(_ key: String, version: Int, size: Int) {
            primaryKey = key
            self.version = version
            text = String(repeating: Self.letter(version), count: size)
        }

        var isWhole: Bool { text.utf8.allSatisfy { Character(Unicode.Scalar($0)) == Self.letter(version) } }

        private static func letter(_ version: Int) -> Character {
            Character(Unicode.Scalar(UInt8(97 + version % 26)))
        }
    }

    private static let threads = 8
    private static let keysOfEach = 12
    private static let memorySize = 12_000
    private static let diskSize = 8_000

    private struct Tally {
        var operations = 0
        var found = 0
        var wrong: [String] = []
    }

    /// Operations per thread; VELLUM_STRESS_OPERATIONS=1000000 runs for longer.
    private static let operations =
        ProcessInfo.processInfo.environment["VELLUM_STRESS_OPERATIONS"].flatMap { Int($0) } ?? 3_000

    @Test("eight threads keep limits, order and counts") func eightThreads() throws {
        try run { $0 >= Self.operations }
    }

    @Test(.enabled(if: Soak.seconds > 0, "runs in a soak")) func threadsSoak() throws {
        let end = Soak.end(share: 0.05)
        try run { $0 % 256 == 0 && Date() >= end }
    }

    private func run(until isOver: @escaping @Sendable (Int) -> Bool) throws {
        let store = TemporaryStore()
        let archives = try store.factory().archives(
            for: Numbered.self, trySetMaxMemorySize: Self.memorySize, trySetMaxDiskSize: Self.diskSize)
        let seed = Soak.seed
        let tally = Guarded(Tally())
        let begun = monotonicNow()
        DispatchQueue.concurrentPerform(iterations: Self.threads) { thread in
            var worker = Worker(
                thread: thread, archives: archives, random: SeededGenerator(seed: seed &+ UInt64(thread)))
            repeat { worker.step() } while !isOver(worker.tally.operations)
            tally.withLock {
                $0.operations += worker.tally.operations
                $0.found += worker.tally.found
                $0.wrong += worker.tally.wrong
            }
        }
        let elapsed = monotonicNow() - begun
        let total = tally.withLock { $0 }
        #expect(total.wrong.isEmpty, "seed \(seed): \(total.wrong.prefix(5))")
        #expect(total.found > total.operations / 20)
        let statistics = try archives.throwing.statistics()
        #expect(
            statistics.memoryBytes <= archives.maxMemorySize && statistics.diskBytes <= archives.maxDiskSize)
        #expect(statistics.evictions > 0 && statistics.memoryHits > 0 && statistics.misses > 0)
        #expect(statistics.undecodable == 0)
        let report = try archives.core.archive.check()
        #expect(report.clean, "\(report.problems)")
        #expect(try archives.core.archive.invariantViolations() == [])
        var figures = Figures("S10 threads")
        figures.add("seed", text: "\(seed)")
        figures.add("operations", total.operations)
        figures.add("found", total.found)
        figures.add("wrong objects", total.wrong.count)
        figures.add("each", nanoseconds: elapsed / UInt64(max(1, total.operations)))
        figures.report()
    }

    private struct Worker {
        let thread: Int
        let archives: ArchiveManager<Numbered>
        var random: SeededGenerator
        var tally = Tally()
        /// The latest objects that this thread stored, without deleted ones.
        private var stored: [String: Stored] = [:]

        private struct Stored {
            var version: Int
            var isOwned = false
            /// When it expires.
            var end = ContinuousClock.now + .seconds(3_600)
        }

        init(thread: Int, archives: ArchiveManager<Numbered>, random: SeededGenerator) {
            self.thread = thread
            self.archives = archives
            self.random = random
        }

        private mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }

        private mutating func key(of thread: Int) -> String {
            "\(thread) \(number(0..<StressTests.keysOfEach))"
        }

        mutating func step() {
            tally.operations += 1
            let own = key(of: thread)
            let any = key(of: number(0..<StressTests.threads))
            let now = ContinuousClock.now
            switch number(0..<1_000) {
            case 0..<250: store(own)
            case 250..<320:
                archives.delete(archiveWithKey: own)
                stored[own] = nil
                check(archives.access(archiveWithKey: own), own, asked: now)
            case 320..<600: check(archives.access(archiveWithKey: own), own, asked: now)
            case 600..<900: check(archives.access(archiveWithKey: any), any, asked: now)
            case 900..<980: check(archives.peek(archiveWithKey: any), any, asked: now)
            case 980..<985:
                for object in archives.accessAll(limitedBy: 8) {
                    check(object, object.primaryKey, asked: now)
                }
            case 985..<988:
                let large = archives.findWhere { $0.version(.greater(than: 10)) }.limitResults(by: 5)
                for object in large.getResults() { check(object, object.primaryKey, asked: now) }
            case 988..<990:
                archives.deleteAll(ofOwner: "\(thread)")
                stored = stored.filter { !$0.value.isOwned }
            case 990:
                archives.deleteAll()
                stored = [:]
            case 991: archives.deleteAllInvalidateArchives(invalidateTimeInterval: 0.002)
            case 992: archives.resize(memory: StressTests.memorySize / number(1..<3))
            case 993:
                archives.resize(memory: StressTests.memorySize, disk: StressTests.diskSize / number(1..<3))
            case 994: archives.resize(memory: StressTests.memorySize, disk: StressTests.diskSize)
            default: look()
            }
        }

        private mutating func store(_ key: String) {
            // Some fit only into memory.
            let size = number(0..<200) == 0 ? 10_000 : number(0..<600)
            let object = Numbered(key, version: tally.operations, size: size)
            var new = Stored(version: object.version)
            let store = archives.throwing
            do {
                switch number(0..<10) {
                case 0:
                    let lifetime = Duration.milliseconds(number(0..<20))
                    try store.record(object, options: .init(expiresIn: lifetime))
                    new.end = .now + lifetime
                case 1:
                    try store.record(
                        object, options: .init(expiresIn: .seconds(60), inMemory: .milliseconds(1)))
                case 2:
                    try store.record(object, options: .init(owner: "\(thread)"))
                    new.isOwned = true
                case 3: try store.update(object)
                default: try store.record(object)
                }
                stored[key] = new
            } catch StorageError.valueTooLarge {
                // The previous object stays.
            } catch {
                tally.wrong.append("\(key): \(error)")
            }
        }

        /// An object may be missing at any time, but must never be an earlier version, another key's, or expired.
        private mutating func check(_ object: Numbered?, _ key: String, asked: ContinuousClock.Instant) {
            guard let object else { return }
            tally.found += 1
            guard object.primaryKey == key, object.isWhole else {
                tally.wrong.append("\(key): that is \(object.primaryKey), version \(object.version)")
                return
            }
            guard key.hasPrefix("\(thread) ") else { return }
            let last = stored[key]
            if object.version == last?.version, let end = last?.end, asked < end { return }
            let past = last.map { "version \($0.version) until \($0.end)" } ?? "deleted"
            tally.wrong.append("\(key): version \(object.version) at \(asked), but the last was \(past)")
        }

        private mutating func look() {
            let statistics = archives.statistics
            if statistics == nil { tally.wrong.append("no statistics") }
            if archives.currentDiskSize > StressTests.diskSize { tally.wrong.append("too much on disk") }
            if archives.currentMemorySize > StressTests.memorySize {
                tally.wrong.append("too much in memory")
            }
        }
    }
}
