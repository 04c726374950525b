import Foundation

/// All measurements of a run, as a table and as a JSON file.
struct Report {
    private(set) var measurements: [Measurement] = []

    private var durations: [(workload: String, seconds: Double)] = []
    /// Workloads that failed, with the reason; the others are reported.
    private(set) var failures: [String] = []

    /// Runs a workload and records how long it took.
    mutating func add(_ workload: String, _ measure: () throws -> [Measurement]) {
        var measured: [Measurement] = []
        var failure: (any Error)?
        let time = Clock.nanoseconds { do { measured = try measure() } catch { failure = error } }
        if let failure {
            failures.append("\(workload) broke off: \(failure)")
            Narration.say(failures[failures.count - 1])
        }
        guard !measured.isEmpty else { return }
        measurements += measured
        durations.append((workload, time / 1e9))
        Narration.say("\(workload): took \(Int((time / 1e9).rounded())) s")
    }

    // MARK: Table

    private static let titles = ["workload", "system", "ns per op", "min – max", "ratio", "bar", ""]

    var table: String {
        var rows = [Report.titles]
        rows += measurements.map { measurement in
            [
                measurement.workload, measurement.system, Figures.nanoseconds(measurement.median),
                Figures.nanoseconds(measurement.least) + " – " + Figures.nanoseconds(measurement.most),
                measurement.ratio.map(Figures.ratio) ?? "", measurement.verdict?.bar ?? "",
                measurement.verdict.map { $0.isMet ? "met" : "MISSED" } ?? "",
            ]
        }
        let widths = Report.titles.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        var lines: [String] = []
        for (place, row) in rows.enumerated() {
            let cells = row.indices.map { column in
                let padding = String(repeating: " ", count: widths[column] - row[column].count)
                return (2...4).contains(column) ? padding + row[column] : row[column] + padding
            }
            lines.append(cells.joined(separator: "  "))
            let isNewWorkload =
                place == 0
                || place < measurements.count
                    && measurements[place - 1].workload != measurements[place].workload
            if isNewWorkload {
                lines.append(widths.map { String(repeating: "─", count: $0) }.joined(separator: "  "))
            }
        }
        let judged = measurements.compactMap(\.verdict)
        lines.append("")
        lines.append("bars met: \(judged.filter(\.isMet).count) of \(judged.count)")
        lines += measurements.flatMap { measurement in
            measurement.notes.map { "\(measurement.workload), \(measurement.system): \($0)" }
        }
        let taken = durations.map { "\($0.workload) \(Int($0.seconds.rounded())) s" }
        lines.append("took \(taken.joined(separator: ", "))")
        return lines.joined(separator: "\n")
    }

    // MARK: File

    private struct Line: Encodable {
        var workload: String
        var system: String
        var nsPerOp: Double
        var ops: Int
        var bytes: Int
    }

    func write(to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .withoutEscapingSlashes]
        let lines = measurements.map {
            Line(
                workload: $0.workload, system: $0.system, nsPerOp: ($0.median * 10).rounded() / 10,
                ops: $0.ops, bytes: $0.bytes)
        }
        let url = URL(fileURLWithPath: path)
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try encoder.encode(lines).write(to: url)
    }
}
