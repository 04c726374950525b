import ArgumentParser
import StorageEngine

/// `vellum check`.
struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Verifies every frame of a store, and its indexes against them.",
        discussion: """
            Changes nothing. Exit code 1 if anything is wrong. With --json, one object: clean, entries, damaged, \
            salvaged, and archives, an array of the same by archive with valueBytes and problems.
            """)

    @OptionGroup var store: StoreArguments

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
        let store = try store.openForLooking()
        var reports: [(name: String, report: CheckReport)] = []
        for name in try store.archiveNames() {
            reports.append((name, try store.archive(named: name).check()))
        }
        let output = OutputWriter()
        if json {
            try printJSON(reports, to: output)
        } else {
            try printText(reports, to: output)
        }
        try output.flush()
        if !reports.allSatisfy(\.report.clean) { throw CommandFailure(nil, status: .nothing) }
    }

    private func printText(_ reports: [(name: String, report: CheckReport)], to output: OutputWriter) throws {
        for (name, report) in reports {
            var line = "\(name): \(report.clean ? "clean" : "NOT CLEAN"), "
            line += HumanText.entries(report.entries, bytes: report.valueBytes)
            if report.damaged > 0 { line += ", \(report.damaged) damaged" }
            if report.salvaged > 0 { line += ", \(report.salvaged) salvaged" }
            line += "\n"
            for problem in report.problems { line += "  \(problem)\n" }
            try TerminalSafe.write(Array(line.utf8), to: output)
        }
    }

    private func printJSON(_ reports: [(name: String, report: CheckReport)], to output: OutputWriter) throws {
        let total = Self.members(
            clean: reports.allSatisfy(\.report.clean), entries: reports.reduce(0) { $0 + $1.report.entries },
            damaged: reports.reduce(0) { $0 + $1.report.damaged },
            salvaged: reports.reduce(0) { $0 + $1.report.salvaged })
        var text = "{\(total),\"archives\":["
        for (index, (name, report)) in reports.enumerated() {
            let figures = Self.members(
                clean: report.clean, entries: report.entries, damaged: report.damaged,
                salvaged: report.salvaged)
            let problems = report.problems.map(JSONText.string).joined(separator: ",")
            text += (index == 0 ? "" : ",") + "{\"archive\":\(JSONText.string(name)),\(figures),"
            text += "\"valueBytes\":\(report.valueBytes),\"problems\":[\(problems)]}"
        }
        try TerminalSafe.write(Array((text + "]}\n").utf8), to: output)
    }

    private static func members(clean: Bool, entries: Int, damaged: Int, salvaged: Int) -> String {
        "\"clean\":\(clean),\"entries\":\(entries),\"damaged\":\(damaged),\"salvaged\":\(salvaged)"
    }
}
