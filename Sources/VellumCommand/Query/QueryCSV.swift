import ArchiveQuery
import CBOR

/// Rows as CSV. Columns that the query names are printed as they come; whole entries are kept until the last one, for
/// only then the names of all properties are known.
struct QueryCSV: QueryPrinter {
    private struct Entry {
        var key: String
        var value: [UInt8]?
    }

    /// About what an entry takes besides its key and its value.
    private static let entryBytes = 96

    private let columns: [String]?
    private let output: OutputWriter
    private let memoryLimit: Int
    private var hasHeader = false
    private var names = ColumnNames()
    /// Values that are no objects have a column of their own.
    private var hasOthers = false
    private var entries: [Entry] = []
    private var bytes = 0

    init(_ plan: QueryPlan, _ output: OutputWriter, memoryLimit: Int) {
        columns = plan.columns
        self.output = output
        self.memoryLimit = memoryLimit
    }

    mutating func print(_ row: QueryRow) throws {
        if let columns {
            if !hasHeader { try writeHeader(columns) }
            var text: [UInt8] = []
            CSVText.appendRow(items: row.columns, to: &text)
            return try TerminalSafe.write(text, to: output)
        }
        let entry = Entry(key: row.entry?.key ?? "", value: row.value)
        bytes += entry.key.utf8.count + (entry.value?.count ?? 0) + Self.entryBytes
        guard bytes <= memoryLimit else { throw tooMuchMemory }
        entries.append(entry)
        let object = QueryCell.object(entry.value)
        names.add(object)
        if object == nil { hasOthers = true }
    }

    mutating func finish() throws {
        if !entries.isEmpty {
            try writeHeader([QueryCell.keyName] + names.all + (hasOthers ? ["value"] : []))
            for entry in entries { try write(entry) }
        }
        try output.flush()
    }

    private func write(_ entry: Entry) throws {
        let value = entry.value.flatMap { try? CBORReader.decode($0) }
        let object: CBORMap? = if case .map(let map) = value { map } else { nil }
        var values: [CBORValue?] = [.text(entry.key)]
        values.append(contentsOf: names.row(of: object))
        if hasOthers { values.append(object == nil ? value : nil) }
        try write(values)
    }

    private mutating func writeHeader(_ names: [String]) throws {
        hasHeader = true
        var text: [UInt8] = []
        CSVText.appendHeader(names, to: &text)
        try TerminalSafe.write(text, to: output)
    }

    private func write(_ values: [CBORValue?]) throws {
        var text: [UInt8] = []
        CSVText.appendRow(values, to: &text)
        try TerminalSafe.write(text, to: output)
    }

    private var tooMuchMemory: CommandFailure {
        CommandFailure(
            "as CSV the entries take more than \(memoryLimit) bytes of memory, for the properties of all must be known "
                + "before the first is printed; select the properties (… | select name, …), find fewer entries, or use "
                + "--json, or vellum export, which prints all entries", status: .usage)
    }
}
