import TerminalKit

enum OverlayPlaces {
    static func actions(
        _ list: ActionList, _ model: Model
    ) -> (box: Rect, field: Rect, list: Rect, detail: Rect) {
        let isSmall = model.size.rows < 8 || model.size.columns < 30
        let screen = isSmall ? Rect(model.size) : dialogs(model).inset(top: 1)
        let columns = isSmall ? screen.columns : min(screen.columns - 4, list.isHelp ? 96 : 56)
        let all = Browser.rows(of: ActionList(isHelp: list.isHelp, field: TextField()), model).count
        let detailRows = list.isHelp && model.size.rows >= 14 ? 3 : 0
        let rows = isSmall ? screen.rows : min(screen.rows, all + 3 + detailRows)
        let box = screen.centered(Size(columns: columns, rows: rows))
        let inner = isSmall ? box : box.inset(top: 1, left: 2, bottom: 1, right: 2)
        let (field, rest) = inner.split(top: 1)
        let parts = rest.split(bottom: detailRows)
        return (box, field, parts.rest, parts.bottom)
    }

    /// The centered box of a list of at most this size, and the area within its border, which small screens lack.
    static func listBox(columns: Int, rows: Int, _ model: Model) -> (box: Rect, list: Rect) {
        let screen = dialogs(model)
        let isSmall = screen.rows < 6 || screen.columns < 30
        let box = screen.centered(
            Size(
                columns: isSmall ? screen.columns : min(screen.columns - 4, columns),
                rows: min(screen.rows, rows + (isSmall ? 1 : 2))))
        return (box, isSmall ? box.split(top: 1).rest : box.inset(top: 1, left: 2, bottom: 1, right: 2))
    }

    /// On lower screens dialogs cover the status line.
    static let leastRows = 12

    /// The area of dialogs: above the status line and the hints, unless the screen is too low.
    static func dialogs(_ model: Model) -> Rect {
        let screen = Rect(model.size)
        return screen.split(bottom: screen.rows >= leastRows ? 2 : screen.rows >= 9 ? 1 : 0).rest
    }

    static func actionRows(_ model: Model) -> Int {
        guard case .actions(let list) = model.overlay else { return 0 }
        return actions(list, model).list.rows
    }

    static func dialog(_ box: MessageBox, _ model: Model) -> Dialog {
        Dialog(
            title: box.title, body: box.lines, buttons: ["Close"], firstLine: box.first,
            maximumColumns: messageColumns(model) + 4)
    }

    static func messageColumns(_ model: Model) -> Int { max(16, min(96, model.size.columns - 8)) }

    static func dialog(_ choice: Choice) -> Dialog {
        Dialog(
            title: choice.title, body: choice.lines, buttons: choice.buttons, selectedButton: choice.selected,
            firstLine: choice.first)
    }
}

enum OverlayView {
    static func draw(_ model: Model, into frame: inout Frame) {
        drawBox(model, into: &frame)
        // On low screens a notice replaces the last row.
        guard model.overlay != nil, let notice = model.notice, model.size.rows < OverlayPlaces.leastRows
        else { return }
        Bar(left: [Span(notice.text, model.look[notice.role])], role: .text)
            .draw(into: &frame, in: Rect(model.size).split(bottom: 1).bottom, look: model.look)
    }

    private static func drawBox(_ model: Model, into frame: inout Frame) {
        switch model.overlay {
        case nil: return
        case .plan(let plan):
            frame.cursor = nil
            let dialog = OverlayPlaces.dialog(plan, model)
            frame.draw(dialog, in: OverlayPlaces.dialogs(model), look: model.look)
            let content = dialog.places(in: OverlayPlaces.dialogs(model)).content
            plan.name?.draw(into: &frame, in: content, look: model.look)
        case .expire(let form): draw(form, model, into: &frame)
        case .undoList(let list): draw(list, model, into: &frame)
        case .columns(let choice): draw(choice, model, into: &frame)
        case .search(let list): draw(list, model, into: &frame)
        case .message(let box):
            frame.cursor = nil
            frame.draw(OverlayPlaces.dialog(box, model), in: OverlayPlaces.dialogs(model), look: model.look)
        case .actions(let list): draw(list, model, into: &frame)
        case .choice(let choice):
            frame.cursor = nil
            frame.draw(OverlayPlaces.dialog(choice), in: OverlayPlaces.dialogs(model), look: model.look)
        case .copy(let menu): draw(menu, model, into: &frame)
        case .edit(let plan): draw(plan, model, into: &frame)
        }
    }

