import StorageEngine
import StoreInspection
import TerminalKit

/// Events, and the screen that shows them and the processes.
extension Browser {
    /// The archives whose events are in view.
    private static func watched(_ model: Model) -> [ArchiveSample] {
        let isWatched: (ArchiveSample) -> Bool
        switch model.screen {
        case .archives:
            guard model.archives.showsEvents else { return [] }
            isWatched = { _ in true }
        case .entries:
            guard let entries = model.entries, entries.showsEvents else { return [] }
            isWatched = { $0.name == entries.archive }
        case .monitor: isWatched = { _ in true }
        case .stores, .value, .query, .messages: return []
        }
        return model.archives.archives.filter { $0.problem == nil && isWatched($0) }
    }

    /// Asks for the events that came since the last look, of archives that have any.
    static func loadEvents(_ model: inout Model) -> [Effect] {
        guard let store = model.store, !model.events.isPending else { return [] }
        let requests = watched(model).compactMap { archive -> EventRequest? in
            let next = model.events.next[archive.name]
            guard archive.nextEvent != next ?? 0 else { return nil }
            return EventRequest(archive: archive.name, from: next)
        }
        guard !requests.isEmpty else { return [] }
        model.events.isPending = true
        return [.loadEvents(store: store, requests)]
    }

    static func loaded(_ model: inout Model, _ store: String, events pages: [EventPage]) -> [Effect] {
        guard store == model.store else { return [] }
        model.events.isPending = false
        let start = model.events.add(pages)
        model.monitor?.match(model.events, from: start)
        return []
    }

    static func toggleEvents(_ model: inout Model) -> [Effect] {
        let isShown: Bool
        if model.screen == .archives {
            model.archives.showsEvents.toggle()
            isShown = model.archives.showsEvents
        } else {
            model.entries?.showsEvents.toggle()
            isShown = model.entries?.showsEvents == true
        }
        if isShown, model.layout.events.isEmpty {
            model.say("No room for events here; \(keyName(model, .monitor)) gives them a screen.", seconds: 4)
        }
        return loadEvents(&model)
    }

    // MARK: The screen

    static func openMonitor(_ model: inout Model, _ part: MonitorState.Part) -> [Effect] {
        let archive = model.screen == .archives ? nil : model.archiveInView
        model.monitor = MonitorState(part: part, origin: model.screen, archive: archive)
        model.monitor?.match(model.events, from: 0)
        model.screen = .monitor
        return loadEvents(&model)
    }

    static func leaveMonitor(_ model: inout Model) {
        model.screen = model.monitor?.origin ?? .archives
        model.monitor = nil
    }

    static func performInMonitor(_ model: inout Model, _ id: ActionID) -> [Effect] {
        guard let monitor = model.monitor else { return [] }
        switch id {
        case .monitorPart: model.monitor?.part = monitor.part == .events ? .processes : .events
        case .follow:
            model.monitor?.follows.toggle()
            if monitor.follows { model.monitor?.hold(model.events) }
        case .eventKind:
            let kinds: [EventKind?] = [nil] + EventKind.allCases
            setFilter(&model) { $0.kind = next(after: $0.kind, in: kinds) }
        case .eventArchive:
            let names: [String?] = [nil] + model.archives.archives.map(\.name)
            setFilter(&model) { $0.archive = next(after: $0.archive, in: names) }
        case .filter:
            guard monitor.part == .events else { break }
            model.prompt = Prompt(
                purpose: .eventFilter, field: TextField(monitor.filter.text, placeholder: "part of a key"),
                before: monitor.filter.text)
        default: break
        }
        return []
    }

    private static func next<Value: Equatable>(after value: Value, in all: [Value]) -> Value {
        all[((all.firstIndex(of: value) ?? 0) + 1) % all.count]
    }

    static func setFilter(_ model: inout Model, _ change: (inout EventFilter) -> Void) {
        guard var filter = model.monitor?.filter else { return }
        change(&filter)
        model.monitor?.setFilter(filter, model.events)
    }

    /// Esc takes the filters away before it leaves.
    static func clearMonitor(_ model: inout Model) {
        guard let monitor = model.monitor, monitor.part == .events,
            monitor.filter.kind != nil || !monitor.filter.text.isEmpty
        else { return leaveMonitor(&model) }
        setFilter(&model) {
            $0.kind = nil
            $0.text = ""
        }
    }

    static func moveInMonitor(_ model: inout Model, to row: Int) {
        guard var monitor = model.monitor else { return }
        defer { model.monitor = monitor }
        if monitor.part == .processes {
            monitor.processRow = max(0, min(row, MonitorView.processes(model).count - 1))
            return
        }
        let count = monitor.count(model.events)
        guard count > 0 else { return }
        // Whoever goes to the newest event wants to see the next ones too.
        monitor.follows = row >= count - 1
        monitor.number = monitor.number(row: max(0, min(row, count - 1)), model.events)
    }

    /// The event under the cursor in full.
    static func openEvent(_ model: inout Model) {
        guard let monitor = model.monitor, monitor.part == .events, monitor.count(model.events) > 0 else {
            return
        }
        let event = model.events[monitor.number(row: monitor.row(model.events), model.events)]
        var lines = ["\(Figures.date(event.time)) UTC, in \(event.archive)"]
        if let key = event.key {
            lines.append("key \(TerminalText.sanitized(key))\(event.keyIsComplete ? "" : " (cut)")")
        }
        if event.bytes > 0 { lines.append("\(Figures.count(event.bytes)) bytes") }
        if let cause = event.cause.label(of: event.kind) { lines.append("because: \(cause)") }
        if event.pid != 0 { lines.append("by \(model.processName(event.pid))") }
        model.overlay = .message(MessageBox(title: event.kind.label, lines: lines))
    }

    static func settleMonitor(_ model: inout Model, page: Int) {
        guard var monitor = model.monitor else { return }
        let processes = MonitorView.processes(model).count
        monitor.processRow = max(0, min(monitor.processRow, processes - 1))
        monitor.processTop = Table.firstRow(
            showing: monitor.processRow, of: processes, in: page, from: monitor.processTop)
        let count = monitor.count(model.events)
        let row = monitor.row(model.events)
        monitor.top =
            monitor.follows
            ? max(0, count - page) : Table.firstRow(showing: row, of: count, in: page, from: monitor.top)
        model.monitor = monitor
    }

    // MARK: An entry's past

    static func loadBiography(_ model: inout Model) -> [Effect] {
        guard let value = model.value, let store = model.store, !value.isBiographyPending else { return [] }
        model.value?.isBiographyPending = true
        return [.loadBiography(key: value.key, archive: value.archive, store: store)]
    }

    static func loaded(
        _ model: inout Model, key: String, archive: String, biography result: Result<KeyHistory, SourceError>
    ) -> [Effect] {
        guard model.value?.archive == archive, model.value?.key == key else { return [] }
        model.value?.isBiographyPending = false
        if case .success(let biography) = result { model.value?.biography = biography }
        return []
    }

    static func showBiography(_ model: inout Model) {
        guard let value = model.value else { return }
        let lines = EventText.story(value, model)
        model.overlay = .message(
            MessageBox(title: "Biography of \(TerminalText.sanitized(value.key))", lines: lines))
    }
}

extension MonitorState {
    /// Lets the cursor hold to the event that it is on.
    mutating func hold(_ log: EventLog) {
        guard count(log) > 0 else { return }
        number = number(row: count(log) - 1, log)
        follows = false
    }
}
