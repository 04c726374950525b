import ArchiveQuery

/// Sendable value type. How a query was carried out, for a person or as JSON.
package struct QueryExplanation: Sendable {
    private let plan: QueryPlan
    private let report: QueryReport

    package init(_ plan: QueryPlan, _ report: QueryReport) {
        self.plan = plan
        self.report = report
    }

    /// `read 6,204 entries, 1.2 MB in 8 ms`
    package var summary: String {
        let read =
            report.valuesRead == 0
            ? "looked at \(Figures.count(report.visited, "entry", "entries"))"
            : "read \(Figures.amount(report.valuesRead, bytes: UInt64(report.bytesRead)))"
        let unreadable = report.unreadable > 0 ? "  \(Figures.count(report.unreadable)) unreadable" : ""
        let givenUp = report.givenUp > 0 ? "  \(Figures.count(report.givenUp)) given up" : ""
        return "\(read) in \(Figures.elapsed(report.duration))\(unreadable)\(givenUp)"
    }

    package var lines: [String] {
        let pipeline = plan.pipeline
        let values = Figures.count(report.valuesRead, "value", "values")
        var lines = [
            "query       \(pipeline.stages.isEmpty ? "all entries" : pipeline.description)",
            "source      \(source)",
            "values      \(plan.readsValues ? "read as they are needed" : "not needed by any condition")",
            "looked at   \(Figures.count(report.visited, "entry", "entries")); read \(values), "
                + Figures.bytes(UInt64(report.bytesRead)),
        ]
        if report.unreadable > 0 { lines.append("unreadable  \(Figures.count(report.unreadable))") }
        if report.givenUp > 0 { lines.append("given up    \(Figures.count(report.givenUp))") }
        if report.transcoded > 0 { lines.append("made CBOR   \(Figures.count(report.transcoded))") }
        let files =
            report.temporary > 0 ? ", \(Figures.bytes(UInt64(report.temporary))) in temporary files" : ""
        lines += ["kept        \(Figures.bytes(UInt64(report.memory))) in memory at a time\(files)", ""]
        func add(_ time: Duration?, _ rows: String, _ stage: String) {
            func padded(_ text: String, _ count: Int) -> String {
                String(repeating: " ", count: max(0, count - text.count)) + text
            }
            lines.append("\(padded(time.map(Figures.elapsed) ?? "", 9))  \(padded(rows, 21))  \(stage)")
        }
        add(report.preparation, "", "(list of the entries)")
        for stage in report.stages {
            let rows = "\(Figures.count(stage.rowsIn)) > \(Figures.count(stage.rowsOut)) rows"
            add(stage.duration, rows, stage.text)
        }
        lines += ["", "\(Figures.count(report.rows, "row", "rows")) in \(Figures.elapsed(report.duration))"]
        return lines + report.warnings
    }

    private var source: String {
        if let keys = plan.keys { return "look-up of \(Figures.count(keys.count, "key", "keys"))" }
        return switch plan.order {
        case .storage: "all entries, in the order in which they are stored"
        case .recency: "all entries, the most recent first"
        }
    }

    package var json: JSONTree {
        let stages = report.stages.map { stage in
            JSONTree.cells([
                ("stage", .text(stage.text)), ("rowsIn", .count(UInt64(stage.rowsIn))),
                ("rowsOut", .count(UInt64(stage.rowsOut))),
                ("seconds", stage.duration.map { .decimal($0 / .seconds(1)) } ?? .absent),
            ])
        }
        let order = plan.keys != nil ? "keys" : plan.order.rawValue
        return .object([
            ("query", .text(plan.pipeline.description)), ("order", .text(order)),
            ("readsValues", .flag(plan.readsValues)), ("visited", .count(report.visited)),
            ("valuesRead", .count(report.valuesRead)), ("bytesRead", .count(report.bytesRead)),
            ("unreadable", .count(report.unreadable)), ("givenUp", .count(report.givenUp)),
            ("transcoded", .count(report.transcoded)), ("memory", .count(report.memory)),
            ("temporary", .count(report.temporary)),
            ("rows", .count(report.rows)),
            ("preparation", .cell(.decimal(report.preparation / .seconds(1)))),
            ("seconds", .cell(.decimal(report.duration / .seconds(1)))), ("stages", .array(stages)),
        ])
    }
}
