import StoreInspection
import TerminalKit

/// Events as rows of a table: the screen's, and the tail below archives and entries.
enum EventsTable {
    /// - Parameters:
    ///   - showsArchive: whether there is a column with the archive.
    ///   - number: returns the event of a row.
    static func table(
        _ model: Model, rowCount: Int, firstRow: Int = 0, selectedRow: Int? = nil, showsHeader: Bool = true,
        showsArchive: Bool, emptyText: String = "", number: @escaping @Sendable (Int) -> Int
    ) -> Table {
        let log = model.shownEvents
        let look = model.look
        var columns = [
            Table.Column("time", width: .fixed(8), priority: 3),
            Table.Column("archive", width: .minimum(8, weight: 1), priority: 5),
            Table.Column("event", width: .fixed(9), priority: 0),
            Table.Column("key", width: .minimum(15, weight: 2), priority: 0),
            Table.Column("size", width: .fixed(8), alignment: .trailing, priority: 2),
            Table.Column("cause", width: .fixed(14), priority: 1),
            Table.Column("process", width: .minimum(8, weight: 2), priority: 6),
        ]
        if !showsArchive { columns.remove(at: 1) }
        return Table(
            columns: columns, rowCount: rowCount, firstRow: firstRow, selectedRow: selectedRow,
            showsHeader: showsHeader, emptyText: emptyText
        ) { row in
            let event = log[number(row)]
            var cells = [
                Table.Cell(Figures.time(event.time), role: .dim),
                Table.Cell(event.archive, role: .dim, cut: .middle),
                Table.Cell(event.label, role: EventText.role(event.kind)),
                Table.Cell(
                    EventText.key(event, look: look), role: event.key == nil ? .dim : nil, cut: .middle),
                Table.Cell(event.bytes == 0 ? "" : Figures.bytes(UInt64(event.bytes))),
                Table.Cell(event.cause.label(of: event.kind) ?? "", role: .dim),
                event.pid == 0
                    ? Table.Cell("")
                    : Table.Cell(
                        model.processName(event.pid), shorter: model.shortProcessNames(event.pid), role: .dim),
            ]
            if !showsArchive { cells.remove(at: 1) }
            return Table.Row(cells)
        }
    }

    /// The latest events below a title, the newest at the bottom.
    static func drawTail(_ model: Model, archive: String?, into frame: inout Frame, in rect: Rect) {
        guard rect.rows >= 2 else { return }
        let look = model.look
        let (head, body) = rect.split(top: 1)
        frame.fill(head, style: look[.border], character: look.glyphs.horizontal)
        var title = [Span(" events ", look[.dim])]
        title += model.shownEvents.missing(of: archive, look)
        frame.write(title, at: head.inset(left: 2).origin, within: head)
        let numbers = model.shownEvents.last(body.rows, EventFilter(archive: archive))
        table(
            model, rowCount: numbers.count, showsHeader: false, showsArchive: archive == nil,
            emptyText: "No events yet."
        ) { numbers[$0] }
        .draw(into: &frame, in: body, look: look)
    }
}
