import Foundation
import StorageEngine
import TestSupport

extension WorkerCommand {
    /// `queues STORE ARCHIVE SEED [POINT PASSING]`: operations on skewed keys of a cache, which changes its eviction policy now and then, until it is
    /// killed. Says a line when it has begun.
    func queues(_ arguments: WorkerArguments) throws {
        let archive = try arguments.open()
        var random = SeededGenerator(seed: arguments.seed)
        if let point = CrashPoint(rawValue: arguments.word(4)) {
            CrashPoint.arm(point, passing: arguments.number(5))
            try archive.setEvictionPolicy(.s3fifo)
        }
        say("begun")
        while true {
            let key = "key \(min(random.next() % 400, random.next() % 400))"
            let value = [UInt8](
                repeating: UInt8(truncatingIfNeeded: random.next()), count: Int(random.next() % 900))
            switch random.next() % 200 {
            case 0: try archive.setEvictionPolicy(random.next() % 3 == 0 ? .lru : .s3fifo)
            case 1: _ = try archive.undo()
            case 2:
                let sequence = try archive.metadata(key)?.sequence
                let plan = sequence.map { [PlannedEntry(key: key, sequence: $0)] } ?? []
                _ = try archive.carryOut(.delete, on: plan)
            case 3..<8: try archive.delete(key)
            case 8..<14:
                var batch = Batch()
                for _ in 0..<4 { batch.put(value, forKey: "key \(random.next() % 400)") }
                try archive.apply(batch)
            case 14..<18:
                _ = try archive.withHashed(key) { (key) throws(StorageError) in
                    try archive.recordInMemoryOnly(key, bytes: 100)
                }
            case 18..<24:
                try archive.put(value, forKey: key, attributes: EntryAttributes(lifetime: .milliseconds(3)))
            case 24: try archive.deleteAll()
            case 25..<80: try archive.put(value, forKey: key)
            default: if try archive.access(key) == nil { try archive.put(value, forKey: key) }
            }
        }
    }
}
