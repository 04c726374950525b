import StorageEngine
import TerminalKit

/// The help, or the palette of actions.
struct ActionList: SearchedOverlay {
    var isHelp: Bool
    var field: TextField
    var selected = 0
    var first = 0

    enum Row: Sendable {
        case topic(String), action(BrowserAction), sign(Legend.Line)

        var isTopic: Bool { if case .topic = self { true } else { false } }
    }

    var keys: [(key: String, title: String)] { [("enter", "Run"), ("esc", "Close"), ("up/down", "Select")] }

    func rowCount(_ model: Model) -> Int { rows(model).count }

    func area(_ model: Model) -> Rect { places(model).list }

    /// The lines of the help (actions by topic, then the legend) or the palette.
    func rows(_ model: Model) -> [Row] {
        let actions = model.keyMap.search(field.text, in: model.screen).filter { action in
            guard let place = ActionID.stores.firstIndex(of: action.id) else { return true }
            // The help has one line for all store digits, the palette one for each open store.
            return isHelp ? place == 0 : model.openStores.contains { $0.place == place + 1 }
        }
        guard isHelp else { return actions.map { .action($0) } }
        let signs = Legend.lines(model, matching: field.text).map { Row.sign($0) }
        guard field.text.isEmpty else { return actions.map { .action($0) } + signs }
        let topics = ActionTable.topics.flatMap { topic in
            let ids = Set(topic.actions.map(\.id))
            let rows = actions.filter { ids.contains($0.id) }.map { Row.action($0) }
            return rows.isEmpty ? [] : [.topic(topic.title)] + rows
        }
        return topics + (signs.isEmpty ? [] : [.topic("Signs and words")]) + signs
    }

    private func selectedRow(_ model: Model) -> Row? { rows(model).dropFirst(selected).first { !$0.isTopic } }

    func press(_ model: inout Model, _ key: Key) -> [Effect] {
        var list = self
        var step = step(key, model) ?? 0
        switch (key.code, key.modifiers) {
        case (.escape, _):
            model.overlay = nil
            return []
        case (.enter, _):
            let row = selectedRow(model)
            if case .sign? = row { return [] }
            model.overlay = nil
            guard case .action(let action)? = row else { return [] }
            return Browser.perform(&model, action.id)
        case _ where step != 0: break
        case (.home, _): step = -list.selected
        case (.end, _): step = .max / 2
        default:
            if list.field.handle(key) { (list.selected, list.first) = (0, 0) }
        }
        let rows = list.rows(model)
        list.selected = max(0, min(list.selected + step, rows.count - 1))
        if rows.indices.contains(list.selected), rows[list.selected].isTopic {
            list.selected += step < 0 && list.selected > 0 ? -1 : 1
        }
        // The title of a topic is visible with its first line.
        let top = list.selected > 0 && rows[list.selected - 1].isTopic ? list.selected - 1 : list.selected
        list.first = min(list.first, top)
        return list.show(&model)
    }

    func spoken(_ model: Model) -> SpokenOverlay {
        let row = selectedRow(model)
        var words = row.map { self.words(of: $0, model) }
        if case .action(let action)? = row { words = "\(action.keyList): \(action.title). \(action.help)" }
        return SpokenOverlay(
            [isHelp ? "Help: \(model.screenName)" : "Actions"], words ?? "No matching action.")
    }

    private func places(_ model: Model) -> (box: Rect, field: Rect, list: Rect, detail: Rect) {
        let isSmall = model.size.rows < 8 || model.size.columns < 30
        let screen = isSmall ? Rect(model.size) : OverlayPlaces.dialogs(model).inset(top: 1)
        let columns = isSmall ? screen.columns : min(screen.columns - 4, isHelp ? 96 : 56)
        let all = ActionList(isHelp: isHelp, field: TextField()).rows(model).count
        let detailRows = isHelp && model.size.rows >= 14 ? 3 : 0
        let rows = isSmall ? screen.rows : min(screen.rows, all + 3 + detailRows)
        let box = screen.centered(Size(columns: columns, rows: rows))
        let inner = isSmall ? box : box.inset(top: 1, left: 2, bottom: 1, right: 2)
        let (field, rest) = inner.split(top: 1)
        let parts = rest.split(bottom: detailRows)
        return (box, field, parts.rest, parts.bottom)
    }

