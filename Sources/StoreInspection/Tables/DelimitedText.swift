import CBOR

/// Rows of CSV (RFC 4180) or TSV (IANA text/tab-separated-values, without quotes) that ``FieldValue`` reads back equal.
/// Compares bytes instead of characters, because a combining mark may follow a quote.
package struct DelimitedText: Sendable {
    let separator: UInt8
    /// Whether fields may be quoted.
    package var hasQuotes = true
    /// Whether texts that look like other values are escaped as JSON strings.
    package var hasEscapes = true
    /// Whether texts that look like formulas get an apostrophe; they aren't read back equal.
    var keepsFromFormulas = false

    package static let commas = DelimitedText(separator: UInt8(ascii: ","))
    package static let spreadsheet = DelimitedText(separator: UInt8(ascii: ","), keepsFromFormulas: true)
    package static let tabs = DelimitedText(separator: UInt8(ascii: "\t"), hasQuotes: false)

    package init(separator: UInt8, hasQuotes: Bool = true, keepsFromFormulas: Bool = false) {
        self.separator = separator
        self.hasQuotes = hasQuotes
        self.keepsFromFormulas = keepsFromFormulas
    }

    /// Why objects don't fit a table; nil if they do. A table of objects with few common properties can be hundreds of times as
    /// large as the objects.
    package static func unsupportedReason(rows: Int, _ columns: PropertyColumns) -> String? {
        let properties = columns.properties
        let columns = columns.count
        let fields = rows.multipliedReportingOverflow(by: columns)
        guard fields.overflow || fields.partialValue > 4_000_000 + 20 * properties else { return nil }
        return
            "a table of \(Figures.count(rows)) objects × \(Figures.count(columns)) properties would be almost empty; "
            + "choose properties (query … | select name, …), or write JSON"
    }

    package func header(_ names: [String]) -> [UInt8] {
        var output: [UInt8] = []
        for (index, name) in names.enumerated() {
            if index > 0 { output.append(separator) }
            hasQuotes
                ? appendField(name, isQuoted: false, to: &output)
                : appendText(name, isQuoted: false, to: &output)
        }
        return output + [UInt8(ascii: "\n")]
    }

    /// Writes a row of CBOR items in pieces; nil for absent ones. Unreadable items stay empty.
    /// - Parameters:
    ///   - mixed: columns that also have numbers or words, in which texts need quotes.
    ///   - header: the first row. An import skips its repetitions, so a row that equals it gets quotes, or an empty line before
    ///     it if quotes can't make it differ.
    package func write(
        _ items: [UnsafeRawBufferPointer?], mixed: Set<Int> = [], unlike header: [UInt8] = [],
        to output: OutputWriter
    ) throws(SourceError) {
        var line: [UInt8] = []
        for (index, item) in items.enumerated() {
            if index > 0 { line.append(separator) }
            guard let item else { continue }
            let isQuoted = hasQuotes && mixed.contains(index)
            // A row that may equal the header is compared as a whole.
            if item.count > max(DelimitedText.longBytes, header.count), let source = longSource(item) {
                try TerminalSafe.write(line, to: output)
                line = []
                try write(source, isQuoted: isQuoted, to: output)
            } else {
                try? append(Array(item), isQuoted: isQuoted, to: &line)
            }
        }
        line.append(UInt8(ascii: "\n"))
        if line == header, !items.isEmpty {
            guard !hasQuotes || mixed.count == items.count else {
                return try write(items, mixed: Set(items.indices), unlike: header, to: output)
            }
            line.insert(UInt8(ascii: "\n"), at: 0)
        }
        try TerminalSafe.write(line, to: output)
    }

    /// Maximum bytes of an item that is written at once; larger ones are written in pieces.
    private static let longBytes = 1 << 16

    /// The source of an item that is written in pieces; nil for items that are converted first.
    private func longSource(_ item: UnsafeRawBufferPointer) -> JSONSource? {
        var reader = CBORReader(item)
        switch try? reader.readHead() {
        case .text(let count?)?: return (try? reader.readContent(count: count)).map { .text($0) }
        case .bytes(let count?)?: return (try? reader.readContent(count: count)).map { .bytes($0) }
        case .array?, .map?: return .cbor(item)
        default: return nil
        }
    }

    private func write(_ source: JSONSource, isQuoted: Bool, to output: OutputWriter) throws(SourceError) {
        var (isBare, isQuoted, head) = (true, isQuoted, "")
        switch source {
        case .text(let content):
            isBare = !FieldValue.needsEscape(content, in: self)
            isQuoted = isQuoted || !isBare || FieldValue.needsQuotes(content, in: self)
            if isBare { head = String(decoding: content.prefix(4), as: UTF8.self) }
        case .bytes: break
        case .cbor, .json: (isBare, isQuoted) = (false, true)
        }
        let isFormula = keepsFromFormulas && Self.isFormula(head)
        isQuoted = hasQuotes && (isQuoted || isFormula)
        try output.write((isQuoted ? "\"" : "") + (isFormula ? "'" : ""))
        if case .text(let content) = source, isBare, ByteText.needsEscape(content) { try output.write("\\") }
        let quote = UInt8(ascii: "\"")
        try output.write(source, isBare: isBare) { piece in
            isQuoted ? piece.flatMap { $0 == quote ? [$0, $0] : [$0] } : Array(piece)
        }
        if isQuoted { try output.write("\"") }
    }

    /// Large values are only written as text.
    private func append(_ item: [UInt8], isQuoted: Bool, to output: inout [UInt8]) throws(CBORError) {
        if Cell.isText(item), case .text(let text) = try CBORReader.decode(item) {
            return appendText(ByteText.spelling(of: text), isQuoted: isQuoted, to: &output)
        }
        let json = try JSONPrinter.text(of: item)
        switch json.utf8.first {
        case UInt8(ascii: "[")?, UInt8(ascii: "{")?: appendField(json, isQuoted: false, to: &output)
        case UInt8(ascii: "\"")?:
            // Values that JSON prints as a string, such as bytes.
            if let item = try? JSONTranscoder.cbor(from: json),
                case .text(let text) = try CBORReader.decode(item)
            {
                appendText(text, isQuoted: isQuoted, to: &output)
            }
        default: output.append(contentsOf: json.utf8)
        }
    }

    private func appendText(_ text: String, isQuoted: Bool, to output: inout [UInt8]) {
        var text = text
        let isEscaped = text.withUTF8 { FieldValue.needsEscape(UnsafeRawBufferPointer($0), in: self) }
        appendField(isEscaped ? JSONTree.string(text) : text, isQuoted: isQuoted, to: &output)
    }

    /// Quoted if `isQuoted`, or if the text would otherwise be read as another value.
    private func appendField(_ text: String, isQuoted: Bool, to output: inout [UInt8]) {
        var text = keepsFromFormulas && Self.isFormula(text) ? "'" + text : text
        text.withUTF8 { content in
            let quote = UInt8(ascii: "\"")
            let isPlain = !isQuoted && !FieldValue.needsQuotes(UnsafeRawBufferPointer(content), in: self)
            guard hasQuotes, !isPlain else { return output.append(contentsOf: content) }
            output.append(quote)
            for byte in content {
                if byte == quote { output.append(quote) }
                output.append(byte)
            }
            output.append(quote)
        }
    }

    /// Whether the first character begins a formula; East Asian wide forms count, too.
    private static func isFormula(_ text: String) -> Bool {
        guard let first = text.unicodeScalars.first else { return false }
        return switch first {
        case "=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠": true
        default: false
        }
    }
}
