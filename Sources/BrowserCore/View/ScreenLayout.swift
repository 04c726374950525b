import TerminalKit

/// Where the parts of the screen stand: for drawing, for the mouse and for the length of a page. A value; safe to
/// share between threads.
struct ScreenLayout: Sendable, Hashable {
    /// The top bar.
    let title: Rect
    /// What the list is of, above it; empty on small screens.
    let info: Rect
    /// The table or the value.
    let list: Rect
    /// The value beside or below the entries, the details below the archives; empty when there is no room.
    let pane: Rect
    /// The latest events; empty when there is no room or nobody wants them.
    let events: Rect
    /// Whether the pane stands beside the list.
    let isBeside: Bool
    /// Prompts, progress and notices. On small screens it takes the footer's place while there is something to
    /// say.
    let status: Rect
    let footer: Rect

    /// Columns from which the value stands beside the list.
    static let besideColumns = 100
    /// A line that says what they are, and three events.
    private static let eventRows = 4

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
        var events = rest.split(top: 0).top
        switch model.screen {
        case .stores:
            (info, rest) = rest.split(top: isTall ? 2 : 0)
            (list, pane, isBeside) = (rest, rest.split(top: 0).top, false)
        case .archives:
            (info, rest) = rest.split(top: isTall ? (model.size.rows >= 14 ? 3 : 1) : 0)
            let rows = max(2, model.archives.archives.count + 1)
            let hasArchives = !model.archives.archives.isEmpty
            let below = rest.rows - rows - 1
            // Three events at least, and beside them the archive's own figures if there is room for both.
            if model.archives.showsEvents, hasArchives, below >= ScreenLayout.eventRows {
                let both = below >= ScreenLayout.eventRows + ArchivePane.leastRows
                let eventRows = both ? max(ScreenLayout.eventRows, below - ArchivePane.mostRows) : below
                (rest, events) = rest.split(bottom: eventRows)
            }
            let showsPane = rest.rows >= rows + 8 && hasArchives
            let parts = rest.split(top: showsPane ? rows + 1 : rest.rows)
            (list, pane, isBeside) = (parts.top, parts.rest, false)
        case .entries:
            (info, rest) = rest.split(top: isTall ? 1 : 0)
            if model.entries?.showsEvents == true, rest.rows >= 6 + ScreenLayout.eventRows {
                (rest, events) = rest.split(bottom: max(ScreenLayout.eventRows, min(12, rest.rows / 4)))
            }
            let shows = model.entries?.showsPreview == true && model.entries?.arrangement != nil
            if shows, rest.columns >= ScreenLayout.besideColumns, rest.rows >= 6 {
                let parts = rest.split(right: min(80, rest.columns * 2 / 5))
                (list, pane, isBeside) = (parts.rest.inset(right: 1), parts.right, true)
            } else if shows, rest.rows >= 14 {
                let parts = rest.split(bottom: min(16, rest.rows * 2 / 5))
                (list, pane, isBeside) = (parts.rest, parts.bottom, false)
            } else {
                (list, pane, isBeside) = (rest, rest.split(top: 0).top, false)
            }
        case .value:
            (info, rest) = rest.split(top: isTall ? (model.size.rows >= 14 ? 2 : 1) : 0)
            (list, pane, isBeside) = (rest, rest.split(top: 0).top, false)
        case .query:
            (info, rest) = rest.split(top: isTall ? 2 : 1)
            (list, pane, isBeside) = (rest, rest.split(top: 0).top, false)
        case .messages, .monitor:
            (info, rest) = rest.split(top: isTall ? 1 : 0)
            (list, pane, isBeside) = (rest, rest.split(top: 0).top, false)
        }
        self.events = events
    }

    /// Rows of the list that hold data: a table's first row is its header.
    func page(_ screen: Screen) -> Int {
        screen == .value ? list.rows : max(0, list.rows - (list.rows > 1 ? 1 : 0))
    }
}

extension Model {
    var layout: ScreenLayout { ScreenLayout(self) }
}
