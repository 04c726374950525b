import Foundation
import StorageEngine
import TestSupport
import Testing

/// Requests of sampled keys are recorded for simulations.
@Suite(.oneAtATime) struct RequestTraceTests {
    private typealias Kind = SampledRequest.Kind

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(inMemory: true) }

    private var path: String { folder.archivePath("A", "requests") }

    private func tag(_ key: String, _ hash: KeyHash? = nil) throws -> UInt32 {
        let hash = try hash ?? folder.hash(of: "A")
        return Array(key.utf8).withUnsafeBytes { UInt32(truncatingIfNeeded: hash($0)) }
    }

    private func kinds(_ archive: Archive, of key: String? = nil) throws -> [Kind] {
        let requests = try #require(try archive.requestSamples()).requests
        guard let key else { return requests.map(\.kind) }
        let tag = try tag(key)
        return requests.filter { $0.tag == tag }.map(\.kind)
    }

    @Test("records hits, misses, puts, deletes and expiries with sizes, owner and expiry time")
    func kinds() throws {
        let hand = ClockHand()
        try Clock.$hand.withValue(hand) {
            let archive = try folder.archive(creating: .cache())
            try archive.put(
                repeated(1, 300), forKey: "a", attributes: EntryAttributes(lifetime: .seconds(60), owner: "o")
            )
            _ = try archive.access("a")
            try archive.touch("a")
            _ = try archive.access("b")
            try archive.setLifetime(.seconds(10), forKey: "a")
            hand.pass(.seconds(11))
            _ = try archive.access("a")
            try archive.put(repeated(1, 20), forKey: "a")
            try archive.put(repeated(1, 25), forKey: "a")
            try archive.delete("a")
            _ = try archive.deleteAll()
            try archive.put([1], forKey: "c")
            _ = try archive.deleteAll()
            let samples = try #require(try archive.requestSamples())
            #expect(
                samples.requests.map(\.kind) == [
                    .put, .hit, .hit, .miss, .deadline, .miss, .expiry, .put, .put, .delete, .put, .deleteAll,
                ])
            #expect(samples.requests.map(\.bytes) == [300, 300, 300, 0, 300, 0, 300, 20, 25, 25, 1, 0])
            #expect(samples.requests[0].expiry == 60 && samples.requests[1].expiry == 60)
            #expect(samples.requests[4].expiry == 10 && samples.requests[7].expiry == nil)
            #expect(samples.requests[0].owner != 0 && samples.requests[0].owner == samples.requests[2].owner)
            #expect(samples.requests[3].tag == (try tag("b")))
            #expect(samples.requests.map(\.number) == Array(0..<12))
            #expect(samples.next == 12 && samples.lost == 0)
            #expect(samples.requests[0].time <= hand.wall.load(ordering: .relaxed))
            #expect(samples.threshold == 1 << 32 && samples.rate == 1)
        }
    }

    @Test("records memory hits, objects only in memory, batches, rewrites and undone deletions")
    func otherPaths() throws {
        let archive = try folder.archive(creating: .cache())
        try archive.put(repeated(1, 40), forKey: "a")
        let held = try #require(try archive.access(toHold: "a"))
        #expect(try archive.access(held))
        #expect(try kinds(archive, of: "a") == [.put, .hit, .memoryHit])
        _ = try archive.withHashed("m") { (key) throws(StorageError) in
            try archive.recordInMemoryOnly(key, bytes: 77)
        }
        let only = try #require(try archive.requestSamples()?.requests.last)
        #expect(only.kind == .memoryPut && only.bytes == 77)
        var batch = Batch()
        batch.put(repeated(1, 50), forKey: "a")
        batch.put(repeated(1, 60), forKey: "b", attributes: EntryAttributes(owner: "o"))
        batch.delete("m")
        try archive.apply(batch)
        let changes = try #require(try archive.requestSamples()).requests.suffix(3)
        #expect(changes.map(\.kind) == [.put, .put, .delete] && changes.map(\.bytes) == [50, 60, 77])
        #expect(changes.map(\.owner)[1] != 0)
        let action = try archive.carryOut(.delete, on: archive.planned(["a", "b"])).action
        #expect(try kinds(archive, of: "b") == [.put, .delete])
        _ = try archive.undo(try #require(action).id)
        #expect(try kinds(archive, of: "b") == [.put, .delete, .restore])
    }

    @Test("peeks, lists, observers and a process with the option off record nothing")
    func withoutTrace() throws {
        let archive = try folder.archive(creating: .cache())
        try archive.put([1], forKey: "a")
        _ = try archive.peek("a")
        _ = try archive.entries()
        let observer = try folder.archive(mode: .readOnly)
        _ = try observer.peek("a")
        _ = try? observer.withHashed("x") { (key) throws(StorageError) in try observer.countMiss(of: key) }
        var options = StoreOptions()
        options.recordsRequests = false
        let silent = try Store.open(at: folder.store, options: options).archive(named: "A")
        _ = try silent.access("a")
        try silent.put([2], forKey: "b")
        #expect(try observer.requestSamples()?.requests.map(\.kind) == [.put])
        let log = try folder.archive("L", creating: .log())
        try log.append([1])
        #expect(try log.requestSamples() == nil)
        #expect(try !folder.files(inArchive: "L").contains("requests"))
    }

    @Test("resolves a sample's hash to the live entry's key and owner")
    func resolution() throws {
        let archive = try folder.archive(creating: .collection)
        try archive.put([1], forKey: "ab/c", attributes: EntryAttributes(owner: "o"))
        let put = try #require(try archive.requestSamples()?.requests.last)
        let found = try #require(try archive.entry(ofTag: put.tag))
        #expect(found.key == "ab/c" && found.owner == "o")
        try archive.delete("ab/c")
        #expect(try archive.entry(ofTag: put.tag) == nil)
    }

    @Test(
        "samples some thousand of 100,000 entries' keys, all requests of each, and loses none at a doubling")
    func adaption() throws {
        let archive = try folder.archive(creating: .cache(100_000_000))
        var joined = try #require(try archive.requestSamples())
        for number in 0..<100_000 {
            try archive.put([1], forKey: "\(number)")
            guard number % 1_000 == 999 else { continue }
            joined.append(try #require(try archive.requestSamples(from: joined.next)))
        }
        #expect(joined.threshold == 1 << 27 && joined.lost == 0)
        let hash = try folder.hash(of: "A")
        let expected = try (0..<100_000).map { try tag("\($0)", hash) }.filter { $0 < 1 << 27 }
        #expect(joined.requests.map(\.tag) == expected)
        #expect((2_048...4_096).contains(expected.count))
        #expect(try contents(of: path).count == 4_096 + 32_768 * 32)

        // Unsampled keys add nothing.
        for key in (0..<1_000).map(String.init) where try tag(key, hash) >= 1 << 27 {
            _ = try archive.access(key)
        }
        #expect(try archive.requestSamples()?.next == joined.next)
        // With few entries, the threshold rises again.
        _ = try archive.deleteAll()
        for number in 0..<2_000 { try archive.put([1], forKey: "n\(number)") }
        let more = try #require(try archive.requestSamples(from: joined.next))
        #expect(more.requests.last?.threshold == 1 << 32 && more.threshold == 1 << 27)
        joined.append(more)
        #expect(joined.threshold == 1 << 27 && joined.requests.allSatisfy { $0.tag < 1 << 27 })
        try archive.expectValid()
    }

    @Test(
        "grows as requests come, to 16,384 cells, or 64 for each entry",
        arguments: [(10, 1_000, 2_048), (10, 40_000, 16_384), (600, 100_000, 65_536)])
    func growth(entries: Int, requests: Int, cells: Int) throws {
        let archive = try folder.archive(creating: .cache(UInt64(entries)))
        for number in 0..<requests { try archive.put([1], forKey: "\(number)") }
        #expect(try contents(of: path).count == 4_096 + cells * 32)
        let samples = try #require(try archive.requestSamples())
        #expect(samples.requests.count == min(requests, cells) && samples.lost == 0)
    }

    @Test("counts overwritten samples as lost")
    func overwritten() throws {
        let archive = try folder.archive(creating: .cache())
        for _ in 0..<3_000 { _ = try archive.access("a") }
        let samples = try #require(try archive.requestSamples(from: 100))
        #expect(samples.lost == 852 && samples.requests.count == 2_048 && samples.next == 3_000)
        #expect(try archive.requestSamples()?.lost == 0)
    }

    @Test("skips cells that were not published or are torn", arguments: [0, 1, 5, UInt64.max])
    func torn(word: UInt64) throws {
        let archive = try folder.archive(creating: .cache())
        try archive.put([1], forKey: "a")
        for _ in 0..<1_200 { _ = try archive.access("a") }
        try overwrite(path, at: 4_096 + 32 * 3, with: withUnsafeBytes(of: word) { Data($0) })
        let samples = try #require(try archive.requestSamples(from: 0))
        #expect(samples.requests.count == 1_200 && samples.lost == 1 && samples.next == 1_201)
        // Of an unknown kind.
        try overwrite(path, at: 4_096 + 32 * 7 + 24, with: Data(repeating: 0xff, count: 8))
        #expect(try archive.requestSamples(from: 0)?.lost == 2)
    }

    @Test("many cells that were never published take no long time")
    func manyTorn() throws {
        let archive = try folder.archive(creating: .cache(100_000_000))
        for number in 0..<5_000 { try archive.put([1], forKey: "\(number)") }
        let hash = try folder.hash(of: "A")
        let key = try #require(try (0..<5_000).map(String.init).first { try tag($0, hash) < 1 << 28 })
        for number in 0..<40_000 {
            _ = try archive.access(key)
            // The trace grows at puts of new keys.
            if number % 500 == 0 { for more in 0..<8 { try archive.put([1], forKey: "\(number) \(more)") } }
        }
        let next = try #require(try archive.requestSamples()?.next)
        try overwrite(path, at: 4_096 + 32 * Int(next - 30_001), with: Data(count: 32 * 30_000))
        let hand = ClockHand()
        hand.pass(.seconds(1))
        let start = ContinuousClock.now
        let samples = try #require(try Clock.$hand.withValue(hand) { try archive.requestSamples() })
        #expect(samples.lost == 30_000 && samples.next == next)
        #expect(ContinuousClock.now - start < .seconds(2))
    }

    @Test("waits for a number that was claimed just now")
    func pending() throws {
        let archive = try folder.archive(creating: .cache())
        for key in ["a", "b", "c"] { try archive.put([1], forKey: key) }
        try overwrite(path, at: 4_096 + 32 * 2, with: Data(count: 8))
        #expect(try archive.requestSamples()?.next == 2)
    }

    @Test(
        "a missing, foreign, damaged or short file is replaced",
        arguments: ["missing", "magic", "version", "identity", "salt", "cells", "short", "empty", "long"])
    func damagedFile(fault: String) throws {
        try folder.archive(creating: .cache()).put([1], forKey: "a")
        let places = ["magic": 0, "version": 8, "identity": 20, "salt": 32, "cells": 72]
        switch fault {
        case "missing": try FileManager.default.removeItem(atPath: path)
        case "short": #expect(truncate(path, 60_000) == 0)
        case "empty": #expect(truncate(path, 0) == 0)
        case "long": #expect(truncate(path, 64 << 20) == 0)
        default: try flip(path, at: try #require(places[fault]))
        }
        let archive = try folder.archive()
        #expect(try archive.access("a") == [1])
        #expect(try kinds(archive) == [.hit])
        #expect(try folder.files(inArchive: "A").filter { $0.hasPrefix("requests") } == ["requests"])
    }

    @Test("a folder in the file's place, or a full disk, ends the sampling and nothing else")
    func unusable() throws {
        let plan = FaultPlan(.fails(ENOSPC), call: .allocate, under: path, number: 1, isLasting: true)
        SystemFaults.install(plan)
        defer { SystemFaults.remove(plan) }
        var archive = try folder.archive(creating: .cache())
        try archive.put([1], forKey: "a")
        #expect(try archive.requestSamples() == nil)
        #expect(try !folder.files(inArchive: "A").contains { $0.hasPrefix("requests") })
        archive.close()
        SystemFaults.remove(plan)
        for path in [path, path + ".new"] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        }
        archive = try folder.archive()
        #expect(try archive.access("a") == [1])
        #expect(try archive.requestSamples() == nil)
        archive.close()
        let report = try folder.repair()
        #expect(report.problems.count == 2)
        archive = try folder.archive()
        _ = try archive.access("a")
        #expect(try kinds(archive) == [.hit])
    }

    @Test("if the file can't grow, recording continues with the present cells")
    func noGrowth() throws {
        let archive = try folder.archive(creating: .cache())
        let plan = FaultPlan(.fails(ENOSPC), call: .allocate, under: path, number: 1, isLasting: true)
        SystemFaults.install(plan)
        defer { SystemFaults.remove(plan) }
        for number in 0..<3_000 { try archive.put([1], forKey: "\(number)") }
        #expect(try archive.requestSamples()?.requests.count == 2_048)
        #expect(plan.injected > 0)
    }

    @Test("survives closing; a rebuilt index begins a new trace")
    func newSalt() throws {
        var archive = try folder.archive(creating: .cache())
        try archive.put([1], forKey: "a")
        archive = try folder.reopen(archive, rebuilding: false)
        _ = try archive.access("a")
        let before = try #require(try archive.requestSamples())
        #expect(before.requests.map(\.kind) == [.put, .hit])
        archive = try folder.reopen(archive, rebuilding: true)
        _ = try archive.access("b")
        let after = try #require(try archive.requestSamples(from: before.next))
        #expect(after.trace != before.trace && after.requests.map(\.kind) == [.miss] && after.next == 1)
    }

    @Test("several processes record into one trace, also if they are killed")
    func processes() async throws {
        let archive = try folder.archive(creating: .cache(400_000))
        let workers = try (0..<2).map {
            try Worker(["churn", folder.store, "A", "\($0)", folder.stopFile], in: folder)
        }
        func recorded() throws -> UInt64 { try archive.requestSamples()?.next ?? 0 }
        #expect(try await eventually { try recorded() >= 20_000 })
        for worker in workers { try await worker.kill() }
        _ = try archive.access("absent")
        try await Task.sleep(for: .milliseconds(300))
        _ = try archive.access("absent")
        let samples = try #require(try archive.requestSamples())
        #expect(samples.next >= 20_000 && samples.lost <= 2)
        #expect(samples.requests.last?.tag == (try tag("absent")))
        #expect(samples.requests.allSatisfy { $0.bytes < 500 })
        #expect(samples.requests.contains { $0.kind == .put })
        #expect(samples.requests.contains { $0.kind == .hit })
    }
}

extension RequestSamples {
    /// Appends the samples that a later call returned, and keeps those of the keys that are in both.
    fileprivate mutating func append(_ more: RequestSamples) {
        var more = more
        lower(to: more.threshold)
        more.lower(to: threshold)
        requests += more.requests
        (lost, next) = (lost &+ more.lost, more.next)
    }
}
