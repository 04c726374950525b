import StoreInspection
import TerminalKit

/// The stores of a folder, or what a store is when there are none.
enum StoresView {
    static func table(_ model: Model) -> Table {
        let stores = model.stores.stores ?? []
        return Table(
            columns: [
                Table.Column("store", width: .minimum(10, weight: 2)),
                Table.Column("archives", width: .fixed(8), alignment: .trailing, priority: 3),
                Table.Column("entries", width: .fixed(10), alignment: .trailing, priority: 1),
                Table.Column("disk", width: .fixed(8), alignment: .trailing, priority: 2),
                Table.Column("path", width: .minimum(12, weight: 3), priority: 4),
            ], rowCount: stores.count, firstRow: model.stores.top, selectedRow: model.stores.cursor
        ) { row in
            let store = stores[row]
            if let problem = store.problem {
                return Table.Row(
                    [
                        Table.Cell(store.name), Table.Cell("-"), Table.Cell("-"), Table.Cell("-"),
                        Table.Cell(problem),
                    ], role: .danger)
            }
            return Table.Row([
                Table.Cell(store.name), Table.Cell(Figures.count(store.archives)),
                Table.Cell(Figures.count(store.entries)), Table.Cell(Figures.bytes(store.diskBytes)),
                Table.Cell(store.path, role: .dim, truncatesStart: true),
            ])
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
        let count = Figures.count(stores.count, "store", "stores")
        frame.write(
            "\(count) in \(model.folder)", at: layout.info.inset(left: 1).origin, style: look[.dim],
            within: layout.info.line(0))
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
                "A store is a folder in which programs keep archives of entries: caches with limits, "
                    + "collections that keep everything. This browser looks into it while they use it."
            ), (.text, ""),
            (.key, "\(demo)  starts the demo: 6,204 cities and a workload on them"),
            (.dim, "vellum --store DIR browse  opens a store elsewhere"),
            (
                .dim,
                "\(Browser.keyName(model, .help))  lists the keys, \(Browser.keyName(model, .quit)) leaves"
            ),
        ]
        var lines = parts.flatMap { part in
            TextWrap.lines(part.text, columns: columns).map { Span($0, look[part.role]) }
        }
        // On a small screen what to press counts more than what a store is.
        if lines.count > area.rows {
            lines = [
                Span("\(demo)  starts the demo", look[.key]),
                Span("No stores in \(model.folder)", look[.dim]),
            ]
        }
        let box = area.centered(Size(columns: columns, rows: lines.count))
        for (row, span) in lines.prefix(box.rows).enumerated() {
            frame.write([span], at: box.line(row).origin, within: box)
        }
    }
}
