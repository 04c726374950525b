import Foundation

/// What all workloads are told: sizes, seeds, where to work.
struct Plan {
    let entries: Int
    let runs: Int
    let scratch: ScratchFolder
    let filter: String?
    let program: String
    let clockOverhead: UInt32

    static let valueBytes = 200
    let values = ValuePool(valueBytes: valueBytes, seed: 0x5EED)

    /// What the values of all entries add up to: the limit of the archives that are compared.
    var limit: Int { entries * Plan.valueBytes }
    /// Room for any peer's file.
    var mapBytes: Int { max(1 << 30, entries * Plan.valueBytes * 12) }

    /// Timed operations a run on an archive that is full already.
    var opsPerRun: Int { max(1, entries * 3 / 10) }

    func random(_ purpose: Int, run: Int) -> SeededGenerator {
        SeededGenerator(seed: UInt64(purpose) << 32 | UInt64(run))
    }

    /// `0..<entries` in a random order.
    func shuffledEntries(_ purpose: Int, run: Int) -> [Int] {
        var random = random(purpose, run: run)
        return (0..<entries).shuffled(using: &random)
    }

    func wants(_ workload: String) -> Bool {
        filter.map { workload.localizedCaseInsensitiveContains($0) } ?? true
    }

    func say(_ text: String) { Narration.say(text) }
}
