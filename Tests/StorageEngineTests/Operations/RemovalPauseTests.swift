import Foundation
import StorageEngine
import Synchronization
import TestSupport
import Testing

/// Removals of many entries delay others only briefly.
@Suite(.oneAtATime) struct RemovalPauseTests {
    @Test(
        .enabled(if: Soak.seconds > 0, "runs in a soak"),
        arguments: [(keepOneIn: 2, bytes: 4), (keepOneIn: 9, bytes: 4), (keepOneIn: 2, bytes: 100)])
    func putsBesideARemovalSoak(keepOneIn: Int, bytes: Int) throws {
        let folder = try TemporaryFolder(inMemory: true)
        let archive = try folder.archive(creating: .collection)
        let value = repeated(1, bytes)
        for number in 0..<1_000_000 {
            let owner = number % keepOneIn == 0 ? "stays" : "goes"
            try archive.put(value, forKey: "\(number)", attributes: EntryAttributes(owner: owner))
        }
        let isDone = Atomic<Bool>(false)
        let slowest = Atomic<UInt64>(0)
        let puts = Atomic<Int>(0)
        let writer = Background {
            while !isDone.load(ordering: .relaxed) {
                let start = ContinuousClock.now
                try archive.put([1], forKey: "beside")
                let nanoseconds = UInt64((ContinuousClock.now - start) / .nanoseconds(1))
                slowest.max(nanoseconds, ordering: .relaxed)
                puts.add(1, ordering: .relaxed)
                usleep(200)
            }
        }
        let start = ContinuousClock.now
        let removal = try archive.deleteEntries(ofOwner: "goes")
        let taken = ContinuousClock.now - start
        isDone.store(true, ordering: .relaxed)
        try writer.wait()
        Figures(
            "R12 puts beside a removal, 1 of \(keepOneIn) stays, \(bytes) B",
            [
                "removed": removal.entries, "taken": UInt64(taken / .nanoseconds(1)),
                "puts": puts.load(ordering: .relaxed), "slowest put": slowest.load(ordering: .relaxed),
            ]
        ).report()
        #expect(removal.entries == 1_000_000 - (1_000_000 + keepOneIn - 1) / keepOneIn)
        #expect(slowest.load(ordering: .relaxed) < 1_500_000_000)
        try archive.expectValid()
    }
}
