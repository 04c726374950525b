import CBOR
import StorageEngine
import StoreInspection

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
            .text(event.removal == nil ? event.kind.word : event.label), event.key.map { .text($0) },
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
        let line = [Figures.date(event.time), event.archive, event.key, event.event.sentence(by: process)]
        return [
            CopyItem("k", "the key", key.map(CopyItem.Content.ready) ?? .absent("the event lacks its key")),
            CopyItem("v", "the event", line.compactMap { $0 }.joined(separator: "  ")),
            CopyItem("j", "the row as JSON", JSONTree.object(row).text),
            CopyItem("c", "the shell command", CommandLine.words(for: model)),
        ]
    }
}
