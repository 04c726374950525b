/// Reads all rows to find the type of each column: number only if all fields are. Quoted fields are texts. For one thread.
struct ColumnSurvey {
    struct Example {
        private static let longest = 40

        let text: String
        let line: Int

        init(_ field: some Collection<UInt8>, line: Int) {
            let beginning = String(decoding: field.prefix(Self.longest), as: UTF8.self)
            text = field.count > Self.longest ? beginning + "…" : beginning
            self.line = line
        }

        var description: String { "\(TerminalSafe.quoted(text)) (line \(line))" }
    }

    private struct Column {
        var number: Example?
        /// A number whose spelling would change when it is stored, such as 20.00.
        var respelled: Example?
        /// A JSON number that isn't an integer, so it can't be a key.
        var fraction: Example?
        /// A ``LocalNumber`` that isn't a JSON number.
        var local: Example?
        /// A number with different values for a decimal comma and a decimal point: 1,234.
        var ambiguous: Example?
        /// Fields that aren't numbers with a decimal comma or point.
        var noComma: Example?
        var noPoint: Example?
        /// Fractions with an unambiguous separator: 12,5 and 1,234.5, but not 1,234,567, which may be a list.
        var comma: Example?
        var point: Example?
        var word: Example?
        var null: Example?
        var container: Example?
        var text: Example?
        /// A text that is a number without surrounding spaces.
        var spaced: Example?
        var quotedNumber: Example?
        var quotedText: Example?
        var decision = Decision.plain
    }

    private enum Decision: Equatable {
        case plain
        case numbers(decimal: UInt8)
        /// Read as texts: the separator is ambiguous, or differs between fields.
        case ambiguous, unknown
        /// Read as texts, because `export` may have written them as texts.
        case kept
    }

    private static let comma = UInt8(ascii: ",")
    private static let point = UInt8(ascii: ".")
    private static let mostNotes = 20

    private let names: [String]
    private let keyColumn: Int?
    private let dialect: DelimitedDialect
    private var columns: [Column]

    init(_ names: [String], keyColumn: Int?, _ dialect: DelimitedDialect) {
        self.names = names
        self.keyColumn = keyColumn
        self.dialect = dialect
        columns = Array(repeating: Column(), count: names.count)
    }

    /// Surveys a field that is neither absent nor an escaped text.
    mutating func survey(_ field: UnsafeRawBufferPointer, column: Int, line: Int, isQuoted: Bool) {
        func keep(_ place: WritableKeyPath<Column, Example?>) {
            if columns[column][keyPath: place] == nil {
                columns[column][keyPath: place] = Example(field, line: line)
            }
        }
        if isQuoted {
            guard columns[column].quotedNumber == nil || columns[column].quotedText == nil else { return }
            let isNumber = FieldKind(field).isNumber || Self.isLocal(field)
            return keep(isNumber ? \.quotedNumber : \.quotedText)
        }
        // Further fields can't change the result.
        if columns[column].text != nil, columns[column].number != nil, columns[column].container != nil {
            return
        }
        switch FieldKind(field) {
        case .integer: keep(\.number)
        case .number(let isRespelled):
            keep(\.number)
            keep(\.fraction)
            if isRespelled { keep(\.respelled) }
            compare(field, keep)
        case .boolean: keep(\.word)
        case .null: keep(\.null)
        case .container: keep(\.container)
        case .text where (columns[column].text == nil || columns[column].local == nil) && Self.isLocal(field):
            keep(\.local)
            compare(field, keep)
        case .text:
            keep(\.text)
            guard field.first == 0x20 || field.last == 0x20 else { return }
            let isNumber = Array(field).trimmed.withUnsafeBytes { FieldKind($0).isNumber || Self.isLocal($0) }
            if isNumber { keep(\.spaced) }
        }
    }

    private static func isLocal(_ field: UnsafeRawBufferPointer) -> Bool {
        guard let first = field.first, first == UInt8(ascii: "-") || (first >= 0x30 && first <= 0x39) else {
            return false
        }
        return LocalNumber.json(field, decimal: comma) != nil
            || LocalNumber.json(field, decimal: point) != nil
    }

    /// Records which decimal separators a fraction may have: comma, point or both.
    private func compare(_ field: UnsafeRawBufferPointer, _ keep: (WritableKeyPath<Column, Example?>) -> Void)
    {
        guard !dialect.isOfExport else { return }
        let comma = LocalNumber.json(field, decimal: Self.comma)
        let point = LocalNumber.json(field, decimal: Self.point)
        if comma == nil { keep(\.noComma) }
        if point == nil { keep(\.noPoint) }
        if let comma, point == nil, comma.contains(Self.point) { keep(\.comma) }
        if let point, comma == nil, point.contains(Self.point) { keep(\.point) }
        if let comma, let point, comma != point { keep(\.ambiguous) }
    }

    /// Decides the type of non-JSON numbers after all rows.
    mutating func decide() {
        // A decimal comma or a semicolon anywhere makes points in other columns ambiguous.
        let hasCommas =
            dialect.delimiter == UInt8(ascii: ";")
            || columns.contains { $0.text == nil && $0.comma != nil && $0.noComma == nil }
        for index in columns.indices where index != keyColumn {
            columns[index].decision = decision(columns[index], hasCommas)
        }
    }

