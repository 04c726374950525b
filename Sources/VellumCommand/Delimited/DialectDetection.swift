/// Detects the delimiter and quotes of a file from its first mebibyte. The delimiter must produce the required column names or,
/// without a header, rows of equal length; ambiguity is refused. For one thread.
struct DialectDetection {
    private static let mostRows = 100
    private static let quotes = [UInt8(ascii: "\""), UInt8(ascii: "'")]

    let dialect: DelimitedDialect
    /// Differences from the format, for a message.
    private(set) var remarks: [String] = []
    /// A line `sep=;` as spreadsheets write it; `length` includes the line end.
    typealias SeparatorLine = (delimiter: UInt8, text: String, isQuoted: Bool, length: Int)
    /// The separator line before the header, if present.
    private(set) var separatorLine: SeparatorLine?

    private typealias Candidate = (dialect: DelimitedDialect, rows: Rows)

    /// The sample's rows in one dialect.
    private struct Rows {
        var fields: [[DelimitedScanner.Field]] = []
        var texts: [[[UInt8]]] = []
        var hasFault = false

        var header: [[UInt8]] { texts.first ?? [] }
        var isEven: Bool { !hasFault && texts.allSatisfy { $0.count == header.count } }
    }

    /// - Parameters:
    ///   - usual: the format's delimiter.
    ///   - wanted: required columns.
    /// - Throws: if several delimiters fit.
    init(
        _ input: InputBuffer, usual: UInt8, _ options: DelimitedDialect.Options, wanted: [String]
    ) throws(CommandFailure) {
        try input.fill(to: InputBuffer.chunkBytes)
        var usual = usual
        var given = options.delimiter
        if let line = Self.separatorLine(input.unread), !wanted.contains(line.text) {
            input.consume(line.length)
            separatorLine = line
            if given == nil { remarks.append("the line \(line.text) names the delimiter") }
            (usual, given) = (line.delimiter, given ?? line.delimiter)
        }
        var sample = Array(input.unread.prefix(InputBuffer.chunkBytes))
        let isWhole = sample.count < InputBuffer.chunkBytes - 10
        // Drop the incomplete last line.
        if !isWhole, let end = sample.lastIndex(of: 0x0a) { sample.removeLast(sample.count - end - 1) }
        let all = given.map { [$0] } ?? [usual] + DelimitedDialect.byName.map(\.byte).filter { $0 != usual }
        let delimiters = all.filter { options.quote != .enclosing($0) }
        guard !delimiters.isEmpty else {
            throw CommandFailure("--delimiter and --quote are the same character", status: .usage)
        }
        var candidates: [Candidate] = []
        var best: [Candidate] = []
        // Try the second kind of quotes only if the first fits nothing.
        for quote in options.quote.map({ [$0] }) ?? Self.quotes.map({ .enclosing($0) }) where best.isEmpty {
            let found = try delimiters.map { (delimiter) throws(CommandFailure) in
                let dialect = DelimitedDialect(delimiter: delimiter, quoting: quote, trims: options.trims)
                return try Self.candidate(sample, isWhole, dialect, options.quote == nil, input.name)
            }
            candidates += found
            best = found.filter { Self.fits($0.rows, options.header, wanted, $0.dialect) }
        }
        let isUsual = best.first?.dialect.delimiter == usual
        guard best.count < 2 || (isUsual && options.header == .row) else {
            let names = best.map { DelimitedDialect.name(of: $0.dialect.delimiter) }
            throw CommandFailure(
                "\(input.name): \(names.joined(separator: " or ")) may separate its fields; pass --delimiter",
                status: .usage)
        }
        // If no candidate fits, the error names the columns.
        let isNarrow = options.header == .row && candidates[0].rows.header.count < 2
        let widest = candidates.prefix(delimiters.count).max { $0.rows.header.count < $1.rows.header.count }
        var (dialect, found) = best.first ?? (isNarrow ? widest : nil) ?? candidates[0]
        if !dialect.trims, Self.hasSpacedFields(found, dialect) {
            var trimmed = dialect
            trimmed.trims = true
            let again = try Self.rows(sample, isWhole, trimmed, input.name)
            if !again.hasFault {
                (dialect, found) = (trimmed, again)
                remarks.append("spaces around fields are removed")
            }
        }
        if dialect.delimiter != usual, given == nil {
            remarks.append("\(DelimitedDialect.name(of: dialect.delimiter)) separate its fields")
        }
        if options.quote == nil, case .enclosing(let quote) = dialect.quoting,
            quote != Self.quotes[0] || dialect.delimiter == UInt8(ascii: "\t")
        {
            remarks.append("fields are in the quotes \(String(UnicodeScalar(quote)))")
        }
        dialect.decimal = options.decimal
        dialect.ignoresQuotes = options.decimal != nil
        if Self.quotesAll(found, dialect) {
            dialect.ignoresQuotes = true
            remarks.append("all fields are in quotes, so numbers in quotes are numbers")
        }
        self.dialect = dialect
    }

