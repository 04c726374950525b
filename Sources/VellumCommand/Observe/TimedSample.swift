struct TimedSample: Sendable {
    let time: Timestamp
    /// Seconds of the monotonic clock.
    let moment: Double
    let figures: ArchiveSample

    init(_ archive: Archive, owners: Bool) throws(StorageError) {
        figures = try ArchiveSample(archive, owners: owners)
        time = .now()
        moment = MonotonicClock.seconds()
    }

    var name: String { figures.status.name }
}

/// Rates since the previous sample, with the current state.
struct TimedRates: Sendable {
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

    let sample: TimedSample
    let rates: ArchiveRates

    init(from before: TimedSample, to after: TimedSample) {
        sample = after
        rates = ArchiveRates(
            from: before.figures.status, to: after.figures.status, seconds: after.moment - before.moment)
    }

    var cells: [Cell] {
        let status = sample.figures.status
        return [
            .second(sample.time), .text(status.name), .count(UInt64(status.entries)),
            .bytes(status.diskBytes), .bytes(status.memoryBytes),
            rates.hitRatio.map { .ratio($0) } ?? .absent,
        ] + rates.members.map(\.value)
    }
}

extension JSONTree {
    static func store(_ samples: [TimedSample], _ rates: [TimedRates] = []) -> JSONTree {
        let archives: [JSONTree] = samples.map { sample in
            let figures = sample.figures
            var members: [(name: String, value: JSONTree)] = figures.members.map {
                ($0.name, .cell($0.value))
            }
            members.append(("processes", .array(figures.runningProcesses.map { .cells($0.members) })))
            if let owners = figures.owners {
                members.append(("owners", .array(owners.map { .cells($0.members) })))
            }
            if let rate = rates.first(where: { ExactText($0.sample.name) == ExactText(sample.name) }) {
                members.append(("rates", .cells(rate.rates.members)))
            }
            return .object(members)
        }
        return .object([
            ("time", .cell(.time(samples.last?.time ?? .now()))), ("archives", .array(archives)),
        ])
    }
}
