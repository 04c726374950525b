import Foundation
import StorageEngine
import TestSupport
import Testing
import Vellum

/// Each query reads one snapshot, also during transactions.
@Suite struct QuerySnapshotTests {
    private let store = TemporaryStore()

    private struct Account: ArchiveCodable, Equatable {
        var primaryKey: String
        var cents: Int
    }

    private static let count = 48
    private static let sum = count * 100

    /// Calls `body` while other tasks transfer cents.
    private nonisolated(nonsending) func besideTransfers(
        _ accounts: ArchiveManager<Account>, _ body: (ArchiveManager<Account>) async throws -> Void
    ) async throws {
        accounts.record(all: (0..<Self.count).map { Account(primaryKey: "\($0)", cents: 100) })
        let isOver = Guarded(false)
        let transfers = Task.detached {
            var random = SeededGenerator(seed: 7)
            while !isOver.withLock({ $0 }) {
                let from = "\(Int.random(in: 0..<Self.count, using: &random))"
                let to = "\(Int.random(in: 0..<Self.count, using: &random))"
                guard from != to else { continue }
                try accounts.transaction { transaction in
                    guard var debtor = try transaction.access(archiveWithKey: from),
                        var creditor = try transaction.access(archiveWithKey: to)
                    else { return }
                    debtor.cents -= 1
                    creditor.cents += 1
                    try transaction.update(debtor)
                    try transaction.update(creditor)
                }
                await Task.yield()
            }
        }
        do {
            try await body(accounts)
        } catch {
            isOver.withLock { $0 = true }
            throw error
        }
        isOver.withLock { $0 = true }
        try await transfers.value
        #expect(try accounts.core.archive.check().clean)
    }

    @Test("each query returns the same sum during transfers") func sums() async throws {
        // Like another process, without objects in memory.
        let other = try store.factory().archives(for: Account.self)
        try await besideTransfers(try store.factory().archives(for: Account.self)) { accounts in
            for round in 0..<10 {
                for archives in [accounts, other] {
                    let sums = [
                        archives.accessAll(),
                        archives.where(\.cents > -1_000_000).getResults(),
                        archives.findWhere { $0.cents(.isValid { _ in true }) }.getResults(),
                        try archives.throwing.where(\.cents > -1_000_000).getResults(),
                        try await archives.perform { try $0.throwing.accessAll() },
                        try await archives.asynchronous.where(\.cents > -1_000_000).getResults(),
                        try await archives.asynchronous.sorted { $0.cents(.ascending) }.getResults(),
                    ].map { $0.reduce(0) { $0 + $1.cents } }
                    #expect(sums.allSatisfy { $0 == Self.sum }, "round \(round): \(sums)")
                }
            }
        }
    }

    @Test("each value of a followed query has the same sum") func followedQueries() async throws {
        try await besideTransfers(try store.factory().archives(for: Account.self)) { accounts in
            var followed = accounts.where(\.cents > -1_000_000).values().makeAsyncIterator()
            for _ in 0..<12 {
                let all = try #require(await followed.next())
                #expect(all.reduce(0) { $0 + $1.cents } == Self.sum)
            }
        }
    }

    @Test("queries on a snapshot and on the archive have the same results") func snapshots() throws {
        let notes = try store.factory().archives(
            for: Note.self, trySetMaxMemorySize: 100_000, trySetMaxDiskSize: 20_000)
        for number in 0..<60 { notes.record(Note.sized("\(number)", 100 + number)) }
        notes.record(Note.sized("only here", 30_000))
        notes.record(Note.sized("last", 300))
        notes.delete(archiveWithKey: "7")
        let core = notes.core
        let all: [Query<Note>] = []
        let some: [Query<Note>] = [.where(\.text > "x"), .skip(by: 3), .limit(by: 20)]
        let closures: [Query<Note>] = [
            .find { $0.text(.isValid { $0.count % 2 == 0 }) }, .sort { $0.text(.descending) },
        ]
        for queries in [all, some, closures] {
            let live = try core.seen(by: queries).map(\.object)
            #expect(try core.seen(by: queries, in: core.archive.snapshot()).map(\.object) == live)
            #expect(live.count > 10)
        }
        let latest = try core.seen(by: all, in: core.archive.snapshot()).prefix(2)
        #expect(latest.map(\.name) == ["last", "only here"])
    }

    @Test("queries on a snapshot test encoded values") func encodedSnapshots() throws {
        let notes = try store.factory().archives(for: Note.self)
        for number in 0..<60 { notes.record(Note("\(number)", "\(number % 7)")) }
        let core = notes.core
        let queries: [Query<Note>] = [.where(\.text == "3")]
        // The encoded name of a property is found by probing a stored value.
        #expect(try core.seen(by: queries).count == 9)
        let snapshot = try core.archive.snapshot()
        notes.deleteAll()
        let seen = try core.seen(by: queries, in: snapshot)
        let wanted = (0..<60).reversed().filter { $0 % 7 == 3 }.map { String($0) }
        #expect(seen.map(\.name) == wanted)
        #expect(seen.allSatisfy { $0.sequence > 0 })
        #expect(try core.places(in: snapshot, meeting: core.encodedPredicate(of: queries)).count == 9)
    }
}
