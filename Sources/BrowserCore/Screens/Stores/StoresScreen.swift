import StoreInspection
import TerminalKit

/// The stores of a folder.
enum StoresScreen: ScreenParts {
    static func path(_ model: Model) -> [String] { ["stores"] }
    static func archive(_ model: Model) -> ArchiveAddress? { nil }
    static func command(_ model: Model) -> CommandLine.Words { .init("browse") }

    // MARK: How it looks

    static func divide(_ rest: Rect, _ model: Model, isTall: Bool) -> ScreenLayout.Parts {
        .init(rest, infoRows: isTall ? 2 : 0)
    }

    static func draw(_ model: Model, _ layout: ScreenLayout, into frame: inout Frame) {
        StoresView.draw(model, layout, into: &frame)
    }

    static func cursor(_ model: Model) -> Int { model.stores.cursor }
    static func firstRow(_ model: Model) -> Int { model.stores.top }

    static func table(_ model: Model) -> Table? { StoresView.table(model) }

    static func problem(_ model: Model) -> String? { model.stores.problem ?? model.stores.selected?.problem }

    static func place(_ model: Model) -> StatusView.Content? {
        model.stores.selected.map { .line([Span($0.path, model.look[.dim])], right: "") }
    }

    static func isOfUse(_ id: ActionID, _ model: Model) -> Bool {
        model.stores.stores?.isEmpty == false || id != .open && id != .pause
    }

    // MARK: What it does

    static func refresh(_ model: inout Model, isForced: Bool) -> [Effect] {
        if let loaded = model.stores.loaded, !isForced,
            model.now.seconds(since: loaded) < StoresState.interval
        {
            return []
        }
        return load(&model)
    }

    /// Reads the folder.
    static func load(_ model: inout Model) -> [Effect] {
        guard !model.stores.isPending else { return [] }
        model.stores.isPending = true
        return [
            .ask("load stores") { (context) throws(SourceError) in
                try context.source.stores()
            } then: { model, result in
                show(&model, result)
            }
        ]
    }

    private static func show(
        _ model: inout Model, _ result: Result<[StoreSummary], SourceError>
    ) -> [Effect] {
        model.stores.isPending = false
        model.stores.loaded = model.now
        switch result {
        case .success(let stores):
            // The cursor holds to the store, not to its row.
            let path = model.stores.left ?? model.stores.selected?.path
            model.stores.left = nil
            model.stores.stores = stores
            model.stores.problem = nil
            // Where a store was named by a way that isn't its folder's, its name is the same.
            let name = path?.split(separator: "/").last.map(String.init)
            if let row = stores.firstIndex(where: { $0.path == path })
                ?? stores.firstIndex(where: { $0.name == name })
            {
                model.stores.cursor = row
            }
        case .failure(let error): model.stores.problem = error.description
        }
        return []
    }

    static func settle(_ model: inout Model, _ layout: ScreenLayout) -> [Effect] {
        let count = model.stores.stores?.count ?? 0
        model.stores.cursor = max(0, min(model.stores.cursor, count - 1))
        model.stores.top = Table.firstRow(
            showing: model.stores.cursor, of: count, in: layout.page, from: model.stores.top)
        return []
    }

    static func open(_ model: inout Model) -> [Effect] {
        guard let store = model.stores.selected else { return [] }
        model.store = store.path
        model.archives = ArchivesState()
        model.events = EventLog()
        model.cost = StoreCost()
        model.screen = .archives
        return Browser.refresh(&model, isForced: true)
    }

    static func back(_ model: inout Model) -> [Effect] {
        model.say("This is the first screen; \(Browser.keyName(model, .quit)) leaves the browser.")
        return []
    }

    static func move(_ model: inout Model, to row: Int) -> [Effect] {
        model.stores.cursor = min(row, max(0, (model.stores.stores?.count ?? 0) - 1))
        return []
    }
}
