import Foundation
import StorageEngine
import TestSupport
import Synchronization
import Testing

/// Expiry times, owners, plans and undo against a plain model, with a manual clock and occasional removals of the
/// index.
@Suite struct ExpiryModelTests {
    struct Life: Equatable {
        var value: [UInt8]
        var stamp: Int
        /// Number of the put in the order of all operations.
        let recorded: Int
        /// On the test's clock; `nil`: never.
        var deadline: Int64?
        var owner: String?
    }

    struct Action {
        var removed: [String: Life] = [:]
        /// Changed entries with their new and previous expiry times.
        var changed: [String: (new: Int64?, old: Int64?)] = [:]
        /// Time of the action. Later puts stay unchanged.
        var moment = 0
        /// Entries that expired by the action's expiry time, in their earlier state.
        var expired: [String: Life] = [:]
        /// Keys stored again since their removal: an undo skips them.
        var keptOut: Set<String> = []

        /// Whether an undo restores the key.
        func comesBack(_ key: String) -> Bool { !keptOut.contains(key) }
    }

    /// Plain model of a cache with expiring entries.
    struct Model {
        var limit: Int
        var lives: [String: Life] = [:]
        var actions: [UInt32: Action] = [:]
        var now: Int64 = 0
        var stamps = 0

        /// Least recent first, with expired entries that aren't removed yet.
        var order: [String] { lives.sorted { $0.value.stamp < $1.value.stamp }.map(\.key) }
        var bytes: Int { lives.values.reduce(0) { $0 + $1.value.count } }
        var visible: [String] { order.filter { !isExpired($0) } }

        func isExpired(_ key: String) -> Bool { lives[key]?.deadline.map { $0 <= now } ?? false }

        mutating func stamp() -> Int {
            stamps += 1
            return stamps
        }

        mutating func evict(sparing spared: Set<String> = []) -> Int {
            var evicted = 0
            for key in order where bytes > limit && !spared.contains(key) {
                lives[key] = nil
                evicted += 1
            }
            return evicted
        }

        mutating func put(_ key: String, _ value: [UInt8], lifetime: Int64?, owner: String?) -> Bool {
            guard value.count <= limit else { return false }
            record(key, value, lifetime: lifetime, owner: owner)
            _ = evict(sparing: [key])
            return true
        }

        private mutating func record(
            _ key: String, _ value: [UInt8], lifetime: Int64?, owner: String?
        ) {
            let stamp = stamp()
            lives[key] = Life(
                value: value, stamp: stamp, recorded: stamp, deadline: lifetime.map { now + $0 }, owner: owner
            )
            for id in actions.keys where actions[id]?.removed[key] != nil || actions[id]?.expired[key] != nil
            {
                actions[id]?.keptOut.insert(key)
            }
        }

        /// Applies puts and deletes as one change and evicts others for the limit.
        mutating func apply(
            _ changes: [(key: String, life: (value: [UInt8], lifetime: Int64?, owner: String?)?)]
        ) {
            for change in changes {
                guard let life = change.life else {
                    lives[change.key] = nil
                    continue
                }
                record(change.key, life.value, lifetime: life.lifetime, owner: life.owner)
            }
            let changed = Set(changes.map(\.key))
            for key in order where bytes > limit && !changed.contains(key) { lives[key] = nil }
        }

        /// Removes an expired entry. If an undoable action set its expiry time, the entry joins that action.
        mutating func expire(_ key: String, _ reversible: Set<UInt32>) {
            guard let life = lives.removeValue(forKey: key) else { return }
            for (id, action) in actions where reversible.contains(id) {
                // Later puts have their own expiry time, even an equal one.
                guard let change = action.changed[key], let deadline = change.new, deadline == life.deadline,
                    life.recorded < action.moment
                else { continue }
                var before = life
                before.deadline = change.old
                actions[id]?.expired[key] = before
            }
        }

        mutating func access(_ key: String, _ reversible: Set<UInt32>) -> [UInt8]? {
            if isExpired(key) { expire(key, reversible) }
            guard lives[key] != nil else { return nil }
            let stamp = stamp()
            lives[key]?.stamp = stamp
            return lives[key]?.value
        }
    }

    private struct Bench {
        let folder: TemporaryFolder
        let hand: ClockHand
        var store: Store
        var archive: Archive
        var model: Model
        var random: SeededGenerator
        let seed: UInt64
        let keys: [String]
        /// TTL that the last action set, and its time on the test's clock.
        var set: (lifetime: Int64, moment: Int64)?

        mutating func chance(_ of: Int) -> Bool { Int.random(in: 0..<of, using: &random) == 0 }
    }

