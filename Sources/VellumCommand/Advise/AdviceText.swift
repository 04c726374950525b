import CacheSimulation

/// What `vellum advise ARCHIVE` prints.
struct AdviceText {
    private static let mostGroups = 10

    private let advice: ArchiveAdvice
    private let archive: Archive
    private let store: String?
    private let policies: [CachePolicy]

    init(_ advice: ArchiveAdvice, of archive: Archive, _ store: String?, _ policies: [CachePolicy]) {
        (self.advice, self.archive, self.store, self.policies) = (advice, archive, store, policies)
    }

    func write(to output: OutputWriter) throws(SourceError) {
        try output.write("\(TerminalSafe.column(archive.name)): \(advice.summary)\n\n")
        let points = advice.points.filter { policies.contains($0.policy) }
        let columns = advice.points.map(\.policy).reduce(into: [CachePolicy]()) {
            if policies.contains($1), !$0.contains($1) { $0.append($1) }
        }
        if advice.reads > 0 {
            try CurveText(points, columns, unit: .bytes, rate: advice.rate, present: Int(advice.limit)).write(
                to: output)
        }
        if let expired = advice.expiredWords { try output.write("\n\(expired)\n") }
        try writeGroups(to: output)
        try output.write("\n\(advice.sentence)\n")
        if let doubt = advice.doubt { try output.write(doubt + "\n") }
        if let sufficient = advice.advice?.sufficientLimit {
            try output.write(
                "About \(Figures.bytes(UInt64(sufficient))) are enough for 95% of the current hits.\n")
        }
        guard let options = advice.resizeOptions else { return }
        let dashes = archive.name.hasPrefix("-") ? " --" : ""
        let place = store.map { " --store " + ShellWord.quoted($0) } ?? ""
        try output.write("  vellum resize\(place) \(options)\(dashes) \(ShellWord.quoted(archive.name))\n")
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
            ("since", .cell(Cell(advice.since))),
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
