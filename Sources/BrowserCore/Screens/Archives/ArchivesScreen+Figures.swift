import StorageEngine
import StoreInspection

/// Loading the figures of the store's archives, which every refresh does on every screen.
extension ArchivesScreen {
    /// - Parameter isForced: also updates a paused screen.
    static func loadFigures(_ model: inout Model, isForced: Bool = true) -> [Effect] {
        guard let store = model.store, model.archives.pendingSince == nil else { return [] }
        model.archives.pendingSince = model.now
        return .ask("load figures of \(store)") { (context) throws(SourceError) in
            (try context.source.figures(store: store), context.clock())
        } then: { model, result in
            guard model.store == store else { return [] }
            model.archives.pendingSince = nil
            // Graphs, alarms and events are updated also while the screen is paused, the first two also in the background.
            let isPaused = model.isInBackground || model.pausedSince != nil && !isForced
            var effects: [Effect] = []
            switch result {
            case .failure(let error):
                let isRemoved = error.isStoreAbsent && model.archives.figures != nil
                model.archives.problem =
                    isRemoved ? "\(store) was removed or moved; last data shown" : error.description
            case .success(let (figures, moment)):
                if !isPaused { show(&model, figures, at: moment) }
                effects = note(&model, figures, at: moment)
                if !isPaused, model.archives.arranged != nil, model.pace == .live {
                    model.archives.arrange(at: model.now)
                }
                let updatesPaused = !isPaused && model.pausedSince != nil
                if updatesPaused { model.copyForPause() }
                if !model.isInBackground {
                    effects += Browser.loadEvents(&model, of: figures.archives, isForced: updatesPaused)
                }
            }
            return isPaused ? effects : effects + model.parts.figuresCame(&model) + ServerTables.load(&model)
        }
    }

    private static func show(_ model: inout Model, _ figures: StoreFigures, at moment: Timestamp) {
        Browser.noteRemovals(&model, figures, at: moment)
        model.archives.problem = nil
        (model.archives.figures, model.archives.read) = (figures, moment)
        model.cost.note(accesses: figures.ownAccesses)
        dropRemovedListing(&model)
    }

    /// Drops the listing of an archive that was removed or replaced, because it keeps the disk space of the archive's files.
    /// A listing on screen stays.
    private static func dropRemovedListing(_ model: inout Model) {
        guard let entries = model.entries, model.screen != .entries else { return }
        if let sample = model.sample(entries.archive) {
            guard sample.problem == nil, let listed = entries.listedFigures,
                listed.identity != sample.identity
            else { return }
        }
        model.entries?.arrangement = nil
        model.entries?.read = ListedRows()
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
