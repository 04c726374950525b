import Foundation
import StorageEngine
import TestSupport
import Testing

/// R4: after a power loss at any moment the store opens, has stored values only, and keeps the promise of its
/// durability.
@Suite(.oneAtATime) struct PowerLossTests {
    struct Case: CustomStringConvertible {
        var durability: Durability
        var kind: ArchiveKind
        var description: String { "\(durability.name), \(kind)" }

        static let all = [Durability.process, .interval(seconds: 6000), .full].flatMap { durability in
            [ArchiveKind.collection, .cache, .log].map { Case(durability: durability, kind: $0) }
        }
    }

    @Test("an undo isn't kept without the changes that it skipped") func lostReplacement() throws {
        _ = try PowerLossRun(.interval(seconds: 6000), .cache, seed: 10_186_322_294_168_419_383).run()
    }

    @Test("keeps durable values after a power loss at any moment", arguments: Case.all)
    func anyMoment(item: Case) throws {
        let seed: UInt64 = 20_250_101
        let figures = try PowerLossRun(item.durability, item.kind, seed: seed).run()
        #expect(figures.images > 20 && figures.kept > 0)
        #expect(figures.lost > 0)
        print(
            "power loss: \(item), seed \(seed): \(figures.images) images, \(figures.kept) blocks kept and "
                + "\(figures.lost) lost, \(figures.removed) segments removed, "
                + "\(figures.evicted) evicted")
    }

    @Test("a second power loss leaves no part of a batch") func secondLoss() throws {
        var torn = 0
        for seed in UInt64(1)...60 { torn += try PowerLossRun.again(seed: seed) }
        #expect(torn > 20, "too few first losses leave something to clear")
    }

    @Test(.enabled(if: Soak.seconds > 0, "runs for a share of VELLUM_SOAK_SECONDS seconds"))
    func powerLossSoak() throws {
        let end = Soak.end(share: 0.25)
        var random = SeededGenerator(seed: Soak.seed)
        var report = Figures("R4 power loss")
        var images = 0
        while Date() < end {
            for item in Case.all where Date() < end {
                let seed = random.next()
                images += try PowerLossRun(item.durability, item.kind, seed: seed).run().images
            }
        }
        report.add("images", images)
        report.add("seed", text: "\(Soak.seed)")
        report.report()
    }
}

extension Durability {
    var name: String {
        switch self {
        case .process: "process"
        case .interval: "interval"
        case .full: "full"
        }
    }
}

/// One workload, with power losses after and during operations.
final class PowerLossRun: @unchecked Sendable {
    struct Counts {
        var images = 0
        var kept = 0
        var lost = 0
        var removed = 0
        var evicted = 0
    }

    let durability: Durability
    let kind: ArchiveKind
    private let seed: UInt64
    var random: SeededGenerator
    private let folder: TemporaryFolder
    private let medium: Medium
    private var figures = Counts()
    private var failure: (any Error)?
    private var isRunning = false

    /// Every value ever put under a key.
    private var ever: [String: Set<Data>] = [:]
    /// Allowed values of a key, apart from the operation in progress.
    private var allowed: [String: Set<Data?>] = [:]
    /// Changes of the operation in progress.
    private var underWay: [String: Data?]?
    /// Entries that reversible actions removed.
    private var taken: [ReversibleAction.ID: [String: Data?]] = [:]
    var batches = PowerLossBatches()
    /// For a log: all messages, with the one in progress last, and the numbers of acknowledged and durable ones.
    var messages: [Data] = []
    var acknowledged = 0
    var durable = 0

    init(_ durability: Durability, _ kind: ArchiveKind, seed: UInt64) throws {
        self.durability = durability
        self.kind = kind
        self.seed = seed
        random = SeededGenerator(seed: seed)
        folder = try TemporaryFolder(inMemory: true)
        medium = Medium(root: folder.path)
    }

    static let limit: UInt64 = 80_000
    private static let keys = (0..<14).map { "key \($0)" }

