import StorageEngine
import TerminalKit

extension Browser {
    static func press(_ model: inout Model, _ key: Key, in overlay: Overlay) -> [Effect] {
        if overlay.offersUndo, model.keyMap.action(.undo)?.keys.contains(key) == true {
            model.overlay = nil
            return askUndo(&model, choosing: false)
        }
        if isNoAnswer(&model, key, to: overlay) { return [] }
        model.notice = nil
        let asked = question(model)
        let effects =
            switch overlay {
            case .actions(let list): pressInActions(&model, key, list)
            case .plan(let plan): press(&model, key, in: plan)
            case .expire(let form): press(&model, key, in: form)
            case .undoList(let list): press(&model, key, in: list)
            case .columns(let choice): press(&model, key, in: choice)
            case .search(let list): press(&model, key, in: list)
            case .message(let box): press(&model, key, in: box)
            case .choice(let choice): press(&model, key, in: choice)
            case .copy(let menu): press(&model, key, in: menu)
            case .edit(let plan): press(&model, key, in: plan)
            }
        if model.overlay == nil, model.keyMap.action(.quit)?.keys.contains(key) == true {
            noteDialogEnd(&model)
        }
        if asked != nil, model.overlay == nil, !effects.isEmpty { model.answeredBy = (key, model.now) }
        return effects
    }

    /// Whether a key is refused as an answer. Pasted text may arrive slowly, so a character without a meaning is refused, and for a
    /// moment after it only keys that cancel count.
    private static func isNoAnswer(_ model: inout Model, _ key: Key, to overlay: Overlay) -> Bool {
        guard let known = overlay.knownCharacters else { return false }
        let isKnown =
            switch key.code {
            case .character(let character):
                key.text == nil ? key == .control("f") || key == .control("b") : known.contains(character)
            case .function, .insert, .delete, .backspace: false
            default: true
            }
        if !isKnown {
            model.doubtedAt = model.now
            model.say("\(key) is not an answer. Press y or n.", seconds: 3)
            return true
        }
        let leaves = key == Key(.escape) || key == .character("n") || key == .character("q")
        guard model.isInDoubt, !leaves else { return false }
        model.say("\(key) ignored: too soon. Press it again.", seconds: 5)
        return true
    }

    /// The row after a movement key, from 0 to `last`; nil for other keys.
    static func row(after key: Key, _ row: Int, last: Int, page: Int = 1) -> Int? {
        let moved: Int? =
            switch key {
            case Key(.up), .character("k"): row - 1
            case Key(.down), .character("j"): row + 1
            case Key(.pageUp), .control("b"): row - max(1, page)
            case Key(.pageDown), .control("f"): row + max(1, page)
            case Key(.home), .character("g"): 0
            case Key(.end), .character("G"): last
            default: nil
            }
        return moved.map { max(0, min($0, last)) }
    }

    /// The same for the first line of a dialog.
    private static func line(after key: Key, _ first: Int, in dialog: Dialog, _ model: Model) -> Int? {
        let places = dialog.places(in: OverlayPlaces.dialogs(model))
        let rows = places.body.rows
        return row(after: key, first, last: max(0, places.lines.count - rows), page: rows - 1)
    }

    static func sayUseless(_ model: inout Model, _ key: Key) -> [Effect] {
        return model.reply("\(key) does nothing here; esc closes.", seconds: 3)
    }

    static func paste(_ model: inout Model, _ text: String, into overlay: Overlay) {
        switch overlay {
        case .search(var list):
            list.insert(text)
            model.overlay = .search(list)
        case .actions(var list):
            list.field.insert(text)
            (list.selected, list.first) = (0, 0)
            model.overlay = .actions(list)
        case .expire(var form):
            form.insert(text)
            model.overlay = .expire(form)
        case .plan(var plan) where plan.name != nil:
            plan.name?.insert(text)
            model.overlay = .plan(plan)
        case .plan, .choice, .edit: sayNoAnswer(&model)
        case .undoList, .columns, .message, .copy: sayPasteIsNoKeys(&model)
        }
    }

    private static func pressInActions(_ model: inout Model, _ key: Key, _ old: ActionList) -> [Effect] {
        var list = old
        let page = max(1, OverlayPlaces.actionRows(model))
        var step = 0
        switch (key.code, key.modifiers) {
        case (.escape, _):
            model.overlay = nil
            return []
        case (.enter, _):
            let row = selected(in: list, model)
            if case .sign? = row { return [] }
            model.overlay = nil
            guard case .action(let action)? = row else { return [] }
            return perform(&model, action.id)
        case (.up, _), (.character("p"), .control): step = -1
        case (.down, _), (.character("n"), .control): step = 1
        case (.pageUp, _): step = -page
        case (.pageDown, _): step = page
        case (.home, _): step = -list.selected
        case (.end, _): step = .max / 2
        default:
            if list.field.handle(key) { (list.selected, list.first) = (0, 0) }
        }
        let rows = rows(of: list, model)
        list.selected = max(0, min(list.selected + step, rows.count - 1))
        if rows.indices.contains(list.selected), rows[list.selected].isTopic {
            list.selected += step < 0 && list.selected > 0 ? -1 : 1
        }
        // The title of a topic is visible with its first line.
        let top = list.selected > 0 && rows[list.selected - 1].isTopic ? list.selected - 1 : list.selected
        list.first = Table.firstRow(
            showing: list.selected, of: rows.count, in: page, from: min(list.first, top))
        model.overlay = .actions(list)
        return []
    }

