import ArchiveQuery
import StorageEngine
import StoreInspection
import TerminalKit

extension OverlayPlaces {
    static func dialog(_ plan: Plan, _ model: Model) -> Dialog {
        var body: [String]
        let words: (title: String, button: String)
        switch plan.act {
        case .change(let change):
            let count = amount(plan.targets, of: plan.group)
            words = (change.question(count, idle: plan.idle), button(change))
            let undoing = grace(plan, change, model)
            // Servers have no sequence numbers.
            let exception =
                model.isOfServer
                ? "Keys written since they were listed are \(change.isOfDeadlines ? "changed" : "deleted") too; "
                    + "an undo keeps later ones."
                : "Keys written since they were listed are kept, also by an undo."
            // On low screens the undo line comes first.
            let isTall = model.size.rows >= 16
            body = targets(plan, model) + (isTall ? [exception, undoing] : [undoing, exception])
        case .undo(let action):
            words = ("Undo this?", "Undo")
            let amount = Figures.amount(action.entries, bytes: action.bytes)
            let restored = action.kind == .deadline ? "the former expiry of " : ""
            body = [
                "Restores \(restored)\(amount), in \(TitleView.name(of: plan.archive, model))",
                UndoText.story(action, model),
                exceptions(action, plan, model),
            ]
        case .replaceFile(let path, _):
            words = ("Replace the file?", "Replace")
            body = ["\(TerminalText.sanitized(path)) exists. Its contents will be lost."]
        case .archive(let change, let sample, let evictions):
            (words, body) = change.dialog(sample, evictions)
        }
        if plan.name != nil { body.append("Type \(plan.archive.name) and press enter:") }
        return Dialog(
            title: words.title, body: body, buttons: plan.name == nil ? ["Cancel", words.button] : [],
            selectedButton: plan.button, firstLine: plan.first, contentRows: plan.name == nil ? 0 : 1)
    }

    /// Entries that an undo leaves unchanged. A server's undo has copies of the keys that expired because of the change.
    private static func exceptions(_ action: ReversibleAction, _ plan: Plan, _ model: Model) -> String {
        // Collections and caches without a limit evict nothing.
        let evicts = model.sample(plan.archive).map { $0.kind != .collection && $0.diskLimit != nil } ?? true
        let other: String? =
            switch (action.kind, model.isOfServer) {
            case (.deadline, true): "Keys that have expired since are restored."
            case (.deadline, false): "Keys that have expired since aren't restored."
            case (_, true): "Keys whose own expiry time has passed aren't restored."
            case (_, false): evicts ? "Present entries may be evicted to stay within the limit." : nil
            }
        return ["Keys written since then are kept.", other].compactMap { $0 }.joined(separator: " ")
    }

    private static func grace(_ plan: Plan, _ change: PlannedAction, _ model: Model) -> String {
        if model.isOfServer {
            return
                "\(Browser.keyName(model, .undo)) undoes it for ten minutes, on this machine only."
        }
        let sample = model.sample(plan.archive).flatMap { $0.undoBudget.values == .max ? nil : $0 }
        let room = sample.flatMap {
            change.undoRoom(in: $0.status, entries: plan.targets.count, bytes: plan.bytes)
        }
        let undoes = "\(Browser.keyName(model, .undo)) undoes it \(PlannedAction.grace(room: room))."
        guard let room else { return undoes }
        let start = change.isOfDeadlines ? undoes : "Larger than the undo space: \(undoes)"
        guard let sample, let rates = model.archives.histories[ExactText(plan.archive.name)]?.now,
            let seconds = rates.seconds(toWrite: room, in: sample.status), seconds < 600
        else { return start }
        return
            "\(start) At the current write rate, about \(Figures.interval(seconds))."
    }

    /// `5 entries of group user:`
    private static func amount(_ targets: [Target], of group: String?) -> String {
        Figures.count(targets.count, "entry", "entries") + (group.map { " of group \($0)" } ?? "")
    }

