import TerminalKit

struct MessageBox: DialogOverlay, Hashable {
    var title: String
    var lines: [String]
    var first = 0
    /// Whether F1 opens the help.
    var leadsToActions = false
    var offersUndo = false

    init(_ title: String, _ lines: [String], leadsToActions: Bool = false, offersUndo: Bool = false) {
        (self.title, self.lines) = (title, lines)
        (self.leadsToActions, self.offersUndo) = (leadsToActions, offersUndo)
    }

    var keys: [(key: String, title: String)] { [("enter", "Close")] }
    var notice: String { title }

    func dialog(_ model: Model) -> Dialog {
        Dialog(
            title: title, body: lines, buttons: ["Close"], firstLine: first,
            maximumColumns: OverlayPlaces.messageColumns(model) + 4)
    }

    func press(_ model: inout Model, _ key: Key) -> [Effect] {
        switch key {
        case Key(.function(1)) where leadsToActions:
            model.overlay = nil
            return Browser.perform(&model, .help)
        case Key(.enter), Key(.escape), .character("q"), .character(" "), .character("h"), Key(.left),
            Key(.backspace):
            model.overlay = nil
            return []
        default:
            guard let line = line(after: key, first, model) else {
                return Browser.reportUnusedKey(&model, key)
            }
            var box = self
            box.first = line
            model.overlay = box
            return []
        }
    }

    func click(_ model: inout Model, _ point: Point) -> [Effect] {
        Browser.press(&model, Key(.enter), in: self)
    }

    func spoken(_ model: Model) -> SpokenOverlay { SpokenOverlay([title] + lines.filter { !$0.isEmpty }) }
}

struct Choice: ButtonOverlay {
    var title: String
    var lines: [String]
    var buttons: [String]
    var button: Int
    var first = 0
    var offersUndo = false
    let confirmed: @Sendable (inout Model) -> [Effect]
    let left: @Sendable (inout Model) -> Void

    init(
        title: String, lines: [String], leave: String = "Cancel", button: String, selected: Int = 0,
        confirmed: @escaping @Sendable (inout Model) -> [Effect],
        left: @escaping @Sendable (inout Model) -> Void = { _ in }
    ) {
        self.title = title
        self.lines = lines
        buttons = [leave, button]
        self.button = selected
        self.confirmed = confirmed
        self.left = left
    }

    var keys: [(key: String, title: String)] {
        [("esc", buttons[0]), ("y", buttons[1]), ("tab", "Switch button"), ("enter", "Confirm")]
    }
    var question: Browser.Question? { .choice }
    var knownCharacters: String? { "hljkynqgG" }

    func dialog(_ model: Model) -> Dialog {
        Dialog(title: title, body: lines, buttons: buttons, selectedButton: button, firstLine: first)
    }

    func confirm(_ model: inout Model) -> [Effect] { confirmed(&model) }

    func refuse(_ model: inout Model) { left(&model) }
}
