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
    static func story(_ action: ReversibleAction, _ model: Model) -> String {
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

extension OverlayPlaces {
    /// The undo list. All actions have the same number of lines, so that none is cut.
    struct UndoListPlaces {
        var box: Rect
        var list: Rect
        var items: [[String]]

        var rowsPerItem: Int { max(1, items.first?.count ?? 1) }
        var page: Int { max(1, list.rows / rowsPerItem) }
    }

    static func undoList(_ list: UndoList, _ model: Model) -> UndoListPlaces {
        // One column is for the scroll bar, two indent further lines.
        let room = max(1, listBox(columns: 120, rows: 1, model).list.columns - 3)
        var items = list.actions.map { action in
            TextWrap.lines(UndoText.summary(action, model), columns: room).enumerated()
                .map { $0 == 0 ? $1 : "  \($1)" }
        }
        let rows = items.map(\.count).max() ?? 1
        for index in items.indices where items[index].count < rows {
            items[index] += Array(repeating: "", count: rows - items[index].count)
        }
        let (box, inner) = listBox(columns: 120, rows: items.count * rows, model)
        return UndoListPlaces(box: box, list: inner, items: items)
    }
}

extension OverlayView {
    static func draw(_ list: UndoList, _ model: Model, into frame: inout Frame) {
        let look = model.look
        frame.cursor = nil
        let places = OverlayPlaces.undoList(list, model)
        drawBox(
            places.box, around: places.list, title: " Undo in \(TitleView.name(of: list.archive, model)) ",
            into: &frame, look)
        for (offset, item) in places.items.dropFirst(list.first).prefix(places.page).enumerated() {
            let isSelected = list.first + offset == list.selected
            for (row, line) in item.enumerated() {
                let place = places.list.line(offset * places.rowsPerItem + row)
                let style = look[isSelected ? .selected : .dialog]
                frame.fill(place, style: style)
                frame.write(line, at: place.origin, style: style, within: place)
            }
        }
        ScrollBar(total: places.items.count, first: list.first, visible: places.page)
            .draw(into: &frame, in: places.list, look: look)
    }
}
