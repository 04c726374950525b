import ArchiveQuery
import StorageEngine
import StoreInspection
import TerminalKit

/// A change to confirm. Its targets are fixed when it opens.
struct Plan: ButtonOverlay {
    enum Act: Sendable, Hashable {
        case change(PlannedAction)
        case undo(ReversibleAction)
        /// Replaces a file with the value of an entry; nil: with the rows of the screen.
        case replaceFile(String, EntryAddress?)
        case archive(ArchiveChange, ArchiveSample, Evictions)
    }

    var act: Act
    var archive: ArchiveAddress
    var targets: [Target] = []
    /// A note about targets that the screen doesn't show, and entries that are left out.
    private var remarks: [String] = []
    /// Size of the targets, the restored entries or the messages.
    var bytes: UInt64
    /// Idle time that selected the targets among all entries of the archive.
    var idle: Duration?
    var group: String?
    var button = 0
    /// The archive's name, to be typed to confirm; nil: a button confirms.
    var name: TextField?
    var first = 0

    init(_ change: PlannedAction, of chosen: ChosenEntries, idle: Duration? = nil) {
        act = .change(change)
        (archive, targets, group, self.idle) = (chosen.archive, chosen.targets, chosen.group, idle)
        remarks = [chosen.hiding, chosen.omission].compactMap { $0 }
        bytes = targets.reduce(0) { $0 + UInt64($1.size) }
    }

    init(undoing action: ReversibleAction, archive: ArchiveAddress) {
        act = .undo(action)
        self.archive = archive
        bytes = action.bytes
        button = 1
    }

    init(replacing path: String, by entry: EntryAddress? = nil, archive: ArchiveAddress) {
        act = .replaceFile(path, entry)
        self.archive = archive
        bytes = 0
    }

    init(
        _ change: ArchiveChange, of sample: ArchiveSample, at archive: ArchiveAddress,
        evicting evictions: Evictions = Evictions()
    ) {
        act = .archive(change, sample, evictions)
        self.archive = archive
        bytes = evictions.bytes
        if change == .drop || change == .clear || evictions.entries > 0 {
            name = TextField()
        }
    }

    var keys: [(key: String, title: String)] {
        name == nil ? FooterView.buttonKeys : [("esc", "Cancel"), ("enter", "Confirm the typed name")]
    }
    var typing: TextField? { name }
    var question: Browser.Question? { name == nil ? .plan : .name }
    var knownCharacters: String? { name == nil ? "hljkynqgG" : nil }

    func press(_ model: inout Model, _ key: Key) -> [Effect] {
        guard let name, key != Key(.escape), key != Key(.up), key != Key(.down) else {
            return pressButtons(&model, key)
        }
        guard key == Key(.enter) else {
            edit(&model) { _ = $0.handle(key) }
            return []
        }
        guard ExactText(name.text) == ExactText(archive.name), !model.isAnswerBlocked else {
            return model.reply("Type \(archive.name), then press enter.", role: .warning)
        }
        return confirm(&model)
    }

    func paste(_ model: inout Model, _ text: String) {
        if name == nil { Browser.refuseAnswer(&model) } else { edit(&model) { $0.insert(text) } }
    }

    private func edit(_ model: inout Model, _ change: (inout TextField) -> Void) {
        var plan = self
        if var name {
            change(&name)
            plan.name = name
        }
        model.overlay = plan
    }

    func confirm(_ model: inout Model) -> [Effect] { Browser.carryOut(&model, self) }

    func refuse(_ model: inout Model) {
        let words =
            switch act {
            case .change(.delete), .archive(.clear, _, _): "Nothing was deleted."
            case .change, .undo, .archive: "Nothing was changed."
            case .replaceFile: "Nothing was written."
            }
        model.say(words, seconds: 3)
    }

    func draw(_ model: Model, into frame: inout Frame) {
        drawDialog(model, into: &frame)
        name?.draw(into: &frame, in: places(model).content, look: model.look)
    }

