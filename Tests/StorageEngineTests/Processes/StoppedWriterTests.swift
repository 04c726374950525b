#if DEBUG
import Foundation
import StorageEngine
import TestSupport
import Testing

/// Readers beside a writer stopped during a change: their waits don't grow with the entries, keys and lists read.
@Suite(.oneAtATime) struct StoppedWriterTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(inMemory: true) }

    /// Sleeps of 50 µs in 20 ms.
    private static let mostSleeps = 400

    private func stopped(
        _ arguments: [String], in folder: TemporaryFolder
    ) async throws -> (worker: Worker, observer: Archive) {
        let worker = try Worker([arguments[0], folder.store, "A", "1"] + arguments.dropFirst(), in: folder)
        try #require(try await worker.process.isStopped(within: 30), "\(worker.linesSoFar())")
        return (worker, try folder.archive(mode: .readOnly))
    }

    /// Runs all reads twice; only the first may wait.
    private func expectOneWait(for archive: Archive, _ reads: [() throws -> Void]) throws {
        try reads[0]()
        let sleeps = try archive.readerSleeps()
        #expect(sleeps <= StoppedWriterTests.mostSleeps)
        for read in reads.dropFirst() + reads { try read() }
        #expect(try archive.readerSleeps() == sleeps)
    }

    @Test("waits once for a writer stopped while it applies accesses", arguments: [1, 20, 63])
    func applyingAccesses(passing: Int) async throws {
        let (worker, archive) = try await stopped(
            ["apply", CrashPoint.touchBegun.rawValue, "\(passing)", "200"], in: folder)
        let keys = (0..<200).map { "\($0)" }
        try expectOneWait(
            for: archive,
            [
                { () throws in
                    let list = try archive.entries(order: .leastRecentFirst)
                    #expect(try list.keys == keys)
                    // The access being applied may be missing.
                    #expect(list.count { $0.hits != 1 } <= 1)
                },
                { () throws in for key in keys { #expect(try archive.metadata(key) != nil) } },
                { () throws in #expect(try archive.snapshot().count == 200) },
                { () throws in #expect(try archive.status().entries == 200) },
                { () throws in
                    let scan = try archive.scan(.recency)
                    while try scan.advance() { #expect(scan.hits <= 1) }
                },
            ])
        worker.signal(SIGCONT)
        #expect(try await worker.finish().lines == ["done"])
        #expect(try archive.entries().count { $0.hits == 1 } == 200)
    }

    @Test("waits once for a writer stopped while it restores entries")
    func restoring() async throws {
        let writer = try folder.archive(creating: .collection)
        for number in 0..<60 { try writer.put([1, 2, 3], forKey: "\(number)") }
        #expect(try writer.carryOut(.delete, on: writer.planned((0..<50).map(String.init))).action != nil)
        let (worker, archive) = try await stopped(["undo", CrashPoint.returnBegun.rawValue], in: folder)
        try expectOneWait(
            for: archive,
            [
                { () throws in
                    #expect(try archive.status().entries == 10)
                },
                { () throws in #expect(try archive.entries().count == 10) },
                { () throws in #expect(try archive.snapshot().count == 10) },
            ])
        worker.signal(SIGCONT)
        #expect(try await worker.finish().lines == ["50"])
        #expect(try archive.snapshot().count == 60)
    }

    @Test("lists each entry once during and after a stopped renumbering", arguments: [SIGCONT, SIGKILL])
    func renumbering(signal: Int32) async throws {
        let writer = try folder.archive(creating: .cache(20_000))
        for number in 0..<8_300 { try writer.put([1], forKey: "\(number)") }
        writer.close()
        let (worker, archive) = try await stopped(
            ["evict", CrashPoint.compactMoved.rawValue, "19900"], in: folder)
        let keys = ((8_200..<8_300).map { "\($0)" } + ["large"]).sorted()
        let list = try archive.entries()
        let recent = try archive.recentEntries(200)
        let scan = try archive.scan(.recency)
        #expect(try list.keys.sorted() == keys)
        #expect(try recent.keys.sorted() == keys)
        #expect(try archive.snapshot().count == keys.count)
        #expect(try archive.check().problems == [])
        worker.signal(signal)
        _ = try await worker.finish()
        try folder.archive().close()
        #expect(try list.keys.sorted() == keys)
        var scanned = 0
        while try scan.advance() { scanned += 1 }
        #expect(scanned == keys.count)
        #expect(try archive.entries().keys.sorted() == keys)
        #expect(try archive.check().problems == [])
    }

    @Test("waits once for a writer stopped while it changes chains")
    func changingChains() async throws {
        let writer = try folder.archive(creating: .collection)
        for number in 0..<2_000 { try writer.put([1, 2, 3], forKey: "\(number)") }
        let (worker, archive) = try await stopped(["stop", CrashPoint.entryAllocated.rawValue], in: folder)
        try expectOneWait(
            for: archive,
            [
                { () throws in
                    #expect(try archive.peek("missing") == nil)
                },
                { () throws in for number in 0..<500 { #expect(try archive.peek("missing \(number)") == nil) }
                },
                { () throws in #expect(try archive.entries().count == 2_000) },
            ])
        try await worker.kill()
    }
}
#endif
