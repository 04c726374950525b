import Foundation
import StorageEngine
import TestSupport
import Testing

/// A power loss, and another after further changes.
extension PowerLossRun {
    /// Runs batches over all keys, a power loss, further batches and another power loss. Returns 1 if the first loss
    /// kept some unsynced blocks and lost others.
    static func again(seed: UInt64) throws -> Int {
        var random = SeededGenerator(seed: seed)
        let keys = (0..<6).map { "key \($0)" }
        var batches = PowerLossBatches()
        let folder = try TemporaryFolder(inMemory: true)
        let (first, second) = (folder.path + "/first", folder.path + "/second")

        func apply(_ count: Int, to archive: Archive) throws {
            for _ in 0..<count {
                batches.begin()
                var (batch, changes) = (Batch(), [String: Data?]())
                for key in keys {
                    let value = Data(
                        (0..<Int.random(in: 500...6_000, using: &random)).map { _ in
                            UInt8.random(in: 1...255, using: &random)
                        })
                    batches.note(value)
                    batch.put(Array(value), forKey: key)
                    changes[key] = value
                }
                batches.add(changes)
                try archive.apply(batch)
            }
        }
        func use(_ root: String, batches count: Int, cutInto target: String) throws -> Bool {
            let medium = Medium(root: root)
            let store = try Store.open(at: root + "/store")
            defer { store.close() }
            let archive = try store.archive(named: "A")
            try apply(count, to: archive)
            let (kept, lost, _) = try medium.cutPower(into: target, using: &random)
            return kept > 0 && lost > 0
        }
        func found(_ root: String) throws -> [String: Data] {
            let archive = try Store.open(at: root + "/store", mode: .readOnly).archive(named: "A")
            defer { archive.close() }
            return try keys.reduce(into: [:]) { $0[$1] = try archive.peek($1).map { Data($0) } }
        }

        let before = folder.path + "/before"
        // Durable from the beginning.
        let store = try Store.open(at: before + "/store")
        try store.archive(named: "A", orCreate: .collection).put([1], forKey: "before")
        store.close()
        let isTorn = try use(before, batches: 4, cutInto: first)
        guard FileManager.default.fileExists(atPath: first + "/store/A.archive/descriptor") else { return 0 }
        let problem = batches.torn(try found(first), mayEvict: false, underWay: [])
        #expect(problem == nil, "seed \(seed), first: \(problem ?? "")")
        _ = try use(first, batches: 2, cutInto: second)
        let other = batches.torn(try found(second), mayEvict: false, underWay: [])
        #expect(other == nil, "seed \(seed), second: \(other ?? "")")
        return isTorn ? 1 : 0
    }
}
