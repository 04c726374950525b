import CBOR
import StorageEngine
import StoreInspection
import TerminalKit

enum MonitorScreen: ScreenParts {
    static func path(_ model: Model) -> [String] { [TitleView.storeName(model), partName(model)] }

    static func partName(_ model: Model) -> String {
        let part = model.monitor?.part ?? .events
        return model.isOfServer ? part.serverName : part.rawValue
    }

    static func archive(_ model: Model) -> ArchiveAddress? {
        model.monitor?.filter.archive.flatMap(model.address)
    }

    static func command(_ model: Model) -> CommandLine.Words {
        guard let monitor = model.monitor else { return .init("ls") }
        if model.isOfServer {
            return .init(
                "stats", options: ["--watch"],
                remark: "Prints the server's statistics; no command prints clients or the slow log.")
        }
        let filter = monitor.filter
        let archive = filter.archive.map { [$0] } ?? []
        switch monitor.part {
        case .events:
            let isPart = filter.kind != nil || !filter.text.isEmpty
            return .init(
                "watch", archive, options: ["--from-start"],
                remark: isPart ? "Prints all events; the filter has no command." : nil)
        case .processes:
            return .init("stats", archive, remark: "Also prints counters and sizes of the archives.")
        case .graphs:
            return .init(
                "stats", archive, options: ["--watch"],
                remark: "Prints the figures of each second; no command draws graphs.")
        }
    }

    // MARK: View

    static func cursor(_ model: Model) -> Int {
        guard let monitor = model.monitor else { return 0 }
        return switch monitor.part {
        case .processes: monitor.processRow
        case .events where model.isOfServer: monitor.processRow
        case .events: monitor.row(model.shownEvents)
        case .graphs: Metric.shown(model).firstIndex(of: monitor.metric) ?? 0
        }
    }

    static func firstRow(_ model: Model) -> Int {
        guard let monitor = model.monitor, monitor.part != .graphs else { return 0 }
        return monitor.part == .processes || model.isOfServer ? monitor.processTop : monitor.top
    }

    static func table(_ model: Model) -> Table? {
        model.monitor?.part == .graphs ? nil : MonitorView.table(model)
    }

    static func place(_ model: Model) -> StatusView.Content? {
        guard let monitor = model.monitor, monitor.part == .events, !model.isOfServer else { return nil }
        let count = monitor.count(model.shownEvents)
        guard count > 0 else { return nil }
        let row = monitor.row(model.shownEvents)
        let event = model.shownEvents[monitor.number(row: row, model.shownEvents)]
        return .line(
            [Span(event.keyCell(ellipsis: model.look.glyphs.ellipsis), model.look[.dim])],
            right: Figures.position(row, of: count))
    }

    static func hasEffect(_ id: ActionID, _ model: Model) -> Bool {
        let part = model.monitor?.part ?? .events
        if id == .reverse { return ServerTables.areShown(model) }
        let ofGraphs: Set<ActionID> = [.span, .alarm, .earlier, .later]
        if id == .export || id == .copy { return event(model) != nil }
        // Graphs of a server are of all its databases.
        if model.isOfServer, id == .eventArchive { return false }
        if part == .graphs {
            return ![.filter, .eventKind, .nextEventKind, .history, .entry, .follow].contains(id)
        }
        if model.isOfServer, [.span, .filter, .eventKind].contains(id) { return true }
        if ofGraphs.contains(id) { return false }
        if part == .events, !model.isOfServer {
            return event(model) != nil || ![.open, .entry, .history].contains(id)
        }
        if id == .open { return model.monitor.map(ServerTables.count) ?? 0 > 0 && model.isOfServer }
        let ofEvents: Set<ActionID> = [.filter, .eventKind, .nextEventKind, .history, .entry]
        return !ofEvents.contains(id) && !(model.isOfServer && id == .follow)
    }

    // MARK: Actions

