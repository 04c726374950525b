import Foundation
import StorageEngine
import TestSupport
import Testing

/// S5 across processes: puts and accesses in turns evict the same entries as one plain list.
@Suite(.serialized, .oneAtATime) struct TurnsTests {
    private struct Totals {
        var runs = 0
        var operations = 0
        var evictions = 0
        var wrong = 0

        func report(seed: UInt64, processes: Int) {
            Figures(
                "S5 turns",
                [
                    "seed": "\(seed)", "processes": processes, "runs": runs, "operations": operations,
                    "evictions": evictions, "other answers or victims than the model's": wrong,
                ]
            ).report()
        }
    }

    @Test("two processes evict the entries that the model evicts") func victimsOfTwoProcesses() async throws {
        var totals = Totals()
        for seed in [UInt64(11), 12] { try await takeTurns(seed: seed, parts: 2, operations: 4000, &totals) }
        totals.report(seed: 11, processes: 2)
    }

    @Test(.enabled(if: Soak.seconds > 0, "runs in a soak"))
    func twoProcessesSoak() async throws {
        let end = Soak.end(share: 0.07)
        var totals = Totals()
        while Date() < end || totals.runs == 0 {
            let seed = Soak.seed &+ UInt64(totals.runs)
            try await takeTurns(seed: seed, parts: 3, operations: 20_000, &totals)
        }
        totals.report(seed: Soak.seed, processes: 3)
    }

    private func takeTurns(seed: UInt64, parts: Int, operations: Int, _ totals: inout Totals) async throws {
        let folder = try TemporaryFolder()
        var model = ModelTests.PlainCache(limit: 60_000)
        let archive = try folder.archive("Turns", creating: .cache(UInt64(model.limit)))
        let turnFile = folder.path + "/turn"
        try Data(count: 4096).write(to: URL(fileURLWithPath: turnFile))
        let workers = try (0..<parts).map { part in
            try folder.worker(
                "turns", "Turns", "\(seed)", "\(part)", "\(parts)", "\(operations)", turnFile, "400", "1000")
        }
        var done: [(number: Int, words: [Substring])] = []
        for worker in workers {
            let (status, lines) = try await worker.finish()
            #expect(status == 0 && lines.last == "done", "seed \(seed): \(lines.last ?? "")")
            for line in lines {
                let words = line.split(separator: " ")
                if words.count == 4, let number = Int(words[0]) { done.append((number, words)) }
            }
        }
        done.sort { $0.number < $1.number }
        try #require(done.map(\.number) == Array(0..<operations), "seed \(seed)")
        var wrong: [String] = []
        var misses = 0
        for (number, words) in done {
            let key = String(words[2])
            if words[1] == "put", let size = Int(words[3]) {
                _ = model.put(repeated(UInt8(truncatingIfNeeded: number), size), key)
                continue
            }
            // Shows values that were evicted too early or too late.
            let expected = model.access(key).map { String($0.count) } ?? "-"
            if expected == "-" { misses += 1 }
            if expected != words[3] { wrong.append("\(number) \(key): \(words[3]) instead of \(expected)") }
        }
        let order = try archive.entries(order: .leastRecentFirst).keys
        for key in order { #expect(try archive.peek(key) == model.values[key], "seed \(seed) \(key)") }
        let evictions = try archive.status().evictions
        totals.runs += 1
        totals.operations += operations
        totals.evictions += Int(evictions)
        totals.wrong += wrong.count + (order == model.order ? 0 : 1)
        #expect(wrong == [], "seed \(seed)")
        #expect(order == model.order, "seed \(seed)")
        #expect(evictions > 0 && misses > 0)
        #expect(try archive.invariantViolations() == [], "seed \(seed)")
    }
}