    /// Draws the box of a list; small screens have no border.
    static func drawBox(_ box: Rect, around list: Rect, title: String, into frame: inout Frame, _ look: Look)
    {
        frame.fill(box, style: look[.dialog])
        let hasBorder = list.column > box.column
        if hasBorder {
            frame.border(box, style: look[.dialogBorder].over(look[.dialog]), glyphs: look.glyphs)
        }
        let line = box.line(0).inset(left: hasBorder ? 2 : 0)
        let room = line.columns - (hasBorder ? 2 : 0)
        frame.write(
            TextWidth.truncate(title, to: max(0, room), cutting: .middle, ellipsis: look.glyphs.ellipsis),
            at: line.origin, style: look[.title].over(look[.dialog]), within: line)
    }

    /// Names the action of other screens, if one matches.
    private static func noMatch(_ list: ActionList, _ model: Model) -> String {
        let found = Screen.allCases.lazy.compactMap {
            model.keyMap.search(list.field.text, in: $0).first
        }.first
        guard let found, let key = found.keys.first else { return "No matching action." }
        let screens = Screen.allCases.filter(found.contexts.contains).map(\.title)
        return "\(key) \(found.title): only on \(screens.joined(separator: ", "))."
    }

    private static func draw(_ list: ActionList, _ model: Model, into frame: inout Frame) {
        let look = model.look
        let places = OverlayPlaces.actions(list, model)
        if places.field.column > places.box.column {
            let title = list.isHelp ? " Help: \(model.screenName) " : " Actions "
            drawBox(places.box, around: places.field, title: title, into: &frame, look)
        } else {
            frame.fill(places.box, style: look[.dialog])
        }
        let rows = Browser.rows(of: list, model)
        let items = rows.map { row in
            switch row {
            case .topic(let title): List.Item([Span(title, look[.header].over(look[.dialog]))])
            case .action(let action): item(action, list, model, columns: places.list.columns)
            case .sign(let line): item(line, columns: places.list.columns, look: look)
            }
        }
        let selected = rows.indices.first { $0 >= list.selected && !rows[$0].isTopic }
        List(items, selected: selected, first: list.first, role: .dialog)
            .draw(into: &frame, in: places.list, look: look)
        if items.isEmpty {
            frame.write(
                noMatch(list, model), at: places.list.origin, style: look[.dim].over(look[.dialog]),
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
        list.field.draw(into: &frame, in: places.field, look: look)
    }

    static func words(of row: ActionList.Row, _ model: Model) -> String {
        switch row {
        case .topic(let title): title
        case .action(let action): "\(keys(action)): \(model.objection(to: action.id) ?? action.help)"
        case .sign(let line): "\(line.sign): \(line.words)"
        }
    }

    /// All keys of an action; `1 to 9` for the stores.
    private static func keys(_ action: BrowserAction) -> String {
        action.id == .store1 ? (action.keys.first.map { "\($0) to 9" } ?? "") : action.keyList
    }

    private static func item(_ line: Legend.Line, columns: Int, look: Look) -> List.Item {
        let words = TextWidth.truncate(line.words, to: max(0, columns - 15), ellipsis: look.glyphs.ellipsis)
        return List.Item([
            Span(TextWidth.pad(line.sign, to: 13) + " ", look[.accent]), Span(words, look[.dim]),
        ])
    }

    private static func item(
        _ action: BrowserAction, _ list: ActionList, _ model: Model, columns: Int
    ) -> List.Item {
        let look = model.look
        guard list.isHelp else { return List.Item(action.title, trailing: action.keyList) }
        // The keys that fit; the description of the selected line has all.
        var keys = action.id == .store1 ? keys(action) : ""
        for key in action.keys where action.id != .store1 {
            let longer = keys.isEmpty ? key.description : "\(keys), \(key.description)"
            if keys.isEmpty || longer.count <= 13 { keys = longer }
        }
        var spans = [Span(TextWidth.pad(keys, to: 13) + " ", look[.key])]
        // One column is for the scroll bar.
        let room = columns - 14 - 18 - 1
        if room >= 16 {
            spans.append(Span(TextWidth.pad(action.title, to: 17) + " "))
            let help = model.objection(to: action.id) ?? action.help
            spans.append(
                Span(TextWidth.truncate(help, to: room, ellipsis: look.glyphs.ellipsis), look[.dim]))
        } else {
            spans.append(Span(action.title))
        }
        return List.Item(spans)
    }
}
