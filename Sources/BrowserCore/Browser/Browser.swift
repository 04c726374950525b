import StorageEngine
import TerminalKit

/// The browser as three pure functions: how it starts, what a message changes, how the model looks. Stateless;
/// safe to call from any thread.
package enum Browser {
    /// What is to be read before anything can be shown.
    package static func start(_ model: inout Model) -> [Effect] {
        if let store = model.store {
            model.archives.isPending = true
            return [.loadFigures(store: store)]
        }
        model.stores.isPending = true
        return [.loadStores]
    }

    package static func update(_ model: inout Model, _ message: Message) -> [Effect] {
        var effects: [Effect]
        switch message {
        case .clock(let now):
            advance(&model, to: now)
            effects = []
        case .tick(let now):
            advance(&model, to: now)
            effects = refresh(&model, isForced: false)
        case .input(let event): effects = input(&model, event)
        case .stores(let result): effects = loaded(&model, result)
        case .figures(let store, let result, let at): effects = loaded(&model, store, result, at: at)
        case .arranged(let ticket, let result): effects = EntriesScreen.arranged(&model, ticket, result)
        case .rows(let ticket, let rows): effects = EntriesScreen.loaded(&model, ticket, rows)
        case .value(let purpose, let key, let archive, let result):
            effects = loaded(&model, purpose, key: key, archive: archive, result)
        case .bytes(let key, let archive, let offset, let result):
            effects = loaded(&model, key: key, archive: archive, offset: offset, result)
        case .entry(let key, let archive, let result):
            effects = checked(&model, key: key, archive: archive, result)
        case .collected(let ticket, let marks): effects = EntriesScreen.collected(&model, ticket, marks)
        case .progress(let ticket, let share):
            if model.job?.ticket == ticket { model.job?.share = share }
            effects = []
        case .idle(let ticket, let result): effects = collected(&model, ticket, idle: result)
        case .events(let store, let pages): effects = loaded(&model, store, events: pages)
        case .biography(let key, let archive, let result):
            effects = loaded(&model, key: key, archive: archive, biography: result)
        case .messages(let archive, let range, let result):
            effects = MessagesScreen.loaded(&model, archive: archive, range, messages: result)
        case .properties(let archive, let result):
            if model.query?.archive == archive, case .success(let names) = result {
                model.query?.properties = names
                QueryScreen.retyped(&model)
            }
            effects = []
        case .answered(let ticket, let result): effects = QueryScreen.answered(&model, ticket, result)
        case .exported(let ticket, let path, let result):
            effects = QueryScreen.exported(&model, ticket, path: path, result)
        case .reversible(let purpose, let archive, let result):
            effects = loaded(&model, purpose, archive: archive, reversible: result)
        case .changed(let ticket, let change, let archive, let result):
            effects = changed(&model, ticket, change, archive, result)
        case .undone(let ticket, let result): effects = undone(&model, ticket, result)
        case .cleared(let ticket, let archive, let result): effects = cleared(&model, ticket, archive, result)
        }
        return effects + model.parts.settle(&model, model.layout)
    }

    /// Time passes: what was shown for a while goes.
    private static func advance(_ model: inout Model, to now: Timestamp) {
        model.now = now
        if let notice = model.notice, notice.until <= now { model.notice = nil }
        if let flashes = model.entries?.flashes, !flashes.isEmpty {
            model.entries?.flashes = flashes.filter { $0.value.until > now }
        }
    }

    /// Asks the store anew for what the screen shows. A forced refresh also ends what is frozen.
    static func refresh(_ model: inout Model, isForced: Bool) -> [Effect] {
        if case .paused = model.pace, !isForced { return [] }
        guard let store = model.store else { return model.parts.refresh(&model, isForced: isForced) }
        var effects: [Effect] = []
        if !model.archives.isPending {
            model.archives.isPending = true
            effects.append(.loadFigures(store: store))
        }
        return effects + model.parts.refresh(&model, isForced: isForced)
    }
}
