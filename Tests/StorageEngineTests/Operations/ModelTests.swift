import Foundation
import StorageEngine
import TestSupport
import Testing

/// The engine against a plain dictionary with an LRU list: equal results, order and evictions.
@Suite struct ModelTests {
    /// Plain model of a cache.
    struct PlainCache {
        var limit: Int
        var values: [String: [UInt8]] = [:]
        /// Least recent first.
        var order: [String] = []
        var bytes: Int { values.values.reduce(0) { $0 + $1.count } }

        mutating func touch(_ key: String) {
            order.removeAll { $0 == key }
            order.append(key)
        }

        mutating func put(_ value: [UInt8], _ key: String) -> Bool {
            guard value.count <= limit else { return false }
            values[key] = value
            touch(key)
            while bytes > limit {
                guard let victim = order.first(where: { $0 != key }) else { break }
                _ = delete(victim)
            }
            return true
        }

        /// Applies all changes or none, then evicts entries that the batch doesn't store.
        mutating func apply(_ changes: [(key: String, value: [UInt8]?)]) -> Bool {
            var last: [String: [UInt8]?] = [:]
            for change in changes { last[change.key] = .some(change.value) }
            guard last.values.reduce(0, { $0 + ($1?.count ?? 0) }) <= limit else { return false }
            // The last change of a key counts.
            for (place, change) in changes.enumerated()
            where !changes[(place + 1)...].contains(where: { $0.key == change.key }) {
                guard let value = change.value else {
                    _ = delete(change.key)
                    continue
                }
                values[change.key] = value
                touch(change.key)
            }
            while bytes > limit {
                guard let victim = order.first(where: { (last[$0] ?? nil) == nil }) else { break }
                _ = delete(victim)
            }
            return true
        }

        mutating func access(_ key: String) -> [UInt8]? {
            guard let value = values[key] else { return nil }
            touch(key)
            return value
        }

        mutating func delete(_ key: String) -> Bool {
            order.removeAll { $0 == key }
            return values.removeValue(forKey: key) != nil
        }
    }

    @Test(.enabled(if: Soak.seconds > 0, "runs in a soak"))
    func randomOperationsSoak() throws {
        let end = Soak.end(share: 0.03)
        var seed = Soak.seed
        var runs = 0
        while Date() < end {
            try randomOperations(seed: seed, locking: runs % 2 == 0 ? .robustMutex : .fileLock)
            seed &+= 1
            runs += 1
        }
        Figures("R7 exact LRU against a model", ["seed": "\(Soak.seed)", "steps": runs * 4_000]).report()
    }

    @Test(
        "random operations agree with a model", arguments: [UInt64(1), 2, 3, 4, 5, 6],
        [LockingMode.robustMutex, .fileLock])
    func randomOperations(seed: UInt64, locking: LockingMode) throws {
        let folder = try TemporaryFolder()
        var random = SeededGenerator(seed: seed)
        var model = PlainCache(limit: Int.random(in: 2_000...200_000, using: &random))
        let keys = (0..<Int.random(in: 20...400, using: &random)).map {
            "key \($0) " + String(repeating: "é", count: $0 % 40)
        }
        let configuration = ArchiveConfiguration.cache(UInt64(model.limit))
        let options = StoreOptions(locking: locking)
        var store = try Store.open(at: folder.store, options: options)
        var archive = try store.archive(named: "Model", orCreate: configuration)
        for step in 0..<4_000 {
            let key = keys[Int.random(in: 0..<keys.count, using: &random)]
            switch Int.random(in: 0..<1000, using: &random) {
            case 0..<60:
                var batch = Batch()
                var changes: [(key: String, value: [UInt8]?)] = []
                for _ in 0..<Int.random(in: 1...12, using: &random) {
                    let key = keys[Int.random(in: 0..<keys.count, using: &random)]
                    let largest =
                        Int.random(in: 0..<20, using: &random) == 0 ? model.limit / 3 : model.limit / 30
                    let size = Int.random(in: 0...largest, using: &random)
                    let isDelete = Int.random(in: 0..<4, using: &random) == 0
                    let value = isDelete ? nil : repeated(UInt8(step & 255), size)
                    if let value { batch.put(value, forKey: key) } else { batch.delete(key) }
                    changes.append((key, value))
                }
                let applied = (try? archive.apply(batch)) != nil
                #expect(applied == model.apply(changes), "seed \(seed) step \(step)")
                #expect(
                    try archive.entries(order: .leastRecentFirst).keys == model.order,
                    "seed \(seed) step \(step)")
            case 60..<450:
                let largest =
                    Int.random(in: 0..<40, using: &random) == 0 ? model.limit * 5 / 4 : model.limit / 30
                let size = Int.random(in: 0...largest, using: &random)
                let byte = UInt8.random(in: 0...255, using: &random)
                let value = repeated(byte, size)
                let stored = (try? archive.put(value, forKey: key)) != nil
                #expect(stored == model.put(value, key), "seed \(seed) step \(step)")
            case 450..<800:
                #expect(try archive.access(key) == model.access(key), "seed \(seed) step \(step)")
            case 800..<900:
                #expect(try archive.peek(key) == model.values[key], "seed \(seed) step \(step)")
            case 900..<990:
                #expect(try archive.delete(key) == model.delete(key), "seed \(seed) step \(step)")
            case 990..<992:
                #expect(try archive.deleteAll().entries == model.values.count)
                model.values = [:]
                model.order = []
            case 992..<996:
                store.close()
                store = try Store.open(at: folder.store, options: options)
                archive = try store.archive(named: "Model")
            default:
                let list = try archive.entries(order: .leastRecentFirst)
                #expect(try list.keys == model.order, "seed \(seed) step \(step)")
                #expect(Int(list.totalValueBytes) == model.bytes)
                let status = try archive.status()
                #expect(status.entries == model.values.count)
                #expect(Int(status.diskBytes) == model.bytes)
                #expect(try archive.invariantViolations() == [], "seed \(seed) step \(step)")
            }
            let status = try archive.status()
            #expect(status.diskBytes <= UInt64(model.limit))
            let keyBytes = model.values.keys.reduce(0) { $0 + $1.utf8.count }
            let bound = 1.25 * Double(model.limit + keyBytes + 128 * model.values.count) + 1_048_576
            #expect(Double(status.footprint - status.requestBytes) <= bound, "seed \(seed) step \(step)")
        }
        let report = try archive.check()
        #expect(report.clean, "seed \(seed): \(report.problems)")
        #expect(report.entries == model.values.count)
        #expect(try archive.entries(order: .leastRecentFirst).keys == model.order)
    }
}