    static func show(_ part: MonitorState.Part, _ model: inout Model) -> [Effect] {
        let isOfSingleArchive = model.parts.isOfOneArchive || part == .graphs
        let archive = isOfSingleArchive && !model.isOfServer ? model.parts.archive(model)?.name : nil
        model.monitor = MonitorState(part: part, origin: model.origin(opening: .monitor), archive: archive)
        model.monitor?.span = model.archives.span
        let log = model.shownEvents
        model.monitor?.match(log)
        model.screen = .monitor
        return ServerTables.load(&model)
    }

    static func back(_ model: inout Model) -> [Effect] {
        let origin = model.monitor?.origin ?? .archives
        model.monitor = nil
        model.goBack(to: origin)
        return []
    }

    static func perform(_ model: inout Model, _ id: ActionID) -> [Effect] {
        guard let monitor = model.monitor else { return [] }
        switch id {
        case .monitorPart: return showPart(MonitorState.Part.allCases.next(after: monitor.part), &model)
        case .span where monitor.part == .graphs:
            let span = GraphsView.spans.next(after: monitor.span)
            model.monitor?.span = span
            model.archives.span = span
        case .span:
            let columns = Array((table(model)?.columns ?? []).indices)
            ServerTables.sort(&model, by: columns.next(after: monitor.sorted.column))
        case .reverse where ServerTables.areShown(model):
            ServerTables.sort(&model, by: monitor.sorted.column, isReversed: !monitor.sorted.isReversed)
        case .eventKind where ServerTables.areShown(model): ServerTables.hideOwn(&model)
        case .earlier where monitor.part == .graphs: read(&model, monitor, step: -1)
        case .later where monitor.part == .graphs: read(&model, monitor, step: 1)
        case .history: return subject(&model).map { Browser.showHistory(of: $0.key, in: $0.archive) } ?? []
        case .entry: return openEntry(&model)
        case .follow:
            let log = model.shownEvents
            model.monitor?.follows.toggle()
            if monitor.follows { model.monitor?.hold(log) }
        case .eventKind where monitor.part == .events && !model.isOfServer: chooseKind(&model, monitor.filter)
        case .nextEventKind:
            let kinds: [EventKind?] = [nil] + EventKind.allCases
            setFilter(&model) { $0.kind = kinds.next(after: $0.kind) }
        case .eventArchive where !model.isOfServer:
            let names: [ExactText?] = [nil] + model.archives.archives.map { ExactText($0.name) }
            setFilter(&model) { $0.archive = names.next(after: $0.archive.map(ExactText.init))?.text }
        case .filter where ServerTables.areShown(model):
            let searched = monitor.part == .events ? "command or client" : "address, name or command"
            model.prompt = .filtering(monitor.filter.text, placeholder: "part of a \(searched)")
        case .filter:
            guard monitor.part == .events else { break }
            model.prompt = .filtering(
                monitor.filter.text,
                placeholder: "part of a key, kind, cause or archive, or a process number")
        default: break
        }
        return []
    }

    /// Shows another part of the open monitor, in its own order.
    static func showPart(_ part: MonitorState.Part, _ model: inout Model) -> [Effect] {
        model.monitor?.part = part
        model.monitor?.sorted = (0, false)
        model.monitor?.processRow = part == .events ? .max : 0
        return ServerTables.load(&model)
    }

    static func sort(_ model: inout Model, byHeader column: Int) -> [Effect]? {
        guard ServerTables.areShown(model), let sorted = model.monitor?.sorted else { return nil }
        let isReversed = sorted.column == column && !sorted.isReversed
        ServerTables.sort(&model, by: column, isReversed: isReversed)
        return []
    }

    /// Moves the cursor of the graphs by a column; after the last column it is removed.
    private static func read(_ model: inout Model, _ monitor: MonitorState, step: Int64) {
        let times = GraphsView.times(model, monitor)
        let column = (GraphsView.cursor(monitor, times) ?? times.last) + step
        let middle = (Double(column) + 0.5) * Double(times.step)
        model.monitor?.moment = column >= times.last ? nil : Timestamp(seconds: middle)
    }

