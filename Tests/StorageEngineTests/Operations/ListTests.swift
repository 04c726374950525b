import Foundation
import StorageEngine
import Synchronization
import TestSupport
import Testing

/// A list that was made beside a writer left out what was stored anew or given another number meanwhile, and had twice what
/// was deleted and stored again.
@Suite struct ListTests {
    @Test func besideAWriterEachIsThereOnce() throws {
        let folder = try TemporaryFolder(inMemory: true)
        let store = try Store.open(at: folder.store)
        let archive = try store.archive(
            named: "A", orCreate: ArchiveConfiguration(kind: .collection, diskLimit: nil))
        let observer = try Store.open(at: folder.store, mode: .readOnly).archive(named: "A")
        let stable = 500
        for number in 0..<stable { try archive.put([1], forKey: "s\(number)") }
        let isOver = Atomic(false)
        let writer = Background {
            var random = SeededGenerator.announced("a writer beside lists")
            while !isOver.load(ordering: .relaxed) {
                for _ in 0..<3_000 {
                    try archive.put([2], forKey: "s\(Int.random(in: 0..<stable, using: &random))")
                    let other = "t\(Int.random(in: 0..<3_000, using: &random))"
                    try archive.delete(other)
                    try archive.put([3], forKey: other)
                }
                // So many that entries get other numbers.
                for number in 0..<3_000 { try archive.delete("t\(number)") }
            }
        }
        let end = ContinuousClock.now + .seconds(1)
        var lists = 0
        while ContinuousClock.now < end {
            for archive in [archive, observer] {
                let list = try archive.entries()
                let keys = try list.indices.compactMap { try list.key(at: $0) }
                let steady = keys.count { $0.hasPrefix("s") }
                #expect(Set(keys).count == keys.count)
                // Those whose bytes were reclaimed since have no key any more.
                let gone = list.count - keys.count
                #expect(steady + gone >= stable, "\(steady) of \(stable), \(gone) gone")
                lists += 1
            }
        }
        isOver.store(true, ordering: .relaxed)
        try writer.wait()
        #expect(lists > 10)
    }
}
