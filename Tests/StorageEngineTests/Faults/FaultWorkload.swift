import Foundation
import StorageEngine
import Testing

/// A fixed workload that goes on past every error, and what may be found afterwards.
final class FaultWorkload {
    /// What may be found under a key: what was acknowledged last, and what failed calls may have left instead.
    struct Expectation {
        var allowed: Set<Data?> = [nil]
    }

    private let folder: TemporaryFolder
    private let options: StoreOptions
    private(set) var collection: [String: Expectation] = [:]
    /// Every value ever stored, or tried to be, in the cache, whose entries may be evicted at any time.
    private(set) var everCached: [String: Set<Data>] = [:]
    private(set) var deletedFromCache: Set<String> = []
    private(set) var errors: [StorageError] = []
    private var store: Store?

    static let cacheLimit: UInt64 = 60_000

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
            name == "Cache"
            ? ArchiveConfiguration(diskLimit: FaultWorkload.cacheLimit)
            : ArchiveConfiguration(kind: .collection, diskLimit: nil)
        return try store.archive(named: name, orCreate: configuration)
    }

    func put(_ value: [UInt8], _ key: String) {
        let isStored = attempt { () throws(StorageError) in
            try archive("Collection").put(value, forKey: key)
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

    /// Opens a new store; puts new, overwriting and evicting entries; deletes; reopens; rebuilds; sets limits;
    /// and writes so much that segments are begun, extended, reclaimed and removed.
    func run() {
        for number in 0..<6 { put([UInt8](repeating: UInt8(number), count: 300), "key \(number)") }
        for number in 0..<8 { cache([UInt8](repeating: UInt8(number), count: 20_000), "key \(number % 5)") }
        delete("key 1")
        uncache("key 2")
        reopen(removingIndex: false)
        // More than a collection may take that holds as much: the oldest segments are reclaimed.
        for number in 0..<36 {
            put([UInt8](repeating: UInt8(number), count: 50_000 + number), "large \(number % 4)")
        }
        reopen(removingIndex: true)
        put([9, 9, 9], "key 3")
        _ = attempt { () throws(StorageError) in
            try archive("Cache").setLimits(disk: FaultWorkload.cacheLimit / 2, memory: nil)
        }
        deleteAll()
        for number in 0..<3 { put([UInt8](repeating: 77, count: 100), "last \(number)") }
        _ = attempt { () throws(StorageError) in _ = try archive("Cache").check() }
        _ = attempt { () throws(StorageError) in _ = try archive("Cache").entries() }
    }

    /// After the fault ended: the same handle works, nothing acknowledged is lost, all is consistent, also when
    /// the index is made anew.
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
                try? folder.removeIndex("Cache")
            }
            let archive = try archive("Collection")
            for (key, expectation) in collection {
                let found = try archive.peek(key).map { Data($0) }
                #expect(
                    expectation.allowed.contains(found),
                    "\(comment), \(pass): \(key) has \(found.map { "\($0.count) bytes" } ?? "nothing")")
            }
            let cache = try self.archive("Cache")
            let limit = try cache.configuration().diskLimit ?? 0
            #expect(try cache.status().diskBytes <= limit, "\(comment), \(pass)")
            for (key, values) in everCached {
                guard let found = try cache.peek(key).map({ Data($0) }) else { continue }
                #expect(values.contains(found), "\(comment), \(pass): \(key) in the cache")
                #expect(!deletedFromCache.contains(key), "\(comment), \(pass): \(key) is back in the cache")
            }
            for archive in [archive, cache] {
                let report = try archive.check()
                #expect(report.clean, "\(comment), \(pass): \(report.problems)")
                #expect(try archive.invariantViolations() == [], "\(comment), \(pass)")
            }
            store?.close()
            store = nil
        }
    }
}
