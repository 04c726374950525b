struct DelimitedDialect: Sendable {
    /// The options of a command; nil: detect.
    struct Options: Sendable {
        var delimiter: UInt8?
        var quote: Quoting?
        var decimal: UInt8?
        var trims = false
        var header = Header.row
    }

    enum Quoting: Sendable, Equatable {
        case enclosing(UInt8)
        /// Quotes are ordinary characters, except around the JSON strings that `export` writes in TSV.
        case escapes
        /// Quotes are ordinary characters.
        case none
    }

    enum Header: Sendable, Equatable {
        case row
        /// The first row is data; the columns are `column1` and so on.
        case none
        /// The first row is data; the columns have these names.
        case names([String])
    }

    var delimiter: UInt8
    var quoting: Quoting
    var trims = false
    /// Whether quoted fields are typed like unquoted ones, for files that quote all.
    var ignoresQuotes = false
    /// The decimal separator; nil: a point as in JSON, or by evidence in each column.
    var decimal: UInt8?

    /// Whether `export` writes this dialect; then a text may look like a non-JSON number.
    var isOfExport: Bool {
        !ignoresQuotes && (delimiter == UInt8(ascii: ",") || delimiter == UInt8(ascii: "\t"))
    }

    /// The settings for writing rows in this dialect.
    var table: DelimitedText {
        var table = DelimitedText(separator: delimiter)
        if case .enclosing = quoting { table.hasQuotes = true } else { table.hasQuotes = false }
        table.hasEscapes = quoting != .none
        return table
    }

    static let byName: [(byte: UInt8, name: String)] = [
        (UInt8(ascii: ","), "commas"), (UInt8(ascii: ";"), "semicolons"), (UInt8(ascii: "\t"), "tabs"),
        (UInt8(ascii: "|"), "bars"), (UInt8(ascii: "^"), "carets"),
    ]

    static func name(of delimiter: UInt8) -> String {
        byName.first { $0.byte == delimiter }?.name ?? TerminalSafe.quoted(String(UnicodeScalar(delimiter)))
    }
}
