import CacheSimulation

/// What `vellum advise ARCHIVE` prints.
struct AdviceText {
    private static let mostGroups = 10
    private static let mostExpiries = 3

    private let advice: ArchiveAdvice
    private let archive: Archive
    private let store: String?
    private let policies: [CachePolicy]

    init(_ advice: ArchiveAdvice, of archive: Archive, _ store: String?, _ policies: [CachePolicy]) {
        (self.advice, self.archive, self.store, self.policies) = (advice, archive, store, policies)
    }

    func write(to output: OutputWriter) throws(SourceError) {
        try output.write(heading)
        let points = advice.points.filter { policies.contains($0.policy) }
        let columns = advice.points.map(\.policy).reduce(into: [CachePolicy]()) {
            if policies.contains($1), !$0.contains($1) { $0.append($1) }
        }
        try CurveText(points, columns, unit: .bytes, present: Int(advice.limit)).write(to: output)
        try writeExpired(to: output)
        try writeGroups(to: output)
        try output.write("\n\(advice.sentence)\n")
        if let doubt = advice.doubt { try output.write(doubt + "\n") }
        if let sufficient = advice.advice?.sufficientLimit {
            try output.write(
                "About \(Figures.bytes(UInt64(sufficient))) are enough for 95% of the present hits.\n")
        }
        guard let options = advice.resizeOptions else { return }
        let place = store.map { " --store " + ShellWord.quoted($0) } ?? ""
        try output.write("  vellum resize\(place) \(ShellWord.quoted(archive.name)) \(options)\n")
    }

    private var heading: String {
        let keys = advice.rate < 1 ? "\(Figures.percent(advice.rate)) of the keys" : "all keys"
        let simulated = advice.hitRatio(advice.policy, limit: Int(advice.limit)).map {
            ", \(Figures.percent($0)) simulated"
        }
        return
            "\(TerminalSafe.column(archive.name)): limit \(Figures.bytes(advice.limit)), \(advice.policy.title)\n"
            + "\(Figures.count(advice.reads, "read", "reads")) of \(keys) in \(Figures.duration(advice.seconds)); hit ratio "
            + "\(Figures.percent(advice.measured)) measured\(simulated ?? "")\n\n"
    }

    private func writeExpired(to output: OutputWriter) throws(SourceError) {
        let costs = advice.expired.filter { $0.share >= 0.001 }
        guard !costs.isEmpty else { return }
        let list = costs.prefix(Self.mostExpiries).map {
            "\(Figures.percent($0.share)) with a TTL of \(Figures.duration($0.timeToLive))"
        }
        let more = costs.count - list.count
        try output.write(
            "\nReads of expired entries, as share of all reads: " + list.joined(separator: ", ")
                + (more > 0 ? ", and \(Figures.count(more)) more TTLs" : "") + "\n")
    }

    private func writeGroups(to output: OutputWriter) throws(SourceError) {
        guard advice.groups.count > 1 else { return }
        try output.write("\n")
        let title = advice.grouping == .owner ? "OWNER" : "PREFIX"
        var table = RowPrinter(
            [
                Column("name", title: title), Column("size", title: "SIZE"), Column("reads", title: "READS"),
                Column("hitRatio", title: "HIT RATIO"),
            ], layout: .table, output: output)
        for group in advice.groups.prefix(Self.mostGroups) {
            try table.print([
                .text(group.name), .ratio(group.size), .ratio(group.reads), .ratio(group.hitRatio),
            ])
        }
        try table.end()
        let more = advice.groups.count - Self.mostGroups
        if more > 0 { try output.write("and \(Figures.count(more)) more\n") }
    }
}

extension JSONTree {
    init(_ advice: ArchiveAdvice, of archive: String, _ policies: [CachePolicy]) {
        var members: [(name: String, value: JSONTree)] = [
            ("archive", .text(archive)), ("limit", .count(advice.limit)),
            ("policy", .text(advice.policy.rawValue)), ("requests", .count(advice.reads)),
            ("seconds", .cell(.decimal(advice.seconds))), ("sampledKeys", .cell(.ratio(advice.rate))),
            ("hitRatio", .cell(.ratio(advice.measured))),
            ("points", .points(advice.points.filter { policies.contains($0.policy) })),
            (
                "expired",
                .array(
                    advice.expired.map {
                        .object([("ttl", .cell(.decimal($0.timeToLive))), ("share", .cell(.ratio($0.share)))])
                    })
            ),
            (
                advice.grouping == .owner ? "owners" : "prefixes",
                .array(
                    advice.groups.map {
                        .object([
                            ("name", .text($0.name)), ("size", .cell(.ratio($0.size))),
                            ("reads", .cell(.ratio($0.reads))), ("hitRatio", .cell(.ratio($0.hitRatio))),
                        ])
                    })
            ),
            ("advice", .text(advice.sentence)),
        ]
        if let sufficient = advice.advice?.sufficientLimit {
            members.append(("sufficientLimit", .count(sufficient)))
        }
        if let options = advice.resizeOptions { members.append(("resize", .text(options))) }
        self = .object(members)
    }

    static func points(_ points: [MissRatioCurve.Point]) -> JSONTree {
        .array(
            points.map {
                .object([
                    ("limit", .count($0.limit)), ("policy", .text($0.policy.rawValue)),
                    ("hitRatio", .cell(.ratio($0.hitRatio))),
                ])
            })
    }
}
