import Foundation
import Vellum

/// An account for transfers that counts its changes.
struct Account: ArchiveCodable, Sendable {
    static let count = 48
    static let initial = 1_000

    let primaryKey: String
    var balance: Int
    /// The number of `modify` calls of all threads and processes.
    var changes: Int

    static func key(_ number: Int) -> String { "account \(number)" }
}

/// One of three parts that are always recorded together, with the same stamp.
struct Part: ArchiveCodable, Sendable {
    static let sets = 16

    let primaryKey: String
    let stamp: Int

    static func keys(_ set: Int) -> [String] { (0..<3).map { "set \(set), part \($0)" } }
}

/// Eight threads that run all operations: transactions transfer between accounts, batches record parts, a small cache evicts
/// sheets, objects are migrated, values are followed. Other processes do the same.
final class Crowd: Sendable {
    private struct Tally {
        var operations = 0
        var changes = 0
        var transfers = 0
        var found = 0
        var wrong: [String] = []

        mutating func add(_ other: Tally) {
            operations += other.operations
            changes += other.changes
            transfers += other.transfers
            found += other.found
            wrong += other.wrong
        }
    }

    private static let threads = 8
    private static let sheets = 400

    private let accounts: ArchiveManager<Account>
    private let parts: ArchiveManager<Part>
    private let sheets: ArchiveManager<Sheet>
    private let things: ArchiveManager<Thing>

    init(_ factory: ArchivesFactory) throws {
        accounts = try factory.archives(for: Account.self, kind: .collection)
        parts = try factory.archives(for: Part.self, kind: .collection)
        sheets = try factory.archives(
            for: Sheet.self, trySetMaxMemorySize: 60_000, trySetMaxDiskSize: 40_000)
        things = try factory.archives(for: Thing.self)
    }

    /// The figures, one per line, and a line for each failure.
    func run(_ operations: Int, seed: UInt64) async -> String {
        let followers = [follow(Account.key(0)), follow(Account.key(1))]
        let total = await withTaskGroup(of: Tally.self) { group in
            for thread in 0..<Crowd.threads {
                group.addTask { [self] in
                    await withCheckedContinuation { continuation in
                        Thread.detachNewThread { [self] in
                            continuation.resume(
                                returning: work(
                                    operations / Crowd.threads, seed: seed &+ UInt64(thread) &* 7_919))
                        }
                    }
                }
            }
            return await group.reduce(into: Tally()) { $0.add($1) }
        }
        var lines = total.wrong.prefix(20).map { "wrong: \($0)" }
        for follower in followers { follower.cancel() }
        for (number, follower) in followers.enumerated() {
            if await follower.value > 0 { lines.append("wrong: account \(number) was followed backwards") }
        }
        if accounts.statistics?.failedCalls != 0 || parts.statistics?.failedCalls != 0 {
            lines.append("wrong: calls failed")
        }
        lines += [
            "operations \(total.operations)", "changes \(total.changes)", "transfers \(total.transfers)",
            "found \(total.found)",
        ]
        return lines.joined(separator: "\n")
    }

    /// Follows an account until it is cancelled, and counts decreases of its counter, which must not happen.
    private func follow(_ key: String) -> Task<Int, Never> {
        let values = accounts.values(forKey: key)
        return Task {
            var (backward, last) = (0, 0)
            for await account in values {
                guard let account else { continue }
                if account.changes < last { backward += 1 }
                last = account.changes
            }
            return backward
        }
    }

    private func work(_ operations: Int, seed: UInt64) -> Tally {
        var random = Draws(state: seed)
        var tally = Tally()
        while tally.operations < operations {
            tally.operations += 1
            do {
                try step(&random, &tally)
            } catch {
                tally.wrong.append("\(error)")
            }
        }
        return tally
    }

    private func step(_ random: inout Draws, _ tally: inout Tally) throws {
        let account = Account.key(random.below(Account.count))
        switch random.below(1_000) {
        case 0..<880:
            let key = "sheet \(random.below(Crowd.sheets))"
            guard let sheet = sheets.access(archiveWithKey: key) else { return }
            tally.found += 1
            if sheet.primaryKey != key || sheet.text.utf8.count != 200 { tally.wrong.append("sheet \(key)") }
        case 880..<920: sheets.record(Sheet("sheet \(random.below(Crowd.sheets))", version: tally.operations))
        case 920..<940:
            if try accounts.modify(archiveWithKey: account, { $0.changes += 1 }) == nil {
                tally.wrong.append("\(account) is absent")
            }
            tally.changes += 1
        case 940..<960:
            try transfer(account, Account.key(random.below(Account.count)), random.below(100))
            tally.transfers += 1
        case 960..<970:
            let stamp = tally.operations
            parts.record(
                all: Part.keys(random.below(Part.sets)).map { Part(primaryKey: $0, stamp: stamp) })
        case 970..<985:
            let keys = Part.keys(random.below(Part.sets))
            let stamps = try parts.transaction { transaction in
                try keys.map { try transaction.access(archiveWithKey: $0)?.stamp }
            }
            if Set(stamps).count != 1 { tally.wrong.append("parts of several batches: \(stamps)") }
        case 985..<990: sheets.delete(archiveWithKey: "sheet \(random.below(Crowd.sheets))")
        case 990..<998:
            let key = "\(random.below(2_000))"
            if things.access(archiveWithKey: key)?.primaryKey != key { tally.wrong.append("thing \(key)") }
        case 998: try things.migrateAll()
        default:
            if accounts.count != Account.count { tally.wrong.append("\(accounts.count) accounts") }
        }
    }

    private func transfer(_ from: String, _ to: String, _ amount: Int) throws {
        guard from != to else { return }
        try accounts.transaction { transaction in
            guard var one = try transaction.access(archiveWithKey: from),
                var other = try transaction.access(archiveWithKey: to)
            else { throw MissingAccount(key: "\(from), \(to)") }
            one.balance -= amount
            other.balance += amount
            try transaction.update(one)
            try transaction.update(other)
        }
    }

    private struct MissingAccount: Error { var key: String }
}
