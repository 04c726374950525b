import StorageEngine

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A workload that comes past every crash point of the operations, and says what it is about to do and what was
/// acknowledged. Its operations are the same every time: what differs is where it dies.
enum CrashWorkload {
    /// STORE ARCHIVE run|recover POINT PASSING robust|file
    static func main(_ arguments: [String]) throws {
        guard arguments.count == 6, let passing = Int(arguments[4]),
            let point = CrashPoint(rawValue: arguments[3])
        else {
            StoreWorker.say("! usage: StoreWorker crash STORE ARCHIVE run|recover POINT PASSING robust|file")
            exit(2)
        }
        CrashPoint.arm(point, passing: passing)
        let locking: LockingMode = arguments[5] == "file" ? .fileLock : .robustMutex
        let store = try Store.open(
            at: arguments[0], options: StoreOptions(processName: "crash", locking: locking))
        let collection = try store.archive(
            named: arguments[1], orCreate: ArchiveConfiguration(kind: .collection, diskLimit: nil))
        let cache = try store.archive(
            named: arguments[1] + " cache", orCreate: ArchiveConfiguration(diskLimit: 20_000))
        if arguments[2] == "run" { try run(collection, cache) }
        store.close()
        StoreWorker.say("done")
    }

    private static func run(_ archive: Archive, _ cache: Archive) throws {
        var version: UInt64 = 0
        func put(_ key: String, _ size: Int) throws {
            version += 1
            StoreWorker.say("> \(key) \(version) \(size)")
            try archive.put(StoreWorker.value(version: version, size: size), forKey: key)
            StoreWorker.say("<")
        }
        func delete(_ key: String) throws {
            StoreWorker.say("> \(key) delete 0")
            try archive.delete(key)
            StoreWorker.say("<")
        }
        for number in 0..<30 { try put("old \(number % 20)", 50 * number) }
        for number in 0..<5 { try delete("old \(number)") }
        // Evictions, by puts and by a smaller limit.
        for number in 0..<30 {
            version += 1
            let key = "cached \(number % 25)"
            StoreWorker.say("? \(key) \(version) 2000")
            try cache.put(StoreWorker.value(version: version, size: 2000), forKey: key)
        }
        try cache.setLimits(disk: 10_000, memory: nil)
        // Segments are begun, extended, reclaimed and removed.
        for number in 0..<45 { try put("large \(number % 5)", 50_000) }
        try archive.setDurability(.full)
        for number in 0..<3 { try put("synced \(number)", 500) }
        try archive.setDurability(.process)
        // More entries than one chunk of the index has.
        for number in 0..<1040 { try put("small \(number)", 3) }
        StoreWorker.say("> * delete 0")
        try archive.deleteAll()
        StoreWorker.say("<")
        for number in 0..<3 { try put("last \(number)", 100) }
    }
}
