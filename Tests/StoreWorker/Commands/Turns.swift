import Foundation
import TestSupport
import CPlatform
import StorageEngine

extension WorkerCommand {
    /// `turns STORE ARCHIVE SEED PART PARTS OPERATIONS TURN-FILE KEYS LARGEST`: runs this process's part of a cache's
    /// operations. The first eight bytes of the turn file are the number of the next operation. Says `NUMBER put KEY
    /// SIZE` and `NUMBER access KEY FOUND`.
    func takeTurns(_ arguments: WorkerArguments) throws {
        let archive = try arguments.open()
        let part = arguments.number(4)
        let parts = arguments.number(5)
        let descriptor = open(arguments.word(7), O_RDWR)
        let mapped = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
        guard descriptor >= 0, let mapped, mapped != MAP_FAILED else { exit(4) }
        // Every process draws the same numbers, and so knows the owner of each operation.
        var random = SeededGenerator(seed: arguments.seed)
        var lines: [String] = []
        for number in 0..<arguments.number(6) {
            let owner = random.below(parts)
            let isPut = random.below(100) < 35
            let key = "k\(min(random.below(arguments.number(8)), random.below(arguments.number(8))))"
            let size = random.below(arguments.number(9))
            guard owner == part else { continue }
            var waits = 0
            while cp_load64(mapped) != UInt64(number) {
                waits += 1
                if waits % 64 == 0 { sched_yield() }
                if waits > 2_000_000_000 { exit(5) }
            }
            if isPut {
                try archive.put(
                    [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: size), forKey: key)
                lines.append("\(number) put \(key) \(size)")
            } else {
                let found = try archive.access(key)
                lines.append("\(number) access \(key) \(found.map { String($0.count) } ?? "-")")
            }
            cp_store64(mapped, UInt64(number + 1))
        }
        say(lines.joined(separator: "\n"))
        say("done")
    }
}