    static func selected(in list: ActionList, _ model: Model) -> ActionList.Row? {
        rows(of: list, model).dropFirst(list.selected).first { !$0.isTopic }
    }

    /// The lines of the help (actions by topic, then the legend) or the palette.
    static func rows(of list: ActionList, _ model: Model) -> [ActionList.Row] {
        let actions = model.keyMap.search(list.field.text, in: model.screen).filter { action in
            guard let place = ActionID.stores.firstIndex(of: action.id) else { return true }
            // The help has one line for all store digits, the palette those of open stores.
            return list.isHelp ? place == 0 : model.openStores.contains { $0.place == place + 1 }
        }
        guard list.isHelp else { return actions.map { .action($0) } }
        let signs = Legend.lines(model, matching: list.field.text).map { ActionList.Row.sign($0) }
        guard list.field.text.isEmpty else { return actions.map { .action($0) } + signs }
        let topics = ActionTable.topics.flatMap { topic in
            let ids = Set(topic.actions.map(\.id))
            let rows = actions.filter { ids.contains($0.id) }.map { ActionList.Row.action($0) }
            return rows.isEmpty ? [] : [.topic(topic.title)] + rows
        }
        return topics + (signs.isEmpty ? [] : [.topic("Signs and words")]) + signs
    }

    private static func press(_ model: inout Model, _ key: Key, in old: Plan) -> [Effect] {
        var plan = old
        if var name = plan.name, key != Key(.escape), key != Key(.up), key != Key(.down) {
            guard key == Key(.enter) else {
                if name.handle(key) { plan.name = name }
                model.overlay = .plan(plan)
                return []
            }
            guard ExactText(name.text) == ExactText(plan.archive.name), !model.isInDoubt else {
                return model.reply("Type \(plan.archive.name), then press enter.", role: .warning)
            }
            return carryOut(&model, plan)
        }
        switch key {
        case Key(.left), Key(.right), Key(.tab), Key(.backTab), .character("h"), .character("l"):
            plan.button = 1 - plan.button
            model.overlay = .plan(plan)
        case Key(.enter) where plan.button == 1, .character("y"): return carryOut(&model, plan)
        case Key(.enter), Key(.escape), .character("n"), .character("q"):
            model.overlay = nil
            model.say(plan.refusal, seconds: 3)
        default:
            plan.first =
                line(after: key, plan.first, in: OverlayPlaces.dialog(plan, model), model) ?? plan.first
            model.overlay = .plan(plan)
        }
        return []
    }

    private static func press(_ model: inout Model, _ key: Key, in old: MessageBox) -> [Effect] {
        var box = old
        switch key {
        case Key(.function(1)) where box.leadsToActions:
            model.overlay = nil
            return perform(&model, .help)
        case Key(.enter), Key(.escape), .character("q"), .character(" "), .character("h"), Key(.left),
            Key(.backspace):
            model.overlay = nil
            return []
        default:
            guard let first = line(after: key, box.first, in: OverlayPlaces.dialog(box, model), model) else {
                return sayUseless(&model, key)
            }
            box.first = first
            model.overlay = .message(box)
            return []
        }
    }

    private static func press(_ model: inout Model, _ key: Key, in old: Choice) -> [Effect] {
        var choice = old
        switch key {
        case Key(.left), Key(.right), Key(.tab), Key(.backTab), .character("h"), .character("l"):
            choice.selected = 1 - choice.selected
        case Key(.enter) where choice.selected == 1, .character("y"):
            model.overlay = nil
            return choice.confirmed(&model)
        case Key(.enter), Key(.escape), .character("n"), .character("q"):
            model.overlay = nil
            choice.left(&model)
            return []
        default:
            choice.first =
                line(after: key, choice.first, in: OverlayPlaces.dialog(choice), model) ?? choice.first
        }
        model.overlay = .choice(choice)
        return []
    }
}

extension Plan {
    fileprivate var refusal: String {
        switch act {
        case .change(.delete), .archive(.clear, _, _): "Nothing was deleted."
        case .change, .undo, .archive: "Nothing was changed."
        case .replaceFile: "Nothing was written."
        }
    }
}