    /// Names the action of other screens, if one matches.
    private func noMatch(_ model: Model) -> String {
        let found = Screen.allCases.lazy.compactMap {
            model.keyMap.search(field.text, in: $0).first
        }.first
        guard let found, let key = found.keys.first else { return "No matching action." }
        let screens = Screen.allCases.filter(found.contexts.contains).map(\.title)
        return "\(key) \(found.title): only on \(screens.joined(separator: ", "))."
    }

    func draw(_ model: Model, into frame: inout Frame) {
        let look = model.look
        let places = places(model)
        if places.field.column > places.box.column {
            let title = isHelp ? " Help: \(model.screenName) " : " Actions "
            OverlayView.drawBox(places.box, around: places.field, title: title, into: &frame, look)
        } else {
            frame.fill(places.box, style: look[.dialog])
        }
        let rows = rows(model)
        let items = rows.map { row in
            switch row {
            case .topic(let title): List.Item([Span(title, look[.header].over(look[.dialog]))])
            case .action(let action): item(action, model, columns: places.list.columns)
            case .sign(let line): item(line, columns: places.list.columns, look: look)
            }
        }
        let selected = rows.indices.first { $0 >= self.selected && !rows[$0].isTopic }
        List(items, selected: selected, first: first, role: .dialog)
            .draw(into: &frame, in: places.list, look: look)
        if items.isEmpty {
            frame.write(
                noMatch(model), at: places.list.origin, style: look[.dim].over(look[.dialog]),
                within: places.list)
        }
        if let selected, !places.detail.isEmpty {
            frame.fill(
                places.detail.line(0), style: look[.dialogBorder].over(look[.dialog]),
                character: look.glyphs.horizontal)
            let lines = TextWrap.lines(words(of: rows[selected], model), columns: places.detail.columns)
            for (row, line) in lines.prefix(2).enumerated() {
                frame.write(
                    line, at: places.detail.line(row + 1).origin, style: look[.dialog], within: places.detail)
            }
        }
        field.draw(into: &frame, in: places.field, look: look)
    }

    private func words(of row: ActionList.Row, _ model: Model) -> String {
        switch row {
        case .topic(let title): title
        case .action(let action): "\(keys(action)): \(model.disabledReason(of: action.id) ?? action.help)"
        case .sign(let line): "\(line.sign): \(line.words)"
        }
    }

    /// All keys of an action; `1 to 9` for the stores.
    private func keys(_ action: BrowserAction) -> String {
        action.id == .store1 ? (action.keys.first.map { "\($0) to 9" } ?? "") : action.keyList
    }

    private func item(_ line: Legend.Line, columns: Int, look: Look) -> List.Item {
        let words = look.cut(line.words, to: max(0, columns - 15))
        return List.Item([
            Span(TextWidth.pad(line.sign, to: 13) + " ", look[.accent]), Span(words, look[.dim]),
        ])
    }

    private func item(_ action: BrowserAction, _ model: Model, columns: Int) -> List.Item {
        let look = model.look
        guard isHelp else { return List.Item(action.title, trailing: action.keyList) }
        let title = action.id == .store1 ? "Store" : action.title
        // Lists the keys that fit; the description of the selected action has all.
        var keys = action.id == .store1 ? keys(action) : ""
        for key in action.keys where action.id != .store1 {
            let longer = keys.isEmpty ? key.description : "\(keys), \(key.description)"
            if keys.isEmpty || longer.count <= 13 { keys = longer }
        }
        var spans = [Span(TextWidth.pad(keys, to: 13) + " ", look[.key])]
        // One column is for the scroll bar.
        let available = columns - 14 - 18 - 1
        if available >= 16 {
            spans.append(Span(TextWidth.pad(title, to: 17) + " "))
            let help = model.disabledReason(of: action.id) ?? action.help
            spans.append(Span(look.cut(help, to: available), look[.dim]))
        } else {
            spans.append(Span(title))
        }
        return List.Item(spans)
    }
}
