import StoreInspection
import TerminalKit

/// The value of the entry under the cursor, beside or below the list.
struct PreviewPane {
    let preview: Preview
    let isBeside: Bool

    func draw(into frame: inout Frame, in rect: Rect, look: Look) {
        var body: Rect
        let head: Rect
        if isBeside {
            let (line, rest) = rect.split(left: 2)
            frame.fill(line.split(left: 1).left, style: look[.border], character: look.glyphs.vertical)
            (head, body) = rest.split(top: 1)
        } else {
            (head, body) = rect.split(top: 1)
            frame.fill(head, style: look[.border], character: look.glyphs.horizontal)
        }
        let title = isBeside ? head : head.inset(left: 2, right: 2)
        if let problem = preview.problem {
            write(title, [Span(preview.key ?? "", look[.header])], into: &frame, look)
            frame.draw(ProblemText(text: problem), in: body, look: look)
            return
        }
        guard let load = preview.load else { return }
        let figures = "\(load.content.name), \(Figures.bytes(UInt64(load.entry.valueBytes)))"
        let space = isBeside ? "" : " "
        let width = TextWidth.width(of: figures) + 2 + 2 * space.count
        let key = TextWidth.truncate(
            load.entry.key, to: max(4, title.columns - width), ellipsis: look.glyphs.ellipsis)
        write(
            title,
            [Span("\(space)\(key)  ", look[.accent].adding(.bold)), Span(figures + space, look[.dim])],
            into: &frame, look)
        if let problem = load.content.problem, body.rows > 1 {
            let line: Rect
            (line, body) = body.split(top: 1)
            frame.write(problem, at: line.origin, style: look[.warning], within: line)
        }
        draw(load, into: &frame, in: body, look)
    }

    private func write(_ line: Rect, _ spans: [Span], into frame: inout Frame, _ look: Look) {
        frame.write(spans, at: line.origin, within: line)
    }

    private func draw(_ load: ValueLoad, into frame: inout Frame, in body: Rect, _ look: Look) {
        if let tree = load.content.tree {
            // The value's own braces say nothing here, so its parts stand at the margin.
            let skipsRoot = tree.nodes.count > 1
            let nodes = tree.nodes.dropFirst(skipsRoot ? 1 : 0).prefix(body.rows)
            for (row, node) in nodes.enumerated() {
                ValueView.treeRow(node, isFolded: false, depth: node.depth - (skipsRoot ? 1 : 0), look: look)
                    .draw(into: &frame, in: body.line(row), look: look)
            }
        } else if let text = load.content.text {
            let head = String(text.prefix(body.columns * body.rows)).replacingTabs()
            let lines = TextWrap.lines(head, columns: max(1, body.columns)).prefix(body.rows)
            for (row, line) in lines.enumerated() {
                frame.write(line, at: body.line(row).origin, style: look[.text], within: body)
            }
        } else {
            let bytes = load.head
            HexDump(count: bytes.count) { Array(bytes[$0]) }.draw(into: &frame, in: body, look: look)
        }
    }
}
