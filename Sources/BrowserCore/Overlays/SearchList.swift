import TerminalKit

struct SearchList: SearchedOverlay {
    struct Item: Sendable, Hashable {
        /// Shown before the text, such as the archive of a query.
        var origin = ""
        var text: String
        var note = ""
    }

    let title: String
    let items: [Item]
    var field: TextField
    let nothing: String
    var keys: [(key: String, title: String)] = [("enter", "Select"), ("esc", "Close"), ("up/down", "Move")]
    var isOfFrequencies = false
    var isOfSavedQueries = false
    /// Position among the matches.
    var selected = 0
    var first = 0
    let chosen: @Sendable (inout Model, Int) -> [Effect]
    /// Called with the typed text if no item matches.
    var typed: (@Sendable (inout Model, String) -> [Effect])?
    var removed: (@Sendable (inout Model, Int) -> [Effect])?

    init(
        title: String, _ items: [Item], placeholder: String, nothing: String,
        chosen: @escaping @Sendable (inout Model, Int) -> [Effect]
    ) {
        (self.title, self.items, self.nothing, self.chosen) = (title, items, nothing, chosen)
        field = TextField(placeholder: placeholder)
    }

    /// Indices of the matching items, exact matches first.
    var found: [Int] {
        let wanted = field.text.lowercased()
        guard !wanted.isEmpty else { return Array(items.indices) }
        let found = items.indices.filter { number in
            items[number].text.lowercased().contains(wanted)
                || items[number].origin.lowercased().contains(wanted)
        }
        let exact = found.filter { items[$0].text.lowercased() == wanted }
        return exact + found.filter { !exact.contains($0) }
    }

    func rowCount(_ model: Model) -> Int { found.count }

    func area(_ model: Model) -> Rect { places(model).list }

    func spoken(_ model: Model) -> SpokenOverlay {
        let found = found
        let item = found.indices.contains(selected) ? items[found[selected]] : nil
        let words = item.map { [$0.origin, $0.text, $0.note].filter { !$0.isEmpty } }
        return SpokenOverlay([title], words?.joined(separator: ", ") ?? nothing)
    }

    func press(_ model: inout Model, _ key: Key) -> [Effect] {
        var list = self
        let found = found
        switch (key.code, key.modifiers) {
        case (.escape, _):
            model.overlay = nil
            return []
        case (.enter, _):
            let text = list.field.text
            // Without a match the list stays open and shows the reason.
            guard !found.isEmpty || text.isEmpty || list.typed != nil else { return [] }
            model.overlay = nil
            if found.indices.contains(list.selected) { return list.chosen(&model, found[list.selected]) }
            return text.isEmpty ? [] : list.typed?(&model, text) ?? []
        case (.character("x"), .control):
            guard let removed = list.removed, found.indices.contains(list.selected) else { return [] }
            return removed(&model, found[list.selected])
        // The key that opened the list selects the next row, as in shells.
        case (.character("r"), .control), (.character("o"), .control): list.selected += 1
        case _ where step(key, model) != nil: list.selected += step(key, model) ?? 0
        default: if list.field.handle(key) { (list.selected, list.first) = (0, 0) }
        }
        list.selected = max(0, min(list.selected, list.found.count - 1))
        return list.show(&model)
    }

    private func places(_ model: Model) -> (box: Rect, field: Rect, list: Rect) {
        let (box, inner) = OverlayPlaces.listBox(columns: 100, rows: items.count + 1, model)
        let (field, rest) = inner.split(top: 1)
        return (box, field, rest)
    }

    func draw(_ model: Model, into frame: inout Frame) {
        let look = model.look
        let places = places(model)
        let found = found
        // One column is for the scroll bar.
        let available = max(0, places.list.columns - 1)
        let widest = found.reduce(0) { max($0, TextWidth.width(of: items[$1].origin)) }
        let origins = min(widest, max(8, available / 3))
        let rows = found.map { number in
            let item = items[number]
            var origin = look.cut(item.origin, to: origins, .middle)
            if origins > 0 {
                origin += String(repeating: " ", count: max(0, origins - TextWidth.width(of: origin)) + 2)
            }
            let text = look.cut(item.text, to: max(0, available - TextWidth.width(of: origin)))
            return List.Item(
                [Span(origin, look[.dim]), Span(text)], trailing: TerminalText.sanitized(item.note))
        }
        OverlayView.drawList(
            rows, selected: found.isEmpty ? nil : selected, first: first, in: (places.box, places.list),
            title: title, nothing: nothing, into: &frame, look)
        field.draw(into: &frame, in: places.field, look: look)
    }
}
