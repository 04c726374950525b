import StorageEngine

/// An archive at one moment, with the members of its status and configuration.
@dynamicMemberLookup
package struct ArchiveSample: Sendable, Hashable {
    package var status: ArchiveStatus
    /// Identifies an archive among successive ones of the same name, or a run of a server; empty if unknown.
    package var identity: [UInt8] = []
    /// Identifies the index. A rebuilt index has another value, and its counters begin at 0.
    package var indexSalt: UInt64 = 0
    package var processes: [AttachedProcess] = []
    /// Number of the next event; grows with each change.
    package var nextEvent: UInt64 = 0
    /// The owners' totals; nil if not requested.
    package var owners: [OwnerSummary]?
    /// Why a segment with entries can't be read; nil if all can be read, or if they weren't checked.
    package var lostSegment: String?
    /// Why the archive couldn't be read, in one line; figures are then invalid.
    package var problem: String?

    package init(_ archive: Archive, owners: Bool = false) throws(StorageError) {
        status = try archive.status()
        (identity, indexSalt) = (try archive.identity(), try archive.indexSalt())
        nextEvent = try archive.nextEvent()
        processes = try archive.processes()
        self.owners = owners && status.configuration.kind != .log ? try archive.owners() : nil
    }

    package init(name: String, kind: ArchiveKind = .cache, typeName: String = "") {
        status = ArchiveStatus(
            name: name,
            configuration: ArchiveConfiguration(
                kind: kind, diskLimit: nil, memoryLimit: nil, typeName: typeName))
    }

    package subscript<Member>(dynamicMember path: WritableKeyPath<ArchiveStatus, Member>) -> Member {
        get { status[keyPath: path] }
        set { status[keyPath: path] = newValue }
    }

    package subscript<Member>(dynamicMember path: KeyPath<ArchiveStatus, Member>) -> Member {
        status[keyPath: path]
    }

    package subscript<Member>(dynamicMember path: WritableKeyPath<ArchiveConfiguration, Member>) -> Member {
        get { status.configuration[keyPath: path] }
        set { status.configuration[keyPath: path] = newValue }
    }

    /// Whether two samples are of the same archive without a change in between.
    package func isSame(as other: ArchiveSample) -> Bool {
        (identity, nextEvent) == (other.identity, other.nextEvent)
    }

    package var isDamaged: Bool { status.damagedPlaces > 0 || lostSegment != nil }
    /// A warning that entries or messages may be missing.
    package var damage: String? { isDamaged ? "log damaged: some may be missing" : nil }

    package var runningProcesses: [AttachedProcess] { processes.filter(\.isAlive) }

    /// All facts, with their names in JSON.
    package var members: [(name: String, value: Cell)] {
        let configuration = status.configuration
        let policy = configuration.kind == .cache ? "\(configuration.evictionPolicy)" : nil
        return [
            ("archive", .text(status.name)), ("kind", .text("\(configuration.kind)")),
            ("type", Cell(configuration.typeName.isEmpty ? nil : configuration.typeName)),
            ("entries", .count(UInt64(status.entries))),
            ("memoryBytes", .bytes(status.memoryBytes)),
            ("memoryLimit", Cell(bytes: configuration.memoryLimit)), ("diskBytes", .bytes(status.diskBytes)),
            ("diskLimit", Cell(bytes: configuration.diskLimit)), ("footprint", .bytes(status.footprint)),
            ("hits", .count(status.hits)), ("misses", .count(status.misses)),
            ("hitRatio", status.hitRatio.map { .ratio($0) } ?? .absent),
            ("records", .count(status.records)),
            ("deletes", .count(status.deletes)), ("evictions", .count(status.evictions)),
            ("expirations", .count(status.expirations)), ("rejections", .count(status.rejections)),
            // A server's policy is not that of an archive.
        ] + (identity.isEmpty ? [] : [("evictionPolicy", Cell(policy))])
    }
}

extension ArchiveStatus {
    /// Share of all accesses that hit, 0 to 1; nil before the first access.
    package var hitRatio: Double? { Ratio.of(hits, misses) }

    /// Share of the disk limit in use, 0 to 1; nil without a limit.
    package var diskShare: Double? { Ratio.share(diskBytes, of: configuration.diskLimit) }
    package var memoryShare: Double? { Ratio.share(memoryBytes, of: configuration.memoryLimit) }

