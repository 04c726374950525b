import StorageEngine
import StoreInspection

/// Loading the figures of the store's archives, which every refresh does on every screen.
extension ArchivesScreen {
    /// - Parameter isForced: also updates a paused screen.
    static func loadFigures(_ model: inout Model, isForced: Bool = true) -> [Effect] {
        guard let store = model.store, !model.archives.isPending else { return [] }
        model.archives.isPending = true
        return .ask("load figures of \(store)") { (context) throws(SourceError) in
            (try context.source.figures(store: store), context.clock())
        } then: { model, result in
            guard model.store == store else { return [] }
            model.archives.isPending = false
            // Graphs and alarms are updated also while the screen is paused or in the background.
            let isPaused = model.isInBackground || model.pausedSince != nil && !isForced
            var effects: [Effect] = []
            switch result {
            case .failure(let error): model.archives.problem = error.description
            case .success(let (figures, moment)):
                if !isPaused { show(&model, figures, at: moment) }
                effects = note(&model, figures, at: moment)
                if !isPaused, model.archives.arranged != nil, model.pace == .live {
                    model.archives.arrange(at: model.now)
                }
                if !isPaused, model.pausedSince != nil {
                    model.archives.pausedHistories = model.archives.histories
                }
            }
            if isPaused { return effects }
            return effects + model.parts.figuresCame(&model) + Browser.loadEvents(&model)
                + ServerTables.load(&model)
        }
    }

    private static func show(_ model: inout Model, _ figures: StoreFigures, at moment: Timestamp) {
        Browser.noteRemovals(&model, figures, at: moment)
        model.archives.problem = nil
        (model.archives.figures, model.archives.read) = (figures, moment)
        model.cost.note(accesses: figures.ownAccesses)
    }

    private static func note(
        _ model: inout Model, _ figures: StoreFigures, at moment: Timestamp
    ) -> [Effect] {
        for archive in figures.archives where archive.problem == nil {
            model.archives.histories[ExactText(archive.name), default: ArchiveHistory()]
                .add(archive.status, at: moment)
        }
        if let whole = figures.whole {
            model.archives.histories[ExactText(whole.name), default: ArchiveHistory()]
                .add(whole.status, at: moment)
        }
        model.archives.histories = model.archives.histories.filter { name, _ in
            (figures.archives + [figures.whole].compactMap { $0 }).contains { ExactText($0.name) == name }
        }
        return Browser.watchAlarms(&model, figures, at: moment)
    }
}
