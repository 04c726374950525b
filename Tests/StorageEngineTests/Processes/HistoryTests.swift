import Foundation
import StorageEngine
import TestSupport
import Testing

/// R8: reads of several threads and processes are linearizable. Each key is a register, and a batch changes its keys at
/// one instant.
@Suite(.serialized, .oneAtATime) struct HistoryTests {
    private struct History {
        var all: [HistoryOperation] = []
        /// Of several keys.
        var batches: Int { all.count { $0.parts.count > 1 } }

        /// Operations on these keys, with the matching parts of batches.
        func of(_ keys: Set<Int>) -> [HistoryOperation] {
            all.compactMap { operation in
                let parts = operation.parts.filter { keys.contains($0.key) }
                guard !parts.isEmpty else { return nil }
                return HistoryOperation(
                    parts, start: operation.start, end: operation.end, process: operation.process)
            }
        }
    }

    @Test(
        "histories of few keys by many threads are linearizable",
        arguments: [LockingMode.robustMutex, .fileLock])
    func fewKeysManyThreads(locking: LockingMode) async throws {
        try await rounds(locking, seed: 3, operationsOfEach: 600) { $0 < 2 }
    }

    @Test(.enabled(if: Soak.seconds > 0, "runs in a soak"), arguments: [LockingMode.robustMutex, .fileLock])
    func historySoak(locking: LockingMode) async throws {
        let end = Soak.end(share: 0.1)
        try await rounds(locking, seed: Soak.seed % 1_000_000) { _ in Date() < end }
    }

    private func rounds(
        _ locking: LockingMode, seed: UInt64, operationsOfEach: Int = 2000, shouldContinue: (Int) -> Bool
    ) async throws {
        var operations = 0
        var batches = 0
        var violations: [String] = []
        var round = 0
        while shouldContinue(round) {
            let history = try await record(
                locking, seed: seed &+ UInt64(round), processes: 3, threads: 3, operations: operationsOfEach)
            operations += history.all.count
            batches += history.batches
            // Checking all keys at once takes too long; a part of a batch shows in two of its keys.
            for first in 0..<HistoryTests.keys {
                for second in first + 1..<HistoryTests.keys {
                    guard let violation = LinearizabilityChecker.violation(in: history.of([first, second]))
                    else { continue }
                    violations.append("seed \(seed) round \(round) keys \(first), \(second): \(violation)")
                }
            }
            round += 1
        }
        Figures(
            "R8 histories, \(locking)",
            [
                "seed": "\(seed)", "operations": operations, "of several keys": batches,
                "violations": violations.count,
            ]
        ).report()
        #expect(violations == [])
        #expect(operations > 10_000 && batches > 500)
    }

    private static let keys = 5

    private func record(
        _ locking: LockingMode, seed: UInt64, processes: Int, threads: Int, operations: Int
    ) async throws -> History {
        let folder = try TemporaryFolder()
        let store = try Store.open(at: folder.store, options: StoreOptions(locking: locking))
        // A collection: an eviction would be an operation without a caller.
        let archive = try store.archive(named: "History", orCreate: .collection)
        let go = folder.path + "/go"
        let workers = try (0..<processes).map { number in
            try folder.worker(
                "history", "History", "\(seed % 100 * 10 + UInt64(number))", "\(threads)", "\(operations)",
                "\(HistoryTests.keys)", go)
        }
        for worker in workers { #expect(try await worker.hasSaid("ready")) }
        _ = FileManager.default.createFile(atPath: go, contents: nil)
        var history = History()
        for (process, worker) in workers.enumerated() {
            let (status, lines) = try await worker.finish()
            #expect(status == 0)
            #expect(lines.filter { $0.hasPrefix("!") } == [], "seed \(seed)")
            var together = 0
            var parts: [HistoryOperation.Part] = []
            for line in lines {
                let words = line.split(separator: " ")
                if words.count == 2, words[0] == "together" { together = Int(words[1]) ?? 0 }
                guard words.count == 6, let key = Int(words[0]), let value = UInt64(words[2]),
                    let result = UInt64(words[3]), let start = UInt64(words[4]), let end = UInt64(words[5])
                else { continue }
                let kind: HistoryOperation.Kind =
                    switch words[1] {
                    case "put": .put(value)
                    case "delete": .delete(wasThere: result == 1)
                    default: .read(result)
                    }
                parts.append(HistoryOperation.Part(key: key, kind: kind))
                if parts.count < together { continue }
                history.all.append(HistoryOperation(parts, start: start, end: end, process: process))
                (parts, together) = ([], 0)
            }
        }
        // A few batches were empty.
        #expect(history.all.count > processes * threads * operations * 9 / 10)
        #expect(try archive.invariantViolations() == [])
        return history
    }
}

/// The checker accepts valid handmade histories and rejects others.
@Suite struct LinearizabilityCheckerTests {
    private func operation(_ kind: HistoryOperation.Kind, _ start: UInt64, _ end: UInt64) -> HistoryOperation
    {
        HistoryOperation(kind: kind, start: start, end: end, process: 0)
    }

