import StorageEngine
import StoreInspection

extension EntriesScreen {
    /// Lists the entries again if they changed, unless the rows are frozen.
    static func figuresCame(_ model: inout Model) -> [Effect] {
        guard let entries = model.entries, case .live = model.pace else { return [] }
        if entries.ticket != nil {
            return entries.arrangement?.isPart == true && !entries.filter.isEmpty ? showFirst(model) : []
        }
        // Each list would count as accesses; the top bar shows its age.
        if entries.readsValues, model.countsReads { return [] }
        guard let sample = model.sample(entries.archive) else {
            if model.archives.figures != nil, model.archives.problem == nil {
                model.entries?.problem = "Archive \(entries.archive.name) was removed."
            }
            return []
        }
        if let problem = sample.problem {
            model.entries?.problem = problem
            return []
        }
        let isReplaced = entries.listedFigures.map { $0.identity != sample.identity } ?? false
        if isReplaced {
            // Another archive has this name now, or the server was restarted.
            model.entries?.preview = Preview()
            model.entries?.marks = Marks()
        }
        if !isReplaced, let notBefore = entries.notBefore, model.now < notBefore { return [] }
        guard entries.listedFigures != sample || entries.problem != nil || hasExpired(entries, model.now)
        else { return [] }
        return rearrange(&model, takingListing: true, isForced: false)
    }

    /// Whether a row expired since the listing was taken, which the store's figures don't show.
    private static func hasExpired(_ entries: EntriesState, _ now: Timestamp) -> Bool {
        guard let made = entries.arrangement?.made else { return false }
        return entries.rows.values.contains { entry in
            entry.expires.map { $0 <= now && $0 > made } ?? false
        }
    }
}
