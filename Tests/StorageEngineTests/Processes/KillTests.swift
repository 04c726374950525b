import Foundation
import StorageEngine
import Testing

/// F5: whoever is killed, at whatever instruction, loses nothing that was acknowledged and blocks nobody.
@Suite struct KillTests {
    /// What may be found under a key: the last acknowledged state, or the one that was under way.
    private struct Expectation {
        var acknowledged: [UInt8]?
        var underWay: [UInt8]??

        func allows(_ found: [UInt8]?) -> Bool {
            if found == acknowledged { return true }
            if case .some(let other) = underWay { return found == other }
            return false
        }
    }

    private func value(version: UInt64, size: Int) -> [UInt8] {
        withUnsafeBytes(of: version.littleEndian) { Array($0) }
            + [UInt8](repeating: UInt8(truncatingIfNeeded: version), count: size)
    }

    private func replay(_ lines: [String], into expected: inout [String: Expectation]) -> Int {
        var acknowledged = 0
        var pending: (key: String, value: [UInt8]?)?
        for line in lines {
            if line == "<", let operation = pending {
                expected[operation.key] = Expectation(acknowledged: operation.value)
                acknowledged += 1
                pending = nil
            } else if line.hasPrefix("> ") {
                let words = line.split(separator: " ")
                guard words.count == 4, let size = Int(words[3]) else { continue }
                let version = UInt64(words[2])
                pending = (String(words[1]), version.map { value(version: $0, size: size) })
            }
        }
        if let operation = pending {
            expected[operation.key, default: Expectation()].underWay = .some(operation.value)
        }
        return acknowledged
    }

    @Test(arguments: [false, true])
    func twoWritersKilledAtRandom(removesIndex: Bool) async throws {
        let figures = try await storm(removesIndex: removesIndex, seed: 42) { $0 < 20 }
        #expect(figures.acknowledged > 1000)
    }

    private static let soakSeconds =
        Double(ProcessInfo.processInfo.environment["VELLUM_SOAK_SECONDS"] ?? "") ?? 0

    /// The same for as long as is asked for; `make soak DURATION=…` sets the variable.
    @Test(.enabled(if: soakSeconds > 0, "runs for VELLUM_SOAK_SECONDS seconds"))
    func killedWritersSoak() async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("soak: seed \(seed)")
        let end = Date().addingTimeInterval(KillTests.soakSeconds)
        let figures = try await storm(removesIndex: false, seed: seed) { _ in Date() < end }
        print("soak: \(figures.kills) kills, \(figures.acknowledged) operations acknowledged, none lost")
    }

    /// Two writers are started, killed and checked, again and again.
    private func storm(
        removesIndex: Bool, seed: UInt64, goesOn: (Int) -> Bool
    ) async throws -> (kills: Int, acknowledged: Int) {
        let folder = try TemporaryFolder()
        var random = SeededGenerator(seed: seed)
        var expected: [String: Expectation] = [:]
        var acknowledged = 0
        var round = 0
        while goesOn(round) {
            defer { round += 1 }
            // Keys belong to a seed, so both seeds stay the same over the rounds.
            let first = try Worker(["write", folder.store, "Killed", "1"], in: folder)
            let second = try Worker(["write", folder.store, "Killed", "2"], in: folder)
            try await Task.sleep(for: .milliseconds(Int.random(in: 20...160, using: &random)))
            first.signal(SIGKILL)
            if Bool.random(using: &random) { try await Task.sleep(for: .milliseconds(5)) }
            second.signal(SIGKILL)
            var merged: [String] = []
            for worker in [first, second] {
                let (_, lines) = try await worker.finish()
                #expect(!lines.contains { $0.hasPrefix("!") }, "round \(round): \(lines.last ?? "")")
                merged += lines
                acknowledged += replay(lines, into: &expected)
            }
            if removesIndex {
                try? FileManager.default.removeItem(atPath: folder.archivePath("Killed", "index"))
            }
            guard !merged.isEmpty else { continue }
            let store = try Store.open(at: folder.store)
            let archive = try store.archive(named: "Killed")
            for (key, expectation) in expected {
                let found = try archive.peek(key)
                #expect(expectation.allows(found), "round \(round), \(key)")
                expected[key] = Expectation(acknowledged: found)
            }
            let report = try archive.check()
            #expect(report.clean, "round \(round): \(report.problems)")
            #expect(try archive.invariantViolations() == [], "round \(round)")
            let status = try archive.status()
            #expect(status.entries == report.entries)
            #expect(status.diskBytes == report.valueBytes)
            store.close()
        }
        return (2 * round, acknowledged)
    }
}