    @Test(
        "expiry and undo agree with a model", arguments: [UInt64(1), 2, 3, 4],
        [LockingMode.robustMutex, .fileLock])
    func expiryAndUndo(seed: UInt64, locking: LockingMode) throws {
        let hand = ClockHand()
        try Clock.$hand.withValue(hand) {
            var random = SeededGenerator(seed: seed)
            let folder = try TemporaryFolder()
            let limit = Int.random(in: 4_000...300_000, using: &random)
            let options = StoreOptions(locking: locking)
            let store = try Store.open(at: folder.store, options: options)
            let archive = try store.archive(named: "Lives", orCreate: .cache(UInt64(limit)))
            let keys = (0..<Int.random(in: 10...200, using: &random)).map { "key \($0)" }
            var bench = Bench(
                folder: folder, hand: hand, store: store, archive: archive, model: Model(limit: limit),
                random: random, seed: seed, keys: keys)
            for step in 0..<2_000 { try run(&bench, step: step, options: options) }
            let report = try bench.archive.check()
            #expect(report.clean, "seed \(seed): \(report.problems)")
            #expect(try bench.archive.check(most: 20) == report, "seed \(seed)")
        }
    }

    @Test(.enabled(if: Soak.seconds > 0, "runs in a soak"))
    func expiryAndUndoSoak() throws {
        let end = Soak.end(share: 0.03)
        var seed = Soak.seed
        var runs = 0
        while Date() < end {
            try expiryAndUndo(seed: seed, locking: runs % 2 == 0 ? .robustMutex : .fileLock)
            seed &+= 1
            runs += 1
        }
        Figures("R7 lives, owners and undo against a model", ["seed": "\(Soak.seed)", "steps": runs * 2_000])
            .report()
    }

