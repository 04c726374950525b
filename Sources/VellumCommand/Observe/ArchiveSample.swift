import StorageEngine

/// Sendable value type. An archive's figures at one moment.
struct ArchiveSample: Sendable {
    let time: Timestamp
    /// On a clock that nobody sets, in seconds.
    let moment: Double
    let status: ArchiveStatus
    let processes: [AttachedProcess]
    /// Nil: nobody asked.
    let owners: [OwnerSummary]?

    init(_ archive: Archive, owners: Bool) throws(StorageError) {
        status = try archive.status()
        processes = try archive.processes()
        self.owners = owners && status.configuration.kind != .log ? try archive.owners() : nil
        time = .now()
        moment = MonotonicClock.seconds()
    }

    /// Of all accesses, 0...1; nil without any.
    var hitRatio: Double? {
        let accesses = Double(status.hits) + Double(status.misses)
        return accesses > 0 ? Double(status.hits) / accesses : nil
    }

    /// What there is to say of it, with the names of JSON.
    var members: [(name: String, value: Cell)] {
        let configuration = status.configuration
        return [
            ("archive", .text(status.name)), ("kind", .text("\(configuration.kind)")),
            ("type", Cell(configuration.typeName.isEmpty ? nil : configuration.typeName)),
            ("entries", .count(UInt64(status.entries))),
            ("memoryBytes", .bytes(status.memoryBytes)),
            ("memoryLimit", Cell(bytes: configuration.memoryLimit)), ("diskBytes", .bytes(status.diskBytes)),
            ("diskLimit", Cell(bytes: configuration.diskLimit)), ("footprint", .bytes(status.footprint)),
            ("hits", .count(status.hits)), ("misses", .count(status.misses)),
            ("hitRatio", hitRatio.map { .decimal($0) } ?? .absent), ("records", .count(status.records)),
            ("deletes", .count(status.deletes)), ("evictions", .count(status.evictions)),
            ("expirations", .count(status.expirations)), ("rejections", .count(status.rejections)),
        ]
    }

    static func members(of process: AttachedProcess) -> [(name: String, value: Cell)] {
        [
            ("pid", .count(UInt64(clamping: process.pid))), ("name", .text(process.name)),
            ("attached", .time(process.attached)), ("hits", .count(process.hits)),
            ("misses", .count(process.misses)), ("memoryBytes", .bytes(process.memoryBytes)),
            // The process table has 0 for no limit.
            ("memoryLimit", Cell(bytes: process.memoryLimit == 0 ? nil : process.memoryLimit)),
        ]
    }

    static func members(of owner: OwnerSummary) -> [(name: String, value: Cell)] {
        [
            ("owner", Cell(owner.owner)), ("entries", .count(UInt64(owner.entries))),
            ("bytes", .bytes(owner.bytes)), ("hits", .count(owner.hits)),
        ]
    }

    /// Those that live; the lines of others are given back when the next process opens the archive.
    var living: [AttachedProcess] { processes.filter(\.isAlive) }
}

/// Sendable value type. What happened to an archive between two samples, a second.
struct ArchiveRates: Sendable {
    static let columns = [
        Column("time", title: "TIME", width: 8), Column("archive", title: "ARCHIVE"),
        Column("entries", title: "ENTRIES", width: 7, isNumber: true),
        Column("diskBytes", title: "DISK", width: 8, isNumber: true, dropped: 4),
        Column("memoryBytes", title: "MEMORY", width: 8, isNumber: true, dropped: 1),
        Column("hitRatio", title: "RATIO", isNumber: true),
        Column("hits", title: "HITS/S", width: 6, isNumber: true),
        Column("misses", title: "MISS/S", isNumber: true, dropped: 5),
        Column("records", title: "REC/S", width: 6, isNumber: true),
        Column("deletes", title: "DEL/S", isNumber: true, dropped: 3),
        Column("evictions", title: "EVICT/S", isNumber: true),
        Column("expirations", title: "EXP/S", isNumber: true, dropped: 2),
    ]

    let sample: ArchiveSample
    let members: [(name: String, value: Double)]

    init(from before: ArchiveSample, to after: ArchiveSample) {
        sample = after
        let seconds = max(after.moment - before.moment, 1e-6)
        func rate(_ counter: KeyPath<ArchiveStatus, UInt64>) -> Double {
            // An archive that was made anew under the same name counts from 0.
            let (old, new) = (before.status[keyPath: counter], after.status[keyPath: counter])
            return Double(new >= old ? new - old : new) / seconds
        }
        members = [
            ("hits", rate(\.hits)), ("misses", rate(\.misses)), ("records", rate(\.records)),
            ("deletes", rate(\.deletes)), ("evictions", rate(\.evictions)),
            ("expirations", rate(\.expirations)),
        ]
    }

    var cells: [Cell] {
        let status = sample.status
        let accesses = members[0].value + members[1].value
        let figures: [Cell] = [
            .second(sample.time), .text(status.name), .count(UInt64(status.entries)),
            .bytes(status.diskBytes), .bytes(status.memoryBytes),
            accesses > 0 ? .decimal(members[0].value / accesses) : .absent,
        ]
        return figures + members.map { .rate($0.value) }
    }
}

extension JSONTree {
    /// The figures of a store's archives as one object.
    static func store(_ samples: [ArchiveSample], _ rates: [ArchiveRates] = []) -> JSONTree {
        let archives: [JSONTree] = samples.map { sample in
            var members: [(name: String, value: JSONTree)] = sample.members.map { ($0.name, .cell($0.value)) }
            members.append(
                ("processes", .array(sample.living.map { .cells(ArchiveSample.members(of: $0)) })))
            if let owners = sample.owners {
                members.append(("owners", .array(owners.map { .cells(ArchiveSample.members(of: $0)) })))
            }
            if let rate = rates.first(where: { $0.sample.status.name == sample.status.name }) {
                members.append(("rates", .cells(rate.members.map { ($0.name, .rate($0.value)) })))
            }
            return .object(members)
        }
        return .object([
            ("time", .cell(.time(samples.last?.time ?? .now()))), ("archives", .array(archives)),
        ])
    }
}
