import CBOR

/// A conversion, prepared for many rows.
final class Converter: RowFunction {
    private let source: RowShape.Access
    private let conversion: QueryConversion
    private var failures: FailureCount

    init(_ source: RowShape.Access, _ conversion: QueryConversion, _ counter: KindCounts?) {
        self.source = source
        self.conversion = conversion
        failures = FailureCount(counter)
    }

    var cost: Condition.Cost { source.cost }

    func result(_ row: RowReader) throws(RowFault) -> StoredItem {
        let item = try row.item(source)
        switch item {
        case .absent, .failed: return item
        default: break
        }
        let result: StoredItem? =
            switch conversion {
            case .number: item.asNumber.map { .number($0) }
            case .date: item.asDate.map { .date($0) }
            case .text: item.asText.map { .string($0) }
            case .bool: item.asBoolean.map { .boolean($0) }
            }
        return result ?? failures.note(item.kind, row)
    }
}

/// A property whose numeric texts count as numbers.
final class TextNumber: RowFunction {
    private let source: RowShape.Access

    init(_ source: RowShape.Access) { self.source = source }

    var cost: Condition.Cost { source.cost }

    func result(_ row: RowReader) throws(RowFault) -> StoredItem { try row.item(source).orNumber }
}

extension StoredItem {
    /// Replaces a numeric text by its number.
    var orNumber: StoredItem {
        switch self {
        case .text, .string: withText { NumberValue(wholeText: $0) }.map { .number($0) } ?? self
        default: self
        }
    }

    /// The result of `body` for the UTF-8 of a text; nil for other kinds.
    @inline(__always)
    func withText<Result>(_ body: (UnsafeRawBufferPointer) -> Result?) -> Result? {
        switch self {
        case .text(let text): body(text)
        case .string(var text): text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
        case .key(let key): key.withBytes(body)
        default: nil
        }
    }

    /// A number, a numeric text, 1 and 0 for true and false, and a date's seconds since 1970.
    fileprivate var asNumber: NumberValue? {
        switch self {
        case .number(let number): number
        case .boolean(let flag): .integer(flag ? 1 : 0)
        case .date(let date): NumberValue(seconds: Microseconds.seconds(from: Microseconds.start, to: date))
        default: withText { NumberValue(wholeText: $0) }
        }
    }

    /// Conversions also accept a date without separators: 20260131.
    fileprivate var asDate: Double? { withText { DateText.date($0, takesDigits: true) } ?? date }

    fileprivate var asText: String? {
        switch self {
        case .boolean(let flag): flag ? "true" : "false"
        case .number(let number): number.text
        case .date(let date): Microseconds.since1970(date).map { DateText.text(microseconds: $0) }
        default: withText { UTF8Text.string($0) }
        }
    }

    fileprivate var asBoolean: Bool? {
        switch self {
        case .boolean(let flag): flag
        case .number(let number) where number == .integer(1) || number == .float(1): true
        case .number(let number) where number == .integer(0) || number == .float(0): false
        default: withText { ["true": true, "false": false][UTF8Text.string($0)] }
        }
    }
}

extension NumberValue {
    /// The number of a text in JSON's grammar; nil for other texts.
    package init?(wholeText text: UnsafeRawBufferPointer) {
        var writer = CBORWriter()
        // JSON allows spaces around a number.
        guard let first = text.first, first.isDigit || first == UInt8(ascii: "-"), text.last?.isDigit == true,
            (try? JSONTranscoder.transcode(text, into: &writer)) != nil,
            case .number(let number)? = writer.bytes.withUnsafeBytes({ try? StoredItem.read($0, at: 0) })
        else { return nil }
        self = number
    }

    /// The exact number in JSON's grammar; or `inf`, `-inf` or `nan`. A whole number has neither a point nor an exponent if it
    /// has up to 40 digits or doesn't end with a zero.
    var text: String {
        switch self {
        case .integer(let number): return number.description
        case .float(let number) where !number.isFinite: return number.description
        case .float, .decimal, .bignum:
            let text = decimal.isZero ? "0" : decimal.text(wholeDigits: 40)
            return String(text.dropLast(text.hasSuffix(".0") ? 2 : 0))
        }
    }
}