    static func button(_ change: PlannedAction) -> String {
        switch change {
        case .delete: "Delete"
        case .expireNow, .expireIdle, .setLifetime(_?): "Expire"
        case .setLifetime(nil): "Keep"
        }
    }

    /// Targets that the filter hides; nil: none.
    private static func hidden(_ hidden: Int, of count: Int) -> String? {
        guard hidden > 0 else { return nil }
        let which = hidden == count ? (count == 1 ? "It is" : "All are") : Figures.count(hidden, "is", "are")
        return "\(which) hidden by the filter."
    }

    /// Entries for which the condition could not be evaluated; nil: none.
    private static func undecided(_ model: Model) -> String? {
        let count =
            model.screen == .query
            ? model.query?.answer?.report.unevaluated : model.entries?.arrangement?.unread.undecided
        guard let count, count > 0 else { return nil }
        return
            "The condition could not be evaluated for \(Figures.count(count, "entry", "entries"))."
    }

    private static func targets(_ plan: Plan, _ model: Model) -> [String] {
        let count = plan.targets.count
        let scope = plan.idle == nil ? "in" : "all idle entries of"
        var body = [
            "\(Figures.amount(count, bytes: plan.bytes)), \(scope) \(TitleView.name(of: plan.archive, model))"
        ]
        if let hidden = hidden(plan.hidden, of: count) { body.append(hidden) }
        if plan.idle == nil, let undecided = undecided(model) { body.append(undecided) }
        let shown = max(1, min(8, model.size.rows - 9))
        let bullet = model.look.glyphs.bullet
        // One line for each key, whatever it contains.
        let columns = max(1, min(model.size.columns, Dialog.defaultColumns) - 4 - 2)
        body += plan.targets.prefix(shown).map { target in
            let key = TextWidth.truncate(
                target.key, to: columns, cutting: .middle, ellipsis: model.look.glyphs.ellipsis)
            return "\(bullet) \(key)"
        }
        if count > shown { body.append("\(bullet) and \(Figures.count(count - shown)) more") }
        return body
    }

    // MARK: Expiry

    static func dialog(_ form: ExpireForm, _ model: Model) -> Dialog {
        let entries = amount(form.targets, of: form.group)
        let archive = TitleView.name(of: form.archive, model)
        let isIdle = form.choice == .idle
        var body: [String] = []
        if let problem = form.problem {
            body.append(problem)
        } else if model.size.rows >= 10 {
            let scope =
                isIdle ? "All idle entries of \(archive), filtered or not" : "\(entries) of \(archive)"
            body.append("\(scope). You will see a preview first.")
            if model.size.rows >= 12, !isIdle,
                let hidden = hidden(form.hidden.count, of: form.targets.count)
            {
                body.append(hidden)
            }
        }
        return Dialog(
            title: isIdle ? "Expire idle entries of \(archive)" : "Expire \(entries)", body: body,
            buttons: ["Cancel", "Continue"], selectedButton: form.button,
            contentRows: ExpireForm.Choice.allCases.count)
    }

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
            let idle = "idle longer than"
            let isWide = line.columns >= TextWidth.width(of: idle) + 13
            let label = "\(sign) " + (isWide ? TextWidth.pad(label, to: TextWidth.width(of: idle)) : label)
            var column = line.column
            column += frame.write(label, at: line.origin, style: base, within: line)
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
            guard column + 1 + TextWidth.width(of: rest) <= line.endColumn else { return }
            frame.write(
                rest, at: Point(column: column + 1, row: line.row), style: look[.dim].over(look[.dialog]),
                within: line)
        }
        switch choice {
        case .after: write("in", form.after, "such as 90s, 5m, 2h, 3d")
        case .now: write("now", nil, "")
        case .never: write("never", nil, "")
        case .idle: write("idle longer than", form.idle, "all of \(form.archive.name)")
        }
    }
}
