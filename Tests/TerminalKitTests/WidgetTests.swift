import TerminalKit
import Testing

@Suite struct WidgetTests {
    @Test("a graph draws its bound as a line between the bars, and labels half of its scale")
    func graphHasItsBound() {
        var graph = TimeGraph(title: [], values: [1, 0, 0], maximum: 1, topLabel: "100%")
        (graph.bound, graph.middleLabel) = (0.5, "50%")
        var frame = Frame(size: Size(columns: TimeGraph.scaleColumns + 3, rows: 11))
        let look = Look(theme: Theme(.mono, depth: .mono))
        graph.draw(into: &frame, in: frame.bounds, look: look)
        let row = (0..<frame.size.columns).map { frame[$0, 5].text }.joined()
        #expect(row.hasSuffix("50%│█──"), "\(frame.plainText)")
    }

    private func curves(_ size: Size, marked: Int? = nil, isASCII: Bool = false) -> Frame {
        var graph = CurveGraph(
            title: [Span("misses")], positions: [0, 0.5, 1], labels: ["1 kB", "2 kB", "4 kB"],
            curves: [
                .init("A", role: .accent, [1, 1, 0]), .init("B", role: .good, [1, 0, 0]),
                .init("C", role: .text, [nil, 0.5, nil]),
            ], topLabel: "100%")
        (graph.marked, graph.present, graph.middleLabel) = (marked, 1, "50%")
        var frame = Frame(size: size, isASCII: isASCII)
        let look = Look(theme: Theme(.mono, depth: .mono), glyphs: isASCII ? .ascii : .unicode)
        graph.draw(into: &frame, in: frame.bounds, look: look)
        return frame
    }

