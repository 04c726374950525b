/// Prints CBOR in diagnostic notation (RFC 8949, section 8).
///
/// Bignums too large for an integer item print as numbers, as in the RFC's Appendix A. Other tags, and bignums with needless
/// bytes, print as `tag(content)`. Byte strings print as `h'00ff'`, text as in JSON with control characters escaped, indefinite
/// lengths with their underscore: `[_ 1, 2]`, `(_ h'01', h'02')`. The widths of floats and of heads don't show.
public struct CBORDiagnosticPrinter {
    var reader: CBORReader
    var output: [UInt8] = []

    init(_ reader: CBORReader) { self.reader = reader }

    /// The diagnostic notation of `cbor`, which must be exactly one item. Cost: O(length).
    public static func text(
        of cbor: [UInt8], maximumDepth: Int = CBORReader.defaultMaximumDepth
    ) throws(CBORError) -> String {
        try cbor.withRawBytes { content throws(CBORError) in
            var printer = CBORDiagnosticPrinter(CBORReader(content, maximumDepth: maximumDepth))
            try printer.printItem(depth: 0)
            try printer.reader.expectEnd()
            return String(decoding: printer.output, as: UTF8.self)
        }
    }

    mutating func printItem(depth: Int) throws(CBORError) {
        let start = reader.offset
        switch try reader.readHead() {
        case .unsigned(let number): append(number.description)
        case .negative(let number): append((-1 - Int128(number)).description)
        case .bytes(let count): try printString(.bytes, count: count)
        case .text(let count): try printString(.text, count: count)
        case .array(let count):
            try reader.checkDepth(depth, at: start)
            try printItems(("[", "]"), count: count, depth: depth + 1)
        case .map(let count):
            try reader.checkDepth(depth, at: start)
            try printItems(("{", "}"), isMap: true, count: count, depth: depth + 1)
        case .tag(let tag):
            try reader.checkDepth(depth, at: start)
            if try printBignum(tag: tag) { return }
            append("\(tag)(")
            try printItem(depth: depth + 1)
            append(")")
        case .simple(let simple): append("simple(\(simple.rawValue))")
        case .boolean(let flag): append(flag ? "true" : "false")
        case .null: append("null")
        case .undefined: append("undefined")
        case .float(let number): append(Self.text(of: number))
        }
    }

    private mutating func printItems(
        _ brackets: (String, String), isMap: Bool = false, count: Int?, depth: Int
    ) throws(CBORError) {
        append(brackets.0 + (count == nil ? "_ " : ""))
        var printed = 0
        while !reader.readEnd(count: count, read: printed) {
            if printed > 0 { append(", ") }
            try printItem(depth: depth)
            if isMap {
                append(": ")
                if count == nil { try reader.expectValueAfterKey() }
                try printItem(depth: depth)
            }
            printed += 1
        }
        append(brackets.1)
    }

    private mutating func printString(_ type: MajorType, count: Int?) throws(CBORError) {
        if let count {
            return append(
                type == .text ? try reader.readUTF8(count: count) : try reader.readContent(count: count), type
            )
        }
        var chunks = 0
        while let chunk = try reader.readChunk(of: type) {
            append(chunks == 0 ? "(_ " : ", ")
            append(chunk, type)
            chunks += 1
        }
        append(chunks > 0 ? ")" : type == .text ? "\"\"_" : "''_")
    }

    /// Prints a bignum in preferred serialization as a number; false, with nothing printed or read, for anything else.
    private mutating func printBignum(tag: UInt64) throws(CBORError) -> Bool {
        guard tag == TagNumber.unsignedBignum || tag == TagNumber.negativeBignum else { return false }
        let start = reader.offset
        guard case .bytes(let count?) = try reader.readHead(), count > 8, reader.bytes[reader.offset] != 0
        else {
            reader.offset = start
            return false
        }
        reader.offset = start
        guard let number = try reader.readBignum(tag: tag) else { return false }
        if number.isNegative { append("-") }
        output.append(contentsOf: number.magnitude.decimalDigits)
        return true
    }

    private static func text(of number: Double) -> String {
        if number.isNaN { return "NaN" }
        if number.isInfinite { return number < 0 ? "-Infinity" : "Infinity" }
        return DecimalNumber(text: number.description.utf8).text
    }

    private mutating func append(_ content: UnsafeRawBufferPointer, _ type: MajorType) {
        if type == .text {
            JSONString.append(content, to: &output)
        } else {
            append("h'")
            Hexadecimal.append(content, to: &output)
            append("'")
        }
    }

    private mutating func append(_ text: String) { output.append(contentsOf: text.utf8) }
}
