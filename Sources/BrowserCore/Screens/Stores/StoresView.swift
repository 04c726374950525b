import ServerInspection
import StorageEngine
import StoreInspection
import TerminalKit

enum StoresView {
    static func table(_ model: Model) -> Table {
        let stores = model.stores.rows
        let hasNumbers = !model.openStores.isEmpty
        let hasFavorites = stores.contains(where: \.isFavorite)
        let isOfServer = StoresScreen.isOfServer(model)
        let wasOpened = stores.contains { $0.opened != nil }
        let sign = Table.Column("", width: .fixed(1))
        var columns: [Table.Column] = [
            Table.Column("store", width: ArchivesView.nameWidth(stores.map(\.name), model)),
            Table.Column("archives", width: .fixed(8), alignment: .trailing, priority: 3),
            Table.Column("entries", width: .fixed(10), alignment: .trailing, priority: 1),
            Table.Column(isOfServer ? "memory" : "disk", width: .fixed(8), alignment: .trailing, priority: 2),
            Table.Column(
                "hit \(RecentHits(model.stores.histories.values).window)", width: .fixed(7),
                alignment: .trailing, priority: 1, fraction: 3),
            Table.Column("ops/s", width: .fixed(7), alignment: .trailing, priority: 3, fraction: 2),
        ]
        columns.insert(
            contentsOf: Array(repeating: sign, count: (hasNumbers ? 1 : 0) + (hasFavorites ? 1 : 0)), at: 0)
        if wasOpened {
            columns.append(Table.Column("last used", width: .fixed(9), alignment: .trailing, priority: 5))
        }
        columns.append(Table.Column("path", width: .minimum(12, weight: 3), priority: 4))
        return Table(
            columns: columns, rowCount: stores.count, firstRow: model.stores.top,
            selectedRow: model.stores.cursor,
            emptyText: Browser.noMatch("name or path", model.stores.filter, model)
        ) { row in
            let store = stores[row]
            var cells: [Table.Cell] = []
            if hasNumbers {
                let number = model.number(ofStore: store.path).map { String($0) }
                cells.append(Table.Cell(number ?? "", role: .accent))
            }
            if hasFavorites {
                let star = store.isFavorite ? String(model.look.glyphs.favorite) : ""
                cells.append(Table.Cell(star, role: .marked))
            }
            cells.append(Table.Cell(store.name, cut: .middle))
            let history = model.stores.histories[ExactText(store.path)]
            let figures = [
                Figures.count(store.archives), Figures.count(store.entries),
                isOfServer ? store.memoryBytes.map(Figures.bytes) ?? "-" : Figures.bytes(store.diskBytes),
                history.flatMap { RecentHits([$0]).ratio }.map(Figures.percent) ?? "-",
                history?.now.map { Figures.rate($0.operations) } ?? "-",
            ]
            // Other servers are read only when they are opened.
            let isRead = store.problem == nil && (!store.isElsewhere || !ServerAddress.isURL(store.path))
            cells += figures.map { Table.Cell(isRead ? $0 : "-") }
            if wasOpened {
                let age = store.opened.map { Figures.duration(max(0, model.now.seconds(since: $0))) }
                cells.append(Table.Cell(age ?? "-"))
            }
            if let problem = store.problem { return Table.Row(cells + [Table.Cell(problem)], role: .danger) }
            return Table.Row(cells + [Table.Cell(store.path, role: .dim, cut: .start)])
        }
    }

