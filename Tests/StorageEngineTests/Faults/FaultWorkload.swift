import Foundation
import StorageEngine
import Testing

/// Fixed workload that continues after errors, with the allowed outcomes.
final class FaultWorkload {
    /// Allowed values of a key: the last acknowledged one, and those of failed calls.
    struct Expectation {
        var allowed: Set<Data?> = [nil]
    }

    private let folder: TemporaryFolder
    private let options: StoreOptions
    private(set) var collection: [String: Expectation] = [:]
    /// Every value stored or attempted in the cache, whose entries may be evicted at any time.
    private(set) var everCached: [String: Set<Data>] = [:]
    private(set) var deletedFromCache: Set<String> = []
    private(set) var errors: [StorageError] = []
    /// Every message appended or attempted, oldest first.
    private(set) var messages: [(bytes: [UInt8], isAcknowledged: Bool)] = []
    private var store: Store?

    static let cacheLimit: UInt64 = 60_000
    static let logLimit: UInt64 = 10_000

    init(_ folder: TemporaryFolder, locking: LockingMode = .automatic) {
        self.folder = folder
        options = StoreOptions(processName: "faults", locking: locking)
    }

    private func attempt(_ body: () throws(StorageError) -> Void) -> Bool {
        do throws(StorageError) {
            try body()
            return true
        } catch {
            errors.append(error)
            return false
        }
    }

    private func archive(_ name: String) throws(StorageError) -> Archive {
        if store == nil { store = try Store.open(at: folder.store, options: options) }
        guard let store else { throw .closed(name: name) }
        let configuration =
            switch name {
            case "Cache": ArchiveConfiguration(diskLimit: FaultWorkload.cacheLimit)
            case "Log": ArchiveConfiguration(kind: .log, diskLimit: FaultWorkload.logLimit)
            default: ArchiveConfiguration(kind: .collection, diskLimit: nil)
            }
        return try store.archive(named: name, orCreate: configuration)
    }

    func put(_ value: [UInt8], _ key: String, _ attributes: EntryAttributes = .none) {
        let isStored = attempt { () throws(StorageError) in
            try archive("Collection").put(value, forKey: key, attributes: attributes)
        }
        if isStored {
            collection[key] = Expectation(allowed: [Data(value)])
        } else {
            collection[key, default: Expectation()].allowed.insert(Data(value))
        }
    }

    func delete(_ key: String) {
        let isDeleted = attempt { () throws(StorageError) in try archive("Collection").delete(key) }
        if isDeleted {
            collection[key] = Expectation()
        } else {
            collection[key, default: Expectation()].allowed.insert(nil)
        }
    }

    private func deleteAll() {
        let isDone = attempt { () throws(StorageError) in _ = try archive("Collection").deleteAll() }
        for key in collection.keys {
            if isDone {
                collection[key] = Expectation()
            } else {
                collection[key]?.allowed.insert(nil)
            }
        }
    }

    // MARK: Several keys at once

    /// Values of the keys that have exactly one allowed value.
    private func certain(_ keys: [String]) -> [String: Data] {
        var found: [String: Data] = [:]
        for key in keys {
            if let allowed = collection[key]?.allowed, allowed.count == 1, let value = allowed.first ?? nil {
                found[key] = value
            }
        }
        return found
    }

    /// Runs an operation that sets these keys to these values or removes them.
    private func change(_ changes: [String: Data?], by body: () throws(StorageError) -> Void) -> Bool {
        let isDone = attempt(body)
        for (key, value) in changes {
            if isDone {
                collection[key] = Expectation(allowed: [value])
            } else {
                collection[key, default: Expectation()].allowed.insert(value)
            }
        }
        return isDone
    }

    /// Sets several keys to one value in a batch.
    private func apply(_ value: [UInt8]) {
        var batch = Batch()
        for key in Self.batchKeys { batch.put(value, forKey: key) }
        let changes = Self.batchKeys.map { ($0, Optional(Data(value))) }
        _ = change(Dictionary(uniqueKeysWithValues: changes)) { () throws(StorageError) in
            _ = try archive("Collection").apply(batch)
        }
    }

    private static let batchKeys = ["batched 0", "batched 1", "batched 2"]

    /// Compares a snapshot with look-ups.
    private func compareSnapshot() {
        _ = attempt { () throws(StorageError) in
            let archive = try archive("Collection")
            let snapshot = try archive.snapshot()
            for key in collection.keys {
                let (value, found) = (try snapshot.value(key), try archive.peek(key))
                #expect(value == found, "\(key) in a snapshot")
            }
        }
    }

    /// Removes entries with a reversible action and undoes it.
    private func removeAndUndo(_ action: PlannedAction, _ keys: [String]) {
        let taken = certain(keys)
        var id: ReversibleAction.ID?
        let isDone = change(taken.mapValues { _ in nil }) { () throws(StorageError) in
            let archive = try archive("Collection")
            id = try archive.carryOut(action, on: archive.planned(taken.keys)).action?.id
        }
        guard isDone, let id else { return }
        _ = attempt { () throws(StorageError) in _ = try archive("Collection").removeExpired() }
        let back = taken.mapValues { Optional($0) }
        guard !change(back, by: { () throws(StorageError) in _ = try archive("Collection").undo(id) }) else {
            return
        }
        // An undo that failed partway can be repeated.
        _ = change(back) { () throws(StorageError) in _ = try archive("Collection").undo(id) }
    }

    private func append(_ size: Int) {
        let bytes = repeated(UInt8(truncatingIfNeeded: messages.count), size)
        messages.append((bytes, false))
        let isDone = attempt { () throws(StorageError) in _ = try archive("Log").append(bytes) }
        messages[messages.count - 1].isAcknowledged = isDone
    }

