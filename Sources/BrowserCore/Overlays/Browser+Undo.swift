import StorageEngine
import StoreInspection
import TerminalKit

extension Browser {
    static let lostMessages = "Deleted messages can't be restored."
    private static let lostArchive = "A dropped archive can't be restored."

    static func askUndo(_ model: inout Model, choosing: Bool) -> [Effect] {
        guard let archive = model.archiveInView else {
            if model.events.hasDrop { model.say(lostArchive) }
            return []
        }
        if model.sample(archive)?.kind == .log { return model.reply(lostMessages) }
        return .ask("load reversible of \(archive.name) for \(choosing ? "list" : "latest")") {
            (context) throws(SourceError) in
            try context.source.reversible(in: archive)
        } then: { model, result in
            guard model.overlay == nil, model.prompt == nil, archive == model.archiveInView else {
                return []
            }
            switch result {
            case .failure(let error): model.say(error.description, role: .error)
            case .success(let actions) where choosing && !actions.isEmpty:
                model.overlay = UndoList(archive: archive, actions: actions)
            case .success(let actions):
                if let latest = actions.first {
                    model.overlay = Plan(undoing: latest, archive: archive)
                } else if model.events.hasDrop {
                    model.say("Nothing to undo in \(archive.name). \(lostArchive)")
                } else {
                    model.say(UndoOutcome.nothing(in: archive.name).asSentence)
                }
            }
            return []
        }
    }

    static func undo(_ action: ReversibleAction, in archive: ArchiveAddress, _ ticket: Int) -> Effect {
        .ask("undo \(action.id) of \(archive.name)", ticket: ticket) { (context) throws(SourceError) in
            try context.source.undo(action, in: archive, checkpoint: context.progress)
        } then: { model, result in
            model.ends(ticket)
            switch result {
            case .failure(let error):
                model.overlay = MessageBox("Nothing was undone", [error.description])
                return []
            case .success(nil):
                forgetUndo(&model, action, in: archive)
                return model.reply(
                    "Can't undo: already undone, older than ten minutes, or its space was reused.",
                    role: .warning)
            case .success(let carried?):
                if carried.outcome.isComplete { forgetUndo(&model, action, in: archive) }
                return report(&model, carried, action, in: archive)
            }
        }
    }

    private static func report(
        _ model: inout Model, _ carried: Carried<UndoOutcome>, _ action: ReversibleAction,
        in archive: ArchiveAddress
    ) -> [Effect] {
        let outcome = carried.outcome
        model.cost.note(writes: outcome.entries, longestCall: carried.longestCall)
        var summary = outcome.summary
        if !outcome.isComplete {
            let rest = model.isInBackground ? "" : "; \(keyName(model, .undo)) undoes the rest"
            summary = "stopped: \(summary)\(rest)"
        }
        let remarks = outcome.remarks(listing: 100) + [carried.stopped].compactMap { $0 }
        if remarks.isEmpty {
            model.say(summary.asSentence, role: .good, seconds: 10)
        } else {
            let title = outcome.entries + outcome.damaged == 0 ? "Nothing was undone" : "Undone"
            model.overlay = MessageBox(title, [summary.asSentence] + remarks)
        }
        model.entries?.keepsTop = outcome.entries + outcome.damaged > 0
        return EntriesScreen.keepListing(
            changedBy: outcome.entries, by: action, of: archive, &model)
            ?? refresh(&model, isForced: true)
    }
}
