#if DEBUG
import Foundation
import StorageEngine
import TestSupport
import Testing

/// A process that dies while it changes a limit leaves one limit in descriptor and index.
@Suite(.oneAtATime) struct ResizeCrashTests {
    private static let limits: (before: UInt64, after: UInt64) = (2_000_000, 500_000)

    /// Points that a resize passes, and one that it doesn't reach.
    static let points: [(point: CrashPoint, passing: Int)] = [
        (.descriptorWritten, 1), (.bareFrameWritten, 1), (.evictionRemoved, 1), (.evictionRemoved, 700),
        (.bareApplied, 1), (.bareApplied, 2), (.descriptorRenamed, 1), (.limitsSet, 1),
        (.segmentForgotten, 1),
        (.segmentUnlinked, 1), (.putCommitted, 1),
    ]

    private func verifyOneLimit(_ archive: Archive, _ comment: String) throws {
        let said = try #require(try archive.configuration().diskLimit)
        #expect(said == Self.limits.before || said == Self.limits.after, "\(comment)")
        #expect(try archive.diskLimit() == said, "\(comment): effective and configured limit differ")
        #expect(try archive.status().diskBytes <= said, "\(comment)")
    }

    @Test(
        "a resize that crashes at any point leaves one consistent limit",
        arguments: [LockingMode.robustMutex, .fileLock], points)
    func interruptedResize(
        locking: LockingMode, death: (point: CrashPoint, passing: Int)
    ) async throws {
        let folder = try TemporaryFolder(inMemory: true)
        let store = try Store.open(at: folder.store, options: StoreOptions(locking: locking))
        let archive = try store.archive(named: "A", orCreate: .cache(Self.limits.before))
        let value = repeated(3, 1_000)
        for number in 0..<2_100 { try archive.put(value, forKey: "before \(number)") }
        let worker = try folder.worker(
            "resize", "A", "1", "\(Self.limits.after)", death.point.rawValue, "\(death.passing)")
        let (status, lines) = try await worker.finish()
        #expect(status & 0x7f == SIGKILL || lines.last == "done", "\(death): \(lines)")
        for number in 0..<200 {
            try archive.put(value, forKey: "after \(number)")
            if number < 5 || number % 50 == 0 { try verifyOneLimit(archive, "\(death), put \(number)") }
        }
        #expect(try archive.peek("after 199") == value)
        try archive.expectValid("\(death)")
        let said = try archive.configuration().diskLimit
        store.close()
        let again = try folder.archive()
        try verifyOneLimit(again, "\(death), opened again")
        #expect(try again.configuration().diskLimit == said)
    }
}
#endif
