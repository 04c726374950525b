extension FileFormat: ExpressibleByArgument {}

extension FileFormat {
    /// By the file's name, else by the first byte that isn't white space: `[` an array, `{` lines.
    static func recognize(_ input: InputBuffer) throws(CommandFailure) -> FileFormat {
        if let format = FileFormat(fileName: input.name) { return format }
        var length = 1
        while true {
            try input.fill(to: length)
            if let first = input.unread.first(where: { !JSONSyntax.isWhitespace($0) }) {
                if first == UInt8(ascii: "[") { return .json }
                if first == UInt8(ascii: "{") { return .ndjson }
                throw CommandFailure(
                    "\(input.name): unknown format; "
                        + "pass --format ndjson, json, csv or tsv", status: .usage)
            }
            // An empty input has no records in any format.
            guard input.unread.count >= length else { return .ndjson }
            length = input.unread.count + 1
        }
    }

    /// A reader of the input's records. Skips a byte order mark.
    func reader(
        of input: InputBuffer, isTextOnly: Bool, _ options: DelimitedDialect.Options = .init(),
        wanted: [String] = []
    ) throws(CommandFailure) -> any RecordReader {
        switch self {
        case .ndjson: return ValueReader(input)
        case .json: return ArrayReader(input)
        case .csv, .tsv:
            let usual = UInt8(ascii: self == .csv ? "," : "\t")
            return try DelimitedReader(input, usual, isTextOnly: isTextOnly, options, wanted: wanted)
        }
    }
}
