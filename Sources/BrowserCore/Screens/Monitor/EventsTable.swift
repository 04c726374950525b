import StorageEngine
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
                    event.keyCell(ellipsis: look.glyphs.ellipsis), role: event.key == nil ? .dim : nil,
                    cut: .middle),
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

enum EventText {
    static func role(_ kind: EventKind) -> Role {
        switch kind {
        case .record, .append, .restore: .good
        case .update, .promotion, .deadline, .resize: .text
        case .eviction, .expiry: .warning
        case .delete, .rejection: .danger
        }
    }

    /// `recorded 12:01:07 by api (4121)`, `evicted 12:09:30: disk limit`
    static func parts(_ value: ValueState, _ model: Model) -> [String] {
        var parts = value.ownEvents.map { sentence($0, model) }
        if value.missesRecord, let created = value.load?.entry.created {
            parts.insert("recorded \(Figures.time(created)) (event missed)", at: 0)
        } else if parts.isEmpty {
            parts.append("recorded earlier than the event log reaches")
        }
        if value.missesEvents { parts.insert("some events missed", at: 0) }
        return parts
    }

    /// `Replaced 23:38:22 by api (4121); R shows the new value.`
    static func replaced(_ value: ValueState, _ model: Model) -> String {
        let start = value.replacement.map { sentence($0, model) } ?? ""
        let words =
            value.replacement?.kind == .record
            ? "Replaced" + start.dropFirst(EventKind.record.label.count)
            : start.isEmpty ? "Replaced" : start.firstUppercased
        return "\(words); \(Browser.keyName(model, .refresh)) shows the new value."
    }

    private static func sentence(_ event: ArchiveEvent, _ model: Model) -> String {
        var text = "\(event.kind.label) \(Figures.time(event.time))"
        if event.kind == .promotion {
            text = "promoted \(Figures.time(event.time)) to memory"
            if event.pid != 0 { text += " of \(model.processName(event.pid))" }
            return text
        }
        if event.cause != .person, let cause = event.cause.label(of: event.kind) {
            return text + ": \(cause)"
        }
        if event.pid != 0 { return text + " by \(model.processName(event.pid))" }
        return event.cause == .person ? text + " by a user" : text
    }

    /// Lines about the replacement and the metadata of an entry, shown below its history.
    static func details(_ value: ValueState, _ model: Model) -> [String] {
        var lines: [String] = []
        if value.isStale { lines += ["", replaced(value, model)] }
        if let entry = value.load?.entry { lines += [""] + FactLines.lines(entry.facts(now: model.shownNow)) }
        return lines
    }
}
