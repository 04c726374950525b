import ArchiveQuery
import StoreInspection
import TerminalKit

extension QueryScreen {
    static func typingKeys(_ model: Model) -> [(key: String, title: String)]? {
        guard let query = model.query, query.isTyping else { return nil }
        if Browser.isAsking(model) { return [("esc", "Stop")] }
        return [
            ("f1", "Help"), ("enter", "Run"), ("tab", "Complete"),
            ("esc", query.answer == nil ? "Back" : "Result"), ("up", "Previous"),
            ("ctrl+r", "Search history"), ("ctrl+s", "Save"),
            ("ctrl+o", "Saved queries"), ("alt+enter", "New line"),
        ]
    }

    static func paste(_ model: inout Model, _ text: String) -> [Effect] {
        model.query?.field.insert(text)
        retyped(&model)
        return []
    }

    static func press(_ model: inout Model, _ key: Key) -> [Effect] {
        guard var query = model.query else { return [] }
        switch (key.code, key.modifiers) {
        // Some terminals send Enter with a modifier as Enter.
        case (.enter, .alt), (.enter, .shift), (.character("n"), .control):
            query.field.insert("\n")
            query.cycle = nil
            query.recalled = nil
        case (.enter, _): return ask(&model)
        case (.escape, _):
            query.cycle = nil
            if query.answer != nil, !query.field.text.isEmpty || query.answered.isEmpty {
                query.isTyping = false
                model.query = query
                return []
            }
            return back(&model)
        case (.character("r"), .control):
            searchHistory(&model)
            return []
        case (.character("s"), .control):
            askName(&model)
            return []
        case (.character("o"), .control): return askSaved(&model)
        case (.tab, _): complete(&query.field, query.completions, &query.cycle, step: 1)
        case (.backTab, _): complete(&query.field, query.completions, &query.cycle, step: -1)
        case (.up, _):
            if !query.field.moveLine(by: -1) { recall(&query, model.queryHistory, step: 1) }
        case (.down, _):
            if query.field.moveLine(by: 1) { break }
            if query.recalled == nil, query.answer?.rows.isEmpty == false {
                query.isTyping = false
            } else {
                recall(&query, model.queryHistory, step: -1)
            }
        case (.pageUp, _), (.pageDown, _):
            guard let action = model.keyMap.action(for: key, in: .query) else { return [] }
            return Browser.move(&model, action.id)
        case (.function(1), _):
            model.overlay = MessageBox(
                "Queries; f1 again lists the actions", QuerySyntax.lines.map(\.keepingIndent),
                leadsToActions: true)
            return []
        default:
            guard query.field.handle(key) else { return [] }
            query.cycle = nil
            query.recalled = nil
        }
        let isCycling = query.cycle != nil
        model.query = query
        if isCycling { check(&model) } else { retyped(&model) }
        return []
    }

    static func retyped(_ model: inout Model) {
        check(&model)
        guard let query = model.query else { return }
        let sample = query.sample
        let completions = QueryPipeline.completions(
            in: query.field.text, at: query.field.textBeforeCursor.utf8.count, properties: sample.names
        ) { sample.values(of: $0) }
        let isWritten = completions.count == 1 && query.field.textBeforeCursor.hasSuffix(completions[0].text)
        model.query?.completions = isWritten ? [] : completions
    }

    private static func check(_ model: inout Model) {
        guard var query = model.query else { return }
        query.errors =
            if case .errors(let errors) = QueryPipeline.parse(query.field.text) { errors } else { [] }
        query.problem = nil
        query.field.highlights = query.marked.map { error in
            let start = query.field.place(ofByte: error.range.lowerBound)
            return (start..<max(start + 1, query.field.place(ofByte: error.range.upperBound)), .error)
        }
        model.query = query
    }

    static func complete(
        _ field: inout TextField, _ completions: [QueryCompletion], _ current: inout QueryState.Cycle?,
        step: Int
    ) {
        var cycle: QueryState.Cycle
        if let current {
            cycle = current
            cycle.index = (cycle.index + step + cycle.completions.count) % cycle.completions.count
        } else {
            let choices = completions.filter { $0.kind != .placeholder }
            guard let first = choices.first else { return }
            let place =
                field.place(ofByte: first.range.lowerBound)..<field.place(ofByte: first.range.upperBound)
            cycle = QueryState.Cycle(
                completions: choices, index: step > 0 ? 0 : choices.count - 1, place: place)
        }
        let chosen = cycle.completions[cycle.index]
        let text = chosen.text + (chosen.text.last?.isLetter == true || chosen.kind != .word ? " " : "")
        field.replace(cycle.place, with: text)
        cycle.place = cycle.place.lowerBound..<cycle.place.lowerBound + text.count
        // After a single choice, Tab completes the next word.
        current = cycle.completions.count > 1 ? cycle : nil
    }
}
