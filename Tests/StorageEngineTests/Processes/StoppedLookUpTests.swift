#if DEBUG
import Foundation
import StorageEngine
import TestSupport
import Testing

/// A look-up stopped between reading frame and slot returns a state that the entry had during the look-up.
@Suite(.oneAtATime) struct StoppedLookUpTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(inMemory: true) }

    private func archive(_ folder: TemporaryFolder) throws -> Archive {
        try folder.archive(creating: .collection)
    }

    /// Output of a process whose look-up of `key` is stopped while `action` runs. A worker that `action` returns is
    /// killed after the look-up.
    private func looked(
        up key: String, passing: Int = 1, _ folder: TemporaryFolder,
        while action: () async throws -> Worker?
    ) async throws -> [String] {
        let worker = try folder.worker("peek", "A", "1", CrashPoint.frameFound.rawValue, key, "\(passing)")
        try #require(try await worker.process.isStopped(within: 30), "\(worker.linesSoFar())")
        let other = try await action()
        worker.signal(SIGCONT)
        while worker.linesSoFar().isEmpty, !worker.process.hasEnded() {
            try await Task.sleep(for: .milliseconds(2))
        }
        other?.signal(SIGKILL)
        _ = try await other?.finish()
        return try await worker.finish().lines
    }

    @Test("doesn't find a tombstoned entry") func tombstoned() async throws {
        let archive = try archive(folder)
        try archive.put([1, 2, 3], forKey: "key")
        #expect(try archive.carryOut(.delete, on: archive.planned(["key"])).action != nil)
        #expect(
            try await looked(up: "key", folder) {
                try archive.deleteAll()
                return nil
            } == ["nothing"])
    }

    @Test("doesn't find an expired entry", arguments: [false, true])
    func expired(otherTakesTheLine: Bool) async throws {
        let archive = try archive(folder)
        // On a busy machine a process needs up to a second to reach its look-up, which must find the entry.
        try archive.put([1, 2, 3], forKey: "key", attributes: .expiring(.seconds(3)))
        let said = try await looked(up: "key", folder) {
            usleep(3_100_000)
            _ = try archive.removeExpired()
            if otherTakesTheLine { try archive.put([4], forKey: "other") }
            return nil
        }
        #expect(said == ["nothing"])
    }

    @Test("a snapshot contains restored entries at once") func restoredInSnapshot() async throws {
        let archive = try archive(folder)
        for number in 0..<600 { try archive.put([1, 2, 3], forKey: "\(number)") }
        #expect(try archive.carryOut(.delete, on: archive.planned((0..<500).map(String.init))).action != nil)
        #expect(try archive.snapshot().count == 100)
        let worker = try folder.worker("undo", "A", "1", CrashPoint.restoreCommitted.rawValue)
        try #require(try await worker.process.isStopped(within: 30), "\(worker.linesSoFar())")
        #expect(try archive.entries().count == 600)
        #expect(try archive.snapshot().count == 600)
        try await worker.kill()
        #expect(try archive.snapshot().count == 600)
        #expect(try archive.check().clean)
    }

    /// Two keys with equal cells in a small index.
    private func keysWithEqualCells(_ hash: KeyHash) throws -> (String, String) {
        var seen: [UInt64: String] = [:]
        for number in 0..<100_000 {
            var key = "key \(number)"
            let tag = key.withUTF8 { UInt32(truncatingIfNeeded: hash(UnsafeRawBufferPointer($0))) }
            let mark = (tag &* 0x9E37_79B1) >> 17
            if let other = seen.updateValue(key, forKey: UInt64(mark) << 32 | UInt64(tag & 0xff)) {
                return (other, key)
            }
        }
        throw CocoaError(.featureUnsupported)
    }

    @Test("a neighbor that is unreadable for a moment isn't damage")
    func unreadableNeighbor() async throws {
        let archive = try archive(folder)
        try archive.put([1], forKey: "first")
        let (key, neighbor) = try keysWithEqualCells(try folder.hash(of: "A"))
        try archive.put([1, 2, 3], forKey: neighbor)
        for number in 0..<100 where try folder.segments().count < 3 {
            try archive.put(repeated(1, 30_000), forKey: "filler \(number)")
        }
        try archive.put([1, 2, 3], forKey: key)
        #expect(try archive.carryOut(.delete, on: archive.planned([key])).action != nil)
        let first = folder.archivePath("A", try #require(try folder.segments().first))
        try FileManager.default.moveItem(atPath: first, toPath: folder.path + "/away")
        // The neighbor is unreadable twice.
        let said = try await looked(up: key, passing: 3, folder) {
            try FileManager.default.moveItem(atPath: folder.path + "/away", toPath: first)
            #expect(try archive.delete(neighbor))
            let worker = try folder.worker("stop", "A", "1", CrashPoint.entryAllocated.rawValue)
            try #require(try await worker.process.isStopped(within: 30), "\(worker.linesSoFar())")
            return worker
        }
        #expect(said == ["nothing"])
    }

    @Test("finds an overwritten entry, old or new") func overwritten() async throws {
        let archive = try archive(folder)
        try archive.put([1, 2, 3], forKey: "key", attributes: .expiring(.seconds(1000)))
        let said = try await looked(up: "key", folder) {
            try archive.put([1, 2], forKey: "key")
            return nil
        }
        #expect(said == ["found 3"] || said == ["found 2"])
    }
}
#endif
