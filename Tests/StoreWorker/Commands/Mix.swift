import Foundation
import StorageEngine
import TestSupport

extension WorkerCommand {
    /// `mix STORE ARCHIVE SEED [alone]`: all operations on separate keys, until it is killed; `alone` if the archive
    /// has no other keys. Output: `Acknowledged`.
    func mix(_ arguments: WorkerArguments) throws {
        var load = MixedLoad(
            try arguments.open(), seed: arguments.seed, isAlone: arguments.word(4) == "alone")
        try load.begin()
        while true { try load.step() }
    }
}

/// Batches, conditional changes, accesses, TTLs, owners, reversible actions and their undo, memory-only entries, and
/// operations on the whole archive.
private struct MixedLoad {
    let archive: Archive
    private let prefix: String
    /// Unique to this process, so that no entry of an earlier one has it.
    private let owner: String
    private let isAlone: Bool
    private var random = SeededGenerator(seed: monotonicNow())
    private var version = monotonicNow()

    struct Known {
        var version: UInt64
        var size: Int
        var isOwned = false
        /// Nanoseconds between which it expires; 0: never, or not known yet.
        var earliestEnd: UInt64 = 0
        var latestEnd: UInt64 = 0

        /// Clocks are read one after another.
        private static let tolerance: UInt64 = 2_000_000

        var isSurelyThere: Bool { earliestEnd == 0 || monotonicNow() + Self.tolerance < earliestEnd }

        func wasOver(at time: UInt64) -> Bool { latestEnd != 0 && time > latestEnd + Self.tolerance }
    }

    /// Entries that this process stored and didn't delete, and the keys with known state.
    private var present: [String: Known] = [:]
    private var seen: Set<String> = []
    /// An action that may be undone later, and the entries that it would restore.
    private var kept: (id: UInt32, taken: [String: Known])?
    private var begun: UInt64 = 0

    init(_ archive: Archive, seed: UInt64, isAlone: Bool) {
        self.archive = archive
        self.isAlone = isAlone
        prefix = "m\(seed)-"
        owner = "owner \(seed) \(monotonicNow())"
    }

    mutating func begin() throws { if isAlone { try deleteAll() } }

    mutating func step() throws {
        if random.below(8) == 0 { usleep(UInt32(random.below(2_000))) }
        begun = monotonicNow()
        switch random.below(200) {
        case 0..<50: try put()
        case 50..<62: try perform([(key(), nil)]) { try $0.delete($1[0].key) }
        case 62..<114: try applyBatch()
        case 114..<142: try changeConditionally()
        case 142..<150: try touch()
        case 150..<164: try giveLifetime()
        case 164..<172: try act()
        case 172..<174: if let kept { try undo(kept, isWhole: true) }
        case 174..<177: try deleteOwned()
        case 177..<178: try archive.removeExpired()
        case 178..<182: try keepInMemoryOnly()
        case 182..<197: try lookAtOwn { try archive.peek($0) }
        case 197: try lookAtSnapshot()
        default: if isAlone { try changeTheWhole() }
        }
    }

    // MARK: Operations

    private mutating func key() -> String { prefix + "\(random.below(120))" }

    private mutating func keys(_ count: Int) -> [String] { Array(Set((0..<count).map { _ in key() })) }

    /// A new value. Some expire soon, some have this process's owner.
    private mutating func newValue() -> Known {
        version += 1
        let size = random.below(12) == 0 ? random.below(30_000) : random.below(2_500)
        var value = Known(version: version, size: size, isOwned: random.below(4) == 0)
        if random.below(3) == 0 { value.earliestEnd = begun + randomLifetime() }
        return value
    }

    /// Nanoseconds, in whole microseconds.
    private mutating func randomLifetime() -> UInt64 {
        UInt64(random.below(4) == 0 ? random.below(3_000_000) : random.below(200_000)) * 1_000
    }

    private func bytes(_ value: Known) -> [UInt8] {
        StoreWorker.value(version: value.version, size: value.size)
    }

    private func attributes(_ value: Known) -> EntryAttributes {
        let lifetime = value.earliestEnd == 0 ? nil : Duration.nanoseconds(Int64(value.earliestEnd - begun))
        return EntryAttributes(lifetime: lifetime, owner: value.isOwned ? owner : nil)
    }

    private typealias Change = (key: String, value: Known?)

