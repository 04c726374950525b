import StorageEngine
import TestSupport

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

private func batch(_ number: UInt64) -> Batch {
    var batch = Batch()
    for (key, value) in NumberedBatches.changes(number) {
        if let value { batch.put(value, forKey: key) } else { batch.delete(key) }
    }
    return batch
}

extension WorkerCommand {
    /// `batches STORE ARCHIVE COUNT POINT PASSING`: applies batches 1 to COUNT and says `applied NUMBER`; then one more,
    /// in which it is stopped at POINT. Without a point it goes on until it is killed.
    func applyBatches(_ arguments: WorkerArguments) throws {
        let archive = try arguments.open()
        var number: UInt64 = 0
        try archive.withPeek(NumberedBatches.keys[0]) { number = NumberedBatches.number($0) }
        let point = CrashPoint(rawValue: arguments.word(4))
        while point == nil || number < arguments.seed {
            number += 1
            try archive.apply(batch(number))
            say("applied \(number)")
        }
        if let point { CrashPoint.arm(point, passing: arguments.number(5), signal: SIGSTOP) }
        try archive.apply(batch(number + 1))
        say("done")
    }

    /// `watchBatches STORE ARCHIVE SEED STOP-FILE`: says `done LOOKS`, and `! …` for each part of a batch.
    func watchBatches(_ arguments: WorkerArguments) throws {
        let archive = try arguments.open(.readOnly)
        var random = SeededGenerator(seed: arguments.seed)
        var looks = 0
        var number: UInt64 = 0
        say("ready")
        while !(looks % 64 == 0 && exists(arguments.word(4))) {
            let order = NumberedBatches.all.shuffled(using: &random)
            let (seen, complaint) = try NumberedBatches.look(order, atLeast: number) { key in
                try archive.withPeek(key) { NumberedBatches.number($0) }
            }
            if let complaint { say("! \(complaint)") }
            number = seen
            looks += order.count
        }
        say("done \(looks)")
    }
}
