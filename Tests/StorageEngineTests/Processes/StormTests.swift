import Foundation
import StorageEngine
import Testing

/// R1: two writers, a third that forces reclaiming, and an observer work at once; one of them at a time is
/// killed at random and started anew, while the others go on.
@Suite(.serialized, .oneAtATime) struct StormTests {
    /// A worker that is started anew whenever it was killed.
    private final class Role {
        let arguments: [String]
        let folder: TemporaryFolder
        let isWriter: Bool
        var worker: Worker
        var acknowledged = Acknowledged()
        var problems: [String] = []

        init(_ arguments: [String], in folder: TemporaryFolder) throws {
            self.arguments = arguments
            self.folder = folder
            isWriter = arguments[0] != "observe"
            worker = try Worker(arguments, in: folder)
        }

        /// Kills it and takes in what it said.
        func kill() async throws {
            worker.signal(SIGKILL)
            let (_, lines) = try await worker.finish()
            worker.discardOutput()
            problems += lines.filter { $0.hasPrefix("!") }
            acknowledged.replay(lines)
        }

        func restart() throws { worker = try Worker(arguments, in: folder) }

        /// Whether it does something within ten seconds, which is as long as anyone may wait for a lock.
        func goesOn() async throws -> Bool {
            let before = worker.outputBytes
            let end = Date().addingTimeInterval(12)
            while Date() < end {
                if worker.outputBytes > before { return true }
                try await Task.sleep(for: .milliseconds(2))
            }
            return false
        }
    }

    @Test func aStorm() async throws {
        // On a busy machine fewer, so that it ends; the figures say how many.
        let end = Date().addingTimeInterval(20)
        try await storm(seed: 7) { $0 < 200 && (Date() < end || $0 < 30) }
    }

    @Test(.enabled(if: Soak.seconds > 0, "runs in a soak"))
    func stormSoak() async throws {
        let end = Soak.end(share: 0.3)
        try await storm(seed: Soak.seed) { _ in Date() < end }
    }

    private func storm(seed: UInt64, goesOn: (Int) -> Bool) async throws {
        let folder = try TemporaryFolder()
        var random = SeededGenerator(seed: seed)
        try Store.open(at: folder.store)
            .archive(named: "Storm", orCreate: ArchiveConfiguration(kind: .collection, diskLimit: nil))
            .close()
        let roles = try [["write", "1"], ["write", "2"], ["overwrite", "3"], ["observe", "4"]].map {
            try Role([$0[0], folder.store, "Storm", $0[1]], in: folder)
        }
        var kills = 0
        var hangs = 0
        var findings = Acknowledged.Findings()
        var opens = Timings()
        while goesOn(kills) {
            try await Task.sleep(for: .milliseconds(Int.random(in: 5...40, using: &random)))
            let role = roles[Int.random(in: 0..<roles.count, using: &random)]
            // Now and then a neighbour dies while the first one's section waits to be repaired.
            let other = Int.random(in: 0..<4, using: &random) == 0 ? roles.first { $0 !== role } : nil
            for victim in [role, other].compactMap({ $0 }) {
                try await victim.kill()
                kills += 1
            }
            let store = try Store.open(at: folder.store)
            let archive = try opens.measure { try store.archive(named: "Storm") }
            for victim in [role, other].compactMap({ $0 }) {
                findings += victim.acknowledged.verify(archive)
                try victim.restart()
            }
            if kills % 20 == 0 {
                let report = try archive.check()
                #expect(report.clean, "seed \(seed) kill \(kills): \(report.problems)")
            }
            store.close()
        }
        for role in roles where try await !role.goesOn() { hangs += 1 }
        for role in roles { try await role.kill() }
        let store = try Store.open(at: folder.store)
        let archive = try opens.measure { try store.archive(named: "Storm") }
        for role in roles { findings += role.acknowledged.verify(archive) }
        let report = try archive.check()
        #expect(report.clean, "seed \(seed): \(report.problems)")
        #expect(try archive.invariantViolations() == [], "seed \(seed)")
        let status = try archive.status()
        #expect(status.entries == report.entries && status.diskBytes == report.valueBytes)

        var figures = Figures("R1 storm")
        figures.add("seed", text: "\(seed)")
        figures.add("kills", kills + roles.count)
        figures.add("acknowledged", roles.reduce(0) { $0 + $1.acknowledged.operations })
        figures.add("lost", findings.lost)
        figures.add("deleted back", findings.deletedBack)
        figures.add("corrupt", findings.corrupt)
        figures.add("hangs", hangs)
        figures.add("slowest open", nanoseconds: opens.slowest)
        figures.report()
        #expect(findings.isEmpty, "seed \(seed): \(findings.first ?? "")")
        #expect(hangs == 0)
        for role in roles { #expect(role.problems == [], "seed \(seed)") }
        for role in roles where role.isWriter {
            #expect(role.acknowledged.operations > 100, "\(role.arguments[0])")
        }
    }
}
