import StorageEngine
import StoreInspection
import TerminalKit

enum UndoText {
    /// `deleted 3 entries, 593 B, 12s ago by this browser; 9m30s or 1.2 MB of writes left`
    static func summary(_ action: ReversibleAction, _ model: Model) -> String {
        let entries = Figures.count(action.entries, "entry", "entries")
        let verb = action.kind == .deadline ? "expiry of" : action.kind.participle
        return "\(verb) \(entries), \(Figures.bytes(action.bytes)), \(ago(action, model)); "
            + time(action, model) + (action.bytesLeft.map { " or \(Figures.bytes($0)) of writes" } ?? "")
            + " left"
    }

    /// `deleted 12s ago by this browser; can be undone for 9m30s, or until 1.2 MB are written`
    static func details(_ action: ReversibleAction, _ model: Model) -> String {
        "\(action.kind.participle) \(ago(action, model)); can be undone for \(time(action, model))"
            + (action.bytesLeft.map { ", or until \(Figures.bytes($0)) are written" } ?? "")
    }

    private static func ago(_ action: ReversibleAction, _ model: Model) -> String {
        let isOwn = action.pid != 0 && action.pid == model.archives.figures?.ownPid
        let who =
            isOwn ? "this browser" : action.pid == 0 ? "an unknown process" : model.processName(action.pid)
        return "\(Figures.duration(model.now.seconds(since: action.time))) ago by \(who)"
    }

    private static func time(_ action: ReversibleAction, _ model: Model) -> String {
        Figures.duration(action.end.seconds(since: model.now))
    }
}

struct UndoList: ListOverlay {
    var archive: ArchiveAddress
    var actions: [ReversibleAction]
    var selected = 0
    var first = 0

    var keys: [(key: String, title: String)] { [("enter", "Undo"), ("esc", "Close")] }
    var question: Browser.Question? { .undoList }

    func rowCount(_ model: Model) -> Int { actions.count }

    func area(_ model: Model) -> Rect { places(model).list }

    func lines(_ model: Model) -> Int { max(1, items(model).first?.count ?? 1) }

    func press(_ model: inout Model, _ key: Key) -> [Effect] {
        var list = self
        switch key {
        case Key(.escape), .character("q"), .character("U"):
            model.overlay = nil
            return []
        case Key(.enter):
            model.overlay = Plan(undoing: actions[selected], archive: archive)
            return []
        default:
            guard let row = Browser.row(after: key, selected, last: actions.count - 1, page: page(model))
            else { return Browser.reportUnusedKey(&model, key) }
            list.selected = row
        }
        return list.show(&model)
    }

    func spoken(_ model: Model) -> SpokenOverlay {
        let action = actions.indices.contains(selected) ? actions[selected] : nil
        var spoken = SpokenOverlay(["Undo in \(archive.name)"], action.map { UndoText.summary($0, model) })
        spoken.chosen = "\(selected)"
        return spoken
    }

    // MARK: View

    /// The lines of each action. All have the same number of lines, so that none is cut.
    private func items(_ model: Model) -> [[String]] {
        // One column is for the scroll bar, two indent further lines.
        let available = max(1, OverlayPlaces.listBox(columns: 120, rows: 1, model).list.columns - 3)
        let items = actions.map { action in
            TextWrap.lines(UndoText.summary(action, model), columns: available).enumerated()
                .map { $0 == 0 ? $1 : "  \($1)" }
        }
        let rows = items.map(\.count).max() ?? 1
        return items.map { $0 + Array(repeating: "", count: rows - $0.count) }
    }

    private func places(_ model: Model) -> (box: Rect, list: Rect) {
        OverlayPlaces.listBox(columns: 120, rows: actions.count * lines(model), model)
    }

    func draw(_ model: Model, into frame: inout Frame) {
        let look = model.look
        frame.cursor = nil
        let (places, page, lines) = (places(model), page(model), lines(model))
        OverlayView.drawBox(
            places.box, around: places.list, title: " Undo in \(TitleView.name(of: archive, model)) ",
            into: &frame, look)
        for (offset, item) in items(model).dropFirst(first).prefix(page).enumerated() {
            let isSelected = first + offset == selected
            for (row, line) in item.enumerated() {
                let place = places.list.line(offset * lines + row)
                let style = look[isSelected ? .selected : .dialog]
                frame.fill(place, style: style)
                frame.write(line, at: place.origin, style: style, within: place)
            }
        }
        ScrollBar(total: actions.count, first: first, visible: page)
            .draw(into: &frame, in: places.list, look: look)
    }
}
