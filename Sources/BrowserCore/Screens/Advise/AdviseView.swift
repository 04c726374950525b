import CacheSimulation
import StoreInspection
import TerminalKit

enum AdviseView {
    static func draw(_ model: Model, _ layout: ScreenLayout, into frame: inout Frame) {
        let look = model.look
        guard let state = model.advise else { return }
        guard let advice = state.advice else {
            let absence =
                "No requests of \(state.archive.name) are recorded yet. Let a program read the archive for a minute; "
                + "the advice appears here."
            let words = state.isLoaded ? absence : "Simulating \(state.archive.name)"
            return frame.draw(problem: state.problem, loading: words, in: layout.list, look: look)
        }
        var lines = lines(advice, columns: layout.info.columns)
        if lines.count > layout.info.rows { lines.removeAll { $0.role == .text } }
        for (row, line) in lines.prefix(layout.info.rows).enumerated() {
            frame.write(
                " " + line.text, at: layout.info.line(row).origin, style: look[line.role], within: layout.info
            )
        }
        let places = places(advice, state, in: layout.pane)
        graph(advice, state, look, columns: places.graph.columns)
            .draw(into: &frame, in: places.graph, look: look)
        for (row, line) in places.lines.prefix(places.words.rows).enumerated() {
            frame.write(line, at: places.words.line(row).origin, style: look[.text], within: places.words)
        }
        table(model, advice).draw(into: &frame, in: layout.list, look: look)
        if let expired = advice.expiredWords {
            let text = look.cut(" " + expired, to: layout.events.columns)
            frame.write(text, at: layout.events.origin, style: look[.dim], within: layout.events)
        }
    }

    /// The lines above the graph: figures, recommendation, and why the figures may be wrong.
    static func lines(_ advice: ArchiveAdvice, columns: Int) -> [(text: String, role: Role)] {
        let parts: [(text: String?, role: Role)] = [
            (advice.summary, .text), (advice.sentence, advice.advice == nil ? .warning : .accent),
            (advice.doubt, .warning),
        ]
        return parts.flatMap { part in
            wrapped(part.text ?? "", columns).map { (text: $0, role: part.role) }
        }.filter { !$0.text.isEmpty }
    }

    private static func wrapped(_ text: String, _ columns: Int) -> [String] {
        TextWrap.lines(text, columns: max(1, columns - 2))
    }

    /// The graph, and the figures of the marked limit below it, which have priority in a few rows.
    static func places(
        _ advice: ArchiveAdvice, _ state: AdviseState, in pane: Rect
    ) -> (graph: Rect, words: Rect, lines: [String]) {
        let limits = advice.limits
        let words = state.marked(among: limits).map { advice.words(at: limits[$0]) } ?? ""
        let lines = wrapped(words, pane.columns)
        let rows = pane.rows < 5 ? pane.rows : min(lines.count, max(2, pane.rows / 3))
        let (graph, below) = pane.split(bottom: rows)
        return (graph, below.inset(left: 1), lines)
    }

    static func graph(
        _ advice: ArchiveAdvice, _ state: AdviseState, _ look: Look, columns: Int
    ) -> CurveGraph {
        let limits = advice.limits
        let shown = ArchiveAdvice.policies.filter { policy in advice.points.contains { $0.policy == policy } }
        var graph = CurveGraph(
            title: [], limits: limits, labels: limits.map { Figures.bytes(UInt64(clamping: $0)) },
            curves: shown.map { policy in
                CurveGraph.Curve(
                    policy.letter, role: role(policy),
                    limits.map { advice.hitRatio(policy, limit: $0).map { 1 - $0 } })
            }, topLabel: "100%")
        graph.middleLabel = "50%"
        graph.marked = state.marked(among: limits)
        graph.present = limits.firstIndex { advice.multiple($0).isEmpty }
        let legend = shown.map { Span("\($0.letter) \($0.title)", look[role($0)]) }
        // The legend has priority on narrow screens.
        let title = [" miss ratio over the limit", " miss ratio"].first { $0.count + 40 <= columns }
        graph.title = title.map { [Span($0)] } ?? Array(legend.prefix(1))
        graph.facts = title == nil ? Array(legend.dropFirst()) : legend
        return graph
    }

    private static func role(_ policy: CachePolicy) -> Role {
        switch policy {
        case .lru: .accent
        case .s3fifo: .good
        case .sieve: .warning
        case .wtinylfu: .text
        case .opt: .dim
        }
    }

    static func table(_ model: Model, _ advice: ArchiveAdvice) -> Table {
        Table(
            columns: [
                Table.Column(advice.grouping.name, width: .minimum(10, weight: 1)),
                Table.Column("", width: .fixed(1)),
                Table.Column("% bytes", width: .fixed(7), alignment: .trailing, priority: 1, fraction: 3),
                Table.Column("", width: .fixed(10), priority: 4),
                Table.Column("% reads", width: .fixed(7), alignment: .trailing, priority: 2, fraction: 3),
                Table.Column("", width: .fixed(10), priority: 5),
                Table.Column("hit ratio", width: .fixed(9), alignment: .trailing, priority: 3, fraction: 3),
            ], rowCount: advice.groups.count, firstRow: model.advise?.top ?? 0,
            selectedRow: advice.groups.isEmpty ? nil : model.advise?.row,
            isActive: model.advise?.isInGroups == true
        ) { row in
            let group = advice.groups[row]
            return Table.Row(
                [
                    Table.Cell(group.name, cut: .middle), Table.Cell(group.isRarelyRead ? "!" : ""),
                    Table.Cell(Figures.percent(group.size)), Table.Cell("", gauge: group.size),
                    Table.Cell(Figures.percent(group.reads)), Table.Cell("", gauge: group.reads),
                    Table.Cell(Figures.percent(group.hitRatio)),
                ], role: group.isRarelyRead ? .warning : .text)
        }
    }

    // MARK: In words

    /// The figures of the marked limit, and an identity without them; nil on other screens, if no limit is simulated, and if a group was
    /// selected last.
    static func words(_ model: Model) -> (identity: String, words: String)? {
        guard model.screen == .advise, let state = model.advise, !state.isInGroups, let advice = state.advice
        else { return nil }
        let limits = advice.limits
        guard let place = state.marked(among: limits) else { return nil }
        let position = Figures.position(place, of: limits.count)
        return ("limit \(limits[place])", "\(advice.words(at: limits[place])); \(position)")
    }
}
