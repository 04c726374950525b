import ArchiveQuery

/// Sendable value type. How a query was carried out, for a person or as JSON.
struct QueryExplanation: Sendable {
    private let plan: QueryPlan
    private let report: QueryReport

    init(_ plan: QueryPlan, _ report: QueryReport) {
        self.plan = plan
        self.report = report
    }

    func print(to output: OutputWriter, asJSON: Bool) throws(CommandFailure) {
        if asJSON { return try printJSON(to: output) }
        try output.write(
            "query       \(plan.pipeline.stages.isEmpty ? "all entries" : plan.pipeline.description)\n")
        try output.write("source      \(source)\n")
        try output.write(
            "values      \(plan.readsValues ? "read as they are needed" : "not needed by any condition")\n")
        let entries = HumanText.count(report.visited, "entry", "entries")
        let values = HumanText.count(report.valuesRead, "value", "values")
        try output.write("looked at   \(entries); read \(values), \(report.bytesRead) bytes\n")
        if report.unreadable > 0 { try output.write("unreadable  \(report.unreadable)\n") }
        if report.transcoded > 0 { try output.write("made CBOR   \(report.transcoded)\n") }
        try output.write("kept        \(report.memory) bytes in memory at a time\n\n")
        try printStages(output)
        try output.write(
            "\n\(HumanText.count(report.rows, "row", "rows")) in \(Self.text(report.duration))\n")
        try output.flush()
    }

    private func printStages(_ output: OutputWriter) throws(CommandFailure) {
        var printer = RowPrinter(
            [
                Column("stage", title: "STAGE"), Column("in", title: "ROWS IN"),
                Column("out", title: "ROWS OUT"),
                Column("time", title: "TIME"),
            ], layout: .table, output: output)
        try printer.print([.text("(snapshot)"), .absent, .absent, .number(Self.text(report.preparation))])
        for stage in report.stages {
            try printer.print([
                .text(stage.text), .count(UInt64(stage.rowsIn)), .count(UInt64(stage.rowsOut)),
                stage.duration.map { .number(Self.text($0)) } ?? .absent,
            ])
        }
        try printer.finish()
    }

    private var source: String {
        if let keys = plan.keys { return "look-up of \(HumanText.count(keys.count, "key", "keys"))" }
        return switch plan.order {
        case .storage: "all entries, in the order in which they are stored"
        case .recency: "all entries, the most recent first"
        }
    }

    private func printJSON(to output: OutputWriter) throws(CommandFailure) {
        let stages = report.stages.map { stage in
            JSONTree.cells([
                ("stage", .text(stage.text)), ("rowsIn", .count(UInt64(stage.rowsIn))),
                ("rowsOut", .count(UInt64(stage.rowsOut))),
                ("seconds", stage.duration.map { .decimal(Self.seconds($0)) } ?? .absent),
            ])
        }
        let order = plan.keys != nil ? "keys" : plan.order.rawValue
        let tree = JSONTree.object([
            ("query", .text(plan.pipeline.description)), ("order", .text(order)),
            ("readsValues", .flag(plan.readsValues)), ("visited", .count(report.visited)),
            ("valuesRead", .count(report.valuesRead)), ("bytesRead", .count(report.bytesRead)),
            ("unreadable", .count(report.unreadable)), ("transcoded", .count(report.transcoded)),
            ("memory", .count(report.memory)), ("rows", .count(report.rows)),
            ("preparation", .cell(.decimal(Self.seconds(report.preparation)))),
            ("seconds", .cell(.decimal(Self.seconds(report.duration)))), ("stages", .array(stages)),
        ])
        try tree.writeLine(to: output)
        try output.flush()
    }

    private static func seconds(_ duration: Duration) -> Double {
        let (seconds, attoseconds) = duration.components
        return Double(seconds) + Double(attoseconds) / 1e18
    }

    private static func text(_ duration: Duration) -> String {
        HumanText.fixed(seconds(duration) * 1000, digits: 2) + " ms"
    }
}
