import TerminalKit

/// A dialog, menu or list over the screen, which has the keyboard.
protocol Overlay: Sendable {
    /// The keys in the footer, which can't be reassigned.
    var keys: [(key: String, title: String)] { get }
    /// The text field with the keyboard.
    var typing: TextField? { get }
    /// Set if a key changes or runs something.
    var question: Browser.Question? { get }
    var isList: Bool { get }
    var offersUndo: Bool { get }
    /// The characters that a dialog with two buttons accepts; nil for other overlays.
    var knownCharacters: String? { get }
    /// The notice about it while another store is shown.
    var notice: String { get }
    func press(_ model: inout Model, _ key: Key) -> [Effect]
    /// Bracketed paste.
    func paste(_ model: inout Model, _ text: String)
    func click(_ model: inout Model, _ point: Point) -> [Effect]
    func draw(_ model: Model, into frame: inout Frame)
    func spoken(_ model: Model) -> SpokenOverlay
}

extension Overlay {
    var typing: TextField? { nil }
    var question: Browser.Question? { nil }
    var isList: Bool { false }
    var offersUndo: Bool { false }
    var knownCharacters: String? { nil }
    var notice: String { "Waiting for your answer" }

    func paste(_ model: inout Model, _ text: String) {
        if knownCharacters == nil { Browser.refusePaste(&model) } else { Browser.refuseAnswer(&model) }
    }
}

/// An overlay with rows, one of which is selected.
protocol ListOverlay: Overlay {
    var selected: Int { get set }
    /// The first visible row.
    var first: Int { get set }
    func rowCount(_ model: Model) -> Int
    func area(_ model: Model) -> Rect
    /// Lines on the screen for each row.
    func lines(_ model: Model) -> Int
}

extension ListOverlay {
    var isList: Bool { true }

    func lines(_ model: Model) -> Int { 1 }

    /// Number of visible rows.
    func page(_ model: Model) -> Int { max(1, area(model).rows / lines(model)) }

    /// Shows the list with the selected row in view.
    func show(_ model: inout Model) -> [Effect] {
        var list = self
        list.first = Table.firstRow(showing: selected, of: rowCount(model), in: page(model), from: first)
        model.overlay = list
        return []
    }

    func click(_ model: inout Model, _ point: Point) -> [Effect] { clickRow(&model, point) }

    func clickRow(_ model: inout Model, _ point: Point) -> [Effect] {
        let area = area(model)
        var list = self
        list.selected = first + (point.row - area.row) / lines(model)
        guard area.contains(point), list.selected < rowCount(model) else { return [] }
        return Browser.press(&model, Key(.enter), in: list)
    }
}

/// A list below a text field that searches it.
protocol SearchedOverlay: ListOverlay {
    var field: TextField { get set }
}

extension SearchedOverlay {
    var typing: TextField? { field }

    /// The rows that a key moves by; nil for other keys. Letters are text here.
    func step(_ key: Key, _ model: Model) -> Int? {
        switch (key.code, key.modifiers) {
        case (.up, _), (.character("p"), .control): -1
        case (.down, _), (.character("n"), .control): 1
        case (.pageUp, _): -page(model)
        case (.pageDown, _): page(model)
        default: nil
        }
    }

    func paste(_ model: inout Model, _ text: String) {
        var list = self
        list.field.insert(text)
        (list.selected, list.first) = (0, 0)
        model.overlay = list
    }
}

/// An overlay in a box with buttons.
protocol DialogOverlay: Overlay {
    func dialog(_ model: Model) -> Dialog
    /// The first line after a movement key; nil for other keys.
    func line(after key: Key, _ first: Int, _ model: Model) -> Int?
}

extension DialogOverlay {
    func places(_ model: Model) -> Dialog.Places { dialog(model).places(in: OverlayPlaces.dialogs(model)) }

    func draw(_ model: Model, into frame: inout Frame) { drawDialog(model, into: &frame) }

    func drawDialog(_ model: Model, into frame: inout Frame) {
        frame.cursor = nil
        frame.draw(dialog(model), in: OverlayPlaces.dialogs(model), look: model.look)
    }

    func spoken(_ model: Model) -> SpokenOverlay { SpokenOverlay(dialog(model)) }

    /// The index of a clicked button.
    func button(at point: Point, _ model: Model) -> Int? {
        places(model).buttons.firstIndex { $0.contains(point) }
    }

    func line(after key: Key, _ first: Int, _ model: Model) -> Int? {
        let places = places(model)
        let rows = places.body.rows
        return Browser.row(after: key, first, last: max(0, places.lines.count - rows), page: rows - 1)
    }
}

/// A dialog with two buttons, the first of which cancels.
protocol ButtonOverlay: DialogOverlay {
    /// 0 is Cancel.
    var button: Int { get set }
    /// The first visible line.
    var first: Int { get set }
    func confirm(_ model: inout Model) -> [Effect]
    func refuse(_ model: inout Model)
}

extension ButtonOverlay {
    func press(_ model: inout Model, _ key: Key) -> [Effect] { pressButtons(&model, key) }

    func pressButtons(_ model: inout Model, _ key: Key) -> [Effect] {
        var dialog = self
        switch key {
        case Key(.left), Key(.right), Key(.tab), Key(.backTab), .character("h"), .character("l"):
            dialog.button = 1 - button
        case Key(.enter) where button == 1, .character("y"):
            model.overlay = nil
            return confirm(&model)
        case Key(.enter), Key(.escape), .character("n"), .character("q"):
            model.overlay = nil
            refuse(&model)
            return []
        default: dialog.first = line(after: key, first, model) ?? first
        }
        model.overlay = dialog
        return []
    }

    func click(_ model: inout Model, _ point: Point) -> [Effect] {
        guard let button = button(at: point, model) else { return [] }
        var dialog = self
        dialog.button = button
        return Browser.press(&model, Key(.enter), in: dialog)
    }
}

struct SpokenOverlay: Sendable {
    let heading: [String]
    let choice: String
    /// Identity of the choice; its words may change every second.
    var chosen: String
    var opened: String

    init(_ heading: [String], _ choice: String? = nil) {
        (self.heading, self.choice) = (heading, choice ?? "")
        (opened, chosen) = (heading[0], self.choice)
    }

    init(_ dialog: Dialog, _ choice: String? = nil, body: [String] = []) {
        heading = [dialog.title] + dialog.body.filter { !$0.isEmpty } + body
        let button =
            dialog.buttons.indices.contains(dialog.selectedButton)
            ? "button \(dialog.buttons[dialog.selectedButton])" : nil
        self.choice = [choice, button].compactMap { $0 }.joined(separator: "; ")
        (opened, chosen) = (dialog.title, self.choice)
    }
}
