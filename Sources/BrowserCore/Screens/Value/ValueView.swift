import StoreInspection
import TerminalKit

enum ValueView {
    static func draw(_ model: Model, _ layout: ScreenLayout, into frame: inout Frame) {
        let look = model.look
        guard let value = model.value else { return }
        guard let load = value.load else {
            let seconds = value.opened.map { max(0, model.now.seconds(since: $0)) } ?? 0
            let age = seconds < 1 ? "" : " (\(Figures.duration(seconds.rounded(.down))))"
            return frame.draw(
                problem: value.problem, loading: "Loading \(TerminalText.sanitized(value.key))\(age)",
                in: layout.list, look: look)
        }
        drawInfo(load, value, model, into: &frame, in: layout.info)
        let list = layout.list
        switch value.mode {
        case .tree: drawTree(value, into: &frame, in: list, look: look)
        case .text: drawText(value, into: &frame, in: list, look: look)
        case .hex:
            let (held, stored) = (value.heldBytes, value.stored)
            let shown = value.bytesInView(list.rows)
            HexDump(
                count: value.size, firstRow: value.top,
                highlights: Array(value.find.found?.places(in: shown) ?? [])
            ) { range in
                held.map { Array($0[range]) } ?? stored.bytes(range)
            }.draw(into: &frame, in: list, look: look)
        }
        if value.mode != .tree, value.size == 0 {
            Label("The value is empty.", role: .dim, alignment: .center)
                .draw(into: &frame, in: list.line(list.rows / 2), look: look)
        }
    }

    private static func drawText(_ value: ValueState, into frame: inout Frame, in rect: Rect, look: Look) {
        frame.fill(rect, style: look[.text])
        let rows = value.textRows(rect.rows)
        let shown = value.text.top..<(rows.last?.range.upperBound ?? value.text.top)
        let matches = value.find.found?.places(in: shown) ?? []
        let body = rect.inset(right: 2)
        for (offset, row) in rows.enumerated() {
            let line = body.line(offset)
            var column = line.column
            for (place, piece) in row.pieces.enumerated() {
                // Matches are bytes, so they may begin within a character.
                let end =
                    place + 1 < row.pieces.count
                    ? row.pieces[place + 1].offset
                    : min(row.range.upperBound, piece.offset + piece.text.utf8.count)
                let isMatch = matches.contains { $0.overlaps(piece.offset..<end) }
                column += frame.write(
                    piece.text, at: Point(column: column, row: line.row),
                    style: look[isMatch ? .match : .text],
                    within: line)
            }
        }
        ScrollBar(total: value.size, first: shown.lowerBound, visible: shown.count)
            .draw(into: &frame, in: rect, look: look)
    }

    private static func drawInfo(
        _ load: ValueLoad, _ value: ValueState, _ model: Model, into frame: inout Frame, in rect: Rect
    ) {
        guard !rect.isEmpty else { return }
        let look = model.look
        let entry = load.entry
        let now = value.asOf ?? model.shownNow
        var modes: [Span] = []
        for mode in value.modes {
            modes += [Span(" "), Span(mode.rawValue, look[mode == value.mode ? .accent : .dim])]
        }
        // The most important first: the last ones are left out on narrow screens.
        var facts: [String] = []
        if let deadline = entry.expires {
            let left = EntriesView.expires(entry, now: now).text
            facts.append(deadline <= now ? left : "expires \(left)")
        }
        // Servers report neither tier and hits nor age.
        let isOfServer = model.isOfServer
        if !isOfServer { facts.append(Figures.count(entry.hits, "hit", "hits")) }
        if model.reports(.idle) {
            facts.append("idle \(Figures.duration(now.seconds(since: entry.accessed)))")
        }
        if !isOfServer {
            let tier = entry.tier == .both ? "disk and memory" : entry.tier.rawValue
            facts += ["age \(Figures.duration(now.seconds(since: entry.created)))", tier]
        }
        if let queue = entry.queue { facts.append("\(queue.name) queue, frequency \(queue.frequency)") }
        if let owner = entry.owner { facts.append("owner \(owner)") }
        if !isOfServer { facts.append("created \(Figures.date(entry.created))") }
        Bar(
            left: [Span(" \(load.name), \(Figures.bytes(UInt64(load.size)))")],
            warnings: load.remark.map { [Span($0)] } ?? [], facts: facts.map { Span($0) },
            right: modes + [Span(" ")], role: .text
        )
        .draw(into: &frame, in: rect.line(0), look: look)
        if rect.rows > 1, !isOfServer, value.history != nil {
            drawHistory(EventText.parts(value, model), into: &frame, in: rect.line(1), look)
        }
    }

    private static func drawHistory(_ parts: [String], into frame: inout Frame, in line: Rect, _ look: Look) {
        var text = parts.last ?? ""
        for part in parts.dropLast().reversed() {
            guard TextWidth.width(of: part) + TextWidth.width(of: text) + 6 <= line.columns else {
                text = "\(look.glyphs.ellipsis) \(text)"
                break
            }
            text = "\(part), \(text)"
        }
        Label(" " + text, role: .dim).draw(into: &frame, in: line, look: look)
    }

    private static func drawTree(_ value: ValueState, into frame: inout Frame, in rect: Rect, look: Look) {
        guard let tree = value.tree else { return }
        let bar = ScrollBar(total: value.visible.count, first: value.top, visible: rect.rows)
        let body = bar.isNeeded ? rect.inset(right: 2) : rect
        let pattern = SearchText(value.find.text)
        for (offset, index) in value.visible.dropFirst(value.top).prefix(rect.rows).enumerated() {
            var row = treeRow(
                tree.nodes[index], isFolded: value.folded.contains(index), depth: tree.nodes[index].depth,
                look: look, finding: pattern.flatMap { tree.matches(index, $0) ? $0 : nil })
            if let time = value.time(of: index) {
                row.value.append(Span("  \(Figures.date(time))", look[.dim]))
            }
            row.isSelected = value.top + offset == value.cursor
            row.draw(into: &frame, in: body.line(offset), look: look)
        }
        bar.draw(into: &frame, in: rect, look: look)
    }

    static func treeRow(
        _ node: ValueTree.Node, isFolded: Bool, depth: Int, look: Look, finding pattern: SearchText? = nil
    ) -> TreeRow {
        let fold: TreeRow.Fold = !node.isContainer ? .leaf : isFolded ? .folded : .unfolded
        let role: Role =
            switch node.kind {
            case .text: .good
            case .number, .boolean: .warning
            case .null, .map, .array: .dim
            case .bytes, .other: .text
            }
        let value = spans(node.value, pattern, look, look[role])
        guard node.parent != nil else { return TreeRow(depth: depth, fold: fold, name: value) }
        // The colon separates name and value without colors.
        let name = spans(node.name, pattern, look, look[.accent]) + [Span(":", look[.dim])]
        return TreeRow(depth: depth, fold: fold, name: name, value: value)
    }

    private static func spans(
        _ text: String, _ pattern: SearchText?, _ look: Look, _ style: Style = .plain
    ) -> [Span] {
        guard let pattern, pattern.matches(text), let range = pattern.range(in: text) else {
            return [Span(text, style)]
        }
        let characters = Array(text)
        return [
            Span(String(characters[..<range.lowerBound]), style),
            Span(String(characters[range]), look[.match]),
            Span(String(characters[range.upperBound...]), style),
        ]
    }
}