    static func action(for key: Key, _ id: ActionID, _ model: Model) -> ActionID {
        guard model.monitor?.part == .graphs else { return id }
        return key == Key(.left) ? .earlier : key == Key(.right) ? .later : id
    }

    static func promptChanged(_ model: inout Model, _ text: String) -> [Effect] {
        setFilter(&model) { $0.text = text }
        return []
    }

    private static func chooseKind(_ model: inout Model, _ filter: EventFilter) {
        var others = filter
        others.kind = nil
        let counts = model.shownEvents.counts(matching: others)
        let kinds: [EventKind?] = [nil] + EventKind.allCases
        let items = kinds.map { kind in
            SearchList.Item(
                text: kind?.label ?? "all",
                note: Figures.count(kind.map { counts[$0] ?? 0 } ?? counts.values.reduce(0, +)))
        }
        var list = SearchList(
            title: "Kind of events", items, placeholder: "part of a kind", nothing: "No kind matches."
        ) { model, number in
            setFilter(&model) { $0.kind = kinds[number] }
            return []
        }
        list.keys[0] = ("enter", "Filter")
        list.selected = kinds.firstIndex(of: filter.kind) ?? 0
        model.overlay = list
    }

    static func setFilter(_ model: inout Model, _ change: (inout EventFilter) -> Void) {
        guard var filter = model.monitor?.filter else { return }
        change(&filter)
        let log = model.shownEvents
        model.monitor?.setFilter(filter, log)
    }

    /// Esc removes the filters or the cursor before it leaves.
    static func clear(_ model: inout Model) -> [Effect] {
        if model.monitor?.part == .graphs, model.monitor?.moment != nil {
            model.monitor?.moment = nil
            return []
        }
        guard let monitor = model.monitor, monitor.part == .events || ServerTables.areShown(model),
            monitor.filter.kind != nil || !monitor.filter.text.isEmpty
        else { return back(&model) }
        setFilter(&model) {
            $0.kind = nil
            $0.text = ""
        }
        return []
    }

    static func move(_ model: inout Model, to row: Int) -> [Effect] {
        guard var monitor = model.monitor else { return [] }
        defer { model.monitor = monitor }
        if monitor.part == .graphs {
            let metrics = Metric.shown(model)
            monitor.metric = metrics[max(0, min(row, metrics.count - 1))]
            return []
        }
        if monitor.part == .processes || model.isOfServer {
            let count = model.isOfServer ? ServerTables.count(monitor) : MonitorView.processes(model).count
            monitor.processRow = max(0, min(row, count - 1))
            return []
        }
        let count = monitor.count(model.shownEvents)
        guard count > 0 else { return [] }
        // At the newest event the cursor follows the next ones.
        monitor.follows = row >= count - 1
        monitor.number = monitor.number(row: max(0, min(row, count - 1)), model.shownEvents)
        return []
    }

    static func open(_ model: inout Model) -> [Effect] {
        if model.monitor?.part == .graphs {
            model.monitor?.isZoomed.toggle()
            return []
        }
        if model.isOfServer {
            if let box = model.monitor.flatMap(ServerTables.message) { model.overlay = box }
            return []
        }
        guard let event = event(model) else { return [] }
        var lines = ["\(Figures.date(event.time)), in \(event.archive)"]
        if let key = event.key {
            lines.append("key \(TerminalText.sanitized(key))\(event.keyIsComplete ? "" : " (cut)")")
        }
        if event.key == nil, event.keyHash != 0 {
            lines.append("key unknown: its segment was removed before the event was read")
        }
        if event.bytes > 0 { lines.append(Figures.bytes(UInt64(clamping: event.bytes))) }
        lines.append(event.event.sentence(by: event.pid == 0 ? nil : model.processName(event.pid)))
        model.overlay = MessageBox(event.kind.label, lines)
        return []
    }