    /// Says the changes, makes them, and says that they are acknowledged. `call` returns `false` if it changed nothing.
    @discardableResult
    private mutating func perform(
        _ changes: [Change], isWhole: Bool = true, _ call: (Archive, [Change]) throws -> Bool
    ) throws -> Bool {
        func line(_ mark: String, _ change: Change) -> String {
            guard let value = change.value else { return "\(mark) \(change.key) delete 0" }
            return
                "\(mark) \(change.key) \(value.version) \(value.size) \(value.earliestEnd) \(value.latestEnd)"
        }
        if changes.count == 1 {
            say(line(">", changes[0]))
        } else {
            let lines = changes.map { line("=", $0) } + ["> @ \(isWhole ? "whole" : "each") 0"]
            say(lines.joined(separator: "\n"))
        }
        guard try call(archive, changes) else {
            say("x")
            return false
        }
        let took = monotonicNow() - begun
        for (key, value) in changes {
            seen.insert(key)
            guard var value else {
                present[key] = nil
                continue
            }
            if value.earliestEnd != 0, value.latestEnd == 0 { value.latestEnd = value.earliestEnd + took }
            present[key] = value
            kept?.taken[key] = nil
        }
        say("< \(took)")
        return true
    }

    // MARK: One key

    private mutating func put() throws {
        let value = newValue()
        let (bytes, attributes) = (bytes(value), attributes(value))
        let isUpdate = random.below(3) == 0
        try perform([(key(), value)]) { archive, changes in
            if isUpdate {
                try archive.update(bytes, forKey: changes[0].key, attributes: attributes)
            } else {
                try archive.put(bytes, forKey: changes[0].key, attributes: attributes)
            }
            return true
        }
    }

    private mutating func changeConditionally() throws {
        let key = key()
        var value = newValue()
        guard let known = present[key] else {
            guard seen.contains(key) else { return }
            let (bytes, attributes) = (bytes(value), attributes(value))
            try perform([(key, value)]) {
                guard
                    case .stored = try $0.put(
                        bytes, forKey: $1[0].key, ifSequence: nil, attributes: attributes)
                else {
                    say("! \(key): already present")
                    return false
                }
                return true
            }
            return
        }
        switch random.below(4) {
        case 0:
            // The sequence of another value.
            let outcome = try archive.put([1], forKey: key, ifSequence: 1)
            if outcome != .changed { say("! \(key): stored despite another sequence") }
        case 1:
            // All but the value stays.
            (value.earliestEnd, value.latestEnd) = (known.earliestEnd, known.latestEnd)
            value.isOwned = known.isOwned
            let bytes = bytes(value)
            try change(key, value, .replaceValue(bytes))
        case 2: try change(key, nil, .delete)
        default:
            try change(key, value, .put(bytes(value), attributes: attributes(value)))
        }
    }

    private mutating func change(_ key: String, _ value: Known?, _ change: EntryChange) throws {
        let known = present[key]
        let isDone = try perform([(key, value)]) { archive, _ in
            var wasThere = false
            try archive.change(key) { current in
                wasThere = current != nil
                if let current, current.value.count != (known?.size ?? 0) + 8 {
                    say("! \(key): another value than was stored is changed")
                }
                return wasThere ? change : .keep
            }
            if !wasThere, known?.isSurelyThere == true { say("! \(key): nothing to change") }
            return wasThere
        }
        if !isDone { present[key] = nil }
    }

    private mutating func touch() throws {
        guard let (key, known) = present.randomElement(using: &random) else { return }
        if try !archive.touch(key), known.isSurelyThere { say("! \(key): nothing to touch") }
    }

    private mutating func giveLifetime() throws {
        guard let (key, before) = present.randomElement(using: &random) else { return }
        var known = before
        let lifetime = random.below(4) == 0 ? nil : randomLifetime()
        known.earliestEnd = lifetime.map { begun + $0 } ?? 0
        known.latestEnd = 0
        let slides = random.below(2) == 0
        let isDone = try perform([(key, known)]) { archive, _ in
            let duration = lifetime.map { Duration.nanoseconds(Int64($0)) }
            let isThere =
                if let duration, slides {
                    try archive.touch(key, lifetime: duration)
                } else {
                    try archive.setLifetime(duration, forKey: key)
                }
            // A short one may expire before the touch.
            if !isThere, before.isSurelyThere, !slides { say("! \(key): nothing to give a lifetime") }
            return isThere || (slides && before.isSurelyThere)
        }
        if !isDone { present[key] = nil }
    }

    /// Ends the entry on disk.
    private mutating func keepInMemoryOnly() throws {
        guard let key = present.keys.randomElement(using: &random) else { return }
        try perform([(key, nil)]) { archive, _ in
            _ = try archive.withHashed(key) { (key) throws(StorageError) in
                try archive.recordInMemoryOnly(key, bytes: 100)
            }
            return true
        }
        seen.remove(key)
        kept?.taken[key] = nil
    }

