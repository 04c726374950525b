import ArchiveQuery
import TerminalKit

struct ColumnChoice: ListOverlay {
    struct Item: Sendable, Hashable {
        var title: String
        var isShown: Bool
        /// Nil: a column of metadata.
        var property: QueryProperty?
        var note = ""
    }

    var items: [Item]
    var title = "Columns"
    /// Whether properties can be ordered and added.
    var isOfProperties = false
    /// The part of a title that is searched for.
    var field = TextField()
    var selected = 0
    var first = 0

    /// The first column whose title equals the text, or else contains it.
    var found: Int? {
        let wanted = field.text.lowercased()
        return items.firstIndex { $0.title.lowercased() == wanted }
            ?? items.firstIndex { $0.title.lowercased().contains(wanted) }
    }

    var hidden: Set<String> { Set(items.filter { $0.property == nil && !$0.isShown }.map(\.title)) }
    var properties: [QueryProperty] { items.filter(\.isShown).compactMap(\.property) }

    init(titles: [String], hidden: Set<String>) {
        items = titles.map { Item(title: $0, isShown: !hidden.contains($0)) }
    }

    init(
        shown: [QueryProperty], others: [QueryProperty], note: (QueryProperty) -> String, titles: [String],
        hidden: Set<String>
    ) {
        self.init(titles: titles, hidden: hidden)
        let properties = shown + others.filter { !shown.contains($0) }
        items =
            properties.enumerated().map { place, property in
                Item(
                    title: property.columnName, isShown: place < shown.count, property: property,
                    note: note(property))
            } + items
        isOfProperties = true
    }

    mutating func move(by step: Int) {
        let other = selected + step
        guard items.indices.contains(selected), items.indices.contains(other),
            items[selected].property != nil,
            items[other].property != nil
        else { return }
        items.swapAt(selected, other)
        selected = other
    }

    var keys: [(key: String, title: String)] {
        [
            ("enter", "Show or hide"), isOfProperties ? ("< >", "Move") : ("*", "All or none"),
            ("esc", "Close"),
        ]
    }

    func rowCount(_ model: Model) -> Int { items.count }

    func area(_ model: Model) -> Rect { places(model).list }

    func click(_ model: inout Model, _ point: Point) -> [Effect] {
        var choice = self
        choice.field = TextField()
        return choice.clickRow(&model, point)
    }

    func spoken(_ model: Model) -> SpokenOverlay {
        let item = items.indices.contains(selected) ? items[selected] : nil
        return SpokenOverlay([title], item.map { "\($0.title), \($0.isShown ? "shown" : "hidden")" })
    }

    func press(_ model: inout Model, _ key: Key) -> [Effect] {
        var choice = self
        switch key {
        case Key(.escape):
            model.overlay = nil
            return model.parts.columnsChosen(&model)
        case Key(.enter) where !choice.field.text.isEmpty && choice.found == nil:
            guard choice.isOfProperties, let archive = model.archiveInView else { return [] }
            return EntriesScreen.addColumn(&model, choice.field.text, archive)
        case Key(.enter), .character(" "):
            choice.toggle(&model)
            choice.field = TextField()
        case .character("*"):
            let isAll = choice.items.allSatisfy { $0.isShown || $0.property != nil }
            for place in choice.items.indices where choice.items[place].property == nil {
                choice.items[place].isShown = !isAll
            }
        case .character("<"): choice.move(by: -1)
        case .character(">"): choice.move(by: 1)
        default:
            let last = choice.items.count - 1
            if key.text == nil,
                let row = Browser.row(after: key, choice.selected, last: last, page: area(model).rows - 1)
            {
                (choice.selected, choice.field) = (row, TextField())
            } else if choice.field.handle(key) {
                choice.selected = choice.found ?? choice.selected
            } else {
                return Browser.reportUnusedKey(&model, key)
            }
        }
        model.parts.show(choice, &model)
        return choice.show(&model)
    }

    private mutating func toggle(_ model: inout Model) {
        guard items.indices.contains(selected) else { return }
        let item = items[selected]
        if item.property != nil, !item.isShown, properties.count >= ChosenColumns.maximumProperties {
            return model.say("At most \(ChosenColumns.maximumProperties) properties.", role: .warning)
        }
        items[selected].isShown.toggle()
    }

    private func places(_ model: Model) -> (box: Rect, list: Rect) {
        let widest = items.reduce(max(20, title.count)) {
            max($0, TextWidth.width(of: $1.title) + ($1.note.isEmpty ? 0 : $1.note.count + 2))
        }
        return OverlayPlaces.listBox(columns: widest + 10, rows: items.count, model)
    }

    func draw(_ model: Model, into frame: inout Frame) {
        let look = model.look
        frame.cursor = nil
        let places = places(model)
        let typed = TerminalText.sanitized(field.text)
        let result = found != nil ? "" : isOfProperties ? "; enter adds it" : "; no match"
        let title = typed.isEmpty ? self.title : "Columns: \(typed)\(result)"
        let properties = items.filter { $0.property != nil }.map(\.title)
        let rows = items.map { item in
            let title = EntriesView.Column.heading(
                item.title, isProperty: item.property != nil, besides: properties)
            return List.Item(
                [
                    Span(item.isShown ? "[x] " : "[ ] ", look[.key]),
                    Span(TerminalText.sanitized(title)),
                ], trailing: item.note)
        }
        OverlayView.drawList(
            rows, selected: selected, first: first, in: places, title: title, into: &frame, look)
    }
}

extension Browser {
    static func chooseColumns(_ model: inout Model) -> [Effect] {
        guard let choice = model.parts.columnChoice(model) else {
            return model.reply("No columns to choose here.")
        }
        model.overlay = choice
        return choice.isOfProperties ? EntriesScreen.loadSample(model) : []
    }

    static func scroll(_ model: inout Model, columns: Int) {
        guard let table = model.parts.table(model) else { return }
        // A table with fixed columns scrolls within its last column.
        guard table.columnsBefore != nil else { return model.parts.scroll(columns: columns, &model) }
        if columns > 0, table.layout(in: model.layout.list).leftOut == 0 {
            return model.say("No more columns to the right.", seconds: 3)
        }
        if columns < 0, table.columnsBefore == 0 {
            return model.say("No more columns to the left.", seconds: 3)
        }
        model.parts.scroll(columns: columns, &model)
    }
}