    static func event(_ model: Model) -> StoreEvent? {
        guard let monitor = model.monitor, monitor.part == .events, !model.isOfServer,
            monitor.count(model.shownEvents) > 0
        else { return nil }
        return model.shownEvents[monitor.number(row: monitor.row(model.shownEvents), model.shownEvents)]
    }

    /// The archive and key of the selected event; shows a reason if they are missing.
    private static func subject(_ model: inout Model) -> (archive: ArchiveAddress, key: String)? {
        guard let event = event(model), let archive = model.address(event.archive) else { return nil }
        guard let key = event.key, event.keyIsComplete else {
            model.say(
                event.key == nil ? "This event has no key." : "The event has only the beginning of its key."
            )
            return nil
        }
        return (archive, key)
    }

    private static func openEntry(_ model: inout Model) -> [Effect] {
        guard let (archive, key) = subject(&model) else { return [] }
        return ValueScreen.show(ValueState(archive: archive, key: key, origin: .monitor), &model)
    }

    static func settle(_ model: inout Model, _ layout: ScreenLayout) -> [Effect] {
        guard var monitor = model.monitor else { return [] }
        let page = layout.page
        let processes = model.isOfServer ? ServerTables.count(monitor) : MonitorView.processes(model).count
        monitor.processRow = max(0, min(monitor.processRow, processes - 1))
        monitor.processTop = Table.firstRow(
            showing: monitor.processRow, of: processes, in: page, from: monitor.processTop)
        let count = monitor.count(model.shownEvents)
        let row = monitor.row(model.shownEvents)
        monitor.top =
            monitor.follows
            ? max(0, count - page) : Table.firstRow(showing: row, of: count, in: page, from: monitor.top)
        model.monitor = monitor
        return []
    }
}

extension MonitorState {
    mutating func hold(_ log: EventLog) {
        guard count(log) > 0 else { return }
        number = number(row: count(log) - 1, log)
        follows = false
    }
}

/// Events that are copied or written, with the names of `vellum watch --json`.
extension MonitorScreen {
    private static let names = ["time", "archive", "event", "key", "size", "cause", "pid"]

    /// The events of the list, in its order.
    static func export(_ model: Model) -> RowExport? {
        guard let monitor = model.monitor, event(model) != nil else { return nil }
        let log = model.shownEvents
        return .table(names, ("event", "events"), count: monitor.count(log)) { row in
            values(log[monitor.number(row: row, log)])
        }
    }

    private static func values(_ event: StoreEvent) -> [CBORValue?] {
        [
            .seconds(event.time), .text(event.archive),
            .text(event.removal == nil ? event.kind.word : event.label),
            event.event.shownKey().map { .text($0) },
            .unsigned(UInt64(clamping: event.bytes)), event.cause.word.map { .text($0) },
            event.pid == 0 ? nil : .unsigned(UInt64(clamping: event.pid)),
        ]
    }

    static func copyable(_ model: Model) -> [CopyItem] {
        guard let event = event(model) else { return [] }
        let row = zip(names, values(event)).compactMap { name, value in
            value.map { (name, JSONTree.cell(.item($0.encoded))) }
        }
        let process = event.pid == 0 ? nil : model.processName(event.pid)
        let key = event.keyIsComplete ? event.key : nil
        let shownKey = event.event.shownKey()
        let line = [Figures.date(event.time), event.archive, shownKey, event.event.sentence(by: process)]
        return [
            CopyItem("k", "the key", key.map(CopyItem.Content.ready) ?? .absent("the event lacks its key")),
            CopyItem("v", "the event", line.compactMap { $0 }.joined(separator: "  ")),
            CopyItem("j", "the row as JSON", JSONTree.object(row).text),
            CopyItem("c", "the shell command", CommandLine.words(for: model)),
        ]
    }
}
