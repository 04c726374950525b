import StorageEngine
import StoreInspection
import TerminalKit

extension Browser {
    static func loaded(_ model: inout Model, _ result: Result<[StoreSummary], SourceError>) -> [Effect] {
        model.stores.isPending = false
        model.stores.loaded = model.now
        switch result {
        case .success(let stores):
            // The cursor holds to the store, not to its row.
            let path = model.stores.selected?.path
            model.stores.stores = stores
            model.stores.problem = nil
            if let row = stores.firstIndex(where: { $0.path == path }) { model.stores.cursor = row }
        case .failure(let error): model.stores.problem = error.description
        }
        return []
    }

    static func loaded(
        _ model: inout Model, _ store: String, _ result: Result<StoreFigures, SourceError>,
        at moment: Timestamp
    ) -> [Effect] {
        guard store == model.store else { return [] }
        model.archives.isPending = false
        switch result {
        case .failure(let error): model.archives.problem = error.description
        case .success(let figures):
            model.archives.problem = nil
            model.archives.figures = figures
            model.cost.note(accesses: figures.ownAccesses)
            for archive in figures.archives where archive.problem == nil {
                model.archives.histories[archive.name, default: ArchiveHistory()].add(
                    archive.status, at: moment)
            }
            model.archives.histories = model.archives.histories.filter { name, _ in
                figures.archives.contains { $0.name == name }
            }
        }
        return relist(&model) + loadEvents(&model)
    }

    /// Takes the entries anew if they changed, unless the rows are held still.
    private static func relist(_ model: inout Model) -> [Effect] {
        guard model.screen == .entries, let entries = model.entries, entries.ticket == nil,
            case .live = model.pace
        else { return [] }
        guard let summary = model.archives.summary(entries.archive) else {
            if model.archives.figures != nil, model.archives.problem == nil {
                model.entries?.problem = "The archive \(entries.archive) is gone."
            }
            return []
        }
        if let problem = summary.problem {
            model.entries?.problem = problem
            return []
        }
        if let listed = entries.listedFigures, listed.identity != summary.identity {
            // What was seen and marked is of an archive that isn't there any more.
            model.entries?.preview = Preview()
            model.entries?.marks = Marks()
        }
        if let notBefore = entries.notBefore, model.now < notBefore { return [] }
        guard entries.listedFigures != summary || entries.problem != nil || hasExpired(entries, model.now)
        else { return [] }
        return EntriesScreen.rearrange(&model, takingListing: true, isForced: false)
    }

    /// Whether the deadline of a row passed since the listing was taken: the store's figures don't show it.
    private static func hasExpired(_ entries: EntriesState, _ now: Timestamp) -> Bool {
        guard let made = entries.arrangement?.made else { return false }
        return entries.rows.values.contains { entry in
            entry.expires.map { $0 <= now && $0 > made } ?? false
        }
    }

    static func loaded(
        _ model: inout Model, _ purpose: ValuePurpose, key: String, archive: String,
        _ result: Result<ValueLoad?, SourceError>
    ) -> [Effect] {
        switch purpose {
        case .preview:
            guard model.entries?.archive == archive, model.entries?.preview.key == key else { return [] }
            model.entries?.preview.isPending = false
            switch result {
            case .success(let load):
                model.entries?.preview.load = load
                model.entries?.preview.problem = load == nil ? "The entry is gone." : nil
            case .failure(let error):
                model.entries?.preview.load = nil
                model.entries?.preview.problem = error.description
            }
        case .screen:
            guard model.value?.archive == archive, model.value?.key == key else { return [] }
            model.value?.isPending = false
            switch result {
            case .success(let load?): model.value?.show(load)
            case .success(nil): return showGone(&model)
            case .failure(let error): model.value?.problem = error.description
            }
        }
        return []
    }

    /// What is said beside a value whose entry isn't there any more: the store doesn't tell why.
    private static let goneText = "Evicted or removed since; this is what it was."

    /// The entry that was to be opened or read again isn't there: what was seen of it stays on the screen, and
    /// without that the list does.
    private static func showGone(_ model: inout Model) -> [Effect] {
        guard let value = model.value else { return [] }
        if value.load == nil {
            guard let seen = model.entries?.preview.load, seen.entry.key == value.key,
                model.entries?.archive == value.archive
            else {
                let effects = ValueScreen.leave(&model)
                model.say("Evicted or removed since: \(value.key)", role: .warning)
                return effects
            }
            model.value?.show(seen)
        }
        model.value?.problem = goneText
        return []
    }

    static func loaded(
        _ model: inout Model, key: String, archive: String, offset: Int,
        _ result: Result<[UInt8]?, SourceError>
    ) -> [Effect] {
        guard model.value?.archive == archive, model.value?.key == key else { return [] }
        model.value?.pendingChunk = nil
        switch result {
        case .success(let bytes?):
            model.value?.add(bytes, chunk: offset / ValueState.chunk)
            // An empty answer within the value means that another value is there by now.
            if bytes.isEmpty { model.value?.isStale = true }
        case .success(nil):
            model.value?.add([], chunk: offset / ValueState.chunk)
            model.value?.problem = goneText
        case .failure(let error):
            model.value?.add([], chunk: offset / ValueState.chunk)
            model.value?.problem = error.description
        }
        return []
    }

    /// Whether the value on the screen is still the store's.
    static func checked(
        _ model: inout Model, key: String, archive: String, _ result: Result<EntryMetadata?, SourceError>
    ) -> [Effect] {
        guard model.value?.archive == archive, model.value?.key == key, let shown = model.value?.load?.entry
        else { return [] }
        switch result {
        case .success(let entry?):
            let wasStale = model.value?.isStale == true
            let wasGone = model.value?.problem != nil
            // One of another archive that took its place may have the same number.
            let isSame = entry.sequence == shown.sequence && entry.created == shown.created
            model.value?.isStale = !isSame
            let isOther = entry.expires != shown.expires || entry.tier != shown.tier
            if isSame { model.value?.load?.entry = entry }
            model.value?.problem = nil
            if wasGone || isOther || wasStale != model.value?.isStale { return loadBiography(&model) }
        case .success(nil):
            let wasGone = model.value?.problem == goneText
            model.value?.problem = goneText
            if !wasGone { return loadBiography(&model) }
        case .failure(let error): model.value?.problem = error.description
        }
        return []
    }
}