    private func lookAtOwn(
        from start: UInt64 = monotonicNow(), _ peek: (String) throws -> [UInt8]?
    ) throws {
        for (key, known) in present.prefix(20) {
            guard let found = try peek(key) else {
                if known.isSurelyThere {
                    say("! \(key): nothing is found where version \(known.version) was stored")
                }
                continue
            }
            if found != bytes(known) { say("! \(key): another value than was stored") }
            if known.wasOver(at: start) { say("! \(key): found expired") }
        }
    }

    private func lookAtSnapshot() throws {
        let start = monotonicNow()
        guard let snapshot = try unlessBusy({ () throws(StorageError) in try archive.snapshot() }) else {
            return
        }
        try lookAtOwn(from: start) { try snapshot.value($0) }
    }

    // MARK: Several keys

    private mutating func applyBatch() throws {
        var batch = Batch()
        var changes: [Change] = []
        for key in keys(2 + random.below(14)) {
            // The last change of a key counts.
            if random.below(10) == 0 { batch.put([1, 2, 3], forKey: key) }
            if random.below(4) == 0 {
                batch.delete(key)
                changes.append((key, nil))
                continue
            }
            let value = newValue()
            if random.below(2) == 0 {
                batch.put(bytes(value), forKey: key, attributes: attributes(value))
            } else {
                batch.update(bytes(value), forKey: key, attributes: attributes(value))
            }
            changes.append((key, value))
        }
        try perform(changes) { archive, _ in
            try archive.apply(batch)
            return true
        }
    }

    private mutating func act() throws {
        let chosen = present.filter { _ in random.below(3) == 0 }.prefix(40)
        var taken: [String: Known] = [:]
        var planned: [PlannedEntry] = []
        for (key, known) in chosen {
            guard let sequence = try archive.metadata(key)?.sequence else { continue }
            planned.append(PlannedEntry(key: key, sequence: sequence))
            taken[key] = known
        }
        guard taken.count > 1 else { return }
        let action: PlannedAction =
            switch random.below(3) {
            case 0: .delete
            case 1: .expireNow
            default: .setLifetime(.zero)
            }
        let isWhole = action != .setLifetime(.zero)
        var id: UInt32?
        try perform(taken.keys.map { ($0, nil) }, isWhole: isWhole) { archive, _ in
            id = try archive.carryOut(action, on: planned).action?.id
            return true
        }
        guard let id else { return }
        if random.below(3) > 0 {
            begun = monotonicNow()
            try undo((id, taken), isWhole: isWhole)
        } else if isWhole {
            kept = (id, taken)
        }
    }

    /// Restores all entries that were not stored again, or none if writes of others ended the undo window.
    private mutating func undo(_ action: (id: UInt32, taken: [String: Known]), isWhole: Bool) throws {
        kept = nil
        let taken = action.taken
        guard !taken.isEmpty else { return }
        try perform(taken.map { ($0, $1) }, isWhole: isWhole) { archive, _ in
            guard let outcome = try archive.undo(action.id) else { return false }
            // Expiry times are restored in a second step, and the undo window may end before it.
            guard outcome.isComplete else { return false }
            let sure = taken.values.count { $0.isSurelyThere }
            if outcome.entries < sure || outcome.entries > taken.count {
                say("! undo brought back \(outcome), of \(taken.keys.sorted())")
            }
            return true
        }
    }

    private mutating func deleteOwned() throws {
        let owned = present.filter(\.value.isOwned)
        guard !owned.isEmpty else { return }
        let owner = owner
        try perform(owned.keys.map { ($0, nil) }, isWhole: false) { archive, _ in
            try archive.deleteEntries(ofOwner: owner)
            return true
        }
    }

    // MARK: The whole archive

    private mutating func deleteAll() throws {
        begun = monotonicNow()
        say("> * delete 0")
        try archive.deleteAll()
        for key in present.keys { seen.insert(key) }
        present = [:]
        kept = nil
        say("< 0")
    }

    private mutating func changeTheWhole() throws {
        switch random.below(4) {
        case 0: try deleteAll()
        case 1:
            let taken = present
            guard taken.count > 1 else { return }
            var id: UInt32?
            try perform(taken.keys.map { ($0, nil) }, isWhole: false) { archive, _ in
                id = try archive.deleteAllReversibly().action?.id
                return true
            }
            begun = monotonicNow()
            if let id { try undo((id, taken), isWhole: true) }
        default:
            let levels: [Durability] = [.process, .full, .interval(seconds: 0.5)]
            try archive.setDurability(levels[random.below(3)])
        }
    }
}
