import TerminalKit

/// The bottom row: keys and their actions on this screen.
enum FooterView {
    static func hints(_ model: Model) -> [KeyHint<ActionID>] {
        var hints = model.keyMap.hints(in: model.screen).filter {
            model.isOfUse($0.id) && isNamed($0.id, on: model.screen)
        }.map { hint in
            var title = hint.id == .pause && model.pausedSince != nil ? "Resume" : hint.title
            if hint.id == .fold, model.value?.load == nil { title = "Read value" }
            if hint.id == .quit, !model.isFirstScreen { title = "Back" }
            return KeyHint(id: hint.id, key: hint.key, title: title)
        }
        if model.screen == .value {
            let first = [ActionID.editValue, .copy, .pager].compactMap { id in
                model.keyMap.action(id).flatMap { action in
                    action.keys.first.map { KeyHint(id: id, key: "\($0)", title: action.title) }
                }
            }
            hints = first.filter { model.isOfUse($0.id) } + hints
        }
        // Help comes first if not all hints fit.
        let needed = hints.reduce(-2) { $0 + TextWidth.width(of: $1.key) + TextWidth.width(of: $1.title) + 3 }
        guard needed > model.size.columns, let help = hints.first(where: { $0.id == .help }) else {
            return hints
        }
        return [help] + hints.filter { $0.id != .help }
    }

    /// Whether this screen's footer shows a key that works on every screen.
    private static func isNamed(_ id: ActionID, on screen: Screen) -> Bool {
        switch id {
        case .alarm: screen == .monitor
        case .monitor: screen != .monitor && screen != .stores
        case .query: ![.query, .messages, .monitor].contains(screen)
        default: true
        }
    }

    /// The keys of overlays and prompts, which can't be reassigned.
    private static func overlayHints(_ model: Model) -> [KeyHint<String>]? {
        let pairs: [(key: String, title: String)]
        switch model.overlay {
        case .actions: pairs = [("enter", "Run"), ("esc", "Close"), ("up/down", "Select")]
        case .plan(let plan) where plan.name != nil:
            pairs = [("esc", "Cancel"), ("enter", "Confirm the typed name")]
        case .plan: pairs = buttonKeys("Cancel")
        case .expire:
            pairs = [
                ("enter", "Continue"), ("esc", "Cancel"), ("up/down", "Select"), ("tab", "Switch button"),
            ]
        case .undoList: pairs = [("enter", "Undo"), ("esc", "Close")]
        case .search(let list): pairs = list.keys
        case .columns(let choice):
            pairs =
                [("enter", "Show or hide")]
                + (choice.isOfProperties
                    ? [("a", "Add property"), ("shift+j/k", "Move")] : [("*", "All or none")])
                + [("esc", "Close")]
        case .message: pairs = [("enter", "Close")]
        case .choice(let choice): pairs = buttonKeys(choice.buttons[0])
        case .copy: pairs = [("enter", "Copy"), ("esc", "Close"), ("up/down", "Select")]
        case .edit: pairs = buttonKeys("Cancel") + [("e", "Edit again"), ("up/down", "Scroll")]
        case nil:
            guard let keys = model.prompt?.keys ?? model.parts.typingKeys(model) else { return nil }
            pairs = keys
        }
        return pairs.map { KeyHint(id: $0.key, key: $0.key, title: $0.title) }
    }

    /// The keys of a dialog with two buttons; Esc takes the first.
    private static func buttonKeys(_ first: String) -> [(key: String, title: String)] {
        [("esc", first), ("y", "Yes"), ("n", "No"), ("tab", "Switch button"), ("enter", "Confirm")]
    }

    static func draw(_ model: Model, into frame: inout Frame, in rect: Rect) {
        if let hints = overlayHints(model) {
            return Footer(hints).draw(into: &frame, in: rect, look: model.look)
        }
        Footer(hints(model)).draw(into: &frame, in: rect, look: model.look)
    }
}
