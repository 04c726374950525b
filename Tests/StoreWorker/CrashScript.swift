import StorageEngine

/// Operations on one archive that are printed before and after with their changes, so that a test knows the allowed
/// states whenever the process dies. Output: `CrashJournal`.
struct CrashScript {
    let archive: Archive
    private var version: UInt64 = 0
    /// Version and size of each present value.
    private(set) var present: [String: (version: UInt64, size: Int)] = [:]

    init(_ archive: Archive) { self.archive = archive }

    /// Extent to which it may have happened when the process dies.
    enum Scope: String {
        /// All or nothing.
        case whole
        /// Key by key.
        case each
    }

    mutating func put(_ key: String, _ size: Int, _ attributes: EntryAttributes = .none) throws {
        version += 1
        say("> \(key) \(version) \(size)")
        try archive.put(
            StoreWorker.value(version: version, size: size), forKey: key, attributes: attributes)
        present[key] = (version, size)
        say("<")
    }

    mutating func delete(_ key: String, by operation: (String) throws -> Void) throws {
        say("> \(key) delete 0")
        try operation(key)
        present[key] = nil
        say("<")
    }

    /// Runs an operation that removes these keys, and returns their former entries.
    mutating func remove<Value>(
        _ keys: [String], _ scope: Scope, by operation: () throws -> Value
    ) throws -> (taken: [String: (version: UInt64, size: Int)], value: Value) {
        let taken = present.filter { keys.contains($0.key) }
        for key in taken.keys.sorted() { say("= \(key) delete 0") }
        say("> @ \(scope.rawValue) 0")
        let value = try operation()
        for key in taken.keys { present[key] = nil }
        say("<")
        return (taken, value)
    }

    /// Removes these keys with a reversible action.
    mutating func act(
        _ action: PlannedAction, on keys: [String], _ scope: Scope
    ) throws -> (taken: [String: (version: UInt64, size: Int)], id: UInt32) {
        let archive = archive
        var planned: [PlannedEntry] = []
        for key in keys {
            guard let sequence = try archive.metadata(key)?.sequence else { continue }
            planned.append(PlannedEntry(key: key, sequence: sequence))
        }
        let (taken, outcome) = try remove(keys, scope) { try archive.carryOut(action, on: planned) }
        return (taken, outcome.action?.id ?? 0)
    }

    /// Undoes the action, which must restore all of its entries.
    mutating func undo(
        _ done: (taken: [String: (version: UInt64, size: Int)], id: UInt32), _ scope: Scope
    ) throws {
        for (key, value) in done.taken.sorted(by: { $0.key < $1.key }) {
            say("= \(key) \(value.version) \(value.size)")
        }
        say("> @ \(scope.rawValue) \(done.id)")
        guard let outcome = try archive.undo(done.id), outcome.entries == done.taken.count else {
            return say("! action \(done.id) brought back less than it took")
        }
        present.merge(done.taken) { $1 }
        say("<")
    }

    /// Puts and deletes as one change.
    mutating func apply(puts: [String], deletes: [String], _ size: Int) throws {
        var batch = Batch()
        var stored: [String: (version: UInt64, size: Int)] = [:]
        for key in puts {
            version += 1
            say("= \(key) \(version) \(size)")
            batch.put(StoreWorker.value(version: version, size: size), forKey: key)
            stored[key] = (version, size)
        }
        for key in deletes {
            say("= \(key) delete 0")
            batch.delete(key)
        }
        say("> @ whole 0")
        try archive.apply(batch)
        for key in deletes { present[key] = nil }
        present.merge(stored) { $1 }
        say("<")
    }

    mutating func deleteAll() throws {
        say("> * delete 0")
        try archive.deleteAll()
        present = [:]
        say("<")
    }
}