    @Test("each curve is drawn with its letter; letters alternate where curves overlap")
    func curvesHaveLetters() {
        let frame = curves(Size(columns: 16, rows: 8))
        #expect(
            frame.plainText.split(separator: "\n") == [
                "misses", "100%│AAAAAA", "    │ B    A", " 50%│  BB C AA", "    │    B    A",
                "   0│     BBBBBA", "    └─────▲─────", "   1 kB 2 kB",
            ], "\(frame.plainText)")
    }

    @Test("the marked position has a line behind the curves")
    func markedPositionHasLine() {
        for isASCII in [false, true] {
            let frame = curves(Size(columns: 16, rows: 8), marked: 2, isASCII: isASCII)
            let column = (1...5).map { frame[15, $0].text }.joined()
            #expect(column.filter { $0 == (isASCII ? "|" : "│") }.count == 4, "\(frame.plainText)")
        }
    }

    @Test("a graph of curves is well-formed at any size", arguments: 0...12)
    func curvesAreWellFormed(rows: Int) {
        for columns in 0...20 {
            let frame = curves(Size(columns: columns, rows: rows), marked: 0)
            #expect(invariantBreaks(frame) == [])
        }
    }

    /// One of each widget, with wide, combining and hostile text.
    private func drawScene(_ frame: inout Frame, _ look: Look) {
        var (line, rest) = frame.bounds.split(top: 1)
        Bar(
            left: [Span(" store "), Span("東京.store")],
            right: [Span("live "), Span(" READ ONLY ", look[.badge])]
        )
        .draw(into: &frame, in: line, look: look)
        let footer: Rect
        (rest, footer) = rest.split(bottom: 1)
        Footer(
            [("enter", "open"), ("/", "filter"), ("d", "delete"), ("?", "help")].map {
                KeyHint(id: $0.0, key: $0.0, title: $0.1)
            }
        ).draw(into: &frame, in: footer, look: look)
        let parts = rest.split(top: rest.rows * 2 / 3)
        table(rows: 60).draw(into: &frame, in: parts.top, look: look)
        (line, rest) = parts.rest.split(top: 1)
        ProgressBar(fraction: 0.625, text: "sorting").draw(into: &frame, in: line, look: look)
        (line, rest) = rest.split(top: 1)
        TextField("where name == \"東京\"").draw(into: &frame, in: line, look: look)
        let (left, gapAndRight) = rest.split(left: (rest.columns - 1) / 2)
        let halves = [left, gapAndRight.inset(left: 1)]
        HexDump(count: 2000, firstRow: 1, highlights: [20..<24]) {
            $0.map { UInt8(truncatingIfNeeded: $0 &* 7) }
        }
        .draw(into: &frame, in: halves[0], look: look)
        for index in 0..<halves[1].rows {
            TreeRow(
                depth: index, fold: [.unfolded, .folded, .leaf][index % 3], name: [Span("name\(index)")],
                value: [Span("e\u{301}\u{1b}[1m漢字")], isSelected: index == 1
            ).draw(into: &frame, in: halves[1].line(index), look: look)
        }
    }

    private func table(rows: Int, selected: Int? = 12) -> Table {
        Table(
            columns: [
                Table.Column("Key", width: .minimum(8, weight: 2), order: .ascending),
                Table.Column("Size", width: .fixed(7), alignment: .trailing, priority: 1),
                Table.Column("Tier", width: .fixed(8), alignment: .center, priority: 3),
                Table.Column("Use", width: .fixed(8), priority: 2),
                Table.Column("Trend", width: .flexible(), priority: 4),
            ], rowCount: rows, firstRow: 10, selectedRow: selected, emptyText: "no entries"
        ) { index in
            let key = ["city/\(index)", "都市/\(index)/東京都千代田区", "ke\u{301}y\u{7}\(index)"][index % 3]
            return Table.Row(
                [
                    Table.Cell(key), Table.Cell("\(index * 31)"), Table.Cell(index % 2 == 0 ? "mem" : "disk"),
                    Table.Cell("", gauge: Double(index % 10) / 9),
                    Table.Cell("", spark: (0..<30).map { Double(($0 * index) % 7) }),
                ], role: index % 5 == 0 ? .disappearing : .text, isMarked: index % 4 == 0)
        }
    }

    @Test(arguments: [(20, 5), (40, 10), (80, 24), (200, 60)], [false, true])
    func sceneMatchesGolden(_ size: (Int, Int), _ isASCII: Bool) throws {
        let look = Look(theme: Theme(.dark, depth: .trueColor), glyphs: isASCII ? .ascii : .unicode)
        var frame = Frame(size: Size(columns: size.0, rows: size.1))
        drawScene(&frame, look)
        #expect(invariantBreaks(frame) == [])
        try expectGolden(frame.plainText, "scene-\(size.0)x\(size.1)\(isASCII ? "-ascii" : "").txt")
    }

    @Test(arguments: ColorDepth.allCases)
    func stylesMatchGolden(_ depth: ColorDepth) throws {
        var frame = Frame(size: Size(columns: 60, rows: 14))
        drawScene(&frame, Look(theme: Theme(.dark, depth: depth)))
        let visible = frame.ansiText(depth: depth).replacing("\u{1b}", with: "␛")
        try expectGolden(visible, "scene-60x14-\(depth).txt")
    }

    @Test func widgetsDrawInsideTheirRectangle() {
        let look = Look(theme: Theme(.dark, depth: .trueColor))
        var widgets: [any Widget] = [
            Label("漢字 label", alignment: .center), Gauge(0.3), ProgressBar(fraction: nil, text: "work"),
            Sparkline([1, nil, 3, .nan, 9]), ScrollBar(total: 90, first: 3, visible: 2), table(rows: 60),
            table(rows: 0),
            Dialog(title: "Delete 漢", body: ["Some long text to wrap."], buttons: ["Cancel", "OK"]),
            TextField("漢字漢字"), List([List.Item("漢字", trailing: "x"), List.Item("b")], selected: 1),
            HexDump(count: 99) { $0.map { UInt8($0) } }, TreeRow(depth: 9, fold: .leaf, name: [Span("漢字")]),
            Bar(left: [Span("漢字 left")], right: [Span("right")]),
        ]
        widgets.append(Footer([KeyHint(id: 1, key: "x", title: "漢字")]))
        widgets.append(Dialog(title: "t", contentRows: 3))
        for widget in widgets {
            for columns in 0...26 {
                for rows in 0...7 {
                    var frame = Frame(size: Size(columns: 32, rows: 10))
                    frame.fill(frame.bounds, character: "#")
                    let before = frame
                    let rect = Rect(column: 3, row: 2, columns: columns, rows: rows)
                    frame.draw(widget, in: rect, look: look)
                    #expect(invariantBreaks(frame) == [])
                    let changed = FrameDiff(from: before, to: frame).runs.filter { run in
                        !run.columns.allSatisfy { rect.contains(Point(column: $0, row: run.row)) }
                    }
                    #expect(changed == [], "\(type(of: widget)) in \(columns)x\(rows)")
                }
            }
        }
    }

    /// The rows of a widget on a screen of that size.
    private func rows(_ widget: any Widget, columns: Int, rows: Int) -> [String] {
        var frame = Frame(size: Size(columns: columns, rows: rows))
        frame.draw(widget, in: frame.bounds, look: Look(theme: Theme(.mono, depth: .mono)))
        return frame.plainText.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    private func sorted(columns: [(title: String, priority: Int)], by place: Int) -> Table {
        Table(
            columns: columns.enumerated().map { index, column in
                Table.Column(
                    column.title, width: .fixed(8), priority: column.priority,
                    order: index == place ? .descending : nil)
            }, rowCount: 0
        ) { _ in Table.Row([]) }
    }

    @Test("a narrow table drops its sort column last")
    func sortedColumnStays() {
        let table = sorted(columns: [("key", 0), ("size", 1), ("hits", 9)], by: 2)
        let header = rows(table, columns: 20, rows: 3)[0]
        #expect(header.contains("hits ▼") && !header.contains("size"), "\(header)")
    }

    @Test("a table too narrow for its sort column names it at the end of the header")
    func sortedColumnIsNamed() {
        let table = sorted(columns: [("key", 0), ("hits", 1)], by: 1)
        #expect(rows(table, columns: 14, rows: 3)[0].hasSuffix("by hits ▼"))
    }

    @Test("numbers of a column are aligned at their decimal points")
    func alignedPoints() {
        let texts = ["100%", "96.6%", "<0.1%", "-"]
        let column = Table.Column("hit", width: .fixed(7), alignment: .trailing, fraction: 3)
        let table = Table(columns: [column], rowCount: 4, showsHeader: false) { row in
            Table.Row([Table.Cell(texts[row])])
        }
        let lines = rows(table, columns: 7, rows: 4)
        #expect(lines[0].hasPrefix(" 100%") && lines[3].hasPrefix("   -"), "\(lines)")
        #expect(lines[1...2] == ["  96.6%", "  <0.1%"], "\(lines)")
    }

    @Test("a narrow empty table shows the fact and omits the key")
    func emptyTextOnASmallScreen() {
        let table = Table(columns: [], rowCount: 0, emptyText: "No entries; n creates one.") { _ in
            Table.Row([])
        }
        #expect(rows(table, columns: 40, rows: 3).contains { $0.contains("No entries; n creates one.") })
        let small = rows(table, columns: 14, rows: 1).joined()
        #expect(small.contains("No entries.") && !small.contains("creates"), "\(small)")
    }

    @Test("a bar shows only facts that fit completely")
    func wholeFacts() {
        let bar = Bar(left: [Span("60 messages")], facts: [Span("1.62 of 20 kB"), Span("1,240 dropped")])
        #expect(rows(bar, columns: 41, rows: 1)[0] == "60 messages  1.62 of 20 kB  1,240 dropped")
        #expect(rows(bar, columns: 30, rows: 1)[0].hasPrefix("60 messages  1.62 of 20 kB"))
        #expect(!rows(bar, columns: 30, rows: 1)[0].contains("1,2"))
    }

    @Test func gaugesShowEighths() {
        let look = Look(theme: Theme(.mono, depth: .mono))
        func shown(_ fraction: Double, _ glyphs: Glyphs = .unicode) -> String {
            var frame = Frame(size: Size(columns: 4, rows: 1))
            frame.draw(Gauge(fraction), in: frame.bounds, look: Look(theme: look.theme, glyphs: glyphs))
            return String(frame.plainText.dropLast())
        }
        #expect(shown(0) == "░░░░")
        #expect(shown(0.0001) == "▏░░░")
        #expect(shown(0.5) == "██░░")
        #expect(shown(0.9999) == "███▉")
        #expect(shown(1) == "████")
        #expect(shown(7) == "████")
        #expect(shown(-.infinity) == "░░░░")
        #expect(shown(.nan) == "░░░░")
        #expect(shown(0.34, .ascii) == "#...")
        #expect(shown(0.99, .ascii) == "###.")
    }

    /// Regression: in the light theme a gauge had the color of the selected row.
    @Test(arguments: [Theme.Name.dark, .light, .darkSafe, .lightSafe])
    func gaugeIsVisibleInSelectedRow(theme: Theme.Name) throws {
        let look = Look(theme: Theme(theme, depth: .trueColor))
        let table = Table(columns: [Table.Column("use", width: .fixed(8))], rowCount: 1, selectedRow: 0) {
            _ in
            Table.Row([Table.Cell("", gauge: 0.9)])
        }
        var frame = Frame(size: Size(columns: 12, rows: 2))
        frame.draw(table, in: frame.bounds, look: look)
        let cell = try #require((0..<12).map { frame[$0, 1] }.first { $0.text == "█" })
        #expect(cell.style.background == look[.selected].background)
        #expect(cell.style.foreground == look[.selected].foreground)
    }

    @Test func scrollBarMarksBothEnds() {
        for total in [11, 50, 1_000_000] {
            for first in [0, 1, total / 2, total - 11, total - 10] {
                let thumb = ScrollBar(total: total, first: first, visible: 10).thumb(in: 10)
                #expect(!thumb.isEmpty && thumb.upperBound <= 10)
                if total > 12 {
                    #expect((thumb.lowerBound == 0) == (first == 0), "\(first) of \(total)")
                    #expect((thumb.upperBound == 10) == (first == total - 10), "\(first) of \(total)")
                }
            }
        }
        #expect(ScrollBar(total: 5, first: 0, visible: 10).thumb(in: 10).isEmpty)
        #expect(ScrollBar(total: 110, first: 0, visible: 10).first(forThumbAt: 9, in: 10) == 100)
    }

    @Test func tableMapsPointsToRows() {
        let table = table(rows: 60)
        let places = table.layout(in: Rect(columns: 80, rows: 11))
        #expect(places.rows == 10..<20)
        #expect(places.row(at: Point(column: 5, row: 1)) == 10)
        #expect(places.row(at: Point(column: 5, row: 0)) == nil)
        #expect(places.headerColumn(at: Point(column: 3, row: 0)) == 0)
        #expect(places.headerColumn(at: Point(column: 77, row: 0)) == 4)
        #expect(table.layout(in: Rect(columns: 22, rows: 11)).columns.map(\.index) == [0, 1])
        #expect(Table.firstRow(showing: 30, of: 60, in: 10, from: 0) == 21)
        #expect(Table.firstRow(showing: 3, of: 60, in: 10, from: 20) == 3)
        #expect(Table.firstRow(showing: 25, of: 60, in: 10, from: 20) == 20)
        #expect(Table.firstRow(showing: nil, of: 12, in: 10, from: 20) == 2)
    }

    @Test("the last column of a table wraps, and each line maps to its row")
    func tableWraps() {
        var table = Table(
            columns: [
                Table.Column("n", width: .fixed(2)), Table.Column("text", width: .minimum(4, weight: 1)),
            ],
            rowCount: 6
        ) { Table.Row([Table.Cell("\($0)"), Table.Cell($0 == 1 ? "abcdefghijkl\nmn" : "row \($0)")]) }
        table.wraps = true
        let rect = Rect(columns: 10, rows: 7)
        let places = table.layout(in: rect)
        // The text has 5 columns: two of the ten are for the scroll bar.
        #expect(places.rows == 0..<3 && places.tops == [0, 1, 5])
        #expect(places.row(at: Point(column: 0, row: 5)) == 1)
        #expect(places.row(at: Point(column: 0, row: 6)) == 2)
        #expect(table.firstRow(showing: 2, in: rect, from: 0) == 0)
        #expect(table.firstRow(showing: 3, in: rect, from: 0) == 1)
        #expect(table.firstRow(showing: 5, in: rect, from: 0) == 2)
        #expect(table.firstRow(showing: 0, in: rect, from: 4) == 0)
        var frame = Frame(size: Size(columns: 10, rows: 7))
        table.draw(into: &frame, in: rect, look: Look(theme: Theme(.mono, depth: .mono)))
        let lines = frame.plainText.split(separator: "\n").map { $0.prefix(8) }
        #expect(lines[2] == "1  abcde" && lines[3] == "   fghij" && lines[5].hasPrefix("   mn"))
    }

    @Test func dialogKeepsButtonsOnSmallScreens() {
        let dialog = Dialog(
            title: "Delete 3 entries?", body: ["They take 12 KiB.", "Undo with u."],
            buttons: ["Cancel", "Delete"])
        for rows in 2...12 {
            let places = dialog.places(in: Rect(columns: 20, rows: rows))
            #expect(places.buttons.map(\.columns) == [8, 8])
            #expect(Rect(columns: 20, rows: rows).intersection(places.box) == places.box)
        }
        // Each shows a part of its title even if it doesn't fit.
        for columns in 9...40 {
            let places = dialog.places(in: Rect(columns: columns, rows: 5))
            #expect(places.buttons.allSatisfy { $0.columns >= 3 && $0.endColumn <= columns }, "\(columns)")
        }
        var frame = Frame(size: Size(columns: 40, rows: 10))
        frame.draw(dialog, in: frame.bounds, look: Look(theme: Theme(.dark, depth: .sixteen)))
        let lines = frame.plainText.split(separator: "\n").map { $0.drop { $0 == " " } }
        #expect(
            lines == [
                "┌ Delete 3 entries? ───────┐", "│ They take 12 KiB.        │",
                "│ Undo with u.             │",
                "│                          │", "│ [ Cancel ] [ Delete ]    │",
                "└──────────────────────────┘",
            ])
    }

    @Test func footerMapsPointsToHints() {
        let footer = Footer([
            KeyHint(id: 1, key: "q", title: "quit"), KeyHint(id: 2, key: "?", title: "help"),
        ])
        let line = Rect(row: 4, columns: 80, rows: 1)
        #expect(footer.action(at: Point(column: 2, row: 4), in: line) == 1)
        #expect(footer.action(at: Point(column: 7, row: 4), in: line) == nil)
        #expect(footer.action(at: Point(column: 8, row: 4), in: line) == 2)
        #expect(footer.action(at: Point(column: 2, row: 3), in: line) == nil)
    }
}
