import ArchiveQuery
import StoreInspection
import TerminalKit

extension SearchList {
    /// A list of properties and other things to count values by. A property that isn't listed can be typed.
    static func counting(
        by items: [Item], chosen: @escaping @Sendable (inout Model, Int) -> [Effect],
        typed: @escaping @Sendable (inout Model, QueryProperty) -> [Effect]
    ) -> SearchList {
        var list = SearchList(
            title: "Count by", items, placeholder: "part of a name, or another property",
            nothing: "No match; enter counts by the typed property.", chosen: chosen)
        list.keys[0] = ("enter", "Count")
        list.typed = { model, text in Browser.property(text, &model).map { typed(&model, $0) } ?? [] }
        return list
    }
}

extension EntriesScreen {
    static func chooseFrequency(_ model: inout Model) -> [Effect] {
        model.overlay = frequencies(model)
        return loadSample(model)
    }

    /// The sorted property, the shown columns, metadata, and other properties.
    static func frequencies(_ model: Model) -> SearchList {
        let entries = model.entries ?? model.groups?.before
        let sample = entries?.sample ?? PropertySample()
        let sorted = entries?.order.property.map { [Grouping.property($0)] } ?? []
        let shown = (entries?.properties ?? []).map(Grouping.property)
        let others = sample.properties.map(Grouping.property)
        var seen: Set<Grouping> = []
        let metadata: [Grouping] =
            model.isOfServer
            ? [.property(.metadata(.type)), .property(.metadata(.encoding))]
            : [.owner, .kind, .property(.metadata(.tier))]
        let choices = (sorted + shown + metadata + others)
            .filter { seen.insert($0).inserted }
        let items = choices.map { choice in
            var note = ""
            if case .property(let property) = choice { note = sample.note(of: property) }
            return SearchList.Item(text: choice.name, note: note)
        }
        var list = SearchList.counting(by: items) { model, number in
            GroupsScreen.count(by: choices[number], &model)
        } typed: { model, property in
            GroupsScreen.count(by: .property(property), &model)
        }
        list.isOfFrequencies = true
        return list
    }
}
