import StoreInspection
import TerminalKit

/// The entries of a cache or a collection.
enum EntriesScreen: ScreenParts {
    /// Columns from which the value stands beside the list.
    private static let besideColumns = 100
    /// Marked keys that are spelled out on a command line; a shell takes no longer one anyway.
    private static let maximumKeys = 100

    static func path(_ model: Model) -> [String] {
        [TitleView.storeName(model), model.entries?.archive ?? ""]
    }

    static func archive(_ model: Model) -> String? { model.entries?.archive }

    static func command(_ model: Model) -> CommandLine.Words {
        guard let entries = model.entries else { return .init("ls") }
        guard !entries.marks.isEmpty else {
            return .init("keys", [entries.archive], options: options(entries.order))
        }
        return .init(
            "rm", [entries.archive] + entries.marks.list.prefix(maximumKeys).map(\.key),
            options: ["--dry-run"])
    }

    /// The options for an order, as far as the command line has it.
    private static func options(_ order: EntryOrder) -> [String] {
        let name: String
        switch order.column {
        case .idle: name = "recency"
        case .age: name = "created"
        case .key, .size, .expires, .hits: name = order.column.rawValue
        case .tier, .owner: return []
        }
        // The command line's orders begin where these columns begin.
        return ["--order", name] + (order.descending != order.column.beginsDescending ? ["--reverse"] : [])
    }

    static func shows(eventsOf archive: String, _ model: Model) -> Bool {
        model.entries?.showsEvents == true && model.entries?.archive == archive
    }

    // MARK: How it looks

    static func divide(_ rest: Rect, _ model: Model, isTall: Bool) -> ScreenLayout.Parts {
        var parts = ScreenLayout.Parts(rest, infoRows: isTall ? 1 : 0)
        if model.entries?.showsEvents == true, parts.list.rows >= 6 + ScreenLayout.eventRows {
            (parts.list, parts.events) = parts.list.split(
                bottom: max(ScreenLayout.eventRows, min(12, parts.list.rows / 4)))
        }
        guard model.entries?.showsPreview == true, model.entries?.arrangement != nil else { return parts }
        let room = parts.list
        if room.columns >= besideColumns, room.rows >= 6 {
            let sides = room.split(right: min(80, room.columns * 2 / 5))
            (parts.list, parts.pane, parts.isBeside) = (sides.rest.inset(right: 1), sides.right, true)
        } else if room.rows >= 14 {
            (parts.list, parts.pane) = room.split(bottom: min(16, room.rows * 2 / 5))
        }
        return parts
    }

    static func draw(_ model: Model, _ layout: ScreenLayout, into frame: inout Frame) {
        EntriesView.draw(model, layout, into: &frame)
    }

    static func cursor(_ model: Model) -> Int { model.entries?.cursor ?? 0 }
    static func firstRow(_ model: Model) -> Int { model.entries?.top ?? 0 }

    static func table(_ model: Model) -> Table? { EntriesView.table(model) }

    static func problem(_ model: Model) -> String? {
        // On an empty screen it stands in the middle, in full.
        guard model.entries?.arrangement != nil else { return nil }
        return model.archives.problem ?? model.entries?.problem
    }

    static func place(_ model: Model) -> StatusView.Content? {
        guard let entries = model.entries, entries.count > 0 else { return nil }
        let look = model.look
        var spans = [Span(entries.key ?? "", look[.dim])]
        if entries.isVictim(row: entries.cursor) {
            spans.append(Span("  among the next to be evicted", look[.dying]))
        }
        return .line(
            spans, right: "\(Figures.count(entries.cursor + 1)) of \(Figures.count(entries.count))")
    }

    // MARK: What it does

    static func refresh(_ model: inout Model, isForced: Bool) -> [Effect] {
        isForced ? rearrange(&model, takingListing: true, isForced: true) : []
    }

    static func open(_ model: inout Model) -> [Effect] {
        guard let entries = model.entries, let key = entries.key else {
            if let problem = model.entries.flatMap({ $0.read.problems[$0.cursor] }) {
                model.say(problem, role: .error)
            } else if model.entries?.count ?? 0 > 0 {
                model.say("The entry is gone; \(Browser.keyName(model, .refresh)) lists them anew.")
            }
            return []
        }
        return ValueScreen.show(ValueState(archive: entries.archive, key: key), &model)
    }

    static func back(_ model: inout Model) -> [Effect] {
        let ticket = model.entries?.ticket
        model.entries = nil
        model.job = nil
        model.screen = .archives
        return ticket.map { [.stop(ticket: $0)] } ?? []
    }

    static func clear(_ model: inout Model) -> [Effect] {
        if model.entries?.filter.isEmpty == false { return filter(&model, "") }
        if model.entries?.marks.isEmpty == false {
            model.entries?.marks = Marks()
            return []
        }
        return back(&model)
    }

    static func click(_ model: inout Model, _ point: Point, _ layout: ScreenLayout) -> [Effect] {
        let table = EntriesView.table(model)
        let places = table.layout(in: layout.list)
        if places.scrollBar.contains(point) {
            let bar = ScrollBar(total: table.rowCount, first: table.firstRow, visible: places.body.rows)
            let top = bar.first(forThumbAt: point.row - places.scrollBar.row, in: places.scrollBar.rows)
            model.entries?.top = top
            return move(&model, to: top)
        }
        if let header = places.headerColumn(at: point), let column = EntriesView.columns[header].column {
            return sort(&model, by: column)
        }
        return moveToRow(at: point, &model, layout)
    }
}
