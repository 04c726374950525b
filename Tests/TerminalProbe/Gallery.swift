import TerminalKit

/// One of each widget.
struct Gallery: Widget {
    var lastEvent: String

    func draw(into frame: inout Frame, in rect: Rect, look: Look) {
        var (line, rest) = rect.split(top: 1)
        Bar(
            left: [Span(" Vellum "), Span("cities.store")],
            right: [Span("last: \(lastEvent) "), Span(" READ ONLY ", look[.badge])]
        ).draw(into: &frame, in: line, look: look)
        let footer: Rect
        (rest, footer) = rest.split(bottom: 1)
        Footer([
            KeyHint(id: 1, key: "enter", title: "open"), KeyHint(id: 2, key: "/", title: "filter"),
            KeyHint(id: 3, key: "d", title: "delete"), KeyHint(id: 4, key: "?", title: "help"),
            KeyHint(id: 5, key: "q", title: "quit"),
        ]).draw(into: &frame, in: footer, look: look)
        let parts = rest.split(top: (rest.rows - 1) * 3 / 5)
        table.draw(into: &frame, in: parts.top, look: look)
        (line, rest) = parts.rest.inset(top: 1).split(top: 1)
        ProgressBar(fraction: 0.42, text: "sorting by size").draw(into: &frame, in: line, look: look)
        let (left, gapAndRight) = rest.split(left: (rest.columns - 2) / 2)
        let halves = [left, gapAndRight.inset(left: 2)]
        HexDump(count: 300) { range in range.map { UInt8(truncatingIfNeeded: $0) } }
            .draw(into: &frame, in: halves[0], look: look)
        let rows: [(Int, TreeRow.Fold, String, String)] = [
            (0, .unfolded, "city", ""), (1, .leaf, "name", "東京"), (1, .folded, "districts", "[23]"),
            (1, .leaf, "flag", "🇯🇵 👩‍🚀 ❤️"),
        ]
        for (offset, row) in rows.prefix(halves[1].rows).enumerated() {
            TreeRow(
                depth: row.0, fold: row.1, name: [Span(row.2, look[.accent])], value: [Span(row.3)],
                isSelected: offset == 2
            ).draw(into: &frame, in: halves[1].line(offset), look: look)
        }
    }

    private var table: Table {
        let roles: [Role] = [.text, .new, .text, .changed, .disappearing]
        return Table(
            columns: [
                Table.Column("Key", width: .minimum(12, weight: 2)),
                Table.Column("Size", width: .fixed(9), alignment: .trailing, order: .descending),
                Table.Column("Memory", width: .fixed(12), priority: 2),
                Table.Column("Hits", width: .fixed(10), priority: 1),
                Table.Column("Note", width: .minimum(6), priority: 3),
            ], rowCount: 200, firstRow: 20, selectedRow: 22
        ) { index in
            Table.Row(
                [
                    Table.Cell("city/\(index)/東京 \u{1b}[31mred"),
                    Table.Cell("\(index * 137) B"),
                    Table.Cell("", gauge: Double(index % 11) / 10),
                    Table.Cell("", spark: (0..<10).map { Double(($0 * index) % 9) }),
                    Table.Cell("e\u{301}tude", role: .dim),
                ], role: roles[index % roles.count], isMarked: index % 3 == 0)
        }
    }
}
