import ArchiveQuery
import CBOR
import Foundation

/// A new file that takes the rows of a query. For one thread.
///
/// A name that ends in `.csv` or `.tsv` gives the cells of the table with their titles on top (RFC 4180); any other an
/// object a line, as `vellum query --json` prints it.
struct ResultFile {
    private let path: String
    private let file: FileHandle
    private let plan: QueryPlan
    /// Nil for an object a line.
    private let separator: String?
    private var table: QueryTabulator
    private var buffer: [UInt8] = []
    private static let bufferBytes = 1 << 16

    /// A file that is there already is left alone.
    init(at path: String, of plan: QueryPlan) throws(SourceError) {
        let path = NSString(string: path).expandingTildeInPath
        let name = path.lowercased()
        separator = name.hasSuffix(".tsv") ? "\t" : name.hasSuffix(".csv") ? "," : nil
        do {
            try Data().write(to: URL(fileURLWithPath: path), options: .withoutOverwriting)
            file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        } catch {
            throw SourceError("\(path) can't be written: \(ResultFile.reason(error))")
        }
        self.path = path
        self.plan = plan
        table = QueryTabulator(plan, now: .now(), maximumRows: .max)
    }

    mutating func add(_ row: QueryRow) throws(SourceError) {
        if separator != nil { return table.add(row) }
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
        if buffer.count >= ResultFile.bufferBytes { try flush() }
    }

    mutating func finish(_ report: QueryReport) throws(SourceError) {
        if let separator {
            let answer = table.finish(report)
            for cells in [answer.columns.map(\.title)] + answer.rows.map(\.cells) {
                buffer += ResultFile.line(cells, separator).utf8
            }
        }
        try flush()
        do { try file.close() } catch { throw SourceError("\(path): \(ResultFile.reason(error))") }
    }

    /// What was begun and not finished is not left behind.
    func remove() {
        try? file.close()
        try? FileManager.default.removeItem(atPath: path)
    }

    private mutating func flush() throws(SourceError) {
        do {
            try file.write(contentsOf: Data(buffer))
        } catch {
            throw SourceError("\(path) can't be written: \(ResultFile.reason(error))")
        }
        buffer.removeAll(keepingCapacity: true)
    }

    private static func line(_ cells: [String], _ separator: String) -> String {
        cells.map { cell in
            let needsQuotes = cell.contains { $0 == "\"" || $0.isNewline || String($0) == separator }
            return needsQuotes ? "\"" + cell.replacing("\"", with: "\"\"") + "\"" : cell
        }
        .joined(separator: separator) + "\n"
    }

    private static func reason(_ error: any Error) -> String {
        switch (error as? CocoaError)?.code {
        case .fileWriteFileExists: "there is a file of that name already; choose another name"
        case .fileWriteNoPermission: "this user may not write there"
        case .fileNoSuchFile: "its folder isn't there"
        case .fileWriteOutOfSpace: "the disk is full"
        default: error.localizedDescription
        }
    }
}
