import CBOR
import StorageEngine
import StoreInspection

/// For one thread. Reads CSV or TSV: the first row names the properties, every further row is an object.
struct DelimitedReader: RecordReader {
    /// The names in the first row.
    let columns: [String]
    private var scanner: DelimitedScanner
    private let input: InputBuffer
    private let delimiting: Delimiting
    /// Whether every field is taken as it stands, also an empty one.
    private let isTextOnly: Bool
    private var kinds: [ColumnKind]

    /// Reads the first row. Throws if there is none, if two of its names are equal, or if it isn't text.
    init(_ input: InputBuffer, _ delimiting: Delimiting, isTextOnly: Bool) throws(CommandFailure) {
        self.input = input
        self.delimiting = delimiting
        self.isTextOnly = isTextOnly
        scanner = DelimitedScanner(input, delimiting)
        columns = try Self.names(&scanner, input.name, delimiting.table)
        kinds = Array(repeating: isTextOnly ? .text : .spelled, count: columns.count)
    }

    private static func names(
        _ scanner: inout DelimitedScanner, _ file: String, _ table: DelimitedText
    ) throws(CommandFailure) -> [String] {
        guard let row = try scanner.next() else { return [] }
        let place = "\(file):\(scanner.rowLine): "
        if let fault = row.fault { throw CommandFailure(place + fault, status: .nothing) }
        var names: [String] = []
        var known: Set<ExactText> = []
        for field in scanner.fields {
            let content = scanner.text[field.range]
            let escaped =
                table.hasQuotes
                ? nil : content.withUnsafeBytes { FieldValue.escapedText(in: $0, of: table) }
            guard let name = escaped ?? String(validating: content, as: UTF8.self) else {
                throw CommandFailure(
                    place + "the names of the properties are not valid UTF-8", status: .nothing)
            }
            guard !name.utf8.contains(UInt8(ascii: "\r")) else {
                throw CommandFailure(
                    place + "the lines end in carriage returns alone; turn them into line feeds first: "
                        + "tr '\\r' '\\n'", status: .nothing)
            }
            guard known.insert(ExactText(name)).inserted else {
                throw CommandFailure(place + "two columns are named \"\(name)\"", status: .nothing)
            }
            names.append(name)
        }
        return names
    }

    /// Decides what the columns are: as `types` says, and for the others by a look at the whole input, which is then read from
    /// its first row again. Returns a line for each column of which there is something to say.
    mutating func decideKinds(_ types: [(name: String, kind: ColumnKind)], key: String) throws(CommandFailure)
        -> [String]
    {
        guard !isTextOnly else { return [] }
        var given: Set<Int> = []
        for (name, kind) in types {
            guard let column = columns.firstIndex(where: { ExactText($0) == ExactText(name) }) else {
                throw CommandFailure(
                    "--types: \(input.name) has no column \"\(name)\"; its columns are "
                        + columns.joined(separator: ", "), status: .usage)
            }
            given.insert(column)
            kinds[column] = kind
        }
        guard given.count < columns.count else { return [] }
        var survey = ColumnSurvey(columns, keyColumn: columns.firstIndex { ExactText($0) == ExactText(key) })
        let start = scanner
        try input.mark()
        try look(&survey)
        guard !Interruption.isRequested else { return [] }
        try input.rewind()
        scanner = start
        for (column, kind) in survey.kinds.enumerated() where !given.contains(column) { kinds[column] = kind }
        return survey.notes(except: given)
    }

    /// Rows that can't be imported count for nothing.
    private mutating func look(_ survey: inout ColumnSurvey) throws(CommandFailure) {
        var progress = ProgressBar()
        defer { progress.finish() }
        var rows = 0
        while let row = try scanner.next() {
            rows += 1
            if rows % 4096 == 0 { progress.update(done: input.bytesRead, total: input.size, entries: rows) }
            guard row.fault == nil, scanner.fields.count == columns.count else { continue }
            scanner.text.withUnsafeBytes { text in
                for (column, field) in scanner.fields.enumerated()
                where !field.isQuoted && !field.range.isEmpty {
                    let content = UnsafeRawBufferPointer(rebasing: text[field.range])
                    if content.first == UInt8(ascii: "\""),
                        FieldValue.escapedText(in: content, of: delimiting.table) != nil
                    {
                        continue
                    }
                    survey.look(at: content, column: column, line: scanner.rowLine)
                }
            }
        }
    }

    mutating func next(into writer: inout CBORWriter) throws(CommandFailure) -> ImportRecord? {
        guard let row = try scanner.next() else { return nil }
        let line = scanner.rowLine
        switch row {
        case .fields: break
        case .bad(let reason): return .bad(line: line, reason: reason)
        case .cut(let reason): return .cut(line: line, reason: reason)
        }
        guard scanner.fields.count == columns.count else {
            let found = Figures.count(scanner.fields.count, "field", "fields")
            let reason = "found \(found), the first row has \(columns.count)"
            // A whole row, but for what was behind it.
            let isCut = scanner.isAtEndOfLine || scanner.fields.count > columns.count
            return isCut ? .bad(line: line, reason: reason) : .cut(line: line, reason: reason)
        }
        writer.removeAll()
        return scanner.text.withUnsafeBytes { text in
            guard let fault = writeObject(text, into: &writer) else { return .value(line: line) }
            return .bad(line: line, reason: fault)
        }
    }

    /// Writes the row as a map. Returns why it can't.
    private func writeObject(_ text: UnsafeRawBufferPointer, into writer: inout CBORWriter) -> String? {
        let absent = isTextOnly ? 0 : scanner.fields.count { $0.range.isEmpty && !$0.isQuoted }
        writer.beginMap(count: columns.count - absent)
        for (column, field) in scanner.fields.enumerated()
        where isTextOnly || field.isQuoted || !field.range.isEmpty {
            let content = UnsafeRawBufferPointer(rebasing: text[field.range])
            guard Self.isUTF8(content) else { return "column \"\(columns[column])\" is not valid UTF-8" }
            writer.write(columns[column])
            do throws(JSONError) {
                if let expected = try write(
                    content, isQuoted: field.isQuoted, as: kinds[column], into: &writer)
                {
                    return "column \"\(columns[column])\" is no \(expected)"
                }
            } catch {
                return "column \"\(columns[column])\": \(error.reason)"
            }
        }
        return nil
    }

    /// Returns what the field should have been, if it isn't.
    private func write(
        _ field: UnsafeRawBufferPointer, isQuoted: Bool, as kind: ColumnKind, into writer: inout CBORWriter
    ) throws(JSONError) -> String? {
        switch kind {
        case .text: writer.write(utf8: field)
        case .mixedText: try FieldValue.readText(field, of: delimiting.table, into: &writer)
        case .spelled: try FieldValue.read(field, isQuoted: isQuoted, of: delimiting.table, into: &writer)
        case .number, .boolean:
            switch (FieldKind(field), kind) {
            case (.integer, .number), (.number, .number), (.boolean, .boolean), (.null, _):
                try FieldValue.read(field, isQuoted: false, of: delimiting.table, into: &writer)
            default: return kind == .number ? "number" : "true or false"
            }
        }
        return nil
    }

    private static func isUTF8(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.allSatisfy { $0 < 0x80 } || String(validating: bytes, as: UTF8.self) != nil
    }
}
