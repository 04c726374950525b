import ArchiveQuery
import ServerInspection
import StorageEngine
import StoreInspection

struct Workspace: Sendable {
    let id: Int
    /// The digit that shows it, 1 to 9.
    let place: Int
    let store: String
    let left: Timestamp
    /// The model when the store was left, without the other stores.
    private let saved: Model

    static let maximum = 9

    fileprivate init?(of model: Model) {
        guard let store = model.store else { return nil }
        (id, place, self.store, left) = (model.workspace, model.place, store, model.now)
        var saved = model
        saved.kept = []
        self.saved = saved
    }

    private var archives: ArchivesState { saved.archives }
    fileprivate var overlay: (any Overlay)? { saved.overlay }

    fileprivate func show(in model: inout Model) {
        (model.workspace, model.place, model.store, model.screen) = (id, place, store, saved.screen)
        (model.archives, model.entries, model.groups) = (saved.archives, saved.entries, saved.groups)
        (model.value, model.query, model.log) = (saved.value, saved.query, saved.log)
        (model.monitor, model.events, model.cost) = (saved.monitor, saved.events, saved.cost)
        model.advise = saved.advise
        (model.pausedSince, model.overlay, model.prompt) = (saved.pausedSince, saved.overlay, saved.prompt)
        (model.touched, model.heldSince, model.undoWatch) = (nil, nil, saved.undoWatch)
    }

    /// The store with its last figures, for the list of stores.
    fileprivate var summary: StoreSummary {
        var summary = StoreSummary(name: StorePath.name(store), path: store, problem: archives.problem)
        if let figures = archives.figures { summary.add(figures) }
        summary.isElsewhere = true
        return summary
    }

    fileprivate var ringing: [String] { archives.ringing.map { "\(place):\(StorePath.name(store))/\($0)" } }

    /// Whether it is a server without an alarm, which gets no requests while another store is shown.
    fileprivate var isQuiet: Bool { ServerAddress.isURL(store) && archives.alarms.isEmpty }

    /// Whether closing it would lose alarms, marks or an open dialog.
    fileprivate var isNeeded: Bool {
        !archives.alarms.isEmpty || overlay != nil || saved.entries?.marks.isEmpty == false
            || saved.query?.marks.isEmpty == false
    }
}

extension Model {
    var isOfRingFile: Bool { archives.figures?.isRingFile == true }

    var isOfServer: Bool { archives.figures?.server != nil }

    /// Seconds since an unanswered request for figures; nil below two.
    package var silence: Double? {
        archives.pendingSince.map { now.seconds(since: $0) }.flatMap { $0 < 2 ? nil : $0 }
    }

    /// Why an action can't run on this kind of store; nil if it can.
    func disabledReason(of id: ActionID) -> String? {
        if archives.problem != nil, keyMap.action(id)?.flags.contains(.destructive) == true {
            return "An unreachable store can't be changed."
        }
        if TitleView.isArchiveRemoved(self), id != .undo,
            keyMap.action(id)?.flags.contains(.destructive) == true
        {
            return "The archive was removed."
        }
        return switch id {
        case .sortByQueue where !isOfServer && entries?.unreported.contains(.queue) == true:
            "Only S3-FIFO has queues."
        case _ where id.column.map { entries?.unreported.contains($0) == true } == true:
            "A server doesn't report \(id.column?.title ?? "")."
        case .history where isOfServer: "A server records no events of its keys."
        case .resizeArchive, .compactArchive, .renameArchive, .dropArchive, .advise:
            isOfServer || isOfRingFile ? "Available only for archives of a store." : nil
        default: nil
        }
    }

    func hasEffect(_ id: ActionID) -> Bool { disabledReason(of: id) == nil && parts.hasEffect(id, self) }

    var isLoadingRows: Bool {
        screen == .entries && entries?.isReplaced == true
            || screen == .groups && groups?.ticket != nil && groups?.level.groups == nil
    }

    func reports(_ metadata: QueryMetadata) -> Bool {
        archives.figures?.unreported.contains(metadata) != true
    }

    /// The open stores by their digits, the current one among them.
    var openStores: [(place: Int, store: String)] {
        let shown = store.map { [(place: place, store: $0)] } ?? []
        return (kept.map { ($0.place, $0.store) } + shown).sorted { $0.place < $1.place }
    }

    /// Adds the open stores that a list lacks.
    func withOpenStores(_ listed: [StoreSummary]) -> [StoreSummary] {
        let paths = Set(listed.map { ExactText($0.path) })
        let others = kept.filter { !paths.contains(ExactText($0.store)) }
        return listed + others.sorted { $0.place < $1.place }.map(\.summary)
    }

    func number(ofStore path: String) -> Int? {
        openStores.first { ExactText($0.store) == ExactText(path) }?.place
    }

    var ringing: [String] { archives.ringing + kept.flatMap(\.ringing) }

    mutating func keepStore() {
        if let workspace = Workspace(of: self) { kept.append(workspace) }
        showList()
    }

