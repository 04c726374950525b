import Foundation
import StorageEngine

/// A workload that passes every crash point of the operations, and says each change and acknowledgement. The operations
/// are always the same; only the point of death differs.
enum CrashWorkload {
    /// STORE ARCHIVE run|recover POINT PASSING robust|file
    static func main(_ arguments: [String]) throws {
        guard arguments.count == 6, let passing = Int(arguments[4]),
            let point = CrashPoint(rawValue: arguments[3])
        else {
            say("! usage: StoreWorker crash STORE ARCHIVE run|recover POINT PASSING robust|file")
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
        let log = try store.archive(
            named: arguments[1] + " log", orCreate: ArchiveConfiguration(kind: .log, diskLimit: 20_000))
        if arguments[2] == "run" {
            try fill(cache)
            try append(to: log)
            try run(collection)
            try storeOnAFullDisk(store, arguments[1] + " full")
            try makeAndRemove(store, arguments[1] + " gone")
        }
        store.close()
        say("done")
    }

    private static func makeAndRemove(_ store: Store, _ name: String) throws {
        let archive = try store.archive(
            named: name, orCreate: ArchiveConfiguration(kind: .collection, diskLimit: nil))
        for number in 0..<3 { try archive.put([UInt8(number)], forKey: "gone \(number)") }
        try store.removeArchive(named: name)
    }

    /// Evictions by puts and by a smaller limit; many small entries evicted for a large one, which shrinks the index;
    /// and an entry in memory only.
    private static func fill(_ cache: Archive) throws {
        for number in 0..<8_300 { try cache.put([UInt8(number & 255)], forKey: "tiny \(number)") }
        let tiny = try (8_000..<8_020).compactMap { number in
            try cache.metadata("tiny \(number)").map {
                PlannedEntry(key: "tiny \(number)", sequence: $0.sequence)
            }
        }
        _ = try cache.carryOut(.delete, on: tiny)
        var version: UInt64 = 0
        func put(_ key: String, _ size: Int) throws {
            version += 1
            say("? \(key) \(version) \(size)")
            try cache.put(StoreWorker.value(version: version, size: size), forKey: key)
        }
        try put("cached 0", 19_900)
        for number in 0..<30 { try put("cached \(number % 25)", 2000) }
        // An undo that evicts others.
        let removed = try cache.deleteAllReversibly()
        // Under other keys: keys stored again would not be restored.
        for number in 5..<10 { try put("cached \(number)", 2000) }
        _ = try cache.undo(removed.action?.id)
        var batch = Batch()
        for number in 0..<3 {
            version += 1
            say("? cached \(number) \(version) 3000")
            batch.put(StoreWorker.value(version: version, size: 3000), forKey: "cached \(number)")
        }
        try cache.apply(batch)
        _ = try cache.withHashed("cached 29") { (key) throws(StorageError) in
            try cache.recordInMemoryOnly(key, bytes: 1000)
        }
        try cache.setLimits(disk: 10_000, memory: nil)
        try cache.setEvictionPolicy(.s3fifo)
        for number in 0..<12 {
            try put("queued \(number % 9)", 2000)
            for _ in 0..<2 { _ = try cache.access("queued \(number / 2)") }
        }
        try cache.setEvictionPolicy(.lru)
    }

    /// A ring that wraps around and shrinks.
    private static func append(to log: Archive) throws {
        var version: UInt64 = 0
        func append(_ count: Int) throws {
            for _ in 0..<count {
                version += 1
                let size = 300 + 100 * Int(version % 9)
                say("m> \(version) \(size)")
                try log.append(StoreWorker.value(version: version, size: size))
                say("m<")
            }
        }
        try append(230)
        say("l> 10000")
        try log.setLimits(disk: 10_000, memory: nil)
        say("m<")
        try append(20)
    }

    /// A disk that is full until a file is removed: the oldest segments are dropped, and a stale index frees space for
    /// the next.
    private static func storeOnAFullDisk(_ store: Store, _ name: String) throws {
        let folder = store.path + "/" + name.replacingOccurrences(of: " ", with: "%20") + ".archive"
        let plan = FaultPlan(.fails(ENOSPC), call: .allocate, under: folder, number: 1, isLasting: true)
        let observer = SystemFaults.observe(under: folder) { event in
            // The request trace is too small to help.
            guard case .unlinked(let path) = event, !path.hasSuffix(".new"), !path.hasSuffix("/requests")
            else { return }
            SystemFaults.remove(plan)
        }
        defer { SystemFaults.endObserving(observer) }
        let cache = try store.archive(named: name, orCreate: ArchiveConfiguration(diskLimit: 1_000_000))
        for number in 0..<90 {
            try cache.put(StoreWorker.value(version: UInt64(number), size: 4_000), forKey: "\(number)")
            if number == 60 { SystemFaults.install(plan) }
        }
        cache.close()
        let index = try FileHandle(forUpdating: URL(fileURLWithPath: folder + "/index"))
        try index.seek(toOffset: 12)
        try index.write(contentsOf: [3, 0, 0, 0])
        try index.close()
        SystemFaults.install(plan)
        try store.archive(named: name).put([1], forKey: "last")
        SystemFaults.remove(plan)
    }

    private static func run(_ archive: Archive) throws {
        var script = CrashScript(archive)
        for number in 0..<30 { try script.put("old \(number % 20)", 50 * number) }
        for number in 0..<5 { try script.delete("old \(number)") { try archive.delete($0) } }
        for round in 0..<3 {
            try script.apply(
                puts: (0..<8).map { "old \(5 + 2 * $0 + round % 2)" } + ["fresh \(round)"],
                deletes: ["old \(21 + round)", "fresh \(round - 1)"], 400)
        }
        // Segments are created, extended, reclaimed and removed.
        for number in 0..<45 {
            try script.put("large \(number % 5)", 50_000)
            try script.put("kept \(number)", 200)
        }
        try archive.setDurability(.full)
        for number in 0..<3 { try script.put("synced \(number)", 500) }
        try archive.setDurability(.process)
        try runReversibly(&script)
        try runLifetimes(&script)
        // More entries than one chunk of the index has.
        for number in 0..<1040 { try script.put("small \(number)", 3) }
        let all = try script.remove(Array(script.present.keys), .each) {
            try archive.deleteAllReversibly().action?.id ?? 0
        }
        try script.undo((all.taken, all.value), .whole)
        try script.deleteAll()
        for number in 0..<3 { try script.put("last \(number)", 100) }
    }

    /// Deletes entries all over the log and undoes it, while segments are reclaimed.
    private static func runReversibly(_ script: inout CrashScript) throws {
        let kept = (0..<45).map { "kept \($0)" }
        for round in 0..<6 {
            let done = try script.act(.delete, on: kept, .whole)
            for number in 0..<2 { try script.put("large \((2 * round + number) % 5)", 20_000) }
            try script.undo(done, .whole)
        }
        // Further writes end their undo window.
        _ = try script.act(.delete, on: Array(kept[..<10]), .whole)
        for number in 0..<8 { try script.put("large \(number % 5)", 50_000) }
        let expired = try script.act(.expireNow, on: Array(kept[10..<20]), .whole)
        try script.undo(expired, .whole)
        // A later value of one key: the first action no longer restores that key, the second does.
        let first = try script.act(.delete, on: ["kept 20", "kept 21"], .whole)
        try script.put("kept 20", 77)
        let second = try script.act(.delete, on: ["kept 20"], .whole)
        try script.undo((first.taken.filter { $0.key == "kept 21" }, first.id), .whole)
        try script.undo(second, .whole)
    }

    private static func runLifetimes(_ script: inout CrashScript) throws {
        let archive = script.archive
        for number in 0..<4 { try script.put("brief \(number)", 300 + number) }
        try archive.setLifetime(.seconds(3600), forKey: "brief 0")
        let expiring = try script.act(
            .setLifetime(.zero), on: (0..<4).map { "brief \($0)" }, .each)
        try archive.removeExpired()
        try script.undo(expiring, .each)
        try script.delete("brief 1") { try archive.setLifetime(.zero, forKey: $0) }
        try archive.removeExpired()
        for number in 0..<4 { try script.put("owned \(number)", 20, EntryAttributes(owner: "crash")) }
        _ = try script.remove((0..<4).map { "owned \($0)" }, .whole) {
            try archive.deleteEntries(ofOwner: "crash")
        }
        try script.put("resident", 10)
        try script.delete("resident") {
            _ = try archive.withHashed($0) { (key) throws(StorageError) in
                try archive.recordInMemoryOnly(key, bytes: 100)
            }
        }
    }
}