    private static func separatorLine(_ text: UnsafeRawBufferPointer) -> SeparatorLine? {
        let line = text.prefix(10).prefix { $0 != 0x0a && $0 != 0x0d }
        var content = Array(line)
        let isQuoted = content.count == 7 && content.first == quotes[0] && content.last == quotes[0]
        if isQuoted { content = Array(content[1..<6]) }
        guard content.count == 5, content.starts(with: "sep=".utf8), content[4] < 0x80 else { return nil }
        var length = line.count
        if length < text.count, text[length] == 0x0d { length += 1 }
        if length < text.count, text[length] == 0x0a { length += 1 }
        return (content[4], String(decoding: content, as: UTF8.self), isQuoted, length)
    }

    /// Quotes enclose TSV fields only if that reads the rows and `export` didn't write them.
    private static func candidate(
        _ sample: [UInt8], _ isWhole: Bool, _ dialect: DelimitedDialect, _ isFree: Bool, _ name: String
    ) throws(CommandFailure) -> Candidate {
        let found = try rows(sample, isWhole, dialect, name)
        guard dialect.delimiter == UInt8(ascii: "\t"), isFree, dialect.quoting == .enclosing(quotes[0]) else {
            return (dialect, found)
        }
        let isForeign = hasForeignQuotes(sample)
        if isForeign, found.isEven { return (dialect, found) }
        var other = dialect
        other.quoting = .escapes
        let escaped = try rows(sample, isWhole, other, name)
        return !isForeign || found.hasFault || escaped.isEven ? (other, escaped) : (dialect, found)
    }

    private static func rows(
        _ sample: [UInt8], _ isWhole: Bool, _ dialect: DelimitedDialect, _ name: String
    ) throws(CommandFailure) -> Rows {
        var scanner = DelimitedScanner(InputBuffer(sample: sample, name: name), dialect)
        var rows = Rows()
        while rows.texts.count < mostRows, let row = try scanner.next() {
            // The sample ends within this row.
            if !isWhole, !scanner.isAtEndOfLine, !rows.texts.isEmpty { break }
            if row.fault != nil { rows.hasFault = true }
            rows.fields.append(scanner.fields)
            rows.texts.append(scanner.fields.map { Array(scanner.text[$0.range]) })
        }
        return rows
    }

    private static func fits(
        _ rows: Rows, _ header: DelimitedDialect.Header, _ wanted: [String], _ dialect: DelimitedDialect
    ) -> Bool {
        switch header {
        case .row:
            let names = Set(rows.header.map { ExactText(DelimitedReader.name($0, dialect)) })
            let trimmed = Set(rows.header.map { ExactText(DelimitedReader.name($0.trimmed, dialect)) })
            return !wanted.isEmpty
                && wanted.allSatisfy { names.contains(ExactText($0)) || trimmed.contains(ExactText($0)) }
        case .none: return rows.header.count > 1 && rows.isEven
        case .names(let names): return rows.header.count == names.count && rows.isEven
        }
    }

    /// Whether TSV fields begin with a quote that `export` doesn't write.
    private static func hasForeignQuotes(_ sample: [UInt8]) -> Bool {
        sample.split(whereSeparator: { $0 == UInt8(ascii: "\t") || $0 == 0x0a || $0 == 0x0d }).contains {
            field in
            guard field.first == quotes[0] else { return false }
            return field.withUnsafeBytes { FieldValue.escapedText(in: $0, of: .tabs) } == nil
        }
    }

    /// Whether a space precedes a field's quotes, or each name but the first. `export` quotes such names.
    private static func hasSpacedFields(_ rows: Rows, _ dialect: DelimitedDialect) -> Bool {
        guard case .enclosing(let quote) = dialect.quoting else { return false }
        let space = UInt8(ascii: " ")
        let hasSpacedQuotes = zip(rows.fields, rows.texts).contains { fields, texts in
            zip(fields, texts).contains { field, text in
                !field.isQuoted && text.first == space && text.trimmed.first == quote
            }
        }
        if hasSpacedQuotes { return true }
        return rows.header.count > 1
            && zip(rows.fields[0], rows.header).dropFirst().allSatisfy { !$0.isQuoted && $1.first == space }
    }

    /// Whether all fields are quoted, including a field of the first row that `export` would not quote.
    private static func quotesAll(_ rows: Rows, _ dialect: DelimitedDialect) -> Bool {
        let all = rows.fields.joined()
        guard !all.isEmpty, all.allSatisfy({ $0.isQuoted || $0.range.isEmpty }) else { return false }
        return !dialect.isOfExport || dialect.quoting != .enclosing(quotes[0])
            || rows.header.contains { !$0.withUnsafeBytes { FieldValue.needsQuotes($0, in: .commas) } }
    }
}

extension [UInt8] {
    var trimmed: [UInt8] {
        let space = UInt8(ascii: " ")
        let start = firstIndex { $0 != space } ?? endIndex
        return Array(self[start..<((lastIndex { $0 != space } ?? start - 1) + 1)])
    }
}
