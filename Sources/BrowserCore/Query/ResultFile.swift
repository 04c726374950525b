import ArchiveQuery
import CBOR
import Foundation

/// A new file that takes the rows of a query. For one thread.
///
/// A name that ends in `.csv` or `.tsv` gives the columns of the table with their titles on top, each cell whole; any
/// other an object a line, as `vellum query --json` prints it.
struct ResultFile {
    private let file: WholeFile
    private let plan: QueryPlan
    /// Nil for an object a line.
    private let separator: UInt8?
    private var cells: QueryCells
    private var hasTitles = false
    private var buffer: [UInt8] = []
    private static let bufferBytes = 1 << 16

    /// A file that is there already is left alone.
    init(at path: String, of plan: QueryPlan) throws(SourceError) {
        let path = NSString(string: path).expandingTildeInPath
        let name = path.lowercased()
        separator =
            name.hasSuffix(".tsv") ? UInt8(ascii: "\t") : name.hasSuffix(".csv") ? UInt8(ascii: ",") : nil
        file = try WholeFile(at: path, replaces: false)
        self.plan = plan
        cells = QueryCells(plan, now: .now())
    }

    mutating func add(_ row: QueryRow) throws(SourceError) {
        if let separator { return try append(cells.add(row), separator) }
        var members: [CBORMap.Entry] = []
        func add(_ name: String, _ item: [UInt8]?) {
            let value = item.flatMap { try? CBORReader.decode($0) } ?? .null
            members.append(CBORMap.Entry(key: .text(name), value: value))
        }
        if let columns = plan.columns {
            for (name, item) in zip(columns, row.columns) { add(name, item) }
        } else {
            members = [CBORMap.Entry(key: "key", value: .text(row.entry?.key ?? ""))]
            add("value", row.value)
        }
        buffer += CBORValue.map(CBORMap(members)).json().utf8 + [UInt8(ascii: "\n")]
        try flushIfFull()
    }

    mutating func finish() throws(SourceError) {
        if let separator {
            try append(cells.finish(), separator)
            if !hasTitles { appendTitles(separator) }
        }
        try flush()
        try file.finish()
    }

    /// What was begun and not finished is not left behind.
    func remove() { file.discard() }

    private mutating func flushIfFull() throws(SourceError) {
        if buffer.count >= ResultFile.bufferBytes { try flush() }
    }

    private mutating func flush() throws(SourceError) {
        let result: Result<Void, SourceError> = buffer.withUnsafeBytes { bytes in
            Result { () throws(SourceError) in try file.write(bytes) }
        }
        try result.get()
        buffer.removeAll(keepingCapacity: true)
    }

    private mutating func append(_ rows: [QueryCells.Row], _ separator: UInt8) throws(SourceError) {
        if !hasTitles, !rows.isEmpty { appendTitles(separator) }
        for row in rows {
            DelimitedText.appendLine(row.cells, separator: separator, to: &buffer)
            try flushIfFull()
        }
    }

    private mutating func appendTitles(_ separator: UInt8) {
        hasTitles = true
        DelimitedText.appendLine(cells.titles, separator: separator, to: &buffer)
    }
}