    func run() throws -> Counts {
        let archive = try folder.archive(
            creating: ArchiveConfiguration(
                kind: kind, diskLimit: kind == .collection ? nil : PowerLossRun.limit, durability: durability)
        )
        for key in PowerLossRun.keys { allowed[key] = [nil] }
        let thread = pthread_self()
        // The power may fail at each change of files and names.
        let observer = SystemFaults.observe(under: folder.path) { [self] event in
            // Background work has no fixed moment.
            guard isRunning, pthread_equal(thread, pthread_self()) != 0 else { return }
            if case .unlinked(let path) = event, path.hasSuffix(".segment"),
                FileManager.default.fileExists(atPath: path)
            {
                figures.removed += 1
            }
            if Int.random(in: 0..<6, using: &random) == 0 { cut() }
        }
        defer { SystemFaults.endObserving(observer) }
        isRunning = true
        for _ in 0..<130 {
            try step(archive)
            if Int.random(in: 0..<6, using: &random) == 0 { cut() }
            if let failure { throw failure }
        }
        isRunning = false
        figures.evicted = Int(try archive.status().evictions)
        archive.close()
        return figures
    }

    /// Value with distinct words, so that a mixture of two values is detected.
    func value() -> Data {
        let isLarge = Int.random(in: 0..<3, using: &random) == 0
        let size = Int.random(in: isLarge ? 20_000...50_000 : 8...3000, using: &random)
        var bytes = SeededGenerator(seed: random.next())
        var value = Data(count: size)
        value.withUnsafeMutableBytes { buffer in
            for offset in stride(from: 0, to: size - 7, by: 8) {
                buffer.storeBytes(of: bytes.next(), toByteOffset: offset, as: UInt64.self)
            }
        }
        return value
    }

    /// Deletes or expires some entries reversibly, or undoes such an action.
    private func act(_ archive: Archive) throws {
        if Bool.random(using: &random), let action = try archive.reversibleActions().first {
            underWay = taken[action.id]
            _ = try archive.undo(action.id)
            return
        }
        var planned: [PlannedEntry] = []
        var present: [String: Data?] = [:]
        for key in PowerLossRun.keys where Int.random(in: 0..<3, using: &random) == 0 {
            guard let value = try archive.peek(key), let sequence = try archive.metadata(key)?.sequence
            else { continue }
            planned.append(PlannedEntry(key: key, sequence: sequence))
            present[key] = Data(value)
        }
        let actions: [PlannedAction] = [.delete, .expireNow, .setLifetime(.zero)]
        underWay = present.mapValues { _ in nil }
        let outcome = try archive.carryOut(actions.randomElement(using: &random) ?? .delete, on: planned)
        if let id = outcome.action?.id { taken[id] = present }
    }

    private func step(_ archive: Archive) throws {
        if kind == .log { return try appendMessage(to: archive) }
        let key = PowerLossRun.keys.randomElement(using: &random) ?? ""
        batches.begin()
        switch Int.random(in: 0..<40, using: &random) {
        case 0:
            underWay = Dictionary(uniqueKeysWithValues: PowerLossRun.keys.map { ($0, nil) })
            try archive.deleteAll()
        case 1...5:
            underWay = [key: nil]
            try archive.delete(key)
        case 9...14: try act(archive)
        case 16...21: try applyBatch(to: archive)
        case 15:
            underWay = [key: nil]
            try archive.setLifetime(.zero, forKey: key)
            try archive.removeExpired()
        case 6...8:
            try archive.synchronize()
            if durability != .process { allowed = try state(of: archive) }
            return
        default:
            let value = value()
            note(value, under: key)
            underWay = [key: value]
            try archive.put(Array(value), forKey: key)
        }
        batches.end(changes: underWay ?? [:])
        underWay = nil
        let now = try state(of: archive)
        switch durability {
        case .full: allowed = now
        // Any state since the last sync may be found.
        case .interval, .process: allowed.merge(now) { $0.union($1) }
        }
    }

