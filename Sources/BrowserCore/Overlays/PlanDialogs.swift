import ArchiveQuery
import StorageEngine
import StoreInspection
import TerminalKit

/// The dialogs before something is written: where their parts stand, for drawing and for the mouse, and what they say.
extension OverlayPlaces {
    static func dialog(_ plan: Plan, _ model: Model) -> Dialog {
        var body: [String]
        let words: (title: String, button: String)
        switch plan.act {
        case .change(let change):
            let count = Figures.count(plan.targets.count, "entry", "entries")
            words = (change.question(count, idle: plan.idle), button(change))
            var undoing = [grace(plan, change, model)]
            if !change.isOfDeadlines {
                undoing.append("Undo won't replace keys that were stored again since.")
            }
            // A server numbers no changes.
            let exception =
                model.isOfServer
                ? "Keys changed since the list are \(change.isOfDeadlines ? "changed" : "deleted") too."
                : "Entries that changed after they were listed are left alone."
            // Where not all is in view, whether it can be undone counts most.
            let isTall = model.size.rows >= 16
            body = targets(plan, model) + (isTall ? [exception] + undoing : undoing + [exception])
        case .undo(let action):
            words = ("Undo this?", "Undo")
            body = [
                action.kind == .deadline
                    ? "\(Figures.count(action.entries, "entry", "entries")) of \(TitleView.name(of: plan.archive, model)) "
                        + "\(action.entries == 1 ? "gets its" : "get their") former expiry, \(Figures.bytes(action.bytes))"
                    : "\(Figures.count(action.entries, "entry", "entries")) \(action.entries == 1 ? "comes" : "come") "
                        + "back to \(TitleView.name(of: plan.archive, model)), \(Figures.bytes(action.bytes))",
                UndoText.story(action, model),
            ]
            body.append(exceptions(toUndoing: action.kind, model))
        case .replaceFile(let path):
            words = ("Replace the file?", "Replace")
            body = ["\(TerminalText.sanitized(path)) is there already. What is in it goes for good."]
        case .clearLog(let count):
            words = ("Delete all messages?", "Delete")
            body = [
                "This can't be undone: every message of \(TitleView.name(of: plan.archive, model)) goes, now "
                    + "\(Figures.count(count, "message", "messages")), \(Figures.bytes(plan.bytes)), including "
                    + "those that arrive before you confirm.",
                "Type the log's name, \(plan.archive.name), and press enter:",
            ]
        }
        return Dialog(
            title: words.title, body: body, buttons: plan.name == nil ? ["Cancel", words.button] : [],
            selectedButton: plan.button, firstLine: plan.first, contentRows: plan.name == nil ? 0 : 1)
    }

    /// Which entries an undo leaves unchanged. A server's undo has copies of the keys that expired because of the change.
    private static func exceptions(toUndoing kind: ReversibleAction.Kind, _ model: Model) -> String {
        switch (kind, model.isOfServer) {
        case (.deadline, true):
            "Keys that have expired since are restored. Keys that were changed since stay unchanged."
        case (.deadline, false): "Entries that changed or expired meanwhile stay as they are."
        case (_, true):
            "Keys that were stored again since stay unchanged. Keys whose own expiry time has passed aren't restored."
        case (_, false):
            "Keys recorded anew meanwhile stay as they are. Where the limit has no room for all, present entries are "
                + "evicted first."
        }
    }

    /// How long it can be undone, and how soon that may be over.
    private static func grace(_ plan: Plan, _ change: PlannedAction, _ model: Model) -> String {
        if model.isOfServer {
            return
                "\(Browser.keyName(model, .undo)) undoes it for ten minutes, on this machine, which keeps copies as long."
        }
        // An archive of which nothing is known yet has no budget.
        let sample = model.sample(plan.archive).flatMap { $0.undoBudget.values == .max ? nil : $0 }
        let room = sample.flatMap {
            change.undoRoom(in: $0.status, entries: plan.targets.count, bytes: plan.bytes)
        }
        let undoes = "\(Browser.keyName(model, .undo)) undoes it \(PlannedAction.grace(room: room))."
        guard let room else { return undoes }
        let start = change.isOfDeadlines ? undoes : "More than is kept for an undo: \(undoes)"
        guard let sample, let rates = model.archives.histories[ExactText(plan.archive.name)]?.now,
            let seconds = rates.seconds(toWrite: room, in: sample.status), seconds < 600
        else { return start }
        return
            "\(start) As \(TitleView.name(of: plan.archive, model)) is written to now, that is some \(Figures.interval(seconds))."
    }

    static func button(_ change: PlannedAction) -> String {
        switch change {
        case .delete: "Delete"
        case .expireNow, .expireIdle, .setLifetime(_?): "Expire"
        case .setLifetime(nil): "Keep"
        }
    }

    /// What a list that is filtered doesn't show of what is meant; nil: nothing.
    private static func hidden(_ hidden: Int, of count: Int) -> String? {
        guard hidden > 0 else { return nil }
        let which =
            count == 1
            ? "It isn't"
            : hidden == count
                ? "None of them is" : Figures.count(hidden, "of them isn't", "of them aren't")
        return "\(which) in view, for the list is filtered."
    }

