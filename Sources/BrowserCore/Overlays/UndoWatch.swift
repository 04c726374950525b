import StorageEngine
import StoreInspection
import TerminalKit

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
        return .ask("look at what can be undone in \(archive.name)") { (context) throws(SourceError) in
            try context.source.reversible(in: archive)
        } then: { model, result in
            guard model.undoWatch?.archive == archive, model.undoWatch?.own.id == id else { return [] }
            model.undoWatch?.isPending = false
            if case .success(let actions) = result { show(&model, actions) }
            return []
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
