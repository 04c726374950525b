import StorageEngine
import Testing

import Vellum

/// The store and access algorithms of both tiers against a plain model, step by step.
@Suite struct TraceTests {
    /// Two lists in the order of use, the most recent first.
    private struct Model {
        var memory: [Note] = []
        var disk: [Note] = []
        var memoryLimit: Int
        var diskLimit: Int

        static func size(_ note: Note) -> Int { (try? note.archive().count) ?? 0 }

        static func bytes(_ notes: [Note]) -> Int { notes.reduce(0) { $0 + size($1) } }

        private static func store(_ note: Note, in tier: inout [Note], limit: Int) {
            tier.removeAll { $0.primaryKey == note.primaryKey }
            while bytes(tier) + size(note) > limit { tier.removeLast() }
            tier.insert(note, at: 0)
        }

        mutating func record(_ note: Note) {
            Model.store(note, in: &memory, limit: memoryLimit)
            Model.store(note, in: &disk, limit: diskLimit)
        }

        mutating func access(_ key: String) -> Note? {
            guard let note = peek(key) else { return nil }
            disk.removeAll { $0.primaryKey == key }
            disk.insert(note, at: 0)
            Model.store(note, in: &memory, limit: memoryLimit)
            return note
        }

        func peek(_ key: String) -> Note? {
            memory.first { $0.primaryKey == key } ?? disk.first { $0.primaryKey == key }
        }

        mutating func delete(_ key: String) {
            memory.removeAll { $0.primaryKey == key }
            disk.removeAll { $0.primaryKey == key }
        }

        mutating func touchAll(_ keys: [String]) {
            for key in keys.reversed() {
                guard let note = peek(key) else { continue }
                if let place = memory.firstIndex(where: { $0.primaryKey == key }) {
                    memory.insert(memory.remove(at: place), at: 0)
                }
                disk.removeAll { $0.primaryKey == key }
                disk.insert(note, at: 0)
            }
        }
    }

    @Test(arguments: [(2_000, 6_000), (3_000, 3_000), (500, 20_000)], [1 as UInt64, 2, 3])
    func everyStepIsTheModels(limits: (memory: Int, disk: Int), seed: UInt64) throws {
        let store = TemporaryStore()
        let archives = try store.factory().archives(
            for: Note.self, trySetMaxMemorySize: limits.memory, trySetMaxDiskSize: limits.disk)
        var model = Model(memoryLimit: limits.memory, diskLimit: limits.disk)
        var random = SeededGenerator(seed: seed)
        let largest = min(limits.memory, 900)
        for step in 0..<1_500 {
            let key = "key \(Int.random(in: 0..<30, using: &random))"
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<9:
                let note = Note.sized(key, Int.random(in: 64...largest, using: &random))
                if Bool.random(using: &random) { archives.record(note) } else { archives.update(note) }
                model.record(note)
            case 9..<15:
                #expect(
                    archives.access(archiveWithKey: key) == model.access(key), "seed \(seed), step \(step)")
            case 15:
                #expect(archives.peek(archiveWithKey: key) == model.peek(key), "seed \(seed), step \(step)")
            case 16, 17:
                archives.delete(archiveWithKey: key)
                model.delete(key)
            case 18:
                let count = Int.random(in: 0..<6, using: &random)
                let expected = Array(model.disk.prefix(count))
                #expect(archives.accessAll(limitedBy: count) == expected, "seed \(seed), step \(step)")
                model.touchAll(expected.map(\.primaryKey))
            default:
                #expect(
                    (archives.latestAccessedTime(for: key) != nil) == (model.peek(key) != nil),
                    "seed \(seed), step \(step)")
            }
            let memory = archives.core.memory.keys
            let disk = try archives.keysByUse()
            #expect(memory == model.memory.map(\.primaryKey), "seed \(seed), step \(step): memory")
            #expect(disk == model.disk.map(\.primaryKey), "seed \(seed), step \(step): disk")
            #expect(archives.currentMemorySize == Model.bytes(model.memory), "seed \(seed), step \(step)")
            #expect(archives.currentDiskSize == Model.bytes(model.disk), "seed \(seed), step \(step)")
            #expect(archives.currentSize <= archives.maxSize)
            guard memory == model.memory.map(\.primaryKey), disk == model.disk.map(\.primaryKey) else {
                return
            }
        }
        #expect(archives.statistics?.evictions ?? 0 > 0 || limits.disk == 20_000)
    }
}
