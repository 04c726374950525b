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
        if model.sample(archive)?.kind == .log {
            return ArchivesScreen.planUndo(in: archive, since: nil, &model) ?? model.reply(lostMessages)
        }
        return .ask("load undo records of \(archive.name) for \(choosing ? "list" : "latest")") {
            (context) throws(SourceError) in
            try context.source.reversible(in: archive)
        } then: { model, result in
            guard model.overlay == nil, model.prompt == nil, archive == model.archiveInView,
                let actions = model.take(result)
            else { return [] }
            if !choosing,
                let effects = ArchivesScreen.planUndo(in: archive, since: actions.first?.time, &model)
            {
                return effects
            }
            if choosing, !actions.isEmpty {
                model.overlay = UndoList(archive: archive, actions: actions)
            } else if let latest = actions.first {
                model.overlay = Plan(undoing: latest, archive: archive)
            } else {
                model.say(
                    model.events.hasDrop
                        ? "Nothing to undo in \(archive.name). \(lostArchive)"
                        : UndoOutcome.nothing(in: archive.name).asSentence)
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
            let restoredNothing = outcome.entries + outcome.damaged == 0
            // The outcome of a stopped undo may be unknown.
            let title =
                !restoredNothing ? "Undone" : carried.stopped == nil ? "Nothing was undone" : "Undo stopped"
            model.overlay = MessageBox(title, [summary.asSentence] + remarks)
        }
        model.entries?.keepsTop = outcome.entries + outcome.damaged > 0
        return EntriesScreen.keepListing(changedBy: outcome.entries, by: action, of: archive, &model)
            ?? refresh(&model, isForced: true)
    }
}

/// This browser's last change while it can be undone; refreshed to show the remaining time.
struct UndoWatch: Sendable {
    let archive: ArchiveAddress
    var own: ReversibleAction
    /// The change that the next undo reverts, possibly of another process.
    var latest: ReversibleAction
    var isPending = false

    init(_ action: ReversibleAction, in archive: ArchiveAddress) {
        (own, latest) = (action, action)
        self.archive = archive
    }
}

extension Browser {
    static func watchUndo(_ model: inout Model) -> [Effect] {
        guard let watch = model.undoWatch, !watch.isPending else { return [] }
        model.undoWatch?.isPending = true
        let (archive, id) = (watch.archive, watch.own.id)
        return .ask("load undo records of \(archive.name)") { (context) throws(SourceError) in
            try context.source.reversible(in: archive)
        } done: { model, result in
            guard model.undoWatch?.archive == archive, model.undoWatch?.own.id == id else { return }
            model.undoWatch?.isPending = false
            if case .success(let actions) = result { show(&model, actions) }
        }
    }

    private static func show(_ model: inout Model, _ actions: [ReversibleAction]) {
        guard let watch = model.undoWatch else { return }
        if let own = actions.first(where: { $0.id == watch.own.id }) {
            model.undoWatch?.own = own
            model.undoWatch?.latest = actions[0]
            return
        }
        guard model.job?.isChange != true else { return }
        model.undoWatch = nil
        model.say(
            watch.own.ending(in: watch.archive.name, at: model.now).asSentence, role: .warning, seconds: 20)
    }

    static func forgetUndo(_ model: inout Model, _ action: ReversibleAction, in archive: ArchiveAddress) {
        guard let watch = model.undoWatch, watch.archive == archive, watch.own.id == action.id else { return }
        model.undoWatch = nil
    }
}

extension Model {
    /// The remaining time of the undo in the current archive, in at most `columns`.
    func undoWords(columns: Int) -> String? {
        guard let watch = undoWatch, watch.archive == archiveInView, !isReadOnly else { return nil }
        let key = Browser.keyName(self, .undo)
        let time = Figures.duration(max(0, watch.latest.end.seconds(since: now)))
        let bytes = watch.latest.bytesLeft.map { Figures.bytes($0) }
        let forms = [
            "\(key): undo (\(time)\(bytes.map { " or \($0) of writes" } ?? ""))",
            "\(key) undoes: \(time)" + (bytes.map { " or \($0)" } ?? ""),
            "\(key): \(time)" + (bytes.map { ", \($0)" } ?? ""),
        ]
        return forms.first { TextWidth.width(of: $0) <= columns }
    }
}
