import ArchiveQuery
import StoreInspection
import TerminalKit

extension EntriesScreen {
    static func columnChoice(_ model: Model) -> ColumnChoice? {
        model.entries.map { entries in
            let sample = entries.sample ?? PropertySample()
            var choice = ColumnChoice(
                shown: entries.properties ?? [], others: sample.properties,
                note: { sample.note(of: $0) },
                titles: ChosenColumns.hideable.filter { title in
                    !entries.unreported.contains { $0.title == title }
                }, hidden: entries.hiddenColumns)
            if !sample.properties.isEmpty {
                choice.title = "Columns (properties of the latest \(Figures.count(sample.values)) values)"
            }
            return choice
        }
    }

    static func show(_ columns: ColumnChoice, _ model: inout Model) {
        model.entries?.hiddenColumns = columns.hidden
        model.entries?.properties = columns.properties
    }

    static func columnsChosen(_ model: inout Model) -> [Effect] {
        guard let entries = model.entries else { return [] }
        let chosen = ChosenColumns(
            archive: entries.archive.name, in: entries.archive.store,
            properties: entries.properties ?? [], hidden: entries.hiddenColumns)
        var effects: [Effect] = [keep(chosen, of: entries.archive)]
        // The rows can't stay sorted by a column that was removed.
        if let property = entries.order.property, entries.properties?.contains(property) != true {
            effects += arrange(&model, by: model.isOfServer ? .found : .recency)
        }
        return effects
    }

    private static func keep(_ chosen: ChosenColumns, of archive: ArchiveAddress) -> Effect {
        .ask("keep the columns of \(chosen.archive)") { (context) throws(SourceError) in
            // An unchanged choice isn't written.
            var known =
                try context.source.columns(of: archive)
                ?? ChosenColumns(archive: archive.name, properties: [], hidden: [])
            known.store = archive.store
            if known != chosen { try context.source.keep(chosen) }
        } done: { model, result in
            _ = model.take(result, "Columns are kept for this session only: ", role: .warning, seconds: 10)
        }
    }

    static func addColumn(_ model: inout Model, _ text: String, _ archive: ArchiveAddress)
        -> [Effect]
    {
        guard model.screen == .entries, var properties = model.entries?.properties,
            model.entries?.archive == archive, let property = Browser.property(text, &model)
        else { return [] }
        if !properties.contains(property) { properties.append(property) }
        guard properties.count <= ChosenColumns.maximumProperties else {
            return model.reply("At most \(ChosenColumns.maximumProperties) property columns.", role: .warning)
        }
        model.entries?.properties = properties
        let effects = columnsChosen(&model)
        var choice = columnChoice(model)
        choice?.selected = properties.firstIndex(of: property) ?? 0
        model.overlay = choice
        return effects
    }

    static func sampleLoaded(_ model: inout Model) {
        if let old = model.overlay as? ColumnChoice {
            guard old.isOfProperties, var choice = columnChoice(model) else { return }
            let held = old.items.indices.contains(old.selected) ? old.items[old.selected].title : ""
            choice.field = old.field
            choice.selected = old.selected == 0 ? 0 : choice.items.firstIndex { $0.title == held } ?? 0
            model.overlay = choice
        } else if let old = model.overlay as? SearchList, old.isOfFrequencies {
            var list = frequencies(model)
            (list.field, list.selected, list.first) = (old.field, old.selected, old.first)
            model.overlay = list
        }
    }
}

extension PropertySample {
    /// `180 of 200`
    func note(of property: QueryProperty) -> String {
        let count = occurrences(of: property)
        return values == 0 || count == 0 ? "" : "\(Figures.count(count)) of \(Figures.count(values))"
    }
}
