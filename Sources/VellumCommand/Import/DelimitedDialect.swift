import StoreInspection

/// Sendable value type. How a file spells rows and fields: what its options and its beginning say.
struct DelimitedDialect: Sendable {
    /// The options of a command; nil: the file decides.
    struct Options: Sendable {
        var delimiter: UInt8?
        var quote: Quoting?
        var decimal: UInt8?
        var trims = false
        var header = Header.row
    }

    enum Quoting: Sendable, Equatable {
        case enclosing(UInt8)
        /// A quote is a character like any other, but for the JSON strings that `export` writes in TSV.
        case escapes
        /// A quote is a character like any other.
        case none
    }

    enum Header: Sendable, Equatable {
        /// The first row names the columns.
        case row
        /// The first row is data, and the columns are `column1` and so on.
        case none
        /// The first row is data, and these are the names.
        case names([String])
    }

    var delimiter: UInt8
    var quoting: Quoting
    /// Whether spaces around fields belong to none of them.
    var trims = false
    /// Whether a field in quotes is taken like one without, as in files in which all are quoted.
    var ignoresQuotes = false
    /// What separates whole numbers from fractions; nil: a point as in JSON, and in each column what its fields prove.
    var decimal: UInt8?

    /// Whether `export` writes files like this one, in which a text may look like a number of another spelling.
    var isOfExport: Bool {
        !ignoresQuotes && (delimiter == UInt8(ascii: ",") || delimiter == UInt8(ascii: "\t"))
    }

    /// What spells fields so.
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

    /// The delimiter as a message names it.
    static func name(of delimiter: UInt8) -> String {
        byName.first { $0.byte == delimiter }?.name
            ?? TerminalSafe.quoted(String(UnicodeScalar(delimiter)))
    }
}