    private func run(_ bench: inout Bench, step: Int, options: StoreOptions) throws {
        let place: Comment = "seed \(bench.seed) step \(step)"
        let key = bench.keys[Int.random(in: 0..<bench.keys.count, using: &bench.random)]
        var lifetime: Int64? = bench.chance(3) ? Int64.random(in: 0...3_000_000, using: &bench.random) : nil
        // Sometimes the expiry time that an action has just set.
        if let set = bench.set, set.moment == bench.model.now, bench.chance(3) { lifetime = set.lifetime }
        switch Int.random(in: 0..<1000, using: &bench.random) {
        case 0..<60: try applyBatch(&bench, place)
        case 60..<400:
            let size = Int.random(
                in: 0...(bench.model.limit / (bench.chance(40) ? 1 : 20)), using: &bench.random)
            let value = repeated(UInt8.random(in: 0...255, using: &bench.random), size)
            let owner = bench.chance(3) ? "owner \(Int.random(in: 0...3, using: &bench.random))" : nil
            try bench.archive.put(
                value, forKey: key,
                attributes: EntryAttributes(lifetime: lifetime.map { .microseconds($0) }, owner: owner))
            let isStored = bench.model.put(key, value, lifetime: lifetime, owner: owner)
            #expect(isStored, place)
        case 400..<550:
            let expected = bench.model.access(key, try reversible(bench))
            #expect(try bench.archive.access(key) == expected, place)
        case 550..<600:
            let expected = bench.model.isExpired(key) ? nil : bench.model.lives[key]?.value
            #expect(try bench.archive.peek(key) == expected, place)
        case 600..<650:
            // An equal expiry time would count as the action's.
            if let set = bench.set, lifetime == set.lifetime { lifetime = nil }
            let isThere = bench.model.lives[key] != nil && !bench.model.isExpired(key)
            #expect(
                try bench.archive.setLifetime(lifetime.map { .microseconds($0) }, forKey: key) == isThere,
                place)
            if isThere { bench.model.lives[key]?.deadline = lifetime.map { bench.model.now + $0 } }
        case 650..<690:
            let passed = Int64.random(in: 0...1_000_000, using: &bench.random)
            bench.hand.pass(.microseconds(passed))
            bench.model.now += passed
        case 690..<700:
            let expired = bench.model.order.filter(bench.model.isExpired)
            let reversible = try reversible(bench)
            #expect(try bench.archive.removeExpired().entries == expired.count, place)
            for key in expired { bench.model.expire(key, reversible) }
        case 700..<710:
            let owner = "owner \(Int.random(in: 0...3, using: &bench.random))"
            let owned = bench.model.lives.filter { $0.value.owner == owner }
            let removal = try bench.archive.deleteEntries(ofOwner: owner)
            #expect(removal.entries == owned.count, place)
            for key in owned.keys { bench.model.lives[key] = nil }
        case 710..<740: try act(&bench, place)
        case 740..<780: try undo(&bench, place)
        case 780..<790: try reopen(&bench, removingIndex: bench.chance(2), options: options, place)
        case 790..<800:
            // Setting the wall clock moves no expiry time.
            bench.hand.setWallClock(by: Int64.random(in: -10...10, using: &bench.random) * 31_557_600_000_000)
        default: try compare(bench, place)
        }
    }

    /// Values with TTLs and owners, and deletes, as one change.
    private func applyBatch(_ bench: inout Bench, _ place: Comment) throws {
        var batch = Batch()
        var changes: [(key: String, life: (value: [UInt8], lifetime: Int64?, owner: String?)?)] = []
        for key in bench.keys.shuffled(using: &bench.random).prefix(
            Int.random(in: 1...8, using: &bench.random))
        {
            guard !bench.chance(4) else {
                batch.delete(key)
                changes.append((key, nil))
                continue
            }
            let size = Int.random(in: 0...(bench.model.limit / 20), using: &bench.random)
            let value = repeated(UInt8.random(in: 0...255, using: &bench.random), size)
            let lifetime: Int64? =
                bench.chance(3) ? Int64.random(in: 1...3_000_000, using: &bench.random) : nil
            let owner = bench.chance(3) ? "owner \(Int.random(in: 0...3, using: &bench.random))" : nil
            let attributes = EntryAttributes(lifetime: lifetime.map { .microseconds($0) }, owner: owner)
            batch.put(value, forKey: key, attributes: attributes)
            changes.append((key, (value, lifetime, owner)))
        }
        try bench.archive.apply(batch)
        bench.model.apply(changes)
    }

    private func reversible(_ bench: Bench) throws -> Set<UInt32> {
        Set(try bench.archive.reversibleActions().map(\.id))
    }

    private func act(_ bench: inout Bench, _ place: Comment) throws {
        var chosen = bench.keys.filter { _ in bench.chance(4) }
        if bench.chance(10) { chosen = bench.keys }
        let planned = try bench.archive.planned(chosen)
        let visible = planned.map(\.key)
        #expect(
            Set(visible) == Set(chosen.filter { bench.model.lives[$0] != nil && !bench.model.isExpired($0) }),
            place)
        var action = Action()
        let outcome: PlanOutcome
        switch Int.random(in: 0..<3, using: &bench.random) {
        case 0:
            outcome = try bench.archive.carryOut(.delete, on: planned)
            for key in visible { action.removed[key] = bench.model.lives.removeValue(forKey: key) }
        case 1:
            outcome = try bench.archive.carryOut(.expireNow, on: planned)
            for key in visible { action.removed[key] = bench.model.lives.removeValue(forKey: key) }
        default:
            // Each action sets a different time, since the clock stands still.
            bench.model.stamps += 1
            action.moment = bench.model.stamps
            let lifetime: Int64? = bench.chance(2) ? nil : 1_000_000 + Int64(bench.model.stamps)
            if let lifetime { bench.set = (lifetime, bench.model.now) }
            outcome = try bench.archive.carryOut(
                .setLifetime(lifetime.map { .microseconds($0) }), on: planned)
            for key in visible {
                let new = lifetime.map { bench.model.now + $0 }
                // Clearing an absent expiry time changes nothing.
                let old = bench.model.lives[key]?.deadline
                guard old != nil || new != nil else { continue }
                action.changed[key] = (new, old)
                bench.model.lives[key]?.deadline = new
            }
        }
        let done = action.removed.count + action.changed.count
        #expect(outcome.entries == done, place)
        #expect(outcome.unchanged == visible.count - done, place)
        #expect(outcome.skipped == [], place)
        if let made = outcome.action {
            #expect(made.entries == done, place)
            bench.model.actions[made.id] = action
        } else {
            #expect(done == 0, place)
        }
    }

    private func undo(_ bench: inout Bench, _ place: Comment) throws {
        let expected = try bench.archive.reversibleActions().first
        guard let outcome = try bench.archive.undo() else {
            #expect(expected == nil, place)
            return
        }
        #expect(outcome.action.id == expected?.id, place)
        let known = bench.model.actions.removeValue(forKey: outcome.action.id)
        let action = try #require(known, place)
        var back: [Life] = []
        var returned: Set<String> = []
        for (key, life) in action.removed where action.comesBack(key) {
            bench.model.lives[key] = life
            back.append(life)
            returned.insert(key)
        }
        for (key, life) in action.expired where action.comesBack(key) {
            bench.model.lives[key] = life
            back.append(life)
            returned.insert(key)
        }
        for (key, change) in action.changed where action.expired[key] == nil {
            guard let life = bench.model.lives[key], life.recorded < action.moment else { continue }
            // An entry that already has its previous expiry time counts as restored.
            guard life.deadline == change.new || life.deadline == change.old else { continue }
            let before = Life(
                value: life.value, stamp: life.stamp, recorded: life.recorded, deadline: change.old,
                owner: life.owner)
            bench.model.lives[key] = before
            back.append(before)
        }
        let expired = back.count { life in life.deadline.map { $0 <= bench.model.now } ?? false }
        let done = action.removed.count + action.changed.count
        if action.changed.isEmpty || outcome.evicted + outcome.displaced == 0 {
            #expect(outcome.entries + outcome.displaced == back.count - expired, place)
            #expect(outcome.expired == expired, place)
            #expect(outcome.skippedCount == done - back.count, place)
        } else {
            // The engine counts entries that are evicted during an undo of expiry times among the skipped.
            #expect(outcome.entries <= back.count - expired && outcome.expired <= expired, place)
            #expect(outcome.entries + outcome.expired + outcome.skippedCount == done, place)
        }
        // Restored entries are evicted last.
        let evicted = bench.model.evict(sparing: returned)
        let displaced = bench.model.evict()
        #expect(outcome.evicted == evicted, place)
        #expect(outcome.displaced <= displaced, "\(place): expired entries count as expired")
    }

    private func reopen(
        _ bench: inout Bench, removingIndex: Bool, options: StoreOptions, _ place: Comment
    ) throws {
        bench.store.close()
        if removingIndex { try bench.folder.removeIndex("Lives") }
        bench.store = try Store.open(at: bench.folder.store, options: options)
        bench.archive = try bench.store.archive(named: "Lives")
        guard removingIndex else { return }
        // Only the accesses since the last write of each entry are lost with the index.
        let order = try bench.archive.entries(order: .leastRecentFirst).keys
        #expect(Set(order) == Set(bench.model.visible), place)
        let hidden = bench.model.order.filter(bench.model.isExpired)
        try bench.archive.removeExpired()
        for key in hidden { bench.model.lives[key] = nil }
        for key in order {
            let stamp = bench.model.stamp()
            bench.model.lives[key]?.stamp = stamp
        }
        for (id, action) in bench.model.actions {
            for (key, _) in action.removed { bench.model.actions[id]?.removed[key]?.stamp = 0 }
        }
        bench.model.actions = bench.model.actions.filter { $0.value.removed.isEmpty }
        // The model lost their positions: undo them now and compare as sets.
        while try !bench.archive.reversibleActions().isEmpty { try undoAsSet(&bench) }
    }

    private func undoAsSet(_ bench: inout Bench) throws {
        _ = try bench.archive.undo()
        // Lists omit entries that expired since their removal.
        try bench.archive.removeExpired()
        let list = try bench.archive.entries(order: .leastRecentFirst)
        let listed = try list.keys
        for key in bench.model.lives.keys where !listed.contains(key) { bench.model.lives[key] = nil }
        for index in list.indices {
            let metadata = try #require(try list.metadata(at: index))
            let value = try #require(try bench.archive.peek(metadata.key))
            let deadline = metadata.expires.map {
                ($0.microseconds - bench.hand.wall.load(ordering: .relaxed)) + bench.model.now
            }
            let stamp = bench.model.stamp()
            bench.model.lives[metadata.key] = Life(
                value: value, stamp: stamp, recorded: stamp, deadline: deadline, owner: metadata.owner)
        }
        bench.model.actions = [:]
    }

    private func compare(_ bench: Bench, _ place: Comment) throws {
        let list = try bench.archive.entries(order: .leastRecentFirst)
        #expect(try list.keys == bench.model.visible, place)
        let status = try bench.archive.status()
        let visible = bench.model.visible.compactMap { bench.model.lives[$0]?.value.count }
        #expect(status.entries == visible.count, place)
        #expect(Int(status.diskBytes) == visible.reduce(0, +), place)
        #expect(status.diskBytes <= UInt64(bench.model.limit), place)
        #expect(try bench.archive.invariantViolations() == [], place)
        for index in list.indices {
            let metadata = try #require(try list.metadata(at: index), place)
            let life = try #require(bench.model.lives[metadata.key], place)
            #expect(metadata.owner == life.owner, place)
            // Exact to the microsecond: the test's clocks stand still.
            let left = metadata.expires.map { $0.microseconds - bench.hand.wall.load(ordering: .relaxed) }
            #expect(left == life.deadline.map { $0 - bench.model.now }, place)
            #expect(try bench.archive.peek(metadata.key) == life.value, place)
        }
        var bytes: [String?: UInt64] = [:]
        for key in bench.model.visible {
            guard let life = bench.model.lives[key] else { continue }
            bytes[life.owner, default: 0] += UInt64(life.value.count)
        }
        let owners = try bench.archive.owners()
        #expect(Dictionary(uniqueKeysWithValues: owners.map { ($0.owner, $0.bytes) }) == bytes, place)
    }
}
