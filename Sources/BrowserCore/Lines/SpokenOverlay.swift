import StoreInspection
import TerminalKit

/// A dialog or list over the screen, in words.
struct SpokenOverlay: Sendable {
    let heading: [String]
    let choice: String
    /// Identity of the choice, whose words may change every second.
    private(set) var chosen: String
    private(set) var opened: String

    private static let mostLines = 200

    init?(_ model: Model) {
        switch model.overlay {
        case nil: return nil
        case .plan(let plan): self.init(OverlayPlaces.dialog(plan, model))
        case .choice(let choice): self.init(OverlayPlaces.dialog(choice))
        case .expire(let form):
            self.init(OverlayPlaces.dialog(form, model), "expire \(form.words)")
            opened += form.problem ?? ""
        case .edit(let plan):
            let rows = plan.rows(columns: 1_000).map(\.text)
            let more = rows.count - Self.mostLines
            self.init(
                OverlayPlaces.dialog(plan, model),
                body: rows.prefix(Self.mostLines)
                    + (more > 0 ? ["and \(Figures.count(more)) more lines"] : []))
        case .message(let box): self.init([box.title] + box.lines.filter { !$0.isEmpty })
        case .undoList(let list):
            let action = list.actions.indices.contains(list.selected) ? list.actions[list.selected] : nil
            self.init(["Undo in \(list.archive.name)"], action.map { UndoText.summary($0, model) })
            chosen = "\(list.selected)"
        case .columns(let choice):
            let item = choice.items.indices.contains(choice.selected) ? choice.items[choice.selected] : nil
            self.init([choice.title], item.map { "\($0.title), \($0.isShown ? "shown" : "hidden")" })
        case .search(let list):
            let found = list.found
            let item = found.indices.contains(list.selected) ? list.items[found[list.selected]] : nil
            self.init(
                [list.title],
                item.map { [$0.origin, $0.text, $0.note].filter { !$0.isEmpty }.joined(separator: ", ") }
                    ?? list.nothing)
        case .copy(let menu):
            let item = menu.items.indices.contains(menu.selected) ? menu.items[menu.selected] : nil
            self.init(["Copy"], item.map { "\($0.letter): \($0.name), \($0.preview)" })
        case .actions(let list):
            var words = Browser.selected(in: list, model).map { OverlayView.words(of: $0, model) }
            if case .action(let action)? = Browser.selected(in: list, model) {
                words = "\(action.keyList): \(action.title). \(action.help)"
            }
            self.init(
                [list.isHelp ? "Help: \(model.screenName)" : "Actions"],
                words ?? "No matching action.")
        }
    }

    private init(_ heading: [String], _ choice: String? = nil) {
        (self.heading, self.choice) = (heading, choice ?? "")
        (opened, chosen) = (heading[0], self.choice)
    }

    private init(_ dialog: Dialog, _ choice: String? = nil, body: [String] = []) {
        heading = [dialog.title] + dialog.body.filter { !$0.isEmpty } + body
        let button =
            dialog.buttons.indices.contains(dialog.selectedButton)
            ? "button \(dialog.buttons[dialog.selectedButton])" : nil
        self.choice = [choice, button].compactMap { $0 }.joined(separator: "; ")
        (opened, chosen) = (dialog.title, self.choice)
    }
}

extension ExpireForm {
    fileprivate var words: String {
        switch choice {
        case .after: "in \(after.text)"
        case .now: "now"
        case .never: "never"
        case .idle: "all idle over \(idle.text)"
        }
    }
}

extension Overlay {
    var field: TextField? {
        switch self {
        case .actions(let list): list.field
        case .search(let list): list.field
        case .plan(let plan): plan.name
        case .expire, .undoList, .columns, .message, .choice, .copy, .edit: nil
        }
    }
}
