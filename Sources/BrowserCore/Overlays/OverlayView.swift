import TerminalKit

enum OverlayPlaces {
    /// The centered box of a list of at most this size, and the area within its border, which small screens lack.
    static func listBox(columns: Int, rows: Int, _ model: Model) -> (box: Rect, list: Rect) {
        let screen = dialogs(model)
        let isSmall = screen.rows < 6 || screen.columns < 30
        let box = screen.centered(
            Size(
                columns: isSmall ? screen.columns : min(screen.columns - 4, columns),
                rows: min(screen.rows, rows + (isSmall ? 1 : 2))))
        return (box, isSmall ? box.split(top: 1).rest : box.inset(top: 1, left: 2, bottom: 1, right: 2))
    }

    /// On lower screens dialogs cover the status line.
    static let minimumRows = 12

    /// The area of dialogs: above the status line and the hints, unless the screen is too low.
    static func dialogs(_ model: Model) -> Rect {
        let screen = Rect(model.size)
        return screen.split(bottom: screen.rows >= minimumRows ? 2 : screen.rows >= 9 ? 1 : 0).rest
    }

    static func messageColumns(_ model: Model) -> Int { max(16, min(96, model.size.columns - 8)) }
}

enum OverlayView {
    static func draw(_ model: Model, into frame: inout Frame) {
        model.overlay?.draw(model, into: &frame)
        // On low screens a notice replaces the last row.
        guard model.overlay != nil, let notice = model.notice, model.size.rows < OverlayPlaces.minimumRows
        else { return }
        Bar(left: [Span(notice.text, model.look[notice.role])], role: .text)
            .draw(into: &frame, in: Rect(model.size).split(bottom: 1).bottom, look: model.look)
    }

    /// Draws a list in its box; `nothing` replaces an empty one.
    static func drawList(
        _ items: [List.Item], selected: Int?, first: Int, in places: (box: Rect, list: Rect), title: String,
        nothing: String = "", into frame: inout Frame, _ look: Look
    ) {
        drawBox(places.box, around: places.list, title: " \(title) ", into: &frame, look)
        List(items, selected: selected, first: first, role: .dialog)
            .draw(into: &frame, in: places.list, look: look)
        guard items.isEmpty else { return }
        frame.write(
            nothing, at: places.list.origin, style: look[.dim].over(look[.dialog]), within: places.list)
    }

    /// Draws the box of a list; small screens have no border.
    static func drawBox(_ box: Rect, around list: Rect, title: String, into frame: inout Frame, _ look: Look)
    {
        frame.fill(box, style: look[.dialog])
        let hasBorder = list.column > box.column
        if hasBorder {
            frame.border(box, style: look[.dialogBorder].over(look[.dialog]), glyphs: look.glyphs)
        }
        let line = box.line(0).inset(left: hasBorder ? 2 : 0)
        let available = line.columns - (hasBorder ? 2 : 0)
        frame.write(
            look.cut(title, to: max(0, available), .middle),
            at: line.origin, style: look[.title].over(look[.dialog]), within: line)
    }
}
