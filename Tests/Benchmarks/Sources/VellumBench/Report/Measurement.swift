/// What was measured of one system in one workload: a sample a run.
struct Measurement {
    let workload: String
    let system: String
    private(set) var samples: [Double] = []
    /// Operations, and bytes of values, of all samples together.
    private(set) var ops = 0
    private(set) var bytes = 0
    /// How it compares with what it is judged by; `nil`: nothing to compare.
    var ratio: Double?
    var verdict: Verdict?

    init(_ workload: String, _ system: String) {
        self.workload = workload
        self.system = system
    }

    /// Nanoseconds an operation.
    mutating func add(nanosecondsPerOp: Double, ops: Int, bytes: Int) {
        samples.append(nanosecondsPerOp)
        self.ops += ops
        self.bytes += bytes
    }

    mutating func add(nanoseconds: Double, ops: Int, bytes: Int) {
        add(nanosecondsPerOp: nanoseconds / Double(max(1, ops)), ops: ops, bytes: bytes)
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

/// A bar, and whether it was met.
struct Verdict {
    var bar: String
    var isMet: Bool

    /// Ours is to be at least `factor` times as fast.
    static func faster(by factor: Double, ratio: Double) -> Verdict {
        Verdict(bar: "≥ \(Figures.short(factor)) ×", isMet: ratio >= factor)
    }

    /// The time is to be at most `factor` times that of the other.
    static func within(_ factor: Double, ratio: Double) -> Verdict {
        Verdict(bar: "≤ \(Figures.short(factor)) ×", isMet: ratio <= factor)
    }

    static func within(milliseconds: Double, nanoseconds: Double) -> Verdict {
        Verdict(bar: "≤ \(Figures.short(milliseconds)) ms", isMet: nanoseconds <= milliseconds * 1e6)
    }
}
