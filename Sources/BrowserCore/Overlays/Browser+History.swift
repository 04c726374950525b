import StorageEngine
import StoreInspection
import TerminalKit

extension Browser {
    static func showHistory(of key: String, in archive: ArchiveAddress) -> [Effect] {
        .ask("load history of \(archive.name)/\(key)") { (context) throws(SourceError) in
            try context.source.history(of: key, in: archive)
        } then: { model, result in
            guard model.overlay == nil, model.prompt == nil, model.store == archive.store else { return [] }
            switch result {
            case .success(let known):
                let history = model.events.completing(known, of: key, in: archive.name)
                showHistory(&model, of: key, in: archive.name, history)
            case .failure(let error): model.say(error.description, role: .error)
            }
            return []
        }
    }

    /// Opens a history with its newest event in view.
    static func showHistory(
        _ model: inout Model, of key: String, in archive: String, _ history: KeyHistory, _ rest: [String] = []
    ) {
        let events = history.lines(by: model.processName)
        let reach = history.reach(in: archive, now: model.shownNow)
        var box = MessageBox(
            title: "Key history of \(TerminalText.sanitized(key))",
            lines: [reach] + (events.isEmpty ? ["The event log has no event of this key."] : events))
        func places(_ model: Model) -> Dialog.Places {
            OverlayPlaces.dialog(box, model).places(in: OverlayPlaces.dialogs(model))
        }
        let end = places(model).lines.count
        box.lines += rest
        box.first = max(0, end - places(model).body.rows)
        model.overlay = .message(box)
    }
}
