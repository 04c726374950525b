import CBOR

/// Reads CSV or TSV; each row is an object of the columns' names. For one thread.
struct DelimitedReader: RecordReader {
    let columns: [String]
    let dialect: DelimitedDialect
    /// A message about the dialect; nil for the format's default.
    let remark: String?
    private var scanner: DelimitedScanner
    private let input: InputBuffer
    private let table: DelimitedText
    /// Whether every field is read as text, including empty ones.
    private let isTextOnly: Bool
    private var kinds: [ColumnKind]
    private var hasRow = false
    /// The fields of the first row, if it names the columns.
    private var header: [(name: [UInt8], isQuoted: Bool)] = []
    /// The line `sep=` before the header.
    private let separatorLine: DialectDetection.SeparatorLine?
    /// Skipped rows that equal the header or the line `sep=` before it.
    private(set) var repeatedHeaders = 0
    /// A TSV field whose leading quote was kept.
    private(set) var keptQuote: ColumnSurvey.Example?

    /// Reads the first row and numbers repeated names.
    /// - Parameters:
    ///   - usual: the format's delimiter.
    ///   - wanted: required columns, which decide the delimiter.
    /// - Throws: if a name isn't text, or if several delimiters fit.
    init(
        _ input: InputBuffer, _ usual: UInt8, isTextOnly: Bool, _ options: DelimitedDialect.Options = .init(),
        wanted: [String] = []
    ) throws(CommandFailure) {
        let detection = try DialectDetection(input, usual: usual, options, wanted: wanted)
        self.input = input
        self.isTextOnly = isTextOnly
        dialect = detection.dialect
        table = dialect.table
        separatorLine = detection.separatorLine
        scanner = DelimitedScanner(input, dialect, line: separatorLine == nil ? 1 : 2)
        var remarks = detection.remarks
        switch options.header {
        case .names(let names): columns = names
        case .none:
            hasRow = try scanner.next() != nil
            columns = hasRow ? (1...max(1, scanner.fields.count)).map { "column\($0)" } : []
        case .row:
            let names = try Self.names(&scanner, input.name, dialect)
            columns = names.distinct
            let row = scanner
            header = row.fields.map { (Array(row.text[$0.range]), $0.isQuoted) }
            remarks += Self.remarks(names, columns)
        }
        remark = remarks.isEmpty ? nil : "\(input.name): " + remarks.joined(separator: "; ")
        kinds = Array(repeating: isTextOnly ? .text : .spelled, count: columns.count)
    }

    private static func names(
        _ scanner: inout DelimitedScanner, _ file: String, _ dialect: DelimitedDialect
    ) throws(CommandFailure) -> [String] {
        guard let row = try scanner.next() else { return [] }
        let place = "\(file):\(scanner.rowLine): "
        if let fault = row.fault { throw CommandFailure(place + fault, status: .nothing) }
        var names: [String] = []
        for field in scanner.fields {
            let content = Array(scanner.text[field.range])
            guard String(validating: content, as: UTF8.self) != nil else {
                throw CommandFailure(
                    place + "the name of column \(names.count + 1) is not valid UTF-8", status: .nothing)
            }
            names.append(name(content, dialect))
        }
        return names
    }

    static func name(_ field: [UInt8], _ dialect: DelimitedDialect) -> String {
        let escaped =
            dialect.quoting == .escapes
            ? field.withUnsafeBytes { FieldValue.escapedText(in: $0, of: dialect.table) } : nil
        return escaped ?? String(decoding: field, as: UTF8.self)
    }

    private static let mostNamed = 5

    private static func remarks(_ names: [String], _ columns: [String]) -> [String] {
        func list(_ texts: [String]) -> String {
            let more = texts.count > mostNamed ? " and \(Figures.count(texts.count - mostNamed)) more" : ""
            return texts.prefix(mostNamed).joined(separator: ", ") + more
        }
        func quoted(_ name: String) -> String {
            TerminalSafe.quoted(ColumnSurvey.Example(Array(name.utf8), line: 1).text)
        }
        let renamed = zip(names, columns).enumerated().filter { ExactText($1.0) != ExactText($1.1) }
            .map { "column \($0 + 1) is \(quoted($1.1))" }
        let spaced = names.filter { $0.utf8.first == 0x20 || $0.utf8.last == 0x20 }.map(quoted)
        return (renamed.isEmpty ? [] : ["repeated names get numbers: " + list(renamed)])
            + (spaced.isEmpty ? [] : ["names keep spaces that --trim removes: " + list(spaced)])
    }

