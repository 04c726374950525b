import Foundation
import StorageEngine
import TestSupport
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
        /// Numbers of messages, and those that the log gave them where that was acknowledged.
        var appended: [(number: UInt64, sequence: UInt64?)] = []

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
            for line in lines {
                if line.hasPrefix("+< "), let sequence = UInt64(line.dropFirst(3)) {
                    appended[appended.count - 1].sequence = sequence
                } else if line.hasPrefix("+ "), let number = UInt64(line.dropFirst(2)) {
                    appended.append((number, nil))
                }
            }
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

    private static let ring: UInt64 = 500_000

    /// How many acknowledged messages are not there, although the log is a ring that drops the oldest only; each
    /// writer's are in its order.
    private func missingMessages(_ store: Store, of roles: [Role]) throws -> Int {
        let log = try store.archive(named: "Log")
        #expect(try log.check().clean)
        let messages = try log.messages(most: .max).messages
        let status = try log.status()
        #expect(status.entries == messages.count && status.diskBytes <= StormTests.ring)
        #expect(status.diskBytes + 2_008 > StormTests.ring, "the ring is as full as it may be")
        let found = messages.map { $0.bytes.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
        var missing = 0
        for role in roles where !role.appended.isEmpty {
            let own = Set(role.appended.map(\.number))
            let mine = found.filter(own.contains)
            #expect(zip(mine, mine.dropFirst()).allSatisfy { $0 < $1 })
            let present = Set(mine)
            // From the oldest on that is there, whoever appended it, none that was acknowledged is missing.
            missing += role.appended.count { item in
                guard let sequence = item.sequence else { return false }
                return sequence >= messages[0].sequence && !present.contains(item.number)
            }
        }
        return missing
    }

    private func storm(seed: UInt64, goesOn: (Int) -> Bool) async throws {
        let folder = try TemporaryFolder()
        var random = SeededGenerator(seed: seed)
        try Store.open(at: folder.store)
            .archive(named: "Storm", orCreate: ArchiveConfiguration(kind: .collection, diskLimit: nil))
            .close()
        try Store.open(at: folder.store)
            .archive(named: "Log", orCreate: ArchiveConfiguration(kind: .log, diskLimit: StormTests.ring))
            .close()
        let roles = try [
            ["write", "1"], ["write", "2"], ["overwrite", "3"], ["observe", "4"], ["append", "5"],
            ["append", "6"],
        ].map { try Role([$0[0], folder.store, $0[0] == "append" ? "Log" : "Storm", $0[1]], in: folder) }
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
        // All at once: a writer of messages that is left alone soon fills the ring.
        for role in roles { role.worker.signal(SIGKILL) }
        for role in roles { try await role.kill() }
        let store = try Store.open(at: folder.store)
        let archive = try opens.measure { try store.archive(named: "Storm") }
        for role in roles { findings += role.acknowledged.verify(archive) }
        let report = try archive.check()
        #expect(report.clean, "seed \(seed): \(report.problems)")
        #expect(try archive.invariantViolations() == [], "seed \(seed)")
        let status = try archive.status()
        #expect(status.entries == report.entries && status.diskBytes == report.valueBytes)

        let missing = try missingMessages(store, of: roles)
        var figures = Figures("R1 storm")
        figures.add("seed", text: "\(seed)")
        figures.add("kills", kills + roles.count)
        figures.add("acknowledged", roles.reduce(0) { $0 + $1.acknowledged.operations })
        figures.add("messages", roles.reduce(0) { $0 + $1.appended.count })
        figures.add("lost", findings.lost + missing)
        figures.add("deleted back", findings.deletedBack)
        figures.add("corrupt", findings.corrupt)
        figures.add("hangs", hangs)
        figures.add("slowest open", nanoseconds: opens.slowest)
        figures.report()
        #expect(findings.isEmpty, "seed \(seed): \(findings.first ?? "")")
        #expect(hangs == 0)
        #expect(missing == 0, "seed \(seed): messages are missing")
        for role in roles { #expect(role.problems == [], "seed \(seed)") }
        for role in roles where role.isWriter {
            let operations = role.acknowledged.operations + role.appended.count
            #expect(operations > 100, "\(role.arguments[0])")
        }
    }
}
