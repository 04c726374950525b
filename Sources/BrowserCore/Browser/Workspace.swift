import ArchiveQuery
import StorageEngine
import StoreInspection

/// What the browser shows of one store, as it is kept while another one is shown. A value; safe to share between threads.
struct Workspace: Sendable {
    let id: Int
    /// The key that leads to it, 1 to 9.
    let place: Int
    let store: String
    let left: Timestamp
    /// Everything of the model that is about the store.
    private let screen: Screen
    private let archives: ArchivesState
    private let entries: EntriesState?
    private let groups: GroupsState?
    private let value: ValueState?
    private let query: QueryState?
    private let log: LogState?
    private let monitor: MonitorState?
    private let events: EventLog
    private let cost: StoreCost
    private let pausedSince: Timestamp?
    /// What is asked or said about it, which waits until it is shown.
    fileprivate let overlay: Overlay?
    private let prompt: Prompt?
    private let undoWatch: UndoWatch?

    /// Stores that are open at once, so that a key can choose each.
    static let most = 9

    /// `nil`: no store is shown.
    fileprivate init?(of model: Model) {
        guard let store = model.store else { return nil }
        (id, place, left) = (model.workspace, model.place, model.now)
        (self.store, screen) = (store, model.screen)
        (archives, entries, groups, value) = (model.archives, model.entries, model.groups, model.value)
        (query, log, monitor, events) = (model.query, model.log, model.monitor, model.events)
        (cost, pausedSince, overlay, prompt) = (model.cost, model.pausedSince, model.overlay, model.prompt)
        undoWatch = model.undoWatch
    }

    fileprivate func show(in model: inout Model) {
        (model.workspace, model.place, model.store, model.screen) = (id, place, store, screen)
        (model.archives, model.entries, model.groups, model.value) = (archives, entries, groups, value)
        (model.query, model.log, model.monitor, model.events) = (query, log, monitor, events)
        (model.cost, model.pausedSince, model.overlay, model.prompt) = (cost, pausedSince, overlay, prompt)
        (model.touched, model.heldSince, model.undoWatch) = (nil, nil, undoWatch)
    }

    fileprivate var ringing: [String] {
        archives.ringing.map { "\(place):\(StorePath.name(store))/\($0)" }
    }
    /// Whether somebody relies on its being open.
    fileprivate var isNeeded: Bool {
        !archives.alarms.isEmpty || overlay != nil || entries?.marks.isEmpty == false
    }
}

extension Model {
    var isOfRingFile: Bool { archives.figures?.isRingFile == true }

    var isOfServer: Bool { archives.figures?.server != nil }

    /// Why a server doesn't support an action; nil: it does, or the source is no server.
    func objection(to id: ActionID) -> String? {
        guard isOfServer else { return nil }
        return switch id {
        case .editValue, .newEntry: ServerSource.notEdited
        case .biography: "A server records no events of its keys."
        default: nil
        }
    }

    func isOfUse(_ id: ActionID) -> Bool { objection(to: id) == nil && parts.isOfUse(id, self) }

    func reports(_ metadata: QueryMetadata) -> Bool {
        archives.figures?.unreported.contains(metadata) != true
    }

    /// The stores that are open, by the keys that lead to them; the one that is shown among them.
    var openStores: [(place: Int, store: String)] {
        let shown = store.map { [(place: place, store: $0)] } ?? []
        return (kept.map { ($0.place, $0.store) } + shown).sorted { $0.place < $1.place }
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
        (touched, heldSince, pausedSince, workspace, place) = (nil, nil, nil, 0, 0)
        (overlay, prompt, undoWatch) = (nil, nil, nil)
        screen = .stores
    }

    /// Shows a store instead of what is shown: as it was left or, if it isn't open, with its archives, which are to be read.
    /// - Returns: the name of a store that was closed for it.
    @discardableResult
    mutating func showStore(_ path: String) -> String? {
        if store.map(ExactText.init) == ExactText(path) { return nil }
        keepStore()
        if let place = kept.firstIndex(where: { ExactText($0.store) == ExactText(path) }) {
            kept.remove(at: place).show(in: &self)
            return nil
        }
        let closed = kept.count < Workspace.most ? nil : closeOne()
        lastWorkspace += 1
        let places = Set(kept.map(\.place))
        place = (1...Workspace.most).first { !places.contains($0) } ?? 0
        (workspace, store, screen) = (lastWorkspace, path, .archives)
        return closed
    }

    /// Closes the store that was shown longest ago, of those that nobody relies on if there is one.
    private mutating func closeOne() -> String? {
        func rank(_ workspace: Workspace) -> (Int, Timestamp) {
            (isBusy(workspace.id) ? 2 : workspace.isNeeded ? 1 : 0, workspace.left)
        }
        guard let first = kept.min(by: { rank($0) < rank($1) }) else { return nil }
        kept.removeAll { $0.id == first.id }
        endWork(of: first.id)
        return StorePath.name(first.store)
    }

    enum Closing: Sendable, Hashable {
        case closed, isNotOpen
        /// What becomes of work on it is to be said.
        case isBusy
    }

    mutating func closeStore(_ path: String) -> Closing {
        guard let place = kept.firstIndex(where: { ExactText($0.store) == ExactText(path) }) else {
            return .isNotOpen
        }
        guard !isBusy(kept[place].id) else { return .isBusy }
        kept.remove(at: place)
        return .closed
    }

    /// Does something to the store whose question was answered, wherever it is kept by now; nothing if it was closed. What is asked
    /// or said in a box about a store that isn't shown waits until it is.
    mutating func inWorkspace(_ id: Int, _ body: (inout Model) -> [Effect]) -> [Effect] {
        guard id != workspace, id != 0 else { return body(&self) }
        guard let place = kept.firstIndex(where: { $0.id == id }) else { return [] }
        let (shown, overlay, prompt, list) = (Workspace(of: self), self.overlay, self.prompt, screen)
        let (hold, pause) = ((touched, heldSince), pausedSince)
        // It is one of the open ones meanwhile, and has its number among them.
        let before = kept.remove(at: place)
        before.show(in: &self)
        if let shown { kept.append(shown) }
        isInBackground = true
        let effects = body(&self).map { $0.of(id) }
        if let title = self.overlay?.title, before.overlay == nil {
            say("\(title) (shown when you go there)", role: .warning, seconds: 10)
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

    /// Once a second the figures of the stores that are kept are read as well: graphs miss nothing, and alarms ring.
    mutating func watchKeptStores() -> [Effect] {
        if let watchedKept, abs(now.seconds(since: watchedKept)) < 1 { return [] }
        watchedKept = now
        return kept.map(\.id).flatMap { id in
            inWorkspace(id) { ArchivesScreen.loadFigures(&$0, isForced: false) }
        }
    }
}

extension Browser {
    static func showStore(_ model: inout Model, number: Int) -> [Effect] {
        let open = model.openStores
        guard let chosen = open.first(where: { $0.place == number }) else {
            let rest =
                open.isEmpty ? "none is open yet" : "\(open.count) of at most \(Workspace.most) are open"
            model.say("There is no store \(number): \(rest).", seconds: 4)
            return []
        }
        guard model.place != number else {
            model.say("This is store \(number).", seconds: 3)
            return []
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
            model.say(
                "No other store is open; \(keyName(model, .back)) leads to the list of stores.", seconds: 4)
            return []
        }
        return showStore(&model, number: places[(present + step + places.count) % places.count])
    }
}