    /// Sets the columns' kinds from `types` or a survey of the whole input. Returns a line for each mixed column.
    mutating func decideKinds(_ types: [(name: String, kind: ColumnKind)], key: String) throws(CommandFailure)
        -> [String]
    {
        guard !isTextOnly else { return [] }
        var given: Set<Int> = []
        let places = Dictionary(uniqueKeysWithValues: columns.enumerated().map { (ExactText($1), $0) })
        for (name, kind) in types {
            guard let column = places[ExactText(name)] else {
                throw CommandFailure(
                    "--types: \(input.name) has no column \"\(name)\"; its columns are "
                        + columns.joined(separator: ", "), status: .usage)
            }
            given.insert(column)
            kinds[column] = kind
        }
        guard given.count < columns.count else { return [] }
        var survey = ColumnSurvey(columns, keyColumn: places[ExactText(key)], dialect)
        let (start, hadRow) = (scanner, hasRow)
        try input.mark()
        try examine(&survey)
        guard !Interruption.isRequested else { return [] }
        try input.rewind()
        survey.decide()
        (scanner, hasRow, repeatedHeaders) = (start, hadRow, 0)
        for (column, kind) in survey.kinds.enumerated() where !given.contains(column) { kinds[column] = kind }
        return survey.notes(except: given)
    }

    private mutating func nextRow() throws(CommandFailure) -> DelimitedScanner.Row? {
        if hasRow {
            hasRow = false
            return .fields
        }
        while let row = try scanner.next() {
            guard row.fault == nil, repeatsHeader || repeatsSeparatorLine else { return row }
            repeatedHeaders += 1
        }
        return nil
    }

    private var repeatsHeader: Bool {
        scanner.fields.count == header.count
            && zip(scanner.fields, header).allSatisfy {
                $0.isQuoted == $1.isQuoted && scanner.text[$0.range].elementsEqual($1.name)
            } && !(scanner.followsEmptyLine && mayEntryEqualHeader)
    }

    /// Whether `export` writes an empty line before an entry that equals the header, because quotes can't make it differ.
    private var mayEntryEqualHeader: Bool {
        guard case .enclosing = dialect.quoting else { return true }
        return header.allSatisfy { $0.name.withUnsafeBytes { FieldValue.needsQuotes($0, in: table) } }
    }

    private var repeatsSeparatorLine: Bool {
        guard let line = separatorLine, let field = scanner.fields.first, field.isQuoted == line.isQuoted
        else { return false }
        let content = scanner.text[field.range]
        guard !line.isQuoted, dialect.delimiter == line.delimiter else {
            return scanner.fields.count == 1 && content.elementsEqual(line.text.utf8)
        }
        return content.elementsEqual("sep=".utf8) && scanner.fields.count == 2
            && scanner.fields[1].range.isEmpty && !scanner.fields[1].isQuoted
    }

    /// Passes all fields to the survey. Ignores rows that can't be imported.
    private mutating func examine(_ survey: inout ColumnSurvey) throws(CommandFailure) {
        var progress = ProgressBar()
        defer { progress.finish() }
        var rows = 0
        while let row = try nextRow() {
            rows += 1
            if rows % 4096 == 0 { progress.update(done: input.bytesRead, total: input.size, entries: rows) }
            guard row.fault == nil, scanner.fields.count == columns.count else { continue }
            scanner.text.withUnsafeBytes { text in
                for (column, field) in scanner.fields.enumerated() where !isAbsent(field) {
                    let content = UnsafeRawBufferPointer(rebasing: text[field.range])
                    if !dialect.isQuoted(field), isEscaped(content) { continue }
                    survey.survey(
                        content, column: column, line: scanner.rowLine, isQuoted: dialect.isQuoted(field))
                }
            }
        }
    }

