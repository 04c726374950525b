/// Converts CBOR into JSON text (RFC 8259) in one pass, without building values.
///
/// CBOR of ``JSONTranscoder`` becomes the same JSON value again, except for texts that look like bytes. Other CBOR is
/// approximated:
/// - NaN and the infinities, `undefined` and simple values without a meaning: `null`;
/// - byte strings: their hexadecimal digits as `h'636166e9'`; a text of that form gets a backslash before it, and one with
///   backslashes before it another one, so that no text looks like bytes;
/// - bignums and decimal fractions: the exact number. If it has more than 16,384 digits or an exponent beyond 64 bits, or if
///   the tag's content is of the wrong kind: that content;
/// - identifiers of 16 bytes (tag 37): their text, in capitals as Swift writes them;
/// - every other tag: its content. So a date is its text (tag 0) or its number (tag 1);
/// - map keys that are not text: the text of their JSON, so `{1: 2}` becomes `{"1":2}`. Arrays and maps as keys use diagnostic
///   notation instead, because nested quoted JSON would double the backslashes at each level. If two keys of a map would have
///   the same text, such as `1` and `"1"`, all of its keys are in diagnostic notation: texts in quotes.
///
/// Strings escape what RFC 8259 requires, and also the control characters from U+007F to U+009F (`JSONString`). Floats print as
/// the shortest text that reads as the same `Double`, always with a point or an exponent.
public struct JSONPrinter {
    var reader: CBORReader
    var layout: JSONLayout
    var output: [UInt8]
    /// Receives the output in pieces; returns whether it accepts more.
    let sink: ((UnsafeRawBufferPointer) -> Bool)?
    /// Whether strings get neither quotes nor escapes.
    var isBare = false
    /// Whether texts that look like bytes get a backslash.
    private var escapesTexts = true
    private(set) var isStopped = false
    /// Whether a map's key is being printed, which must become a string.
    private var isInKey = false
    /// Whether maps up to the second offset may have keys that are neither texts nor byte strings.
    private var (hasOtherKeys, checked) = (false, 0)
    static let pieceBytes = 1 << 16

    init(
        reader: CBORReader, layout: JSONLayout, output: [UInt8] = [],
        sink: ((UnsafeRawBufferPointer) -> Bool)? = nil
    ) {
        self.reader = reader
        self.layout = layout
        self.output = output
        self.sink = sink
    }

    /// Appends `cbor`, which must be exactly one item, as JSON. On an error nothing is appended. Cost: O(length).
    public static func print(
        _ cbor: UnsafeRawBufferPointer, layout: JSONLayout = .compact, into output: inout [UInt8]
    ) throws(CBORError) {
        try print(cbor, layout: layout, escapingTexts: true, into: &output)
    }

