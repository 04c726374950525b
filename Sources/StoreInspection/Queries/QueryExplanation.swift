import ArchiveQuery
import TerminalKit

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
            ? "scanned \(Figures.count(report.visited, "entry", "entries"))"
            : "read \(Figures.amount(report.valuesRead, bytes: UInt64(report.bytesRead)))"
        let unreadable = report.unreadable > 0 ? "  \(Figures.count(report.unreadable)) unreadable" : ""
        let untested = report.givenUp > 0 ? "  \(Figures.count(report.givenUp)) not tested" : ""
        return "\(read) in \(Figures.elapsed(report.duration))\(unreadable)\(untested)"
    }

    package var lines: [String] {
        var steps: [String] = []
        func add(_ time: Duration?, _ rows: String, _ stage: String) {
            let time = Self.padded(time.map(Figures.elapsed) ?? "", 9)
            steps.append("\(time)  \(Self.padded(rows, 21))  \(stage)")
        }
        add(report.preparation, "", "(list of the entries)")
        for stage in report.stages {
            let rows = "\(Figures.count(stage.rowsIn)) > \(Figures.count(stage.rowsOut)) rows"
            add(stage.duration, rows, stage.text)
        }
        if let rest { add(rest, "", "(\(Self.restText))") }
        return facts + steps + outcome
    }

    private static let restText = "reading entries and processing rows"

    /// Time outside the stages; nil if the time of the stages is unknown.
    private var rest: Duration? {
        var rest = report.duration - report.preparation
        for stage in report.stages {
            guard let duration = stage.duration else { return nil }
            rest -= duration
        }
        return max(.zero, rest)
    }

    /// Entries that were removed or expired during the query.
    private var removed: Int {
        max(0, report.visited - report.unreadable - (report.stages.first?.rowsIn ?? report.rows))
    }

    /// The plan with its stages: rows passed on, and shares of the time if known. Lines longer than `columns` are wrapped.
    package func picture(_ glyphs: Glyphs, columns: Int) -> [String] {
        typealias Step = (text: String, time: Duration?, rows: Int)
        let list: Step = ("list of the entries", report.preparation, report.visited)
        let steps =
            [list] + report.stages.map { stage -> Step in (stage.text, stage.duration, stage.rowsOut) }
        let longest = (steps.map(\.time) + [rest]).compactMap { $0 }.max() ?? .zero
        func line(_ text: String, _ duration: Duration?) -> [String] {
            let share = duration.map { longest > .zero ? $0 / longest : 0 } ?? 0
            let time = Self.padded(duration.map(Figures.elapsed) ?? "", 9)
            return Self.hanging("\(time)  \(Self.bar(share, glyphs))  ", text, columns)
        }
        let drawn = steps.enumerated().flatMap { place, step in
            let unit = place == 0 ? ("entry", "entries") : ("row", "rows")
            let amount = Figures.count(step.rows, unit.0, unit.1)
            return line(step.text, step.time) + ["\(Self.padded(String(glyphs.descending), 12)) \(amount)"]
        }
        let shown = facts.flatMap { fact in
            Self.hanging(String(fact.prefix(Self.labelColumns)), fact.dropFirst(Self.labelColumns), columns)
        }
        return shown + drawn + (rest.map { line(Self.restText, $0) } ?? []) + outcome
    }

    /// A wrapped text after its label.
    private static func hanging(_ label: String, _ text: some StringProtocol, _ columns: Int) -> [String] {
        // If the label leaves no space, the text begins on the next line.
        let available = columns - label.count
        guard available >= 20 else { return [label + text] }
        let indent = String(repeating: " ", count: label.count)
        return TextWrap.lines(String(text), columns: available).enumerated().map { place, line in
            (place == 0 ? label : indent) + line
        }
    }

    private static let labelColumns = 12

    private static let barCells = 16

    /// At least one column for shares above 0.
    private static func bar(_ share: Double, _ glyphs: Glyphs) -> String {
        let steps = glyphs.gaugeSteps.count
        let filled = share > 0 ? max(1, Int((share * Double(barCells * steps)).rounded())) : 0
        let (whole, part) = filled.quotientAndRemainder(dividingBy: steps)
        let bar =
            String(repeating: glyphs.gaugeSteps[steps - 1], count: whole)
            + (part > 0 ? String(glyphs.gaugeSteps[part - 1]) : "")
        return bar + String(repeating: " ", count: barCells - bar.count)
    }

    private static func padded(_ text: String, _ count: Int) -> String {
        String(repeating: " ", count: max(0, count - text.count)) + text
    }

    private var facts: [String] {
        let pipeline = plan.pipeline
        let values = Figures.count(report.valuesRead, "value", "values")
        var lines = [
            "query       \(pipeline.stages.isEmpty ? "all entries" : pipeline.description)",
            "source      \(source)",
            "values      \(plan.readsValues ? "read when needed\(order)" : "not needed by any condition")",
            "scanned     \(Figures.count(report.visited, "entry", "entries")); read \(values), "
                + Figures.bytes(UInt64(report.bytesRead)),
        ]
        lines += report.dates.map { "date        \($0)" }
        if removed > 0 { lines.append("removed     \(Figures.count(removed)) (or expired)") }
        if report.unreadable > 0 { lines.append("unreadable  \(Figures.count(report.unreadable))") }
        if report.givenUp > 0 { lines.append("not tested  \(Figures.count(report.givenUp))") }
        if report.transcoded > 0 { lines.append("converted   \(Figures.count(report.transcoded))") }
        let files =
            report.temporary > 0 ? ", \(Figures.bytes(UInt64(report.temporary))) in temporary files" : ""
        return lines + [
            "memory      \(Figures.bytes(UInt64(report.memory))) at most\(files)", "",
        ]
    }

    /// The order of the parts of a condition on metadata and values.
    private var order: String {
        let isOfBoth = plan.pipeline.stages.contains { stage in
            guard case .find = stage else { return false }
            let areMetadata = stage.properties.map(\.isMetadata)
            return areMetadata.contains(true) && areMetadata.contains(false)
        }
        return isOfBoth ? ", after metadata have been tested" : ""
    }

    private var outcome: [String] {
        ["", "\(Figures.count(report.rows, "row", "rows")) in \(Figures.elapsed(report.duration))"]
            + report.warnings
    }

    private var source: String {
        if let keys = plan.keys { return "look-up of \(Figures.count(keys.count, "key", "keys"))" }
        return switch plan.order {
        case .storage: "all entries, in storage order"
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
            ("query", .text(plan.pipeline.description)), ("dates", .array(report.dates.map { .text($0) })),
            ("order", .text(order)),
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
