import StorageEngine
import StoreInspection
import TerminalKit

extension AccessibilityOutput {
    /// A spoken row, and its identity, which excludes changing figures.
    private struct SpokenRow {
        var identity: String
        var lines: [String]
    }

    /// - Parameter isAnswer: whether a key was pressed; otherwise there is at most one line a second.
    mutating func speakRow(_ model: Model, _ frame: Frame, isAnswer: Bool) -> [String] {
        guard !model.isTyping || isAnswered else { return [] }
        let list = model.layout.list
        guard let table = model.parts.table(model), table.rowCount > 0, AdviseView.words(model) == nil else {
            rowCount = 0
            return speakWithoutTable(model, frame, in: list)
        }
        guard let place = table.selectedRow, (0..<table.rowCount).contains(place) else { return [] }
        let row = table.row(place)
        // The row isn't loaded yet.
        guard AccessibilityOutput.name(row, table) != model.look.glyphs.ellipsis else { return [] }
        let now = AccessibilityOutput.spoken(row, place, table, model)
        let isEarly = !isAnswer && rowSpokenAt.map { model.now.seconds(since: $0) < 1 } ?? false
        let isLog = model.screen == .messages || model.screen == .monitor
        // Rows read within a second of opening the screen aren't new.
        if arrived.map({ model.now.seconds(since: $0) < 1 }) ?? false { rowCount = table.rowCount }
        let more = table.rowCount - rowCount
        let hasGrown = isLog && !isAnswer && rowCount > 0 && more > 0
        guard now.identity != self.row || hasGrown else {
            rowCount = table.rowCount
            return []
        }
        guard !isEarly else {
            delayLine()
            return []
        }
        let isMoved = now.identity != self.row
        (self.row, rowSpokenAt, rowCount) = (now.identity, model.now, table.rowCount)
        guard isMoved else { return ["\(Figures.count(more)) new"] }
        return hasGrown && more > 1 ? ["\(Figures.count(more)) new, the last:"] + now.lines : now.lines
    }

    private static func spoken(_ row: Table.Row, _ place: Int, _ table: Table, _ model: Model) -> SpokenRow {
        let key = model.parts.key(model)
        // An archive keeps its identity when the order changes.
        let name = name(row, table)
        // A replaced entry is spoken again.
        let version = model.screen == .entries ? model.entries?.rows[place].map { " \($0.sequence)" } : nil
        let subject = key ?? (model.screen == .archives ? name : "\(place) \(name)")
        let count = Figures.position(place, of: table.rowCount)
        return SpokenRow(
            identity: "\(subject) \(row.isMarked)\(version ?? "")",
            lines: [words(row, table, model) + (row.isMarked ? ", marked" : "") + "; " + count])
    }

    private static func name(_ row: Table.Row, _ table: Table) -> String {
        zip(table.columns, row.cells).first { !$0.title.isEmpty && !$1.text.isEmpty }?.1.text
            ?? row.cells.first { !$0.text.isEmpty }?.text ?? ""
    }

    /// `oslo, size 21 B, idle 2s`
    private static func words(_ row: Table.Row, _ table: Table, _ model: Model) -> String {
        let said = zip(table.columns, row.cells).filter { _, cell in
            !cell.text.isEmpty && cell.text != "-" && cell.gauge == nil && cell.spark == nil
        }
        var words: [String] = []
        var signs: [String] = []
        for (column, cell) in said {
            if column.title.isEmpty, let meaning = Legend.words(of: cell.text, model) {
                signs.append(meaning)
            } else {
                words.append(
                    words.isEmpty || column.title.isEmpty ? cell.text : "\(column.title) \(cell.text)")
            }
        }
        return (words + signs).joined(separator: ", ")
    }

    // MARK: Screens without rows

    private mutating func speakWithoutTable(_ model: Model, _ frame: Frame, in list: Rect) -> [String] {
        let advice = AdviseView.words(model)
        if model.screen == .monitor || advice != nil {
            let graph = advice ?? GraphsView.words(model)
            return speak(graph.map { SpokenRow(identity: $0.identity, lines: [$0.words]) })
        }
        guard model.screen == .value, let value = model.value, value.load != nil else {
            return speakPage(AccessibilityOutput.text(frame, in: list))
        }
        switch value.mode {
        case .tree: return speak(AccessibilityOutput.node(value))
        case .text: return speakPage(value.textRows(list.rows).map(\.text))
        case .hex: return speakPage(AccessibilityOutput.exact(frame, in: list.inset(right: 1)))
        }
    }

    private mutating func speak(_ said: SpokenRow?) -> [String] {
        guard let said, said.identity != row else { return [] }
        row = said.identity
        return said.lines
    }

    private static func node(_ value: ValueState) -> SpokenRow? {
        guard let tree = value.tree, value.visible.indices.contains(value.cursor) else { return nil }
        let index = value.visible[value.cursor]
        let node = tree.nodes[index]
        let isFolded = value.folded.contains(index)
        let words = [node.name, node.value].filter { !$0.isEmpty }.joined(separator: ": ")
        let text = words + (isFolded ? ", folded" : "")
        return SpokenRow(identity: "\(index) \(text)", lines: [text])
    }

    /// All visible lines or, after scrolling, the new ones.
    private mutating func speakPage(_ lines: [String]) -> [String] {
        let before = page
        let now = Array(lines.prefix((lines.lastIndex { !$0.isEmpty } ?? -1) + 1))
        guard now != before || row.isEmpty else { return [] }
        let isFirst = row.isEmpty
        (page, row) = (now, "page")
        guard !isFirst else { return now }
        for moved in 1..<max(1, min(before.count, now.count)) {
            let stays = now.count - moved
            if now.prefix(stays).elementsEqual(before.suffix(stays)) { return Array(now.suffix(moved)) }
            if now.suffix(stays).elementsEqual(before.prefix(stays)) { return Array(now.prefix(moved)) }
        }
        return now
    }

    private static func exact(_ frame: Frame, in rect: Rect) -> [String] {
        let shown = rect.intersection(Rect(frame.size))
        return (shown.row..<shown.row + shown.rows).map { row in
            let line = (shown.column..<shown.endColumn).map { frame[$0, row].text }.joined()
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
    }

    /// The lines of an area without empty ones. Columns are separated by commas.
    static func text(_ frame: Frame, in rect: Rect) -> [String] {
        exact(frame, in: rect).compactMap { line in
            let parts = line.split(separator: "  ").map { $0.trimmingSpaces() }.filter { !$0.isEmpty }
            return parts.isEmpty ? nil : parts.joined(separator: ", ")
        }
    }
}
