import ArgumentParser
import StoreInspection

extension FileFormat: ExpressibleByArgument {}

extension FileFormat {
    /// What the name says, else what the first byte that isn't white space says: `[` an array, `{` lines.
    static func recognize(_ input: InputBuffer) throws(CommandFailure) -> FileFormat {
        if let format = FileFormat(fileName: input.name) { return format }
        var length = 1
        while true {
            try input.fill(to: length)
            if let first = input.unread.first(where: { !JSONSyntax.isWhitespace($0) }) {
                if first == UInt8(ascii: "[") { return .json }
                if first == UInt8(ascii: "{") { return .ndjson }
                throw CommandFailure(
                    "\(input.name): neither its name nor its content tells what it is; "
                        + "say --format ndjson, json, csv or tsv", status: .usage)
            }
            // An input without anything has no records in any format.
            guard input.unread.count >= length else { return .ndjson }
            length = input.unread.count + 1
        }
    }

    /// A reader of the input's records. A byte order mark before them is dropped.
    func reader(of input: InputBuffer, isTextOnly: Bool) throws(CommandFailure) -> any RecordReader {
        switch self {
        case .ndjson: ValueReader(input)
        case .json: ArrayReader(input)
        case .csv: try DelimitedReader(input, .commas, isTextOnly: isTextOnly)
        case .tsv: try DelimitedReader(input, .tabs, isTextOnly: isTextOnly)
        }
    }
}

extension InputBuffer {
    /// Drops a UTF-8 byte order mark. Throws if there is one of UTF-16.
    func skipByteOrderMark() throws(CommandFailure) {
        try fill(to: 3)
        if unread.starts(with: [0xef, 0xbb, 0xbf]) { consume(3) }
        if unread.starts(with: [0xff, 0xfe]) || unread.starts(with: [0xfe, 0xff]) {
            throw CommandFailure("\(name) is UTF-16 text; convert it to UTF-8", status: .nothing)
        }
    }
}
