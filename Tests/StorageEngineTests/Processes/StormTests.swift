import Foundation
import StorageEngine
import TestSupport
import Testing

/// R1, R16: writers of keys, batches, messages and all other changes, observers and backups run at once, while random
/// ones are killed and restarted.
@Suite(.serialized, .oneAtATime) struct StormTests {
    @Test("keeps acknowledged changes while processes are killed at random")
    func killsAtRandom() async throws {
        // Fewer kills on a busy machine, so that it ends in time.
        let end = Date().addingTimeInterval(20)
        try await storm(seed: 7) { $0 < 80 && (Date() < end || $0 < 30) }
    }

    /// `VELLUM_SOAK_KILLS` asks for a number of kills instead of a time.
    @Test(.enabled(if: Soak.seconds > 0, "runs in a soak"))
    func stormSoak() async throws {
        let wanted = ProcessInfo.processInfo.environment["VELLUM_SOAK_KILLS"].flatMap(Int.init)
        let end = Soak.end(share: 0.3)
        try await storm(seed: Soak.seed) { kills in wanted.map { kills < $0 } ?? (Date() < end) }
    }

    private static let ring: UInt64 = 500_000

    /// Number of acknowledged messages that are missing after the oldest present one. Each writer's messages are in
    /// order.
    private func missingMessages(_ store: Store, of roles: [StormRole]) throws -> Int {
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
            // After the oldest present message, no acknowledged one may be missing.
            missing += role.appended.count { item in
                guard let sequence = item.sequence else { return false }
                return sequence >= messages[0].sequence && !present.contains(item.number)
            }
        }
        return missing
    }

    private static let crew = [
        ["write", "Storm", "1"], ["write", "Storm", "2"], ["overwrite", "Storm", "3"],
        ["observe", "Storm", "4"],
        ["append", "Log", "5"], ["append", "Log", "6"], ["mix", "Storm", "7"], ["mix", "Storm", "8"],
        ["mix", "Alone", "9", "alone"], ["batches", "Storm", "10"], ["watchBatches", "Storm", "11"],
    ]

    private func storm(seed: UInt64, shouldContinue: (Int) -> Bool) async throws {
        let folder = try TemporaryFolder()
        var random = SeededGenerator(seed: seed)
        for (name, kind) in [("Storm", ArchiveKind.collection), ("Alone", .collection), ("Log", .log)] {
            let limit = kind == .log ? StormTests.ring : nil
            try folder.archive(name, creating: ArchiveConfiguration(kind: kind, diskLimit: limit)).close()
        }
        let roles = try (StormTests.crew + [["backUp", "Storm", "12", folder.path + "/backup"]])
            .map { try StormRole($0, in: folder) }
        var kills = 0
        var rounds = 0
        var hanging: [String] = []
        var ownBackups = 0
        var findings = Acknowledged.Findings()
        var opens = Timings()
        func hasFailed() -> Bool { !findings.isEmpty || roles.contains { !$0.problems.isEmpty } }
        while shouldContinue(kills) {
            try await Task.sleep(for: .milliseconds(Int.random(in: 2...30, using: &random)))
            // Sometimes several die while a repair is pending.
            let count = [1, 1, 2, 2, 3][Int.random(in: 0..<5, using: &random)]
            let victims = Array(roles.shuffled(using: &random).prefix(count))
            for victim in victims {
                try await victim.kill()
                kills += 1
            }
            let store = try Store.open(at: folder.store)
            for victim in victims {
                let archive = try opens.measure { try store.archive(named: victim.archiveName) }
                findings += try victim.verify(archive)
            }
            rounds += 1
            if rounds % 20 == 0 {
                findings += try verifyInBackup(victims, store, folder)
                ownBackups += 1
            }
            for victim in victims { try victim.restart() }
            if rounds % 12 == 0 { try check(store, "seed \(seed) kill \(kills)") }
            store.close()
            // Later failures may only follow from the first.
            if hasFailed() { break }
        }
        if !hasFailed() {
            for role in roles where try await !role.makesProgress() { hanging.append(role.command) }
        }
        // All at once: a single remaining writer of messages soon fills the ring.
        for role in roles { role.worker.signal(SIGKILL) }
        for role in roles { try await role.kill() }
        let store = try Store.open(at: folder.store)
        for role in roles { findings += try role.verify(store.archive(named: role.archiveName)) }
        try check(store, "seed \(seed), at the end")
        for name in ["Storm", "Alone"] { try await compareFigures(of: store.archive(named: name)) }

        let missing = try missingMessages(store, of: roles)
        Figures(
            "R1 storm",
            [
                "seed": "\(seed)", "kills": kills + roles.count,
                "acknowledged": roles.reduce(0) { $0 + $1.acknowledged.operations + Int($1.applied) } as Int,
                "of them of several keys": roles.reduce(0) { $0 + $1.acknowledged.batches + Int($1.applied) }
                    as Int,
                "messages": roles.reduce(0) { $0 + $1.appended.count } as Int,
                "backups": roles.reduce(ownBackups) { $0 + $1.backups } as Int,
                "snapshots refused": roles.reduce(0) { $0 + $1.busy } as Int, "lost": findings.lost + missing,
                "deleted back": findings.deletedBack, "torn": findings.torn, "corrupt": findings.corrupt,
                "hangs": hanging.count, "slowest open": opens.slowest,
            ]
        ).report()
        if hasFailed() || missing > 0 || !hanging.isEmpty { folder.keep() }
        #expect(findings.isEmpty, "seed \(seed): \(findings.first ?? "")")
        #expect(hanging == [], "seed \(seed)")
        #expect(missing == 0, "seed \(seed): messages are missing")
        for role in roles { #expect(role.problems == [], "seed \(seed), \(role.command)") }
        for role in roles where role.hasKeys || ["append", "batches"].contains(role.command) {
            #expect(role.operations > 100, "\(role.command)")
        }
        for role in roles where role.command == "watchBatches" { #expect(role.looks > 0) }
    }

    private func check(_ store: Store, _ comment: String) throws {
        for name in ["Storm", "Alone"] {
            let report = try store.archive(named: name).check()
            #expect(report.clean, "\(comment): \(name): \(report.problems)")
        }
    }

    /// A backup of the live store has all changes acknowledged to the killed workers.
    private func verifyInBackup(
        _ victims: [StormRole], _ store: Store, _ folder: TemporaryFolder
    ) throws -> Acknowledged.Findings {
        let path = folder.path + "/own backup"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let report = try store.backUp(to: path)
        #expect(report?.damaged == [])
        let copy = try Store.open(at: path)
        defer { copy.close() }
        var findings = Acknowledged.Findings()
        for victim in victims { findings += try victim.verify(copy.archive(named: victim.archiveName)) }
        try check(copy, "a backup")
        return findings
    }

    /// Compares status and check once nothing changes or expires.
    private func compareFigures(of archive: Archive) async throws {
        #expect(try archive.invariantViolations() == [])
        for attempt in 1...40 {
            let report = try archive.check()
            let status = try archive.status()
            if status.entries == report.entries, status.diskBytes == report.valueBytes { return }
            if attempt < 40 { try await Task.sleep(for: .milliseconds(200)) }
        }
        Issue.record("status and check of \(archive.name) differ")
    }
}
