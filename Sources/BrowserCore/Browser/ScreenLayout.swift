import TerminalKit

struct ScreenLayout: Sendable, Hashable {
    let title: Rect
    /// Facts above the list; empty on small screens.
    let info: Rect
    let list: Rect
    /// The value beside or below the entries, the details below the archives; empty without space.
    let pane: Rect
    /// The latest events; empty when hidden or without space.
    let events: Rect
    let isBeside: Bool
    /// Prompts, progress and notices; on small screens in place of the footer.
    let status: Rect
    let hints: Rect
    let footer: Rect

    static let eventRows = 4

    struct Parts {
        var info: Rect
        var list: Rect
        var pane: Rect
        var events: Rect
        var isBeside = false

        init(_ rest: Rect, infoRows: Int) {
            (info, list) = rest.split(top: infoRows)
            (pane, events) = (list.split(top: 0).top, list.split(top: 0).top)
        }
    }

    init(_ model: Model) {
        var rest = Rect(model.size)
        (title, rest) = rest.split(top: 1)
        (rest, footer) = rest.split(bottom: rest.rows >= 3 ? 1 : 0)
        let isTall = model.size.rows >= 9
        if isTall {
            (rest, status) = rest.split(bottom: 1)
        } else {
            status = footer.isEmpty ? Rect(model.size).split(bottom: 1).bottom : footer
        }
        (rest, hints) = rest.split(
            bottom: model.showsHints && model.size.rows >= HintLine.minimumRows ? 1 : 0)
        let parts = model.parts.divide(rest, model, isTall: isTall)
        (info, list, pane, events) = (parts.info, parts.list, parts.pane, parts.events)
        isBeside = parts.isBeside
        page = model.parts.pageRows(list)
    }

    /// Rows of the list that hold data.
    let page: Int
}

extension Model {
    var layout: ScreenLayout { ScreenLayout(self) }
}
