import TerminalKit

/// One column of what a look-up prints.
package struct Column: Sendable {
    /// The name in JSON.
    package let name: String
    /// The title above the column on a terminal; a column without one isn't shown there.
    package let title: String?
    /// How wide it is at least where rows can't be waited for.
    package let width: Int
    /// Whether it holds numbers; known beforehand only where rows can't be waited for.
    package let isNumber: Bool
    /// In narrow terminals the columns with the lowest number are left out first, then the others from the last on.
    package let dropped: Int?

    package init(
        _ name: String, title: String? = nil, width: Int = 0, isNumber: Bool = false, dropped: Int? = nil
    ) {
        self.name = name
        self.title = title
        self.width = width
        self.isNumber = isNumber
        self.dropped = dropped
    }
}

/// How rows are laid out.
package enum RowLayout: Sendable {
    /// Aligned columns under titles, for a terminal.
    case table
    /// All columns, separated by tabs, without titles, for a pipe.
    case tabs
    case jsonLines
    case jsonArray

    /// What fits `output`, unless JSON was asked for.
    package static func fitting(_ output: OutputWriter, json: RowLayout?) -> RowLayout {
        json ?? (output.isTerminal ? .table : .tabs)
    }
}

/// Prints rows as they come, aligned for the first 1,000.
package struct RowPrinter {
    private static let alignedRows = 1000

    private let columns: [Column]
    private let layout: RowLayout
    private let output: OutputWriter
    private var waiting: [[Cell]] = []
    private var widths: [Int] = []
    private var alignments: [Alignment] = []
    private var hidden: Set<Int> = []
    /// The current row for a pipe, whose memory is used again.
    private var line: [UInt8] = []
    private var count = 0
    private let indent: String
    /// The widest that a cell of a live table makes its column.
    private static let widestLive = 40
    private let isLive: Bool

    package init(_ columns: [Column], layout: RowLayout, output: OutputWriter, indent: String = "") {
        self.columns = columns
        self.layout = layout
        self.output = output
        self.indent = indent
        isLive = false
    }

    /// For rows that come over time: each is printed at once, and a column grows with its cells.
    package init(live columns: [Column], layout: RowLayout, output: OutputWriter) {
        self.columns = columns
        self.layout = layout
        self.output = output
        indent = ""
        isLive = true
        widths = columns.map { max($0.width, TextWidth.width(of: $0.title ?? "")) }
        alignments = columns.map { $0.isNumber ? .trailing : .leading }
    }

    /// Prints a row with as many cells as there are columns.
    package mutating func print(_ cells: [Cell]) throws(SourceError) {
        count += 1
        switch layout {
        case .table:
            if widths.isEmpty {
                waiting.append(cells)
                if waiting.count == Self.alignedRows { try printWaiting() }
            } else {
                try printAligned(cells)
            }
        case .tabs:
            line.removeAll(keepingCapacity: true)
            for cell in cells {
                cell.appendPlain(to: &line)
                line.append(UInt8(ascii: "\t"))
            }
            line[line.count - 1] = UInt8(ascii: "\n")
            try output.write(line)
        case .jsonLines, .jsonArray:
            try printJSON(cells)
        }
    }

    /// Prints what is still missing and hands everything to the descriptor.
    package mutating func finish() throws(SourceError) {
        if layout == .table, widths.isEmpty, count > 0 { try printWaiting() }
        if layout == .jsonArray { try output.write(count == 0 ? "[]\n" : "\n]\n") }
        try output.flush()
    }

    private func printJSON(_ cells: [Cell]) throws(SourceError) {
        var line: [UInt8] = []
        if layout == .jsonArray { line.append(contentsOf: (count == 1 ? "[\n" : ",\n").utf8) }
        JSONTree.cells(zip(columns, cells).map { ($0.name, $1) }).append(to: &line)
        if layout == .jsonLines { line.append(UInt8(ascii: "\n")) }
        try TerminalSafe.write(line, to: output)
    }

    /// The titles of the columns that the terminal had no room for.
    package var leftOut: [String] { hidden.sorted().compactMap { columns[$0].title } }

    private var shown: [Int] {
        columns.indices.filter { columns[$0].title != nil && !hidden.contains($0) }
    }

    private mutating func fit() {
        hidden = []
        guard let room = output.columns else { return }
        var width = shown.reduce(indent.utf8.count - 2) { $0 + widths[$1] + 2 }
        let droppable = shown.filter { columns[$0].dropped != nil }
            .sorted { (columns[$0].dropped ?? 0, $0) < (columns[$1].dropped ?? 0, $1) }
        // The first column says what the line is about.
        let kept = shown.filter { columns[$0].dropped == nil }
        for next in droppable + kept.dropFirst().reversed() {
            guard width > room else { return }
            hidden.insert(next)
            width -= widths[next] + 2
        }
    }

    private mutating func printWaiting() throws(SourceError) {
        widths = columns.indices.map { index in
            let title = columns[index].title.map { TextWidth.width(of: $0) } ?? 0
            return waiting.reduce(title) { max($0, TextWidth.width(of: $1[index].human)) }
        }
        alignments = columns.indices.map { index in
            waiting.contains { $0[index].isNumber } ? .trailing : .leading
        }
        try printTitles()
        for cells in waiting { try printAligned(cells) }
        waiting = []
    }

    /// The line of titles, if the layout is a table; of a table that isn't live it is printed with the first rows.
    package mutating func printTitles() throws(SourceError) {
        guard layout == .table else { return }
        fit()
        try writeLine(
            shown.map { index in
                TextWidth.pad(columns[index].title ?? "", to: widths[index], alignment: alignments[index])
            })
    }

    private mutating func printAligned(_ cells: [Cell]) throws(SourceError) {
        if isLive {
            for index in shown {
                let width = min(Self.widestLive, TextWidth.width(of: cells[index].human))
                widths[index] = max(widths[index], width)
            }
        }
        try writeLine(
            shown.map { index in
                let text = cells[index].human
                let room = max(widths[index], TextWidth.width(of: text))
                return TextWidth.pad(text, to: room, alignment: alignments[index])
            })
    }

    private func writeLine(_ cells: [String]) throws(SourceError) {
        var line = indent + cells.joined(separator: "  ")
        while line.last == " " { line.removeLast() }
        try output.write(line + "\n")
    }
}
