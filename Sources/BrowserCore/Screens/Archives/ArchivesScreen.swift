import StorageEngine
import StoreInspection
import TerminalKit

enum ArchivesScreen: ScreenParts {
    static func path(_ model: Model) -> [String] { [TitleView.storeName(model)] }
    static func archive(_ model: Model) -> ArchiveAddress? { model.archives.selected.flatMap(model.address) }
    static var isOfOneArchive: Bool { false }

    static func copyable(_ model: Model) -> [CopyItem] {
        guard let sample = selected(model), let archive = archive(model) else { return [] }
        let isRingFile = model.isOfRingFile
        let command =
            isRingFile
            ? CommandLine.words(for: model)
            : ShellWord.vellum(sample.kind == .log ? "tail" : "keys", [archive.name], store: archive.store)
        let source =
            isRingFile
            ? CopyItem.messageSource(archive, isRingFile: true) : CopyItem.archiveSource(archive)
        return [
            CopyItem("n", "the \(model.isOfServer ? "database" : "archive")'s name", archive.name),
            CopyItem("j", "the row as JSON", JSONTree.cells(sample.members).text),
            CopyItem("c", "the shell command", command),
            CopyItem("s", "the Swift code", source), CopyItem.path(archive, isRingFile: isRingFile),
        ]
    }

    static func selected(_ model: Model) -> ArchiveSample? {
        model.archives.summary(model.archives.selected ?? "")
    }

    // MARK: View

    static func divide(_ rest: Rect, _ model: Model, isTall: Bool) -> ScreenLayout.Parts {
        var parts = ScreenLayout.Parts(rest, infoRows: isTall ? (model.size.rows >= 14 ? 3 : 1) : 0)
        let rows = max(2, model.archives.archives.count + 1)
        let hasArchives = !model.archives.archives.isEmpty
        let below = parts.list.rows - rows - 1
        if model.archives.showsEvents, hasArchives, !model.isOfServer, below >= ScreenLayout.eventRows {
            let both = below >= ScreenLayout.eventRows + ArchivePane.minimumRows
            let eventRows = both ? max(ScreenLayout.eventRows, below - ArchivePane.maximumRows(model)) : below
            (parts.list, parts.events) = parts.list.split(bottom: eventRows)
        }
        let showsPane = parts.list.rows >= rows + 8 && hasArchives
        (parts.list, parts.pane) = parts.list.split(top: showsPane ? rows + 1 : parts.list.rows)
        parts.pane = parts.pane.split(top: min(parts.pane.rows, ArchivePane.maximumRows(model))).top
        return parts
    }

    static func cursor(_ model: Model) -> Int { model.archives.cursor }
    static func firstRow(_ model: Model) -> Int { model.archives.top }

    static func table(_ model: Model) -> Table? { ArchivesView.table(model) }

    static func hasEffect(_ id: ActionID, _ model: Model) -> Bool {
        let changes: [ActionID] = [.resizeArchive, .renameArchive, .compactArchive, .dropArchive]
        if changes.contains(id) { return selected(model) != nil }
        if model.archives.archives.isEmpty, [.sort, .reverse, .filter].contains(id) { return false }
        guard let archive = selected(model) else { return ![.open, .query, .groups, .advise].contains(id) }
        return ![.query, .groups, .advise].contains(id) || archive.kind != .log
    }

    static func listed(_ model: Model) -> Timestamp? { model.archives.arranged }

    static func problem(_ model: Model) -> String? {
        // Without figures, the list area shows the problem in full.
        guard model.archives.figures != nil else { return nil }
        return model.archives.problem ?? selected(model)?.problem
    }

    static func place(_ model: Model) -> StatusView.Content? {
        // Why the selected archive is marked with `!`; on narrow screens without details.
        let warnings = selected(model).map(model.warnings) ?? []
        guard !warnings.isEmpty else {
            // The list may cut the name.
            let name = selected(model).map { TerminalText.sanitized($0.name) + "  " } ?? ""
            return model.store.map { .line([Span(name), Span($0, model.look[.dim])], right: "") }
        }
        let words = "! " + warnings.map { "\($0.name): \($0.words)" }.joined(separator: "; ")
        let short = "! " + warnings.map(\.name).joined(separator: ", ")
        let shown = TextWidth.width(of: words) <= model.size.columns ? words : short
        return .line([Span(shown, model.look[warnings[0].role])], right: "")
    }

