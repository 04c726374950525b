import Foundation
import StorageEngine
import TestSupport

/// A process for tests to start and kill. It changes a store and prints, unbuffered, each change before it (`> …`) and
/// each acknowledgement (`< …`).
@main
struct StoreWorker {
    static func main() {
        endWithParent()
        let arguments = Array(CommandLine.arguments.dropFirst())
        if let first = arguments.first, let command = WorkerCommand(rawValue: first) {
            command.run(WorkerArguments(arguments))
            return
        }
        if arguments.first == "crash" {
            do {
                return try CrashWorkload.main(Array(arguments.dropFirst()))
            } catch {
                say("! \(error)")
                exit(1)
            }
        }
        guard arguments.count >= 4, let seed = UInt64(arguments[3]) else {
            say("! usage: StoreWorker write|churn|… STORE ARCHIVE SEED [STOP-FILE]")
            exit(2)
        }
        do {
            let store = try Store.open(at: arguments[1], options: StoreOptions(processName: "worker \(seed)"))
            switch arguments[0] {
            case "write": try write(store, arguments[2], seed: seed)
            case "churn":
                try churn(store, arguments[2], seed: seed, stopFile: arguments.count > 4 ? arguments[4] : "")
            case "hold": try hold(store, arguments[2], seed: seed)
            default: exit(2)
            }
        } catch {
            say("! \(error)")
            exit(1)
        }
    }

    /// Ends with the test run, also if that is killed.
    private static func endWithParent() {
        let parent = getppid()
        Thread.detachNewThread {
            while getppid() == parent { usleep(200_000) }
            _exit(9)
        }
    }

    /// Puts and deletes separate keys of a collection until it is killed.
    private static func write(_ store: Store, _ name: String, seed: UInt64) throws {
        let archive = try store.archive(
            named: name, orCreate: ArchiveConfiguration(kind: .collection, diskLimit: nil))
        var random = SeededGenerator(seed: seed)
        var version = UInt64(0)
        var present: [String: (version: UInt64, size: Int)] = [:]
        while true {
            version += 1
            let key = "w\(seed)-\(random.next() % 300)"
            if random.next() % 5 == 0 {
                say("> \(key) delete 0")
                let value = present.removeValue(forKey: key)
                guard let value, version % 2 == 0, let sequence = try archive.metadata(key)?.sequence else {
                    try archive.delete(key)
                    say("<")
                    continue
                }
                let plan = [PlannedEntry(key: key, sequence: sequence)]
                let action = try archive.carryOut(.delete, on: plan).action
                say("<")
                guard let action, version % 4 == 0 else { continue }
                // Writes of others may have ended the undo window; then nothing changes.
                say("> \(key) \(value.version) \(value.size)")
                let outcome = try archive.undo(action.id)
                guard outcome?.entries == 1 else {
                    let found = try archive.metadata(key)
                    say(
                        "? \(key) undone: \(String(describing: outcome)), found: \(String(describing: found))"
                    )
                    continue
                }
                present[key] = value
            } else {
                let size = Int(random.next() % 3000)
                say("> \(key) \(version) \(size)")
                try archive.put(value(version: version, size: size), forKey: key)
                present[key] = (version, size)
            }
            say("<")
        }
    }

    /// Accesses, puts and deletes skewed keys of a cache until a file appears, then says their number.
    private static func churn(_ store: Store, _ name: String, seed: UInt64, stopFile: String) throws {
        let archive = try store.archive(named: name)
        var random = SeededGenerator(seed: seed)
        var operations = 0
        while operations % 256 != 255 || access(stopFile, F_OK) != 0 {
            let key = "key \(min(random.next() % 2000, random.next() % 2000))"
            switch random.next() % 20 {
            case 0: try archive.delete(key)
            default:
                let found = try archive.withAccess(key) { bytes in bytes.allSatisfy { $0 == bytes.first } }
                if found == false {
                    throw StorageError.corrupted(path: key, offset: 0, reason: "mixed value")
                }
                if found == nil {
                    let byte = UInt8(truncatingIfNeeded: random.next())
                    try archive.put([UInt8](repeating: byte, count: Int(random.next() % 500)), forKey: key)
                }
            }
            operations += 1
        }
        say("done \(operations)")
    }

    /// Holds an entry in memory that is also on disk, and one in memory only, until it is killed.
    private static func hold(_ store: Store, _ name: String, seed: UInt64) throws {
        let archive = try store.archive(named: name)
        try archive.put([1], forKey: "on disk \(seed)")
        if let held = try archive.access(toHold: "on disk \(seed)") {
            try archive.hold(held, bytes: 1)
        }
        _ = try archive.withHashed("worker \(seed)") { (key) throws(StorageError) in
            try archive.recordInMemoryOnly(key, bytes: 10)
        }
        while true { sleep(1) }
    }

    static func value(version: UInt64, size: Int) -> [UInt8] {
        withUnsafeBytes(of: version.littleEndian) { Array($0) }
            + [UInt8](repeating: UInt8(truncatingIfNeeded: version), count: size)
    }
}
