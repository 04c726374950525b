import ArchiveQuery
import StoreInspection
import TerminalKit

extension QueryScreen {
    static func loadSavedQueries(then: @escaping @Sendable (inout Model) -> [Effect] = { _ in [] })
        -> [Effect]
    {
        .ask("load saved queries") { (context) throws(SourceError) in
            try context.source.savedQueries()
        } then: { model, result in
            if let saved = model.take(result, role: .warning, seconds: 10) {
                model.savedQueries = saved
                for query in model.unkeptQueries { model.savedQueries.save(query) }
            }
            return then(&model)
        }
    }

    static func askName(_ model: inout Model) {
        guard let query = model.query, !query.field.text.allSatisfy(\.isWhitespace) else {
            return model.say("No query to save.")
        }
        let text = query.text
        // A saved query's name is offered, so that saving replaces it.
        let known = model.savedQueries.last { $0.archive == query.archive.name && $0.text == text }
        model.prompt = Prompt(
            label: "save as: ", field: TextField(known?.name ?? "", placeholder: "a name"),
            keys: [("enter", "Save"), ("esc", "Cancel")],
            purpose: .saveQuery(SavedQuery(name: "", archive: query.archive.name, text: text)))
    }

    static func save(_ model: inout Model, _ query: SavedQuery, named name: String) -> [Effect] {
        let name = String(name.trimmingSpaces())
        guard !name.isEmpty else {
            return model.reply("Nothing was saved: a name is needed.", role: .warning)
        }
        var named = query
        named.name = name
        let wanted = named
        // Another browser may have saved a query of that name.
        return loadSavedQueries { model in saveUnlessOther(&model, wanted) }
    }

    private static func saveUnlessOther(_ model: inout Model, _ named: SavedQuery) -> [Effect] {
        let old = model.savedQueries.first { $0.isNamed(named.name, of: named.archive) }
        guard let old, old.text != named.text else { return keep(&model, named) }
        model.overlay = Choice(
            title: "Replace the saved query?", lines: ["\(named.name) is now: \(old.text)"],
            button: "Replace"
        ) { model in
            keep(&model, named)
        } left: { model in
            model.say("Nothing was saved.", seconds: 3)
        }
        return []
    }

    private static func keep(_ model: inout Model, _ query: SavedQuery) -> [Effect] {
        model.savedQueries.save(query)
        model.unkeptQueries.remove(query.name, of: query.archive)
        return .ask("save the query \(query.name)") { (context) throws(SourceError) in
            try context.source.save(query)
        } done: { model, result in
            guard model.take(result, "Saved for this session only: ", role: .warning, seconds: 10) != nil
            else { return model.unkeptQueries.save(query) }
            do throws(QuerySyntaxError) {
                _ = try QueryPipeline(query.text)
                model.say("Saved as \(query.name).", role: .good, seconds: 3)
            } catch {
                model.say("Saved as \(query.name) with its error: \(error)", role: .warning)
            }
        }
    }

    static func askSaved(_ model: inout Model) -> [Effect] {
        // Known queries are listed at once, so that typing can continue.
        let isShown = !model.savedQueries.isEmpty
        if isShown { showSaved(&model) }
        return loadSavedQueries { model in
            if let old = model.overlay as? SearchList, old.isOfSavedQueries {
                showSaved(&model)
                guard var list = model.overlay as? SearchList else { return [] }
                list.field = old.field
                let found = old.found
                let held = found.indices.contains(old.selected) ? old.items[found[old.selected]] : nil
                list.selected = list.found.firstIndex { list.items[$0] == held } ?? 0
                list.first = old.first
                model.overlay = list
            } else if !isShown, model.screen == .query, model.overlay == nil, model.prompt == nil {
                showSaved(&model)
            }
            return []
        }
    }

    private static func showSaved(_ model: inout Model) {
        guard let query = model.query else { return }
        func isOwn(_ saved: SavedQuery) -> Bool {
            saved.setting != nil || saved.archive == query.archive.name
        }
        let own = model.savedQueries.filter(isOwn)
        let others = model.savedQueries.filter { !isOwn($0) }
        let all =
            own.sorted { $0.name < $1.name } + others.sorted { ($0.archive, $0.name) < ($1.archive, $1.name) }
        guard !all.isEmpty else {
            return model.say("No saved queries; \(Browser.keyName(model, .saveQuery)) saves this one.")
        }
        var list = SearchList(
            title: "Saved queries",
            all.map { saved in
                SearchList.Item(
                    origin: isOwn(saved) ? saved.name : "\(saved.archive): \(saved.name)",
                    text: saved.text)
            }, placeholder: "part of a name or of a query", nothing: "No saved query matches."
        ) { model, number in
            take(&model, all[number].text)
            return []
        }
        list.isOfSavedQueries = true
        list.keys.insert(("ctrl+x", "Delete"), at: 1)
        list.removed = { model, number in
            confirmForgetting(&model, all[number])
            return []
        }
        model.overlay = list
    }

    private static func confirmForgetting(_ model: inout Model, _ query: SavedQuery) {
        if let place = query.setting {
            return model.say("\(query.name) is set in \(place); delete it there.", role: .warning)
        }
        model.overlay = Choice(
            title: "Delete the saved query?", lines: ["\(query.name): \(query.text)"], button: "Delete"
        ) { model in
            forget(&model, query)
        } left: { model in
            showSaved(&model)
        }
    }

    private static func forget(_ model: inout Model, _ query: SavedQuery) -> [Effect] {
        model.savedQueries.remove(query.name, of: query.archive)
        model.unkeptQueries.remove(query.name, of: query.archive)
        if model.savedQueries.isEmpty { model.overlay = nil } else { showSaved(&model) }
        return .ask("forget the query \(query.name)") { (context) throws(SourceError) in
            try context.source.forget(query)
        } done: { model, result in
            if model.take(result, "Not deleted from the file: ", role: .warning, seconds: 10) != nil {
                model.say("Deleted \(query.name).", seconds: 3)
            }
        }
    }
}