    private func put(_ value: UInt64, _ start: UInt64, _ end: UInt64) -> HistoryOperation {
        operation(.put(value), start, end)
    }

    private func read(_ value: UInt64, _ start: UInt64, _ end: UInt64) -> HistoryOperation {
        operation(.read(value), start, end)
    }

    private func delete(_ wasThere: Bool, _ start: UInt64, _ end: UInt64) -> HistoryOperation {
        operation(.delete(wasThere: wasThere), start, end)
    }

    @Test("accepts histories of one register") func valid() {
        let histories: [[HistoryOperation]] = [
            [],
            [read(0, 1, 2), put(1, 3, 4), read(1, 5, 6)],
            // A read during a put sees either, in whichever order.
            [put(1, 1, 10), read(0, 2, 3), read(1, 4, 5)],
            // Two puts at once, and reads afterwards that agree on an order.
            [put(1, 1, 10), put(2, 1, 10), read(1, 11, 12), read(1, 13, 14)],
            // The delete must be between the two puts.
            [put(1, 1, 2), put(2, 3, 20), delete(true, 3, 20), read(2, 21, 22)],
            // Two deletes at once: one finds the value.
            [put(1, 1, 2), delete(true, 3, 9), delete(false, 3, 9), read(0, 10, 11)],
        ]
        for (number, history) in histories.enumerated() {
            #expect(LinearizabilityChecker.violation(in: history) == nil, "history \(number)")
        }
    }

    @Test("rejects other histories") func invalid() {
        let histories: [(String, [HistoryOperation])] = [
            ("a lost put", [put(1, 1, 2), read(0, 3, 4)]),
            ("an old value", [put(1, 1, 2), put(2, 3, 4), read(1, 5, 6)]),
            ("a deleted value", [put(1, 1, 2), delete(true, 3, 4), read(1, 5, 6)]),
            ("a value that was never put", [read(9, 1, 2)]),
            ("new, then old, during one put", [put(1, 1, 10), read(1, 2, 3), read(0, 4, 5)]),
            (
                "reads that disagree on the order of two puts",
                [put(1, 1, 10), put(2, 1, 10), read(1, 11, 12), read(2, 13, 14)]
            ),
            ("both deletes found the one value", [put(1, 1, 2), delete(true, 3, 9), delete(true, 3, 9)]),
            ("a delete that found nothing", [put(1, 1, 2), delete(false, 3, 4), read(1, 5, 6)]),
            ("a read before the put", [read(1, 1, 2), put(1, 3, 4)]),
        ]
        for (name, history) in histories {
            #expect(LinearizabilityChecker.violation(in: history) != nil, "\(name)")
        }
    }

    private func operation(
        _ parts: [(Int, HistoryOperation.Kind)], _ start: UInt64, _ end: UInt64
    ) -> HistoryOperation {
        HistoryOperation(
            parts.map { HistoryOperation.Part(key: $0, kind: $1) }, start: start, end: end, process: 0)
    }

    @Test("rejects histories that split a batch") func splitBatch() {
        let batch = operation([(0, .put(1)), (1, .put(2))], 1, 10)
        let whole = [batch, operation([(0, .read(1))], 2, 3), operation([(1, .read(2))], 4, 5)]
        #expect(LinearizabilityChecker.violation(in: whole) == nil)
        let before = [batch, operation([(0, .read(0))], 2, 3), operation([(1, .read(2))], 4, 5)]
        #expect(LinearizabilityChecker.violation(in: before) == nil)
        let torn = [batch, operation([(0, .read(1))], 2, 3), operation([(1, .read(0))], 4, 5)]
        #expect(LinearizabilityChecker.violation(in: torn) != nil)
        let swapped = [
            batch, operation([(0, .put(3)), (1, .put(4))], 1, 10), operation([(0, .read(1))], 11, 12),
            operation([(1, .read(4))], 13, 14),
        ]
        #expect(LinearizabilityChecker.violation(in: swapped) != nil)
    }

    @Test("finds one wrong read in a long history") func oneWrongRead() {
        var random = SeededGenerator(seed: 1)
        var history: [HistoryOperation] = []
        var value: UInt64 = 0
        for step in 0..<5000 {
            let start = UInt64(step * 10)
            if Bool.random(using: &random) {
                value = UInt64(step + 1)
                history.append(operation(.put(value), start, start + 5))
            } else {
                history.append(operation(.read(value), start, start + 5))
            }
        }
        #expect(LinearizabilityChecker.violation(in: history) == nil)
        guard let read = history.lastIndex(where: { [.read(value), .read(0)].contains($0.parts[0].kind) })
        else {
            return
        }
        history[read].parts[0].kind = .read(value + 1_000_000)
        #expect(LinearizabilityChecker.violation(in: history) != nil)
    }
}
