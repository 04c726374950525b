import ArgumentParser
import StoreInspection

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

extension InputBuffer {
    /// Skips a UTF-8 byte order mark. Throws if the text is UTF-16 or UTF-32, with or without a mark.
    func skipByteOrderMark() throws(CommandFailure) {
        try fill(to: 4)
        if unread.starts(with: [0xef, 0xbb, 0xbf]) { return consume(3) }
        guard let encoding = wideEncoding else { return }
        throw CommandFailure(
            "\(name) is \(encoding) text; convert it to UTF-8: iconv -f \(encoding) -t UTF-8",
            status: .nothing)
    }

    /// Detects zero bytes beside ASCII characters.
    private var wideEncoding: String? {
        if unread.starts(with: [0xff, 0xfe, 0, 0]) || unread.starts(with: [0, 0, 0xfe, 0xff]) {
            return "UTF-32"
        }
        if unread.starts(with: [0xff, 0xfe]) || unread.starts(with: [0xfe, 0xff]) { return "UTF-16" }
        let pairs = min(unread.count, 512) / 2
        let zeros = [0, 1].map { half in (0..<pairs).count { unread[2 * $0 + half] == 0 } }
        if zeros[0] == 0, zeros[1] * 4 > pairs * 3 { return "UTF-16LE" }
        if zeros[1] == 0, zeros[0] * 4 > pairs * 3 { return "UTF-16BE" }
        return nil
    }
}
