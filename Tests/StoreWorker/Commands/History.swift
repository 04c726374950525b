import Foundation
import TestSupport
import StorageEngine

/// One thread of `history`, and its operations, which are read after its end.
private final class HistoryThread: @unchecked Sendable {
    private let archive: Archive
    private let number: Int
    private let operations: Int
    private let keys: Int
    private let goFile: String
    private var random: SeededGenerator
    private(set) var lines: [String] = []

    init(_ archive: Archive, number: Int, arguments: WorkerArguments) {
        self.archive = archive
        self.number = number
        operations = arguments.number(5)
        keys = arguments.number(6)
        goFile = arguments.word(7)
        random = SeededGenerator(seed: arguments.seed &* 64 &+ UInt64(number))
        lines.reserveCapacity(operations)
    }

    func run() {
        while !exists(goFile) { usleep(200) }
        for operation in 0..<operations {
            do {
                lines.append(try perform(operation))
            } catch {
                lines.append("! \(error)")
                return
            }
            // Sleep sometimes, to vary the threads that run at once.
            if random.below(8) == 0 { usleep(UInt32(random.below(200))) }
        }
    }

    /// Changes some keys in a batch: `together COUNT`, and a line for each.
    private func applyBatch(_ operation: Int) throws -> String {
        let names = (0..<keys).filter { _ in random.below(2) == 0 }
        var batch = Batch()
        var changes: [(name: Int, version: UInt64)] = []
        for (place, name) in names.enumerated() {
            // Unique among the operations of this thread.
            let version = UInt64(number + 1) << 32 | UInt64(place + 1) << 24 | UInt64(operation + 1)
            if random.below(3) == 0 {
                batch.delete("h\(name)")
                changes.append((name, 0))
            } else {
                batch.put(StoreWorker.value(version: version, size: random.below(300)), forKey: "h\(name)")
                changes.append((name, version))
            }
        }
        let start = monotonicNow()
        let results = try archive.apply(batch)
        let end = monotonicNow()
        let lines = zip(changes, results).map { change, result in
            change.version == 0
                ? "\(change.name) delete 0 \(result == .deleted ? 1 : 0) \(start) \(end)"
                : "\(change.name) put \(change.version) 0 \(start) \(end)"
        }
        return (["together \(lines.count)"] + lines).joined(separator: "\n")
    }

    /// One operation as `KEY KIND VALUE RESULT START END`. Values are numbers, 0 for none; sizes vary.
    private func perform(_ operation: Int) throws -> String {
        if random.below(12) == 0 { return try applyBatch(operation) }
        let name = random.below(keys)
        let key = "h\(name)"
        switch random.below(10) {
        case 0..<4:
            let version = (UInt64(number + 1) << 32 | UInt64(operation + 1))
            let value = StoreWorker.value(
                version: version, size: random.below(8) == 0 ? 20_000 : random.below(300))
            let start = monotonicNow()
            try archive.put(value, forKey: key)
            return "\(name) put \(version) 0 \(start) \(monotonicNow())"
        case 4..<6:
            let start = monotonicNow()
            let wasThere = try archive.delete(key)
            return "\(name) delete 0 \(wasThere ? 1 : 0) \(start) \(monotonicNow())"
        case let choice:
            var version: UInt64 = 0
            let look: (UnsafeRawBufferPointer) -> Bool = { bytes in
                guard isWholeVersion(bytes) else { return false }
                version = UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
                return true
            }
            let start = monotonicNow()
            let isWhole = choice < 8 ? try archive.withPeek(key, look) : try archive.withAccess(key, look)
            let end = monotonicNow()
            if isWhole == false { return "! mixed value under \(key)" }
            return "\(name) read 0 \(version) \(start) \(end)"
        }
    }
}

extension WorkerCommand {
    /// `history STORE ARCHIVE SEED THREADS OPERATIONS KEYS GO-FILE`. SEED is below 1,000 and unique to this process.
    func recordHistory(_ arguments: WorkerArguments) throws {
        let archive = try arguments.open()
        let count = arguments.number(4)
        let threads = (0..<count).map {
            HistoryThread(archive, number: Int(arguments.seed) * 64 + $0, arguments: arguments)
        }
        let running = threads.map { thread in Background { thread.run() } }
        say("ready")
        for thread in running { try thread.wait() }
        for thread in threads { say(thread.lines.joined(separator: "\n")) }
        say("done")
    }
}
