struct DelimitedArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "CSV and TSV: the character between fields, or tab (default: detected).", valueName: "character"),
        transform: { text throws(ValidationError) in
            if text == "tab" || text == "\\t" { return UInt8(ascii: "\t") }
            return try character(text, "--delimiter", excluding: "\"\r\n")
        })
    var delimiter: UInt8?

    @Option(
        help: ArgumentHelp(
            "CSV and TSV: the character around fields, or none (default: detected).", valueName: "character"),
        transform: { text throws(ValidationError) in
            text == "none" ? .none : .enclosing(try character(text, "--quote", excluding: " \t\r\n"))
        })
    var quote: DelimitedDialect.Quoting?

    @Option(
        help: ArgumentHelp(
            "CSV and TSV: the decimal separator, . or ,; the other separates thousands, also in quotes.",
            valueName: "character"),
        transform: { text throws(ValidationError) in
            guard text == "." || text == "," else { throw ValidationError("--decimal must be . or ,") }
            return try character(text, "--decimal", excluding: "")
        })
    var decimal: UInt8?

    @Flag(help: "CSV and TSV: remove spaces around fields.")
    var trim = false

    @Option(
        help: ArgumentHelp(
            "CSV and TSV: yes if the first row names the columns, no, or the names.",
            valueName: "yes|no|name,…"),
        transform: { text throws(ValidationError) in
            switch text {
            case "yes": return .row
            case "no": return .none
            default:
                let names = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
                if names.distinct != names { throw ValidationError("--header has duplicate names") }
                return .names(names)
            }
        })
    var header: DelimitedDialect.Header?

    var isEmpty: Bool { delimiter == nil && quote == nil && decimal == nil && !trim && header == nil }

    var options: DelimitedDialect.Options {
        DelimitedDialect.Options(
            delimiter: delimiter, quote: quote, decimal: decimal, trims: trim, header: header ?? .row)
    }
}

private func character(_ text: String, _ option: String, excluding: String) throws(ValidationError) -> UInt8 {
    guard let byte = text.utf8.first, text.utf8.count == 1, byte > 0, byte < 0x80,
        !excluding.utf8.contains(byte)
    else { throw ValidationError("\(option) must be one ASCII character") }
    return byte
}
