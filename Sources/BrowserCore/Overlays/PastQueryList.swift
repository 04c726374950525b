import TerminalKit

/// The queries that were asked, to search: the line gets the chosen one. A value; safe to share between threads.
struct PastQueryList: Sendable {
    /// The latest first, of the archive itself before those of others.
    let all: [PastQuery]
    var field = TextField(placeholder: "part of a query")
    var selected = 0
    var first = 0

    var found: [PastQuery] {
        let wanted = field.text.lowercased()
        return wanted.isEmpty ? all : all.filter { $0.text.lowercased().contains(wanted) }
    }
}

extension Browser {
    static func press(_ model: inout Model, _ key: Key, in old: PastQueryList) -> [Effect] {
        var list = old
        switch (key.code, key.modifiers) {
        case (.escape, _):
            model.overlay = nil
            return []
        case (.enter, _):
            model.overlay = nil
            let found = list.found
            guard found.indices.contains(list.selected) else { return [] }
            model.query?.field.text = found[list.selected].text
            model.query?.recalled = nil
            QueryScreen.retyped(&model)
            return []
        case (.up, _), (.character("p"), .control): list.selected -= 1
        // Pressed again it goes on to the next, as shells do.
        case (.down, _), (.character("n"), .control), (.character("r"), .control): list.selected += 1
        default: if list.field.handle(key) { (list.selected, list.first) = (0, 0) }
        }
        let count = list.found.count
        list.selected = max(0, min(list.selected, count - 1))
        list.first = Table.firstRow(
            showing: list.selected, of: count, in: OverlayPlaces.pastQueries(list, model).list.rows,
            from: list.first)
        model.overlay = .pastQueries(list)
        return []
    }
}

extension OverlayPlaces {
    static func pastQueries(_ list: PastQueryList, _ model: Model) -> (box: Rect, field: Rect, list: Rect) {
        let screen = dialogs(model)
        let isSmall = screen.rows < 6 || screen.columns < 30
        let size = Size(
            columns: isSmall ? screen.columns : min(screen.columns - 4, 100),
            rows: min(screen.rows, list.all.count + (isSmall ? 2 : 3)))
        let box = screen.centered(size)
        let inner = isSmall ? box.split(top: 1).rest : box.inset(top: 1, left: 2, bottom: 1, right: 2)
        let (field, rest) = inner.split(top: 1)
        return (box, field, rest)
    }
}

extension OverlayView {
    static func draw(_ list: PastQueryList, _ model: Model, into frame: inout Frame) {
        let look = model.look
        let places = OverlayPlaces.pastQueries(list, model)
        drawBox(places.box, around: places.list, title: " Asked before ", into: &frame, look)
        let found = list.found
        let items = found.map { past in
            let archive =
                past.archive == model.query?.archive.name ? "" : TerminalText.sanitized(past.archive) + "  "
            return List.Item(
                [Span(archive, look[.dim]), Span(TerminalText.sanitized(past.text))],
                trailing: TerminalText.sanitized(past.outcome))
        }
        List(items, selected: found.isEmpty ? nil : list.selected, first: list.first, role: .dialog)
            .draw(into: &frame, in: places.list, look: look)
        if found.isEmpty {
            frame.write(
                "No query holds that.", at: places.list.origin, style: look[.dim].over(look[.dialog]),
                within: places.list)
        }
        list.field.draw(into: &frame, in: places.field, look: look)
    }
}
