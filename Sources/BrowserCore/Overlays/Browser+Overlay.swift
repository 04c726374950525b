import TerminalKit

extension Browser {
    static func press(_ model: inout Model, _ key: Key, in overlay: Overlay) -> [Effect] {
        if isNoAnswer(&model, key, to: overlay) { return [] }
        // What was said of a key before it has been read.
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
        if asked != nil, model.overlay == nil, !effects.isEmpty { model.answeredBy = (key, model.now) }
        return effects
    }

    /// A text that comes one by one, or in pieces, over a slow line looks as if it were typed. What means nothing to a question is
    /// said, and what comes right behind it can only leave the question.
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
            model.say("\(key) is no answer; press y or n.", seconds: 3)
            return true
        }
        let leaves = key == Key(.escape) || key == .character("n") || key == .character("q")
        guard model.isInDoubt, !leaves else { return false }
        model.say("\(key) isn't taken so soon: press again.", seconds: 5)
        return true
    }

    /// Of a key that means nothing to what stands over the screen.
    static func sayUseless(_ model: inout Model, _ key: Key) -> [Effect] {
        model.say("\(key) does nothing here; esc leaves it.", seconds: 3)
        return []
    }

    /// A text that is pasted, with a terminal that says so.
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
        case .plan, .choice, .edit: sayNoAnswer(&model)
        case .undoList, .columns, .message, .copy: sayPasteIsNoKeys(&model)
        }
    }

    private static func pressInActions(_ model: inout Model, _ key: Key, _ old: ActionList) -> [Effect] {
        var list = old
        let found = actions(of: list, model)
        let page = max(1, OverlayPlaces.actionRows(model))
        switch (key.code, key.modifiers) {
        case (.escape, _):
            model.overlay = nil
            return []
        case (.enter, _):
            // What a sign means is there to be read.
            if list.selected >= found.count, !legend(of: list, model).isEmpty { return [] }
            model.overlay = nil
            guard found.indices.contains(list.selected) else { return [] }
            return perform(&model, found[list.selected].id)
        case (.up, _), (.character("p"), .control): list.selected -= 1
        case (.down, _), (.character("n"), .control): list.selected += 1
        case (.pageUp, _): list.selected -= page
        case (.pageDown, _): list.selected += page
        default:
            if list.field.handle(key) { (list.selected, list.first) = (0, 0) }
        }
        let count = actions(of: list, model).count + legend(of: list, model).count
        list.selected = max(0, min(list.selected, count - 1))
        list.first = Table.firstRow(showing: list.selected, of: count, in: page, from: list.first)
        model.overlay = .actions(list)
        return []
    }

    /// The meanings of signs that the help lists behind the actions.
    static func legend(of list: ActionList, _ model: Model) -> [Legend.Line] {
        list.isHelp ? Legend.lines(model, matching: list.field.text) : []
    }

    /// The actions that the help or the palette lists.
    static func actions(of list: ActionList, _ model: Model) -> [BrowserAction] {
        model.keyMap.search(list.field.text, in: model.screen)
    }

    private static func press(_ model: inout Model, _ key: Key, in old: Plan) -> [Effect] {
        var plan = old
        switch key {
        case Key(.left), Key(.right), Key(.tab), Key(.backTab), .character("h"), .character("l"):
            plan.button = 1 - plan.button
            model.overlay = .plan(plan)
        case Key(.down), .character("j"):
            let places = OverlayPlaces.dialog(plan, model).places(in: OverlayPlaces.dialogs(model))
            plan.first = min(plan.first + 1, max(0, places.lines.count - places.body.rows))
            model.overlay = .plan(plan)
        case Key(.up), .character("k"):
            plan.first = max(0, plan.first - 1)
            model.overlay = .plan(plan)
        case Key(.enter) where plan.button == 1, .character("y"): return carryOut(&model, plan)
        case Key(.enter), Key(.escape), .character("n"), .character("q"):
            model.overlay = nil
            model.say(plan.refusal, seconds: 3)
        default: break
        }
        return []
    }

    private static func press(_ model: inout Model, _ key: Key, in old: MessageBox) -> [Effect] {
        var box = old
        let places = OverlayPlaces.dialog(box, model).places(in: OverlayPlaces.dialogs(model))
        let page = max(1, places.body.rows - 1)
        switch key {
        case Key(.down), .character("j"): box.first += 1
        case Key(.up), .character("k"): box.first -= 1
        case Key(.pageDown), .control("f"): box.first += page
        case Key(.pageUp), .control("b"): box.first -= page
        case Key(.home), .character("g"): box.first = 0
        case Key(.end), .character("G"): box.first = places.lines.count
        case Key(.function(1)) where box.leadsToActions:
            model.overlay = nil
            return perform(&model, .help)
        case Key(.enter), Key(.escape), .character("q"), .character(" "), .character("h"), Key(.left),
            Key(.backspace):
            model.overlay = nil
            return []
        default: return sayUseless(&model, key)
        }
        box.first = max(0, min(box.first, places.lines.count - places.body.rows))
        model.overlay = .message(box)
        return []
    }

    private static func press(_ model: inout Model, _ key: Key, in old: Choice) -> [Effect] {
        var choice = old
        switch key {
        case Key(.left), Key(.right), Key(.tab), Key(.backTab), .character("h"), .character("l"):
            choice.selected = 1 - choice.selected
        case Key(.down), .character("j"):
            let places = OverlayPlaces.dialog(choice).places(in: OverlayPlaces.dialogs(model))
            choice.first = min(choice.first + 1, max(0, places.lines.count - places.body.rows))
        case Key(.up), .character("k"): choice.first = max(0, choice.first - 1)
        case Key(.enter) where choice.selected == 1, .character("y"):
            model.overlay = nil
            return choice.confirmed(&model)
        case Key(.enter), Key(.escape), .character("n"), .character("q"):
            model.overlay = nil
            choice.left(&model)
            return []
        default: return []
        }
        model.overlay = .choice(choice)
        return []
    }
}

extension Plan {
    /// What is said when it isn't carried out.
    fileprivate var refusal: String {
        switch act {
        case .change(.delete), .clearLog: "Nothing was deleted."
        case .change, .undo: "Nothing was changed."
        case .replaceFile: "Nothing was written."
        }
    }
}
