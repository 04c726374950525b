import StoreInspection

/// For one thread. Looks at all rows of a table and decides, column by column, what the fields without quotes are taken for.
///
/// A column is numbers only if all its fields are. Decided field by field, 19.99 and 20.00 became a number and a text, and
/// sums lost rows. Fields in quotes are texts in any case, so that what `export` writes comes back equal.
struct ColumnSurvey {
    /// A field as it was found.
    struct Example {
        let text: String
        let line: Int
    }

    /// What a column's fields without quotes spell.
    private struct Column {
        var number: Example?
        /// A number that is spelled otherwise once it has been read: 20.00.
        var respelled: Example?
        /// A number that is no integer as JSON spells it, and so no key.
        var fraction: Example?
        var word: Example?
        var null: Example?
        var container: Example?
        var text: Example?
    }

    private static let longestExample = 40
    private static let mostNotes = 20

    private let names: [String]
    /// The column of the keys.
    private let keyColumn: Int?
    private var columns: [Column]

    init(_ names: [String], keyColumn: Int?) {
        self.names = names
        self.keyColumn = keyColumn
        columns = Array(repeating: Column(), count: names.count)
    }

    /// Looks at a field that is neither empty nor in quotes.
    mutating func look(at field: UnsafeRawBufferPointer, column: Int, line: Int) {
        // Nothing that comes can change what is known by now.
        if columns[column].text != nil, columns[column].number != nil, columns[column].container != nil {
            return
        }
        func example() -> Example {
            let beginning = String(decoding: field.prefix(Self.longestExample), as: UTF8.self)
            return Example(text: field.count > Self.longestExample ? beginning + "…" : beginning, line: line)
        }
        func keep(_ place: WritableKeyPath<Column, Example?>) {
            if columns[column][keyPath: place] == nil { columns[column][keyPath: place] = example() }
        }
        switch FieldKind(field) {
        case .integer: keep(\.number)
        case .number(let isRespelled):
            keep(\.number)
            keep(\.fraction)
            if isRespelled { keep(\.respelled) }
        case .boolean: keep(\.word)
        case .null: keep(\.null)
        case .container: keep(\.container)
        case .text: keep(\.text)
        }
    }

    /// What each column is taken for.
    var kinds: [ColumnKind] {
        columns.indices.map { index in
            let column = columns[index]
            if column.text != nil { return .mixedText }
            guard index == keyColumn else { return .spelled }
            // A key is a text, or an integer that gives its spelling back.
            let isInteger = column.fraction == nil && column.word == nil && column.null == nil
            return isInteger ? .spelled : .mixedText
        }
    }

    /// A line for each column that isn't uniform: what it was taken for, why, and how to say otherwise.
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
        let name = TerminalSafe.quoted(names[index])
        func option(_ kind: String) -> String { "--types \(ShellWord.quoted("\(names[index])=\(kind)"))" }
        if index == keyColumn, kinds[index] == .mixedText {
            guard let other = column.fraction ?? column.word ?? column.null ?? column.text,
                column.text == nil || column.number != nil || column.word != nil || column.null != nil
            else { return nil }
            return "column \(name), the keys, is text: \(said(other)) is no integer"
        }
        if let text = column.text {
            if column.number != nil {
                return
                    "column \(name) is mixed and stays text: \(said(text)) is no number as JSON spells it; "
                    + "\(option("number")) takes the numbers and passes over the other rows"
            }
            if column.word != nil {
                return "column \(name) is mixed and stays text: \(said(text)) is neither true nor false; "
                    + "\(option("boolean")) takes these and passes over the other rows"
            }
            if column.null != nil {
                return "column \(name) is text, and so is each null in it"
            }
            guard column.container != nil else { return nil }
            return
                "column \(name) is mixed: what is a JSON array or object is read as that, the rest is text; "
                + "\(option("text")) makes all text"
        }
        if column.number != nil, column.word != nil {
            return "column \(name) is mixed: numbers, and true or false; \(option("text")) makes all text"
        }
        guard let respelled = column.respelled else { return nil }
        return "column \(name) is numbers: the spelling of \(said(respelled)) is not kept; "
            + "\(option("text")) keeps it"
    }

    private func said(_ example: Example) -> String {
        "\(TerminalSafe.quoted(example.text)) (line \(example.line))"
    }
}
