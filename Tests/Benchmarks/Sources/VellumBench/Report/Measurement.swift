/// Measurements of one system in one workload: a sample for each run.
struct Measurement {
    let workload: String
    let system: String
    private(set) var samples: [Double] = []
    /// Operations, and bytes of values, of all samples.
    private(set) var ops = 0
    private(set) var bytes = 0
    /// The ratio to the system that it is compared with; `nil` without one.
    var ratio: Double?
    var verdict: Verdict?
    /// Printed below the table.
    var notes: [String] = []

    init(_ workload: String, _ system: String) {
        self.workload = workload
        self.system = system
    }

    /// Nanoseconds per operation.
    mutating func add(nanosecondsPerOp: Double, ops: Int = 1, bytes: Int = 0) {
        samples.append(nanosecondsPerOp)
        self.ops += ops
        self.bytes += bytes
    }

    mutating func add(nanoseconds: Double, ops: Int = 1, bytes: Int = 0) {
        add(nanosecondsPerOp: nanoseconds / Double(max(1, ops)), ops: ops, bytes: bytes)
    }

    /// Compares its time with that of another, which it may be at most `most` times.
    mutating func compare(with other: Measurement, most: Double? = nil) {
        let ratio = median / other.median
        self.ratio = ratio
        if let most { verdict = .within(most, ratio: ratio) }
    }

    var median: Double {
        let sorted = samples.sorted()
        guard !sorted.isEmpty else { return .nan }
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }
    var least: Double { samples.min() ?? .nan }
    var most: Double { samples.max() ?? .nan }
}

/// A goal, and whether it was reached.
struct Verdict {
    var bar: String
    var isMet: Bool

    /// Ours must be at least `factor` times as fast.
    static func faster(by factor: Double, ratio: Double) -> Verdict {
        Verdict(bar: "≥ \(Figures.short(factor)) ×", isMet: ratio >= factor)
    }

    /// The time must be at most `factor` times that of the other.
    static func within(_ factor: Double, ratio: Double) -> Verdict {
        Verdict(bar: "≤ \(Figures.short(factor)) ×", isMet: ratio <= factor)
    }

    static func within(milliseconds: Double, nanoseconds: Double) -> Verdict {
        Verdict(bar: "≤ \(Figures.short(milliseconds)) ms", isMet: nanoseconds <= milliseconds * 1e6)
    }
}

extension [Measurement] {
    /// Runs the same operations on each system in turn, and checks that all compute the same sum.
    mutating func time(
        _ workload: String, ops: Int, bytes: Int, counts: Bool = true, on systems: [any KeyValueSystem],
        _ work: (any KeyValueSystem) throws -> UInt64
    ) throws {
        var sums: [UInt64] = []
        for system in systems {
            var sum: UInt64 = 0
            let time = try Clock.nanoseconds { sum = try work(system) }
            sums.append(sum)
            guard counts else { continue }
            add(
                workload, system.name, nanosecondsPerOp: time / Double(Swift.max(1, ops)), ops: ops,
                bytes: bytes)
        }
        guard Set(sums).count <= 1 else { throw BenchmarkError("\(workload): the values read differ") }
    }

    /// Adds a sample of a system in a workload.
    mutating func add(
        _ workload: String, _ system: String, nanosecondsPerOp: Double, ops: Int, bytes: Int = 0
    ) {
        let known = firstIndex { $0.system == system && $0.workload == workload }
        if known == nil { append(Measurement(workload, system)) }
        self[known ?? endIndex - 1].add(nanosecondsPerOp: nanosecondsPerOp, ops: ops, bytes: bytes)
    }

    /// Compares the others of one workload with the first, which is ours: a peer's time to ours, ours to the limit's.
    /// - Parameters:
    ///   - bars: how many times as fast ours must be.
    ///   - limit: the maximum time of ours as a multiple of the limit's.
    mutating func compare(bars: [String: Double] = [:], limit: Double? = nil) {
        guard let ours = first?.median else { return }
        for place in indices.dropFirst() {
            if self[place].system == LimitSystem.name {
                let ratio = ours / self[place].median
                self[place].ratio = ratio
                self[place].verdict = limit.map { .within($0, ratio: ratio) }
            } else {
                let ratio = self[place].median / ours
                self[place].ratio = ratio
                self[place].verdict = bars[self[place].system].map { .faster(by: $0, ratio: ratio) }
            }
        }
    }
}
