import TestSupport
import Foundation
import StorageEngine
import Testing

/// F5: a process killed at any instruction loses no acknowledged change and blocks no other.
@Suite(.oneAtATime) struct KillTests {
    /// Repeatedly starts, kills and checks two writers at once, so that the index may be removed in between.
    @Test("two writers killed at random lose no acknowledged change", arguments: [false, true])
    func twoWritersKilledAtRandom(removesIndex: Bool) async throws {
        let folder = try TemporaryFolder()
        var random = SeededGenerator(seed: 42)
        var expected = Acknowledged()
        for round in 0..<20 {
            // Keys belong to a seed, so both seeds stay the same over the rounds.
            let first = try folder.worker("write", "Killed", "1")
            let second = try folder.worker("write", "Killed", "2")
            try await Task.sleep(for: .milliseconds(Int.random(in: 20...160, using: &random)))
            first.signal(SIGKILL)
            if Bool.random(using: &random) { try await Task.sleep(for: .milliseconds(5)) }
            second.signal(SIGKILL)
            var merged: [String] = []
            for worker in [first, second] {
                let (_, lines) = try await worker.finish()
                #expect(!lines.contains { $0.hasPrefix("!") }, "round \(round): \(lines.last ?? "")")
                merged += lines
                expected.replay(lines)
            }
            if removesIndex {
                try? FileManager.default.removeItem(atPath: folder.archivePath("Killed", "index"))
            }
            guard !merged.isEmpty else { continue }
            let archive = try folder.archive("Killed")
            let findings = expected.verify(archive)
            #expect(findings.isEmpty, "round \(round): \(findings.first ?? "")")
            let report = try archive.check()
            #expect(report.clean, "round \(round): \(report.problems)")
            #expect(try archive.invariantViolations() == [], "round \(round)")
            let status = try archive.status()
            #expect(status.entries == report.entries)
            #expect(status.diskBytes == report.valueBytes)
            archive.close()
        }
        #expect(expected.operations > 1000)
    }

    #if DEBUG && os(Linux)
    @Test("an undo restores entries that expire again during it") func expiredDuringUndo() async throws {
        let folder = try TemporaryFolder(inMemory: true)
        let archive = try folder.archive(creating: .collection)
        defer { archive.close() }
        let keys = (0..<10).map { "key \($0)" }
        for key in keys { try archive.put([1], forKey: key) }
        #expect(try archive.carryOut(.setLifetime(.zero), on: archive.planned(keys)).entries == 10)
        // Background expiry may run first, here and below.
        _ = try archive.removeExpired()
        #expect(try archive.status().entries == 0)
        let undoer = try folder.worker("undo", "A", "1", CrashPoint.restoreCommitted.rawValue)
        #expect(try await undoer.process.isStopped(within: 30))
        let killed = try folder.worker("batches", "A", "1", CrashPoint.batchWritten.rawValue, "1")
        #expect(try await killed.process.isStopped(within: 30))
        try await killed.kill()
        try archive.delete("nothing")
        _ = try archive.removeExpired()
        // The rest are entries of the batches.
        let left = try archive.entries()
        let others = try left.indices.filter { try left.key(at: $0)?.hasPrefix("key ") == false }
        let count = try archive.status().entries
        #expect(count == others.count)
        undoer.signal(SIGCONT)
        let (status, lines) = try await undoer.finish()
        #expect(status == 0 && lines == ["10"])
        for key in keys { #expect(try archive.peek(key) == [1], "\(key)") }
        #expect(try archive.metadata(keys[0])?.expires == nil)
        #expect(try archive.reversibleActions() == [])
        try archive.expectValid()
    }
    #endif
}
