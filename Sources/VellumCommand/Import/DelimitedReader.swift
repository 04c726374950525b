import CBOR
import StorageEngine
import StoreInspection

/// For one thread. Reads CSV or TSV: the first row names the properties, every further row is an object.
struct DelimitedReader: RecordReader {
    /// The names in the first row.
    let columns: [String]
    private var scanner: DelimitedScanner
    /// Whether every field is taken as text, see ``FieldValue`` for what it means otherwise.
    private let isTextOnly: Bool

    /// Reads the first row. Throws if there is none, if two of its names are equal, or if it isn't text.
    init(_ input: InputBuffer, _ delimiting: Delimiting, isTextOnly: Bool) throws(CommandFailure) {
        var scanner = DelimitedScanner(input, delimiting)
        guard let row = try scanner.next() else {
            self.scanner = scanner
            self.isTextOnly = isTextOnly
            columns = []
            return
        }
        let place = "\(input.name):\(scanner.rowLine): "
        if case .bad(let reason) = row { throw CommandFailure(place + reason, status: .nothing) }
        var names: [String] = []
        var known: Set<ExactText> = []
        for field in scanner.fields {
            guard let name = String(validating: scanner.text[field.range], as: UTF8.self) else {
                throw CommandFailure(
                    place + "the names of the properties are not valid UTF-8", status: .nothing)
            }
            guard known.insert(ExactText(name)).inserted else {
                throw CommandFailure(place + "two columns are named \"\(name)\"", status: .nothing)
            }
            names.append(name)
        }
        self.scanner = scanner
        self.isTextOnly = isTextOnly
        columns = names
    }

    mutating func next(into writer: inout CBORWriter) throws(CommandFailure) -> ImportRecord? {
        guard let row = try scanner.next() else { return nil }
        let line = scanner.rowLine
        if case .bad(let reason) = row { return .bad(line: line, reason: reason) }
        guard scanner.fields.count == columns.count else {
            let found = Figures.count(scanner.fields.count, "field", "fields")
            return .bad(line: line, reason: "found \(found), the first row has \(columns.count)")
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
        for (name, field) in zip(columns, scanner.fields) {
            let content = UnsafeRawBufferPointer(rebasing: text[field.range])
            guard Self.isUTF8(content) else { return "column \"\(name)\" is not valid UTF-8" }
            if isTextOnly {
                writer.write(name)
                writer.write(utf8: content)
            } else if field.isQuoted || !field.range.isEmpty {
                writer.write(name)
                FieldValue.read(content, isQuoted: field.isQuoted, into: &writer)
            }
        }
        return nil
    }

    private static func isUTF8(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.allSatisfy { $0 < 0x80 } || String(validating: bytes, as: UTF8.self) != nil
    }
}
