import CacheSimulation
import TerminalKit

/// Simulated hit ratios as a table and a graph.
struct CurveText {
    private struct Row {
        let limit: Int
        let points: [MissRatioCurve.Point]
        /// The policy with the highest hit ratio, without the optimum unless it is the only one.
        let best: MissRatioCurve.Point
    }

    private static let graphColumns = 79
    private static let graphRows = 14

    private let policies: [CachePolicy]
    private let unit: LimitUnit
    private let present: Int?
    private let rows: [Row]
    /// Why SIEVE isn't marked as the best policy; nil if it may be.
    private let remark: String?

    /// - Parameters:
    ///   - points: in the order of limits, then of `policies`.
    ///   - rate: share of the keys that are simulated.
    ///   - present: the limit that the cache has.
    init(
        _ points: [MissRatioCurve.Point], _ policies: [CachePolicy], unit: LimitUnit, rate: Double,
        present: Int? = nil
    ) {
        let isBiased = rate < 1 && policies.contains(.sieve)
        remark = isBiased ? ArchiveAdvice.remarkOnSIEVE : nil
        (self.policies, self.unit, self.present) = (policies, unit, present)
        rows = stride(from: 0, to: points.count, by: policies.count).compactMap { start in
            let points = Array(points[start..<start + policies.count])
            let online = points.filter { $0.policy != .opt && !($0.policy == .sieve && isBiased) }
            let best = (online.isEmpty ? points : online).max { $0.hitRatio < $1.hitRatio }
            return best.map { Row(limit: points[0].limit, points: points, best: $0) }
        }
    }

    /// Writes the curve of a trace.
    func write(_ trace: RecordedTrace, to output: OutputWriter) throws(SourceError) {
        let keys = Figures.count(trace.keys, "key", "keys")
        let sampled = trace.rate < 1 ? ", of which \(Figures.percent(trace.rate)) are simulated" : ""
        try output.write(
            "\(Figures.count(trace.requests, "request", "requests")), \(keys)\(sampled); hit ratios:\n\n")
        try write(to: output)
        try output.write("\n\(advice)\n")
    }

    func write(to output: OutputWriter) throws(SourceError) {
        let title = unit == .entries ? "ENTRIES" : "LIMIT"
        var table = RowPrinter(
            [Column("limit", title: title + (present == nil ? "" : "     "))]
                + policies.map { Column($0.rawValue, title: $0.title + " ") }, layout: .table, output: output)
        for row in rows {
            try table.print(
                [.number(label(row.limit) + multiple(row.limit))]
                    + row.points.map { point in
                        let isBest = point.policy == row.best.policy && point.policy != .opt
                        return .number(Figures.percent(point.hitRatio) + (isBest ? "*" : " "))
                    })
        }
        try table.end()
        if let remark { try output.write(remark + "\n") }
        if rows.count > 1 { try output.write("\n" + graph(SystemText.isUTF8 ? .unicode : .ascii)) }
    }

    /// A limit as a multiple of the current one, in five columns.
    private func multiple(_ limit: Int) -> String {
        guard let present else { return "" }
        let text = limit == present ? "now" : ArchiveAdvice.multiple(limit, of: present)
        return String(repeating: " ", count: max(1, 5 - text.count)) + text
    }

    private func label(_ limit: Int) -> String {
        unit == .entries ? Figures.count(limit) : Figures.bytes(UInt64(limit))
    }

    private var ascending: [Row] { rows.sorted { $0.limit < $1.limit } }

    /// The hit ratio of each policy over the logarithm of the limit.
    private func graph(_ glyphs: Glyphs) -> String {
        let rows = ascending
        var graph = CurveGraph(
            title: [Span("hit ratio over the limit")],
            limits: rows.map(\.limit),
            labels: rows.map { label($0.limit) },
            curves: policies.indices.map { place in
                CurveGraph.Curve(policies[place].letter, role: .text, rows.map { $0.points[place].hitRatio })
            }, topLabel: "100%")
        graph.facts = policies.map { Span("\($0.letter) \($0.title)") }
        graph.middleLabel = "50%"
        graph.present = present.flatMap { present in rows.firstIndex { $0.limit == present } }
        let size = Size(columns: Self.graphColumns, rows: Self.graphRows)
        var frame = Frame(size: size, isASCII: glyphs == .ascii)
        let look = Look(theme: Theme(.mono, depth: .mono), glyphs: glyphs)
        graph.draw(
            into: &frame, in: Rect(column: 0, row: 0, columns: size.columns, rows: size.rows), look: look)
        return frame.plainText
    }

    /// The recommendation for a trace, which has no current limit.
    private var advice: String {
        guard policies.contains(where: { $0 != .opt }) else {
            return
                "opt is only an upper bound; add policies that a cache can use, such as --policies lru,s3fifo,opt."
        }
        guard rows.contains(where: { $0.best.hitRatio > 0 }) else { return "No policy has any hits." }
        let wins = policies.map { policy in rows.count { $0.best.policy == policy } }
        let most = wins.max() ?? 0
        guard let place = wins.firstIndex(of: most) else { return "" }
        var text = "\(policies[place].title) has the highest hit ratio at "
        text += rows.count == 1 ? label(rows[0].limit) : "\(most) of \(rows.count) limits"
        if unit == .entries, rows.count == 1 { text += rows[0].limit == 1 ? " entry" : " entries" }
        if let lru = policies.firstIndex(of: .lru), lru != place {
            let sum = rows.reduce(0) { $0 + $1.points[place].hitRatio - $1.points[lru].hitRatio }
            text +=
                ", on average \(Figures.fixed(sum / Double(rows.count) * 100, digits: 1)) points above LRU"
        }
        let sorted = ascending
        if let best = sorted.map(\.best.hitRatio).max(),
            let enough = sorted.first(where: { best - $0.best.hitRatio < 0.01 }),
            enough.limit < sorted.last?.limit ?? 0
        {
            text += "; limits above \(label(enough.limit)) add less than 1 point"
        }
        return text + "."
    }
}