    private func decision(_ column: Column, _ hasCommas: Bool) -> Decision {
        if let decimal = dialect.decimal {
            guard column.local != nil || column.fraction != nil else { return .plain }
            let misfit = decimal == Self.comma ? column.noComma : column.noPoint
            return misfit == nil ? .numbers(decimal: decimal) : .unknown
        }
        guard column.local != nil || (hasCommas && column.ambiguous != nil) else { return .plain }
        if column.local != nil, dialect.isOfExport { return .kept }
        if column.noPoint == nil, column.point != nil {
            return column.local == nil ? .plain : .numbers(decimal: Self.point)
        }
        if column.noComma == nil, column.comma != nil { return .numbers(decimal: Self.comma) }
        return column.noComma == nil || column.noPoint == nil ? .ambiguous : .unknown
    }

    var kinds: [ColumnKind] {
        columns.indices.map { index in
            let column = columns[index]
            if column.text != nil { return .mixedText }
            guard index == keyColumn else {
                switch column.decision {
                case .plain: return .spelled
                case .numbers(let decimal):
                    return column.word == nil && column.container == nil
                        ? .localNumber(decimal: decimal) : .mixedText
                case .ambiguous, .unknown, .kept: return .mixedText
                }
            }
            // A key is a text, or an integer in its canonical spelling.
            let others = [column.local, column.fraction, column.word, column.null]
            return others.allSatisfy { $0 == nil } ? .spelled : .mixedText
        }
    }

    /// A line for each mixed column: its type, the reason and the option for another type.
    func notes(except given: Set<Int>) -> [String] {
        var notes = columns.indices.filter { !given.contains($0) }.compactMap(note)
        let more = notes.count - Self.mostNotes
        if more > 0 {
            notes =
                notes.prefix(Self.mostNotes) + [
                    "and \(Figures.count(more, "other column is", "other columns are")) mixed or respelled"
                ]
        }
        return notes
    }

    private func note(_ index: Int) -> String? {
        let column = columns[index]
        let name = "column " + TerminalSafe.quoted(names[index])
        func option(_ kind: String) -> String { "--types \(ShellWord.quoted("\(names[index])=\(kind)"))" }
        if let spaced = column.spaced {
            return "\(name) is text: \(spaced.description) has surrounding spaces; --trim removes them"
        }
        if index == keyColumn, kinds[index] == .mixedText {
            guard let other = column.fraction ?? column.local ?? column.word ?? column.null ?? column.text,
                column.text == nil || column.number != nil || column.word != nil || column.null != nil
            else { return nil }
            return "\(name), the key column, is text: \(other.description) isn't an integer"
        }
        if let text = column.text {
            if column.number != nil || column.local != nil {
                return
                    "\(name) has mixed types and is read as text: \(text.description) isn't a JSON number; "
                    + "\(option("number")) reads the numbers and skips the other rows"
            }
            if column.word != nil {
                return
                    "\(name) has mixed types and is read as text: \(text.description) is neither true nor false; "
                    + "\(option("boolean")) reads these and skips the other rows"
            }
            if column.null != nil { return "\(name) is text; its nulls become the text null" }
            guard column.container != nil else { return noteOfQuotes(column, name) }
            return "\(name) has mixed types: JSON arrays and objects are read as such, other fields as text; "
                + "\(option("text")) reads all as text"
        }
        if let note = noteOfDecision(column, name) { return "\(note); \(option("text")) reads all as text" }
        if column.number != nil, column.word != nil {
            return "\(name) has mixed types: numbers, and true or false; \(option("text")) reads all as text"
        }
        if let note = noteOfQuotes(column, name) { return note }
        guard let respelled = column.respelled else { return nil }
        return "\(name) has numbers: the spelling of \(respelled.description) is not kept; "
            + "\(option("text")) keeps it"
    }

    private func noteOfDecision(_ column: Column, _ name: String) -> String? {
        let example = column.local ?? column.ambiguous ?? column.fraction
        guard let said = example?.description else { return nil }
        let advice = "--decimal , or --decimal . reads numbers"
        switch column.decision {
        case .plain: return nil
        case .numbers(let decimal):
            if column.word != nil || column.container != nil {
                return "\(name) has mixed types and is read as text: \(said) is a number, unlike other fields"
            }
            if let note = noteOfQuotes(column, name) { return note }
            let separator = decimal == Self.comma ? "comma" : "point"
            return column.local == nil && decimal == Self.point
                ? nil : "\(name) has numbers with a decimal \(separator), such as \(said)"
        case .ambiguous:
            return "\(name) is text: \(said) may have a decimal separator or thousands; \(advice)"
        case .kept: return "\(name) is text: \(said) may be a number; \(advice)"
        case .unknown:
            let misfit =
                (dialect.decimal == Self.comma ? column.noComma : column.noPoint)?.description ?? said
            return
                "\(name) has mixed types and is read as text: \(misfit) has another decimal separator than other fields"
        }
    }

    private func noteOfQuotes(_ column: Column, _ name: String) -> String? {
        guard let number = column.quotedNumber else {
            guard let text = column.quotedText, let other = column.number ?? column.word ?? column.local
            else { return nil }
            return
                "\(name) has mixed types: \(other.description), and texts in quotes such as \(text.description)"
        }
        if let other = column.number ?? column.word ?? column.local {
            return
                "\(name) has mixed types: \(other.description), and texts in quotes such as \(number.description); "
                + "--decimal . or --decimal , reads those in quotes as numbers"
        }
        guard column.quotedText == nil, column.text == nil else { return nil }
        return "\(name) is text: its numbers are in quotes, such as \(number.description); "
            + "--decimal . or --decimal , reads them as numbers"
    }
}
