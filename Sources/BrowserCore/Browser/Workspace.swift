import StorageEngine

/// What the browser shows of one store, as it is kept while another one is shown. A value; safe to share between threads.
struct Workspace: Sendable {
    /// Different for each that was begun.
    let id: Int
    let store: String
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

    /// Stores that are open at once, so that a key can choose each.
    static let most = 9

    /// `nil`: no store is shown.
    fileprivate init?(of model: Model) {
        guard let store = model.store else { return nil }
        (id, self.store, screen) = (model.workspace, store, model.screen)
        (archives, entries, groups, value) = (model.archives, model.entries, model.groups, model.value)
        (query, log, monitor, events) = (model.query, model.log, model.monitor, model.events)
        (cost, pausedSince) = (model.cost, model.pausedSince)
    }

    fileprivate func show(in model: inout Model) {
        (model.workspace, model.store, model.screen) = (id, store, screen)
        (model.archives, model.entries, model.groups, model.value) = (archives, entries, groups, value)
        (model.query, model.log, model.monitor, model.events) = (query, log, monitor, events)
        (model.cost, model.pausedSince) = (cost, pausedSince)
        (model.touched, model.heldSince) = (nil, nil)
    }

    /// Whether one of its alarms rings.
    var hasAlarm: Bool { archives.alarms.contains(where: \.isRinging) }
}

extension Model {
    /// The stores that are open, in the order in which they were opened first; the one that is shown among them.
    var openStores: [String] {
        let shown = store.map { [(id: workspace, store: $0)] } ?? []
        return (kept.map { ($0.id, $0.store) } + shown).sorted { $0.id < $1.id }.map(\.store)
    }

    /// The number under which a store is open, from 1 on.
    func number(ofStore path: String) -> Int? {
        openStores.firstIndex { ExactText($0) == ExactText(path) }.map { $0 + 1 }
    }

    /// Whether an alarm rings in any store that is open.
    var hasAlarm: Bool { archives.alarms.contains(where: \.isRinging) || kept.contains(where: \.hasAlarm) }

    /// Keeps the store that is shown, and shows the list of stores.
    mutating func keepStore() {
        if let workspace = Workspace(of: self) { kept.append(workspace) }
        (store, archives, entries, groups, value) = (nil, ArchivesState(), nil, nil, nil)
        (query, log, monitor, events, cost) = (nil, nil, nil, EventLog(), StoreCost())
        (touched, heldSince, pausedSince, workspace) = (nil, nil, nil, 0)
        screen = .stores
    }

    /// Shows a store instead of what is shown: as it was left or, if it isn't open, with its archives, which are to be read.
    mutating func showStore(_ path: String) {
        if store.map(ExactText.init) == ExactText(path) { return }
        keepStore()
        if let place = kept.firstIndex(where: { ExactText($0.store) == ExactText(path) }) {
            return kept.remove(at: place).show(in: &self)
        }
        // The one that was opened first gives way.
        if kept.count >= Workspace.most, let first = kept.min(by: { $0.id < $1.id }) {
            closeStore(first.store)
        }
        lastWorkspace += 1
        (workspace, store, screen) = (lastWorkspace, path, .archives)
    }

    /// Forgets what was seen of a store that isn't shown; `false`: it isn't open.
    @discardableResult
    mutating func closeStore(_ path: String) -> Bool {
        let count = kept.count
        kept.removeAll { ExactText($0.store) == ExactText(path) }
        return kept.count < count
    }

    /// Does something to the store whose question was answered, wherever it is kept by now; nothing if it was closed.
    mutating func inWorkspace(_ id: Int, _ body: (inout Model) -> [Effect]) -> [Effect] {
        guard id != workspace, id != 0 else { return body(&self) }
        guard let place = kept.firstIndex(where: { $0.id == id }) else { return [] }
        let (shown, overlay, prompt, list) = (Workspace(of: self), self.overlay, self.prompt, screen)
        let hold = (touched, heldSince)
        // It is one of the open ones meanwhile, and has its number among them.
        kept.remove(at: place).show(in: &self)
        if let shown { kept.append(shown) }
        isInBackground = true
        let effects = body(&self).map { $0.of(id) }
        isInBackground = false
        let changed = Workspace(of: self)
        if let shown {
            kept.removeAll { $0.id == shown.id }
            shown.show(in: &self)
        } else {
            (store, workspace, screen) = (nil, 0, list)
        }
        if let changed { kept.insert(changed, at: place) }
        // What is asked about one store isn't asked while another is shown.
        (self.overlay, self.prompt) = (overlay, prompt)
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
    /// Shows the store with that number.
    static func showStore(_ model: inout Model, number: Int) -> [Effect] {
        let open = model.openStores
        guard open.indices.contains(number - 1) else {
            let rest =
                open.isEmpty ? "none is open yet" : "\(open.count) of at most \(Workspace.most) are open"
            model.say("There is no store \(number): \(rest).", seconds: 4)
            return []
        }
        guard model.store.flatMap(model.number) != number else {
            model.say("This is store \(number).", seconds: 3)
            return []
        }
        model.showStore(open[number - 1])
        return refresh(&model, isForced: true)
    }

    /// Shows the next of the open stores, or the one before.
    static func showStore(_ model: inout Model, after step: Int) -> [Effect] {
        let open = model.openStores
        guard let present = model.store.flatMap(model.number) else {
            return showStore(&model, number: step > 0 ? 1 : max(1, open.count))
        }
        guard open.count > 1 else {
            model.say(
                "No other store is open; \(keyName(model, .back)) leads to the list of stores.", seconds: 4)
            return []
        }
        return showStore(&model, number: (present - 1 + step + open.count) % open.count + 1)
    }
}