    private mutating func showList() {
        (store, archives, entries, groups, value) = (nil, ArchivesState(), nil, nil, nil)
        (query, log, monitor, events, cost) = (nil, nil, nil, EventLog(), StoreCost())
        advise = nil
        (touched, heldSince, pausedSince, workspace, place) = (nil, nil, nil, 0, 0)
        (overlay, prompt, undoWatch) = (nil, nil, nil)
        screen = .stores
    }

    /// Shows an open store in its saved state, or opens it; then its archives must be read.
    /// - Returns: the name of the store that was closed because too many were open, if any.
    @discardableResult
    mutating func showStore(_ path: String) -> String? {
        if store.map(ExactText.init) == ExactText(path) { return nil }
        keepStore()
        if let place = kept.firstIndex(where: { ExactText($0.store) == ExactText(path) }) {
            kept.remove(at: place).show(in: &self)
            return nil
        }
        let closed = kept.count < Workspace.maximum ? nil : closeOne()
        lastWorkspace += 1
        let places = Set(kept.map(\.place))
        place = (1...Workspace.maximum).first { !places.contains($0) } ?? 0
        (workspace, store, screen) = (lastWorkspace, path, .archives)
        return closed
    }

    /// Closes the store that was shown longest ago, preferably one without jobs, alarms, marks or dialogs.
    private mutating func closeOne() -> String? {
        func rank(_ workspace: Workspace) -> (Int, Timestamp) {
            (isBusy(workspace.id) ? 2 : workspace.isNeeded ? 1 : 0, workspace.left)
        }
        guard let first = kept.min(by: { rank($0) < rank($1) }) else { return nil }
        kept.removeAll { $0.id == first.id }
        endWork(of: first.id)
        return StorePath.name(first.store)
    }

    /// Closes an open store that isn't busy; returns the notice.
    mutating func closeStore(_ store: StoreSummary) -> String {
        guard let place = kept.firstIndex(where: { ExactText($0.store) == ExactText(store.path) }) else {
            return "\(store.name) isn't open."
        }
        guard !isBusy(kept[place].id) else { return "\(store.name) is busy; close it when the work is done." }
        kept.remove(at: place)
        return "Closed \(store.name)."
    }

    /// Runs an update on the state of an open store, current or saved; no effect if it was closed. Dialogs of a saved store open
    /// when it is shown.
    mutating func inWorkspace(_ id: Int, _ body: (inout Model) -> [Effect]) -> [Effect] {
        guard id != workspace, id != 0 else { return body(&self) }
        guard let place = kept.firstIndex(where: { $0.id == id }) else { return [] }
        let (shown, overlay, prompt, list) = (Workspace(of: self), self.overlay, self.prompt, screen)
        let (hold, pause) = ((touched, heldSince), pausedSince)
        // The current store stays in the list of open ones during the update.
        let before = kept.remove(at: place)
        before.show(in: &self)
        if let shown { kept.append(shown) }
        isInBackground = true
        let effects = body(&self).map { $0.of(id, before.store) }
        if let title = self.overlay?.notice, before.overlay == nil {
            say("\(title). Go there to see it.", role: .warning, seconds: 10)
        }
        isInBackground = false
        let changed = Workspace(of: self)
        if let shown {
            kept.removeAll { $0.id == shown.id }
            shown.show(in: &self)
        } else {
            showList()
            (screen, self.overlay, self.prompt, pausedSince) = (list, overlay, prompt, pause)
        }
        if let changed { kept.insert(changed, at: place) }
        (touched, heldSince) = hold
        return effects
    }

    /// Reads the figures and events of saved stores once a second, for graphs, alarms and histories, and the events of busy archives at
    /// each refresh. Skips servers without an alarm.
    mutating func watchKeptStores() -> [Effect] {
        let isDue = keptStoresRead.map { abs(now.seconds(since: $0)) >= 1 } ?? true
        if isDue { keptStoresRead = now }
        return kept.filter { !$0.isQuiet }.map(\.id).flatMap { id in
            inWorkspace(id) { model in
                if isDue { return ArchivesScreen.loadFigures(&model, isForced: false) }
                let busy = model.archives.archives.filter { model.events.busy.contains(ExactText($0.name)) }
                return Browser.loadEvents(&model, of: busy)
            }
        }
    }
}

extension Browser {
    static func showStore(_ model: inout Model, number: Int) -> [Effect] {
        let open = model.openStores
        guard let chosen = open.first(where: { $0.place == number }) else {
            let stores = Figures.count(open.count, "store is", "stores are")
            return model.reply("Store \(number) is not open: \(stores) open.", seconds: 4)
        }
        guard model.place != number else {
            return model.reply("Store \(number) is shown already.", seconds: 3)
        }
        model.showStore(chosen.store)
        return refreshUnlessPaused(&model)
    }

    static func showStore(_ model: inout Model, after step: Int) -> [Effect] {
        let places = model.openStores.map(\.place)
        guard let present = places.firstIndex(of: model.place) else {
            return showStore(&model, number: (step > 0 ? places.first : places.last) ?? 1)
        }
        guard places.count > 1 else {
            return model.reply(
                "No other store is open. \(keyName(model, .back)) lists the stores.", seconds: 4)
        }
        return showStore(&model, number: places[(present + step + places.count) % places.count])
    }
}