    /// Converts `cbor`, which must be exactly one item, into JSON. Cost: O(length).
    public static func text(
        of cbor: [UInt8], layout: JSONLayout = .compact, maximumDepth: Int = CBORReader.defaultMaximumDepth
    ) throws(CBORError) -> String {
        var output: [UInt8] = []
        try cbor.withRawBytes { content throws(CBORError) in
            try print(
                content, layout: layout, maximumDepth: maximumDepth, escapingTexts: true, into: &output)
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// - Parameter escapingTexts: whether texts that look like bytes get a backslash.
    package static func print(
        _ cbor: UnsafeRawBufferPointer, layout: JSONLayout = .compact,
        maximumDepth: Int = CBORReader.defaultMaximumDepth, escapingTexts: Bool, into output: inout [UInt8]
    ) throws(CBORError) {
        let length = output.count
        let reader = CBORReader(cbor, maximumDepth: maximumDepth)
        var printer = JSONPrinter(reader: reader, layout: layout, output: output)
        printer.escapesTexts = escapingTexts
        // The printer now holds the only reference, so that appending doesn't copy the array.
        output = []
        defer { output = printer.output }
        do throws(CBORError) {
            try printer.printItem(depth: 0, indent: 0)
            try printer.reader.expectEnd()
        } catch {
            printer.output.removeSubrange(length...)
            throw error
        }
    }

    // MARK: Items

    /// Prints the next item. `depth` counts all enclosing items, `indent` only those with brackets.
    mutating func printItem(depth: Int, indent: Int) throws(CBORError) {
        let start = reader.offset
        if output.count >= JSONPrinter.pieceBytes, !isInKey { try handOn() }
        switch try reader.readHead() {
        case .unsigned(let number): append(number.description)
        case .negative(let number): append(number < .max ? "-\(number + 1)" : "-18446744073709551616")
        case .bytes(let count): try printBytes(count: count)
        case .text(let count): try printText(count: count)
        case .array where isInKey, .map where isInKey:
            reader.offset = start
            try printDiagnostic(depth: depth)
        case .array(let count):
            try reader.checkDepth(depth, at: start)
            try printArray(count: count, depth: depth + 1, indent: indent + 1)
        case .map(let count):
            try reader.checkDepth(depth, at: start)
            try printMap(count: count, depth: depth + 1, indent: indent + 1)
        case .tag(let tag):
            try reader.checkDepth(depth, at: start)
            let isPrinted = tag == TagNumber.uuid ? try printIdentifier() : try printNumber(tag: tag)
            if !isPrinted { try printItem(depth: depth + 1, indent: indent) }
        case .boolean(let flag): append(flag ? "true" : "false")
        case .float(let number) where number.isFinite: append(number.description)
        case .float, .null, .undefined, .simple: append("null")
        }
    }

    private mutating func printArray(count: Int?, depth: Int, indent: Int) throws(CBORError) {
        output.append(UInt8(ascii: "["))
        var printed = 0
        while !reader.readEnd(count: count, read: printed) {
            beginElement(isFirst: printed == 0, indent: indent)
            try printItem(depth: depth, indent: indent)
            printed += 1
        }
        endElements(isEmpty: printed == 0, indent: indent)
        output.append(UInt8(ascii: "]"))
    }

    private mutating func printMap(count: Int?, depth: Int, indent: Int) throws(CBORError) {
        let isDiagnostic = try repeatsNames(count: count, depth: depth)
        output.append(UInt8(ascii: "{"))
        var printed = 0
        while !reader.readEnd(count: count, read: printed) {
            beginElement(isFirst: printed == 0, indent: indent)
            if isDiagnostic { try printDiagnostic(depth: depth) } else { try printKey(depth: depth) }
            output.append(UInt8(ascii: ":"))
            if layout == .pretty { output.append(UInt8(ascii: " ")) }
            if count == nil { try reader.expectValueAfterKey() }
            try printItem(depth: depth, indent: indent)
            printed += 1
        }
        endElements(isEmpty: printed == 0, indent: indent)
        output.append(UInt8(ascii: "}"))
    }

    /// Whether two keys of the next map print the same; only keys other than texts and byte strings can.
    private mutating func repeatsNames(count: Int?, depth: Int) throws(CBORError) -> Bool {
        if reader.offset >= checked {
            var rest = reader
            hasOtherKeys = try JSONPrinter.hasOtherKeys(&rest, .map(count: count), depth: depth)
            checked = rest.offset
        }
        guard hasOtherKeys else { return false }
        var keys = JSONPrinter(reader: reader, layout: .compact)
        var names: Set<[UInt8]> = []
        while !keys.reader.readEnd(count: count, read: names.count) {
            keys.output = []
            try keys.printKey(depth: depth)
            guard names.insert(keys.output).inserted else { return true }
            try keys.reader.skipItem()
        }
        return false
    }

    /// Searches an item whose head was read for a map key that is neither a text nor a byte string.
    private static func hasOtherKeys(
        _ reader: inout CBORReader, _ head: CBORHead, depth: Int
    ) throws(CBORError) -> Bool {
        var read = 0
        // The printer reports too deep nesting.
        guard (try? reader.checkDepth(depth, at: reader.offset)) != nil else { return true }
        switch head {
        case .bytes(let count), .text(let count):
            guard let count else {
                while !reader.readBreak() { try reader.skipItem() }
                return false
            }
            _ = try reader.readContent(count: count)
        case .tag: return try hasOtherKeys(&reader, try reader.readHead(), depth: depth + 1)
        case .array(let count):
            while !reader.readEnd(count: count, read: read) {
                if try hasOtherKeys(&reader, try reader.readHead(), depth: depth + 1) { return true }
                read += 1
            }
        case .map(let count):
            while !reader.readEnd(count: count, read: read) {
                // Major types 2 and 3 (RFC 8949, section 3.1).
                guard !reader.isAtEnd, reader.bytes[reader.offset] >> 6 == 1 else { return true }
                try reader.skipItem()
                if count == nil { try reader.expectValueAfterKey() }
                if try hasOtherKeys(&reader, try reader.readHead(), depth: depth + 1) { return true }
                read += 1
            }
        default: break
        }
        return false
    }

    private mutating func printKey(depth: Int) throws(CBORError) {
        if !reader.isAtEnd, MajorType(of: reader.bytes[reader.offset]) == .text {
            return try printItem(depth: depth, indent: 0)
        }
        let start = output.count
        isInKey = true
        defer { isInKey = false }
        try printItem(depth: depth, indent: 0)
        guard output[start] != UInt8(ascii: "\"") else { return }
        let json = Array(output[start...])
        output.removeSubrange(start...)
        json.withUnsafeBytes { JSONString.append($0, to: &output) }
    }

    private mutating func printDiagnostic(depth: Int) throws(CBORError) {
        var notation = CBORDiagnosticPrinter(reader)
        try notation.printItem(depth: depth)
        reader = notation.reader
        notation.output.withUnsafeBytes { JSONString.append($0, to: &output) }
    }

    // MARK: Scalars

    private mutating func printText(count: Int?) throws(CBORError) {
        appendQuote()
        if let count {
            let text = try reader.readUTF8(count: count)
            appendEscape(of: text)
            try append(text: text)
        } else {
            var ahead = reader
            if var text = try? ahead.readText(count: nil) {
                text.withUTF8 { appendEscape(of: UnsafeRawBufferPointer($0)) }
            }
            while let chunk = try reader.readChunk(of: .text) { try append(text: chunk) }
        }
        appendQuote()
    }

    private mutating func printBytes(count: Int?) throws(CBORError) {
        append("\"h'")
        if let count {
            try append(bytes: try reader.readContent(count: count))
        } else {
            while let chunk = try reader.readChunk(of: .bytes) { try append(bytes: chunk) }
        }
        append("'\"")
    }

    /// Begins the spelling of a text that looks like bytes.
    mutating func appendEscape(of text: UnsafeRawBufferPointer) {
        if !isBare, escapesTexts, ByteText.needsEscape(text) { append("\\\\") }
    }

    /// Appends the content of a string, which is valid UTF-8.
    mutating func append(text: UnsafeRawBufferPointer) throws(CBORError) {
        var place = 0
        while let end = pieceEnd(of: text, from: place) {
            // A piece ends where a character does.
            let end = (place + 1...end).last { text[$0] & 0xc0 != 0x80 } ?? end
            append(piece: UnsafeRawBufferPointer(rebasing: text[place..<end]))
            place = end
            try handOn()
        }
        append(piece: UnsafeRawBufferPointer(rebasing: text[place...]))
    }

    private mutating func append(piece: UnsafeRawBufferPointer) {
        if isBare { output.append(contentsOf: piece) } else { JSONString.append(content: piece, to: &output) }
    }

    mutating func appendQuote() {
        if !isBare { append("\"") }
    }

    mutating func append(bytes: UnsafeRawBufferPointer) throws(CBORError) {
        var place = 0
        while let end = pieceEnd(of: bytes, from: place) {
            Hexadecimal.append(UnsafeRawBufferPointer(rebasing: bytes[place..<end]), to: &output)
            place = end
            try handOn()
        }
        Hexadecimal.append(UnsafeRawBufferPointer(rebasing: bytes[place...]), to: &output)
    }

    /// Where the piece of a long string ends that begins at `place`; nil for the last one, and where no sink takes pieces.
    private func pieceEnd(of content: UnsafeRawBufferPointer, from place: Int) -> Int? {
        guard sink != nil, !isInKey, content.count - place > JSONPrinter.pieceBytes else { return nil }
        return place + JSONPrinter.pieceBytes
    }

    /// Passes the output to the sink; throws if it accepts no more.
    mutating func handOn() throws(CBORError) {
        guard let sink else { return }
        isStopped = !output.withUnsafeBytes(sink)
        output.removeAll(keepingCapacity: true)
        if isStopped { throw CBORError(offset: reader.offset, reason: .truncated) }
    }

    /// Prints the 16 bytes of an identifier as one; false, with nothing printed or read, for any other content.
    private mutating func printIdentifier() throws(CBORError) -> Bool {
        let start = reader.offset
        guard case .bytes(16) = try reader.readHead() else {
            reader.offset = start
            return false
        }
        append("\"")
        for (index, byte) in try reader.readContent(count: 16).enumerated() {
            if [4, 6, 8, 10].contains(index) { append("-") }
            append((byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true))
        }
        append("\"")
        return true
    }

    /// Prints a bignum or decimal fraction. Returns false, with nothing printed or read, if the content isn't one.
    private mutating func printNumber(tag: UInt64) throws(CBORError) -> Bool {
        switch tag {
        case TagNumber.unsignedBignum, TagNumber.negativeBignum:
            guard let number = try reader.readBignum(tag: tag) else { return false }
            if number.isNegative { output.append(UInt8(ascii: "-")) }
            output.append(contentsOf: number.magnitude.decimalDigits)
            return true
        case TagNumber.decimalFraction:
            guard let number = try reader.readDecimalFraction() else { return false }
            append(number.text)
            return true
        default:
            return false
        }
    }

    @inline(__always)
    mutating func append(_ text: String) { output.append(contentsOf: text.utf8) }
}
