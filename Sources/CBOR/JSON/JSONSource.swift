/// A value in memory, to be printed as JSON without copying it. Valid as long as that memory.
package enum JSONSource: @unchecked Sendable {
    /// One well-formed CBOR item.
    case cbor(UnsafeRawBufferPointer)
    /// JSON text, which is laid out again.
    case json(UnsafeRawBufferPointer)
    /// UTF-8, which becomes a string.
    case text(UnsafeRawBufferPointer)
    /// Bytes, which become a string such as `h'00ff'`.
    case bytes(UnsafeRawBufferPointer)

    /// Number of bytes of the value in memory.
    package var count: Int {
        switch self {
        case .cbor(let bytes), .json(let bytes), .text(let bytes), .bytes(let bytes): bytes.count
        }
    }

    package var isText: Bool {
        switch self {
        case .cbor(let item): item.first.map { MajorType(of: $0) == .text } ?? false
        case .json(let text): text.first { !" \n\r\t".utf8.contains($0) } == UInt8(ascii: "\"")
        case .text: true
        case .bytes: false
        }
    }

    /// Hands the JSON to `sink` in pieces that end where a character does, until it returns false. O(length) time; memory for a
    /// piece, and for a map's key other than a text. Returns false if the sink stopped it.
    /// - Parameter isBare: whether strings are printed without quotes and escapes, for a value that is a text.
    /// - Throws: if CBOR isn't well-formed; the sink may already have received the beginning.
    package func print(
        _ layout: JSONLayout = .compact, isBare: Bool = false,
        to sink: @escaping (UnsafeRawBufferPointer) -> Bool
    ) throws(CBORError) -> Bool {
        let reader = if case .cbor(let item) = self { CBORReader(item) } else { CBORReader(.empty) }
        var printer = JSONPrinter(reader: reader, layout: layout, sink: sink)
        printer.isBare = isBare
        do throws(CBORError) {
            switch self {
            case .cbor:
                try printer.printItem(depth: 0, indent: 0)
                try printer.reader.expectEnd()
            case .json(let text):
                var relayout = JSONRelayout(text, printer)
                defer { printer = relayout.printer }
                do throws(JSONError) { try relayout.run() } catch {
                    throw CBORError(offset: error.offset, reason: .truncated)
                }
            case .text(let content):
                printer.appendQuote()
                printer.appendEscape(of: content)
                try printer.append(text: content)
                printer.appendQuote()
            case .bytes(let content):
                printer.appendQuote()
                printer.append("h'")
                try printer.append(bytes: content)
                printer.append("'")
                printer.appendQuote()
            }
            try printer.handOn()
        } catch {
            guard printer.isStopped else { throw error }
            return false
        }
        return true
    }
}

extension UnsafeRawBufferPointer {
    fileprivate static var empty: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }

    /// Whether the bytes are valid UTF-8. O(length), without a copy.
    package var isUTF8: Bool { UTF8Scan.validLength(of: self) == count }

    /// The error if the bytes are not a JSON text; nil if they are. O(length), without a copy.
    package var jsonProblem: JSONError? {
        var relayout = JSONRelayout(self, nil)
        do throws(JSONError) { try relayout.run() } catch { return error }
        return nil
    }

    /// Whether an object of the JSON text has a name twice. O(length), with a copy of the names.
    package var repeatsJSONName: Bool {
        var relayout = JSONRelayout(self, nil)
        relayout.scanner.names = ObjectNames()
        do throws(JSONError) { try relayout.run() } catch {
            if case .repeatedName = error.reason { return true }
        }
        return false
    }
}

/// Reads JSON text and prints it as `JSONPrinter` would print the CBOR that `JSONTranscoder` makes of it. Not thread-safe.
private struct JSONRelayout {
    var scanner: JSONScanner
    var printer: JSONPrinter
    /// Whether it only checks the text.
    private let isQuiet: Bool
    /// A number, a word, or the characters of an escape.
    private var scratch = CBORWriter()
    /// The names of the enclosing objects, if the scanner checks them.
    private var names = CBORWriter()

    init(_ text: UnsafeRawBufferPointer, _ printer: JSONPrinter?) {
        scanner = JSONScanner(text, at: 0)
        self.printer = printer ?? JSONPrinter(reader: CBORReader(.empty), layout: .compact)
        isQuiet = printer == nil
    }

    mutating func run() throws(JSONError) {
        try value(depth: 0)
        try scanner.expectEnd()
    }

