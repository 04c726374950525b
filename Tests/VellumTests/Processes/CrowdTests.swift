import Foundation
import StorageEngine
import TestSupport
import Testing
import Vellum

/// Three processes with eight threads each run all operations on the archives of one store: no change is lost or counted
/// twice, batches stay whole, and followers get the last value.
@Suite struct CrowdTests {
    private struct Account: ArchiveCodable, Sendable, Equatable {
        static var archiveTypeName: String { "ObjectWorker.Account" }
        let primaryKey: String
        var balance: Int
        var changes: Int
    }

    private static let accounts = 48
    private static let processes = 3

    @Test func everythingAtOnce() async throws { try await run(operations: 12_000) }

    /// `VELLUM_SOAK_OPERATIONS` sets the total number.
    @Test(.enabled(if: Soak.seconds > 0, "runs in a soak")) func crowdSoak() async throws {
        let given = ProcessInfo.processInfo.environment["VELLUM_SOAK_OPERATIONS"].flatMap { Int($0) }
        try await run(operations: given ?? Int(Soak.seconds * 20_000))
    }

    private func run(operations: Int) async throws {
        let store = TemporaryStore()
        let factory = store.factory()
        let accounts = try factory.archives(for: Account.self, kind: .collection)
        accounts.record(
            all: (0..<Self.accounts).map {
                Account(primaryKey: "account \($0)", balance: 1_000, changes: 0)
            })
        let things = try factory.archives(for: Version0.Thing.self, trySetMaxDiskSize: 10.megaBytes)
        things.record(
            all: (0..<2_000).map { .init(primaryKey: "\($0)", name: "thing", size: $0) })
        let followed = accounts.values(forKey: "account 0")
        let last = Task {
            var seen: Account?
            for await account in followed {
                seen = account
                if account?.changes == -1 { break }
            }
            return seen
        }

        let seed = Soak.seed
        let worker = try ChildProcess.program(named: "ObjectWorker")
        let begun = monotonicNow()
        let results = (0..<Self.processes).map { store.path + "-result-\($0)" }
        defer { for result in results { try? FileManager.default.removeItem(atPath: result) } }
        let children = try results.enumerated().map { number, result in
            try ChildProcess(
                worker,
                ["crowd", store.path, "\(seed &+ UInt64(number))", "\(operations / Self.processes)", result])
        }
        for child in children {
            #expect(try await child.end(within: 120 + Double(operations) / 2_000) == 0, "seed \(seed)")
        }
        let elapsed = monotonicNow() - begun

        let lines = try results.flatMap {
            try String(contentsOfFile: $0, encoding: .utf8).split(separator: "\n").map(String.init)
        }
        #expect(lines.filter { $0.hasPrefix("wrong") } == [], "seed \(seed)")
        func sum(_ name: String) -> Int {
            lines.filter { $0.hasPrefix(name + " ") }.reduce(0) {
                $0 + (Int($1.dropFirst(name.count + 1)) ?? 0)
            }
        }
        let present = accounts.accessAll()
        #expect(present.count == Self.accounts)
        #expect(present.reduce(0) { $0 + $1.changes } == sum("changes") && sum("changes") > 0)
        #expect(present.reduce(0) { $0 + $1.balance } == 1_000 * Self.accounts && sum("transfers") > 0)
        #expect(sum("operations") >= operations - 100)
        let migrated = try store.factory().archives(for: Version3.Thing.self)
        #expect(try migrated.migrateAll().present == 2_000)
        for number in 0..<2_000 { #expect(migrated.peek(archiveWithKey: "\(number)")?.width == number) }

        let end = Account(primaryKey: "account 0", balance: 0, changes: -1)
        accounts.record(end)
        #expect(await last.value == end)
        let looking = try Store.open(at: store.path, mode: .readOnly)
        defer { looking.close() }
        for name in try looking.archiveNames() {
            #expect(try looking.archive(named: name).check().problems == [], "\(name)")
        }

        var figures = Figures("S10 processes")
        figures.add("seed", text: "\(seed)")
        figures.add("operations", sum("operations"))
        figures.add("found", sum("found"))
        figures.add("changes", sum("changes"))
        figures.add("transfers", sum("transfers"))
        figures.add("each", nanoseconds: elapsed / UInt64(max(1, sum("operations"))))
        figures.report()
    }
}
