import TerminalKit

package struct Column: Sendable {
    /// The name in JSON.
    package let name: String
    /// The title on a terminal, where a column without a title is left out.
    package let title: String?
    /// Minimum width if rows can't be collected first.
    package let width: Int
    /// Whether it has numbers; needed only if rows can't be collected first.
    package let isNumber: Bool
    /// Narrow terminals drop the column with the lowest number first. After these, they drop columns without a number, last first.
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

package enum RowLayout: Sendable {
    /// Aligned columns under titles, for a terminal.
    case table
    /// All columns separated by tabs, without titles, for a pipe.
    case tabs
    case jsonLines
    case jsonArray

    /// The layout for `output`, unless JSON is requested.
    package static func fitting(_ output: OutputWriter, json: RowLayout?) -> RowLayout {
        json ?? (output.isTerminal ? .table : .tabs)
    }
}

/// Prints rows; the first 1,000 determine the widths.
package struct RowPrinter {
    private static let alignedRows = 1000

    private let columns: [Column]
    private let layout: RowLayout
    private let output: OutputWriter
    private var waiting: [[Cell]] = []
    private var widths: [Int] = []
    private var alignments: [Alignment] = []
    private var hidden: Set<Int> = []
    /// A reused buffer for the row of a pipe.
    private var line: [UInt8] = []
    private var records: JSONRecords
    private let indent: String
    /// Maximum width of a column of a live table.
    private static let widestLive = 40
    private var isLive = false

    package init(_ columns: [Column], layout: RowLayout, output: OutputWriter, indent: String = "") {
        self.columns = columns
        self.layout = layout
        self.output = output
        records = JSONRecords(isArray: layout == .jsonArray, output: output)
        self.indent = indent
    }

    /// Prints live rows: each at once, with growing columns.
    package init(live columns: [Column], layout: RowLayout, output: OutputWriter) {
        self.init(columns, layout: layout, output: output)
        isLive = true
        widths = columns.map { max($0.width, TextWidth.width(of: $0.title ?? "")) }
        alignments = columns.map { $0.isNumber ? .trailing : .leading }
    }

    package mutating func print(_ cells: [Cell]) throws(SourceError) {
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
            try records.write(.cells(zip(columns, cells).map { ($0.name, $1) }))
        }
    }

    /// Prints waiting rows and flushes the output.
    package mutating func finish() throws(SourceError) {
        if !waiting.isEmpty { try printWaiting() }
        try records.finish()
        try output.flush()
    }

    /// Titles of columns that were dropped for lack of space.
    package var leftOut: [String] { hidden.sorted().compactMap { columns[$0].title } }

    private var shown: [Int] {
        columns.indices.filter { columns[$0].title != nil && !hidden.contains($0) }
    }

    private mutating func fit() {
        hidden = []
        guard let available = output.columns else { return }
        var width = shown.reduce(indent.utf8.count - 2) { $0 + widths[$1] + 2 }
        let droppable = shown.filter { columns[$0].dropped != nil }
            .sorted { (columns[$0].dropped ?? 0, $0) < (columns[$1].dropped ?? 0, $1) }
        // The first column is always shown.
        let kept = shown.filter { columns[$0].dropped == nil }
        for next in droppable + kept.dropFirst().reversed() {
            guard width > available else { return }
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

    /// Prints the titles of a live table. Other tables print them with the first rows.
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
                let available = max(widths[index], TextWidth.width(of: text))
                return TextWidth.pad(text, to: available, alignment: alignments[index])
            })
    }

    private func writeLine(_ cells: [String]) throws(SourceError) {
        var line = indent + cells.joined(separator: "  ")
        while line.last == " " { line.removeLast() }
        try output.write(line + "\n")
    }
}