    static func draw(_ model: Model, _ layout: ScreenLayout, into frame: inout Frame) {
        let look = model.look
        guard let stores = model.stores.stores else {
            Label("Looking for stores in \(model.folder)", role: .dim, alignment: .center)
                .draw(into: &frame, in: layout.list.line(layout.list.rows / 2), look: look)
            return
        }
        guard !stores.isEmpty else { return explain(model, layout, into: &frame) }
        let here = stores.count { !$0.isElsewhere }
        let count = model.isOfSingleStore ? "" : "\(Figures.count(here, "store", "stores")) in "
        var others = here < stores.count ? ", \(Figures.count(stores.count - here)) elsewhere" : ""
        let returns = model.isOfSingleStore && model.number(ofStore: model.folder) != nil
        if returns { others = "; \(Browser.keyName(model, .clear)) returns to it" + others }
        let folder = look.cut(
            model.folder, to: max(8, layout.info.columns - 2 - TextWidth.width(of: count + others)), .start)
        var words = count + folder + others
        if !model.stores.filter.isEmpty {
            let all = Figures.count(stores.count, "store", "stores")
            words = "\(Figures.count(model.stores.rows.count)) of \(all)  filter \"\(model.stores.filter)\""
        }
        var spans = [Span(words, look[.dim])]
        if let problem = model.stores.favoritesProblem {
            spans.insert(Span("Can't read favorites: \(problem)  ", look[.warning]), at: 0)
        }
        frame.write(spans, at: layout.info.inset(left: 1).origin, within: layout.info.line(0))
        table(model).draw(into: &frame, in: layout.list, look: look)
    }

    private static func explain(_ model: Model, _ layout: ScreenLayout, into frame: inout Frame) {
        let look = model.look
        let area = Rect(
            column: layout.list.column, row: layout.title.endRow, columns: layout.list.columns,
            rows: layout.list.endRow - layout.title.endRow)
        let columns = min(area.columns, 66)
        let demo = Browser.keyName(model, .demo)
        let parts: [(role: Role, text: String)] = [
            (.accent, "No stores in \(model.folder)"), (.text, ""),
            (
                .text,
                "A store is a folder with archives: caches with limits, collections and logs. "
                    + "This browser shows them while programs use them."
            ), (.text, ""),
            (.key, "\(demo)  starts the demo: 6,204 cities and a workload on them"),
            (.dim, "\(Browser.keyName(model, .openStore))  opens another store or a server"),
            (
                .dim,
                "\(Browser.keyName(model, .help))  lists the keys, \(Browser.keyName(model, .quit)) quits"
            ),
        ]
        func lines(_ parts: [(role: Role, text: String)]) -> [Span] {
            parts.flatMap { part in
                TextWrap.lines(part.text, columns: columns).map { Span($0, look[part.role]) }
            }
        }
        var shown = lines(parts)
        if shown.count > area.rows { shown = lines([(.key, "\(demo)  starts the demo"), parts[0]]) }
        let box = area.centered(Size(columns: columns, rows: shown.count))
        for (row, span) in shown.prefix(box.rows).enumerated() {
            frame.write([span], at: box.line(row).origin, within: box)
        }
    }
}

struct StoresState: Sendable {
    var stores: [StoreSummary]?
    var problem: String?
    /// Why favorites couldn't be read.
    var favoritesProblem: String?
    private(set) var histories: [ExactText: ArchiveHistory] = [:]
    var filter = ""
    var cursor = 0
    /// The store that was left, until it is selected.
    var left: String?
    var top = 0
    var isPending = false
    var loaded: Timestamp?

    /// Seconds between refreshes, which open every store in the folder.
    static let interval = 1.0

    mutating func note(_ stores: [StoreSummary], at moment: Timestamp) {
        var noted: [ExactText: ArchiveHistory] = [:]
        for store in stores where store.problem == nil {
            var history = histories[ExactText(store.path)] ?? ArchiveHistory()
            history.add(store.activity, at: moment)
            noted[ExactText(store.path)] = history
        }
        histories = noted
    }

    var rows: [StoreSummary] {
        guard let pattern = SearchText(filter) else { return stores ?? [] }
        return (stores ?? []).filter { pattern.matches($0.name) || pattern.matches($0.path) }
    }

    var selected: StoreSummary? {
        let rows = rows
        return rows.indices.contains(cursor) ? rows[cursor] : nil
    }
}
