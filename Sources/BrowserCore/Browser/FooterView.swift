import TerminalKit

enum FooterView {
    /// The most used actions, shown first. Help leads, because it lists the others.
    private static let mostUsed: [ActionID] = [
        .help, .editValue, .copy, .pager, .open, .fold, .edit, .filter, .find, .search, .sort, .mark, .delete,
        .expire, .query,
    ]

    private static let rare: [ActionID] = [.resizeArchive, .compactArchive, .renameArchive, .dropArchive]

    static func hints(_ model: Model) -> [KeyHint<ActionID>] {
        func rank(_ hint: KeyHint<ActionID>) -> Int {
            mostUsed.firstIndex(of: hint.id) ?? mostUsed.count + (rare.contains(hint.id) ? 1 : 0)
        }
        let valueKeys = model.screen == .value ? [ActionID.editValue, .copy, .pager] : []
        let added = valueKeys.compactMap { id in
            model.keyMap.action(id).flatMap { action in
                action.keys.first.map { KeyHint(id: id, key: "\($0)", title: action.title) }
            }
        }
        return (added + model.keyMap.hints(in: model.screen)).filter {
            model.hasEffect($0.id) && isNamed($0.id, on: model.screen)
        }.enumerated().sorted {
            (rank($0.element), $0.offset) < (rank($1.element), $1.offset)
        }.map(\.element).map { hint in
            // The title names the next effect of a toggle.
            var title = hint.id == .pause && model.pausedSince != nil ? "Resume" : hint.title
            if hint.id == .fold, model.value?.load == nil { title = "Read value" }
            if ServerTables.areShown(model) {
                if hint.id == .span { title = "Sort" }
                if hint.id == .eventKind {
                    title = model.monitor?.hidesOwn == true ? "Show vellum" : "Hide vellum"
                }
            }
            if hint.id == .quit, !model.isFirstScreen { title = "Back" }
            return KeyHint(id: hint.id, key: hint.key, title: title)
        }
    }

    /// Whether this screen's footer shows a key that works on every screen.
    private static func isNamed(_ id: ActionID, on screen: Screen) -> Bool {
        switch id {
        case .alarm: screen == .monitor
        case .history: screen != .entries
        case .monitor: screen != .monitor && screen != .stores
        case .query: ![.query, .messages, .monitor, .advise].contains(screen)
        default: true
        }
    }

    /// The keys of a dialog with two buttons; Esc presses the first.
    static let buttonKeys = [
        (key: "esc", title: "Cancel"), ("y", "Yes"), ("n", "No"), ("tab", "Switch button"),
        ("enter", "Confirm"),
    ]

    static func draw(_ model: Model, into frame: inout Frame, in rect: Rect) {
        let keys = model.overlay.map { $0.keys } ?? model.prompt?.keys ?? model.parts.typingKeys(model)
        if let keys {
            let hints = keys.map { KeyHint(id: $0.key, key: $0.key, title: $0.title) }
            return Footer(hints).draw(into: &frame, in: rect, look: model.look)
        }
        Footer(hints(model)).draw(into: &frame, in: rect, look: model.look)
    }
}
