import StoreInspection
import TerminalKit

extension QueryScreen {
    static func loadEarlierQueries(_ model: inout Model) -> [Effect] {
        guard !model.knowsEarlierQueries else { return [] }
        model.knowsEarlierQueries = true
        return .ask("load earlier queries") { (context) throws(SourceError) in
            try context.source.pastQueries()
        } done: { model, result in
            guard let earlier = model.take(result, role: .warning, seconds: 10) else { return }
            let since = model.queryHistory
            model.queryHistory = earlier
            for past in since { model.queryHistory.remember(past) }
        }
    }

    static func keep(_ past: PastQuery) -> Effect {
        .ask("keep the query \(past.text)") { (context) throws(SourceError) in
            try context.source.keep(past)
        } done: { model, result in
            _ = model.take(result, "Kept in the history for this session only: ", role: .warning, seconds: 10)
        }
    }

    /// Recalls an older query of this archive or, with a negative step, a newer one.
    static func recall(_ query: inout QueryState, _ history: [PastQuery], step: Int) {
        let past = history.filter { $0.archive == query.archive.name }
        let place = (query.recalled ?? -1) + step
        guard place < past.count, place >= -1 else { return }
        if query.recalled == nil { query.draft = query.field.text }
        query.recalled = place < 0 ? nil : place
        query.field.text = place < 0 ? query.draft : past[past.count - 1 - place].text
        query.cycle = nil
    }

    static func searchHistory(_ model: inout Model) {
        guard let query = model.query else { return }
        let own = model.queryHistory.filter { $0.archive == query.archive.name }
        let others = model.queryHistory.filter { $0.archive != query.archive.name }
        let all: [PastQuery] = own.reversed() + others.reversed()
        guard !all.isEmpty else { return model.say("No earlier queries.") }
        let items = all.map { past in
            SearchList.Item(
                origin: past.archive == query.archive.name ? "" : past.archive, text: past.text,
                note: past.outcome)
        }
        model.overlay = SearchList(
            title: "Query history", items, placeholder: "part of a query",
            nothing: "No query matches."
        ) { model, number in
            take(&model, all[number].text)
            return []
        }
    }

    static func take(_ model: inout Model, _ text: String) {
        model.query?.field.text = text
        model.query?.recalled = nil
        model.query?.isTyping = true
        retyped(&model)
    }
}
