import Foundation
import StorageEngine
import Synchronization
import TestSupport
import Testing

@Suite(.oneAtATime) struct CheckBesideRestartTests {
    private final class Outcome: Sendable {
        let problems = Guarded<[String]>([])
        let checks = Atomic<Int>(0)
        let isOver = Atomic<Bool>(false)
        let hasEnded = Atomic<Bool>(false)
    }

    @Test("a check during a rebuild reports no damage") func cleanDuringRebuild() async throws {
        let folder = try TemporaryFolder(inMemory: true)
        func write(_ round: Int) throws {
            let archive = try folder.archive(creating: .cache(400_000))
            defer { archive.close() }
            for number in 0..<200 {
                try archive.put([UInt8](repeating: 1, count: 500), forKey: "key \(round) \(number % 150)")
                if number % 7 == 0 { try archive.delete("key \(round) \(number / 2)") }
            }
        }
        for round in 0..<5 { try write(round) }
        let outcome = Outcome()
        let path = folder.store
        Thread.detachNewThread {
            while !outcome.isOver.load(ordering: .relaxed) {
                do {
                    let store = try Store.open(at: path, mode: .readOnly)
                    let archive = try store.archive(named: "A")
                    for _ in 0..<5 {
                        let report = try archive.check()
                        outcome.checks.add(1, ordering: .relaxed)
                        if !report.clean { outcome.problems.withLock { $0 += report.problems } }
                    }
                } catch {
                    // Between two indexes there may be nothing to observe.
                    outcome.problems.withLock { $0.append("\(error)") }
                }
            }
            outcome.hasEnded.store(true, ordering: .relaxed)
        }
        for round in 5..<35 {
            try folder.removeIndex("A")
            try write(round)
        }
        outcome.isOver.store(true, ordering: .relaxed)
        #expect(try await eventually(within: 20) { outcome.hasEnded.load(ordering: .relaxed) })
        #expect(outcome.problems.withLock { $0 } == [])
        #expect(outcome.checks.load(ordering: .relaxed) > 0)
    }
}