    /// Entries with lifetimes and owners, reversible actions, and messages.
    private func live() {
        let keys = (0..<6).map { "key \($0)" }
        for action in [PlannedAction.delete, .expireNow, .setLifetime(.zero)] { removeAndUndo(action, keys) }
        for number in 0..<4 { put(repeated(5, 40), "owned \(number)", EntryAttributes(owner: "someone")) }
        _ = change(["owned 3": nil]) { () throws(StorageError) in
            _ = try archive("Collection").setLifetime(.zero, forKey: "owned 3")
        }
        let owned = (0..<4).map { ("owned \($0)", Data?.none) }
        _ = change(Dictionary(uniqueKeysWithValues: owned)) { () throws(StorageError) in
            _ = try archive("Collection").deleteEntries(ofOwner: "someone")
        }
        _ = attempt { () throws(StorageError) in
            _ = try archive("Collection").deleteIdle(longerThan: .seconds(3600))
        }
        for number in 0..<90 { append(500 + 10 * number) }
    }

    private func cache(_ value: [UInt8], _ key: String) {
        everCached[key, default: []].insert(Data(value))
        deletedFromCache.remove(key)
        _ = attempt { () throws(StorageError) in try archive("Cache").put(value, forKey: key) }
    }

    private func uncache(_ key: String) {
        let isDeleted = attempt { () throws(StorageError) in try archive("Cache").delete(key) }
        if isDeleted { deletedFromCache.insert(key) }
    }

    private func reopen(removingIndex: Bool) {
        store?.close()
        store = nil
        if removingIndex { try? folder.removeIndex("Collection") }
    }

    /// Creates a store; puts new, overwriting and evicting entries; deletes; reopens; rebuilds; sets limits; and writes
    /// enough to begin, extend, reclaim and remove segments.
    func run() {
        for number in 0..<6 { put(repeated(UInt8(number), 300), "key \(number)") }
        for number in 0..<8 { cache(repeated(UInt8(number), 20_000), "key \(number % 5)") }
        delete("key 1")
        uncache("key 2")
        live()
        reopen(removingIndex: false)
        removeAndUndo(.delete, ["key 0", "key 2", "key 4"])
        // More than the log of a collection may hold: the oldest segments are reclaimed.
        for number in 0..<36 { put(repeated(UInt8(number), 50_000 + number), "large \(number % 4)") }
        reopen(removingIndex: true)
        put([9, 9, 9], "key 3")
        _ = attempt { () throws(StorageError) in
            try archive("Cache").setLimits(disk: FaultWorkload.cacheLimit / 2, memory: nil)
        }
        deleteAll()
        for number in 0..<3 { put(repeated(77, 100), "last \(number)") }
        for number in 0..<2 { apply(repeated(UInt8(number), 1_000)) }
        compareSnapshot()
        _ = attempt { () throws(StorageError) in _ = try archive("Cache").check() }
        _ = attempt { () throws(StorageError) in _ = try archive("Cache").entries() }
    }

    /// After the fault: the handle works, acknowledged changes are present, and all is consistent, also after a
    /// rebuild.
    func verify(_ comment: String) throws {
        put([1, 2, 3], "after")
        #expect(
            collection["after"]?.allowed == [Data([1, 2, 3])],
            "\(comment): \(String(describing: errors.last))")
        store?.close()
        store = nil
        for pass in ["reopened", "rebuilt"] {
            if pass == "rebuilt" {
                try? folder.removeIndex("Collection")
                for name in ["Cache", "Log"] { try? folder.removeIndex(name) }
            }
            let archive = try archive("Collection")
            for (key, expectation) in collection {
                let found = try archive.peek(key).map { Data($0) }
                #expect(
                    expectation.allowed.contains(found),
                    "\(comment), \(pass): \(key) has \(found.map { "\($0.count) bytes" } ?? "nothing")")
            }
            let batched = try Self.batchKeys.map { (key) throws(StorageError) in try archive.peek(key) }
            #expect(Set(batched).count == 1, "\(comment), \(pass): a batch is partial")
            let cache = try self.archive("Cache")
            let limit = try cache.configuration().diskLimit ?? 0
            #expect(try cache.status().diskBytes <= limit, "\(comment), \(pass)")
            for (key, values) in everCached {
                guard let found = try cache.peek(key).map({ Data($0) }) else { continue }
                #expect(values.contains(found), "\(comment), \(pass): \(key) in the cache")
                #expect(!deletedFromCache.contains(key), "\(comment), \(pass): \(key) is back in the cache")
            }
            let log = try self.archive("Log")
            try verify(log, "\(comment), \(pass)")
            for archive in [archive, cache, log] { try archive.expectValid("\(comment), \(pass)") }
            store?.close()
            store = nil
        }
    }

    /// Acknowledged messages are present in order, unless the ring dropped them.
    private func verify(_ log: Archive, _ comment: String) throws {
        let found = try log.messages(most: .max).messages.map(\.bytes)
        let total = found.reduce(0) { $0 + $1.count }
        #expect(total <= Int(FaultWorkload.logLimit), "\(comment)")
        var rest = found[...]
        var since = 0
        for (bytes, isAcknowledged) in messages.reversed() {
            since += bytes.count
            if rest.last == bytes {
                rest.removeLast()
            } else if isAcknowledged, since <= Int(FaultWorkload.logLimit) {
                Issue.record("\(comment): a message of \(bytes.count) bytes is missing")
            } else if isAcknowledged {
                break
            }
        }
        #expect(rest.isEmpty, "\(comment): messages that were never appended, or in another order")
    }
}