    /// How many entries the condition of the list or of the query could not be evaluated for; nil: none.
    private static func undecided(_ model: Model) -> String? {
        let count =
            model.screen == .query
            ? model.query?.answer?.report.unevaluated : model.entries?.arrangement?.unread.undecided
        guard let count, count > 0 else { return nil }
        return
            "The condition could not be evaluated for \(Figures.count(count, "entry", "entries")), left out."
    }

    private static func targets(_ plan: Plan, _ model: Model) -> [String] {
        let count = plan.targets.count
        var body = [
            "\(Figures.amount(count, bytes: plan.bytes)), in \(TitleView.name(of: plan.archive, model))"
        ]
        if let hidden = hidden(plan.hidden, of: count) { body.append(hidden) }
        if let undecided = undecided(model) { body.append(undecided) }
        let shown = max(1, min(8, model.size.rows - 9))
        let bullet = model.look.glyphs.bullet
        // A key is one line: one with line breaks or of a thousand characters mustn't pass for the plan's own words or
        // push the others out of sight.
        let columns = max(1, min(model.size.columns, Dialog.defaultColumns) - 4 - 2)
        body += plan.targets.prefix(shown).map { target in
            let key = TextWidth.truncate(
                TerminalText.sanitized(target.key), to: columns, ellipsis: model.look.glyphs.ellipsis)
            return "\(bullet) \(key)"
        }
        if count > shown { body.append("\(bullet) and \(Figures.count(count - shown)) more") }
        return body
    }

    // MARK: Expiry

    static func dialog(_ form: ExpireForm, _ model: Model) -> Dialog {
        let count = form.targets.count
        var body: [String] = []
        if let problem = form.problem {
            body.append(problem)
        } else if model.size.rows >= 10 {
            body.append(
                count == 0
                    ? "No entry is chosen; those idle for long can be."
                    : "\(Figures.count(count, "entry", "entries")) of \(TitleView.name(of: form.archive, model)); nothing is written before the plan."
            )
            // Where there is no room for it the plan says it.
            if model.size.rows >= 12, let hidden = hidden(form.hidden.count, of: count) {
                body.append(hidden)
            }
        }
        return Dialog(
            title: count == 0
                ? "Expire entries of \(TitleView.name(of: form.archive, model))"
                : "Expire \(Figures.count(count, "entry", "entries"))",
            body: body, buttons: ["Cancel", "Continue"], selectedButton: form.button,
            contentRows: ExpireForm.Choice.allCases.count)
    }

    /// The first choice in view: on a small screen not all fit.
    static func firstChoice(_ form: ExpireForm, in content: Rect) -> Int {
        Table.firstRow(
            showing: form.choice.rawValue, of: ExpireForm.Choice.allCases.count, in: content.rows, from: 0)
    }
}

extension OverlayView {
    static func draw(_ form: ExpireForm, _ model: Model, into frame: inout Frame) {
        let look = model.look
        let dialog = OverlayPlaces.dialog(form, model)
        frame.cursor = nil
        frame.draw(dialog, in: OverlayPlaces.dialogs(model), look: look)
        let content = dialog.places(in: OverlayPlaces.dialogs(model)).content
        let first = OverlayPlaces.firstChoice(form, in: content)
        for row in 0..<content.rows {
            guard let choice = ExpireForm.Choice(rawValue: first + row) else { break }
            draw(choice, of: form, into: &frame, in: content.line(row), look: look)
        }
    }

    private static func draw(
        _ choice: ExpireForm.Choice, of form: ExpireForm, into frame: inout Frame, in line: Rect, look: Look
    ) {
        let isSelected = form.choice == choice
        let isOff = form.targets.isEmpty && choice != .idle
        let sign = isSelected ? String(look.glyphs.pointer) : " "
        let base = look[isSelected ? .accent : isOff ? .dim : .dialog].over(look[.dialog])
        func write(_ label: String, _ field: TextField?, _ rest: String) {
            var column = line.column
            column += frame.write("\(sign) \(label)", at: line.origin, style: base, within: line)
            if var field {
                let place = Rect(column: column + 1, row: line.row, columns: 10, rows: 1).intersection(line)
                field.isActive = isSelected
                if isSelected {
                    field.draw(into: &frame, in: place, look: look)
                } else {
                    frame.write(field.text, at: place.origin, style: base, within: place)
                }
                column = place.endColumn
            }
            // Half a hint is none.
            guard column + 1 + TextWidth.width(of: rest) <= line.endColumn else { return }
            frame.write(
                rest, at: Point(column: column + 1, row: line.row), style: look[.dim].over(look[.dialog]),
                within: line)
        }
        switch choice {
        case .after: write("in", form.after, "such as 90s, 5m, 2h, 3d")
        case .now: write("now", nil, "")
        case .never: write("never", nil, "")
        case .idle: write("idle over", form.idle, "all of \(form.archive.name)")
        }
    }
}
