import Foundation
import StorageEngine
import TestSupport
import Testing

/// Whoever is in the middle of a call when another thread closes the archive comes to its end or is told that it is
/// closed; nobody looks at what is no longer mapped.
@Suite(.oneAtATime) struct ClosingTests {
    @Test func othersAreAtWorkMeanwhile() throws {
        let folder = try TemporaryFolder(inMemory: true)
        var told = 0
        for round in 0..<150 {
            let store = try Store.open(at: folder.store)
            let archive = try store.archive(named: "A", orCreate: ArchiveConfiguration(diskLimit: 100_000))
            let workers = (0..<3).map { number in
                Background {
                    do {
                        for step in 0..<100_000 {
                            let key = "\((step &* 7 &+ number) % 300)"
                            switch step % 8 {
                            case 0: try archive.put([UInt8](repeating: 1, count: 100), forKey: key)
                            case 1: _ = try archive.metadata(key)
                            case 2: _ = try archive.entries().prefix(3).map(\.hits)
                            case 3: _ = try archive.status()
                            case 4: _ = try archive.nextEvent()
                            case 5: _ = try archive.processes()
                            case 6: _ = try archive.delete(key)
                            default: _ = try archive.access(key)
                            }
                        }
                    } catch StorageError.closed {
                        return
                    }
                    Issue.record("nobody closed it")
                }
            }
            usleep(UInt32(500 + round * 20))
            if round % 2 == 0 { archive.close() } else { store.close() }
            for worker in workers {
                try worker.wait()
                told += 1
            }
        }
        #expect(told == 450)
    }
}
