/// The counters of a workload between two moments, and the state at the second.
struct DemoFigures: Sendable {
    let seconds: Double
    let hits: UInt64
    let misses: UInt64
    let records: UInt64
    let deletes: UInt64
    let evictions: UInt64
    let after: [ArchiveStatus]

    /// - Precondition: `before` and `after` list the same archives in the same order.
    init(from before: [ArchiveStatus], to after: [ArchiveStatus], seconds: Double) {
        self.seconds = seconds
        self.after = after
        func sum(_ counter: KeyPath<ArchiveStatus, UInt64>) -> UInt64 {
            zip(before, after).reduce(0) { $0 &+ $1.1[keyPath: counter] &- $1.0[keyPath: counter] }
        }
        hits = sum(\.hits)
        misses = sum(\.misses)
        records = sum(\.records)
        deletes = sum(\.deletes)
        evictions = sum(\.evictions)
    }

    private var entries: Int { after.reduce(0) { $0 + $1.entries } }
    private var diskBytes: UInt64 { after.reduce(0) { $0 + $1.diskBytes } }
    private var diskLimit: UInt64 { after.reduce(0) { $0 + ($1.configuration.diskLimit ?? 0) } }
    private var footprint: UInt64 { after.reduce(0) { $0 + $1.footprint } }

    var operations: UInt64 { hits + misses + records + deletes }

    /// 0...1; 0 without any access.
    var hitRatio: Double { hits + misses == 0 ? 0 : Double(hits) / Double(hits + misses) }

    var members: [(name: String, value: Cell)] {
        [
            ("seconds", .decimal(seconds)), ("operations", .count(operations)),
            ("operationsPerSecond", .decimal(seconds > 0 ? Double(operations) / seconds : 0)),
            ("hits", .count(hits)), ("misses", .count(misses)), ("hitRatio", .ratio(hitRatio)),
            ("records", .count(records)), ("deletes", .count(deletes)), ("evictions", .count(evictions)),
            ("entries", .count(UInt64(entries))), ("diskBytes", .bytes(diskBytes)),
            ("diskLimit", .bytes(diskLimit)), ("footprint", .bytes(footprint)),
        ]
    }

    var progress: String {
        "\(Int(seconds.rounded())) s: \(Figures.amount(entries, bytes: diskBytes)), "
            + "\(Figures.count(operations, "operation", "operations")), hit ratio \(Figures.percent(hitRatio)), "
            + "\(Figures.count(evictions, "eviction", "evictions"))"
    }
}
