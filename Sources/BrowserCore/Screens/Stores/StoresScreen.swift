import ServerInspection
import StorageEngine
import StoreInspection
import TerminalKit

enum StoresScreen: ScreenParts {
    static func path(_ model: Model) -> [String] { [isOfServer(model) ? "servers" : "stores"] }

    /// Whether the list has the server that the browser was started with.
    static func isOfServer(_ model: Model) -> Bool { model.folder.contains("://") }

    static func archive(_ model: Model) -> ArchiveAddress? { nil }
    static func command(_ model: Model) -> CommandLine.Words {
        guard let store = model.stores.selected else { return .init("browse") }
        let key = Browser.keyName(model, .back)
        return .init(
            "browse", options: ["--store", store.path],
            remark: "Opens that store; \(key) goes back to the list of stores.")
    }

    // MARK: View

    static func divide(_ rest: Rect, _ model: Model, isTall: Bool) -> ScreenLayout.Parts {
        .init(rest, infoRows: isTall ? 2 : 0)
    }

    static func cursor(_ model: Model) -> Int { model.stores.cursor }
    static func firstRow(_ model: Model) -> Int { model.stores.top }

    static func table(_ model: Model) -> Table? { StoresView.table(model) }

    static func problem(_ model: Model) -> String? { model.stores.problem ?? model.stores.selected?.problem }

    static func place(_ model: Model) -> StatusView.Content? {
        model.stores.selected.map { .line([Span($0.path, model.look[.dim])], right: "") }
    }

    static func hasEffect(_ id: ActionID, _ model: Model) -> Bool {
        !model.stores.rows.isEmpty || ![.open, .pause, .filter, .favorite, .closeStore].contains(id)
    }

    // MARK: Actions

    static func refresh(_ model: inout Model, isForced: Bool) -> [Effect] {
        if let loaded = model.stores.loaded, !isForced,
            model.now.seconds(since: loaded) < StoresState.interval
        {
            return []
        }
        return load(&model)
    }

    static func load(_ model: inout Model) -> [Effect] {
        guard !model.stores.isPending else { return [] }
        model.stores.isPending = true
        return .ask("load stores") { (context) throws(SourceError) in
            (try context.source.stores(), context.clock())
        } then: { model, result in
            show(&model, result)
        }
    }

    private static func show(
        _ model: inout Model, _ result: Result<(StoreList, Timestamp), SourceError>
    ) -> [Effect] {
        model.stores.isPending = false
        model.stores.loaded = model.now
        switch result {
        case .success(let (list, moment)):
            let stores = model.withOpenStores(list.stores)
            model.stores.note(stores, at: moment)
            let path = model.stores.left ?? model.stores.selected?.path
            model.stores.left = nil
            (model.stores.stores, model.stores.favoritesProblem) = (stores, list.favoritesProblem)
            model.stores.problem = nil
            hold(&model, to: path)
        case .failure(let error): model.stores.problem = error.description
        }
        return []
    }

    private static func hold(_ model: inout Model, to path: String?) {
        let row = path.flatMap { path in
            model.stores.rows.firstIndex { ExactText($0.path) == ExactText(path) }
        }
        if let row { model.stores.cursor = row }
    }

    static func settle(_ model: inout Model, _ layout: ScreenLayout) -> [Effect] {
        let count = model.stores.rows.count
        model.stores.cursor = max(0, min(model.stores.cursor, count - 1))
        model.stores.top = Table.firstRow(
            showing: model.stores.cursor, of: count, in: layout.page, from: model.stores.top)
        return []
    }

    static func open(_ model: inout Model) -> [Effect] {
        guard let store = model.stores.selected else { return [] }
        let isServer = ServerAddress.isURL(store.path) && store.path != model.folder
        if isServer, model.number(ofStore: store.path) == nil { return openOther(store.path, &model) }
        return show(store.path, &model)
    }

    /// - Parameter isOpened: whether a source was opened for it, which is closed if it was open already.
    private static func show(_ path: String, _ model: inout Model, isOpened: Bool = false) -> [Effect] {
        let before = model.openStores.map(\.store)
        let isKnown = isOpened && model.number(ofStore: path) != nil && path != model.folder
        if let closed = model.showStore(path) {
            model.say("Closed \(closed): at most \(Workspace.maximum) stores are open at once.", seconds: 6)
        }
        let closed = before.filter { model.number(ofStore: $0) == nil } + (isKnown ? [path] : [])
        return Browser.refreshUnlessPaused(&model) + [remember(path)] + closed.map(close)
    }