    private mutating func value(depth: Int) throws(JSONError) {
        scanner.skipWhitespace()
        switch scanner.place < scanner.text.count ? scanner.text[scanner.place] : 0 {
        case UInt8(ascii: "\""): try string()
        case UInt8(ascii: "{"): try container("{}", depth: depth)
        case UInt8(ascii: "["): try container("[]", depth: depth)
        default:
            scratch.removeAll()
            try scanner.value(into: &scratch, depth: depth)
            try print { (printer, scratch) throws(CBORError) in
                // Through an array: the printer changes while it reads.
                let item = scratch.bytes
                try item.withRawBytes { (bytes) throws(CBORError) in
                    printer.reader = CBORReader(bytes)
                    try printer.printItem(depth: 0, indent: 0)
                    printer.reader = CBORReader(.empty)
                }
            }
        }
    }

    private mutating func container(_ brackets: StaticString, depth: Int) throws(JSONError) {
        let (open, close) = (brackets.utf8Start[0], brackets.utf8Start[1])
        try scanner.enter(depth: depth)
        try print { (printer, _) throws(CBORError) in printer.output.append(open) }
        var count = 0
        let known = names.bytes.count
        if open == UInt8(ascii: "{") { scanner.names?.beginObject() }
        if !scanner.skip(close) {
            repeat {
                let isFirst = count == 0
                try print { (printer, _) throws(CBORError) in
                    printer.beginElement(isFirst: isFirst, indent: depth + 1)
                }
                if open == UInt8(ascii: "{") { try key(isFirst: isFirst) }
                try value(depth: depth + 1)
                count += 1
            } while scanner.skip(UInt8(ascii: ","))
            guard scanner.skip(close) else {
                throw scanner.unexpected(open == UInt8(ascii: "{") ? .commaOrObjectEnd : .commaOrArrayEnd)
            }
        }
        if open == UInt8(ascii: "{") { scanner.names?.endObject() }
        names.bytes.removeSubrange(known...)
        let isEmpty = count == 0
        try print { (printer, _) throws(CBORError) in
            printer.endElements(isEmpty: isEmpty, indent: depth + 1)
            printer.output.append(close)
        }
    }

    private mutating func key(isFirst: Bool) throws(JSONError) {
        scanner.skipWhitespace()
        guard scanner.place < scanner.text.count, scanner.text[scanner.place] == UInt8(ascii: "\"") else {
            throw scanner.unexpected(isFirst ? .keyOrEnd : .key)
        }
        if scanner.names != nil {
            let (start, known) = (scanner.place, names.bytes.count)
            try scanner.string(into: &names)
            let isNew = names.bytes.withUnsafeBytes { scanner.names?.add(known..<$0.count, of: $0) }
            if isNew == false { throw scanner.repeatedName(from: start) }
            scanner.place = start
        }
        try string()
        guard scanner.skip(UInt8(ascii: ":")) else { throw scanner.unexpected(.colon) }
        try print { (printer, _) throws(CBORError) in printer.append(printer.layout == .pretty ? ": " : ":") }
    }

    private mutating func string() throws(JSONError) {
        try print { (printer, _) throws(CBORError) in printer.appendQuote() }
        if ["h".utf8.first, "\\".utf8.first].contains(scanner.text.dropFirst(scanner.place + 1).first) {
            var ahead = scanner
            scratch.removeAll()
            try ahead.string(into: &scratch)
            if case .text(var text)? = try? CBORReader.decode(scratch.bytes) {
                try print { (printer, _) throws(CBORError) in
                    text.withUTF8 { printer.appendEscape(of: UnsafeRawBufferPointer($0)) }
                }
            }
        }
        scanner.place += 1
        while true {
            let start = scanner.place
            var isASCII = true
            scanner.place = scanner.endOfPlainText(from: start, isASCII: &isASCII)
            let content = UnsafeRawBufferPointer(rebasing: scanner.text[start..<scanner.place])
            if !isASCII { try scanner.checkUTF8(content, at: start) }
            try print { (printer, _) throws(CBORError) in try printer.append(text: content) }
            guard scanner.place < scanner.text.count else { throw scanner.unexpected(.quote) }
            let byte = scanner.text[scanner.place]
            guard byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else {
                throw JSONError(offset: scanner.place, reason: .controlCharacter(byte))
            }
            scanner.place += 1
            if byte == UInt8(ascii: "\"") { break }
            scratch.removeAll()
            try scanner.escape(into: &scratch)
            try print { (printer, scratch) throws(CBORError) in
                try scratch.bytes.withRawBytes { (text) throws(CBORError) in try printer.append(text: text) }
            }
        }
        try print { (printer, _) throws(CBORError) in printer.appendQuote() }
    }

    private mutating func print(
        _ body: (inout JSONPrinter, CBORWriter) throws(CBORError) -> Void
    ) throws(JSONError) {
        guard !isQuiet else { return }
        do throws(CBORError) {
            try body(&printer, scratch)
            if printer.output.count >= JSONPrinter.pieceBytes { try printer.handOn() }
        } catch {
            throw JSONError(offset: scanner.place, reason: .unexpectedEnd(expected: .value))
        }
    }
}