    // MARK: Actions

    static func settle(_ model: inout Model, _ layout: ScreenLayout) -> [Effect] {
        let archives = model.archives.rows
        let selected = model.archives.selected.map(ExactText.init)
        if !archives.contains(where: { ExactText($0.name) == selected }) {
            model.archives.selected = archives.first?.name
        }
        model.archives.top = Table.firstRow(
            showing: model.archives.cursor, of: archives.count, in: layout.page,
            from: model.archives.top)
        return []
    }

    static func open(_ model: inout Model) -> [Effect] {
        guard let sample = selected(model), let archive = model.address(sample.name) else { return [] }
        if sample.kind == .log {
            MessagesScreen.show(sample, of: archive, &model)
            return []
        }
        return EntriesScreen.show(EntriesState(archive: archive), &model)
    }

    static func back(_ model: inout Model) -> [Effect] {
        model.stores.left = model.store
        model.keepStore()
        return Browser.refresh(&model, isForced: true)
    }

    static func move(_ model: inout Model, to row: Int) -> [Effect] {
        let archives = model.archives.rows
        if !archives.isEmpty { model.archives.selected = archives[min(row, archives.count - 1)].name }
        model.touched = model.now
        return []
    }

    static func perform(_ model: inout Model, _ id: ActionID) -> [Effect] {
        guard hasEffect(id, model) else { return [] }
        switch id {
        case .sort:
            let columns = ArchivesView.bases(model).compactMap { $0 }
            sort(&model, by: columns.next(after: model.archives.column))
        case .reverse: sort(&model, by: model.archives.column, isReversed: !model.archives.isReversed)
        case .filter: model.prompt = .filtering(model.archives.filter, placeholder: "part of a name")
        case .resizeArchive, .renameArchive, .compactArchive, .dropArchive:
            if let archive = archive(model) { ask(id, of: archive, &model) }
        case .events:
            model.archives.showsEvents.toggle()
            if model.archives.showsEvents { Browser.missEvents(&model) }
        default: break
        }
        return []
    }

    private static func sort(_ model: inout Model, by column: ArchiveColumn, isReversed: Bool = false) {
        (model.archives.column, model.archives.isReversed) = (column, isReversed)
        model.archives.arrange(at: model.now)
    }

    static func sort(_ model: inout Model, byHeader header: Int) -> [Effect]? {
        guard let column = ArchivesView.bases(model)[header] else { return nil }
        let isReversed = model.archives.column == column && !model.archives.isReversed
        sort(&model, by: column, isReversed: isReversed)
        return []
    }

    static func promptNote(_ model: Model) -> String { "  \(share(model))" }

    /// The share of listed archives, and the filter; nil without a filter.
    static func filtered(_ model: Model) -> String? {
        model.archives.filter.isEmpty ? nil : "\(share(model))  filter \"\(model.archives.filter)\""
    }

    private static func share(_ model: Model) -> String {
        let (one, many) = model.isOfServer ? ("database", "databases") : ("archive", "archives")
        let all = Figures.count(model.archives.archives.count, one, many)
        return "\(Figures.count(model.archives.rows.count)) of \(all)"
    }

    static func promptChanged(_ model: inout Model, _ text: String) -> [Effect] {
        model.archives.filter = text
        return []
    }

    static func clear(_ model: inout Model) -> [Effect] {
        guard model.archives.filter.isEmpty else { return promptChanged(&model, "") }
        guard model.startsInStore else { return back(&model) }
        let quits = model.isFirstScreen ? "\(Browser.keyName(model, .quit)) quits; " : ""
        return model.reply("\(quits)\(Browser.keyName(model, .back)) lists the stores.")
    }
}

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
            // Graphs, alarms and events are updated also while the screen is paused, and in the background.
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
                effects += Browser.loadEvents(&model, of: figures.archives, isForced: updatesPaused)
            }
            return isPaused
                ? effects : effects + model.parts.figuresLoaded(&model) + ServerTables.load(&model)
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
