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
        case .arranged(let ticket, let result): effects = arranged(&model, ticket, result)
        case .rows(let ticket, let rows): effects = loaded(&model, ticket, rows)
        case .value(let purpose, let key, let archive, let result):
            effects = loaded(&model, purpose, key: key, archive: archive, result)
        case .bytes(let key, let archive, let offset, let result):
            effects = loaded(&model, key: key, archive: archive, offset: offset, result)
        case .entry(let key, let archive, let result):
            effects = checked(&model, key: key, archive: archive, result)
        case .collected(let ticket, let marks): effects = collected(&model, ticket, marks)
        case .progress(let ticket, let share):
            if model.job?.ticket == ticket { model.job?.share = share }
            effects = []
        case .idle(let ticket, let result): effects = collected(&model, ticket, idle: result)
        case .events(let store, let pages): effects = loaded(&model, store, events: pages)
        case .biography(let key, let archive, let result):
            effects = loaded(&model, key: key, archive: archive, biography: result)
        case .messages(let archive, let range, let result):
            effects = loaded(&model, archive: archive, range, messages: result)
        case .properties(let archive, let result):
            if model.query?.archive == archive, case .success(let names) = result {
                model.query?.properties = names
                retyped(&model)
            }
            effects = []
        case .answered(let ticket, let result): effects = answered(&model, ticket, result)
        case .exported(let ticket, let path, let result):
            effects = exported(&model, ticket, path: path, result)
        case .reversible(let purpose, let archive, let result):
            effects = loaded(&model, purpose, archive: archive, reversible: result)
        case .changed(let ticket, let change, let archive, let result):
            effects = changed(&model, ticket, change, archive, result)
        case .undone(let ticket, let result): effects = undone(&model, ticket, result)
        case .cleared(let ticket, let archive, let result): effects = cleared(&model, ticket, archive, result)
        }
        return effects + settle(&model)
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
        guard let store = model.store else {
            guard model.screen == .stores, !model.stores.isPending else { return [] }
            if let loaded = model.stores.loaded, !isForced,
                model.now.seconds(since: loaded) < StoresState.interval
            {
                return []
            }
            model.stores.isPending = true
            return [.loadStores]
        }
        var effects: [Effect] = []
        if !model.archives.isPending {
            model.archives.isPending = true
            effects.append(.loadFigures(store: store))
        }
        if isForced, model.screen == .query { effects += askAgain(&model) }
        if isForced, model.screen == .entries {
            effects += rearrange(&model, takingListing: true, isForced: true)
        }
        if model.screen == .value, let value = model.value, !value.isPending {
            if isForced {
                model.value?.isPending = true
                effects.append(
                    .loadValue(.screen, key: value.key, archive: value.archive, store: store))
                effects += loadBiography(&model)
            } else {
                effects.append(.checkValue(key: value.key, archive: value.archive, store: store))
            }
        }
        return effects
    }

    /// Brings cursors and windows in line with what there is and with the screen's size, and asks for what is in
    /// view and not known.
    private static func settle(_ model: inout Model) -> [Effect] {
        let layout = model.layout
        let page = layout.page(model.screen)
        switch model.screen {
        case .stores:
            let count = model.stores.stores?.count ?? 0
            model.stores.cursor = max(0, min(model.stores.cursor, count - 1))
            model.stores.top = Table.firstRow(
                showing: model.stores.cursor, of: count, in: page, from: model.stores.top)
            return []
        case .archives:
            let archives = model.archives.archives
            if model.archives.summary(model.archives.selected ?? "") == nil {
                model.archives.selected = archives.first?.name
            }
            model.archives.top = Table.firstRow(
                showing: model.archives.cursor, of: archives.count, in: page, from: model.archives.top)
            return []
        case .entries: return settleEntries(&model, layout)
        case .value: return settleValue(&model, layout)
        case .query:
            settleQuery(&model, page: page)
            return []
        case .messages: return settleMessages(&model, layout)
        case .monitor:
            settleMonitor(&model, page: page)
            return []
        }
    }
}