    /// Closes the connection of a store that isn't open any more.
    private static func close(_ store: String) -> Effect {
        .ask("close \(store)") {
            $0.sources.close(store)
        }.on(store)
    }

    static func askOther(_ model: inout Model) {
        model.prompt = Prompt(
            label: "open: ",
            field: TextField(placeholder: "a store's folder, a ring file, or valkey://host:port"),
            keys: [("enter", "Open"), ("tab", "Complete"), ("esc", "Cancel")], purpose: .store)
    }

    /// Opens a store, ring file or server in addition to the open ones.
    static func openOther(_ typed: String, _ model: inout Model) -> [Effect] {
        guard !typed.isEmpty else { return [] }
        let isServer = ServerAddress.isURL(typed)
        let path = isServer ? typed : StorePath.absolute(WholeFile.path(typed: typed))
        let password = model.environment.serverPassword
        let title = "opening \(StorePath.name(path))"
        let ticket = model.begin(title, aim: .store)
        let effect = Effect.ask(title, ticket: ticket) { (context) throws(SourceError) in
            try context.sources.open(path, password: password)
        } then: { model, result in
            guard model.ends(ticket) else { return (try? result.get()).map { [close($0)] } ?? [] }
            return model.take(result, "Not opened: ").map { show($0, &model, isOpened: true) } ?? []
        }
        return [isServer ? effect.on(path) : effect]
    }

    static func remember(_ path: String) -> Effect {
        .ask("remember store \(path)") { (context) throws(SourceError) in
            try context.source.noteOpened(store: path, at: context.clock())
        }
    }

    static func perform(_ model: inout Model, _ id: ActionID) -> [Effect] {
        switch id {
        case .filter: model.prompt = .filtering(model.stores.filter, placeholder: "part of a name or path")
        case .favorite: return toggleFavorite(&model)
        case .closeStore:
            guard let store = model.stores.selected else { break }
            let isOpen = model.number(ofStore: store.path) != nil
            let notice = model.closeStore(store)
            model.say(notice, seconds: 4)
            let isClosed = isOpen && model.number(ofStore: store.path) == nil
            return isClosed ? [close(store.path)] + load(&model) : []
        default: break
        }
        return []
    }

    private static func toggleFavorite(_ model: inout Model) -> [Effect] {
        guard let store = model.stores.selected else { return [] }
        let isFavorite = !store.isFavorite
        return .ask("keep store \(store.path)") { (context) throws(SourceError) in
            try context.sources.source(of: store.path).setFavorite(isFavorite, store: store.path)
        } then: { model, result in
            guard model.take(result, "Not saved: ") != nil else { return [] }
            model.say(
                isFavorite
                    ? "\(store.name) is a favorite: it is listed first."
                    : "\(store.name) is no longer a favorite.",
                seconds: 3)
            return load(&model)
        }
    }

    static func promptNote(_ model: Model) -> String {
        "  \(Figures.count(model.stores.rows.count)) of \(Figures.count(model.stores.stores?.count ?? 0, "store", "stores"))"
    }

    static func promptChanged(_ model: inout Model, _ text: String) -> [Effect] {
        let path = model.stores.selected?.path
        model.stores.filter = text
        hold(&model, to: path)
        return []
    }

    static func clear(_ model: inout Model) -> [Effect] {
        guard model.stores.filter.isEmpty else { return promptChanged(&model, "") }
        guard model.isOfSingleStore, let kept = model.kept.first(where: { $0.store == model.folder })
        else { return back(&model) }
        model.showStore(kept.store)
        return Browser.refreshUnlessPaused(&model)
    }

    static func back(_ model: inout Model) -> [Effect] {
        return model.reply("This is the first screen; \(Browser.keyName(model, .quit)) quits.")
    }

    static func move(_ model: inout Model, to row: Int) -> [Effect] {
        model.stores.cursor = min(row, max(0, model.stores.rows.count - 1))
        return []
    }
}