    private func note(_ value: Data, under key: String) {
        ever[key, default: []].insert(value)
        batches.note(value)
    }

    private func applyBatch(to archive: Archive) throws {
        var batch = Batch()
        var changes: [String: Data?] = [:]
        for key in PowerLossRun.keys.shuffled(using: &random).prefix(Int.random(in: 2...7, using: &random)) {
            guard Int.random(in: 0..<4, using: &random) > 0 else {
                batch.delete(key)
                changes[key] = .some(nil)
                continue
            }
            // All values fit into the cache.
            let value = value().prefix(8_000)
            note(value, under: key)
            batch.put(Array(value), forKey: key)
            changes[key] = value
        }
        underWay = changes
        batches.add(changes)
        try archive.apply(batch)
    }

    private func state(of archive: Archive) throws -> [String: Set<Data?>] {
        var state: [String: Set<Data?>] = [:]
        for key in PowerLossRun.keys { state[key] = [try archive.peek(key).map { Data($0) }] }
        return state
    }

    private func allows(_ found: Data?, under key: String) -> Bool {
        if allowed[key]?.contains(found) == true { return true }
        // Without durability, any value ever stored is allowed.
        if durability == .process { return found.map { ever[key]?.contains($0) == true } ?? true }
        guard let underWay else { return false }
        if let change = underWay[key], found == change { return true }
        // A put into a cache, or an undo, may evict any entry.
        return kind == .cache && found == nil && underWay.values.contains { $0 != nil }
    }

    private func cut() {
        do {
            let target = try TemporaryFolder(inMemory: true)
            let counts = try medium.cutPower(into: target.path, using: &random)
            figures.images += 1
            figures.kept += counts.kept
            figures.lost += counts.lost
            try verify(
                target, "\(durability.name), \(kind), seed \(seed), image \(figures.images)",
                // With single sectors, only the last batch is sure to be complete; others may be damaged.
                isWhole: counts.block == 4096 || durability == .full)
        } catch {
            failure = failure ?? error
        }
    }

    private func verify(_ image: TemporaryFolder, _ comment: String, isWhole: Bool) throws {
        let store = try Store.open(at: image.store)
        defer { store.close() }
        // Without durability, even names may be missing.
        if durability == .process, try store.archiveNames() == [] { return }
        let archive = try store.archive(named: "A")
        if kind == .log { return try verifyMessages(archive, comment) }
        var present: [String: Data] = [:]
        for key in PowerLossRun.keys {
            let found = try archive.peek(key).map { Data($0) }
            present[key] = found
            #expect(
                allows(found, under: key),
                "\(comment): \(key) has \(found.map { "\($0.count) bytes" } ?? "nothing")")
        }
        if isWhole {
            let torn = batches.torn(present, mayEvict: kind == .cache, underWay: Set((underWay ?? [:]).keys))
            #expect(torn == nil, "\(comment): \(torn ?? "")")
        }
        let list = try archive.entries()
        #expect(try list.keys.allSatisfy(PowerLossRun.keys.contains), "\(comment)")
        #expect(try archive.invariantViolations() == [], "\(comment)")
        _ = try archive.check()
        try archive.put([1, 2, 3], forKey: "after")
        #expect(try archive.peek("after") == [1, 2, 3], "\(comment)")
        // Reads stay the same from now on, also after a rebuild from the log, which has a further frame now.
        let before = try values(of: archive)
        store.close()
        try image.removeIndex("A")
        let again = try Store.open(at: image.store)
        defer { again.close() }
        #expect(try values(of: again.archive(named: "A")) == before, "\(comment), rebuilt")
    }

    private func values(of archive: Archive) throws -> [String: [UInt8]] {
        try (PowerLossRun.keys + ["after"]).reduce(into: [:]) { $0[$1] = try archive.peek($1) }
    }
}