    func dialog(_ model: Model) -> Dialog {
        var body: [String]
        let words: (title: String, button: String)
        switch act {
        case .change(let change):
            let count = Plan.amount(targets, of: group)
            words = (change.question(count, idle: idle), change.button)
            let undoing = undoWindow(change, model)
            // Servers have no sequence numbers.
            let exception =
                model.isOfServer
                ? "Keys written after the list was read are \(change.changesExpiryTimes ? "changed" : "deleted") too; "
                    + "an undo keeps later writes."
                : "Keys written after the list was read are kept, also by an undo."
            // On low screens the undo line comes first.
            let isTall = model.size.rows >= 16
            body = preview(model) + (isTall ? [exception, undoing] : [undoing, exception])
        case .undo(let action):
            words = ("Undo this?", "Undo")
            let amount = Figures.amount(action.entries, bytes: action.bytes)
            let restored = action.kind == .deadline ? "the previous expiry times of " : ""
            body = [
                "Restores \(restored)\(amount), in \(TitleView.name(of: archive, model))",
                UndoText.details(action, model),
                exceptions(action, model),
            ]
        case .replaceFile(let path, _):
            words = ("Replace the file?", "Replace")
            body = ["\(TerminalText.sanitized(path)) exists. Its contents will be lost."]
        case .archive(let change, let sample, let evictions): (words, body) = change.dialog(sample, evictions)
        }
        if name != nil { body.append("Type \(archive.name) and press enter:") }
        return Dialog(
            title: words.title, body: body, buttons: name == nil ? ["Cancel", words.button] : [],
            selectedButton: button, firstLine: first, contentRows: name == nil ? 0 : 1)
    }

    /// Entries that an undo leaves unchanged. A server's undo has copies of the keys that expired because of the change.
    private func exceptions(_ action: ReversibleAction, _ model: Model) -> String {
        // Collections and caches without a limit evict nothing.
        let evicts = model.sample(archive).map { $0.kind != .collection && $0.diskLimit != nil } ?? true
        let other: String? =
            switch (action.kind, model.isOfServer) {
            case (.deadline, true): "Keys that have expired since are restored."
            case (.deadline, false): "Keys that have expired since aren't restored."
            case (_, true): "Keys whose own expiry time has passed aren't restored."
            case (_, false): evicts ? "Other entries may be evicted to stay within the limit." : nil
            }
        return ["Keys written since then are kept.", other].compactMap { $0 }.joined(separator: " ")
    }

    private func undoWindow(_ change: PlannedAction, _ model: Model) -> String {
        if model.isOfServer {
            return "\(Browser.keyName(model, .undo)) can undo it for ten minutes, on this machine only."
        }
        let sample = model.sample(archive).flatMap { $0.undoBudget.values == .max ? nil : $0 }
        let writeBudget = sample.flatMap {
            change.undoWriteBudget(in: $0.status, entries: targets.count, bytes: bytes)
        }
        let undoes =
            "\(Browser.keyName(model, .undo)) can undo it \(PlannedAction.undoWindow(writeBudget: writeBudget))."
        guard let writeBudget else { return undoes }
        let start = change.changesExpiryTimes ? undoes : "Larger than the undo space: \(undoes)"
        guard let sample, let rates = model.archives.histories[ExactText(archive.name)]?.now,
            let seconds = rates.seconds(toWrite: writeBudget, in: sample.status), seconds < 600
        else { return start }
        return "\(start) At the current write rate, about \(Figures.interval(seconds))."
    }

    /// `5 entries of group user:`
    static func amount(_ targets: [Target], of group: String?) -> String {
        Figures.count(targets.count, "entry", "entries") + (group.map { " of group \($0)" } ?? "")
    }

    /// Entries for which the condition could not be evaluated; nil: none.
    private func undecided(_ model: Model) -> String? {
        let count =
            model.screen == .query
            ? model.query?.answer?.report.unevaluated : model.entries?.arrangement?.unread.undecided
        guard let count, count > 0 else { return nil }
        return "The condition could not be evaluated for \(Figures.count(count, "entry", "entries"))."
    }

    private func preview(_ model: Model) -> [String] {
        let count = targets.count
        let scope = idle == nil ? "in" : "all idle entries of"
        var body = ["\(Figures.amount(count, bytes: bytes)), \(scope) \(TitleView.name(of: archive, model))"]
        body += remarks
        if idle == nil, let undecided = undecided(model) { body.append(undecided) }
        let shown = max(1, min(8, model.size.rows - 9))
        let bullet = model.look.glyphs.bullet
        // One line for each key, whatever it contains.
        let columns = max(1, min(model.size.columns, Dialog.defaultColumns) - 4 - 2)
        body += targets.prefix(shown).map { target in
            let key = model.look.cut(target.key, to: columns, .middle)
            return "\(bullet) \(key)"
        }
        if count > shown { body.append("\(bullet) and \(Figures.count(count - shown)) more") }
        return body
    }
}

extension PlannedAction {
    var button: String {
        switch self {
        case .delete: "Delete"
        case .expireNow, .expireIdle, .setLifetime(_?): "Expire"
        case .setLifetime(nil): "Keep"
        }
    }
}
