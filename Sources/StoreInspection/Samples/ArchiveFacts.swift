extension ArchiveSample {
    /// The counters and the disk usage in words.
    package var facts: [(name: String, value: String)] {
        let status = status
        guard status.configuration.kind != .log else {
            let changes = [
                "\(Figures.count(status.records)) appended", "\(Figures.count(status.evictions)) dropped",
                "\(Figures.count(status.rejections)) rejected",
            ]
            return [("file size", footprintText), ("changes", changes.joined(separator: ", "))]
        }
        let changes = [
            Figures.count(status.records, "record", "records"),
            Figures.count(status.deletes, "delete", "deletes"),
            Figures.count(status.expirations, "expiration", "expirations"),
        ]
        let limit = [
            Figures.count(status.evictions, "eviction", "evictions"),
            Figures.count(status.rejections, "rejection", "rejections"),
        ]
        let expired = Figures.count(status.expiredEntries, "entry", "entries") + ", not yet removed"
        return [
            ("file size", footprintText), ("accesses", Ratio.words(status.hits, status.misses)),
            ("changes", changes.joined(separator: ", ")),
            status.expiredEntries > 0 ? ("expired", expired) : nil, ("limit", limit.joined(separator: ", ")),
        ].compactMap { $0 }
    }

    /// The disk usage and, if it exceeds the bound, their ratio.
    private var footprintText: String {
        let bytes = Figures.bytes(status.footprint)
        guard let excess = footprintExcess else { return bytes }
        return "\(bytes), \(Figures.decimal(excess, digits: 2)) times the maximum"
    }

    /// The footprint as a multiple of its bound; `nil` within it.
    package var footprintExcess: Double? {
        status.footprint > status.footprintBound
            ? Double(status.footprint) / Double(status.footprintBound) : nil
    }
}
