import StorageEngine
import StoreInspection

/// Sendable value type. What a workload did to an archive between two moments, and how the archive is at the second.
struct DemoFigures: Sendable {
    let seconds: Double
    let hits: UInt64
    let misses: UInt64
    let records: UInt64
    let deletes: UInt64
    let evictions: UInt64
    let after: ArchiveStatus

    init(from before: ArchiveStatus, to after: ArchiveStatus, seconds: Double) {
        self.seconds = seconds
        self.after = after
        hits = after.hits &- before.hits
        misses = after.misses &- before.misses
        records = after.records &- before.records
        deletes = after.deletes &- before.deletes
        evictions = after.evictions &- before.evictions
    }

    /// Accesses, records and deletes.
    var operations: UInt64 { hits + misses + records + deletes }

    /// Of all accesses, 0...1; 0 without any.
    var hitRatio: Double { hits + misses == 0 ? 0 : Double(hits) / Double(hits + misses) }

    var members: [(name: String, value: Cell)] {
        [
            ("seconds", .decimal(seconds)), ("operations", .count(operations)),
            ("operationsPerSecond", .decimal(seconds > 0 ? Double(operations) / seconds : 0)),
            ("hits", .count(hits)), ("misses", .count(misses)), ("hitRatio", .ratio(hitRatio)),
            ("records", .count(records)), ("deletes", .count(deletes)), ("evictions", .count(evictions)),
            ("entries", .count(UInt64(after.entries))), ("diskBytes", .bytes(after.diskBytes)),
            ("diskLimit", Cell(bytes: after.configuration.diskLimit)), ("footprint", .bytes(after.footprint)),
        ]
    }

    /// One line for the person who watches.
    var progress: String {
        "\(Int(seconds.rounded())) s: \(Figures.amount(after.entries, bytes: after.diskBytes)), "
            + "\(Figures.count(operations, "operation", "operations")), hit ratio \(Figures.percent(hitRatio)), "
            + "\(Figures.count(evictions, "eviction", "evictions"))"
    }
}