    mutating func next(into writer: inout CBORWriter) throws(CommandFailure) -> ImportRecord? {
        guard let row = try nextRow() else { return nil }
        let line = scanner.rowLine
        switch row {
        case .fields: break
        case .bad(let reason): return .bad(line: line, reason: reason)
        case .cut(let reason): return .cut(line: line, reason: reason)
        }
        guard scanner.fields.count == columns.count else {
            let found = Figures.count(scanner.fields.count, "field", "fields")
            let reason = "found \(found), expected \(columns.count)"
            // The row is complete; the fault follows it.
            let isCut = scanner.isAtEndOfLine || scanner.fields.count > columns.count
            return isCut ? .bad(line: line, reason: reason) : .cut(line: line, reason: reason)
        }
        writer.removeAll()
        let (fault, quoted) = scanner.text.withUnsafeBytes { writeObject($0, into: &writer) }
        if keptQuote == nil, let quoted {
            keptQuote = ColumnSurvey.Example(Array(scanner.text[quoted]), line: line)
        }
        return fault.map { .bad(line: line, reason: $0) } ?? .value(line: line)
    }

    private func isEscaped(_ field: UnsafeRawBufferPointer) -> Bool {
        field.first == UInt8(ascii: "\"") && FieldValue.escapedText(in: field, of: table) != nil
    }

    private func isAbsent(_ field: DelimitedScanner.Field) -> Bool {
        !isTextOnly && field.range.isEmpty && !dialect.isQuoted(field)
    }

    /// Writes the row as a map. Returns the fault, if any, and the field with a kept quote.
    private func writeObject(
        _ text: UnsafeRawBufferPointer, into writer: inout CBORWriter
    ) -> (fault: String?, keptQuote: Range<Int>?) {
        writer.beginMap(count: columns.count - scanner.fields.count(where: isAbsent))
        var quoted: Range<Int>?
        for (column, field) in scanner.fields.enumerated() where !isAbsent(field) {
            let content = UnsafeRawBufferPointer(rebasing: text[field.range])
            guard Self.isUTF8(content) else {
                return ("column \"\(columns[column])\" is not valid UTF-8", nil)
            }
            writer.write(isTextOnly ? .text(columns[column]) : ByteText.value(of: columns[column]))
            if dialect.quoting == .escapes, content.first == UInt8(ascii: "\"") {
                if kinds[column] == .text, let text = FieldValue.escapedText(in: content, of: table) {
                    writer.write(text)
                    continue
                }
                if !isEscaped(content) { quoted = quoted ?? field.range }
            }
            do throws(JSONError) {
                if let expected = try write(
                    content, isQuoted: dialect.isQuoted(field), as: kinds[column], into: &writer)
                {
                    return ("column \"\(columns[column])\" is not \(expected)", nil)
                }
            } catch {
                return ("column \"\(columns[column])\": \(error.reason)", nil)
            }
        }
        return (nil, quoted)
    }

    /// Returns the expected type if the field doesn't fit.
    private func write(
        _ field: UnsafeRawBufferPointer, isQuoted: Bool, as kind: ColumnKind, into writer: inout CBORWriter
    ) throws(JSONError) -> String? {
        func number(_ decimal: UInt8) throws(JSONError) -> Bool {
            guard let number = LocalNumber.json(field, decimal: decimal) else { return false }
            try number.withUnsafeBufferPointer { (content) throws(JSONError) in
                try FieldValue.read(
                    UnsafeRawBufferPointer(content), isQuoted: false, of: table, into: &writer)
            }
            return true
        }
        switch (kind, FieldKind(field)) {
        case (.localNumber, _) where isQuoted: try FieldValue.readText(field, of: table, into: &writer)
        case (.text, _): writer.write(utf8: field)
        case (.mixedText, _): try FieldValue.readText(field, of: table, into: &writer)
        case (.spelled, _): try FieldValue.read(field, isQuoted: isQuoted, of: table, into: &writer)
        case (_, .null), (.boolean, .boolean):
            try FieldValue.read(field, isQuoted: false, of: table, into: &writer)
        case (.boolean, _): return "true or false"
        case (.localNumber(let decimal), _): return try number(decimal) ? nil : "a number"
        case (.number, let found):
            if let decimal = dialect.decimal { return try number(decimal) ? nil : "a number" }
            guard found.isNumber else { return "a number" }
            try FieldValue.read(field, isQuoted: false, of: table, into: &writer)
        }
        return nil
    }

    private static func isUTF8(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.allSatisfy { $0 < 0x80 } || String(validating: bytes, as: UTF8.self) != nil
    }
}

extension DelimitedDialect {
    /// Whether quotes make the field a text.
    fileprivate func isQuoted(_ field: DelimitedScanner.Field) -> Bool { field.isQuoted && !ignoresQuotes }
}
