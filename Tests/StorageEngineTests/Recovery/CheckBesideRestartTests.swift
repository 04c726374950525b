import Foundation
import StorageEngine
import Synchronization
import TestSupport
import Testing

@Suite(.oneAtATime) struct CheckBesideRestartTests {

    @Test("a check during a rebuild reports no damage") func cleanDuringRebuild() throws {
        let folder = try TemporaryFolder(inMemory: true)
        func write(_ round: Int) throws {
            let archive = try folder.archive(creating: .cache(400_000))
            defer { archive.close() }
            for number in 0..<200 {
                try archive.put(repeated(1, 500), forKey: "key \(round) \(number % 150)")
                if number % 7 == 0 { try archive.delete("key \(round) \(number / 2)") }
            }
        }
        for round in 0..<5 { try write(round) }
        let isOver = Atomic(false)
        let checks = Atomic(0)
        let path = folder.store
        let observer = Background {
            while !isOver.load(ordering: .relaxed) {
                let store = try Store.open(at: path, mode: .readOnly)
                let archive = try store.archive(named: "A")
                for _ in 0..<5 {
                    #expect(try archive.check().problems == [])
                    checks.add(1, ordering: .relaxed)
                }
            }
        }
        for round in 5..<35 {
            try folder.removeIndex("A")
            try write(round)
        }
        isOver.store(true, ordering: .relaxed)
        try observer.wait()
        #expect(checks.load(ordering: .relaxed) > 0)
    }
}
