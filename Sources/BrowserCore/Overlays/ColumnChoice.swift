import TerminalKit

/// Which columns a table shows, to choose. A value; safe to share between threads.
struct ColumnChoice: Sendable {
    let titles: [String]
    var hidden: Set<String>
    var selected = 0
    var first = 0
}

extension Browser {
    static func chooseColumns(_ model: inout Model) {
        guard let choice = model.parts.columnChoice(model) else {
            model.say("There are no columns to choose from.")
            return
        }
        model.overlay = .columns(choice)
    }

    /// Moves the columns sideways.
    static func scroll(_ model: inout Model, columns: Int) {
        guard let table = model.parts.table(model) else { return }
        if columns > 0, table.layout(in: model.layout.list).leftOut == 0 {
            return model.say("There is no column further right.", seconds: 3)
        }
        if columns < 0, table.columnsBefore == 0 {
            return model.say("There is no column further left.", seconds: 3)
        }
        model.parts.scroll(columns: columns, &model)
    }

    static func press(_ model: inout Model, _ key: Key, in old: ColumnChoice) -> [Effect] {
        var choice = old
        switch key {
        case Key(.escape), .character("q"), .character("C"):
            model.overlay = nil
            return []
        case Key(.enter), .character(" "):
            choice.hidden.formSymmetricDifference([choice.titles[choice.selected]])
        case .character("*"): choice.hidden = choice.hidden.isEmpty ? Set(choice.titles) : []
        case Key(.up), .character("k"): choice.selected -= 1
        case Key(.down), .character("j"): choice.selected += 1
        case Key(.home), .character("g"): choice.selected = 0
        case Key(.end), .character("G"): choice.selected = choice.titles.count - 1
        default: break
        }
        choice.selected = max(0, min(choice.selected, choice.titles.count - 1))
        let rows = OverlayPlaces.columns(choice, model).list.rows
        choice.first = Table.firstRow(
            showing: choice.selected, of: choice.titles.count, in: rows, from: choice.first)
        model.parts.hide(columns: choice.hidden, &model)
        model.overlay = .columns(choice)
        return []
    }
}

extension OverlayPlaces {
    static func columns(_ choice: ColumnChoice, _ model: Model) -> (box: Rect, list: Rect) {
        let screen = dialogs(model)
        let isSmall = screen.rows < 6 || screen.columns < 30
        let widest = choice.titles.reduce(20) { max($0, TextWidth.width(of: $1)) }
        let wanted = choice.titles.count
        let box = screen.centered(
            Size(
                columns: isSmall ? screen.columns : min(screen.columns - 4, widest + 10),
                rows: min(screen.rows, wanted + (isSmall ? 1 : 2))))
        return (box, isSmall ? box.split(top: 1).rest : box.inset(top: 1, left: 2, bottom: 1, right: 2))
    }
}

extension OverlayView {
    static func draw(_ choice: ColumnChoice, _ model: Model, into frame: inout Frame) {
        let look = model.look
        frame.cursor = nil
        let places = OverlayPlaces.columns(choice, model)
        drawBox(places.box, around: places.list, title: " Columns ", into: &frame, look)
        let items = choice.titles.map { title in
            List.Item([
                Span(choice.hidden.contains(title) ? "[ ] " : "[x] ", look[.key]),
                Span(TerminalText.sanitized(title)),
            ])
        }
        List(items, selected: choice.selected, first: choice.first, role: .dialog)
            .draw(into: &frame, in: places.list, look: look)
    }
}
