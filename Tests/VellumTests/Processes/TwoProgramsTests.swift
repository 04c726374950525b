import Foundation
import TestSupport
import Testing

/// S9: two programs on one store. After one of them deletes, replaces, expires or evicts an object, no call of the other
/// returns it from memory.
@Suite struct TwoProgramsTests {
    @Test func twoPrograms() async throws {
        try await play(rounds: 4_000, seconds: 0)
    }

    @Test(.enabled(if: Soak.seconds > 0, "runs in a soak")) func twoProgramsSoak() async throws {
        try await play(rounds: 4_000, seconds: Soak.seconds * 0.05)
    }

    private func play(rounds leastRounds: Int, seconds: Double) async throws {
        let store = TemporaryStore()
        let folder = store.path + "-pipes"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (there, back) = (folder + "/there", folder + "/back")
        try #require(mkfifo(there, 0o600) == 0 && mkfifo(back, 0o600) == 0)
        let seed = Soak.seed
        let worker = try ChildProcess.program(named: "ObjectWorker")
        let first = try ChildProcess(
            worker,
            ["first", store.path, "\(seed)", "\(leastRounds)", "\(seconds)", back, there, folder + "/first"])
        let second = try ChildProcess(
            worker,
            [
                "second", store.path, "\(seed)", "\(leastRounds)", "\(seconds)", there, back,
                folder + "/second",
            ])
        #expect(try await first.end(within: seconds + 120) == 0, "seed \(seed)")
        #expect(try await second.end(within: 60) == 0, "seed \(seed)")

        var figures = Figures("S9 two programs")
        figures.add("seed", text: "\(seed)")
        for program in ["first", "second"] {
            let lines = try String(contentsOfFile: folder + "/" + program, encoding: .utf8).split(
                separator: "\n")
            func number(_ name: String) throws -> Int {
                try #require(
                    lines.first { $0.hasPrefix(name + " ") }?.split(separator: " ").last.flatMap { Int($0) })
            }
            let wrong = lines.filter { $0.hasPrefix("round ") }
            #expect(wrong.isEmpty, "seed \(seed), \(program): \(wrong)")
            let (stale, lost) = (try number("stale"), try number("lost"))
            #expect(stale == 0 && lost == 0, "seed \(seed), \(program)")
            let (rounds, hits) = (try number("rounds"), try number("memory hits"))
            #expect(rounds >= leastRounds)
            #expect(hits >= rounds * 4 / 10, "every other access is a hit in memory")
            figures.add("\(program): rounds", rounds)
            figures.add("memory hits", hits)
            figures.add("stale objects", stale)
        }
        figures.report()
    }
}