    /// Maximum disk usage: 1.25 × (limit or, if larger, values + 128 bytes × entries + undo records) + 1 MiB + request trace.
    package var footprintBound: UInt64 {
        let values = Double(max(configuration.diskLimit ?? 0, diskBytes))
        let parts = values + 128 * Double(max(0, entries)) + Double(undoBytes)
        return UInt64(min(1.25 * parts + 1_048_576 + Double(requestBytes), 1e18))
    }
}

extension AttachedProcess {
    /// Share of the process's accesses that hit, 0 to 1; nil before the first access.
    package var hitRatio: Double? { Ratio.of(hits, misses) }

    package var members: [(name: String, value: Cell)] {
        [
            ("pid", .count(UInt64(clamping: pid))), ("name", .text(name)), ("attached", .time(attached)),
            ("hits", .count(hits)), ("misses", .count(misses)), ("memoryBytes", .bytes(memoryBytes)),
            // In the process table, 0 means no limit.
            ("memoryLimit", Cell(bytes: memoryLimit == 0 ? nil : memoryLimit)),
        ]
    }
}

extension OwnerSummary {
    package var members: [(name: String, value: Cell)] {
        [
            ("owner", Cell(owner)), ("entries", .count(UInt64(entries))), ("bytes", .bytes(bytes)),
            ("hits", .count(hits)),
        ]
    }
}

package enum Ratio {
    /// `overall hit ratio 92.4%: 9,240 hits, 760 misses`
    package static func words(_ hits: UInt64, _ misses: UInt64) -> String {
        (of(hits, misses).map { "overall hit ratio \(Figures.percent($0)): " } ?? "")
            + "\(Figures.count(hits, "hit", "hits")), \(Figures.count(misses, "miss", "misses"))"
    }

    static func of(_ hits: UInt64, _ misses: UInt64) -> Double? {
        let accesses = Double(hits) + Double(misses)
        return accesses > 0 ? Double(hits) / accesses : nil
    }

    static func share(_ bytes: UInt64, of limit: UInt64?) -> Double? {
        limit.flatMap { $0 > 0 ? Double(bytes) / Double($0) : nil }
    }
}

/// Changes of an archive between two samples, per second.
package struct ArchiveRates: Sendable, Hashable {
    package let hits: Double
    package let misses: Double
    package let records: Double
    package let deletes: Double
    package let evictions: Double
    package let expirations: Double

    package init(from before: ArchiveStatus, to after: ArchiveStatus, seconds: Double) {
        func rate(_ counter: KeyPath<ArchiveStatus, UInt64>) -> Double {
            // Counters of a recreated archive restart at 0.
            let (old, new) = (before[keyPath: counter], after[keyPath: counter])
            return Double(new >= old ? new - old : new) / max(seconds, 1e-6)
        }
        hits = rate(\.hits)
        misses = rate(\.misses)
        records = rate(\.records)
        deletes = rate(\.deletes)
        evictions = rate(\.evictions)
        expirations = rate(\.expirations)
    }

    /// Share of accesses that hit, 0 to 1; nil without accesses.
    package var hitRatio: Double? { hits + misses > 0 ? hits / (hits + misses) : nil }
    package var operations: Double { hits + misses + records + deletes }

    package var members: [(name: String, value: Cell)] {
        [
            ("hits", .rate(hits)), ("misses", .rate(misses)), ("records", .rate(records)),
            ("deletes", .rate(deletes)), ("evictions", .rate(evictions)), ("expirations", .rate(expirations)),
        ]
    }
}

/// An event of an archive, with the event's members.
@dynamicMemberLookup
package struct StoreEvent: Sendable, Hashable {
    /// The change that removed an archive's name.
    package enum Removal: Sendable, Hashable {
        case dropped
        case renamed(to: String)
    }

    package var archive: String
    /// A removal is a delete without a key.
    package var event: ArchiveEvent
    package private(set) var removal: Removal?

    package init(archive: String, _ event: ArchiveEvent) {
        self.archive = archive
        self.event = event
    }

    package init(archive: String, _ removal: Removal, at time: Timestamp) {
        self.init(archive: archive, ArchiveEvent(.delete, .none, key: nil, time: time))
        self.removal = removal
    }

    package var label: String {
        switch removal {
        case .dropped: "dropped"
        case .renamed: "renamed"
        case nil: event.kind.label
        }
    }

    /// The key in a table; for a renamed archive, its new name.
    package func keyCell(ellipsis: String) -> String {
        switch removal {
        case .dropped: ""
        case .renamed(let new): "to \(new)"
        case nil: event.keyCell(ellipsis: ellipsis)
        }
    }

    package subscript<Member>(dynamicMember path: KeyPath<ArchiveEvent, Member>) -> Member {
        event[keyPath: path]
    }
}
