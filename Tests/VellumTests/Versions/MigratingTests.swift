import Foundation
import TestSupport
import Testing
import Vellum

/// Kills programs during migration, beside one of the earlier version.
@Suite struct MigratingTests {
    private let store = TemporaryStore()

    @Test("killed migrations lose no object") func killedMigrations() async throws {
        let old = try store.factory().archives(for: Version0.Thing.self, trySetMaxDiskSize: 10.megaBytes)
        let count = 1_500
        for number in 0..<count {
            try old.throwing.record(
                .init(primaryKey: "\(number)", name: "thing", size: number),
                options: .init(expiresIn: .seconds(36_000), owner: "owner \(number % 3)"))
        }
        let order = try old.keysByUse()
        let worker = try ChildProcess.program(named: "ObjectWorker")
        var (numbers, migrated) = (SeededGenerator(seed: Soak.seed), 0)
        for _ in 0..<8 {
            let children = try (0..<2).map { _ in try ChildProcess(worker, ["migrate", store.path]) }
            usleep(UInt32.random(in: 5_000...40_000, using: &numbers))
            for child in children { child.signal(SIGKILL) }
            for child in children { _ = try await child.end(within: 60) }
            let now = try order.count { try old.core.archive.peek($0)?.prefix(10).last == UInt8(ascii: "n") }
            #expect(now >= migrated, "migrated objects stay migrated")
            migrated = now
        }
        let last = try ChildProcess(worker, ["migrate", store.path])
        #expect(try await last.end(within: 120) == 0)
        #expect(try old.keysByUse() == order)
        let things = try store.factory().archives(for: Version3.Thing.self)
        for number in 0..<count {
            #expect(things.peek(archiveWithKey: "\(number)") == .init("\(number)", "thing", width: number))
            #expect(things.remainingLifetime(for: "\(number)") != nil)
        }
        #expect(things.owners().map(\.objects) == [500, 500, 500])
        #expect(try things.migrateAll() == ArchiveMigration(present: count))
    }
}
