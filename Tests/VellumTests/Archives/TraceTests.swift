import TestSupport
import StorageEngine
import Testing

import Vellum

/// Compares both tiers with a model after each step of two programs: order, sizes, limits and expiry.
@Suite struct TraceTests {
    struct Limits: Sendable, CustomTestStringConvertible {
        var memory: Int
        var disk: Int
        var testDescription: String { "memory \(memory), disk \(disk)" }
    }

    private struct Bench {
        let archives: [ArchiveManager<Note>]
        let hand: ClockHand
        var model: TraceModel
        var random: SeededGenerator

        mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
        mutating func key() -> String { "key \(number(0...29))" }
    }

    @Test(
        "random calls of two programs match a model",
        arguments: [
            Limits(memory: 2_000, disk: 6_000), Limits(memory: 3_000, disk: 3_000),
            Limits(memory: 500, disk: 20_000), Limits(memory: 4_000, disk: 1_500),
        ], [1 as UInt64, 2, 3])
    func stepsMatchTheModel(limits: Limits, seed: UInt64) throws {
        let hand = ClockHand()
        try Clock.$hand.withValue(hand) {
            let store = TemporaryStore()
            // Each factory acts as a separate program.
            let factories = [store.factory(), store.factory()]
            var bench = Bench(
                archives: try factories.map {
                    try $0.archives(
                        for: Note.self, trySetMaxMemorySize: limits.memory, trySetMaxDiskSize: limits.disk)
                },
                hand: hand, model: TraceModel(memoryLimit: limits.memory, diskLimit: limits.disk),
                random: SeededGenerator(seed: seed))
            for step in 0..<2_000 {
                let sentence = try take(&bench)
                let isSame = try compare(&bench, "seed \(seed), step \(step): \(sentence)")
                guard isSame else { return }
            }
            let statistics = try #require(bench.archives[0].statistics)
            #expect(statistics.evictions > 0 || limits.disk == 20_000)
            #expect(statistics.expirations > 0 && statistics.memoryHits > 0 && statistics.misses > 0)
        }
    }

    /// Performs one step in both, and returns its description.
    private func take(_ bench: inout Bench) throws -> String {
        let program = bench.number(0...9) < 7 ? 0 : 1
        let archives = bench.archives[program]
        let key = bench.key()
        switch bench.number(0...39) {
        case 0..<16: return record(&bench, key, by: program)
        case 16..<27:
            #expect(archives.access(archiveWithKey: key) == bench.model.access(key, by: program))
            return "access \(key) by \(program)"
        case 27, 28:
            #expect(archives.peek(archiveWithKey: key) == bench.model.peek(key, by: program))
            return "peek \(key) by \(program)"
        case 29, 30:
            archives.delete(archiveWithKey: key)
            bench.model.delete(key, by: program)
            return "delete \(key) by \(program)"
        case 31, 32:
            let count = bench.number(0...6)
            #expect(
                archives.accessAll(limitedBy: count) == bench.model.accessAll(limit: count, by: program))
            return "access \(count) by \(program)"
        case 33:
            archives.deleteAll(ofOwner: "ada")
            bench.model.deleteAll(ofOwner: "ada")
            return "delete all of an owner by \(program)"
        case 34 where bench.number(0...5) == 0:
            archives.deleteAll()
            bench.model.deleteAll()
            return "delete all by \(program)"
        case 35:
            archives.deleteAllInvalidateArchives(invalidateTimeInterval: 2)
            bench.model.deleteIdle(longerThan: 2_000_000)
            return "delete idle objects by \(program)"
        case 36: return resize(&bench, by: program)
        default: return pass(&bench)
        }
    }

    private func record(_ bench: inout Bench, _ key: String, by program: Int) -> String {
        let most = max(bench.model.memoryLimit, bench.model.diskLimit)
        // Sometimes an object exceeds the limit of one or both tiers.
        let size = bench.number(64...(bench.number(0...9) == 0 ? min(most + 100, 5_000) : 900))
        let note = Note.sized(key, size)
        let terms = TraceModel.Terms(
            lifetime: bench.number(0...4) == 0 ? Int64(bench.number(0...3_000)) * 1_000 : nil,
            memoryLifetime: bench.number(0...4) == 0 ? Int64(bench.number(1...1_000)) * 1_000 : nil,
            owner: bench.number(0...9) == 0 ? "ada" : nil)
        let isUpdate = bench.number(0...1) == 0
        let isStored = bench.model.record(note, terms, isUpdate: isUpdate, by: program)
        let throwing = bench.archives[program].throwing
        let lifetime = terms.lifetime.map { Duration.microseconds($0) }
        let memoryLifetime = terms.memoryLifetime.map { Duration.microseconds($0) }
        do {
            if isUpdate {
                try throwing.update(
                    note, options: .init(expiresIn: lifetime, inMemory: memoryLifetime, owner: terms.owner))
            } else {
                try throwing.record(
                    note, options: .init(expiresIn: lifetime, inMemory: memoryLifetime, owner: terms.owner))
            }
            #expect(isStored)
        } catch {
            #expect(!isStored, "\(error)")
        }
        return "\(isUpdate ? "update" : "record") \(key) of \(size) bytes by \(program), \(terms)"
    }

    private func resize(_ bench: inout Bench, by program: Int) -> String {
        guard bench.number(0...3) == 0 else { return "nothing" }
        let memory = max(100, bench.model.memoryLimit + bench.number(-400...400))
        let disk = max(100, bench.model.diskLimit + bench.number(-400...400))
        bench.archives[program].resize(memory: memory, disk: disk)
        bench.model.resize(memory: memory, disk: disk)
        return "resize to \(memory), \(disk) by \(program)"
    }

    /// Advances the time. A look-up removes expired objects.
    private func pass(_ bench: inout Bench) -> String {
        let milliseconds = bench.number(1...800)
        bench.hand.pass(.milliseconds(milliseconds))
        bench.model.pass(Int64(milliseconds) * 1_000)
        let expired = bench.model.expired
        for key in expired {
            let program = bench.number(0...1)
            // The other program may have an object with this key in memory, or this one has its own.
            let note = bench.model.access(key, by: program)
            #expect(bench.archives[program].access(archiveWithKey: key) == note)
        }
        for number in 0..<30 {
            for program in 0...1 {
                let key = "key \(number)"
                let note = bench.model.peek(key, by: program)
                #expect(bench.archives[program].peek(archiveWithKey: key) == note)
            }
        }
        return "\(milliseconds) ms pass, \(expired) expire"
    }

    private func compare(_ bench: inout Bench, _ step: String) throws -> Bool {
        var isSame = true
        for (program, archives) in bench.archives.enumerated() {
            // Reading the size makes memory check for changes by other processes.
            let bytes = try archives.throwing.statistics().memoryBytes
            bench.model.sweep(program)
            let keys = archives.core.memory.keys
            isSame = isSame && keys == bench.model.memoryKeys(program)
            #expect(keys == bench.model.memoryKeys(program), "\(step); memory of \(program)")
            #expect(bytes == bench.model.memoryBytes(program), "\(step)")
            #expect(bytes <= archives.maxMemorySize, "\(step)")
        }
        let keys = try bench.archives[0].keysByUse()
        #expect(keys == bench.model.order, "\(step); disk")
        #expect(bench.archives[0].currentDiskSize == bench.model.diskBytes, "\(step)")
        #expect(bench.archives[0].currentDiskSize <= bench.archives[0].maxDiskSize, "\(step)")
        return isSame && keys == bench.model.order
    }
}
