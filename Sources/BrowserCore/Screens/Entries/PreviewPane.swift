import StorageEngine
import StoreInspection
import TerminalKit

struct PreviewPane {
    private let preview: Preview
    private let isBeside: Bool
    /// The selected key while its value isn't read, or is being read for longer than ``Preview/delay``.
    private let unread: (key: String, words: String)?
    /// Seconds since a server's value was read.
    private let age: Double

    init(_ entries: EntriesState, isBeside: Bool, _ model: Model) {
        preview = entries.preview
        self.isBeside = isBeside
        let isLate = preview.since.map { model.now.seconds(since: $0) >= Preview.delay } ?? false
        age = model.isOfServer ? preview.read.map { model.shownNow.seconds(since: $0) } ?? 0 : 0
        let isRead = entries.read.range.contains(entries.cursor) || entries.count == 0
        if entries.read.unknown[entries.cursor]?.contains(.type) == true {
            unread = (entries.key ?? "", "No permission to read this key, or this server doesn't serve it.")
        } else if model.withholdsValues {
            let key = Browser.keyName(model, .open)
            unread = (entries.key ?? "", "Not read: reading counts as an access. \(key) reads it.")
        } else if !isRead || preview.isPending && isLate {
            unread = (isRead ? entries.key ?? "" : "", "Reading")
        } else {
            unread = nil
        }
    }

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
        let space = isBeside ? "" : " "
        let problem = preview.problem.map { (key: preview.key ?? "", words: $0) }
        if let (key, words) = unread ?? problem {
            frame.write([Span("\(space)\(key)\(space)", look[.header])], at: title.origin, within: title)
            let text = ProblemText(text: words, role: unread == nil ? .danger : .dim)
            return frame.draw(text, in: body, look: look)
        }
        guard let load = preview.load else { return }
        let isPart = load.head.count < load.entry.valueBytes
        let figures =
            "\(load.name), \(Figures.bytes(UInt64(load.size)))"
            + (isPart ? ", first \(Figures.bytes(UInt64(load.head.count)))" : "")
            + (age < 3 ? "" : ", read \(Figures.duration(age)) ago")
        let width = TextWidth.width(of: figures) + 2 + 2 * space.count
        // The key has priority over the figures.
        let key = look.cut(load.entry.key, to: max(title.columns * 2 / 3, title.columns - width), .middle)
        frame.write(
            [Span("\(space)\(key)  ", look[.accent].adding(.bold)), Span(figures + space, look[.dim])],
            at: title.origin, within: title)
        if let problem = load.content.problem, body.rows > 1 {
            let line: Rect
            (line, body) = body.split(top: 1)
            frame.write(problem, at: line.origin, style: look[.warning], within: line)
        }
        draw(load, into: &frame, in: body, look)
    }

    private func draw(_ load: ValueLoad, into frame: inout Frame, in body: Rect, _ look: Look) {
        if let tree = load.content.tree {
            // The root is left out, so that its parts begin at the margin.
            let skipsRoot = tree.nodes.count > 1
            let nodes = tree.nodes.dropFirst(preview.top + (skipsRoot ? 1 : 0)).prefix(body.rows)
            for (row, node) in nodes.enumerated() {
                ValueView.treeRow(node, isFolded: false, depth: node.depth - (skipsRoot ? 1 : 0), look: look)
                    .draw(into: &frame, in: body.line(row), look: look)
            }
        } else if load.content.isText {
            let rows = PreviewPane.textRows(load, preview.top + body.rows, columns: body.columns, look)
            for (row, line) in rows.dropFirst(preview.top).enumerated() {
                frame.write(line.text, at: body.line(row).origin, style: look[.text], within: body)
            }
        } else {
            let bytes = load.head
            HexDump(count: bytes.count, firstRow: preview.top) { Array(bytes[$0]) }
                .draw(into: &frame, in: body, look: look)
        }
    }

    private static func textRows(_ load: ValueLoad, _ count: Int, columns: Int, _ look: Look) -> [TextRow] {
        TextWindow(start: 0, bytes: load.head, total: load.entry.valueBytes, isASCII: look.isASCII)
            .rows(from: 0, count: count, columns: columns)
    }

    /// Scrolls the value. Time linear in the rows up to the visible ones.
    static func scroll(_ model: inout Model, by rows: Int, in pane: Rect, isBeside: Bool) {
        guard let preview = model.entries?.preview, let load = preview.load else { return }
        let page = max(1, pane.rows - 1)
        let columns = pane.columns - (isBeside ? 2 : 0)
        let wanted = max(0, preview.top + rows)
        let count =
            if let tree = load.content.tree { tree.nodes.count - 1 } else if load.content.isText {
                textRows(load, wanted + page, columns: columns, model.look).count
            } else {
                HexDump(count: load.head.count) { _ in [] }.rowCount(columns: columns)
            }
        model.entries?.preview.top = max(0, min(wanted, count - page))
    }
}
