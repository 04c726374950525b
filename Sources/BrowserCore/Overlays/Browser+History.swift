import StorageEngine
import StoreInspection
import TerminalKit

extension Browser {
    /// Shows the events of a key. If they don't show why it has no entry, also searches the log for its changes.
    static func showHistory(of key: String, in archive: ArchiveAddress) -> [Effect] {
        .ask("load history of \(archive.name)/\(key)") { (context) throws(SourceError) in
            let history = try context.source.history(of: key, in: archive)
            return (history, try context.source.absence(of: key, in: archive))
        } then: { model, result in
            guard model.overlay == nil, model.prompt == nil, model.store == archive.store,
                let (known, absence) = model.take(result)
            else { return [] }
            let history = model.events.completing(known, of: key, in: archive.name)
            if absence == .removed, !history.endsWithRemoval {
                return searchLog(&model, for: key, in: archive, history)
            }
            var rest: [String] = []
            if case .expired(let time) = absence {
                let ago = Figures.ago(time, now: model.shownNow)
                rest = ["", "Expired at \(Figures.date(time)) (\(ago)), and has not been removed yet."]
            }
            showHistory(&model, of: key, in: archive.name, history, rest)
            return []
        }
    }

    private static func searchLog(
        _ model: inout Model, for key: String, in archive: ArchiveAddress, _ history: KeyHistory
    ) -> [Effect] {
        let ticket = model.begin("reading the log", aim: .dialog)
        return .ask("search log for \(archive.name)/\(key)", ticket: ticket) {
            (context) throws(SourceError) in
            try context.source.logHistory(of: key, in: archive, progress: context.progress)
        } done: { model, result in
            guard model.ends(ticket), model.overlay == nil, model.prompt == nil,
                model.store == archive.store, let log = model.take(result)
            else { return }
            showHistory(&model, of: key, in: archive.name, history, [""] + log.lines)
        }
    }

    /// Opens a history with its newest event in view.
    static func showHistory(
        _ model: inout Model, of key: String, in archive: String, _ history: KeyHistory, _ rest: [String] = []
    ) {
        let events = history.lines(by: model.processName)
        let reach = history.reach(in: archive, now: model.shownNow)
        var box = MessageBox(
            "Key history of \(TerminalText.sanitized(key))",
            [reach] + (events.isEmpty ? ["The event log has no event of this key."] : events))
        let end = box.places(model).lines.count
        box.lines += rest
        box.first = max(0, end - box.places(model).body.rows)
        model.overlay = box
    }
}
